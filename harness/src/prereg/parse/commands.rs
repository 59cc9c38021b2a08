use super::worker::duration;
use super::{ArmDraft, At, MetricDraft, ParamDraft};
use crate::prereg::problem::Report;
use crate::prereg::table::{Item, Table};
use crate::prereg::{Commands, Launch, Metric, Output, Steps, WorkResult, Worker, keys};
use crate::probe::Probe;
use crate::vocab::Role;
use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const DEFAULT_CAPTURE: u32 = 1 << 20;
const MOST_CAPTURE: i64 = 1 << 30;
/// A path, as everywhere.
const LONGEST_PATH: usize = 4_096;

/// Whether the arms are plain commands: the file says how they are run, or names no worker and all arms have one.
pub(super) fn are_meant(root: &Table<'_>) -> bool {
    if root.get("commands").is_some() {
        return true;
    }
    let arms = root.get("arms").filter(Item::is_table).and_then(|it| it.table(String::new(), None));
    let has_command = |it: &Item<'_>| {
        it.is_table() && it.table(String::new(), None).is_some_and(|it| it.get("command").is_some())
    };
    root.get("worker").is_none()
        && arms.is_some_and(|it| !it.is_empty() && it.entries().iter().all(|it| has_command(&it.item)))
}

/// How they are run, in the place of a worker.
pub(super) fn read(root: &Table<'_>, metrics: Option<&[MetricDraft]>) -> Option<Worker> {
    if let Some(worker) = root.get("worker") {
        worker.problem::<()>(
            "there are a [worker] and [commands], expected one of them",
            Some("a worker speaks the protocol; plain commands are measured from outside".to_owned()),
        );
    }
    let table = root.section_or_empty("commands", Some(keys::COMMANDS))?;
    let shell = table.or("shell", false, |it| it.flag());
    let alone = shell.unwrap_or(false);
    let command = table.or("command", Vec::new(), |it| line(&it, alone));
    let dir = table.maybe("dir", |it| it.filled(LONGEST_PATH));
    let stdin = table.maybe("stdin", |it| it.filled(LONGEST_PATH));
    let reads = metrics
        .into_iter()
        .flatten()
        .filter_map(|it| it.metric.as_ref())
        .find(|it| it.probe.as_ref().is_some_and(Probe::reads_output));
    let registered = table.maybe("output", |it| output(&it));
    let output = registered
        .clone()
        .map(|it| it.unwrap_or(if reads.is_some() { Output::Capture } else { Output::Null }));
    if let (Some(metric), Some(it), Some(item)) = (reads, &output, table.get("output"))
        && *it != Output::Capture
    {
        item.problem::<()>(
            format!("`output` is not captured, but metric `{}` is read from it", metric.name),
            Some("`output = \"capture\"`, or leave it out".to_owned()),
        );
    }
    let capture_limit = table.or("capture_limit", DEFAULT_CAPTURE.into(), |it| it.whole(1..=MOST_CAPTURE));
    // An output that times are read from differs from run to run.
    let result = match (&output, reads) {
        (Some(Output::Capture), None) => WorkResult::Stdout,
        _ => WorkResult::Unchecked,
    };
    let result = table.or("result", result, |it| work_result(&it, output.as_ref()));
    let exit_codes = table.or("exit_codes", vec![0], |it| exit_codes(&it));
    let before = table.or("before", Steps::default(), |it| steps(&it, "before", alone));
    let after = table.or("after", Steps::default(), |it| steps(&it, "after", alone));
    let timeout = table.or("timeout", DEFAULT_TIMEOUT, |it| duration(&it));
    let commands = Commands {
        command: command?,
        shell: shell?,
        dir: dir?,
        stdin: stdin?,
        output: output?,
        capture_limit: u32::try_from(capture_limit?).ok()?,
        result: result?,
        exit_codes: exit_codes?,
        before: before?,
        after: after?,
    };
    Some(Worker { launch: Launch::Plain(Box::new(commands)), system: String::new(), timeout: timeout? })
}

/// A command; with a shell it is one text.
fn line(item: &Item<'_>, shell: bool) -> Option<Vec<String>> {
    let command = item.command()?;
    if shell && command.len() > 1 {
        let hint = format!("write it as one text: command = [\"{}\"]", command.join(" "));
        return item.problem("with `shell = true` a command is one text", Some(hint));
    }
    Some(command)
}

fn output(item: &Item<'_>) -> Option<Output> {
    if item.is_table() {
        let table = item.table("in `output`".to_owned(), Some(keys::OUTPUT))?;
        return table.need("file")?.filled(LONGEST_PATH).map(Output::File);
    }
    match item.digits() {
        Some("null") => Some(Output::Null),
        Some("capture") => Some(Output::Capture),
        _ => item.wrong("`null`, `capture` or { file = \"..\" }"),
    }
}

