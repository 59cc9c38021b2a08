use super::arms::sorted;
use super::{ArmDraft, At, Names, factors};
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::{did_you_mean, list, quote};
use crate::prereg::table::{Item, Table};
use crate::prereg::{Contrast, Effect, Guard, Hypothesis, keys};
use crate::vocab::{Claim, Direction, Margin, Role, Scalar};

const MOST_CLAIMS: usize = 1_000;

/// The tables `[[hypotheses]]` or `[[guards]]`.
fn tables<'a>(root: &Table<'a>, key: &str, known: &[&str]) -> Vec<Option<Table<'a>>> {
    let members = root.get(key).and_then(|it| it.list(MOST_CLAIMS)).unwrap_or_default();
    members.iter().map(|it| it.table(format!("in [[{key}]]"), Some(known))).collect()
}

/// Whether the file has a hypothesis or a guard, well written or not.
pub(super) fn declared(root: &Table<'_>) -> bool {
    ["hypotheses", "guards"].iter().any(|key| root.get(key).is_some_and(|it| !it.is_empty_list()))
}

pub(super) fn hypotheses(root: &Table<'_>, names: &Names<'_>) -> Vec<Option<At<Hypothesis>>> {
    let mut ids: Vec<String> = Vec::new();
    tables(root, "hypotheses", keys::HYPOTHESIS)
        .into_iter()
        .flat_map(|table| several(table.and_then(|it| hypothesis(&it, names, &mut ids))))
        .collect()
}

/// What was read of a table; nothing is one thing that could not be read.
fn several<T>(read: Option<Vec<T>>) -> Vec<Option<T>> {
    read.map_or_else(|| vec![None], |it| it.into_iter().map(Some).collect())
}

fn hypothesis(table: &Table<'_>, names: &Names<'_>, ids: &mut Vec<String>) -> Option<Vec<At<Hypothesis>>> {
    let id = table.need("id").and_then(|it| {
        let id = it.name(Grammar::Id)?;
        if ids.contains(&id) {
            return it.problem(format!("hypothesis `{id}` is there twice, expected ids that differ"), None);
        }
        ids.push(id.clone());
        Some(id)
    });
    let metric = table.need("metric").and_then(|it| metric(&it, names));
    let condition = table.or("where", Vec::new(), |it| condition(&it, names));
    let contrasts = asked(table, names);
    let claim = table.or("claim", Claim::Superior, |it| it.word());
    let effect = table.get("contrast").is_some();
    let margin = match (table.get("margin"), claim) {
        (Some(item), _) => {
            // A share of a gain may be of any size.
            let direction = metric.as_deref().filter(|_| !effect).and_then(|it| direction(it, names));
            margin(&item).and_then(|it| fitting(&item, it, claim?, direction))
        }
        (None, Some(Claim::Superior)) => Some(Margin::Relative(names.thresholds.map_or(0.0, |it| it.go))),
        (None, Some(claim)) => {
            table.report.help(
                table.at,
                format!("`margin` is missing in [[hypotheses]]: claim `{claim}` needs one above 0"),
                Some("`margin = 0.05` is 5 %, `margin = { absolute = 2.0 }` is in the metric's unit".into()),
            );
            None
        }
        (None, None) => None,
    };
    let composed = contrasts.as_ref().is_some_and(|it| it.iter().any(|(_, effect)| effect.is_some()));
    let default_effect = if claim == Some(Claim::Superior) && !composed { 0.5 } else { 0.0 };
    let min_effect = table.or("min_effect", default_effect, |it| min_effect(&it, claim?, composed));
    let contrasts = contrasts?;
    let value = Hypothesis {
        id: id?,
        metric: metric?,
        condition: condition?,
        contrast: contrasts.first()?.0.clone(),
        effect: None,
        claim: claim?,
        margin: margin?,
        min_effect: min_effect?,
    };
    each(table, &value, contrasts, ids)
}

