//! What must hold between the parts of a pre-registration.

use super::parse::{ArmDraft, At, Names, ParamDraft};
use super::problem::{Report, list};
use super::table::Table;
use super::{Arm, Design, Environment, Guard, Hypothesis, Launch, Rule, Stopping, Worker};
use crate::vocab::{Mode, Order, Process, Role, Scalar, Test, Then};

const MOST_CELLS: u128 = 10_000;
const MOST_SAMPLES: u128 = 1_000_000_000;

/// Who is compared with whom.
pub(super) fn roles(root: &Table<'_>, names: &Names<'_>, claims: bool) {
    let report = root.report;
    if names.arms.is_none_or(|it| it.iter().any(|it| it.role.is_none())) {
        return;
    }
    let at = root.at_key("arms");
    let controls = names.of_role(Role::Control);
    let called = |arms: &[&ArmDraft]| list(arms.iter().map(|it| &it.name));
    match controls.as_slice() {
        [] => report.help(
            at,
            "no arm is the control, so there is nothing to compare with",
            Some("give one arm `role = \"control\"`".to_owned()),
        ),
        [_] => {}
        several if !claims => report.help(
            at,
            format!("{} arms are controls ({}), expected one", several.len(), called(several)),
            Some("several are possible when every hypothesis and guard names its own".to_owned()),
        ),
        _ => {}
    }
    if claims && names.of_role(Role::Treatment).is_empty() {
        report.help(
            at,
            "no arm is a treatment, so the hypotheses and guards speak of nothing",
            Some("give one arm `role = \"treatment\"`".to_owned()),
        );
    }
    for role in [Role::Sham, Role::Null] {
        let arms = names.of_role(role);
        for extra in arms.iter().skip(1) {
            report
                .add(extra.at, format!("{} arms are `{role}` ({}), expected one", arms.len(), called(&arms)));
        }
    }
    if let (Some(sham), [_, _, ..]) = (names.of_role(Role::Sham).first(), controls.as_slice()) {
        let message = format!(
            "arm `{}` is a sham, but of which control ({})? expected one control",
            sham.name,
            called(&controls)
        );
        report.add(sham.at, message);
    }
}

/// What an arm really runs with, outside of what is swept.
#[derive(PartialEq)]
struct Setup<'a> {
    params: Vec<(&'a str, &'a Scalar)>,
    env: &'a [(String, String)],
    command: Option<&'a [String]>,
    git: Option<&'a str>,
    build: Option<&'a [String]>,
}

impl<'a> Setup<'a> {
    fn of(arm: &'a Arm, params: &'a [ParamDraft], worker: Option<&'a Worker>) -> Self {
        let mut all: Vec<(&str, &Scalar)> = params
            .iter()
            .filter_map(|it| match it.values.as_deref() {
                Some([value]) => Some((it.name.as_str(), value)),
                _ => None,
            })
            .filter(|(name, _)| arm.params.iter().all(|(own, _)| own != name))
            .chain(arm.params.iter().map(|(name, value)| (name.as_str(), value)))
            .collect();
        all.sort_by_key(|(name, _)| *name);
        let shared = worker.and_then(|it| match &it.launch {
            Launch::Command(command) => Some(command.as_slice()),
            Launch::Plain(commands) if !commands.command.is_empty() => Some(commands.command.as_slice()),
            Launch::Package(_) | Launch::Plain(_) => None,
        });
        Self {
            params: all,
            env: &arm.env,
            command: arm.command.as_deref().or(shared),
            git: arm.git.as_deref(),
            build: arm.build.as_deref(),
        }
    }
}

/// A sham arm is a copy of the control; no other two arms are the same.
pub(super) fn twins(report: &Report<'_>, names: &Names<'_>, worker: Option<&Worker>) {
    let arms = names.arms.into_iter().flatten();
    let setups: Vec<_> =
        arms.filter_map(|it| Some((it, Setup::of(it.arm.as_ref()?, names.params, worker)))).collect();
    let honest: Vec<_> = setups.iter().filter(|(it, _)| it.role != Some(Role::Sham)).collect();
    for (i, (later, setup)) in honest.iter().enumerate() {
        if let Some((earlier, _)) = honest[..i].iter().find(|(_, other)| other == setup) {
            report.help(
                later.at,
                format!("arms `{}` and `{}` are the same", earlier.name, later.name),
                Some(
                    "arms differ in params, env, command, git or build; a copy of the control is `role = \"sham\"`"
                        .into(),
                ),
            );
        }
    }
    let controls: Vec<_> = setups.iter().filter(|(it, _)| it.role == Some(Role::Control)).collect();
    let [(control, original)] = controls.as_slice() else {
        return;
    };
    for (sham, copy) in setups.iter().filter(|(it, _)| it.role == Some(Role::Sham)) {
        let differ = [
            ("params", copy.params != original.params),
            ("env", copy.env != original.env),
            ("command", copy.command != original.command),
            ("git", copy.git != original.git),
            ("build", copy.build != original.build),
        ];
        let differ: Vec<_> = differ.iter().filter(|(_, it)| *it).map(|(name, _)| *name).collect();
        if !differ.is_empty() {
            report.help(
                sham.at,
                format!(
                    "arm `{}` is a sham, but differs from the control `{}` in {}",
                    sham.name,
                    control.name,
                    differ.join(", ")
                ),
                Some("a sham arm is a second copy of the control".to_owned()),
            );
        }
    }
}

