//! The private cluster: made from nothing, shared, adopted, stopped by the last one out.

use crate::support::*;
use harness::store::cluster::{Cluster, ClusterOptions};
use harness::store::{Store, StoreError};
use postgres::{Client, NoTls};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A project that starts no server which outlives the test, even when that fails.
pub(crate) struct Project {
    dir: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn pg(&self) -> PathBuf {
        self.path().join(".harness/pg")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&options(self.path())).unwrap()
    }

    pub(crate) fn pids(&self) -> Vec<i32> {
        pids_in(&self.pg().join("data"))
    }

    #[track_caller]
    pub(crate) fn assert_stopped(&self) {
        assert!(self.pids().is_empty(), "{:?} still run", self.pids());
    }

    pub(crate) fn postmaster(&self) -> i32 {
        let text = fs::read_to_string(self.pg().join("data/postmaster.pid")).unwrap();
        text.lines().next().unwrap().parse().unwrap()
    }

    pub(crate) fn options(&self) -> ClusterOptions {
        cluster_options(&self.pg())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        kill(&self.pids());
    }
}

/// The processes that work in a folder.
pub(crate) fn pids_in(data: &Path) -> Vec<i32> {
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data))
        .collect()
}

pub(crate) fn kill(pids: &[i32]) {
    for pid in pids {
        if let Some(pid) = rustix::process::Pid::from_raw(*pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Another process that holds the project's store open until it is killed.
fn other_process(project: &Project) -> Child {
    let ready = project.path().join("ready");
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "clusters::holds_a_store_open", "--ignored"])
        .env("HARNESS_TEST_HOLD", project.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready.exists() {
        assert!(Instant::now() < deadline, "the other process does not open the store");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
#[ignore = "the other process of other tests"]
fn holds_a_store_open() {
    let Some(project) = std::env::var_os("HARNESS_TEST_HOLD").map(PathBuf::from) else { return };
    let store = Store::open(&options(&project)).unwrap();
    fs::write(project.join("ready"), "").unwrap();
    std::thread::sleep(Duration::from_secs(120));
    drop(store);
}

#[test]
fn a_first_use_makes_everything_and_the_last_one_stops_it() {
    let project = Project::new();
    let mut first = project.open();
    first.register(&registration("exp-1-lazy", 1)).unwrap();
    assert!(first.is_private() && first.location().contains(".harness/pg"));
    assert!(first.server_version().split('.').next().unwrap().parse::<u32>().unwrap() >= 14);
    let server = project.postmaster();

    let mut second = project.open();
    assert_eq!(second.experiments().unwrap().len(), 1);
    first.close().unwrap();
    assert_eq!(project.postmaster(), server);
    assert_eq!(second.experiments().unwrap().len(), 1);

    // Another program that is connected keeps the server; who stops it says so.
    let mut psql = Client::connect(&second.url(), NoTls).unwrap();
    drop(second);
    assert!(psql.query_one("select count(*) from samples", &[]).is_ok());
    drop(psql);

    let mut again = project.open();
    assert_eq!(again.experiments().unwrap().len(), 1);
    assert_eq!(project.postmaster(), server);
    again.close().unwrap();
    project.assert_stopped();
    assert!(!project.pg().join("data/postmaster.pid").exists());
}

#[test]
fn a_server_can_be_left_to_other_programs_and_stopped() {
    let project = Project::new();
    let store = project.open();
    let (url, server) = (store.url(), project.postmaster());
    store.leave();
    let mut psql = Client::connect(&url, NoTls).unwrap();
    assert!(psql.query_one("select count(*) from samples", &[]).is_ok());
    let store = project.open();
    assert_eq!(project.postmaster(), server);
    assert!(store.stop().unwrap());
    project.assert_stopped();
    assert!(psql.query_one("select 1", &[]).is_err());
}

#[test]
fn a_server_is_shared_by_processes_and_adopted_from_a_killed_one() {
    let project = Project::new();
    let mut other = other_process(&project);
    let server = project.postmaster();
    let store = project.open();
    store.close().unwrap();
    assert_eq!(project.postmaster(), server, "the other process still uses it");

    other.kill().unwrap();
    other.wait().unwrap();
    assert!(project.pids().contains(&server), "nobody has stopped it");
    let store = project.open();
    assert_eq!(project.postmaster(), server);
    store.close().unwrap();
    project.assert_stopped();
}

#[test]
fn eight_first_uses_at_once_make_one_cluster() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let project = &project;
            scope.spawn(move || {
                let mut store = project.open();
                store.register(&registration(&format!("exp-{i}"), 1)).unwrap();
                store.close().unwrap();
            });
        }
    });
    project.assert_stopped();
    assert_eq!(project.open().experiments().unwrap().len(), 8);
    assert!(!project.pg().join("data.tmp").exists());
}

