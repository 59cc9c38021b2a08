use super::Scalar;
use std::fmt;

/// One combination of swept parameters: name and value, in order of the name.
///
/// An experiment that sweeps nothing has one cell, the empty one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell(pub Vec<(String, Scalar)>);

impl Cell {
    /// The value of a swept parameter.
    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether the cell has all the values of `condition`.
    pub fn matches(&self, condition: &[(String, Scalar)]) -> bool {
        condition.iter().all(|(name, value)| self.get(name) == Some(value))
    }
}

impl fmt::Display for Cell {
    /// `terms=1000,threads=2`: the identity of the cell in the store; empty for the empty cell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{name}={value}")?;
        }
        Ok(())
    }
}
