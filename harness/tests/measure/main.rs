//! The measuring loop over real worker processes: what they answer, and every way in which they can fail.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod lacking;

use harness::measure::{
    Conditions, Failure, Interrupt, Measured, Observation, Place, Program, Source, Stop, Workers, run,
    two_cores,
};
use harness::plan::Plan;
use harness::prereg::{BlockRule, Launch, Prereg, parse};
use harness::vocab::{Cell, Mode, Process, Scalar, Then};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

fn prereg(process: Process) -> Prereg {
    let text = format!(
        r#"
id = "demo"
title = "Demo"
ledger = "demo"
[worker]
command = ["worker.sh"]
system = "demo"
timeout = "2s"
[arms.a]
role = "control"
params.mode = "a"
[arms.b]
role = "treatment"
params.mode = "b"
[design]
warmups = 1
samples = 3
process = "{process}"
[metrics.time]
unit = "ms"
better = "lower"
[[guards]]
metric = "time"
margin = 0.05
"#
    );
    parse(&text, "demo.toml").unwrap()
}

fn program(args: &[&str]) -> Program {
    Program {
        path: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workers/worker.sh"),
        args: args.iter().map(|it| (*it).to_owned()).collect(),
        shown: vec!["worker.sh".to_owned()],
        binary: None,
        folder: None,
        built: None,
        others: Vec::new(),
    }
}

/// Runs the demo with arm b misbehaving, and returns what was handed over and how it ended.
fn measure(prereg: &Prereg, args: &[&str], done: &HashSet<Place>) -> (Vec<Measured>, Result<(), Failure>) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    let plan = Plan::new(prereg, 1);
    let never = Interrupt::new().unwrap();
    let mut workers =
        Workers::new(prereg, vec![program(&[]), program(args)], root, root, &never).padded(&plan);
    let mut all = Vec::new();
    let result = run(
        prereg,
        &plan,
        done,
        &[],
        &mut workers,
        |_, _| false,
        |_, measured| {
            all.push(measured);
            Ok::<_, std::convert::Infallible>(())
        },
    );
    let result = result.map_err(|stop| match stop {
        Stop::Failure(failure) => failure,
        Stop::Sink(never) => match never {},
    });
    (all, result)
}

/// The text of the failure when arm b misbehaves so at its sample 1, and how many values were kept.
#[track_caller]
fn failure(args: &[&str]) -> (String, Failure, usize) {
    let start = Instant::now();
    let (measured, result) = measure(&prereg(Process::PerArm), args, &HashSet::new());
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    let failure = result.unwrap_err();
    (failure.to_string(), failure, measured.iter().map(|it| it.sets.len()).sum())
}

#[test]
fn every_sample_is_handed_over_once() {
    for process in Process::ALL {
        let (measured, result) = measure(&prereg(*process), &[], &HashSet::new());
        result.unwrap();
        assert_eq!(measured.len(), 4);
        let sets: Vec<_> = measured.iter().flat_map(|it| &it.sets).collect();
        assert_eq!(sets.len(), 8);
        let last = sets.iter().filter(|it| it.arm == "a").map(|it| it.values[0]).next_back();
        // A process that lives through all blocks counts its samples; a fresh one begins anew.
        assert_eq!(last, Some(if *process == Process::PerArm { 4.5 } else { 1.5 }));
        assert!(sets.windows(2).all(|it| it[0].at_ns[0] <= it[1].at_ns[0]));
        let cells: Vec<_> = measured.iter().flat_map(|it| &it.cells).collect();
        assert_eq!(cells.len(), 2);
        assert!(cells.iter().all(|it| it.result == "d" && it.effective["mode"] == it.arm.as_str()));
    }
}

#[test]
fn what_is_stored_is_not_measured_again() {
    let done = HashSet::from([
        (String::new(), "a".to_owned(), true, 0),
        (String::new(), "b".to_owned(), true, 0),
        (String::new(), "b".to_owned(), false, 1),
    ]);
    let (measured, result) = measure(&prereg(Process::PerArm), &[], &done);
    result.unwrap();
    let sets: usize = measured.iter().map(|it| it.sets.len()).sum();
    assert_eq!(sets, 5);
}