#[test]
fn a_long_path_has_its_socket_elsewhere() {
    let project = Project::new();
    let deep = project.path().join("a".repeat(60)).join("b".repeat(60));
    fs::create_dir_all(&deep).unwrap();
    let store = Store::open(&options(&deep)).unwrap();
    assert!(!store.url().contains("aaaa"), "{}", store.url());
    let folder = store.url().split_once("host=").unwrap().1.split('&').next().unwrap().to_owned();
    assert!(Path::new(&folder).exists());
    store.close().unwrap();
    assert!(pids_in(&deep.join(".harness/pg/data")).is_empty());
    assert!(!Path::new(&folder).exists());
}

#[test]
fn an_open_socket_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    fs::create_dir_all(project.pg().join("run")).unwrap();
    fs::set_permissions(project.pg().join("run"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Store::open(&options(project.path())).unwrap_err();
    assert!(error.to_string().contains("mode 0700"), "{error}");
    assert!(error.hint().unwrap().contains("chmod"));
}

#[test]
fn data_of_another_major_version_are_refused() {
    let project = Project::new();
    project.open().close().unwrap();
    let version = project.pg().join("data/PG_VERSION");
    let major: u32 = fs::read_to_string(&version).unwrap().trim().parse().unwrap();
    fs::write(&version, "9\n").unwrap();
    let error = Store::open(&options(project.path())).unwrap_err();
    assert!(matches!(error, StoreError::NoPostgres { needed: Some(9), .. }), "{error}");
    assert!(error.hint().unwrap().contains("postgresql-9"));

    let bin = bin_of(&project, major);
    let named = harness::store::StoreOptions { pg_bin: Some(bin), ..options(project.path()) };
    let error = Store::open(&named).unwrap_err();
    assert!(matches!(error, StoreError::Major { needed: 9, found, .. } if found == major), "{error}");
    assert!(error.to_string().contains("holds data of PostgreSQL 9"), "{error}");

    fs::write(&version, "wat\n").unwrap();
    let error = Store::open(&options(project.path())).unwrap_err();
    assert!(error.to_string().contains("`wat`, which is no version"), "{error}");
    project.assert_stopped();
}

/// The folder of the programs that served the project last.
fn bin_of(project: &Project, major: u32) -> PathBuf {
    fs::write(project.pg().join("data/PG_VERSION"), format!("{major}\n")).unwrap();
    let store = project.open();
    let program = fs::read_link(format!("/proc/{}/exe", project.postmaster())).unwrap();
    store.close().unwrap();
    fs::write(project.pg().join("data/PG_VERSION"), "9\n").unwrap();
    program.parent().unwrap().to_owned()
}

#[test]
fn named_binaries_are_these_or_none() {
    let project = Project::new();
    let named =
        harness::store::StoreOptions { pg_bin: Some(project.path().to_owned()), ..options(project.path()) };
    let error = Store::open(&named).unwrap_err();
    assert!(matches!(error, StoreError::NoPostgres { .. }));
    assert!(error.to_string().contains(&project.path().display().to_string()), "{error}");
    assert!(error.hint().unwrap().contains("--database-url"));
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    let project = Project::new();
    let options = ClusterOptions {
        settings: vec![
            ("no_such_setting".to_owned(), "1".to_owned()),
            ("fsync".to_owned(), "off".to_owned()),
        ],
        ..project.options()
    };
    let error = Cluster::acquire(&options, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no_such_setting"), "{error}");
}

#[test]
fn a_strangers_server_on_the_socket_is_refused() {
    let host = Project::new();
    let guest = Project::new();
    let cluster = Cluster::acquire(&host.options(), &|_| {}).unwrap();
    let mine = Cluster::acquire(&guest.options(), &|_| {}).unwrap();
    // The guest's socket leads to the host's server.
    let socket = guest.pg().join("run/.s.PGSQL.5432");
    fs::remove_file(&socket).unwrap();
    std::os::unix::fs::symlink(host.pg().join("run/.s.PGSQL.5432"), &socket).unwrap();
    let error = Store::open(&options(guest.path())).unwrap_err();
    assert!(error.to_string().contains("another server answers"), "{error}");
    mine.release().unwrap();
    cluster.release().unwrap();
}

#[test]
fn a_discarded_cluster_leaves_nothing() {
    let project = Project::new();
    let cluster = Cluster::acquire(&project.options(), &|_| {}).unwrap();
    assert!(cluster.discard().unwrap());
    assert!(!project.pg().exists());
}
