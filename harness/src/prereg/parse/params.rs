use super::ParamDraft;
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::quote;
use crate::prereg::table::{Item, Table};
use crate::vocab::Scalar;
use std::mem::discriminant;

/// More values than this are more cells than are allowed, whatever else is swept.
const MOST_VALUES: usize = 10_000;

pub(super) fn read(root: &Table<'_>) -> Vec<ParamDraft> {
    let Some(table) = root.section_or_empty("params", None) else {
        return Vec::new();
    };
    let mut params: Vec<_> = table
        .entries()
        .into_iter()
        .map(|it| {
            let sound = name(&it.item, it.name, it.at);
            let values = values(it.item);
            ParamDraft { name: it.name.to_owned(), values: values.filter(|_| sound) }
        })
        .collect();
    params.sort_by(|a, b| a.name.cmp(&b.name));
    params
}

/// Whether a parameter's name is well spelled; reported if not.
pub(super) fn name(item: &Item<'_>, name: &str, at: usize) -> bool {
    let sound = Grammar::Param.accepts(name);
    if !sound {
        let hint = Grammar::Param.repair(name).map(|it| format!("did you mean {}?", quote(&it)));
        let message =
            format!("{} is no parameter's name, expected {}", quote(name), Grammar::Param.describe());
        item.report.help(at, message, hint);
    }
    sound
}

pub(super) fn finish(params: Vec<ParamDraft>) -> Option<Vec<(String, Vec<Scalar>)>> {
    params.into_iter().map(|it| Some((it.name, it.values?))).collect()
}

fn values(item: Item<'_>) -> Option<Vec<Scalar>> {
    let (report, what, at) = (item.report, item.what.clone(), item.at);
    let members = item.one_or_more(MOST_VALUES)?;
    if members.is_empty() {
        report.help(
            at,
            format!("{what} is an empty list, expected at least one value"),
            Some("a list is swept; without a value there is no cell".to_owned()),
        );
        return None;
    }
    let swept = members.len() > 1;
    let mut values: Vec<Option<Scalar>> = Vec::with_capacity(members.len());
    for member in &members {
        let value = member.scalar().and_then(|value| admit(member, value, &values, swept, &what));
        values.push(value);
    }
    values.into_iter().collect()
}

/// A value of a sweep, unless it does not go with those before it.
fn admit(
    member: &Item<'_>,
    value: Scalar,
    before: &[Option<Scalar>],
    swept: bool,
    what: &str,
) -> Option<Scalar> {
    if before.iter().flatten().any(|it| *it == value) {
        let message = format!("{what} has the value {} twice", quote(&value.to_string()));
        return member.problem(message, Some("every value is a cell of its own".to_owned()));
    }
    if let Some(first) = before.iter().flatten().next()
        && discriminant(first) != discriminant(&value)
    {
        let message =
            format!("{what} mixes {} and {}, expected values of one kind", kind(first), kind(&value));
        let hint = matches!(
            (first, &value),
            (Scalar::Int(_), Scalar::Float(_)) | (Scalar::Float(_), Scalar::Int(_))
        )
        .then(|| "write whole numbers among fractions as `1.0`".to_owned());
        return member.problem(message, hint);
    }
    match &value {
        Scalar::Text(text) if swept && text.contains([',', '=']) => {
            let message = format!("{what} is swept over {}, expected text without `,` and `=`", quote(text));
            let hint = "the value becomes part of a cell's name, as in `terms=1000,threads=2`".to_owned();
            member.problem(message, Some(hint))
        }
        _ => Some(value),
    }
}

fn kind(value: &Scalar) -> &'static str {
    match value {
        Scalar::Bool(_) => "truth values",
        Scalar::Int(_) => "whole numbers",
        Scalar::Float(_) => "fractions",
        Scalar::Text(_) => "text",
    }
}