#[test]
fn a_worker_that_ends_is_reported_with_its_last_words() {
    let (text, failure, kept) = failure(&["die", "1"]);
    assert_eq!(text, "worker of arm `b`, asked for sample 0, ended with exit status: 3");
    assert_eq!(failure.stderr(), ["last words"]);
    assert!(kept >= 2, "{kept} samples were handed over");
}

#[test]
fn a_worker_that_is_killed_is_reported_with_the_signal() {
    let (text, ..) = failure(&["kill", "0"]);
    assert_eq!(text, "worker of arm `b`, asked for warm-up 0, ended with signal: 9 (SIGKILL)");
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let (text, ..) = failure(&["hang", "2"]);
    assert_eq!(text, "worker of arm `b`, asked for sample 1, gave no answer in 2 s and was killed");
}

#[test]
fn processes_of_a_hanging_worker_are_killed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    failure(&["child", "0", file.to_str().unwrap()]);
    let pid = std::fs::read_to_string(&file).unwrap();
    let status = format!("/proc/{}/stat", pid.trim());
    // Gone, or dead and waiting for a parent that does not reap.
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(&status).map_or(true, |it| it.contains(") Z "))
    });
    assert!(gone, "process {pid} still runs");
}

#[test]
fn a_worker_that_closes_its_output_is_reported() {
    let (text, ..) = failure(&["close", "1"]);
    assert_eq!(text, "worker of arm `b`, asked for sample 0, closed its output");
}

#[test]
fn an_answer_that_is_none_is_quoted() {
    let (text, ..) = failure(&["garbage", "1"]);
    assert_eq!(
        text,
        "worker of arm `b`, asked for sample 0, answered `Segmentation fault`: \
         it is no answer of protocol 1: expected value at line 1 column 1"
    );
    let (text, ..) = failure(&["endless", "1"]);
    assert!(text.ends_with("xxx`: the line has no end"), "{text}");
}

#[test]
fn a_value_that_is_no_finite_number_is_refused() {
    for (what, found) in [("nan", "NaN"), ("huge", "1e400"), ("null", "null"), ("missing", "tiem")] {
        let (text, ..) = failure(&[what, "1"]);
        assert!(text.contains(found) && text.contains("sample 0"), "{text}");
    }
    let (text, ..) = failure(&["nan", "1"]);
    assert_eq!(
        text,
        "worker of arm `b`, asked for sample 0, answered \
         `{\"sample\":{\"values\":{\"time\":NaN},\"digest\":\"d\"}}`: a sample is a finite number"
    );
}

#[test]
fn another_answer_than_the_other_arms_is_a_failure() {
    let (text, failure, kept) = failure(&["wrong", "1"]);
    let first = if text.contains("arm `a` answered") { "a" } else { "b" };
    assert_eq!(
        text,
        format!("worker of arm `b`, asked for sample 0, answers `other`, arm `{first}` answered `d`")
    );
    assert!(failure.hint().is_some());
    assert!(kept >= 3, "the step in which it was found is kept: {kept}");
}

#[test]
fn an_arm_that_runs_with_another_configuration_is_refused() {
    let (text, ..) = failure(&["echo"]);
    assert_eq!(
        text,
        "worker of arm `b`, asked for prepare, runs with `mode` = `\"other\"`, registered is `b`"
    );
    let (text, ..) = failure(&["mute"]);
    assert_eq!(
        text,
        "worker of arm `b`, asked for prepare, does not read parameter `mode`, registered as `b`"
    );
}

#[test]
fn a_refusal_of_the_worker_is_passed_on() {
    let (text, ..) = failure(&["full"]);
    assert_eq!(
        text,
        "worker of arm `b`, asked for prepare, refused: \
         failed to write the trie: No space left on device (os error 28)"
    );
}

