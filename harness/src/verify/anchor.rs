//! What binds registrations and chain to something out of reach of whoever owns the store: the project's history.

use super::check::{Subject, counted};
use crate::host;
use crate::prereg::{LoadError, Prereg, parse};
use crate::store::{Link, Registration};
use crate::vocab::Digest;
use std::path::Path;

/// How many old texts of a file are looked through for the one that was registered.
const OLD_TEXTS: usize = 100;

/// The line for the message of the commit with a registration: `Preregistered: exp-1 v1 sha256:<64 digits>`.
pub fn trailer(experiment: &str, version: u32, digest: Digest) -> String {
    format!("Preregistered: {experiment} v{version} sha256:{digest}")
}

pub(super) fn check(
    checks: &mut Subject,
    root: &Path,
    experiment: &str,
    versions: &[(Registration, Prereg)],
) {
    let path = format!("experiments/{experiment}.toml");
    if let Some((newest, _)) = versions.last() {
        match Prereg::load(root.join(&path)) {
            Ok(it) if it.digest() == newest.digest => {
                checks.holds(&path, format!("it is what version {} registered", newest.version));
            }
            Ok(it) => checks.fails(
                &path,
                format!(
                    "it says something else than version {}: its SHA-256 is {}, registered is {}",
                    newest.version,
                    it.digest().short(),
                    newest.digest.short()
                ),
            ),
            Err(LoadError::Invalid(_)) => checks.fails(&path, "it is not a registration any more"),
            Err(_) => checks.note(&path, "there is no such file any more"),
        }
    }
    for (registration, _) in versions {
        let what = format!("anchor of version {}", registration.version);
        match commit_of(root, &path, registration) {
            Some(place) => checks.holds(what, place),
            None => checks.note(
                what,
                format!(
                    "not anchored: no commit has the text, or the line `{}`",
                    trailer(experiment, registration.version, registration.digest)
                ),
            ),
        }
    }
}

/// The commit that has a registration's text, or names its digest.
fn commit_of(root: &Path, path: &str, registration: &Registration) -> Option<String> {
    let line = trailer(&registration.experiment, registration.version, registration.digest);
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    if let Some(commit) = host::commit_that_says(root, &line) {
        return Some(format!("commit {} says so", short(&commit)));
    }
    let has = |commit: &String| {
        let text = host::text_at(root, commit, path);
        text.and_then(|it| String::from_utf8(it).ok())
            .and_then(|it| parse(&it, path).ok())
            .is_some_and(|it| it.digest() == registration.digest)
    };
    let commit = host::commits_of(root, path, OLD_TEXTS).into_iter().find(has)?;
    Some(format!("commit {} has its text", short(&commit)))
}

/// Whether a chain goes on from the one that was committed last.
pub(super) fn goes_on(checks: &mut Subject, committed: Option<Vec<Link>>, links: &[Link]) {
    let Some(committed) = committed.filter(|it| !it.is_empty()) else {
        checks.note("anchor of the chain", "not anchored: no commit has its file");
        return;
    };
    match committed.iter().zip(links).find(|(was, is)| was != is) {
        Some((was, _)) => {
            checks.fails("anchor of the chain", format!("{} is another one than was committed", was.name()));
        }
        None if committed.len() > links.len() => checks.fails(
            "anchor of the chain",
            format!("{} was committed and is gone", committed[links.len()].name()),
        ),
        None => {
            checks.holds("anchor of the chain", format!("{} committed", counted(committed.len(), "link")));
        }
    }
}
