//! Numbers as a reader wants them. `-` of machines, `−` of texts: [`minus`] turns one into the other.

/// `value` with `digits` significant digits: plain from 0.001 to 999,999, scientific beyond.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        group(&format!("{value:.decimals$}"))
    } else {
        scientific
    }
}

/// The shortest plain form of `value`, without the dust of its arithmetic: `5`, `0.5`, `12.25`.
pub(super) fn plain(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-9..1e15).contains(&rounded.abs()) {
        return format!("{rounded:e}");
    }
    format!("{rounded}")
}

/// Value and ends of an interval with their signs, to the two digits that the width of the interval supports:
/// `+97.969`, `+97.944`, `+97.993`.
#[cfg(feature = "app")]
pub(crate) fn with_interval(value: f64, low: f64, high: f64) -> [String; 3] {
    let largest = value.abs().max(low.abs()).max(high.abs());
    let width = high - low;
    // The width decides; without one, four digits of the value.
    let leading = if width > 0.0 && width.is_finite() { width.log10() } else { largest.log10() - 2.0 };
    let decimals = if leading.is_finite() { (1.0 - leading.floor()).clamp(0.0, 12.0) } else { 0.0 };
    let scientific = largest >= 1e9 || (largest > 0.0 && largest < 1e-6);
    [value, low, high].map(|it| {
        let number = if scientific { format!("{it:+.3e}") } else { format!("{it:+.*}", decimals as usize) };
        let zero = !number.bytes().any(|it| it.is_ascii_digit() && it != b'0');
        minus(if zero { number[1..].to_owned() } else { number })
    })
}

/// `text` with the signs of its numbers in place of hyphens: `t = −3.1, p = 2.0e−7 (two-sided)`.
#[cfg(feature = "app")]
pub(crate) fn minus(text: impl Into<String>) -> String {
    let text = text.into();
    let chars: Vec<char> = text.chars().collect();
    let digit = |i: Option<usize>| i.and_then(|i| chars.get(i)).is_some_and(char::is_ascii_digit);
    let sign = |i: usize| {
        let exponent = i > 0 && chars[i - 1] == 'e' && digit(i.checked_sub(2));
        let begins = i == 0 || !(chars[i - 1].is_alphanumeric() || chars[i - 1] == '-');
        chars[i] == '-' && digit(Some(i + 1)) && (exponent || begins)
    };
    chars.iter().enumerate().map(|(i, c)| if sign(i) { '−' } else { *c }).collect()
}

/// Commas between the thousands of a plain number.
fn group(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_deserve() {
        assert_eq!(significant(12_345.678, 4), "12,346");
        assert_eq!(significant(-1234.5, 4), "-1,234");
        assert_eq!(significant(2.5e-7, 3), "2.50e-7");
        assert_eq!(plain(0.05 * 100.0), "5");
        assert_eq!(plain(0.07 * 100.0), "7");
        assert_eq!(plain(2e-10), "2e-10");
        assert_eq!(plain(0.0), "0");
    }

    #[cfg(feature = "app")]
    #[test]
    fn intervals_decide_how_many_digits_are_shown() {
        let show = |value, low, high| with_interval(value, low, high).join(" ");
        assert_eq!(show(97.969, 97.944_1, 97.993_2), "+97.969 +97.944 +97.993");
        assert_eq!(show(-0.723_4, -1.2, -0.2), "−0.7 −1.2 −0.2");
        assert_eq!(show(-0.01, -12.0, 12.0), "0 −12 +12");
        assert_eq!(
            minus("exp-1: t = -3.1, [-4, 2e-7] (two-sided)"),
            "exp-1: t = −3.1, [−4, 2e−7] (two-sided)"
        );
        assert_eq!(show(0.0, 0.0, 0.0), "0 0 0");
        assert_eq!(show(-4096.0, -4096.0, -4096.0), "−4096 −4096 −4096");
        assert_eq!(show(0.001_2, 0.000_9, 0.001_5), "+0.00120 +0.00090 +0.00150");
        assert_eq!(show(1e300, -1e300, 1e301), "+1.000e300 −1.000e300 +1.000e301");
    }
}