#[test]
fn a_flood_on_standard_error_does_not_block() {
    let (measured, result) = measure(&prereg(Process::PerArm), &["flood", "1"], &HashSet::new());
    result.unwrap();
    assert_eq!(measured.len(), 4);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = harness::measure::resolve(&Launch::Command(vec!["./no-such-worker".into()]), Path::new("/"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no worker `./no-such-worker`, neither below the project's root nor on PATH"
    );
}

#[test]
fn an_interruption_ends_the_wait_at_once() {
    let mut prereg = prereg(Process::PerArm);
    prereg.worker.timeout = Duration::from_secs(60);
    let program = program(&["hang"]);
    let scratch = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::new().unwrap();
    let start = Instant::now();
    let stop = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.trigger().unwrap();
        });
        let programs = vec![program.clone(), program];
        let mut workers = Workers::new(&prereg, programs, scratch.path(), scratch.path(), &interrupt);
        run(
            &prereg,
            &Plan::new(&prereg, 1),
            &HashSet::new(),
            &[],
            &mut workers,
            |_, _| false,
            |_, _| Ok::<_, ()>(()),
        )
    });
    assert!(matches!(stop, Err(Stop::Failure(Failure::Interrupted))), "{stop:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_cell_that_has_enough_is_left_for_the_next_one() {
    let mut prereg = prereg(Process::PerArm);
    prereg.params.push(("terms".to_owned(), vec![Scalar::Int(1), Scalar::Int(2)]));
    let plan = Plan::new(&prereg, 1);
    let mut source = Counting::default();
    let mut asked = Vec::new();
    let first = plan.cells()[0].clone();
    let enough = |cell: &Cell, blocks: u32| {
        asked.push((cell.to_string(), blocks));
        *cell == first && blocks == 1
    };
    run(&prereg, &plan, &HashSet::new(), &[], &mut source, enough, |_, _| Ok::<_, ()>(())).unwrap();
    let blocks = prereg.design.samples;
    let warmups = prereg.design.warmups;
    assert_eq!(source.made.len() as u32, 2 * (warmups + 1) + 2 * (warmups + blocks));
    assert_eq!(source.left, plan.cells());
    // Never of warm-ups, never before there is a block, never again of a cell that was left.
    let expected: Vec<_> = std::iter::once((first.to_string(), 1))
        .chain((1..blocks).map(|it| (plan.cells()[1].to_string(), it)))
        .collect();
    assert_eq!(asked, expected);
}

/// The worker counts its samples, so what it answers tells which process made it.
#[test]
fn each_process_makes_its_share_of_the_blocks_after_its_own_warm_ups() {
    let mut prereg = prereg(Process::PerArm);
    (prereg.design.samples, prereg.design.processes) = (6, 3);
    let (measured, result) = measure(&prereg, &[], &HashSet::new());
    result.unwrap();
    let all = |warmup: bool| -> Vec<(u32, f64)> {
        let sets = measured.iter().flat_map(|it| &it.sets).filter(|it| it.arm == "b" && it.warmup == warmup);
        sets.map(|it| (it.first_block, it.values[0])).collect()
    };
    assert_eq!(all(true), [(0, 1.5), (1, 1.5), (2, 1.5)]);
    assert_eq!(all(false), [(0, 2.5), (1, 3.5), (2, 2.5), (3, 3.5), (4, 2.5), (5, 3.5)]);
}

#[test]
fn a_sample_is_the_mean_of_its_slices() {
    // One warm-up of four slices, then three samples: the means of 5.5 .. 8.5 and so on; of 1.5 .. 4.5 in a fresh process.
    for (process, expected) in [(Process::PerArm, [7.0, 11.0, 15.0]), (Process::PerBlock, [3.0; 3])] {
        let mut prereg = prereg(process);
        prereg.design.slices = 4;
        let (measured, result) = measure(&prereg, &[], &HashSet::new());
        result.unwrap();
        for arm in ["a", "b"] {
            let sets = measured.iter().flat_map(|it| &it.sets).filter(|it| it.arm == arm && !it.warmup);
            assert_eq!(sets.map(|it| it.values[0]).collect::<Vec<_>>(), expected, "{process}");
        }
    }
}

