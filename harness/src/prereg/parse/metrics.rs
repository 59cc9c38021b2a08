use super::{MetricDraft, arms};
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::{did_you_mean, list};
use crate::prereg::table::{Entry, Item, Table};
use crate::prereg::{Metric, keys};
use crate::vocab::Unit;

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
        Some(Metric { name: name.clone(), unit: unit?, better: better? })
    });
    MetricDraft { name, metric: metric.filter(|_| sound) }
}

fn unit(item: &Item<'_>) -> Option<Unit> {
    let text = item.text(100)?;
    Unit::parse(&text).ok().or_else(|| {
        let hint = did_you_mean(&text, Unit::known());
        item.wrong_help(format!("a unit: {}", list(Unit::known())), hint)
    })
}
