//! Workers that misbehave, disks that are full and hosts that are busy.

use crate::support::{Experiment, Project, Transcript, said, signal, wait_until};

#[test]
fn a_run_whose_worker_misbehaves_is_invalid_and_the_next_one_decides() {
    let project = Project::with(&Experiment::FASTER);
    let held = project.hold();
    let mut transcript = Transcript::of(&project);
    let troubles = [
        ("40 3 nan", "a sample is a finite number"),
        ("40 4 garbage", "answered `Segmentation fault`"),
        ("40 5 die", "ended with exit status: 101"),
        ("40 2 hang", "gave no answer in 2 s and was killed"),
        ("40 1 digest", "answers `other`, arm `a` answered `d`"),
        ("40 0 echo", "runs with `mean` = `41`, registered is `40`"),
    ];
    let mut runs = Vec::new();
    for (i, (trouble, reason)) in troubles.iter().enumerate() {
        project.write("trouble", &format!("{trouble}\n"));
        let told = project.harness(&["run", "faster"]);
        if i > 0 && trouble.contains("digest") {
            // Which arm comes first is random.
            assert!(told.err.contains("answers `other`"), "{told}");
        } else {
            assert!(told.err.contains(reason), "{told}");
        }
        assert!(told.code == Some(1) && told.out.is_empty(), "{told}");
        told.complains(&["is INVALID: worker of arm `b`", "ledgers/demo.md", "ledgers/evidence/faster/run-"]);
        if *trouble == "40 5 die" {
            transcript.say("a worker dies").note(&["run", "faster"], &told);
        }
        let run = project.run_id();
        let stored =
            project.sql(&format!("select count(*) from samples where run_id = '{run}' and arm = 'b'"));
        // The n-th sample of the process, of which the first was a warm-up.
        let good: i64 = trouble[3..4].parse().unwrap();
        let good = if trouble.contains("digest") { good + 1 } else { good };
        assert_eq!(stored, [(good - 1).max(0).to_string()], "{trouble}");
        assert!(project.workers().is_empty(), "{trouble}");
        let ledger = project.read("ledgers/demo.md");
        assert!(ledger.contains("### Verdict: INVALID"), "{ledger}");
        runs.push(run);
    }
    let ledger = project.read("ledgers/demo.md");
    // The first invalid run stands for all, with its reason.
    assert!(ledger.contains("a sample is a finite number"), "{ledger}");
    let json = project.harness(&["run", "faster", "--format", "json"]);
    assert!(json.code == Some(1) && json.json()["label"] == "INVALID", "{json}");
    let failed = project.sql("select count(*) from harness.run_events where state = 'failed'");
    assert_eq!(failed, ["7"]);
    let shown = project.expect(0, &["show", &runs[2]]);
    assert!(
        shown.out.contains("faster: INVALID (set aside)") && shown.out.contains("exit status: 101"),
        "{shown}"
    );
    project.remove("trouble");
    transcript.say("the worker is repaired, and the next run decides").run(&["run", "faster", "-q"]);
    transcript.check("worker");
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("### Verdict: ACCEPT") && ledger.matches("| INVALID").count() == 7, "{ledger}");
    // All of it is in the evidence: a fresh clone tells the same.
    drop(held);
    project.expect(0, &["db", "stop"]);
    std::fs::remove_dir_all(project.path(".harness")).unwrap();
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_worker_that_is_not_there_is_told_before_anything_is_registered() {
    let project = Project::with(&Experiment::FASTER);
    project.edit("experiments/faster.toml", "worker.sh", "wroker.sh");
    project.expect(1, &["run", "faster"]).complains(&["no worker `wroker.sh`"]);
    project.edit("experiments/faster.toml", "wroker.sh", "notes.txt");
    project.write("notes.txt", "no program");
    project
        .expect(1, &["run", "faster", "--quick"])
        .complains(&["`notes.txt` is not executable", "chmod +x"]);
    assert!(!project.path("ledgers").exists());
}

#[test]
fn a_full_disk_makes_a_run_invalid_with_a_clear_reason() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["db", "url"]);
    let probe = ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"];
    let may_mount = said(&mut project.program("unshare", &probe)).code == Some(0);
    if may_mount {
        // The mount is seen by this run alone, and is gone with it.
        std::fs::create_dir_all(project.path("target/bench-scratch")).unwrap();
        project.write("fill", "1000000\n");
        let script = "mount -t tmpfs -o size=64k none target/bench-scratch && exec \"$0\" run faster";
        let full = ["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_harness")];
        let told = said(&mut project.program("unshare", &full));
        assert_eq!(told.code, Some(1), "{told}");
        told.complains(&[
            "is INVALID: worker of arm",
            "refused: failed to write the data: No space left on device",
        ]);
        // Not even a folder can be made.
        let script = "mount -t tmpfs -o nr_inodes=1 none target/bench-scratch && exec \"$0\" run faster";
        let full = ["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_harness")];
        let told = said(&mut project.program("unshare", &full));
        assert_eq!(told.code, Some(1), "{told}");
        told.complains(&["is INVALID: failed to create scratch folder", "No space left on device"]);
        project.remove("fill");
    } else {
        project.write("trouble", "40 0 refuse\n");
        let told = project.expect(1, &["run", "faster"]);
        told.complains(&["is INVALID: worker of arm `b`", "No space left on device"]);
        project.remove("trouble");
    }
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("No space left on device"), "{ledger}");
    assert_eq!(project.sql("select count(*) from samples where arm = 'b'"), ["0"]);
    project.expect(0, &["run", "faster"]);
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_ledger_that_cannot_be_written_leaves_the_old_one() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["run", "faster"]);
    let before = project.read("ledgers/demo.md");
    // A folder in place of a plot: no right can be taken from root.
    project.remove("plots/faster/gain.svg");
    std::fs::create_dir(project.path("plots/faster/gain.svg")).unwrap();
    let told = project.expect(1, &["render"]);
    told.complains(&["failed to write `", "plots/faster/gain.svg`"]);
    assert_eq!(project.read("ledgers/demo.md"), before);
    let left: Vec<_> = std::fs::read_dir(project.path("plots/faster"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    std::fs::remove_dir(project.path("plots/faster/gain.svg")).unwrap();
    project.expect(0, &["render"]);
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_busy_host_is_refused_or_waited_for() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = load.split(' ').next().and_then(|it| it.parse::<f64>().ok()).is_some_and(|it| it > 0.0);
    let rest = "[environment]\nmax_load = 0.001\n";
    let project = Project::with(&Experiment { rest, ..Experiment::FASTER });
    if !busy {
        // A host that does nothing at all is fit for anything.
        project.expect(0, &["run", "faster"]);
        return;
    }
    let told = project.expect(6, &["run", "faster"]);
    told.complains(&["error: the host is too busy: its load is ", "registered is at most 0.001", "--wait"]);
    assert!(!project.path("ledgers/demo.md").exists());
    let waiting = project.start(&["run", "faster", "--wait", "-v"]);
    // It is past the store, and waits.
    wait_until("the server is up", || project.postmaster().is_some());
    std::thread::sleep(std::time::Duration::from_millis(500));
    let interrupted = std::time::Instant::now();
    signal(waiting.pid(), "INT");
    let told = waiting.wait();
    assert!(interrupted.elapsed().as_secs() < 3, "an interruption is not waited for");
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["waiting: the load is", "interrupted while waiting for a quiet host"]);
    // Rehearsals are no measurements.
    project.expect(0, &["run", "faster", "--quick"]);
}
