//! Plain commands as arms: what they are measured by, and every way in which they can fail.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harness::measure::{self, Failure, Interrupt, Measured, Program, Stop};
use harness::plan::Plan;
use harness::prereg::{Launch, Prereg, parse};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A project's folder, with the scripts of the cases in it.
struct Folder(tempfile::TempDir);

/// What came of measuring.
struct Outcome {
    measured: Vec<Measured>,
    result: Result<(), Failure>,
    remarks: Vec<String>,
}

impl Outcome {
    /// The values of a metric of an arm, warm-ups included.
    fn values(&self, metric: &str, arm: &str) -> Vec<f64> {
        let sets = self.measured.iter().flat_map(|it| &it.sets);
        sets.filter(|it| it.metric == metric && it.arm == arm).flat_map(|it| it.values.clone()).collect()
    }

    #[track_caller]
    fn failure(&self) -> String {
        self.result.as_ref().unwrap_err().to_string()
    }
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/16_to_18_runner");
        for name in ["env_bytes.sh", "fail_after.sh", "flood.sh"] {
            std::fs::copy(cases.join(name), folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Measures 2 warm-ups and 8 samples of two commands.
    fn measure(&self, a: &str, b: &str, rest: &str) -> Outcome {
        self.run(&registered(a, b, rest), &Interrupt::new().unwrap())
    }

    fn run(&self, prereg: &Prereg, interrupt: &Interrupt) -> Outcome {
        let root = self.0.path();
        let Launch::Plain(shared) = &prereg.worker.launch else { panic!("no commands") };
        let programs: Vec<Program> = prereg
            .arms
            .iter()
            .map(|it| {
                let own = harness::prereg::Commands { command: shared.of(it).to_vec(), ..(**shared).clone() };
                measure::resolve(&Launch::Plain(Box::new(own)), root).unwrap()
            })
            .collect();
        let plan = Plan::new(prereg, 1);
        let mut source = measure::source(prereg, &plan, programs, root, root, interrupt).unwrap();
        let mut measured = Vec::new();
        let nothing = HashSet::new();
        let result = measure::run(
            prereg,
            &plan,
            &nothing,
            &[],
            &mut *source,
            |_, _| false,
            |_, it| {
                measured.push(it);
                Ok::<_, std::convert::Infallible>(())
            },
        );
        let result = result.map_err(|stop| match stop {
            Stop::Failure(failure) => failure,
            Stop::Sink(never) => match never {},
        });
        let ended = source.end();
        Outcome { measured, result: result.and(ended), remarks: source.remarks() }
    }
}

fn registered(a: &str, b: &str, rest: &str) -> Prereg {
    let metric = if rest.contains("[metrics.") {
        ""
    } else {
        "[metrics.wall]\nunit = \"ms\"\nbetter = \"lower\"\nprobe = \"wall\""
    };
    let text = format!(
        r#"
id = "demo"
title = "Demo"
ledger = "demo"
[arms.a]
role = "control"
command = {a}
[arms.b]
role = "treatment"
command = {b}
[design]
warmups = 2
samples = 8
{metric}
{rest}
"#
    );
    parse(&text, "demo.toml").unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn a_command_that_fails_in_the_middle_is_told_with_its_run_and_last_words() {
    let folder = Folder::new();
    let outcome = folder.measure(r#"["true"]"#, r#"["sh", "fail_after.sh", "calls", "6"]"#, "");
    assert_eq!(
        outcome.failure(),
        "command of arm `b`, run 7 (sample 4), ended with exit status: 3: cache directory vanished (call 7)"
    );
    assert_eq!(outcome.values("wall", "b").len(), 6);
    let strange =
        folder.measure(r#"["true"]"#, r#"["sh", "-c", "exit 3"]"#, "[commands]\nexit_codes = [0, 3]");
    strange.result.unwrap();
    let other =
        folder.measure(r#"["true"]"#, r#"["sh", "-c", "kill -9 $$"]"#, "[commands]\nexit_codes = [0, 9]");
    assert!(
        other.failure().contains("ended with signal: 9 (SIGKILL), registered is 0, 9"),
        "{}",
        other.failure()
    );
}

#[test]
fn a_flood_is_drained_whether_it_is_kept_or_not() {
    let folder = Folder::new();
    let flood = r#"["sh", "flood.sh"]"#;
    for rest in ["", "[commands]\noutput = \"capture\"", "[commands]\noutput = { file = \"out\" }"] {
        let start = Instant::now();
        let outcome = folder.measure(r#"["sh", "flood.sh", "again"]"#, flood, rest);
        outcome.result.as_ref().unwrap();
        assert!(start.elapsed() < Duration::from_secs(120), "{rest}: {:?}", start.elapsed());
        assert_eq!(outcome.values("wall", "b").len(), 10);
    }
    assert_eq!(folder.read("out").len(), 1 << 20);
    // Read from, it must be whole.
    let metrics = "[metrics.n]\nunit = \"1\"\nbetter = \"lower\"\nprobe = { pattern = '([0-9]+)' }\n[commands]\ncapture_limit = 1000";
    let outcome = folder.measure(r#"["sh", "flood.sh", "again"]"#, flood, metrics);
    let told = outcome.failure();
    assert!(told.contains("it printed 1048576 bytes, of which 1000 are kept (`capture_limit`)"), "{told}");
}

#[test]
fn every_arm_sees_an_environment_of_one_size() {
    let folder = Folder::new();
    let prereg = parse(
        r#"
id = "demo"
title = "Demo"
ledger = "demo"
[commands]
command = ["sh", "env_bytes.sh", "sizes"]
[arms.a]
role = "control"
[arms.a_much_longer_arm_name]
role = "treatment"
env = { SWITCH = "on", A_LONG_NAME = "and a long value" }
[design]
samples = 5
[metrics.wall]
unit = "ms"
better = "lower"
probe = "wall"
"#,
        "demo.toml",
    );
    // Names of arms begin with letters and digits, and hold no capital ones.
    let prereg = prereg.unwrap();
    folder.run(&prereg, &Interrupt::new().unwrap()).result.unwrap();
    let sizes = folder.read("sizes");
    let sizes: HashSet<_> = sizes.lines().map(str::trim).collect();
    assert_eq!(sizes.len(), 1, "{sizes:?}");
}

#[test]
fn what_never_ends_is_killed_with_all_that_it_started() {
    let folder = Folder::new();
    let start = Instant::now();
    let never = r#"["sh", "-c", "sleep 1000 & echo $! > pid; echo waiting >&2; wait"]"#;
    let outcome = folder.measure(r#"["true"]"#, never, "[commands]\ntimeout = \"500ms\"");
    assert!(outcome.failure().ends_with("did not end in 0.5 s and was killed"), "{}", outcome.failure());
    assert_eq!(outcome.result.unwrap_err().stderr(), ["waiting"]);
    assert!(start.elapsed() < Duration::from_secs(60));
    gone(&folder.read("pid"));
}

#[test]
fn children_that_outlive_a_command_are_killed_and_told() {
    let folder = Folder::new();
    let outlived = r#"["sh", "-c", "sleep 1000 & echo $! >> pids"]"#;
    let start = Instant::now();
    let outcome = folder.measure(r#"["true"]"#, outlived, "");
    outcome.result.unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(outcome.remarks.len(), 1);
    assert!(
        outcome.remarks[0].starts_with("arm `b` left processes running 10 times"),
        "{:?}",
        outcome.remarks
    );
    folder.read("pids").lines().for_each(gone);
}

/// Waits until a process is gone: who adopts it may take a moment to notice.
#[track_caller]
fn gone(pid: &str) {
    let start = Instant::now();
    let stat = format!("/proc/{}/stat", pid.trim());
    while std::fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") Z ")) {
        assert!(start.elapsed() < Duration::from_secs(60), "{pid} lives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_answer_that_changes_ends_the_run() {
    let folder = Folder::new();
    let capture = "[commands]\noutput = \"capture\"";
    let same = folder.measure(r#"["echo", "1"]"#, r#"["sh", "-c", "echo 1"]"#, capture);
    same.result.as_ref().unwrap();
    let results: HashSet<_> = same.measured.iter().flat_map(|it| &it.cells).map(|it| &it.result).collect();
    assert_eq!(results.len(), 1);
    let other = folder.measure(r#"["echo", "1"]"#, r#"["echo", "2"]"#, capture);
    assert!(matches!(other.result, Err(Failure::Digest { .. })), "{:?}", other.result);
    // The same arm in another block.
    let counting = r#"["sh", "-c", "echo x >> n; wc -l < n | tr -d x > out"]"#;
    let changing = folder.measure(
        counting,
        counting.replace("tr -d x", "cat").as_str(),
        "[commands]\nresult = { files = [\"out\"] }",
    );
    assert!(matches!(changing.result, Err(Failure::Digest { .. })), "{:?}", changing.result);
    let unchecked =
        folder.measure(r#"["echo", "1"]"#, r#"["echo", "2"]"#, &format!("{capture}\nresult = \"unchecked\""));
    unchecked.result.unwrap();
}

#[test]
fn numbers_are_read_from_what_is_printed_written_and_accounted() {
    let folder = Folder::new();
    let script = r#"printf 'abc' > out.bin; echo '{"a": [{"b/c": 2.5}]} took 12.5 ms'"#;
    let json = r#"printf 'abcd' > out.bin; echo '{"a": [{"b/c": 7}]}'"#;
    std::fs::write(folder.path("a.sh"), script).unwrap();
    std::fs::write(folder.path("b.sh"), json).unwrap();
    let metrics = r#"
[metrics.size]
unit = "KiB"
better = "lower"
probe = { bytes = ["out.bin", "a.sh"] }
[metrics.took]
unit = "ms"
better = "lower"
probe = { pattern = 'took ([0-9.]+) ms' }
[metrics.user]
unit = "ms"
better = "lower"
probe = "user"
[metrics.faults]
unit = "1"
better = "lower"
probe = "minor-faults"
"#;
    let outcome = folder.measure(r#"["sh", "a.sh"]"#, r#"["sh", "a.sh", "x"]"#, metrics);
    outcome.result.as_ref().unwrap();
    let size = (3.0 + script.len() as f64) / 1024.0;
    assert_eq!(outcome.values("size", "b"), vec![size; 10]);
    assert_eq!(outcome.values("took", "a"), vec![12.5; 10]);
    assert!(outcome.values("faults", "a").iter().all(|it| *it > 10.0));
    let pointer = "[metrics.b]\nunit = \"1\"\nbetter = \"lower\"\nprobe = { pointer = \"/a/0/b~1c\" }";
    let outcome = folder.measure(r#"["sh", "b.sh"]"#, r#"["sh", "b.sh", "x"]"#, pointer);
    assert_eq!(outcome.values("b", "b"), vec![7.0; 10]);
    let outcome = folder.measure(r#"["sh", "b.sh"]"#, r#"["echo", "hello"]"#, pointer);
    assert!(
        outcome.failure().contains("`b` cannot be read: what it printed is no JSON"),
        "{}",
        outcome.failure()
    );
    let missing = "[metrics.b]\nunit = \"B\"\nbetter = \"lower\"\nprobe = { bytes = [\"nothing\"] }";
    let outcome = folder.measure(r#"["true"]"#, r#"["true", "x"]"#, missing);
    assert!(
        outcome.failure().contains("`b` cannot be read: `nothing`: No such file"),
        "{}",
        outcome.failure()
    );
}

#[test]
fn instructions_are_the_same_on_every_run() {
    let folder = Folder::new();
    let metric =
        "[metrics.n]\nunit = \"1\"\nbetter = \"lower\"\nprobe = \"instructions\"\nnature = \"exact\"";
    // Two processes each, so that children are counted.
    let spin = |n: u32| {
        format!("[\"sh\", \"-c\", \"sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done'; true\"]")
    };
    let prereg = registered(&spin(10), &spin(2000), &format!("{metric}\n"));
    if !std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|it| it.join("valgrind").is_file()) {
        let root = folder.0.path();
        let never = Interrupt::new().unwrap();
        let error =
            measure::source(&prereg, &Plan::new(&prereg, 1), Vec::new(), root, root, &never).err().unwrap();
        assert!(error.to_string().contains("`instructions` is not supported here"), "{error}");
        return;
    }
    let mut prereg = prereg;
    (prereg.design.warmups, prereg.design.samples) = (0, 2);
    let outcome = folder.run(&prereg, &Interrupt::new().unwrap());
    outcome.result.as_ref().unwrap();
    let of = |arm| outcome.values("n", arm);
    let (few, many) = (of("a"), of("b"));
    assert!(few[0] == few[1] && many[0] == many[1], "{few:?} {many:?}");
    // Nothing but the loop differs.
    assert!(few[0] > 1e4 && many[0] - few[0] > 1990.0 * 20.0, "{few:?} {many:?}");
}

#[test]
fn wall_time_is_that_of_the_command_and_of_nothing_around_it() {
    let folder = Folder::new();
    let steps = "[commands]\nbefore = { sample = [\"sleep\", \"0.3\"] }";
    let outcome = folder.measure(r#"["sleep", "0.02"]"#, r#"["true"]"#, steps);
    outcome.result.as_ref().unwrap();
    let fastest = |arm: &str| outcome.values("wall", arm).into_iter().fold(f64::INFINITY, f64::min);
    // The step alone would take 300 ms.
    assert!((20.0..250.0).contains(&fastest("a")), "{}", fastest("a"));
    assert!(fastest("b") < fastest("a"));
}

#[test]
fn steps_stdin_folder_parameters_and_variables_are_as_registered() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).unwrap();
    std::fs::write(folder.path("input-7"), "from the file\n").unwrap();
    let rest = r#"
[params]
n = 7
[commands]
shell = true
dir = "sub"
stdin = "input-{n}"
before = { run = ["echo before.run >> log"], block = ["echo before.block {n} >> log"], sample = ["echo before.sample {n} $V >> log"] }
after = { sample = ["echo after.sample >> log"], block = ["echo after.block >> log"], run = ["echo after.run >> log"] }
"#;
    let command =
        |v: &str| format!("[\"cat >> log; echo {{n}} $V{v} {{x}} >> log\"]\nenv = {{ V = \"v{v}\" }}");
    let outcome = folder.measure(&command("1"), &command("2"), rest);
    outcome.result.unwrap();
    let log = folder.read("sub/log");
    let count = |line: &str| log.lines().filter(|it| *it == line).count();
    let expected = [
        ("before.run", 1),
        ("before.block 7", 10),
        ("before.sample 7 v1", 10),
        ("before.sample 7 v2", 10),
        ("from the file", 20),
        ("after.sample", 20),
        ("after.block", 10),
        ("after.run", 1),
    ];
    for (line, n) in expected {
        assert_eq!(count(line), n, "{line}\n{log}");
    }
    assert_eq!(log.lines().next(), Some("before.run"));
    assert_eq!(log.lines().last(), Some("after.run"));
    assert!(log.contains("7 {x}"), "{log}");
    // A step that fails ends the run, and what comes after it is still cleaned up.
    let rest = "[commands]\nbefore = { sample = [\"sh\", \"fail_after.sh\", \"calls\", \"4\"] }\nafter = { run = [\"touch\", \"cleaned\"] }";
    let outcome = folder.measure(r#"["true"]"#, r#"["true", "x"]"#, rest);
    let told = outcome.failure();
    assert!(
        told.contains("(before.sample) ended with exit status: 3: cache directory vanished (call 5)"),
        "{told}"
    );
    assert!(folder.path("cleaned").exists());
}

#[test]
fn an_interruption_kills_the_command_and_cleans_up() {
    let folder = Folder::new();
    let rest = "[commands]\nafter = { run = [\"touch\", \"cleaned\"] }";
    let prereg = registered(r#"["sleep", "1000"]"#, r#"["sleep", "1001"]"#, rest);
    let interrupt = Interrupt::new().unwrap();
    let start = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.trigger().unwrap();
        });
        folder.run(&prereg, &interrupt)
    });
    assert!(matches!(outcome.result, Err(Failure::Interrupted)));
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(folder.path("cleaned").exists());
}

#[test]
fn programs_that_cannot_be_run_are_told_before_anything_is() {
    let folder = Folder::new();
    let resolve = |program: &str| {
        let prereg = registered(&format!("[\"{program}\"]"), r#"["true"]"#, "");
        let Launch::Plain(shared) = prereg.worker.launch else { panic!("no commands") };
        let own = harness::prereg::Commands { command: vec![program.to_owned()], ..*shared };
        measure::resolve(&Launch::Plain(Box::new(own)), folder.0.path()).unwrap_err()
    };
    let error = resolve("sleeep");
    assert_eq!(error.to_string(), "no command `sleeep`, neither below the project's root nor on PATH");
    assert_eq!(error.hint().as_deref(), Some("did you mean `sleep`?"));
    std::fs::write(folder.path("plain.txt"), "text").unwrap();
    let error = resolve("plain.txt");
    assert_eq!(error.to_string(), "`plain.txt` is not executable");
    assert!(error.hint().unwrap().starts_with("chmod +x plain.txt"));
}
