use super::arms::{env, named, own_params};
use super::{ArmDraft, Names, ParamDraft};
use crate::prereg::grammar::Grammar;
use crate::prereg::problem::{did_you_mean, list, quote};
use crate::prereg::table::{Entry, Item, Table};
use crate::prereg::{Arm, Contrast, Effect, Factor, Factorial, keys};
use crate::vocab::{Role, Scalar};

const MOST_FACTORS: usize = 4;

/// A factor. Its name can be referred to even if the rest could not be read.
pub(in crate::prereg) struct FactorDraft {
    pub(super) name: String,
    at: usize,
    levels: Option<[LevelDraft; 2]>,
}

/// A level, and what it sets.
struct LevelDraft {
    name: String,
    params: Vec<(String, Scalar)>,
    env: Vec<(String, String)>,
    /// Whether the file says what it sets, so that arms can be made of it.
    sets: bool,
}

/// The factors, none if the file has no `[factors]`; `None` when there is no telling which there are.
pub(super) fn read(root: &Table<'_>, params: &[ParamDraft]) -> Option<Vec<FactorDraft>> {
    let Some(item) = root.get("factors") else { return Some(Vec::new()) };
    let entries = item.table("in [factors]".to_owned(), None)?.entries();
    if entries.is_empty() || entries.len() > MOST_FACTORS {
        let message = format!("[factors] has {} factors, expected 1 to {MOST_FACTORS}", entries.len());
        let hint = "k factors are 2^k arms; a parameter with more values is swept in [params]";
        return item.problem(message, Some(hint.to_owned()));
    }
    Some(entries.iter().map(|it| factor(it, params)).collect())
}

fn factor(entry: &Entry<'_>, params: &[ParamDraft]) -> FactorDraft {
    let sound = named(entry, Grammar::Id, "factor");
    let levels = levels(entry, params).filter(|_| sound);
    FactorDraft { name: entry.name.to_owned(), at: entry.at, levels }
}

/// `["off", "on"]`, or a table of two levels that says what each of them sets.
fn levels(entry: &Entry<'_>, params: &[ParamDraft]) -> Option<[LevelDraft; 2]> {
    const EXPECTED: &str = "two levels, the baseline's first";
    if entry.item.is_list() {
        let names: Option<Vec<String>> =
            entry.item.list(100)?.iter().map(|it| it.name(Grammar::Id)).collect();
        let [first, second] = <[String; 2]>::try_from(names?).ok().or_else(|| entry.item.wrong(EXPECTED))?;
        if first == second {
            return entry.item.wrong("two levels that differ");
        }
        let level = |name| LevelDraft { name, params: Vec::new(), env: Vec::new(), sets: false };
        return Some([level(first), level(second)]);
    }
    let entries = entry.item.table(format!("in [factors.{}]", entry.name), None)?.entries();
    let levels: Vec<_> = entries.iter().map(|it| level(it, entry.name, params)).collect();
    if levels.len() != 2 {
        return entry.item.wrong_help(
            EXPECTED,
            Some(
                "`off = {}` and `on = { env = { NAME = \"1\" } }`, or `params` in place of `env`".to_owned(),
            ),
        );
    }
    <[LevelDraft; 2]>::try_from(levels.into_iter().collect::<Option<Vec<_>>>()?).ok()
}

fn level(entry: &Entry<'_>, factor: &str, params: &[ParamDraft]) -> Option<LevelDraft> {
    let sound = named(entry, Grammar::Id, "level");
    let place = format!("level {} of factor {}", quote(entry.name), quote(factor));
    let table = entry.item.table(format!("in {place}"), Some(keys::LEVEL))?;
    let own = table.or("params", Vec::new(), |it| {
        own_params(&it.table(format!("in the params of {place}"), None)?, params)
    });
    let env = table.or("env", Vec::new(), |it| env(&it.table(format!("in the env of {place}"), None)?));
    let (params, env) = (own?, env?);
    sound.then(|| LevelDraft { name: entry.name.to_owned(), params, env, sets: true })
}

