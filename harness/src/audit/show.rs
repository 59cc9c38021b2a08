//! A row as texts.

use super::document::Claim;
use super::row::{Audit, Row};

/// A row as texts: what the terminal, a spreadsheet and a page show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What is claimed, with its unit.
    pub claimed: String,
    /// What it is, with its unit.
    pub recomputed: String,
    /// What it can be within the rounding of its inputs. Empty for exact ones.
    pub range: String,
    /// The confidence interval. Empty when spreads or n are not printed.
    pub interval: String,
    /// Why, what else the numbers say, and the note of the file.
    pub note: String,
}

impl Shown {
    /// The texts of a row.
    pub fn of(audit: &Audit, row: &Row) -> Self {
        let claim = &audit.document.claims[row.claim];
        let finding = &row.finding;
        let labeled = |label: &str, text: String| {
            if label.is_empty() { text } else { format!("{label}: {text}") }
        };
        let is_range = finding
            .results
            .iter()
            .all(|it| matches!(it.label.as_str(), "lower" | "upper" | "least" | "greatest"));
        let recomputed: Vec<String> = finding
            .results
            .iter()
            .map(|it| labeled(if is_range { "" } else { &it.label }, number(it.reach.at)))
            .collect();
        let recomputed = recomputed.join(if is_range { " .. " } else { ", " });
        let ranges: Vec<String> = finding
            .results
            .iter()
            .filter(|it| it.reach.range.low < it.reach.range.high)
            .map(|it| {
                if it.reach.range.is_bounded() {
                    labeled(&it.label, between(it.reach.range.low, it.reach.range.high))
                } else {
                    labeled(&it.label, "anything".to_owned())
                }
            })
            .collect();
        let details: Vec<String> =
            finding.details.iter().map(|it| format!("{} = {}", it.label, number(it.value))).collect();
        let parts = [finding.reason.clone(), details.join(", "), claim.note.clone()];
        let note: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
        Self {
            claimed: with_unit(claim, claim.claimed.to_string()),
            recomputed: if recomputed.is_empty() { String::new() } else { with_unit(claim, recomputed) },
            range: ranges.join(", "),
            interval: finding.interval.map_or_else(String::new, |it| between(it.low, it.high)),
            note: note.join("; "),
        }
    }
}

fn with_unit(claim: &Claim, text: String) -> String {
    if claim.unit.is_empty() || text.is_empty() { text } else { format!("{text} {}", claim.unit) }
}

/// Both ends, with as many digits as tell them apart.
fn between(low: f64, high: f64) -> String {
    let ends = |digits| (significant(low, digits), significant(high, digits));
    let (low, high) = (6..=15).map(ends).find(|(low, high)| low != high).unwrap_or_else(|| ends(6));
    format!("{low} .. {high}")
}

/// Six significant digits.
pub(super) fn number(value: f64) -> String {
    significant(value, 6)
}

fn significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if !(1e-4..1e9).contains(&size) {
        let text = format!("{value:.*e}", digits - 1);
        return match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
            None => text,
        };
    }
    let magnitude = size.log10().floor() as i64;
    let decimals = usize::try_from(digits as i64 - 1 - magnitude).unwrap_or(0);
    trimmed(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::{between, number};

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (91.1, "91.1"),
            (92.500_598_4, "92.5006"),
            (-0.431_124_37, "-0.431124"),
            (1_068.926_886, "1068.93"),
            (2.336_064e-52, "2.33606e-52"),
            (5_501_709.0, "5501709"),
            (99.999_999_9, "100"),
            (3.76e-47, "3.76e-47"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
    #[test]
    fn ranges_have_the_digits_that_tell_their_ends_apart() {
        assert_eq!(between(88.580_368_5, 88.580_424_1), "88.58037 .. 88.58042");
        assert_eq!(between(27.0, 28.5), "27 .. 28.5");
        assert_eq!(between(1.0, 1.0), "1 .. 1");
    }
}