/// What is asked for can be measured and kept.
pub(super) fn size(root: &Table<'_>, names: &Names<'_>, design: Option<&Design>) {
    let lengths = names.params.iter().map(|it| it.values.as_ref().map_or(1, |it| it.len() as u128));
    let cells = lengths.fold(1_u128, u128::saturating_mul);
    if cells > MOST_CELLS {
        let message = format!("[params] makes {cells} cells, at most {MOST_CELLS} are allowed");
        root.report.add(root.at_key("params"), message);
        return;
    }
    let Some(design) = design else {
        return;
    };
    let blocks = u128::from(design.samples) + u128::from(design.warmups) * u128::from(design.processes);
    let (arms, metrics) = (names.arms.map_or(1, <[_]>::len), names.metrics.map_or(1, <[_]>::len));
    let total = cells * blocks * arms as u128 * metrics as u128;
    if total > MOST_SAMPLES {
        let message = format!(
            "[design] makes {total} samples ({cells} cells, {arms} arms, {metrics} metrics, {blocks} blocks), \
             at most {MOST_SAMPLES} are allowed"
        );
        root.report.add(root.at_key("design"), message);
    }
}

/// The parts of the design go together.
pub(super) fn design(root: &Table<'_>, names: &Names<'_>, design: Option<&Design>, rule: Option<&Rule>) {
    let Some(Design { samples, order, mode, process, slices, processes, builds, looks, .. }) = design else {
        return;
    };
    let refuse = |key: &str, message: String, hint: String| {
        root.report.help(root.at_within("design", key), message, Some(hint));
    };
    if *slices > 1 && *order == Order::Sequential {
        let message = "`slices` with `order = \"sequential\"`: slices of the arms take turns within a block, and there \
                       the arms never meet";
        refuse("slices", message.to_owned(), "measure in blocks: `order = \"random-blocks\"`".to_owned());
    }
    if *mode == Mode::Duet {
        if *order == Order::Sequential {
            let message = "`mode = \"duet\"` with `order = \"sequential\"`: both arms are measured at once, and there they never meet";
            refuse("mode", message.to_owned(), "measure in blocks: `order = \"random-blocks\"`".to_owned());
        }
        if let Some(arms) = names.arms.filter(|it| it.len() != 2) {
            let message = format!("`mode = \"duet\"` with {} arms, a duet has two", arms.len());
            refuse("mode", message, "compare two arms, or leave `mode` out".to_owned());
        }
        if rule.is_some_and(|it| !matches!(it.test, Test::Wilcoxon | Test::PairedT)) {
            let message = "`mode = \"duet\"` with a test that does not know the pairs: what both arms of a duet share is most \
                           of what they vary by";
            let hint = "register `test = \"wilcoxon\"` or `test = \"paired-t\"` in [decision]";
            refuse("mode", message.to_owned(), hint.to_owned());
        }
    }
    if *processes < 2 {
        return;
    }
    let (key, unit) = if *builds > 1 { ("builds", "build") } else { ("processes", "process") };
    if !samples.is_multiple_of(*processes) {
        let nearest = samples.next_multiple_of(*processes);
        refuse(
            key,
            format!("{samples} samples cannot be divided evenly among {processes} {key}"),
            format!("a mean of each is one observation, so all have the same weight: `samples = {nearest}`"),
        );
    }
    if *process == Process::PerBlock {
        let message =
            format!("`{key}` with `process = \"per-block\"`: every block has a process of its own already");
        refuse(key, message, "leave one of the two out".to_owned());
    }
    if looks.is_some() {
        let message =
            format!("`{key}` with [design.looks]: looks count blocks, and here the {unit} is the unit");
        refuse(key, message, "leave one of the two out".to_owned());
    }
}

/// Commands are measured one after the other, a process each: what divides the work of workers is not for them.
pub(super) fn commands(root: &Table<'_>, design: Option<&Design>, worker: Option<&Worker>) {
    let (Some(design), Some(Worker { launch: Launch::Plain(_), .. })) = (design, worker) else {
        return;
    };
    let given = [
        ("mode", design.mode == Mode::Duet),
        ("slices", design.slices > 1),
        ("processes", design.processes > 1 && design.builds == 1),
        ("padding", design.padding > 0),
    ];
    for (key, _) in given.into_iter().filter(|(_, given)| *given) {
        root.report.help(
            root.at_within("design", key),
            format!("`{key}` in [design] with plain commands: each sample is a process of its own already"),
            Some(format!("leave `{key}` out, or measure with a worker")),
        );
    }
}

