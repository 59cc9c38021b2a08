use super::factors::{self, FactorDraft};
use super::{ArmDraft, ParamDraft, params};
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::quote;
use crate::prereg::table::{Entry, Item, Table};
use crate::prereg::{Arm, keys};
use crate::vocab::{Role, Scalar};

const MOST_ARMS: usize = 100;

/// The arms; `None` when there is no telling which there are.
pub(super) fn read(
    root: &Table<'_>,
    params: &[ParamDraft],
    factors: Option<&[FactorDraft]>,
) -> Option<Vec<ArmDraft>> {
    if root.get("arms").is_none() && root.get("factors").is_some() {
        // Its levels make the arms.
        return Some(Vec::new());
    }
    let item = root.need_section("arms")?;
    let entries = item.table("in [arms]".to_owned(), None)?.entries();
    if entries.len() > MOST_ARMS {
        let message = format!("[arms] has {} arms, at most {MOST_ARMS} are allowed", entries.len());
        return item.problem(message, None);
    }
    Some(entries.iter().map(|it| arm(it, params, factors)).collect())
}

fn arm(entry: &Entry<'_>, params: &[ParamDraft], factors: Option<&[FactorDraft]>) -> ArmDraft {
    let name = entry.name.to_owned();
    let mut draft = ArmDraft { name: name.clone(), at: entry.at, role: None, cell: None, arm: None };
    let sound = named(entry, Grammar::Id, "arm");
    let Some(table) = entry.item.table(format!("in [arms.{}]", entry.name), Some(keys::ARM)) else {
        return draft;
    };
    let levels = table.maybe("levels", |it| factors::bound(&it, factors));
    draft.cell = levels.flatten();
    draft.role = match (table.get("role"), draft.cell.map(factors::role)) {
        (Some(role), Some(expected)) => role.word::<Role>().and_then(|it| {
            let place =
                if expected == Role::Control { "the baseline" } else { "another cell than the baseline" };
            let message = format!("has the levels of {place}, so its role is `{expected}`");
            if it == expected { Some(it) } else { role.problem(format!("arm `{name}` {message}"), None) }
        }),
        (Some(role), None) => role.word::<Role>(),
        (None, Some(role)) => Some(role),
        // What is wrong with its levels is reported.
        (None, None) if levels.is_none() => None,
        (None, None) => {
            table.report.add(entry.at, format!("`role` is missing in [arms.{name}]"));
            None
        }
    };
    let own = table.or("params", Vec::new(), |it| {
        own_params(&it.table(format!("in the params of arm {}", quote(&name)), None)?, params)
    });
    let env = table
        .or("env", Vec::new(), |it| env(&it.table(format!("in the env of arm {}", quote(&name)), None)?));
    let command = table.maybe("command", |it| it.command());
    let git = table.maybe("git", |it| revision(&it));
    let build = table.maybe("build", |it| it.command());
    let role = draft.role;
    let complete = || {
        let _: Option<usize> = levels?;
        Some(Arm { name, role: role?, params: own?, env: env?, command: command?, git: git?, build: build? })
    };
    draft.arm = complete().filter(|_| sound);
    draft
}

/// A name of a commit that git cannot take for anything else.
fn revision(item: &Item<'_>) -> Option<String> {
    let text = item.filled(200)?;
    if text.starts_with('-') || text.contains(|it: char| it.is_whitespace() || it.is_control()) {
        return item.problem(
            format!("{} is {}, which is no revision", item.what, quote(&text)),
            Some("name a branch, a tag or a commit: `git = \"main\"`".to_owned()),
        );
    }
    Some(text)
}

/// Whether a key is a well-spelled name; reported if not.
pub(super) fn named(entry: &Entry<'_>, grammar: Grammar, kind: &str) -> bool {
    let sound = grammar.accepts(entry.name);
    if !sound {
        let article = if kind == "arm" { "an" } else { "a" };
        let hint = grammar.repair(entry.name).map(|it| format!("did you mean {}?", quote(&it)));
        let message =
            format!("{} is no name for {article} {kind}, expected {}", quote(entry.name), grammar.describe());
        entry.item.report.help(entry.at, message, hint);
    }
    sound
}

pub(super) fn own_params(table: &Table<'_>, swept: &[ParamDraft]) -> Option<Vec<(String, Scalar)>> {
    let own: Vec<_> = table
        .entries()
        .into_iter()
        .map(|it| {
            let sound = params::name(&it.item, it.name, it.at);
            let value = it.item.scalar();
            let conflict = swept.iter().any(|param| {
                param.name == it.name && param.values.as_ref().is_some_and(|values| values.len() > 1)
            });
            if conflict {
                table.report.help(
                    it.at,
                    format!("{} is swept in [params], so an arm cannot set it", it.item.what),
                    Some("give it one value in [params], or leave it to the cells".to_owned()),
                );
            }
            value.filter(|_| sound && !conflict).map(|value| (it.name.to_owned(), value))
        })
        .collect();
    sorted(own)
}

pub(super) fn env(table: &Table<'_>) -> Option<Vec<(String, String)>> {
    let env: Vec<_> = table
        .entries()
        .into_iter()
        .map(|it| {
            let sound = named(&it, Grammar::Variable, "variable");
            let value = it.item.text(4_096);
            value.filter(|_| sound).map(|value| (it.name.to_owned(), value))
        })
        .collect();
    sorted(env)
}

/// All of them in order of the name, or `None` if one is missing.
pub(super) fn sorted<T>(parts: Vec<Option<(String, T)>>) -> Option<Vec<(String, T)>> {
    let mut parts: Vec<_> = parts.into_iter().collect::<Option<_>>()?;
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(parts)
}
