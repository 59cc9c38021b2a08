use harness::worker::{Error, Result};

/// Resident memory of this process in bytes, mapped files included.
pub(crate) fn resident() -> Result<u64> {
    field("Rss:")
}

/// Resident memory of this process in bytes that no file stands behind.
pub(crate) fn anonymous() -> Result<u64> {
    field("Anonymous:")
}

/// Most resident memory of this process that no file stands behind, in bytes, at the ends of twenty parts of `ops`
/// operations, and the sum of what these gave.
///
/// The kernel's own peak is of an account that lags behind by up to 32 pages a processor, and has the pages of the program in
/// it, which come 16 at a time: each more than what an allocator that serves some hundred blocks adds to a process.
pub(crate) fn most_anonymous(ops: u64, mut run: impl FnMut(u64) -> Result<u64>) -> Result<(u64, u64)> {
    const PARTS: u64 = 20;
    let (mut most, mut sum) = (0, 0u64);
    for part in 0..PARTS {
        sum = sum.wrapping_add(run(ops / PARTS + u64::from(part < ops % PARTS))?);
        most = most.max(anonymous()?);
    }
    Ok((most, sum))
}

fn field(name: &str) -> Result<u64> {
    // The kernel's exact account: the one in `statm` lags behind by some pages a thread.
    let path = "/proc/self/smaps_rollup";
    let text = std::fs::read_to_string(path).map_err(Error::context(format!("failed to read `{path}`")))?;
    let kib = text
        .lines()
        .find_map(|it| it.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|it| it * 1024).ok_or_else(|| Error::new(format!("`{path}` has no `{name}` in it")))
}
