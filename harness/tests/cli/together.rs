//! Several processes in one project.

use crate::support::{Experiment, Project};

#[test]
fn eight_readers_of_a_fresh_project() {
    let project = Project::with(&Experiment::FASTER);
    let all: Vec<_> = (0..8).map(|_| project.start(&["list"])).collect();
    for it in all {
        let told = it.wait();
        assert!(told.code == Some(0) && told.out.contains("faster"), "{told}");
    }
    assert!(project.postmaster().is_none());
}

#[test]
fn runs_of_several_experiments_at_once_all_stand_in_the_ledger() {
    let project = Project::new();
    let ids = ["one", "two", "three", "four"];
    for id in ids {
        project.add(&Experiment { id, ..Experiment::FASTER });
    }
    let mut all: Vec<_> = ids.iter().map(|id| project.start(&["run", id])).collect();
    // The same experiment twice: both register it, and one of the two decides.
    all.push(project.start(&["run", "one"]));
    for it in all {
        let told = it.wait();
        assert!(told.code == Some(0) && told.out.contains("ACCEPT"), "{told}");
    }
    let ledger = project.read("ledgers/demo.md");
    for id in ids {
        assert!(ledger.contains(&format!("## {id}: Faster")), "{ledger}");
    }
    assert!(ledger.contains("1 of 1, on 1 host"), "{ledger}");
    project.expect(0, &["render", "--check"]);
    // The evidence is the store: a fresh one renders the same.
    std::fs::remove_dir_all(project.path(".harness")).unwrap();
    project.expect(0, &["render", "--check"]);
    assert!(project.postmaster().is_none());
}
