/// The sign between the whole and the fraction of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimal {
    /// `12.5`
    #[default]
    Point,
    /// `12,5`
    Comma,
}

/// The number that `text` is: sign, ASCII digits, at most one decimal sign, exponent. Nothing else: no groups of
/// thousands, no words, no other digits.
pub(super) fn number(text: &str, decimal: Decimal) -> Result<f64, String> {
    if text.is_empty() {
        return Err("an empty value, where a number is expected".to_owned());
    }
    let plain = match decimal {
        Decimal::Point => text.to_owned(),
        Decimal::Comma if text.contains('.') => {
            return Err(format!("`{text}` is not a number whose decimal sign is a comma"));
        }
        Decimal::Comma => text.replacen(',', ".", 1),
    };
    let grammar = plain.bytes().all(|it| it.is_ascii_digit() || b"+-.eE".contains(&it));
    match plain.parse::<f64>() {
        Ok(value) if grammar && value.is_finite() => Ok(value),
        Ok(_) if grammar => Err(format!("`{text}` is larger than every number that can be kept")),
        _ if decimal == Decimal::Point && text.contains(',') => Err(format!(
            "`{text}` is not a number in the default form, in which a comma is no part of one; `--decimal comma` \
             reads it as the decimal sign"
        )),
        _ => Err(format!("`{text}` is not a finite number")),
    }
}