/// A hypothesis for each contrast; the ids of several are told apart by the arms in which they differ.
fn each(
    table: &Table<'_>,
    one: &Hypothesis,
    contrasts: Vec<(Contrast, Option<Effect>)>,
    ids: &mut Vec<String>,
) -> Option<Vec<At<Hypothesis>>> {
    let first = contrasts.first()?.0.clone();
    let treatments = contrasts.iter().any(|(it, _)| it.treatment != first.treatment);
    let controls = contrasts.iter().any(|(it, _)| it.control != first.control);
    let named = contrasts.into_iter().map(|(contrast, effect)| {
        let mut id = one.id.clone();
        for part in [treatments.then_some(&contrast.treatment), controls.then_some(&contrast.control)] {
            id.extend(part.into_iter().flat_map(|it| [".", it.as_str()]));
        }
        if id != one.id && (!Grammar::Id.accepts(&id) || ids.contains(&id)) {
            let message =
                format!("hypothesis `{}` makes one called `{id}`, which is too long or there", one.id);
            table.report.help(table.at, message, Some("give it another `id`".to_owned()));
            return None;
        }
        if id != one.id {
            ids.push(id.clone());
        }
        Some(At { at: table.at, value: Hypothesis { id, contrast, effect, ..one.clone() } })
    });
    // Each of them is looked at, so that each is reported.
    named.collect::<Vec<_>>().into_iter().collect()
}

/// What a hypothesis compares: `contrast`, or every `treatment` with every `control`.
fn asked(table: &Table<'_>, names: &Names<'_>) -> Option<Vec<(Contrast, Option<Effect>)>> {
    let Some(item) = table.get("contrast") else {
        return Some(contrasts(table, names)?.into_iter().map(|it| (it, None)).collect());
    };
    let arms: Vec<&str> = ["treatment", "control"].into_iter().filter(|it| table.get(it).is_some()).collect();
    let found = factors::contrast(&item, names);
    if !arms.is_empty() {
        let message = format!("`contrast` says which arms are compared, and so does {}", list(&arms));
        table.report.help(table.at_key("contrast"), message, Some("leave out one of the two".to_owned()));
        return None;
    }
    Some(vec![found?])
}

/// `[report] reference`: the arm that the others are shown as a share of.
pub(super) fn reference(root: &Table<'_>, names: &Names<'_>) -> Option<Option<String>> {
    let table = root.section_or_empty("report", Some(keys::REPORT))?;
    table.maybe("reference", |it| arm(&it, names, Role::ALL))
}

pub(super) fn guards(root: &Table<'_>, names: &Names<'_>) -> Vec<Option<At<Guard>>> {
    let tables = tables(root, "guards", keys::GUARD).into_iter();
    tables.flat_map(|table| several(table.and_then(|it| guard(&it, names)))).collect()
}

fn guard(table: &Table<'_>, names: &Names<'_>) -> Option<Vec<At<Guard>>> {
    let metric = table.need("metric").and_then(|it| metric(&it, names));
    let condition = table.or("where", Vec::new(), |it| condition(&it, names));
    let contrasts = contrasts(table, names);
    let margin = table.need("margin").and_then(|it| {
        let margin = margin(&it)?;
        if margin.value() <= 0.0 {
            return it.wrong("a margin above 0: that there is no loss at all cannot be shown");
        }
        let direction = metric.as_deref().and_then(|it| direction(it, names));
        fitting(&it, margin, Claim::NonInferior, direction)
    });
    let (metric, condition, margin) = (metric?, condition?, margin?);
    let guard = |contrast| {
        let (metric, condition) = (metric.clone(), condition.clone());
        At { at: table.at, value: Guard { metric, condition, contrast, margin } }
    };
    Some(contrasts?.into_iter().map(guard).collect())
}

fn metric(item: &Item<'_>, names: &Names<'_>) -> Option<String> {
    let name = item.text(1_000)?;
    let metrics = names.metrics?;
    if metrics.iter().any(|it| it.name == name) {
        return Some(name);
    }
    let known: Vec<_> = metrics.iter().map(|it| &it.name).collect();
    let hint = did_you_mean(&name, &known).or_else(|| one_of("metrics", &known));
    item.problem(format!("no metric is called {}", quote(&name)), hint)
}

fn direction(metric: &str, names: &Names<'_>) -> Option<Direction> {
    names.metrics?.iter().find(|it| it.name == metric)?.metric.as_ref().map(|it| it.better)
}

