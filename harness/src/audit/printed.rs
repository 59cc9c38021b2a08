//! A number as it was printed: its digits say how far it may be from what was measured.

/// A number as it was printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    text: String,
    value: f64,
    decimals: i32,
}

/// Longer texts are no printed numbers.
const LONGEST: usize = 64;

impl Printed {
    /// Reads a number: a sign, digits that `,` or `_` may group, a fraction, an exponent. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > LONGEST {
            return None;
        }
        let (negative, digits) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (digits, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        let whole = grouped(whole)?;
        if !fraction.bytes().all(|it| it.is_ascii_digit()) || exponent.abs() > 290 {
            return None;
        }
        let sign = if negative { "-" } else { "" };
        let value: f64 = format!("{sign}{whole}.{fraction}0e{exponent}").parse().ok()?;
        let decimals = i32::try_from(fraction.len()).ok()? - exponent;
        value.is_finite().then(|| Self { text: text.to_owned(), value: value + 0.0, decimals })
    }

    /// The same with another number of decimals that count: `-1` for a number that is rounded to tens.
    #[must_use]
    pub fn with_decimals(self, decimals: i32) -> Self {
        Self { decimals, ..self }
    }

    /// The digits as they were printed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// One unit of the last digit.
    pub fn unit(&self) -> f64 {
        2.0 * self.half()
    }

    /// Half a unit of the last digit: how far rounding may have moved the number.
    pub fn half(&self) -> f64 {
        // Reading digits rounds correctly; a power of ten would not.
        format!("5e{}", -self.decimals - 1).parse().unwrap_or(0.0)
    }
}

/// Digits without the marks that group them.
fn grouped(whole: &str) -> Option<String> {
    let sound = whole.starts_with(|it: char| it.is_ascii_digit())
        && whole.ends_with(|it: char| it.is_ascii_digit())
        && whole.bytes().all(|it| it.is_ascii_digit() || matches!(it, b',' | b'_'))
        && !whole.as_bytes().windows(2).any(|it| it.iter().all(|it| matches!(it, b',' | b'_')));
    // A comma groups three digits; elsewhere it is some other mark.
    let groups = whole.split(',').skip(1).all(|it| it.len() == 3);
    (sound && groups).then(|| whole.replace([',', '_'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_say_how_exact_a_number_is() {
        let cases = [
            ("8,349.5", 8349.5, 0.05),
            ("8_349.50", 8349.5, 0.005),
            ("-98.0", -98.0, 0.05),
            ("\u{2212}7.37", -7.37, 0.005),
            ("+3512", 3512.0, 0.5),
            ("3.21e-60", 3.21e-60, 5e-63),
            ("0.85", 0.85, 0.005),
            ("-0", 0.0, 0.5),
        ];
        for (text, value, half) in cases {
            let printed = Printed::parse(text).unwrap();
            assert_eq!((printed.value(), printed.half()), (value, half), "{text}");
        }
        assert_eq!(Printed::parse("140").unwrap().with_decimals(-1).half(), 5.0);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let long = "1".repeat(65);
        for text in [
            "", "-", ".5", "5.", "1,2", "1,,000", "0x10", "inf", "nan", "1e999", "1e", "1 2", "~5", "5%",
            &long,
        ] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }
}
