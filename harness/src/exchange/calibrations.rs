//! Calibrations of hosts, beside the evidence of their experiment: `calibration-<host>-<id>.json`.

use super::evidence::{EvidenceError, folder, invalid, io_error, replace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// No calibration is longer, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Writes one and returns its path.
pub fn write(
    root: &Path,
    experiment: &str,
    host: &str,
    id: Uuid,
    calibration: &impl Serialize,
) -> Result<PathBuf, EvidenceError> {
    let path = folder(root, experiment).join(format!("calibration-{host}-{id}.json"));
    let mut text = serde_json::to_string_pretty(calibration).map_err(|it| invalid(&path, 1, it))?;
    text.push('\n');
    replace(&path, text.as_bytes())?;
    Ok(path)
}

/// Those of a host, the oldest first: ids sort by time.
pub fn read<T: DeserializeOwned>(root: &Path, experiment: &str, host: &str) -> Result<Vec<T>, EvidenceError> {
    let folder = folder(root, experiment);
    let prefix = format!("calibration-{host}-");
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io_error("list", &folder))?,
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|it| it.path())
        .filter(|it| {
            let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            name.starts_with(&prefix) && name.ends_with(".json")
        })
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let mut text = String::new();
            let file = File::open(path).map_err(io_error("open", path))?;
            file.take(LONGEST).read_to_string(&mut text).map_err(io_error("read", path))?;
            serde_json::from_str(&text).map_err(|it| invalid(path, it.line().max(1), it))
        })
        .collect()
}
