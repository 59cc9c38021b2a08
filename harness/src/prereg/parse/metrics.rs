use super::{MetricDraft, arms, commands};
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::{did_you_mean, list};
use crate::prereg::table::{Entry, Item, Table};
use crate::prereg::{Metric, keys};
use crate::probe::{Gauge, HardwareEvent, Probe};
use crate::vocab::{Nature, Unit, UnitKind};

const MOST_METRICS: usize = 100;

/// The metrics; `None` when there is no telling which there are.
pub(super) fn read(root: &Table<'_>) -> Option<Vec<MetricDraft>> {
    let item = root.need_section("metrics")?;
    let entries = item.table("in [metrics]".to_owned(), None)?.entries();
    if entries.is_empty() || entries.len() > MOST_METRICS {
        let message = format!("[metrics] has {} metrics, expected 1 to {MOST_METRICS}", entries.len());
        return item.problem(message, None);
    }
    Some(entries.iter().map(metric).collect())
}

fn metric(entry: &Entry<'_>) -> MetricDraft {
    let name = entry.name.to_owned();
    let sound = arms::named(entry, Grammar::Metric, "metric");
    let metric = entry.item.table(format!("in [metrics.{name}]"), Some(keys::METRIC)).and_then(|table| {
        let unit = table.need("unit").and_then(|it| unit(&it));
        let better = table.need("better").and_then(|it| it.word());
        let probe = table.maybe("probe", |it| probe(&it, unit));
        let nature = table.or("nature", Nature::Measured, |it| it.word());
        Some(Metric { name: name.clone(), unit: unit?, better: better?, probe: probe?, nature: nature? })
    });
    MetricDraft { name, at: entry.at, metric: metric.filter(|_| sound) }
}

fn unit(item: &Item<'_>) -> Option<Unit> {
    let text = item.text(100)?;
    Unit::parse(&text).ok().or_else(|| {
        let hint = did_you_mean(&text, Unit::known());
        item.wrong_help(format!("a unit: {}", list(Unit::known())), hint)
    })
}

fn probe(item: &Item<'_>, unit: Option<Unit>) -> Option<Probe> {
    if !item.is_table() {
        return gauge(item, unit);
    }
    let table = item.table("in `probe`".to_owned(), Some(keys::PROBE))?;
    match (table.get("bytes"), table.get("pattern"), table.get("pointer")) {
        (Some(files), None, None) => {
            let files = commands::paths(&files);
            if unit.is_some_and(|it| it.kind() != UnitKind::Bytes) {
                return item.problem("the sizes of files are bytes, the unit is not", None);
            }
            files.map(Probe::Bytes)
        }
        (None, Some(pattern), None) => self::pattern(&pattern),
        (None, None, Some(pointer)) => {
            let text = pointer.text(1_000)?;
            match text.is_empty() || text.starts_with('/') {
                true => Some(Probe::Pointer(text)),
                false => pointer.wrong_help("a JSON pointer", Some(format!("did you mean `/{text}`?"))),
            }
        }
        _ => item.problem("`probe` says where one number is read, expected one key", None),
    }
}

fn gauge(item: &Item<'_>, unit: Option<Unit>) -> Option<Probe> {
    let text = item.text(100)?;
    let event = HardwareEvent::named(&text).map(Probe::Hardware);
    let counted = event.or_else(|| (text == Probe::INSTRUCTIONS).then_some(Probe::Instructions));
    if let Some(probe) = counted {
        return match unit {
            Some(it) if it.kind() != UnitKind::Count => item.problem(
                format!("`{text}` are not measured in `{it}`"),
                Some("their unit is `1`".to_owned()),
            ),
            _ => Some(probe),
        };
    }
    let Some(gauge) = Gauge::named(&text) else {
        let expected =
            format!("one of {}, or a table such as {{ bytes = [\"out.bin\"] }}", list(Probe::names()));
        return item.wrong_help(expected, did_you_mean(&text, Probe::names()));
    };
    if let Some(unit) = unit.filter(|it| it.kind() != gauge.kind) {
        let suiting = Unit::known().filter(|it| Unit::parse(it).is_ok_and(|it| it.kind() == gauge.kind));
        return item.problem(
            format!("`{text}` is not measured in `{unit}`"),
            Some(format!("units of it are {}", list(suiting))),
        );
    }
    Some(Probe::Gauge(gauge))
}

/// A regular expression that finds one number.
fn pattern(item: &Item<'_>) -> Option<Probe> {
    let text = item.text(1_000)?;
    match regex_lite::Regex::new(&text) {
        // The whole match is a group as well.
        Ok(it) if it.captures_len() == 2 => Some(Probe::Pattern(text)),
        Ok(it) => item.problem(
            format!("{} has {} groups, expected one: the number", item.what, it.captures_len() - 1),
            Some("such as 'took ([0-9.]+) ms'; a group that is not the number is `(?:..)`".to_owned()),
        ),
        Err(error) => item.problem(format!("{} is no regular expression: {error}", item.what), None),
    }
}