fn work_result(item: &Item<'_>, output: Option<&Output>) -> Option<WorkResult> {
    if item.is_table() {
        let table = item.table("in `result`".to_owned(), Some(keys::RESULT))?;
        return paths(&table.need("files")?).map(WorkResult::Files);
    }
    match item.digits() {
        Some("unchecked") => Some(WorkResult::Unchecked),
        Some("stdout") if output.is_some_and(|it| *it != Output::Capture) => item.problem(
            "`result` is the standard output, which is not captured",
            Some("add `output = \"capture\"`".to_owned()),
        ),
        Some("stdout") => Some(WorkResult::Stdout),
        _ => item.wrong("`unchecked`, `stdout` or { files = [\"..\"] }"),
    }
}

/// Names of files, at least one.
pub(super) fn paths(item: &Item<'_>) -> Option<Vec<String>> {
    let members = item.list(1_000)?;
    if members.is_empty() {
        return item.wrong("the name of a file at least");
    }
    let paths: Vec<_> = members.iter().map(|it| it.filled(LONGEST_PATH)).collect();
    paths.into_iter().collect()
}

fn exit_codes(item: &Item<'_>) -> Option<Vec<u8>> {
    let members = item.list(256)?;
    if members.is_empty() {
        return item.wrong("an exit code at least");
    }
    let codes: Vec<_> = members.iter().map(|it| it.whole(0..=255)).collect();
    let mut codes: Vec<u8> = codes.into_iter().map(|it| u8::try_from(it?).ok()).collect::<Option<_>>()?;
    codes.sort_unstable();
    codes.dedup();
    Some(codes)
}

fn steps(item: &Item<'_>, key: &str, shell: bool) -> Option<Steps> {
    let table = item.table(format!("in `{key}`"), Some(keys::STEPS))?;
    let [run, block, sample] = ["run", "block", "sample"].map(|key| table.maybe(key, |it| line(&it, shell)));
    Some(Steps { run: run?, block: block?, sample: sample? })
}

/// Whether what commands need is there: a command for every arm, a probe for every metric, a use of every parameter.
pub(super) fn check(
    root: &Table<'_>,
    worker: &Worker,
    params: &[ParamDraft],
    arms: Option<&[ArmDraft]>,
    metrics: &[At<&Metric>],
) {
    let report = root.report;
    let Launch::Plain(commands) = &worker.launch else {
        for At { at, value } in metrics {
            if value.probe.as_ref().is_some_and(|it| *it != Probe::Instructions) {
                report.help(
                    *at,
                    format!("metric `{}` has a probe, but a worker says its values", value.name),
                    Some("leave `probe` out: but for `instructions` it is for plain commands".to_owned()),
                );
            }
        }
        return;
    };
    for At { at, value } in metrics {
        if value.probe.is_none() {
            report.help(
                *at,
                format!(
                    "`probe` is missing in [metrics.{}]: a plain command does not say its values",
                    value.name
                ),
                Some("such as `probe = \"wall\"`".to_owned()),
            );
        }
    }
    for draft in arms.into_iter().flatten() {
        if let Some(arm) = &draft.arm {
            one(report, commands, draft.at, arm, params);
        }
    }
}

fn one(report: &Report<'_>, commands: &Commands, at: usize, arm: &crate::prereg::Arm, params: &[ParamDraft]) {
    let command = commands.of(arm);
    if command.is_empty() {
        let hint = "give it a `command`, or all arms one in [commands]".to_owned();
        report.help(at, format!("arm `{}` has no command", arm.name), Some(hint));
        return;
    }
    if commands.shell && command.len() > 1 {
        let hint = format!("write it as one text: command = [\"{}\"]", command.join(" "));
        report.help(at, format!("arm `{}`: with `shell = true` a command is one text", arm.name), Some(hint));
    }
    // A null arm is the loop without the work, so it has no use for parameters.
    if arm.role == Role::Null {
        return;
    }
    let names = params.iter().map(|it| &it.name).chain(arm.params.iter().map(|(name, _)| name));
    for name in names {
        let braced = format!("{{{name}}}");
        let steps = [&commands.before, &commands.after].into_iter().flat_map(|it| &it.sample).flatten();
        let files = commands.stdin.iter();
        if !command.iter().chain(steps).chain(files).any(|it| it.contains(&braced)) {
            report.help(
                at,
                format!("no command of arm `{}` reads parameter `{name}`", arm.name),
                Some(format!("write `{braced}` where its value belongs")),
            );
        }
    }
}
