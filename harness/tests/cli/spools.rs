//! Runs that no database keeps while they are measured, and how they get into one.

use crate::support::{Experiment, Project, Running, Said, said, signal, wait_until};
use std::process::Stdio;

/// No Postgres to be had, and no network to fetch it from.
const NONE: [(&str, &str); 2] = [("HARNESS_PG_BIN", "/nonexistent"), ("HARNESS_PG_AUTOINSTALL", "0")];

#[track_caller]
fn without(project: &Project, code: i32, args: &[&str]) -> Said {
    let told = said(project.command(args).envs(NONE));
    assert_eq!(told.code, Some(code), "harness {}\n{told}", args.join(" "));
    told
}

fn start_without(project: &Project, args: &[&str]) -> Running {
    let mut command = project.command(args);
    Running::of(command.envs(NONE).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// The runs that have a spool.
fn spools(project: &Project) -> Vec<String> {
    let folders = std::fs::read_dir(project.path(".harness/spool")).into_iter().flatten().flatten();
    let mut names: Vec<_> = folders.map(|it| it.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn without_postgres_everything_is_measured_decided_and_written_and_loaded_later() {
    let project = Project::with(&Experiment::FASTER);
    let told = without(&project, 0, &["register", "faster"]);
    told.complains(&["warning: no PostgreSQL (14 or newer) found", "for a store: install it"]);
    let digest = told.out.trim().rsplit(':').next().unwrap().to_owned();
    without(&project, 0, &["check"]);
    let told = without(&project, 0, &["run", "faster"]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    told.complains(&[
        "is kept in `.harness/spool/",
        "until a store has it: harness db sync",
        "plots/faster/",
    ]);
    // A file that is not what was registered is refused as ever.
    project.edit("experiments/faster.toml", "samples = 10", "samples = 11");
    without(&project, 5, &["run", "faster"]).complains(&["is not what was registered", "+ samples = 11"]);
    project.edit("experiments/faster.toml", "samples = 11", "samples = 10");
    let told = without(&project, 0, &["run", "faster"]);
    assert!(told.out.contains("faster: ACCEPT (a replication)"), "{told}");
    assert!(without(&project, 0, &["list"]).out.contains("ACCEPT"));
    let shown = without(&project, 0, &["show", "faster"]);
    assert!(shown.out.matches("ACCEPT").count() == 3, "{shown}");
    without(&project, 0, &["render", "--check"]);
    let ledger = project.read("ledgers/demo.md");
    assert!(!project.path(".harness/pg/data").exists());
    let kept = spools(&project);
    assert_eq!(kept.len(), 3, "two runs and a registration: {kept:?}");
    without(&project, 1, &["db", "sync"]).complains(&["error: no PostgreSQL"]);
    assert_eq!(spools(&project), kept);

    let told = project.expect(0, &["db", "sync", "--format", "json"]);
    let loaded = told.json();
    let loaded = loaded.as_array().unwrap();
    assert_eq!(loaded.len(), 2, "{told}");
    for (line, id) in loaded.iter().zip(&kept) {
        assert_eq!((line["run"].as_str(), line["outcome"].as_str()), (Some(id.as_str()), Some("loaded")));
        assert_eq!((line["samples"].as_u64(), line["state"].as_str()), (Some(20), Some("done")));
    }
    assert!(spools(&project).is_empty());
    let again = project.expect(0, &["db", "sync"]);
    again.complains(&["nothing waits in the spool"]);
    assert!(again.out.is_empty(), "{again}");
    assert_eq!(project.sql("select count(*) from samples"), ["40"]);
    assert_eq!(project.sql("select verdict from harness.verdicts"), ["accept", "accept"]);
    assert_eq!(project.sql("select encode(sha256, 'hex') from harness.preregistrations"), [digest.trim()]);
    // Frozen before the first sample, as the spool said.
    let frozen = "select count(*) from harness.preregistrations p, harness.runs r where p.registered_at < r.started_at";
    assert_eq!(project.sql(frozen), ["2"]);
    project.expect(0, &["render", "--check"]);
    assert_eq!(project.read("ledgers/demo.md"), ledger);
}

#[test]
fn a_run_without_postgres_is_resumed_with_and_without_it() {
    let project = Project::with(&Experiment::FASTER);
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = start_without(&project, &["run", "faster"]);
    project.wait_for_requests(9);
    signal(run.pid(), "KILL");
    run.wait();
    let run = start_without(&project, &["run", "faster", "--resume"]);
    project.wait_for_requests(14);
    signal(run.pid(), "INT");
    let told = run.wait();
    told.complains(&["interrupted; all finished blocks of run ", "is kept in `.harness/spool/"]);
    project.remove("pause");
    let told = project.expect(0, &["run", "faster", "--resume"]);
    told.complains(&["resuming run "]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(project.sql(counted), ["a 10 10", "b 10 10"]);
    let states = project.sql("select state from harness.run_events order by seq");
    assert_eq!(states, ["running", "resumed", "aborted", "resumed", "done"]);
    assert!(spools(&project).is_empty());
    assert!(project.read("asked").lines().count() <= 26);
}

#[test]
fn a_storm_of_kills_leaves_the_plan_as_it_was_and_every_sample_once() {
    let project = Project::with(&Experiment { samples: 30, ..Experiment::FASTER });
    project.write("asked", "");
    project.write("pause", "0.01\n");
    let asked = || project.read("asked").lines().map(str::to_owned).collect::<Vec<_>>();
    let mut starts = vec![0];
    for i in 0..9_u64 {
        let first = asked().len();
        let run = project.start(if i == 0 { &["run", "faster"] } else { &["run", "faster", "--resume"] });
        project.wait_for_requests(first + 1 + (i as usize * 5) % 7);
        // Anywhere within a block, or between two.
        std::thread::sleep(std::time::Duration::from_micros(i * 3_700 % 25_000));
        signal(run.pid(), "KILL");
        assert_eq!(run.wait().code, None);
        wait_until("the workers are gone", || project.workers().is_empty());
        starts.push(asked().len());
    }
    project.remove("pause");
    let told = project.expect(0, &["run", "faster", "--resume"]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    // What was asked twice is the block that was being measured, at each kill.
    let asked = asked();
    let mut order: Vec<&String> = Vec::new();
    let mut again = vec![0; starts.len() + 1];
    for (i, line) in asked.iter().enumerate() {
        if order.contains(&line) {
            let start = starts.iter().filter(|it| **it <= i).count();
            again[start] += 1;
            assert!(i - starts[start - 1] < 2, "asked again in the middle: {line}");
            assert!(order.iter().rev().take(2).any(|it| *it == line), "asked again out of order: {line}");
        } else {
            order.push(line);
        }
    }
    assert_eq!(order.len(), 62);
    assert!(again.iter().all(|it| *it <= 2), "{again:?}");
    // Blocks come in their order, both arms of each.
    let blocks: Vec<&str> = order.iter().map(|it| it.split_once(' ').unwrap().1).collect();
    assert!(blocks.chunks(2).all(|pair| pair[0] == pair[1]), "{blocks:?}");
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(project.sql(counted), ["a 30 30", "b 30 30"]);
    assert_eq!(project.sql("select count(*) from harness.runs"), ["1"]);
    assert!(spools(&project).is_empty());
    project.expect(0, &["render", "--check"]);
}

#[test]
fn eight_runs_at_once_without_postgres_are_all_decided_and_all_loaded() {
    let project = Project::new();
    let ids = ["one", "two", "three", "four", "five", "six", "seven"];
    for id in ids {
        project.add(&Experiment { id, ..Experiment::FASTER });
    }
    // The same experiment twice: both register it, and one of the two decides.
    let all: Vec<_> =
        ids.iter().chain(["one"].iter()).map(|id| start_without(&project, &["run", id])).collect();
    for it in all {
        let told = it.wait();
        assert!(told.code == Some(0) && told.out.contains("ACCEPT"), "{told}");
    }
    without(&project, 0, &["render", "--check"]);
    let ledger = project.read("ledgers/demo.md");
    for id in ids {
        assert!(ledger.contains(&format!("## {id}: Faster")), "{ledger}");
    }
    // Whoever comes first loads them; nobody loads one twice.
    let readers: Vec<_> = (0..4).map(|_| project.start(&["db", "sync"])).collect();
    for it in readers {
        let told = it.wait();
        assert_eq!(told.code, Some(0), "{told}");
    }
    project.expect(0, &["db", "sync"]);
    assert!(spools(&project).is_empty());
    assert_eq!(project.sql("select count(*) from samples"), ["160"]);
    assert_eq!(project.sql("select count(*) from harness.verdicts"), ["8"]);
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_server_that_becomes_read_only_in_the_middle_costs_nothing() {
    let project = Project::with(&Experiment::FASTER);
    let mut held = project.hold();
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(6);
    let set = |to: &str| format!("alter system set default_transaction_read_only = {to}");
    held.batch_execute(&set("on")).unwrap();
    held.batch_execute("select pg_reload_conf()").unwrap();
    let told = run.wait();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    told.complains(&["(SQLSTATE 25006); the run goes on, its spool keeps it", "until a store has it"]);
    assert_eq!(told.err.matches("warning: ").count(), 2, "told once, and where it is: {told}");
    assert_eq!(spools(&project).len(), 1);
    held.batch_execute(&set("off")).unwrap();
    held.batch_execute("select pg_reload_conf()").unwrap();
    // Any command loads it.
    let listed = project.expect(0, &["list", "-v"]);
    listed.complains(&["loaded the spool of run "]);
    assert!(spools(&project).is_empty());
    assert_eq!(project.sql("select arm, count(*) from samples group by arm order by arm"), ["a 10", "b 10"]);
    assert_eq!(project.read("asked").lines().count(), 22);
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_full_disk_under_the_spool_stops_the_run_which_goes_on_when_there_is_space() {
    let project = Project::with(&Experiment { samples: 150, ..Experiment::FASTER });
    let probe = ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"];
    if said(&mut project.program("unshare", &probe)).code != Some(0) {
        println!("skipped: nothing can be mounted here");
        return;
    }
    let held = project.hold();
    std::fs::create_dir_all(project.path(".harness/spool")).unwrap();
    project.write("asked", "");
    // The mount is seen by these processes alone, and is gone with them.
    let script = "mount -t tmpfs -o size=32k none .harness/spool || exit 9; \
                  \"$0\" run faster; echo \"code $?\"; wc -c .harness/spool/*/records; \
                  \"$0\" list; echo \"code $?\"; \
                  mount -o remount,size=8m .harness/spool || exit 9; \
                  \"$0\" run faster --resume; echo \"code $?\"; ls .harness/spool | wc -l";
    let told = said(
        &mut project.program("unshare", &["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_harness")]),
    );
    assert_eq!(told.code, Some(0), "{told}");
    told.complains(&[
        "stopped, all blocks before this one are stored: failed to append to `",
        "No space left on device",
        "free some space: nothing that was written is lost; then go on with it: harness run faster --resume",
        "resuming run ",
    ]);
    let codes: Vec<&str> = told.out.lines().filter(|it| it.starts_with("code ")).collect();
    assert_eq!(codes, ["code 1", "code 0", "code 0"], "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    assert_eq!(told.out.lines().last().map(str::trim), Some("0"), "the spool is gone: {told}");
    drop(held);
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(project.sql(counted), ["a 150 150", "b 150 150"]);
    let asked = project.read("asked").lines().count();
    assert!((302..=304).contains(&asked), "{asked}");
}

#[test]
fn a_full_disk_under_the_server_costs_nothing() {
    let project = Project::with(&Experiment::FASTER);
    let probe = ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"];
    if said(&mut project.program("unshare", &probe)).code != Some(0) {
        println!("skipped: nothing can be mounted here");
        return;
    }
    std::fs::create_dir_all(project.path(".harness/pg")).unwrap();
    project.write("asked", "");
    project.write("pause", "0.1\n");
    let script = "mount -t tmpfs -o size=64m none .harness/pg || exit 9; \
                  \"$0\" run faster & \
                  for i in $(seq 600); do [ \"$(wc -l < asked)\" -ge 3 ] && break; sleep 0.05; done; \
                  cat /dev/zero > .harness/pg/fill; wait $!; echo \"code $?\"; \
                  rm .harness/pg/fill; \"$0\" db sync; echo \"code $?\"; \"$0\" render --check; echo \"code $?\"; \
                  ls .harness/spool | wc -l; \"$0\" db stop -q";
    let script = ["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_harness")];
    let told = said(&mut project.program("unshare", &script));
    let codes: Vec<&str> = told.out.lines().filter(|it| it.starts_with("code ")).collect();
    assert_eq!(codes, ["code 0", "code 0", "code 0"], "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    assert!(told.out.contains("loaded"), "{told}");
    assert_eq!(told.out.lines().last().map(str::trim), Some("0"), "the spool is gone: {told}");
    told.complains(&["No space left on device", "the run goes on, its spool keeps it"]);
    assert_eq!(project.read("asked").lines().count(), 22);
}

#[test]
fn a_damaged_spool_is_named_and_keeps_nothing_else_back() {
    let project = Project::with(&Experiment::FASTER);
    for _ in 0..2 {
        without(&project, 0, &["run", "faster"]);
    }
    let kept = spools(&project);
    let path = project.path(&format!(".harness/spool/{}/records", kept[0]));
    let whole = std::fs::read(&path).unwrap();
    let mut bad = whole.clone();
    bad[whole.len() / 2] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    without(&project, 5, &["list"]).complains(&["is damaged: record "]);
    let told = project.expect(5, &["db", "sync"]);
    told.complains(&["is damaged: record ", "is not what was written, a whole one follows at byte "]);
    assert!(told.out.contains("failed") && told.out.contains("loaded"), "{told}");
    assert_eq!(spools(&project), kept[..1]);
    project.expect(0, &["list"]).complains(&["warning: the spool of run ", "cannot be loaded"]);
    // Nothing was changed in it, and a copy heals it.
    assert_eq!(std::fs::read(&path).unwrap(), bad);
    std::fs::write(&path, &whole).unwrap();
    project.expect(0, &["db", "sync"]);
    assert!(spools(&project).is_empty());
    assert_eq!(project.sql("select count(*) from samples"), ["40"]);
}
