use std::fmt;

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// Text.
    Text(String),
}

impl Scalar {
    /// The value in JSON, as the worker protocol and the store carry it.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => (*it).into(),
            Self::Float(it) => (*it).into(),
            Self::Text(it) => it.as_str().into(),
        }
    }

    /// The value that `json` carries; `None` for null, arrays, objects and integers beyond `i64`.
    pub fn from_json(json: &serde_json::Value) -> Option<Self> {
        match json {
            serde_json::Value::Bool(it) => Some(Self::Bool(*it)),
            serde_json::Value::Number(it) => match it.as_i64() {
                Some(whole) => Some(Self::Int(whole)),
                None if it.is_f64() => it.as_f64().map(Self::Float),
                None => None,
            },
            serde_json::Value::String(it) => Some(Self::Text(it.clone())),
            _ => None,
        }
    }
}

impl fmt::Display for Scalar {
    /// Text stands bare; a float always shows that it is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => write!(f, "{it}"),
            Self::Int(it) => write!(f, "{it}"),
            Self::Float(it) => write!(f, "{it:?}"),
            Self::Text(it) => f.write_str(it),
        }
    }
}