fn one_of<S: AsRef<str>>(kind: &str, known: &[S]) -> Option<String> {
    (!known.is_empty()).then(|| format!("{kind} are {}", list(known)))
}

/// `where = { terms = 1_000_000 }`, in order of the name.
fn condition(item: &Item<'_>, names: &Names<'_>) -> Option<Vec<(String, Scalar)>> {
    let table = item.table("in `where`".to_owned(), None)?;
    let swept = |values: &Option<Vec<Scalar>>| values.as_ref().is_none_or(|it| it.len() > 1);
    let parts: Vec<_> = table
        .entries()
        .into_iter()
        .map(|entry| {
            let name = entry.name;
            match names.params.iter().find(|it| it.name == name) {
                Some(param) if swept(&param.values) => {
                    let value = registered(&entry.item, name, param.values.as_deref()?)?;
                    Some((name.to_owned(), value))
                }
                Some(_) => entry.item.problem(
                    format!("{} is not swept: it has one value, in every cell", entry.item.what),
                    Some("leave it out".to_owned()),
                ),
                None => {
                    let known: Vec<_> =
                        names.params.iter().filter(|it| swept(&it.values)).map(|it| &it.name).collect();
                    let hint = did_you_mean(name, &known).or_else(|| one_of("swept parameters", &known));
                    table.report.help(entry.at, format!("no parameter is called {}", quote(name)), hint);
                    None
                }
            }
        })
        .collect();
    sorted(parts)
}

fn registered(item: &Item<'_>, name: &str, values: &[Scalar]) -> Option<Scalar> {
    let value = item.scalar()?;
    if values.contains(&value) {
        return Some(value);
    }
    let spelled: Vec<_> = values.iter().map(ToString::to_string).collect();
    let same = |it: &&Scalar| matches!((*it, &value), (Scalar::Int(a), Scalar::Float(b)) if *a as f64 == *b);
    let hint = match values.iter().find(same) {
        Some(whole) => Some(format!("did you mean {}?", quote(&whole.to_string()))),
        None => did_you_mean(&value.to_string(), &spelled),
    };
    item.wrong_help(format!("one of the values of `{name}`: {}", list(&spelled)), hint)
}

/// Every arm that is named as `treatment` with every one that is named as `control`.
fn contrasts(table: &Table<'_>, names: &Names<'_>) -> Option<Vec<Contrast>> {
    let treatments = match table.get("treatment") {
        Some(item) => arms(item, names, &[Role::Treatment]),
        None => only(table, names, Role::Treatment).map(|it| vec![it]),
    };
    let controls = match table.get("control") {
        Some(item) => arms(item, names, &[Role::Control, Role::Treatment]),
        None => only(table, names, Role::Control).map(|it| vec![it]),
    };
    let (treatments, controls) = (treatments?, controls?);
    if let Some(both) = treatments.iter().find(|it| controls.contains(it)) {
        let at = table.at_key("control");
        table.report.add(at, format!("arm `{both}` is compared with itself"));
        return None;
    }
    let pair = |treatment: &String| {
        let treatment = treatment.clone();
        controls.iter().map(move |it| Contrast { treatment: treatment.clone(), control: it.clone() })
    };
    Some(treatments.iter().flat_map(pair).collect())
}

/// An arm, or a list of arms that differ.
fn arms(item: Item<'_>, names: &Names<'_>, roles: &[Role]) -> Option<Vec<String>> {
    let (report, at, what) = (item.report, item.at, item.what.clone());
    let members = item.one_or_more(100)?;
    if members.is_empty() {
        report.add(at, format!("{what} is an empty list, expected at least one arm"));
        return None;
    }
    let found: Vec<_> = members.iter().map(|it| arm(it, names, roles)).collect();
    let found: Vec<String> = found.into_iter().collect::<Option<_>>()?;
    for (member, (i, name)) in members.iter().zip(found.iter().enumerate()) {
        if found[..i].contains(name) {
            return member.problem(format!("{what} names arm `{name}` twice"), None);
        }
    }
    Some(found)
}

