//! Programs that are built for the run: by cargo at a revision, and several times with other orders of linking.

use crate::support::{Experiment, Project, Said, Transcript, said};

/// One whose arms take the same time, but for 1 %.
const CLOSE: Experiment = Experiment { mean: [100, 99], samples: 12, ..Experiment::FASTER };

/// A project whose arms are both the worker of the first commit, built four times by a script.
fn scripted(build: &str) -> Project {
    let project = Project::with(&CLOSE);
    project.write("build.sh", build);
    project.commit("Build");
    for arm in ["a", "b"] {
        let role = format!("[arms.{arm}]\n");
        let keys = "git = \"HEAD\"\ncommand = [\"out/worker.sh\"]\nbuild = [\"sh\", \"build.sh\"]\n";
        project.edit("experiments/faster.toml", &role, &format!("{role}{keys}"));
    }
    project.edit("experiments/faster.toml", "samples = 12\n", "samples = 12\nbuilds = 4\n");
    project
}

#[test]
fn builds_are_the_unit_and_may_differ_by_more_than_the_arms() {
    // The luck of a build: 0 to 8 ms, as its order happens to be.
    let luck = "luck=$((HARNESS_BUILD_SALT % 9))\nmkdir -p out\n\
                sed \"s/value=\\$((mean \\* 1000/value=\\$(((mean + $luck) * 1000/\" worker.sh > out/worker.sh\necho \"# $HARNESS_BUILD_SALT\" >> out/worker.sh\nchmod +x out/worker.sh\n";
    let project = scripted(luck);
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--gate", "-q"]).check("builds");
    let stored = project.sql(
        "select arm, json_array_length(build->'builds'), count(distinct it->>'binary'), count(distinct it->>'salt') \
         from run_arms, json_array_elements(build->'builds') it group by 1, 2 order by 1",
    );
    assert_eq!(stored, ["a 4 4 4", "b 4 4 4"]);
    // A warm-up of each build comes on top.
    assert_eq!(project.sql("select sum(n) from sample_sets where arm = 'a' and warmup"), ["4"]);
    let ledger = project.read("ledgers/demo.md");
    for text in [
        "4 builds of each arm, each linked in another order and measured in a process of its own",
        ": its builds lie ",
        "; 4 builds: order ",
    ] {
        assert!(ledger.contains(text), "`{text}` is not in:\n{ledger}");
    }
    project.expect(0, &["render", "--check"]);
    project.expect(0, &["verify"]);
}

#[test]
fn builds_that_come_out_the_same_are_refused() {
    let project = scripted("mkdir -p out && cp worker.sh out/worker.sh && chmod +x out/worker.sh\n");
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "-q"]).check("builds-same");
    assert!(!project.path("ledgers").exists());
}

/// A worker without dependencies, which takes `mean` ms in hundredths of these.
fn packaged(hundredths: u32) -> String {
    let main = r#"
fn number(line: &str, name: &str) -> f64 {
    let from = line.find(name).unwrap() + name.len();
    line[from..].chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

/// What Callgrind counts.
#[no_mangle]
#[inline(never)]
pub extern "C" fn harness_timed(steps: u64) -> u64 {
    (0..steps).fold(1, |x: u64, i| std::hint::black_box(x ^ i))
}

fn main() {
    let (mut mean, mut n) = (0.0, 0);
    for line in std::io::stdin().lines().map(Result::unwrap) {
        match line.as_str() {
            it if it.starts_with("{\"hello\"") => println!("{{\"hello\":{{\"protocol\":1,\"systems\":[\"demo\"]}}}}"),
            it if it.starts_with("{\"prepare\"") => {
                mean = number(it, "\"mean\":");
                let params = it[it.find("\"params\":").unwrap() + 9..].split_inclusive('}').next().unwrap();
                println!("{{\"ready\":{{\"effective\":{params}}}}}");
            }
            it if it.starts_with("{\"sample\"") => {
                n += 1;
                harness_timed(1_000 * mean as u64);
                let time = mean * HUNDREDTHS / 100.0 + f64::from(n % 5) / 10.0;
                println!("{{\"sample\":{{\"values\":{{\"time\":{time}}},\"digest\":\"d\"}}}}");
            }
            _ => return println!("{{\"bye\":{{}}}}"),
        }
    }
}
"#;
    main.replace("HUNDREDTHS", &format!("{hundredths}.0"))
}

/// A project with a package as its worker: of the first commit, and twice as fast from the second on.
fn cargo_project() -> Project {
    let project = Project::with(&Experiment { mean: [100, 100], ..Experiment::FASTER });
    std::fs::create_dir_all(project.path("src")).unwrap();
    project.write("Cargo.toml", "[package]\nname = \"demo\"\nedition = \"2021\"\n[workspace]\n");
    project.write(".gitignore", "target\n.harness\n");
    project.write("src/main.rs", &packaged(100));
    project.commit("A worker");
    project.write("src/main.rs", &packaged(40));
    project.commit("A faster one");
    project.edit("experiments/faster.toml", "command = [\"worker.sh\"]", "package = \"demo\"");
    project
}

/// Runs the program where it finds the cargo that runs this test.
fn with_cargo(project: &Project, args: &[&str]) -> Said {
    let cargo = std::path::PathBuf::from(std::env::var_os("CARGO").unwrap());
    let path = std::env::var_os("PATH").unwrap();
    let tools = cargo.parent().unwrap().to_owned();
    let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path))).unwrap();
    said(project.command(args).env("CARGO", &cargo).env("PATH", path).env("CARGO_NET_OFFLINE", "true"))
}

