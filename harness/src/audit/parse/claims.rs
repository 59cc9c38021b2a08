use super::quantities::{Draft, decimals, printed};
use super::{keys, name};
use crate::audit::claimed::{Claimed, ClaimedNumber, Limit, Rounding};
use crate::audit::document::{By, Claim, Part, Reference, Value};
use crate::audit::expr::Expr;
use crate::audit::kind::{self, Form, Kind};
use crate::audit::printed::Printed;
use crate::prereg::problem::{did_you_mean, list, quote};
use crate::prereg::table::{Item, Table};
use crate::vocab::Unit;

const MOST: usize = 2_000;
const MOST_ROWS: usize = 200;

/// What names in a claim can refer to.
struct Names<'a> {
    /// `None` when there is no telling which quantities there are.
    quantities: Option<&'a [Draft]>,
    /// The claims that are there, with what they refer to.
    claims: Vec<(String, bool)>,
}

pub(super) fn read(root: &Table<'_>, quantities: Option<&[Draft]>) -> Option<Vec<Claim>> {
    let item = root.need("claims")?;
    let members = item.list(MOST)?;
    if members.is_empty() {
        return item.problem("there are no claims, expected at least one [[claims]]", None);
    }
    let known: Vec<&str> = keys::CLAIM.iter().chain(keys::OPERANDS).copied().collect();
    let tables: Vec<_> =
        members.iter().map(|it| it.table("in [[claims]]".to_owned(), Some(&known))).collect();
    let mut names = Names { quantities, claims: Vec::new() };
    for table in &tables {
        let id = table.as_ref().and_then(|it| it.need("id")).and_then(|it| {
            let id = name(&it)?;
            if names.claims.iter().any(|(other, _)| *other == id) {
                return it.problem(format!("claim `{id}` is there twice, expected ids that differ"), None);
            }
            Some(id)
        });
        // Unreadable ones keep their place, so that the others keep theirs.
        let refers = table.as_ref().is_some_and(|it| it.get("claims").is_some());
        names.claims.push((id.unwrap_or_default(), refers));
    }
    let claims: Vec<_> =
        tables.into_iter().zip(&names.claims).map(|(table, (id, _))| claim(&table?, id, &names)).collect();
    let sound = names.claims.iter().all(|(id, _)| !id.is_empty());
    claims.into_iter().collect::<Option<Vec<_>>>().filter(|_| sound)
}

fn claim(table: &Table<'_>, id: &str, names: &Names<'_>) -> Option<Claim> {
    let place = table.or("where", String::new(), |it| it.text(200));
    let quote = table.or("quote", String::new(), |it| it.text(200));
    let unit = table.or("unit", String::new(), |it| it.text(20));
    let note = table.or("note", String::new(), |it| it.text(1_000));
    let exact = table.or("exact", Vec::new(), |it| parts(&it));
    let kind = table.need("kind").and_then(|it| find_kind(&it))?;
    let claimed = claimed(table, kind);
    let mut sound = used(table, kind);
    for key in [kind.one, kind.many, kind.needed].concat() {
        sound &= table.need(key).is_some();
    }
    let operands = operands(table, kind, names);
    let claims = table.or("claims", Vec::new(), |it| referred(&it, names));
    let expressions = table.or("expr", Vec::new(), |it| expressions(it, names));
    let p = table.or("p", Vec::new(), |it| probabilities(it));
    let d = table.maybe("d", |it| printed(&it));
    let at = table.or("at", Vec::new(), |it| sizes(&it, table.get("rows")));
    let level = table.or("level", 0.95, |it| between(&it, 0.0, 1.0));
    let alpha = table.or("alpha", 0.05, |it| between(&it, 0.0, 0.5));
    let margin = table.maybe("margin", |it| between(&it, 0.0, 1e6));
    let reversed = table.or("reversed", false, |it| it.flag());
    let by = table.or("by", By::Recomputed, |it| by(&it));
    let (operands, claims) = (operands?, claims?);
    sound &= kind.id != "monotone" || one_of(table, &operands, &claims);
    if !sound {
        return None;
    }
    Some(Claim {
        id: id.to_owned(),
        kind,
        place: place?,
        quote: quote?,
        claimed: claimed?,
        unit: unit?,
        note: note?,
        exact: exact?,
        operands,
        claims,
        expressions: expressions?,
        p: p?,
        d: d?,
        at: at?,
        level: level?,
        alpha: alpha?,
        margin: margin?,
        reversed: reversed?,
        by: by?,
    })
}