/// Both arms are asked before either answers, each on a processor of its own, and they change places from block to block.
#[test]
fn a_duet_is_measured_at_once_on_two_processors() {
    let Some(cores) = two_cores() else { return };
    let mut prereg = prereg(Process::PerArm);
    (prereg.design.samples, prereg.design.mode) = (6, Mode::Duet);
    let (measured, result) = measure(&prereg, &["processor"], &HashSet::new());
    result.unwrap();
    let plan = Plan::new(&prereg, 1);
    let blocks: Vec<_> = (0..plan.len()).map(|it| plan.step(it)).filter(|it| !it.warmup).collect();
    let seats: Vec<f64> = measured
        .iter()
        .flat_map(|it| &it.sets)
        .filter(|it| it.arm == "b" && !it.warmup)
        .map(|it| it.values[0])
        .collect();
    let planned: Vec<f64> = blocks.iter().map(|it| cores[usize::from(it.arms()[1] == 1)] as f64).collect();
    assert_eq!(seats, planned);
    assert!(seats.chunks(2).all(|it| it[0] != it[1]), "{seats:?}");
    // What is missing of a block is measured as a duet again, and only that is kept.
    let done = HashSet::from([(String::new(), "a".to_owned(), false, 2)]);
    let (measured, result) = measure(&prereg, &["processor"], &done);
    result.unwrap();
    assert_eq!(measured.iter().map(|it| it.sets.len()).sum::<usize>(), 2 * 7 - 1);
}

/// The worker answers with the size of its environment, which every process has another of, and both arms of it the same.
#[test]
fn the_environment_of_each_process_is_padded_as_planned() {
    let mut prereg = prereg(Process::PerArm);
    (prereg.design.samples, prereg.design.processes, prereg.design.padding) = (4, 4, 4096);
    let (measured, result) = measure(&prereg, &["environment"], &HashSet::new());
    result.unwrap();
    let plan = Plan::new(&prereg, 1);
    let planned: Vec<u32> = (0..4).map(|it| plan.padding(0, it)).collect();
    let sizes: Vec<f64> = measured
        .iter()
        .flat_map(|it| &it.sets)
        .filter(|it| it.arm == "b" && !it.warmup)
        .map(|it| it.values[0])
        .collect();
    let more = |it: usize| (sizes[it] - sizes[0], f64::from(planned[it]) - f64::from(planned[0]));
    assert!((1..4).all(|it| more(it).0 == more(it).1), "{sizes:?} {planned:?}");
    assert_ne!(sizes[0], sizes[1]);
    let cells: Vec<_> = measured.iter().flat_map(|it| &it.cells).collect();
    assert!(
        cells.iter().all(|it| it.effective["HARNESS_PADDING"] == serde_json::json!(planned)),
        "{cells:?}"
    );
}

/// A slice whose work has another result spoils the sample: nothing of it is kept.
#[test]
fn a_wrong_slice_ends_the_run() {
    let mut prereg = prereg(Process::PerArm);
    prereg.design.slices = 4;
    let (measured, result) = measure(&prereg, &["wrong", "6"], &HashSet::new());
    let failure = result.unwrap_err();
    assert!(matches!(failure, Failure::Digest { .. }), "{failure}");
    let kept: Vec<_> = measured.iter().flat_map(|it| &it.sets).filter(|it| it.arm == "b").collect();
    assert_eq!(kept.len(), 1, "the warm-up only: {kept:?}");
}

/// A source that only counts.
#[derive(Default)]
struct Counting {
    made: Vec<(String, usize, u32)>,
    left: Vec<Cell>,
}

