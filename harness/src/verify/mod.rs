//! Whether everything that is on record still holds: for whoever trusts nobody.
//!
//! In the order of a sample's road: every registration has its digest, is the file's text and is anchored in the
//! project's history; every sample has its digest; every link of the chain follows from the one before and seals what is
//! there; every run began after its registration, is complete, and its verdict follows from its samples, bit
//! for bit; every ledger and plot is what these runs render, byte for byte. The source is a store, or evidence files
//! without any store. What is damaged is named and the rest is still checked.
//!
//! What this cannot show: that samples were measured at all, and that nobody wrote a whole new history before the first
//! commit that anchors it.

mod anchor;
mod check;
mod difference;
mod pages;
mod run;
mod sealed;
mod source;

pub use anchor::trailer;
pub(crate) use check::counted;
pub use check::{Check, State};
pub use pages::pages;
pub use source::Source;

use crate::prereg::{Prereg, parse_canonical};
use crate::render::{Experiment, RecordedRun};
use crate::store::Registration;
use check::Subject;
use std::path::Path;

/// Checks an experiment of the project at `root`, and gives it as it is rendered; `None` when its registration is too
/// damaged for that.
pub fn experiment(root: &Path, source: Source, notes: Option<String>) -> (Vec<Check>, Option<Experiment>) {
    let mut checks = Subject::new(&source.experiment);
    let versions = match source.registrations {
        Ok(registrations) => versions(&mut checks, registrations),
        Err(problem) => {
            checks.fails("registration", problem);
            return (checks.done(), None);
        }
    };
    if versions.is_empty() {
        checks.fails("registration", "there is none");
        return (checks.done(), None);
    }
    anchor::check(&mut checks, root, &source.experiment, &versions);
    let mut runs = Vec::new();
    let mut damaged = Vec::new();
    for (id, evidence) in source.runs {
        match evidence {
            Ok(it) => {
                run::samples(&mut checks, &it);
                runs.push(it);
            }
            Err(problem) => {
                checks.fails(format!("run {id}: samples"), problem);
                damaged.push(id);
            }
        }
    }
    sealed::check(&mut checks, root, source.links, &versions, &runs, &damaged);
    let runs: Vec<RecordedRun> = run::check_all(&mut checks, &versions, runs);
    (checks.done(), Some(Experiment { versions, runs, notes }))
}

/// Every version whose text is one that this harness understands.
fn versions(checks: &mut Subject, registrations: Vec<Registration>) -> Vec<(Registration, Prereg)> {
    let mut versions = Vec::new();
    for (it, expected) in registrations.into_iter().zip(1..) {
        let what = format!("registration {}", it.version);
        if it.version != expected {
            checks.fails(what, format!("version {expected} should stand before it"));
            continue;
        }
        match parse_canonical(&it.canonical) {
            Err(problems) => checks.fails(what, problems.to_string().lines().next().unwrap_or_default()),
            Ok(prereg) if prereg.to_json() != it.doc => {
                checks.fails(what, "its document does not say what its text says");
            }
            Ok(prereg) if prereg.id != it.experiment => {
                checks.fails(what, format!("its text is of `{}`", prereg.id));
            }
            Ok(prereg) => {
                checks.holds(what, format!("the text has SHA-256 {}", it.digest.short()));
                versions.push((it, prereg));
            }
        }
    }
    versions
}