/// What is built several times is built at all, and not over what was built before.
pub(super) fn builds(root: &Table<'_>, names: &Names<'_>, design: Option<&Design>, worker: Option<&Worker>) {
    let (Some(Design { builds: 2.., .. }), Some(worker)) = (design, worker) else { return };
    for draft in names.arms.into_iter().flatten() {
        let Some(arm) = &draft.arm else { continue };
        let is_package = arm.command.is_none() && matches!(worker.launch, Launch::Package(_));
        let (why, hint) = match (is_package, &arm.git, &arm.build) {
            (true, _, None) | (_, Some(_), Some(_)) => continue,
            (false, _, None) => (
                "is not built",
                "give it a `git` revision and a `build` that reads HARNESS_BUILD_SALT, or a worker's package",
            ),
            (_, None, Some(_)) => (
                "is built in the work tree, where each build would overwrite the one before",
                "give it a `git` revision, such as `git = \"HEAD\"`: each build then has a work tree of its own",
            ),
        };
        let message = format!("`builds` in [design], but arm `{}` {why}", arm.name);
        root.report.help(root.at_within("design", "builds"), message, Some(hint.to_owned()));
    }
}

/// What is looked at before the end can be judged then.
pub(super) fn looks(
    root: &Table<'_>,
    design: Option<&Design>,
    rule: Option<&Rule>,
    claims: bool,
    hypotheses: &[Option<At<Hypothesis>>],
) {
    let Some(Design { looks: Some(looks), order, .. }) = design else {
        return;
    };
    let at = root.at_within("design", "looks");
    let refuse = |message: String, hint: &str| root.report.help(at, message, Some(hint.to_owned()));
    if !claims {
        let hint = "leave [design.looks] out: without it n is fixed";
        refuse("[design.looks] without a hypothesis or guard: there is nothing to stop for".into(), hint);
    }
    if let Some(effect) = hypotheses.iter().flatten().find_map(|it| it.value.effect.as_ref()) {
        let hint = "leave [design.looks] out, or claim something of two arms";
        refuse(
            format!("[design.looks] with `contrast = \"{effect}\"`: only two arms are judged at a look"),
            hint,
        );
    }
    let method = looks.stopping.method();
    let test = rule.map(|it| it.test);
    match (looks.stopping, order, test) {
        (_, Order::Sequential, _) => refuse(
            "[design.looks] with `order = \"sequential\"`: one arm is complete before the next one begins"
                .into(),
            "measure in blocks: `order = \"random-blocks\"`",
        ),
        (Stopping::SignEProcess, Order::Abba, _) => refuse(
            format!(
                "`{method}` with `order = \"abba\"`: its proof is that the order within a block is random"
            ),
            "measure with `order = \"random-blocks\"`",
        ),
        _ => {}
    }
    match (looks.stopping, test) {
        (Stopping::GroupSequential(_), Some(Test::Bootstrap)) => refuse(
            format!(
                "`{method}` looks with `test = \"bootstrap\"`: its p is never below what early looks ask for"
            ),
            "register another test, or leave [design.looks] out",
        ),
        (Stopping::SignEProcess, Some(test)) if test != Test::Welch => refuse(
            format!("`{method}` with `test = \"{test}\"`: it is a test of its own, of signs within blocks"),
            "leave `test` out",
        ),
        _ => {}
    }
}

/// What is excluded can be told from what is missing.
pub(super) fn blocks(root: &Table<'_>, design: Option<&Design>, environment: Option<&Environment>) {
    let Some(rule) = environment.and_then(|it| it.blocks) else { return };
    let Some(design) = design.filter(|_| rule.then == Then::Exclude) else { return };
    let other = match (&design.looks, design.order) {
        (Some(_), _) => "[design.looks]: looks are after blocks that count",
        (None, Order::Sequential) => "`order = \"sequential\"`: there are no blocks",
        _ => return,
    };
    root.report.help(
        root.at_within("environment", "blocks"),
        format!("`then = \"exclude\"` with {other}"),
        Some("measure them again: `then = \"remeasure\"`".to_owned()),
    );
}

/// A guard says something that no hypothesis or guard before it says of the same cells.
pub(super) fn guards(
    report: &Report<'_>,
    guards: &[Option<At<Guard>>],
    hypotheses: &[Option<At<Hypothesis>>],
) {
    // A condition with fewer parts speaks of more cells.
    let covers = |wide: &[(String, Scalar)], narrow: &[(String, Scalar)]| {
        wide.iter().all(|part| narrow.contains(part))
    };
    let known: Vec<_> = guards.iter().flatten().collect();
    for (i, At { at, value: guard }) in known.iter().enumerate() {
        let claimed = hypotheses.iter().flatten().map(|it| &it.value).find(|it| {
            it.metric == guard.metric
                && it.contrast == guard.contrast
                && covers(&it.condition, &guard.condition)
        });
        if let Some(hypothesis) = claimed {
            report.help(
                *at,
                format!(
                    "the guard of `{}` is about cells of which hypothesis `{}` already claims more",
                    guard.metric, hypothesis.id
                ),
                Some("leave out one of the two".to_owned()),
            );
        }
        let twice = known[..i].iter().any(|it| {
            (&it.value.metric, &it.value.contrast, &it.value.condition)
                == (&guard.metric, &guard.contrast, &guard.condition)
        });
        if twice {
            report.add(*at, format!("the guard of `{}` is there twice", guard.metric));
        }
    }
}
