//! What the values of options may be, where a type alone does not say it.

/// The value of a switch in a variable. Empty is unset.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("expected 1 or 0".to_owned()),
    }
}

/// A length of time, such as `90s`, `10m` or `1h 30m`.
pub(super) fn duration(text: &str) -> Result<jiff::SignedDuration, String> {
    let parsed = text.parse().ok().filter(|it: &jiff::SignedDuration| !it.is_negative());
    parsed.ok_or_else(|| "expected a time such as 90s, 10m or 1h 30m".to_owned())
}

/// A number that is one.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|it: &f64| it.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

/// The id of a run.
pub(super) fn run_id(text: &str) -> Result<uuid::Uuid, String> {
    text.parse().map_err(|_| "expected the id of a run, as `harness show EXPERIMENT` lists them".to_owned())
}