/// The combination that an arm names as its own: `levels = { c5 = "on", c6 = "off" }`.
pub(super) fn bound(item: &Item<'_>, factors: Option<&[FactorDraft]>) -> Option<usize> {
    let table = item.table("in `levels`".to_owned(), None)?;
    let factors = factors?;
    let names: Vec<&str> = factors.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return item.problem(format!("{} speaks of factors, and there is no [factors]", item.what), None);
    }
    let mut cell = Some(0);
    for entry in table.entries() {
        let Some(i) = names.iter().position(|it| *it == entry.name) else {
            let hint =
                did_you_mean(entry.name, &names).or_else(|| Some(format!("factors are {}", list(&names))));
            table.report.help(entry.at, format!("no factor is called {}", quote(entry.name)), hint);
            cell = None;
            continue;
        };
        let chosen = factors[i].levels.as_ref().and_then(|levels| {
            let text = entry.item.text(1_000)?;
            let known = [levels[0].name.as_str(), levels[1].name.as_str()];
            let found = known.iter().position(|it| *it == text);
            found.or_else(|| {
                let expected = format!("one of the levels of `{}`: {}", entry.name, list(known));
                entry.item.wrong_help(expected, did_you_mean(&text, known))
            })
        });
        cell = cell.zip(chosen).map(|(cell, level)| cell | level << i);
    }
    let missing: Vec<_> = names.iter().filter(|it| table.get(it).is_none()).collect();
    if !missing.is_empty() {
        return item.problem(format!("{} leaves out {}", item.what, list(missing)), None);
    }
    cell
}

/// The role of a combination.
pub(super) fn role(cell: usize) -> Role {
    if cell == 0 { Role::Control } else { Role::Treatment }
}

/// Makes the arms that are not there by hand, adds what their levels set to those that are, and says which arm is which
/// combination. `None` without factors, or when something is missing, which is reported.
pub(super) fn arms(root: &Table<'_>, factors: &[FactorDraft], arms: &mut Vec<ArmDraft>) -> Option<Factorial> {
    let at = root.at_key("factors");
    let levels: Vec<&[LevelDraft; 2]> = factors.iter().map(|it| it.levels.as_ref()).collect::<Option<_>>()?;
    if levels.is_empty() {
        return None;
    }
    let chosen = |cell: usize| levels.iter().enumerate().map(move |(i, it)| &it[cell >> i & 1]);
    let (mut names, mut made) = (Vec::new(), Vec::new());
    for cell in 0..1 << levels.len() {
        let called = factors.iter().zip(chosen(cell));
        let called: Vec<_> =
            called.map(|(factor, level)| (factor.name.as_str(), level.name.as_str())).collect();
        let text = |between: &str, join: &str| {
            called.iter().map(|(f, l)| format!("{f}{between}{l}")).collect::<Vec<_>>().join(join)
        };
        let mut own = arms.iter_mut().filter(|it| it.cell == Some(cell));
        match (own.next(), own.next()) {
            (Some(first), Some(second)) => {
                let message = format!(
                    "arms `{}` and `{}` have the same levels, {}",
                    first.name,
                    second.name,
                    text("=", ", ")
                );
                root.report.add(second.at, message);
                return None;
            }
            (Some(arm), None) => {
                names.push(arm.name.clone());
                merge(root, arm, chosen(cell));
            }
            (None, _) if chosen(cell).any(|it| it.sets) => {
                let name = text("-", ".");
                if !Grammar::Id.accepts(&name) || arms.iter().any(|it| it.name == name) {
                    let message = format!(
                        "no arm can be made for the levels {}: its name would be `{name}`",
                        text("=", ", ")
                    );
                    root.report.help(
                        at,
                        message,
                        Some("write this arm by hand, with its `levels`".to_owned()),
                    );
                    return None;
                }
                names.push(name.clone());
                let role = role(cell);
                let arm = Arm {
                    name: name.clone(),
                    role,
                    params: Vec::new(),
                    env: Vec::new(),
                    command: None,
                    git: None,
                    build: None,
                };
                let at = factors.first().map_or(at, |it| it.at);
                let mut draft = ArmDraft { name, at, role: Some(role), cell: Some(cell), arm: Some(arm) };
                merge(root, &mut draft, chosen(cell));
                made.push(draft);
            }
            (None, _) => {
                let levels =
                    called.iter().map(|(f, l)| format!("{f} = {l:?}")).collect::<Vec<_>>().join(", ");
                root.report.help(
                    at,
                    format!("no arm has the levels {}", text("=", ", ")),
                    Some(format!(
                        "give one `levels = {{ {levels} }}`, or say in [factors] what each level sets"
                    )),
                );
                return None;
            }
        }
    }
    // Made ones first: what is beside the factorial stands beside it.
    made.append(arms);
    *arms = made;
    let factors = factors.iter().zip(&levels).map(|(factor, levels)| Factor {
        name: factor.name.clone(),
        levels: [0, 1].map(|i| levels[i].name.clone()),
    });
    Some(Factorial { factors: factors.collect(), arms: names })
}

