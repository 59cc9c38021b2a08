//! Evidence: the registrations and runs behind a ledger, as files next to it, bit for bit.
//!
//! ```text
//! ledgers/evidence/<experiment>/registration-<version>.json
//! ledgers/evidence/<experiment>/run-<id>.ndjson.gz
//! ledgers/evidence/<experiment>/chain.ndjson
//! ```
//!
//! A registration is one JSON object. A run is gzip over lines of JSON, each an object with one key that says
//! what it is: first `evidence` (the version of this format), then `run`, `arm`, `cell`, `event`, `samples`
//! (with the SHA-256 of the values' big-endian bytes), `verdict` and `invalidation`, last `end` with the number of
//! lines before it. The version is 1, or 2 if there is an `invalidation`. [The chain](super::chain) is a line a link. Numbers are in the shortest form that reads back to the same bits. The same run gives the same bytes.
//! `schemas/evidence.schema.json` describes lines and registrations.
//!
//! A file says of itself what it is: its name, its folder and its text must agree. Reading needs bounded memory,
//! whatever a file claims to hold.

use crate::store::{
    CellArm, Event, Invalidation, Registration, Run, RunArm, RunData, SampleSet, StoredFinding, StoredVerdict,
};
use crate::vocab::Digest;
use flate2::{Compression, GzBuilder, bufread::GzDecoder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The versions of the format: of a run that was never set aside, and of one that was.
const PLAIN: u32 = 1;
const INVALIDATED: u32 = 2;
/// The longest line that is read: 32,768 samples take less than 2 MiB.
const LINE_MAX: u64 = 16 << 20;
/// The longest text of a run that is written and read: some millions of samples.
const TEXT_MAX: u64 = 256 << 20;
/// The longest registration that is read.
const REGISTRATION_MAX: u64 = 16 << 20;

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
    Invalidation(Invalidation),
    End(usize),
}

/// Where the evidence of all experiments of a project lies.
pub fn base(root: &Path) -> PathBuf {
    root.join("ledgers/evidence")
}

/// Where the evidence of `experiment` lies in a project.
pub fn folder(root: &Path, experiment: &str) -> PathBuf {
    base(root).join(experiment)
}

/// Writes a registration, unless it is there, and returns its path.
pub fn write_registration(root: &Path, registration: &Registration) -> Result<PathBuf, EvidenceError> {
    write_registration_in(&base(root), registration)
}