/// An arm that is named, in one of the roles.
fn arm(item: &Item<'_>, names: &Names<'_>, roles: &[Role]) -> Option<String> {
    let name = item.text(1_000)?;
    let arms = names.arms?;
    let suits = |it: &&ArmDraft| it.role.is_none_or(|role| roles.contains(&role));
    match arms.iter().find(|it| it.name == name) {
        Some(found) if suits(&found) => Some(name),
        Some(found) => {
            let role = found.role.map_or("", Role::as_str);
            let expected: Vec<_> = roles.iter().map(|it| it.as_str()).collect();
            let message =
                format!("arm {} has the role `{role}`, expected {}", quote(&name), expected.join(" or "));
            item.problem(message, None)
        }
        None => {
            let known: Vec<_> = arms.iter().filter(suits).map(|it| &it.name).collect();
            let hint = did_you_mean(&name, &known).or_else(|| one_of("arms", &known));
            item.problem(format!("no arm is called {}", quote(&name)), hint)
        }
    }
}

/// The only arm of a role. That there is none is reported once, for the whole file.
fn only(table: &Table<'_>, names: &Names<'_>, role: Role) -> Option<String> {
    if names.arms?.iter().any(|it| it.role.is_none()) {
        return None;
    }
    match names.of_role(role).as_slice() {
        [it] => Some(it.name.clone()),
        [] => None,
        several => {
            let spelled = list(several.iter().map(|it| &it.name));
            let message = format!("`{role}` is missing: {} arms have this role, {spelled}", several.len());
            table.report.help(
                table.at,
                message,
                Some(format!("name the one that is meant: `{role} = \"..\"`")),
            );
            None
        }
    }
}

/// `0.5`, `{ relative = 0.5 }` or `{ absolute = 2.0 }`.
fn margin(item: &Item<'_>) -> Option<Margin> {
    let (number, make): (_, fn(f64) -> Margin) = if item.is_number() {
        (item.number()?, Margin::Relative)
    } else {
        let table = item.table("in `margin`".to_owned(), Some(keys::MARGIN))?;
        match (table.get("relative"), table.get("absolute")) {
            (Some(it), None) => (it.number()?, Margin::Relative),
            (None, Some(it)) => (it.number()?, Margin::Absolute),
            // Its keys are misspelt, which is reported.
            (None, None) if !table.is_empty() => return None,
            _ => return item.wrong("a number, `{ relative = 0.05 }` or `{ absolute = 2.0 }`"),
        }
    };
    if number < 0.0 { item.wrong("a margin of at least 0") } else { Some(make(number)) }
}

/// `margin` unless `claim` makes no sense with it.
fn fitting(item: &Item<'_>, margin: Margin, claim: Claim, better: Option<Direction>) -> Option<Margin> {
    match (claim, margin, better) {
        (Claim::NonInferior | Claim::Equivalent, it, _) if it.value() <= 0.0 => {
            item.wrong(format!("a margin above 0: claim `{claim}` cannot be shown without one"))
        }
        (Claim::Superior, Margin::Relative(it), Some(Direction::Lower)) if it >= 1.0 => item.wrong_help(
            "a relative margin below 1: a metric that is better when lower cannot gain 100 %",
            Some("`margin = 0.5` is 50 %, `margin = { absolute = 2.0 }` is in the metric's unit".to_owned()),
        ),
        (Claim::NonInferior, Margin::Relative(it), Some(Direction::Higher)) if it >= 1.0 => item.wrong_help(
            "a relative margin below 1: a metric that is better when higher cannot lose more than 100 %",
            Some("`margin = 0.05` is 5 %, `margin = { absolute = 2.0 }` is in the metric's unit".to_owned()),
        ),
        _ => Some(margin),
    }
}

fn min_effect(item: &Item<'_>, claim: Claim, composed: bool) -> Option<f64> {
    let effect = item.number()?;
    if effect < 0.0 {
        item.wrong("a number of at least 0")
    } else if effect > 0.0 && composed {
        item.wrong("no smallest effect: Cohen's d is of two arms, and this contrast is of several")
    } else if effect > 0.0 && claim != Claim::Superior {
        item.wrong(format!("no smallest effect: claim `{claim}` is about small ones"))
    } else {
        Some(effect)
    }
}
