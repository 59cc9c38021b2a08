//! How much memory this process takes at most.

use harness::worker::{Error, Result};

/// Forgets how much resident memory this process had at most, and tells how much it has, in bytes.
pub(crate) fn start() -> Result<u64> {
    std::fs::write("/proc/self/clear_refs", "5")
        .map_err(Error::context("failed to write `/proc/self/clear_refs`"))?;
    field("VmRSS:")
}

/// How much resident memory this process had at most since [`start`], in bytes.
pub(crate) fn most() -> Result<u64> {
    field("VmHWM:")
}

fn field(name: &str) -> Result<u64> {
    let path = "/proc/self/status";
    let text = std::fs::read_to_string(path).map_err(Error::context(format!("failed to read `{path}`")))?;
    let kib = text
        .lines()
        .find_map(|it| it.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|it| it * 1024).ok_or_else(|| Error::new(format!("`{path}` has no `{name}` in it")))
}