fn find_kind(item: &Item<'_>) -> Option<&'static Kind> {
    let text = item.text(100)?;
    kind::by_id(&text).or_else(|| {
        let ids = || kind::ALL.iter().map(|it| it.id);
        item.wrong_help(format!("one of {}", list(ids())), did_you_mean(&text, ids()))
    })
}

/// Whether the kind uses every key that is there.
fn used(table: &Table<'_>, kind: &Kind) -> bool {
    let own = [kind.one, kind.many, kind.needed, kind.optional].concat();
    let mut sound = true;
    for entry in table.entries() {
        if keys::OPERANDS.contains(&entry.name) && !own.contains(&entry.name) {
            let message = format!("kind `{}` has no key {}", kind.id, quote(entry.name));
            let hint = (!own.is_empty()).then(|| format!("its keys are {}", list(&own)));
            entry.item.report.help(entry.at, message, hint);
            sound = false;
        }
    }
    sound
}

fn one_of(table: &Table<'_>, operands: &[(&str, Vec<usize>)], claims: &[usize]) -> bool {
    let rows = operands.iter().any(|(key, _)| *key == "rows");
    let sound = rows == claims.is_empty();
    if !sound {
        table.report.add(table.at, "expected either `rows` or `claims` in [[claims]]".to_owned());
    }
    sound
}

fn claimed(table: &Table<'_>, kind: &Kind) -> Option<Claimed> {
    let item = if kind.form == Form::Any { table.get("claimed") } else { table.need("claimed") };
    let decimals = table.maybe("decimals", |it| decimals(&it))?;
    let tolerance = table.maybe("tolerance", |it| between(&it, 0.0, 1e300))?;
    let rounding = table.or("rounding", Rounding::Rounded, |it| rounding(&it))?;
    let number = |printed: Printed| {
        let printed = if let Some(it) = decimals { printed.with_decimals(it) } else { printed };
        ClaimedNumber { printed, rounding, tolerance }
    };
    let Some(item) = item else { return (kind.form == Form::Any).then(|| Claimed::Word(String::new())) };
    match kind.form {
        Form::Any => item.text(200).map(Claimed::Word),
        Form::Words(words) => {
            let text = item.text(200)?;
            if words.contains(&text.as_str()) {
                return Some(Claimed::Word(text));
            }
            item.wrong_help(format!("one of {}", list(words)), did_you_mean(&text, words))
        }
        Form::Number | Form::Limit => {
            if let Some((limit, rest)) = item.digits().and_then(Limit::strip) {
                let Some(printed) = Printed::parse(rest) else {
                    return item.wrong("a number after the sign");
                };
                return Some(Claimed::Limit(limit, number(printed)));
            }
            if kind.form == Form::Limit {
                return item.wrong("a limit such as `> 1.0`");
            }
            printed(&item).map(|it| Claimed::Number(number(it)))
        }
        Form::Range => {
            let members = item.list(2)?;
            let [low, high] = members.as_slice() else { return item.wrong("two numbers") };
            let (low, high) = (printed(low), printed(high));
            let (low, high) = (low?, high?);
            if low.value() > high.value() {
                return item.wrong("the lower number first");
            }
            Some(Claimed::Range(number(low), number(high)))
        }
    }
}

fn rounding(item: &Item<'_>) -> Option<Rounding> {
    match item.text(40)?.as_str() {
        "rounded" => Some(Rounding::Rounded),
        "truncated" => Some(Rounding::Truncated),
        _ => item.wrong("`rounded` or `truncated`"),
    }
}

fn by(item: &Item<'_>) -> Option<By> {
    match item.text(40)?.as_str() {
        "recomputed" => Some(By::Recomputed),
        "claimed" => Some(By::Claimed),
        _ => item.wrong("`recomputed` or `claimed`"),
    }
}

fn parts(item: &Item<'_>) -> Option<Vec<Part>> {
    let part = |it: &Item<'_>| match it.text(40)?.as_str() {
        "mean" => Some(Part::Mean),
        "spread" => Some(Part::Spread),
        _ => it.wrong("`mean` or `spread`"),
    };
    let parts: Vec<_> = item.list(2)?.iter().map(part).collect();
    parts.into_iter().collect()
}

