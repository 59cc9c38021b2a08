//! The spelling of names.

/// What a name may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// An experiment, an arm, a hypothesis, a ledger: `^[a-z0-9][a-z0-9._-]{0,99}$`.
    Id,
    /// A metric, as in a worker's answer: `^[a-z][a-z0-9_]{0,99}$`.
    Metric,
    /// A parameter; it is part of a cell's name, `terms=1000,threads=2`: `^[A-Za-z][A-Za-z0-9._-]{0,99}$`.
    Param,
    /// An environment variable: `^[A-Za-z_][A-Za-z0-9_]{0,99}$`.
    Variable,
    /// A cargo package: `^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$`.
    Package,
}

impl Grammar {
    /// Whether `name` is spelled so.
    pub(crate) fn accepts(self, name: &str) -> bool {
        let first = |c: char| match self {
            Self::Id => lower_or_digit(c),
            Self::Metric => c.is_ascii_lowercase(),
            Self::Param => c.is_ascii_alphabetic(),
            Self::Variable => c.is_ascii_alphabetic() || c == '_',
            Self::Package => c.is_ascii_alphanumeric() || c == '_',
        };
        let rest = |c: char| match self {
            Self::Id => lower_or_digit(c) || matches!(c, '.' | '_' | '-'),
            Self::Metric => lower_or_digit(c) || c == '_',
            Self::Param => c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'),
            Self::Variable => c.is_ascii_alphanumeric() || c == '_',
            Self::Package => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
        };
        name.len() <= 100 && name.starts_with(first) && name.chars().all(rest)
    }

    /// The rule in words.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Id => {
                "1 to 100 lower-case letters, digits, `.`, `_` and `-`, the first a letter or a digit"
            }
            Self::Metric => "1 to 100 lower-case letters, digits and `_`, the first a letter",
            Self::Param => "1 to 100 letters, digits, `.`, `_` and `-`, the first a letter",
            Self::Variable => "1 to 100 letters, digits and `_`, the first no digit",
            Self::Package => "1 to 100 letters, digits, `_` and `-`, the first no `-`",
        }
    }

    /// An accepted name that resembles one that is not.
    pub(crate) fn repair(self, name: &str) -> Option<String> {
        let name = name.trim();
        let mut repaired = match self {
            Self::Metric | Self::Variable => name.replace([' ', '-'], "_"),
            Self::Id | Self::Param | Self::Package => name.replace([' ', '/'], "-"),
        };
        if matches!(self, Self::Id | Self::Metric) {
            repaired = repaired.to_lowercase();
        }
        self.accepts(&repaired).then_some(repaired)
    }
}

fn lower_or_digit(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}
