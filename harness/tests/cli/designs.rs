//! Designs beside one process an arm that answers once a sample: slices, several processes, and revisions as arms.

use crate::support::{Experiment, Project, Transcript, said, signal, wait_until};

const PROCESSES: Experiment = Experiment { warmups: 2, samples: 12, ..Experiment::FASTER };

/// A project whose experiment has more keys in [design].
fn designed(experiment: &Experiment, keys: &str) -> Project {
    let project = Project::with(experiment);
    let samples = format!("samples = {}\n", experiment.samples);
    project.edit("experiments/faster.toml", &samples, &format!("{samples}{keys}"));
    project
}

#[test]
fn processes_are_the_unit_and_slices_are_not() {
    let project = designed(&PROCESSES, "clock = \"thread-cpu\"\nslices = 5\nprocesses = 4\n");
    let _held = project.hold();
    project.write("asked", "");
    // Every process has noise of its own: by how many dozens of requests came before it.
    project.edit("worker.sh", "mean * 7919 + 17", "mean * 7919 + 17 + 1013 * ($(wc -l < asked) / 10)");
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--gate", "-q"]).check("processes");
    // 4 processes of 2 warm-ups and 3 samples, each of 5 slices, for both arms.
    assert_eq!(project.read("asked").lines().count(), 2 * 4 * (2 + 3) * 5);
    assert_eq!(project.sql("select count(*) from samples"), ["24"]);
    project.expect(0, &["render", "--check"]);
    project.expect(0, &["verify"]);
    let ledger = project.read("ledgers/demo.md");
    for line in [
        "each the mean of 5 slices that take turns with those of the other arms, after 2 warm-ups of each process",
        "4 worker processes for each arm of a cell, one after the other: the process is the unit of replication",
        "timed by CPU time of the thread",
    ] {
        assert!(ledger.contains(line), "`{line}` is not in:\n{ledger}");
    }
}

/// The rest is measured by the processes that the plan has for it.
#[test]
fn an_interrupted_run_goes_on_with_its_processes() {
    let project = designed(&PROCESSES, "slices = 3\nprocesses = 4\n");
    let _held = project.hold();
    project.write("asked", "");
    project.write("pause", "0.02\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(40);
    signal(run.pid(), "INT");
    assert_eq!(run.wait().code, Some(1));
    project.remove("pause");
    project.expect(0, &["run", "faster", "--resume", "-q"]);
    assert_eq!(
        project.sql("select arm, warmup, sum(n) from harness.sample_sets group by 1, 2 order by 1, 2"),
        ["a f 12", "a t 8", "b f 12", "b t 8"]
    );
    project.expect(0, &["verify"]);
}

/// On one processor there is none; on two, it is decided by the pairs.
#[test]
fn a_duet_takes_two_processors() {
    let rest =
        "[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n[decision]\ntest = \"wilcoxon\"\n";
    let project = designed(&Experiment { rest, ..Experiment::FASTER }, "mode = \"duet\"\n");
    let mut transcript = Transcript::of(&project);
    let harness = env!("CARGO_BIN_EXE_harness");
    let args = ["run", "faster", "-q"];
    let one =
        said(&mut project.program("taskset", &["-c", &first_processor(), harness, "run", "faster", "-q"]));
    transcript.say("on one processor").note(&args, &one);
    if std::thread::available_parallelism().is_ok_and(|it| it.get() > 1) {
        transcript.say("on two").run(&args).check("duet");
        let ledger = project.read("ledgers/demo.md");
        assert!(ledger.contains("both arms at once, each bound to a processor"), "{ledger}");
    }
}

/// What was in flight is measured again, by both arms at once as everything else.
#[test]
fn a_duet_that_was_killed_goes_on() {
    if std::thread::available_parallelism().is_ok_and(|it| it.get() < 2) {
        return;
    }
    let rest =
        "[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n[decision]\ntest = \"wilcoxon\"\n";
    let project = designed(&Experiment { rest, ..Experiment::FASTER }, "mode = \"duet\"\n");
    let _held = project.hold();
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(9);
    signal(run.pid(), "KILL");
    assert_eq!(run.wait().code, None);
    project.remove("pause");
    wait_until("the workers are gone", || project.workers().is_empty());
    let stored = project.sql("select count(*) from samples where arm = 'a'")[0].parse::<usize>().unwrap();
    assert!((2..10).contains(&stored), "{stored}");
    let told = project.expect(0, &["run", "faster", "--resume"]);
    assert!(told.out.contains("faster: ACCEPT"), "{told}");
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(project.sql(counted), ["a 10 10", "b 10 10"]);
    // 11 blocks of two, and at most the one that was in flight.
    let asked = project.read("asked").lines().count();
    assert!((22..=24).contains(&asked), "{asked}");
    project.expect(0, &["verify"]);
}

/// One that this process may use.
fn first_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("Cpus_allowed_list:")).unwrap();
    line.trim().chars().take_while(char::is_ascii_digit).collect()
}

/// The worker of the first commit; the one of the second takes 40 % of its time.
fn revisions(git: &str) -> Project {
    let project = Project::with(&Experiment { mean: [100, 100], ..Experiment::FASTER });
    project.write("build.sh", "mkdir -p out && cp worker.sh out/worker.sh && chmod +x out/worker.sh\n");
    project.commit("Build");
    project.edit("worker.sh", "value=$((mean * 1000", "value=$((mean * 400");
    project.commit("Take less time");
    for (arm, git) in [("a", git), ("b", "HEAD")] {
        let role = format!("[arms.{arm}]\n");
        let keys = "command = [\"out/worker.sh\"]\nbuild = [\"sh\", \"build.sh\"]\n";
        project.edit("experiments/faster.toml", &role, &format!("{role}git = \"{git}\"\n{keys}"));
    }
    project
}

#[test]
fn a_branch_is_measured_against_its_origin() {
    let project = revisions("HEAD~1");
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--gate", "-q"]);
    // The second run finds both builds.
    let again = project.expect(0, &["run", "faster"]);
    assert!(!again.err.contains("building"), "{again}");
    let arms = "select arm, build->>'commit', build->>'command', encode(binary_sha256, 'hex') from run_arms \
                where run_id = (select max(run_id::text)::uuid from runs) order by arm";
    let arms = project.sql(arms);
    let commit = |revision: &str| project.git_says(&["rev-parse", revision]);
    assert!(arms[0].starts_with(&format!("a {} [\"sh\",\"build.sh\"] ", commit("HEAD~1"))), "{arms:?}");
    assert!(arms[1].starts_with(&format!("b {} ", commit("HEAD"))), "{arms:?}");
    assert_ne!(arms[0].rsplit(' ').next(), arms[1].rsplit(' ').next());
    project.expect(0, &["verify"]);
    transcript.check("revisions");
}

#[test]
fn a_revision_that_is_not_there_or_does_not_build_is_told() {
    let project = revisions("v9");
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "-q"]);
    project.edit("experiments/faster.toml", "git = \"v9\"", "git = \"broken\"");
    project.write("build.sh", "echo compiling; echo 'worker.c:7: error: expected ;' >&2; exit 3\n");
    project.commit("Break the build");
    project.git(&["tag", "broken"]);
    transcript.run(&["run", "faster", "-q"]);
    transcript.check("revisions-missing");
    // Nothing is left of the build that failed.
    assert_eq!(project.git_says(&["worktree", "list"]).lines().count(), 1);
    let left: Vec<_> = std::fs::read_dir(project.path(".harness/builds")).unwrap().flatten().collect();
    assert!(left.iter().all(|it| it.file_type().unwrap().is_file()), "{left:?}");
}
