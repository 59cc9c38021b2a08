use harness::worker::{Error, Result};

/// Resident memory of this process in bytes, mapped files included.
pub(crate) fn resident() -> Result<u64> {
    field("Rss:")
}

/// Resident memory of this process in bytes that no file stands behind.
#[cfg(feature = "peers")]
pub(crate) fn anonymous() -> Result<u64> {
    field("Anonymous:")
}

/// Has the kernel keep the peak anew from here on.
pub(crate) fn forget_peak() -> Result<()> {
    let path = "/proc/self/clear_refs";
    std::fs::write(path, "5").map_err(Error::context(format!("failed to write to `{path}`")))
}

/// The most resident memory of this process since it began, or since [`forget_peak`], in bytes.
pub(crate) fn peak() -> Result<u64> {
    field_of("/proc/self/status", "VmHWM:")
}

fn field(name: &str) -> Result<u64> {
    // The kernel's exact account: the one in `statm` lags behind by some pages a thread.
    field_of("/proc/self/smaps_rollup", name)
}

fn field_of(path: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(path).map_err(Error::context(format!("failed to read `{path}`")))?;
    let kib = text
        .lines()
        .find_map(|it| it.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|it| it * 1024).ok_or_else(|| Error::new(format!("`{path}` has no `{name}` in it")))
}
