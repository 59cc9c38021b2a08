//! What was acknowledged is there, whatever is killed; these servers write to the disk as everywhere else.

use crate::clusters::{Project, kill};
use crate::support::*;
use harness::store::{Run, Store};
use std::fs;
use std::time::Duration;

fn begin(project: &Project) -> (Store, Run) {
    let mut store = project.open();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    (store, run)
}

/// Appends blocks until the server is gone; tells how many were acknowledged.
fn append_until_lost(store: &mut Store, run: &Run, from: u32) -> u32 {
    for block in from.. {
        let sets = [set("eager", block, &[f64::from(block)]), set("lazy", block, &[-1.0])];
        match store.append_block(run.id, &sets, &[]) {
            Ok(()) => {}
            Err(error) => {
                assert!(error.is_lost(), "{error:?}");
                return block;
            }
        }
    }
    unreachable!("blocks end before their numbers do")
}

#[test]
fn acknowledged_blocks_survive_a_killed_server() {
    let project = Project::new();
    let (mut store, run) = begin(&project);
    // However soon the first kill comes, something is there.
    store.append_block(run.id, &[set("eager", 0, &[0.0]), set("lazy", 0, &[-1.0])], &[]).unwrap();
    let mut acknowledged = 1;
    for (round, everything) in [false, true, false].into_iter().enumerate() {
        let victims = if everything { project.pids() } else { vec![project.postmaster()] };
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40 + 30 * round as u64));
            kill(&victims);
        });
        acknowledged = append_until_lost(&mut store, &run, acknowledged);
        killer.join().unwrap();
        store.reconnect().unwrap();
        let sets = store.run(run.id).unwrap().unwrap().sets;
        assert_eq!(sets.len(), 2, "no gaps");
        let stored = sets[0].values.len() as u32;
        // The block in flight may have been committed without the answer.
        assert!(stored == acknowledged || stored == acknowledged + 1, "{stored} of {acknowledged}");
        assert!((0..stored).map(f64::from).eq(sets[0].values.iter().copied()));
    }
    store.close().unwrap();
    project.assert_stopped();
}

#[test]
fn stale_files_of_a_killed_server_are_no_obstacle() {
    let project = Project::new();
    let (store, run) = begin(&project);
    kill(&project.pids());
    drop(store);
    // A live process of another kind has the number now.
    let pid_file = project.pg().join("data/postmaster.pid");
    let old = fs::read_to_string(&pid_file).unwrap();
    let rest = old.split_once('\n').unwrap().1;
    fs::write(&pid_file, format!("{}\n{rest}", std::process::id())).unwrap();
    let lock = project.pg().join("run/.s.PGSQL.5432.lock");
    fs::write(&lock, format!("{}\n{rest}", std::process::id())).unwrap();

    let mut store = project.open();
    assert!(store.run(run.id).unwrap().is_some());
    store.close().unwrap();
    project.assert_stopped();
}

#[test]
fn half_a_cluster_is_made_anew() {
    let project = Project::new();
    fs::create_dir_all(project.pg().join("data.tmp/base")).unwrap();
    fs::write(project.pg().join("data.tmp/PG_VERSION"), "15\n").unwrap();
    project.open().close().unwrap();
    assert!(!project.pg().join("data.tmp").exists());
}

#[test]
fn a_server_stopped_by_somebody_else_is_started_again() {
    let project = Project::new();
    let (mut store, run) = begin(&project);
    let postmaster = rustix::process::Pid::from_raw(project.postmaster()).unwrap();
    rustix::process::kill_process(postmaster, rustix::process::Signal::INT).unwrap();
    let acknowledged = append_until_lost(&mut store, &run, 0);
    store.reconnect().unwrap();
    let data = store.run(run.id).unwrap().unwrap();
    assert!(data.sets.first().map_or(0, |it| it.values.len() as u32) >= acknowledged);
    store.close().unwrap();
}
