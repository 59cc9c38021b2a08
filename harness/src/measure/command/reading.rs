//! The values of the metrics, each from where its probe says.

use super::capture::Capture;
use crate::prereg::{Metric, Prereg};
use crate::probe::{Gauge, Probe, Usage};
use regex_lite::Regex;
use serde_json::Value;
use std::path::Path;

/// How far a count of resident bytes may be off for each processor, which keeps up to 32 pages to itself before it tells.
const RSS_SLACK: u64 = 32 * 4096;

pub(super) struct Readings<'a>(Vec<Reading<'a>>);

/// What is known of a command that has ended.
pub(super) struct Seen<'a> {
    pub(super) usage: &'a Usage,
    /// Only where a metric asks for it.
    pub(super) instructions: Option<u64>,
    /// What the processor counted, by the event's name.
    pub(super) events: &'a [(&'static str, u64)],
    /// What may have been resident in its process before it became the command, in bytes, if that is known.
    pub(super) floor: Option<u64>,
    /// Only where it is captured.
    pub(super) capture: Option<&'a Capture>,
}

struct Reading<'a> {
    metric: &'a Metric,
    /// Of a pattern.
    regex: Option<Regex>,
}

impl<'a> Readings<'a> {
    pub(super) fn of(prereg: &'a Prereg) -> Self {
        let reading = |metric: &'a Metric| {
            let regex = match &metric.probe {
                Some(Probe::Pattern(pattern)) => Regex::new(pattern).ok(),
                _ => None,
            };
            Reading { metric, regex }
        };
        Self(prereg.metrics.iter().map(reading).collect())
    }

    /// A finite number for each metric, in its unit, or why there is none.
    pub(super) fn read(&self, seen: &Seen<'_>, root: &Path) -> Result<Vec<f64>, String> {
        let one = |it: &Reading<'_>| {
            let value = it.read(seen, root);
            // Minus zero is zero: no digest and no sign may depend on it.
            value.map(|it| it + 0.0).map_err(|why| format!("`{}` cannot be read: {why}", it.metric.name))
        };
        self.0.iter().map(one).collect()
    }
}

impl Reading<'_> {
    fn read(&self, seen: &Seen<'_>, root: &Path) -> Result<f64, String> {
        let scale = self.metric.unit.scale();
        let printed = || seen.capture.ok_or("its output is not captured")?.text().map_err(|it| it.clone());
        match &self.metric.probe {
            Some(Probe::Gauge(gauge)) => Ok(gauged(gauge, seen.usage, seen.floor)? / scale),
            Some(Probe::Hardware(event)) => {
                let found = seen.events.iter().find(|(name, _)| *name == event.name);
                Ok(found.ok_or("it was not counted")?.1 as f64 / scale)
            }
            Some(Probe::Instructions) => {
                Ok(seen.instructions.ok_or("its instructions were not counted")? as f64 / scale)
            }
            Some(Probe::Bytes(files)) => Ok(bytes(files, root)? as f64 / scale),
            Some(Probe::Pattern(pattern)) => {
                let regex = self.regex.as_ref().ok_or("its pattern is no regular expression")?;
                let text = printed()?;
                let group = regex.captures(&text).and_then(|it| it.get(1));
                number(group.ok_or_else(|| format!("`{pattern}` matches nothing that it printed"))?.as_str())
            }
            Some(Probe::Pointer(pointer)) => {
                let text = printed()?;
                let json: Value =
                    serde_json::from_str(&text).map_err(|it| format!("what it printed is no JSON: {it}"))?;
                match json.pointer(pointer) {
                    Some(Value::Number(it)) => number(&it.to_string()),
                    Some(Value::String(it)) => number(it),
                    Some(_) => Err(format!("`{pointer}` is no number")),
                    None => Err(format!("there is no `{pointer}` in what it printed")),
                }
            }
            None => Err("it has no probe".to_owned()),
        }
    }
}

/// The kernel counts what was resident before a process became the command: what its launcher tells, or what is resident here.
fn gauged(gauge: &Gauge, usage: &Usage, floor: Option<u64>) -> Result<f64, String> {
    if gauge.is_peak_rss()
        && let Some(floor) = floor.or_else(own_peak_rss)
        && usage.peak_rss <= floor + slack()
    {
        let mib = |it: u64| it as f64 / f64::from(1 << 20);
        return Err(format!(
            "the kernel counts the {:.1} MiB of the process that started it, and it took no more",
            mib(floor)
        ));
    }
    Ok((gauge.read)(usage))
}

fn slack() -> u64 {
    RSS_SLACK * std::thread::available_parallelism().map_or(1, |it| it.get() as u64)
}

fn own_peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

fn bytes(files: &[String], root: &Path) -> Result<u64, String> {
    let size = |name: &String| {
        let found = std::fs::metadata(root.join(name)).map_err(|it| format!("`{name}`: {it}"))?;
        if found.is_file() { Ok(found.len()) } else { Err(format!("`{name}` is no file")) }
    };
    files.iter().map(size).sum()
}

fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(it) if it.is_finite() => Ok(it),
        _ => Err(format!("`{}` is no finite number", text.chars().take(60).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_are_numbers() {
        for (text, expected) in [("1.5", Some(1.5)), (" 2e3\n", Some(2000.0)), ("-0", Some(-0.0))] {
            assert_eq!(number(text).ok(), expected, "{text}");
        }
        for text in ["NaN", "inf", "1e400", "", "1,5", "12 ms"] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_resident_set_below_our_own_is_not_that_of_the_command() {
        let gauge = Gauge::named("peak-rss").unwrap();
        let usage = |peak_rss| Usage { peak_rss, ..Usage::default() };
        assert!(gauged(gauge, &usage(1 << 20), None).unwrap_err().contains("took no more"));
        // What is told of its launcher is what counts, if it is told.
        assert!(gauged(gauge, &usage(1 << 20), Some(1 << 20)).is_err());
        assert_eq!(gauged(gauge, &usage(1 << 26), Some(1 << 19)), Ok(f64::from(1 << 26)));
        assert_eq!(gauged(gauge, &usage(1 << 40), None), Ok(f64::from(1 << 20) * f64::from(1 << 20)));
    }
}
