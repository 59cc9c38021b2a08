//! A run: when it began, whether it is whole, and whether its verdict follows from its samples.

use super::check::{Subject, counted};
use super::difference::difference;
use crate::decide::{document, findings};
use crate::exchange::evidence::Evidence;
use crate::prereg::Prereg;
use crate::render::RecordedRun;
use crate::store::{Registration, StoredFinding, StoredVerdict};
use crate::vocab::RunState;
use serde_json::{Value, json};
use std::thread;

/// All digests of a run that could be read hold.
pub(super) fn samples(checks: &mut Subject, it: &Evidence) {
    let n: usize = it.data.sets.iter().map(|it| it.values.len()).sum();
    let what = format!("run {}: samples", it.data.run.id);
    checks.holds(
        what,
        format!("{}, {}: digests hold", counted(n, "sample"), counted(it.data.sets.len(), "set")),
    );
}

/// Checks every run and gives those whose version is known, analysed and decided anew.
pub(super) fn check_all(
    checks: &mut Subject,
    versions: &[(Registration, Prereg)],
    runs: Vec<Evidence>,
) -> Vec<RecordedRun> {
    let mut known = Vec::new();
    for it in runs {
        let run = &it.data.run;
        match versions.iter().find(|(that, _)| that.version == run.version) {
            Some((registration, prereg)) => known.push((registration, prereg, it)),
            None => {
                checks.fails(format!("run {}", run.id), format!("version {} is not registered", run.version));
            }
        }
    }
    let mut recorded = Vec::new();
    for (registration, it) in decide_all(known) {
        check(checks, registration, &it);
        recorded.push(it.recorded);
    }
    recorded
}

/// A run with what is computed of it now, and what is stored.
struct Decided {
    recorded: RecordedRun,
    document: Value,
    findings: Vec<StoredFinding>,
    stored: Vec<(StoredVerdict, Vec<StoredFinding>)>,
}

/// Decides runs on as many cores as there are: runs depend on nothing but themselves.
fn decide_all<'a>(runs: Vec<(&'a Registration, &'a Prereg, Evidence)>) -> Vec<(&'a Registration, Decided)> {
    let decide = |(registration, prereg, Evidence { data, verdicts })| {
        let recorded = RecordedRun::new(prereg, data);
        let document = document(prereg, &recorded.decision, &recorded.analysis);
        let findings = findings(prereg, &recorded.decision);
        (registration, Decided { recorded, document, findings, stored: verdicts })
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = runs.len().div_ceil(cores).max(1);
    let mut rest = runs.into_iter();
    let parts: Vec<Vec<_>> = std::iter::from_fn(|| {
        let part: Vec<_> = rest.by_ref().take(share).collect();
        (!part.is_empty()).then_some(part)
    })
    .collect();
    if parts.len() < 2 {
        return parts.into_iter().flatten().map(decide).collect();
    }
    thread::scope(|scope| {
        let workers: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(move || part.into_iter().map(decide).collect::<Vec<_>>()))
            .collect();
        let join = |it: thread::ScopedJoinHandle<'_, _>| {
            it.join().unwrap_or_else(|it| std::panic::resume_unwind(it))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

fn check(checks: &mut Subject, registration: &Registration, it: &Decided) {
    let run = &it.recorded.data.run;
    let what = |of: &str| format!("run {}: {of}", run.id);
    if run.registration != registration.digest {
        let (was, is) = (run.registration.short(), registration.digest.short());
        checks.fails(
            what("registration"),
            format!("it was begun for SHA-256 {was}, version {} is {is}", run.version),
        );
    } else if run.started_at < registration.registered_at {
        let (began, registered) = (run.started_at, registration.registered_at);
        checks.fails(
            what("registration"),
            format!("it began at {began}, before it was registered at {registered}"),
        );
    } else {
        checks.holds(what("registration"), format!("it began after version {} was frozen", run.version));
    }
    complete(checks, it, what("complete"));
    for (verdict, findings) in &it.stored {
        let what = what(&format!("verdict {}", verdict.seq));
        // A later harness says more of a verdict; what an earlier one said must still follow.
        match (wrong(it, verdict, findings, false), wrong(it, verdict, findings, true)) {
            (_, Some(problem)) => checks.fails(what, problem),
            (None, None) => {
                checks.holds(what, format!("{} follows from the samples, bit for bit", verdict.verdict));
            }
            (Some(_), None) => checks.note(
                what,
                format!(
                    "{} and all that is stored follows from the samples, bit for bit; harness {} stored less than \
                     this one computes",
                    verdict.verdict, verdict.harness
                ),
            ),
        }
    }
    if it.stored.is_empty() && it.recorded.is_over() {
        checks.note(what("verdict"), "none is stored yet");
    }
    if let Some(aside) = it.recorded.data.invalidated() {
        checks.note(what("invalidated"), format!("{}, {}", aside.at.strftime("%F %T UTC"), aside.reason));
    }
}

fn complete(checks: &mut Subject, it: &Decided, what: String) {
    let gaps = &it.recorded.analysis.gaps;
    // What the registered rule took out makes a run INVALID; it does not make its record wrong.
    match (it.recorded.state, gaps.iter().find(|it| !it.is_excluded()).or(gaps.first())) {
        (RunState::Done, None) => checks.holds(what, "every registered sample is there"),
        (RunState::Done, Some(gap)) if gap.is_excluded() => checks.note(what, gap.to_string()),
        (RunState::Done, Some(gap)) => checks.fails(what, format!("it ended as complete, and yet: {gap}")),
        (RunState::Failed, _) => checks.note(what, "it failed"),
        (RunState::Running | RunState::Resumed | RunState::Aborted, _) => checks.note(what, "it is not over"),
    }
}

/// What of a stored verdict does not follow.
fn wrong(it: &Decided, verdict: &StoredVerdict, findings: &[StoredFinding], more: bool) -> Option<String> {
    let decided = it.recorded.decision.verdict;
    if verdict.verdict != decided {
        return Some(format!("stored is {}, from the samples follows {decided}", verdict.verdict));
    }
    if let Some(problem) = difference(&verdict.doc, &it.document, more) {
        return Some(problem);
    }
    let sorted = |all: &[StoredFinding]| {
        let mut all: Vec<Value> = all.iter().map(|it| json!(it)).collect();
        all.sort_by_key(ToString::to_string);
        Value::Array(all)
    };
    difference(&sorted(findings), &sorted(&it.findings), more).map(|it| format!("findings{it}"))
}
