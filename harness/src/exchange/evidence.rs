//! Evidence: the registrations and runs behind a ledger, as files next to it, bit for bit.
//!
//! ```text
//! ledgers/evidence/<experiment>/registration-<version>.json
//! ledgers/evidence/<experiment>/run-<id>.ndjson.gz
//! ```
//!
//! A registration is one JSON object. A run is gzip over lines of JSON, each an object with one key that says
//! what it is: first `evidence` (the version of this format, 1), then `run`, `arm`, `cell`, `event`, `samples`
//! (with the SHA-256 of the values' big-endian bytes) and `verdict`, last `end` with the number of lines before
//! it. Numbers are in the shortest form that reads back to the same bits. The same run gives the same bytes.

use crate::store::{
    CellArm, Event, Registration, Run, RunArm, RunData, SampleSet, StoredFinding, StoredVerdict,
};
use crate::vocab::Digest;
use flate2::{Compression, GzBuilder, read::GzDecoder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The version of the format.
const VERSION: u32 = 1;
/// The longest line that is read: 32,768 samples take less than 2 MiB.
const LINE_MAX: u64 = 16 << 20;

/// A run with its verdicts, as it travels.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The run.
    pub data: RunData,
    /// What was decided of it, with the findings.
    pub verdicts: Vec<(StoredVerdict, Vec<StoredFinding>)>,
}

/// Why evidence cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum EvidenceError {
    /// A file or folder.
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On which.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file holds something else.
    Invalid {
        /// Which.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { attempt, path, .. } => write!(f, "failed to {attempt} `{}`", path.display()),
            Self::Invalid { path, line, problem } => {
                write!(f, "evidence `{}` is damaged at line {line}: {problem}", path.display())
            }
        }
    }
}

impl std::error::Error for EvidenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Invalid { .. } => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Evidence(u32),
    Run(Run),
    Arm(RunArm),
    Cell(CellArm),
    Event(Event),
    Samples {
        #[serde(flatten)]
        set: SampleSet,
        sha256: Digest,
    },
    Verdict {
        verdict: StoredVerdict,
        findings: Vec<StoredFinding>,
    },
    End(usize),
}

/// Where the evidence of `experiment` lies in a project.
pub fn folder(root: &Path, experiment: &str) -> PathBuf {
    root.join("ledgers/evidence").join(experiment)
}

