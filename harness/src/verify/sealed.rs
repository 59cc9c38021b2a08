//! The chain against what it seals.

use super::anchor;
use super::check::{Subject, counted};
use crate::exchange::chain as file;
use crate::exchange::evidence::{self, Evidence};
use crate::host;
use crate::prereg::Prereg;
use crate::store::chain::{self, body};
use crate::store::{Link, Registration};
use crate::vocab::{Digest, RunState, Seal};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::Path;
use uuid::Uuid;

/// What a link should seal.
struct Object {
    kind: Seal,
    name: String,
    at: Timestamp,
    body: Digest,
    /// Of which something must have been sealed before.
    after: Option<(Seal, String)>,
}

pub(super) fn check(
    checks: &mut Subject,
    root: &Path,
    links: Result<Vec<Link>, String>,
    versions: &[(Registration, Prereg)],
    runs: &[Evidence],
    damaged: &[Uuid],
) {
    let links = match links {
        Ok(links) if links.is_empty() => {
            checks.note("chain", "there is none: this is from before there were chains");
            return;
        }
        Ok(links) => links,
        Err(problem) => {
            checks.fails("chain", problem);
            return;
        }
    };
    let experiment = &versions[0].0.experiment;
    match chain::broken(experiment, &links) {
        Some(problem) => checks.fails("chain", problem),
        None => {
            let found = links.iter().filter(|it| it.found).count();
            let later = if found == 0 { String::new() } else { format!(", {found} of them sealed later") };
            let head = links.last().map(|it| it.hash.short()).unwrap_or_default();
            checks.holds("chain", format!("{} up to {head}{later}", counted(links.len(), "link")));
        }
    }
    let mut objects: Vec<Object> = versions.iter().map(|(it, _)| registration(it)).collect();
    objects.extend(runs.iter().flat_map(of_run));
    let problems = problems(&links, &objects, damaged);
    if problems.is_empty() {
        checks.holds("sealed", format!("{}, each what its link sealed", counted(objects.len(), "record")));
    }
    for problem in problems {
        checks.fails("sealed", problem);
    }
    against_file(checks, root, experiment, &links);
}

/// The chain beside the evidence, and the one that was committed.
fn against_file(checks: &mut Subject, root: &Path, experiment: &str, links: &[Link]) {
    let base = evidence::base(root);
    match file::links(&base, experiment) {
        Err(error) => checks.fails("chain.ndjson", error.to_string()),
        Ok(written) if written.is_empty() => {
            checks.note("chain.ndjson", "it is not written yet: harness render");
        }
        // The file may lag behind: a run that is being measured has links already.
        Ok(written) => match written.iter().zip(links).find(|(was, is)| was != is) {
            Some((was, _)) => {
                checks.fails("chain.ndjson", format!("it parts from the chain at {}", was.name()));
            }
            None if written.len() > links.len() => {
                checks.fails("chain.ndjson", format!("{} stands only there", written[links.len()].name()));
            }
            None => checks.holds("chain.ndjson", format!("{}, the same", counted(written.len(), "link"))),
        },
    }
    let path = file::path(Path::new("ledgers/evidence"), experiment);
    let committed = host::text_at(root, "HEAD", &path.to_string_lossy());
    let committed = committed.and_then(|text| file::parse(&path, &text).ok());
    anchor::goes_on(checks, committed, links);
}

fn problems(links: &[Link], objects: &[Object], damaged: &[Uuid]) -> Vec<String> {
    let place: HashMap<(Seal, &str), &Link> =
        links.iter().map(|it| ((it.kind, it.object.as_str()), it)).collect();
    let mut problems: Vec<(u32, String)> = Vec::new();
    for it in objects {
        let name = format!("{} {}", it.kind, it.name);
        let Some(link) = place.get(&(it.kind, it.name.as_str())) else {
            problems.push((u32::MAX, format!("{name} has no link: it was put in beside the chain")));
            continue;
        };
        if link.body != it.body || link.at != it.at {
            problems.push((link.seq, format!("{name} is not what {} sealed", link.name())));
        }
        let before = it.after.as_ref().and_then(|(kind, object)| place.get(&(*kind, object.as_str())));
        if let Some(before) = before.filter(|it| it.seq > link.seq) {
            problems.push((
                link.seq,
                format!("{} stands before {}, which came first", link.name(), before.name()),
            ));
        }
    }
    let known: HashMap<(Seal, &str), ()> =
        objects.iter().map(|it| ((it.kind, it.name.as_str()), ())).collect();
    for link in links {
        let run = link.object.split('/').next().and_then(|it| Uuid::parse_str(it).ok());
        let readable = run.is_none_or(|it| !damaged.contains(&it));
        if readable && !known.contains_key(&(link.kind, link.object.as_str())) {
            problems.push((link.seq, format!("{} seals what is not there any more", link.name())));
        }
    }
    problems.sort();
    problems.into_iter().map(|(_, it)| it).collect()
}

fn registration(it: &Registration) -> Object {
    let before = it.version - 1;
    Object {
        kind: chain::registered(it.version),
        name: it.version.to_string(),
        at: it.registered_at,
        body: body::registration(it),
        after: (before > 0).then(|| (chain::registered(before), before.to_string())),
    }
}

fn of_run(it: &Evidence) -> Vec<Object> {
    let (data, run) = (&it.data, &it.data.run);
    let begun = || Some((Seal::Begun, run.id.to_string()));
    let mut objects = vec![Object {
        kind: Seal::Begun,
        name: run.id.to_string(),
        at: run.started_at,
        body: body::begun(run, &data.arms),
        after: Some((chain::registered(run.version), run.version.to_string())),
    }];
    objects.extend(data.events.iter().map(|event| {
        let over = matches!(event.state, RunState::Done | RunState::Failed);
        let body =
            if over { body::event(event, &data.cells, &data.sets) } else { body::event(event, &[], &[]) };
        Object {
            kind: Seal::Event,
            name: chain::object(run.id, event.seq),
            at: event.at,
            body,
            after: begun(),
        }
    }));
    objects.extend(it.verdicts.iter().map(|(verdict, findings)| Object {
        kind: Seal::Verdict,
        name: chain::object(run.id, verdict.seq),
        at: verdict.decided_at,
        body: body::verdict(verdict, findings),
        after: begun(),
    }));
    objects.extend(data.invalidations.iter().map(|it| Object {
        kind: chain::invalidated(it.invalid),
        name: chain::object(run.id, it.seq),
        at: it.at,
        body: body::invalidation(it),
        after: begun(),
    }));
    objects
}