/// [`write_registration`], below another folder than a project's.
pub fn write_registration_in(base: &Path, registration: &Registration) -> Result<PathBuf, EvidenceError> {
    let path = base.join(&registration.experiment).join(registration_name(registration));
    let mut text = serde_json::to_string_pretty(registration).map_err(|it| invalid(&path, 1, it))?;
    text.push('\n');
    replace(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes a run and returns its path.
pub fn write_run(root: &Path, evidence: &Evidence) -> Result<PathBuf, EvidenceError> {
    write_run_in(&base(root), evidence)
}

/// [`write_run`], below another folder than a project's.
pub fn write_run_in(base: &Path, evidence: &Evidence) -> Result<PathBuf, EvidenceError> {
    let run = &evidence.data.run;
    let path = base.join(&run.experiment).join(run_name(run.id));
    let bytes = encode(evidence).map_err(|it| io_error("write", &path)(it))?;
    replace(&path, &bytes)?;
    Ok(path)
}

/// Every registration below the project's evidence folder, in order of experiment and version.
pub fn registrations(root: &Path) -> Result<Vec<(PathBuf, Registration)>, EvidenceError> {
    registrations_in(&base(root))
}

/// [`registrations`], below another folder than a project's.
pub fn registrations_in(base: &Path) -> Result<Vec<(PathBuf, Registration)>, EvidenceError> {
    let mut all = Vec::new();
    for path in registration_files(base)? {
        let registration = read_registration(&path)?;
        all.push((path, registration));
    }
    all.sort_by(|(_, a), (_, b)| (&a.experiment, a.version).cmp(&(&b.experiment, b.version)));
    Ok(all)
}

/// The files of registrations below an evidence folder, in order of the path.
pub fn registration_files(base: &Path) -> Result<Vec<PathBuf>, EvidenceError> {
    files(base, "registration-", ".json")
}

/// Reads a registration. Its name and its folder must be those of what is inside, its digest that of its text.
pub fn read_registration(path: &Path) -> Result<Registration, EvidenceError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    let mut bytes = Vec::new();
    file.take(REGISTRATION_MAX).read_to_end(&mut bytes).map_err(io_error("read", path))?;
    let registration: Registration =
        serde_json::from_slice(&bytes).map_err(|it| invalid(path, it.line().max(1), it))?;
    named(path, &registration.experiment, &registration_name(&registration))?;
    if Digest::of(&registration.canonical) != registration.digest {
        return Err(invalid(path, 1, "the registration's text does not have the digest it names"));
    }
    Ok(registration)
}

/// Every run below the project's evidence folder: its id and its file, in order of the path.
pub fn runs(root: &Path) -> Result<Vec<(Uuid, PathBuf)>, EvidenceError> {
    runs_in(&base(root))
}

/// [`runs`], below another folder than a project's.
pub fn runs_in(base: &Path) -> Result<Vec<(Uuid, PathBuf)>, EvidenceError> {
    let mut all = Vec::new();
    for path in files(base, "run-", ".ndjson.gz")? {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let id = name.strip_prefix("run-").and_then(|it| it.strip_suffix(".ndjson.gz")).unwrap_or_default();
        let id =
            Uuid::parse_str(id).map_err(|it| invalid(&path, 1, format!("its name holds no run id: {it}")))?;
        all.push((id, path));
    }
    Ok(all)
}

/// Reads a run. Its name and its folder must be those of the run inside.
pub fn read_run(path: &Path) -> Result<Evidence, EvidenceError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    let mut gzip = GzDecoder::new(BufReader::new(file));
    let (evidence, lines) = decode(BufReader::new((&mut gzip).take(TEXT_MAX + 1)), path)?;
    let rest = gzip.get_mut().fill_buf().map_err(io_error("read", path))?;
    if !rest.is_empty() {
        return Err(invalid(path, lines, "something follows its end"));
    }
    named(path, &evidence.data.run.experiment, &run_name(evidence.data.run.id))?;
    Ok(evidence)
}

fn run_name(id: Uuid) -> String {
    format!("run-{id}.ndjson.gz")
}

fn registration_name(registration: &Registration) -> String {
    format!("registration-{}.json", registration.version)
}

/// Whether a file lies where it belongs by what it holds.
fn named(path: &Path, experiment: &str, name: &str) -> Result<(), EvidenceError> {
    let part =
        |it: Option<&std::ffi::OsStr>| it.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let (folder, file) = (part(path.parent().and_then(Path::file_name)), part(path.file_name()));
    if folder != experiment || file != name {
        return Err(invalid(path, 1, format!("it holds what belongs to `{experiment}/{name}`")));
    }
    Ok(())
}

fn encode(evidence: &Evidence) -> io::Result<Vec<u8>> {
    let Evidence { data, verdicts } = evidence;
    let version = if data.invalidations.is_empty() { PLAIN } else { INVALIDATED };
    let mut lines = vec![Line::Evidence(version), Line::Run(data.run.clone())];
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
    lines.extend(data.invalidations.iter().cloned().map(Line::Invalidation));
    lines.push(Line::End(lines.len()));
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut length = 0;
    for line in &lines {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        length += text.len() as u64;
        if text.len() as u64 > LINE_MAX || length > TEXT_MAX {
            return Err(io::Error::other(format!(
                "the run is too large: more than {TEXT_MAX} bytes of text"
            )));
        }
        gzip.write_all(&text)?;
    }
    gzip.finish()
}

