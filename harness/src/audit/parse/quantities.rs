use super::keys;
use crate::audit::document::{Figure, Quantity, Spread, SpreadKind};
use crate::audit::printed::Printed;
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::{did_you_mean, list, quote};
use crate::prereg::table::{Entry, Item, Table};
use crate::vocab::Unit;

const MOST: usize = 2_000;

/// A quantity. Its name can be referred to even if the rest could not be read.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) quantity: Option<Quantity>,
}

/// The quantities; `None` when there is no telling which there are.
pub(super) fn read(root: &Table<'_>) -> Option<Vec<Draft>> {
    let table = root.section_or_empty("quantities", None)?;
    let entries = table.entries();
    if entries.len() > MOST {
        root.report
            .add(table.at, format!("there are {} quantities, at most {MOST} are allowed", entries.len()));
        return None;
    }
    Some(entries.iter().map(quantity).collect())
}

fn quantity(entry: &Entry<'_>) -> Draft {
    let name = entry.name.to_owned();
    let sound = Grammar::Metric.accepts(&name);
    if !sound {
        let message = format!("quantity {}, expected {}", quote(&name), Grammar::Metric.describe());
        let hint = Grammar::Metric.repair(&name).map(|it| format!("did you mean {}?", quote(&it)));
        entry.item.report.help(entry.at, message, hint);
    }
    let quantity = read_quantity(entry, &name).filter(|_| sound);
    Draft { name, quantity }
}

fn read_quantity(entry: &Entry<'_>, name: &str) -> Option<Quantity> {
    let table = entry.item.table(format!("in [quantities.{name}]"), None)?;
    let mut known = true;
    for it in table.entries().iter().filter(|it| !keys::QUANTITY.contains(&it.name)) {
        // The one mistake that this format is there to prevent.
        let hint = if matches!(it.name, "spread" | "error" | "±" | "std" | "stderr") {
            "name what it is: `sd`, `se`, `ci95`, or `plus_minus` where the table does not say".to_owned()
        } else {
            did_you_mean(it.name, keys::QUANTITY)
                .unwrap_or_else(|| format!("known keys are {}", list(keys::QUANTITY)))
        };
        let message = format!("unknown key {} in [quantities.{name}]", quote(it.name));
        it.item.report.help(it.at, message, Some(hint));
        known = false;
    }
    let decimals = table.maybe("decimals", |it| decimals(&it));
    let exact = table.or("exact", false, |it| it.flag());
    let mean = table.maybe("mean", |it| printed(&it));
    let spread = spread(&table, exact);
    let n = table.maybe("n", |it| it.whole(1..=1_000_000_000));
    let unit = table.maybe("unit", |it| unit(&it));
    let better = table.maybe("better", |it| it.word());
    let (exact, decimals) = (exact?, decimals?);
    let mean = mean?.map(|it| {
        let printed = if let Some(decimals) = decimals { it.with_decimals(decimals) } else { it };
        Figure { printed, exact }
    });
    let n = n?.and_then(|it| u32::try_from(it).ok());
    let quantity = Quantity { id: name.to_owned(), mean, spread: spread?, n, unit: unit?, better: better? };
    known.then_some(quantity)
}

fn spread(table: &Table<'_>, exact: Option<bool>) -> Option<Option<Spread>> {
    let kinds = [SpreadKind::Sd, SpreadKind::Se, SpreadKind::Ci95, SpreadKind::Unknown];
    let found: Vec<_> = kinds.into_iter().filter_map(|kind| Some((kind, table.get(kind.key())?))).collect();
    if let [(first, _), (second, item), ..] = found.as_slice() {
        let message = format!("{} is there beside `{}`, expected one spread", item.what, first.key());
        let hint = format!("a quantity of its own can hold `{}`", second.key());
        return item.problem(message, Some(hint));
    }
    let Some((kind, item)) = found.into_iter().next() else { return Some(None) };
    let printed = printed(&item)?;
    if printed.value() < 0.0 {
        return item.wrong("a number that is not negative");
    }
    Some(Some(Spread { kind, figure: Figure { printed, exact: exact? } }))
}

fn unit(item: &Item<'_>) -> Option<Unit> {
    let text = item.text(100)?;
    Unit::parse(&text).ok().or_else(|| {
        item.wrong_help(format!("a unit: {}", list(Unit::known())), did_you_mean(&text, Unit::known()))
    })
}

/// How many decimals count.
pub(super) fn decimals(item: &Item<'_>) -> Option<i32> {
    item.whole(-30..=30).and_then(|it| i32::try_from(it).ok())
}

/// A number with its digits.
pub(super) fn printed(item: &Item<'_>) -> Option<Printed> {
    item.digits().and_then(Printed::parse).or_else(|| {
        item.wrong("a number as it was printed, such as `8,349.50` in quotes: its digits say how exact it is")
    })
}