/// Writes a registration, unless it is there, and returns its path.
pub fn write_registration(root: &Path, registration: &Registration) -> Result<PathBuf, EvidenceError> {
    let path =
        folder(root, &registration.experiment).join(format!("registration-{}.json", registration.version));
    let mut text = serde_json::to_string_pretty(registration).map_err(|it| invalid(&path, 1, it))?;
    text.push('\n');
    replace(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes a run and returns its path.
pub fn write_run(root: &Path, evidence: &Evidence) -> Result<PathBuf, EvidenceError> {
    let run = &evidence.data.run;
    let path = folder(root, &run.experiment).join(format!("run-{}.ndjson.gz", run.id));
    let bytes = encode(evidence).map_err(|it| io_error("write", &path)(it))?;
    replace(&path, &bytes)?;
    Ok(path)
}

/// Every registration below the project's evidence folder, in order of experiment and version.
pub fn registrations(root: &Path) -> Result<Vec<(PathBuf, Registration)>, EvidenceError> {
    let mut all = Vec::new();
    for path in files(root, "registration-", ".json")? {
        let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        let registration: Registration =
            serde_json::from_str(&text).map_err(|it| invalid(&path, it.line(), it))?;
        if Digest::of(&registration.canonical) != registration.digest {
            return Err(invalid(&path, 1, "the registration's text does not have the digest it names"));
        }
        all.push((path, registration));
    }
    all.sort_by(|(_, a), (_, b)| (&a.experiment, a.version).cmp(&(&b.experiment, b.version)));
    Ok(all)
}

/// Every run below the project's evidence folder: its id and its file, in order of the path.
pub fn runs(root: &Path) -> Result<Vec<(Uuid, PathBuf)>, EvidenceError> {
    let mut all = Vec::new();
    for path in files(root, "run-", ".ndjson.gz")? {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let id = name.trim_start_matches("run-").trim_end_matches(".ndjson.gz");
        let id =
            Uuid::parse_str(id).map_err(|it| invalid(&path, 1, format!("its name holds no run id: {it}")))?;
        all.push((id, path));
    }
    Ok(all)
}

/// Reads a run.
pub fn read_run(path: &Path) -> Result<Evidence, EvidenceError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    decode(BufReader::new(GzDecoder::new(BufReader::new(file))), path)
}

fn encode(evidence: &Evidence) -> io::Result<Vec<u8>> {
    let Evidence { data, verdicts } = evidence;
    let mut lines = vec![Line::Evidence(VERSION), Line::Run(data.run.clone())];
    lines.extend(data.arms.iter().cloned().map(Line::Arm));
    lines.extend(data.cells.iter().cloned().map(Line::Cell));
    lines.extend(data.events.iter().cloned().map(Line::Event));
    lines.extend(
        data.sets.iter().map(|it| Line::Samples { sha256: Digest::of_samples(&it.values), set: it.clone() }),
    );
    lines.extend(
        verdicts.iter().map(|(verdict, findings)| Line::Verdict {
            verdict: verdict.clone(),
            findings: findings.clone(),
        }),
    );
    lines.push(Line::End(lines.len()));
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    for line in &lines {
        serde_json::to_writer(&mut gzip, line)?;
        gzip.write_all(b"\n")?;
    }
    gzip.finish()
}

fn decode(mut reader: impl BufRead, path: &Path) -> Result<Evidence, EvidenceError> {
    let mut run = None;
    let (mut arms, mut cells, mut events, mut sets, mut verdicts) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut text = String::new();
    for number in 1.. {
        text.clear();
        let read = (&mut reader).take(LINE_MAX).read_line(&mut text);
        if read.map_err(|it| invalid(path, number, it))? == 0 {
            return Err(invalid(path, number, "it ends before its last line"));
        }
        let line: Line = serde_json::from_str(&text).map_err(|it| invalid(path, number, it))?;
        match (number, line) {
            (1, Line::Evidence(VERSION)) => {}
            (1, Line::Evidence(version)) => {
                return Err(invalid(
                    path,
                    1,
                    format!("it has format {version}, this harness knows {VERSION}"),
                ));
            }
            (1, _) => return Err(invalid(path, 1, "the version of the format is missing")),
            (_, Line::Run(it)) => run = Some(it),
            (_, Line::Arm(it)) => arms.push(it),
            (_, Line::Cell(it)) => cells.push(it),
            (_, Line::Event(it)) => events.push(it),
            (_, Line::Samples { set, sha256 }) => {
                if Digest::of_samples(&set.values) != sha256 {
                    return Err(invalid(path, number, "the samples do not have the digest they name"));
                }
                sets.push(set);
            }
            (_, Line::Verdict { verdict, findings }) => verdicts.push((verdict, findings)),
            (_, Line::End(lines)) if lines + 1 == number => break,
            (_, Line::End(lines)) => {
                return Err(invalid(path, number, format!("it should have {lines} lines before this")));
            }
            (_, Line::Evidence(_)) => return Err(invalid(path, number, "the version stands here again")),
        }
    }
    let run = run.ok_or_else(|| invalid(path, 1, "there is no run in it"))?;
    Ok(Evidence { data: RunData { run, arms, cells, events, sets }, verdicts })
}

/// Files of all experiments whose names begin and end so, sorted.
fn files(root: &Path, prefix: &str, suffix: &str) -> Result<Vec<PathBuf>, EvidenceError> {
    let mut found = Vec::new();
    for folder in entries(&root.join("ledgers/evidence"))?.into_iter().filter(|it| it.is_dir()) {
        found.extend(entries(&folder)?.into_iter().filter(|it| {
            let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            name.starts_with(prefix) && name.ends_with(suffix)
        }));
    }
    Ok(found)
}

/// The entries of a folder, sorted; none if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, EvidenceError> {
    let read = match fs::read_dir(folder) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("list", folder)(error)),
    };
    let paths: io::Result<Vec<_>> = read.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(io_error("list", folder))?;
    paths.sort();
    Ok(paths)
}

/// Replaces the file at `path`, making its folders, so that a reader sees the old file or the new one.
///
/// A file that holds these bytes already is left alone.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), EvidenceError> {
    if fs::read(path).is_ok_and(|it| it == bytes) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(io_error("create", folder))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|source| {
        // What could not be finished is of no use; that it cannot be removed either is the same problem.
        let _ = fs::remove_file(&temporary);
        io_error("write", path)(source)
    })
}

fn io_error(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EvidenceError {
    let path = path.to_owned();
    move |source| EvidenceError::Io { attempt, path, source }
}

fn invalid(path: &Path, line: usize, problem: impl fmt::Display) -> EvidenceError {
    EvidenceError::Invalid { path: path.to_owned(), line, problem: problem.to_string() }
}