#[test]
fn a_package_is_measured_at_two_revisions() {
    let project = cargo_project();
    project.edit("experiments/faster.toml", "[arms.a]\n", "[arms.a]\ngit = \"HEAD~1\"\n");
    project.edit("experiments/faster.toml", "[arms.b]\n", "[arms.b]\ngit = \"HEAD\"\n");
    let told = with_cargo(&project, &["run", "faster", "--gate"]);
    assert_eq!(told.code, Some(0), "{told}");
    told.complains(&["building arm a at HEAD~1, commit ", "building arm b at HEAD, commit "]);
    assert!(told.out.contains("faster: ACCEPT"), "{told}");
    let stored = project.sql(
        "select arm, build->>'commit', build->'command'->>0, build->>'compiler' like 'rustc %' from run_arms order by arm",
    );
    let commit = |revision: &str| project.git_says(&["rev-parse", revision]);
    assert_eq!(stored, [format!("a {} cargo t", commit("HEAD~1")), format!("b {} cargo t", commit("HEAD"))]);
    // Of a package the binary alone is kept, and found by the next run.
    assert_eq!(project.git_says(&["worktree", "list"]).lines().count(), 1);
    let again = with_cargo(&project, &["run", "faster", "--quick"]);
    assert!(again.code == Some(0) && !again.err.contains("building"), "{again}");
    // A revision that does not compile is told with the compiler's words.
    project.write("src/main.rs", "fn main() { 7 }\n");
    project.commit("Break it");
    let broken = with_cargo(&project, &["run", "faster", "--quick"]);
    assert_eq!(broken.code, Some(1), "{broken}");
    broken.complains(&["arm `b`: cargo did not build worker package `demo`", "build: ", "mismatched types"]);
}

/// lld is the linker of this target; elsewhere the one that is used may not shuffle.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn cargo_links_a_package_in_several_orders() {
    let project = cargo_project();
    project.edit(
        "experiments/faster.toml",
        "mean = 100, noise = 4 }\n[arms.b]",
        "mean = 200, noise = 4 }\n[arms.b]",
    );
    project.edit("experiments/faster.toml", "samples = 10\n", "samples = 12\nbuilds = 3\n");
    let told = with_cargo(&project, &["run", "faster"]);
    assert_eq!(told.code, Some(0), "{told}");
    told.complains(&["building worker demo, linked in order "]);
    let binaries =
        "select count(distinct it->>'binary') from run_arms, json_array_elements(build->'builds') it";
    assert_eq!(project.sql(binaries), ["3"]);
    let command = project.sql("select build->>'command' from run_arms where arm = 'a'");
    assert!(
        command[0].contains("\"rustc\"") && command[0].contains("--shuffle-sections=.text*="),
        "{command:?}"
    );
}

#[test]
fn the_instructions_of_a_worker_are_those_of_what_it_times() {
    let project = cargo_project();
    project.edit(
        "experiments/faster.toml",
        "mean = 100, noise = 4 }\n[arms.b]",
        "mean = 200, noise = 4 }\n[arms.b]",
    );
    project.edit("experiments/faster.toml", "samples = 10\n", "samples = 3\n");
    let metric = "[metrics.steps]\nunit = \"1\"\nbetter = \"lower\"\nprobe = \"instructions\"\nnature = \"exact\"\n[metrics.time]\n";
    project.edit("experiments/faster.toml", "[metrics.time]\n", metric);
    let told = with_cargo(&project, &["run", "faster"]);
    if !std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|it| it.join("valgrind").is_file()) {
        assert_eq!(told.code, Some(1), "{told}");
        told.complains(&[
            "probe `instructions` is not supported here: it needs valgrind, which is not on PATH",
        ]);
        return;
    }
    assert_eq!(told.code, Some(0), "{told}");
    let counted = project.sql(
        "select count(distinct value) from samples where metric = 'steps' group by arm \
         union all select max(value) - min(value) from samples where metric = 'steps'",
    );
    // The same on every repetition; and of 100,000 steps more, 2 to 20 instructions each.
    assert_eq!(counted[..2], ["1", "1"], "{counted:?}");
    let more: f64 = counted[2].parse().unwrap();
    assert!((2e5..2e6).contains(&more), "{counted:?}");
    // The other metric is the worker's own.
    assert_eq!(project.sql("select count(*) from samples where metric = 'time'"), ["6"]);
}