fn between(item: &Item<'_>, low: f64, high: f64) -> Option<f64> {
    let number = item.number()?;
    if low < number && number < high {
        Some(number)
    } else {
        item.wrong(format!("a number between {low} and {high}"))
    }
}

fn probabilities(item: Item<'_>) -> Option<Vec<Printed>> {
    let one = |it: &Item<'_>| {
        let p = printed(it)?;
        if (0.0..=1.0).contains(&p.value()) { Some(p) } else { it.wrong("a probability") }
    };
    let all: Vec<_> = item.one_or_more(MOST_ROWS)?.iter().map(one).collect();
    all.into_iter().collect()
}

fn sizes(item: &Item<'_>, rows: Option<Item<'_>>) -> Option<Vec<f64>> {
    let members = item.list(MOST_ROWS)?;
    let numbers: Vec<_> = members.iter().map(|it| between(it, 0.0, 1e300)).collect();
    let numbers: Vec<f64> = numbers.into_iter().collect::<Option<_>>()?;
    let rows = rows.and_then(|it| it.one_or_more(MOST_ROWS)).map_or(0, |it| it.len());
    if rows != numbers.len() {
        return item.problem(format!("`at` has {} members, `rows` has {rows}", numbers.len()), None);
    }
    if numbers.windows(2).any(|it| it[0] >= it[1]) {
        return item.wrong("numbers that grow");
    }
    Some(numbers)
}

/// The quantities under the keys of the kind.
fn operands(
    table: &Table<'_>,
    kind: &'static Kind,
    names: &Names<'_>,
) -> Option<Vec<(&'static str, Vec<usize>)>> {
    let mut operands = Vec::new();
    let mut whole = true;
    let optional = kind.optional.iter().filter(|it| **it == "rows");
    for key in kind.one.iter().chain(kind.many).chain(optional).copied() {
        let Some(item) = table.get(key) else { continue };
        let single = kind.one.contains(&key);
        let members = if single { Some(vec![item]) } else { item.one_or_more(MOST_ROWS) };
        let found: Option<Vec<usize>> = members.and_then(|members| {
            let least = if key == "rows" { 2 } else { 1 };
            if members.len() < least {
                table
                    .report
                    .add(table.at_key(key), format!("`{key}` is too short, expected {least} or more"));
                return None;
            }
            let found: Vec<_> = members.iter().map(|it| quantity(it, kind, names)).collect();
            found.into_iter().collect()
        });
        match found {
            Some(found) => operands.push((key, found)),
            None => whole = false,
        }
    }
    (whole && lengths(table, &operands) && units(table, names, &operands)).then_some(operands)
}

/// Whether lists that belong together are as long as one another.
fn lengths(table: &Table<'_>, operands: &[(&'static str, Vec<usize>)]) -> bool {
    let length = |key: &str| operands.iter().find(|(name, _)| *name == key).map(|(_, it)| it.len());
    for (many, other, single) in [("treatment", "control", true), ("of", "against", false)] {
        if let (Some(first), Some(second)) = (length(many), length(other))
            && first != second
            && !(single && second == 1)
        {
            let message = format!("`{many}` has {first} members, `{other}` has {second}");
            table.report.add(table.at_key(other), message);
            return false;
        }
    }
    true
}

