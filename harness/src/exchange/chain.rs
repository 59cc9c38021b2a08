//! The chain of an experiment beside its evidence: `chain.ndjson`, a line of JSON a link, `{"link": {..}}`.
//!
//! It grows at its end only, so that a version control system shows every line that was ever changed. Where two people
//! went on from the same link, keep either of the two files: what the other one sealed is sealed as found.

use super::evidence::{EvidenceError, invalid, io_error, replace};
use crate::store::{Link, chain};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The longest file that is read: some hundred thousand links.
const LONGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Link(Link),
}

/// Where the chain of `experiment` lies below an evidence folder.
pub fn path(base: &Path, experiment: &str) -> PathBuf {
    base.join(experiment).join("chain.ndjson")
}

/// Writes a chain and returns its path. One without links is not written.
pub fn write(base: &Path, experiment: &str, links: &[Link]) -> Result<PathBuf, EvidenceError> {
    let path = path(base, experiment);
    if links.is_empty() {
        return Ok(path);
    }
    let mut text = String::new();
    for link in links {
        let line = serde_json::to_string(&Line::Link(link.clone())).map_err(|it| invalid(&path, 1, it))?;
        text.push_str(&line);
        text.push('\n');
    }
    replace(&path, text.as_bytes())?;
    Ok(path)
}

/// The chain of an experiment, every link of which stands where it should; empty if there is no file.
pub fn read(base: &Path, experiment: &str) -> Result<Vec<Link>, EvidenceError> {
    let path = path(base, experiment);
    let links = links(base, experiment)?;
    match chain::broken(experiment, &links) {
        Some(problem) => Err(invalid(&path, 1, problem)),
        None => Ok(links),
    }
}

/// The links as they are written, whether they hold or not.
pub fn links(base: &Path, experiment: &str) -> Result<Vec<Link>, EvidenceError> {
    let path = path(base, experiment);
    let mut text = Vec::new();
    match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("open", &path)(error)),
        Ok(file) => file.take(LONGEST + 1).read_to_end(&mut text).map_err(io_error("read", &path))?,
    };
    parse(&path, &text)
}

/// The links in the text of a file.
pub fn parse(path: &Path, text: &[u8]) -> Result<Vec<Link>, EvidenceError> {
    if text.len() as u64 > LONGEST {
        return Err(invalid(path, 1, format!("it has more than {LONGEST} bytes")));
    }
    let mut links = Vec::new();
    for (line, number) in text.split_inclusive(|it| *it == b'\n').zip(1..) {
        if !line.ends_with(b"\n") {
            return Err(invalid(path, number, "its last line was cut"));
        }
        let Line::Link(link) = serde_json::from_slice(line).map_err(|it| invalid(path, number, it))?;
        links.push(link);
    }
    Ok(links)
}