/// Adds to an arm what its levels set. No two of them, and no level and the arm itself, may set the same.
fn merge<'a>(root: &Table<'_>, draft: &mut ArmDraft, levels: impl Iterator<Item = &'a LevelDraft>) {
    let Some(arm) = &mut draft.arm else { return };
    let mut twice = Vec::new();
    for level in levels {
        for (name, value) in &level.params {
            twice.extend(arm.params.iter().any(|(it, _)| it == name).then(|| name.clone()));
            arm.params.push((name.clone(), value.clone()));
        }
        for (name, value) in &level.env {
            twice.extend(arm.env.iter().any(|(it, _)| it == name).then(|| name.clone()));
            arm.env.push((name.clone(), value.clone()));
        }
    }
    arm.params.sort_by(|(a, _), (b, _)| a.cmp(b));
    arm.env.sort_by(|(a, _), (b, _)| a.cmp(b));
    if !twice.is_empty() {
        root.report.help(
            draft.at,
            format!("arm `{}` gets {} twice, from its levels or from itself", draft.name, list(&twice)),
            Some(
                "name the levels only, `[\"off\", \"on\"]`, and write the arms by hand with their `levels`"
                    .to_owned(),
            ),
        );
        draft.arm = None;
    }
}

/// `contrast = ".."` of a hypothesis: the arms or sides that it compares, and the effect unless it is about two arms.
pub(super) fn contrast(item: &Item<'_>, names: &Names<'_>) -> Option<(Contrast, Option<Effect>)> {
    const KINDS: [&str; 4] = ["main", "interaction", "total", "additivity"];
    let text = item.text(1_000)?;
    let expected = "`main:<factor>`, `interaction:<factor>,<factor>`, `total` or `additivity`";
    let (kind, rest) = text.split_once(':').map_or((text.as_str(), None), |(kind, rest)| (kind, Some(rest)));
    if !KINDS.contains(&kind) {
        return item.wrong_help(expected, did_you_mean(kind, KINDS));
    }
    let drafts = names.factors?;
    if drafts.is_empty() {
        return item.problem(
            format!("{} is about factors, and there is no [factors]", item.what),
            Some("two arms are compared by `treatment` and `control`".to_owned()),
        );
    }
    let known: Vec<&str> = drafts.iter().map(|it| it.name.as_str()).collect();
    let mut asked: Vec<&str> = Vec::new();
    for name in rest.into_iter().flat_map(|it| it.split(',')).map(str::trim) {
        if !known.contains(&name) {
            let hint = did_you_mean(name, &known).or_else(|| Some(format!("factors are {}", list(&known))));
            return item.problem(format!("no factor is called {}", quote(name)), hint);
        }
        asked.push(name);
    }
    let mut sorted: Vec<String> =
        known.iter().filter(|it| asked.contains(it)).map(|it| (*it).to_owned()).collect();
    let all_differ = sorted.len() == asked.len();
    let effect = match (kind, sorted.len()) {
        ("main", 1) if all_differ => Some(Effect::Main(sorted.remove(0))),
        ("interaction", 2..) if all_differ => Some(Effect::Interaction(sorted)),
        ("additivity", 0) if rest.is_none() && known.len() > 1 => Some(Effect::Additivity),
        ("total", 0) if rest.is_none() => None,
        ("additivity", 0) if rest.is_none() => {
            return item.wrong("something else: one factor has nothing to add up with");
        }
        _ => return item.wrong(expected),
    };
    let factorial = names.factorial?;
    let [treatment, control] = match &effect {
        Some(effect) => factorial.sides(effect),
        None => [factorial.arms.last()?.clone(), factorial.arms.first()?.clone()],
    };
    Some((Contrast { treatment, control }, effect))
}