/// Whether all quantities of a claim measure the same kind of thing.
fn units(table: &Table<'_>, names: &Names<'_>, operands: &[(&'static str, Vec<usize>)]) -> bool {
    // Of a quantity with problems nothing is known.
    let unit = |place: &usize| Some(names.quantities?.get(*place)?.quantity.as_ref()?.unit);
    let name = |it: &Option<Unit>| it.map_or("no unit", Unit::name);
    // Rows of pairs may be of several metrics; within a pair they may not.
    let rows = operands.iter().map(|(_, it)| it.len()).max().unwrap_or(0);
    for row in 0..rows {
        let of_row = operands.iter().filter_map(|(_, it)| unit(it.get(row).or(it.last())?));
        let units: Vec<_> = of_row.collect();
        let kind = |it: &Option<Unit>| it.map(Unit::kind);
        if let Some(other) = units.iter().find(|it| kind(it) != kind(&units[0])) {
            let message = format!("`{}` and `{}` cannot be compared", name(&units[0]), name(other));
            table.report.add(table.at, message);
            return false;
        }
    }
    true
}

fn quantity(item: &Item<'_>, kind: &Kind, names: &Names<'_>) -> Option<usize> {
    let text = item.text(100)?;
    let place = find(item, &text, names)?;
    let draft = &names.quantities?[place];
    let undirected = draft.quantity.as_ref().is_some_and(|it| it.better.is_none());
    if kind.directed && undirected {
        let message = format!("quantity `{text}` has no `better`, which kind `{}` needs", kind.id);
        return item.problem(message, Some("`better = \"lower\"` for times, `\"higher\"` for rates".into()));
    }
    Some(place)
}

fn find(item: &Item<'_>, name: &str, names: &Names<'_>) -> Option<usize> {
    let quantities = names.quantities?;
    quantities.iter().position(|it| it.name == name).or_else(|| {
        let known = || quantities.iter().map(|it| it.name.as_str());
        let hint = did_you_mean(name, known());
        item.problem(format!("there is no quantity {}", quote(name)), hint)
    })
}

fn referred(item: &Item<'_>, names: &Names<'_>) -> Option<Vec<usize>> {
    let one = |it: &Item<'_>| {
        let id = it.text(100)?;
        match names.claims.iter().position(|(name, _)| *name == id) {
            Some(place) if names.claims[place].1 => {
                it.problem(format!("claim `{id}` refers to claims itself, expected one that does not"), None)
            }
            Some(place) => Some(place),
            None => {
                let hint = did_you_mean(&id, names.claims.iter().map(|(name, _)| name.as_str()));
                it.problem(format!("there is no claim {}", quote(&id)), hint)
            }
        }
    };
    let members = item.list(MOST_ROWS)?;
    if members.is_empty() {
        return item.wrong("at least one claim");
    }
    let all: Vec<_> = members.iter().map(one).collect();
    all.into_iter().collect()
}

fn expressions(item: Item<'_>, names: &Names<'_>) -> Option<Vec<(Expr, Vec<Reference>)>> {
    let one = |it: &Item<'_>| {
        let text = it.filled(1_000)?;
        let expr = match Expr::parse(&text) {
            Ok(expr) => expr,
            Err(error) => return it.problem(format!("{} is no expression: {error}", it.what), None),
        };
        let reference = |name: &String| match Value::split(name) {
            Some((quantity, value)) => Some(Reference { quantity: find(it, quantity, names)?, value }),
            None => it.problem(
                format!("{} has no such part", quote(name)),
                Some("parts are `sd`, `se`, `n`".into()),
            ),
        };
        let references: Vec<_> = expr.names().iter().map(reference).collect();
        Some((expr, references.into_iter().collect::<Option<_>>()?))
    };
    let members = item.one_or_more(MOST_ROWS)?;
    let all: Vec<_> = members.iter().map(one).collect();
    all.into_iter().collect()
}
