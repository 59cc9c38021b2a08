use super::number::significant;
use std::fmt;

/// What a unit measures; only units of one kind can be converted into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// Time, in nanoseconds.
    Time,
    /// An amount of memory, in bytes.
    Bytes,
    /// Events a second.
    Rate,
    /// A number without a dimension, or of things.
    Count,
}

/// A unit as it is spelled in a metric.
#[derive(Clone, Copy, PartialEq)]
pub struct Unit {
    name: &'static str,
    kind: UnitKind,
    scale: f64,
}

/// Spelling, kind, and how many base units (ns, B, 1/s, 1) one of it is.
const UNITS: &[(&str, UnitKind, f64)] = &[
    ("ps", UnitKind::Time, 1e-3),
    ("ns", UnitKind::Time, 1.0),
    ("µs", UnitKind::Time, 1e3),
    ("ms", UnitKind::Time, 1e6),
    ("s", UnitKind::Time, 1e9),
    ("min", UnitKind::Time, 60e9),
    ("B", UnitKind::Bytes, 1.0),
    ("KiB", UnitKind::Bytes, 1024.0),
    ("MiB", UnitKind::Bytes, 1_048_576.0),
    ("GiB", UnitKind::Bytes, 1_073_741_824.0),
    ("kB", UnitKind::Bytes, 1e3),
    ("MB", UnitKind::Bytes, 1e6),
    ("GB", UnitKind::Bytes, 1e9),
    ("op/s", UnitKind::Rate, 1.0),
    // Before what is the same: numbers read best in the other one.
    ("op/ms", UnitKind::Rate, 1e3),
    ("kop/s", UnitKind::Rate, 1e3),
    ("Mop/s", UnitKind::Rate, 1e6),
    ("Gop/s", UnitKind::Rate, 1e9),
    ("1", UnitKind::Count, 1.0),
    ("%", UnitKind::Count, 0.01),
];

/// Other spellings in use; both micro signs of Unicode among them.
const ALIASES: &[(&str, &str)] = &[
    ("us", "µs"),
    ("μs", "µs"),
    ("sec", "s"),
    ("bytes", "B"),
    ("ops/s", "op/s"),
    ("ops/ms", "op/ms"),
    ("Mops/s", "Mop/s"),
    ("kops/s", "kop/s"),
    ("Gops/s", "Gop/s"),
    ("count", "1"),
];

/// A unit that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUnit(pub String);

impl fmt::Display for UnknownUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown unit `{}`, known are ", self.0)?;
        for (i, (name, ..)) in UNITS.iter().enumerate() {
            write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownUnit {}

impl Unit {
    /// The unit that `text` spells.
    pub fn parse(text: &str) -> Result<Self, UnknownUnit> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == text).map_or(text, |(_, name)| name);
        UNITS
            .iter()
            .find(|(it, ..)| *it == name)
            .map(|&(name, kind, scale)| Self { name, kind, scale })
            .ok_or_else(|| UnknownUnit(text.to_owned()))
    }

    /// The spellings that [`Unit::parse`] knows, without their aliases.
    pub fn known() -> impl Iterator<Item = &'static str> {
        UNITS.iter().map(|(name, ..)| *name)
    }

    /// The spelling.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What it measures.
    pub fn kind(self) -> UnitKind {
        self.kind
    }

    /// How many base units (nanoseconds, bytes, events a second, ones) one of it is.
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// The unit of the same kind in which `value` reads best: at least 1 and as short as can be.
    ///
    /// Used for showing only; stored numbers keep the registered unit.
    pub fn readable(self, value: f64) -> Self {
        // A percentage of 100 or more is still one.
        if self.name == "%" {
            return self;
        }
        let base = value.abs() * self.scale;
        let binary = self.name.contains('i') || self.name == "B";
        UNITS
            .iter()
            .filter(|(name, kind, _)| {
                *kind == self.kind
                    && *name != "%"
                    // Sixty of something do not go well with decimals.
                    && (*name != "min" || self.name == "min")
                    && (*kind != UnitKind::Bytes || *name == "B" || name.contains('i') == binary)
            })
            .rfind(|(.., scale)| base >= *scale)
            .map_or(self, |&(name, kind, scale)| Self { name, kind, scale })
    }

    /// `value` in this unit, shown in `shown`, with four significant digits and no unit.
    pub fn show_in(self, shown: Self, value: f64) -> String {
        significant(value * (self.scale / shown.scale), 4)
    }

    /// `value` with four significant digits in the unit in which it reads best.
    pub fn show(self, value: f64) -> String {
        self.show_beside(value, value)
    }

    /// As [`show`](Self::show); nothing at all reads best in the unit of what it stands beside.
    pub fn show_beside(self, value: f64, other: f64) -> String {
        let shown = self.readable(if value == 0.0 { other } else { value });
        let number = self.show_in(shown, value);
        if shown.name == "1" { number } else { format!("{number} {shown}") }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_stay_percentages() {
        let unit = Unit::parse("%").unwrap();
        assert_eq!(unit.show(100.0), "100.0 %");
        assert_eq!(unit.show(250.0), "250.0 %");
        assert_eq!(unit.show(0.5), "0.5000 %");
    }

    #[test]
    fn every_spelling_of_a_microsecond_is_one_unit() {
        let spellings = ["us", "µs", "μs"];
        for text in spellings {
            assert_eq!(Unit::parse(text).unwrap().name(), "µs");
        }
        assert!(Unit::parse("parsec").unwrap_err().to_string().starts_with("unknown unit `parsec`"));
    }

    #[test]
    fn numbers_read_well() {
        let ms = Unit::parse("ms").unwrap();
        assert_eq!(ms.show(0.705), "705.0 µs");
        assert_eq!(ms.show(8349.5), "8.350 s");
        assert_eq!(ms.show(0.0), "0 ms");
        let mib = Unit::parse("MiB").unwrap();
        assert_eq!(mib.show(0.25), "256.0 KiB");
        assert_eq!(mib.show(1467.0), "1.433 GiB");
        assert_eq!([mib.show_beside(0.0, 0.25), mib.show_beside(2.0, 0.25)], ["0 KiB", "2.000 MiB"]);
        assert_eq!(Unit::parse("MB").unwrap().show(0.25), "250.0 kB");
        assert_eq!(ms.show(90_000.0), "90.00 s");
        let minutes = Unit::parse("min").unwrap();
        assert_eq!([minutes.show(2.5), minutes.show(0.5)], ["2.500 min", "30.00 s"]);
        let rate = Unit::parse("ops/ms").unwrap();
        assert_eq!([rate.show(2.5), rate.show(2500.0)], ["2.500 kop/s", "2.500 Mop/s"]);
    }
}