/// The evidence, and the number of its lines.
fn decode(mut reader: impl BufRead, path: &Path) -> Result<(Evidence, usize), EvidenceError> {
    let mut run: Option<Run> = None;
    let (mut arms, mut cells, mut events, mut sets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut verdicts, mut invalidations) = (Vec::new(), Vec::new());
    let mut text = Vec::new();
    let mut length = 0;
    let mut number = 0;
    loop {
        number += 1;
        let read = next_line(&mut reader, &mut text, path, number)?;
        length += read;
        if read == 0 {
            return Err(invalid(path, number, "it ends before its last line"));
        }
        if length > TEXT_MAX {
            return Err(invalid(path, number, format!("it has more than {TEXT_MAX} bytes of text")));
        }
        let line: Line = serde_json::from_slice(&text).map_err(|it| invalid(path, number, it))?;
        match (number, line) {
            (1, Line::Evidence(PLAIN..=INVALIDATED)) => {}
            (1, Line::Evidence(version)) => {
                let problem = format!("it has format {version}, this harness knows {INVALIDATED}");
                return Err(invalid(path, 1, problem));
            }
            (1, _) => return Err(invalid(path, 1, "the version of the format is missing")),
            (_, Line::Run(it)) if run.is_none() => run = Some(it),
            (_, Line::Run(_)) => return Err(invalid(path, number, "a second run stands here")),
            (_, Line::Arm(it)) => arms.push(it),
            (_, Line::Cell(it)) => cells.push(it),
            (_, Line::Event(it)) => events.push(it),
            (_, Line::Samples { set, sha256 }) => {
                if Digest::of_samples(&set.values) != sha256 {
                    return Err(invalid(path, number, "the samples do not have the digest they name"));
                }
                sets.push(set);
            }
            (_, Line::Verdict { verdict, findings }) => {
                if run.as_ref().is_none_or(|it| it.id != verdict.run) {
                    return Err(invalid(path, number, format!("the verdict is of run {}", verdict.run)));
                }
                verdicts.push((verdict, findings));
            }
            (_, Line::Invalidation(it)) => invalidations.push(it),
            (_, Line::End(lines)) if lines + 1 == number => break,
            (_, Line::End(lines)) => {
                return Err(invalid(path, number, format!("it should have {lines} lines before this")));
            }
            (_, Line::Evidence(_)) => return Err(invalid(path, number, "the version stands here again")),
        }
    }
    // Only at its end does gzip say whether all was as it was written.
    if next_line(&mut reader, &mut text, path, number + 1)? > 0 {
        return Err(invalid(path, number + 1, "a line follows its end"));
    }
    let run = run.ok_or_else(|| invalid(path, number, "there is no run in it"))?;
    if let Some(set) = twice(&sets) {
        let problem = format!("samples of `{}` in arm `{}` are there twice", set.metric, set.arm);
        return Err(invalid(path, number, problem));
    }
    Ok((Evidence { data: RunData { run, arms, cells, events, sets, invalidations }, verdicts }, number))
}

/// Reads a line into `text` and returns its length; 0 at the end.
fn next_line(
    reader: &mut impl BufRead,
    text: &mut Vec<u8>,
    path: &Path,
    number: usize,
) -> Result<u64, EvidenceError> {
    text.clear();
    let read =
        reader.take(LINE_MAX + 1).read_until(b'\n', text).map_err(|it| invalid(path, number, it))? as u64;
    if read > LINE_MAX {
        return Err(invalid(path, number, format!("the line has more than {LINE_MAX} bytes")));
    }
    Ok(read)
}

/// A set that has a block which another set of the same samples has too.
fn twice(sets: &[SampleSet]) -> Option<&SampleSet> {
    let key = |it: &SampleSet| (it.metric.clone(), it.cell.clone(), it.arm.clone(), it.warmup);
    let mut sorted: Vec<&SampleSet> = sets.iter().collect();
    sorted.sort_by_cached_key(|it| (key(it), it.first_block));
    let end = |it: &SampleSet| u64::from(it.first_block) + it.values.len() as u64;
    let overlap =
        |pair: &&[&SampleSet]| key(pair[0]) == key(pair[1]) && end(pair[0]) > u64::from(pair[1].first_block);
    sorted.windows(2).find(overlap).map(|pair| pair[1])
}

/// Files of all experiments whose names begin and end so, sorted.
fn files(base: &Path, prefix: &str, suffix: &str) -> Result<Vec<PathBuf>, EvidenceError> {
    let mut found = Vec::new();
    for folder in entries(base)?.into_iter().filter(|it| it.is_dir()) {
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

pub(super) fn io_error(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EvidenceError {
    let path = path.to_owned();
    move |source| EvidenceError::Io { attempt, path, source }
}

pub(super) fn invalid(path: &Path, line: usize, problem: impl fmt::Display) -> EvidenceError {
    EvidenceError::Invalid { path: path.to_owned(), line, problem: problem.to_string() }
}