impl Source for Counting {
    fn sample(&mut self, cell: &Cell, arm: usize, block: u32, _: bool) -> Result<Observation, Failure> {
        self.made.push((cell.to_string(), arm, block));
        Ok(Observation { values: vec![1.0], digest: String::new(), effective: BTreeMap::new(), at_ns: 0 })
    }

    fn leave(&mut self, cell: &Cell) -> Result<(), Failure> {
        self.left.push(cell.clone());
        Ok(())
    }
}

/// A source whose host steals as the script says, block by block, attempts included.
struct Stolen {
    shares: Vec<f64>,
    made: u32,
}

impl Source for Stolen {
    fn sample(&mut self, _: &Cell, arm: usize, _: u32, _: bool) -> Result<Observation, Failure> {
        self.made += 1;
        Ok(Observation {
            values: vec![f64::from(self.made)],
            digest: "d".to_owned(),
            effective: BTreeMap::from([("mode".to_owned(), ["a", "b"][arm].into())]),
            at_ns: 0,
        })
    }

    fn watched(&mut self) -> Conditions {
        let steal = if self.shares.is_empty() { None } else { Some(self.shares.remove(0)) };
        Conditions { steal, ..Conditions::default() }
    }
}

/// Measures 1 warm-up and 3 blocks of two arms under a rule; gives what was handed over.
fn under(then: Then, shares: &[f64]) -> (Vec<Measured>, Result<(), Stop<std::convert::Infallible>>) {
    let mut prereg = prereg(Process::PerArm);
    prereg.environment.blocks =
        Some(BlockRule { max_load: None, max_steal: Some(0.02), max_pressure: None, then });
    let mut source = Stolen { shares: shares.to_vec(), made: 0 };
    let plan = Plan::new(&prereg, 1);
    let mut all = Vec::new();
    let result = run(
        &prereg,
        &plan,
        &HashSet::new(),
        &[],
        &mut source,
        |_, _| false,
        |_, measured| {
            all.push(measured);
            Ok(())
        },
    );
    (all, result)
}

#[test]
fn a_block_that_breaks_the_registered_rule_is_measured_again_and_both_are_handed_over() {
    // The warm-up may be disturbed; block 0 is twice.
    let (all, result) = under(Then::Remeasure, &[0.9, 0.5, 0.03, 0.0, 0.02, 0.01]);
    assert!(result.is_ok());
    let aside: Vec<_> = all.iter().map(|it| it.aside.as_ref().map(|it| it.attempt)).collect();
    assert_eq!(aside, [None, Some(1), Some(2), None, None, None]);
    let blocks: Vec<_> = all.iter().map(|it| it.sets[0].first_block).collect();
    assert_eq!(blocks, [0, 0, 0, 0, 1, 2]);
    assert!(all.iter().all(|it| it.sets.len() == 2));
    assert_eq!(all[1].aside.as_ref().unwrap().reasons, ["steal 0.500, at most 0.02"]);
}

#[test]
fn a_block_that_breaks_the_registered_rule_is_excluded_where_the_rule_says_so() {
    let (all, result) = under(Then::Exclude, &[0.0, 0.0, 0.5, 0.0]);
    assert!(result.is_ok());
    let excluded: Vec<_> = all.iter().map(|it| it.aside.as_ref().is_some_and(|it| it.excluded)).collect();
    assert_eq!(excluded, [false, false, true, false]);
}

#[test]
fn a_host_that_never_becomes_fit_ends_the_run_for_now() {
    let (all, result) = under(Then::Remeasure, &[1.0; 30]);
    assert!(matches!(result, Err(Stop::Failure(Failure::Unfit { block: 0, attempts: 10, .. }))));
    assert_eq!(all.len(), 11);
}

#[test]
fn what_the_kernel_does_not_tell_breaks_nothing() {
    let (all, result) = under(Then::Exclude, &[]);
    assert!(result.is_ok() && all.iter().all(|it| it.aside.is_none()));
}
