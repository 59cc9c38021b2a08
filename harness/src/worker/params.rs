use super::{Error, Result};
use crate::vocab::Scalar;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Registered parameters, which remember which of them were read.
///
/// Only what was read is echoed: a parameter that the system ignores is thereby found out.
#[derive(Clone, Debug, Default)]
pub struct Params {
    values: BTreeMap<String, Scalar>,
    read: RefCell<BTreeSet<String>>,
}

impl Params {
    /// Parameters of these values.
    pub fn new(values: impl IntoIterator<Item = (String, Scalar)>) -> Self {
        Self { values: values.into_iter().collect(), read: RefCell::default() }
    }

    /// The parameter `name`; an error when it is missing or of another type.
    pub fn get<T: FromScalar>(&self, name: &str) -> Result<T> {
        self.find(name)?.ok_or_else(|| Error::new(format!("parameter `{name}` is missing")))
    }

    /// The parameter `name`, or `default` when it is not registered; an error when it is of another type.
    pub fn get_or<T: FromScalar>(&self, name: &str, default: T) -> Result<T> {
        Ok(self.find(name)?.unwrap_or(default))
    }

    fn find<T: FromScalar>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.values.get(name) else { return Ok(None) };
        self.read.borrow_mut().insert(name.to_owned());
        T::from_scalar(value)
            .map(Some)
            .ok_or_else(|| Error::new(format!("parameter `{name}` is `{value}`, expected {}", T::EXPECTED)))
    }

    /// Every parameter, read or not.
    pub(super) fn all(&self) -> &BTreeMap<String, Scalar> {
        &self.values
    }

    /// The parameters that were read.
    pub(super) fn effective(&self) -> BTreeMap<String, serde_json::Value> {
        let read = self.read.borrow();
        self.values
            .iter()
            .filter(|(name, _)| read.contains(*name))
            .map(|(k, v)| (k.clone(), v.to_json()))
            .collect()
    }
}

/// A type that a parameter can be read as.
pub trait FromScalar: Sized {
    /// What is expected, for the error.
    const EXPECTED: &'static str;
    /// The value, if it is of the type and in its range.
    fn from_scalar(value: &Scalar) -> Option<Self>;
}

macro_rules! whole {
    ($($type:ty: $expected:literal),+) => {$(
        impl FromScalar for $type {
            const EXPECTED: &'static str = $expected;
            fn from_scalar(value: &Scalar) -> Option<Self> {
                match value {
                    Scalar::Int(it) => Self::try_from(*it).ok(),
                    _ => None,
                }
            }
        }
    )+};
}

whole!(i64: "a whole number", u64: "a whole number from 0", u32: "a whole number from 0 to 4,294,967,295", usize: "a whole number from 0");

impl FromScalar for f64 {
    const EXPECTED: &'static str = "a number";
    fn from_scalar(value: &Scalar) -> Option<Self> {
        match value {
            Scalar::Int(it) => Some(*it as Self),
            Scalar::Float(it) => Some(*it),
            _ => None,
        }
    }
}

impl FromScalar for bool {
    const EXPECTED: &'static str = "`true` or `false`";
    fn from_scalar(value: &Scalar) -> Option<Self> {
        match value {
            Scalar::Bool(it) => Some(*it),
            _ => None,
        }
    }
}

impl FromScalar for String {
    const EXPECTED: &'static str = "text";
    fn from_scalar(value: &Scalar) -> Option<Self> {
        match value {
            Scalar::Text(it) => Some(it.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_read_is_echoed() {
        let params = Params::new([
            ("n".to_owned(), Scalar::Int(7)),
            ("ignored".to_owned(), Scalar::Bool(true)),
            ("name".to_owned(), Scalar::Text("x".into())),
        ]);
        assert_eq!(params.get::<u32>("n").unwrap(), 7);
        assert_eq!(params.get_or("absent", 2.5).unwrap(), 2.5);
        assert_eq!(params.effective().keys().collect::<Vec<_>>(), ["n"]);
        assert_eq!(
            params.get::<u64>("name").unwrap_err().to_string(),
            "parameter `name` is `x`, expected a whole number from 0"
        );
        assert_eq!(params.get::<f64>("m").unwrap_err().to_string(), "parameter `m` is missing");
    }
}
