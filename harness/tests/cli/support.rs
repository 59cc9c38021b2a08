//! Throw-away projects and transcripts of what the program says in them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An experiment of two arms, `a` (control) and `b`.
#[derive(Clone)]
pub(crate) struct Experiment {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) claim: &'static str,
    pub(crate) ledger: &'static str,
    /// Means of a and b, in ms.
    pub(crate) mean: [u32; 2],
    /// The width of the noise around the means, in ms.
    pub(crate) noise: u32,
    pub(crate) warmups: u32,
    pub(crate) samples: u32,
    /// The hypothesis, guards and anything else.
    pub(crate) rest: &'static str,
}

const HALF: &str = "[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n";

impl Experiment {
    /// One that is accepted: b takes 40 ms where a takes 100.
    pub(crate) const FASTER: Self = Self {
        id: "faster",
        title: "Faster",
        claim: "b takes at most half the time of a.",
        ledger: "demo",
        mean: [100, 40],
        noise: 4,
        warmups: 1,
        samples: 10,
        rest: HALF,
    };

    pub(crate) fn toml(&self) -> String {
        let Self { id, title, claim, ledger, mean: [a, b], noise, warmups, samples, rest } = self;
        format!(
            r#"id = "{id}"
title = "{title}"
ledger = "{ledger}"
claim = "{claim}"

[worker]
command = ["worker.sh"]
system = "demo"
timeout = "2s"

[arms.a]
role = "control"
params = {{ mean = {a}, noise = {noise} }}
[arms.b]
role = "treatment"
params = {{ mean = {b}, noise = {noise} }}

[design]
warmups = {warmups}
samples = {samples}

[metrics.time]
unit = "ms"
better = "lower"

{rest}"#
        )
    }
}

/// A project in a folder of its own, with its own repository, home and private cluster.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(root.join("experiments")).unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        let project = Self { folder, root };
        let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workers/demo.sh");
        std::fs::copy(worker, project.path("worker.sh")).unwrap();
        project.git(&["init", "--quiet"]);
        project.git(&["add", "--all"]);
        project.git(&["commit", "--quiet", "--message", "Begin"]);
        project
    }

    /// A project with one experiment.
    pub(crate) fn with(experiment: &Experiment) -> Self {
        let project = Self::new();
        project.add(experiment);
        project
    }

    pub(crate) fn add(&self, experiment: &Experiment) {
        self.write(&format!("experiments/{}.toml", experiment.id), &experiment.toml());
    }

    pub(crate) fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]).args(args);
        let status = git.env("HOME", self.home()).current_dir(&self.root).status().unwrap();
        assert!(status.success());
    }

    /// What git answers, without white space around it.
    pub(crate) fn git_says(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(&self.root).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything but what the project ignores.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Copies a folder to another project, over what is there.
    pub(crate) fn copy(&self, folder: &str, to: &Self) {
        let status = Command::new("cp").arg("-R").arg(self.path(folder)).arg(&to.root).status().unwrap();
        assert!(status.success());
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A place outside of the project.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|it| panic!("{name}: {it}"))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// Replaces text in a file.
    pub(crate) fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "{old:?} is not in {name}:\n{text}");
        self.write(name, &text.replace(old, new));
    }

    /// Whether the private server runs.
    pub(crate) fn postmaster(&self) -> Option<i32> {
        let text = std::fs::read_to_string(self.path(".harness/pg/data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok().filter(|it| exists(*it))
    }

    /// The program in this project, with nothing of the test's own environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_harness"), args)
    }

    /// Another program in the same circumstances.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root).env_clear().env("HOME", self.home());
        command.env("XDG_DATA_HOME", data_home()).stdin(Stdio::null());
        for name in ["PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR"] {
            command.envs(std::env::var_os(name).map(|it| (name, it)));
        }
        command
    }

    pub(crate) fn harness(&self, args: &[&str]) -> Said {
        said(&mut self.command(args))
    }

    /// What was said, if the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, args: &[&str]) -> Said {
        let said = self.harness(args);
        assert_eq!(said.code, Some(code), "harness {}\n{said}", args.join(" "));
        said
    }

    /// Starts the program and lets it run.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        Running::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// The answer of the private store to a query, values separated by spaces.
    #[track_caller]
    pub(crate) fn sql(&self, query: &str) -> Vec<String> {
        let mut command = self.command(&["db", "url", "-q"]);
        let url = said(&mut command).out;
        rows(url.trim(), query)
    }

    /// A client of the private server, which runs as long as it is there: every command is faster for it.
    #[must_use]
    pub(crate) fn hold(&self) -> postgres::Client {
        let url = self.expect(0, &["db", "url"]).out;
        let url = url.split("&options=").next().unwrap();
        postgres::Client::connect(url, postgres::NoTls).unwrap()
    }

    /// The id of the newest run.
    #[track_caller]
    pub(crate) fn run_id(&self) -> String {
        self.sql("select run_id::text from harness.runs order by started_at desc limit 1").remove(0)
    }

    /// The processes that work in the project's folder: its workers, and what they started.
    pub(crate) fn workers(&self) -> Vec<i32> {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|it| it.file_name().to_str()?.parse().ok())
            .filter(|pid: &i32| {
                std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|it| it == self.root)
                    && std::fs::read_to_string(format!("/proc/{pid}/comm"))
                        .is_ok_and(|it| it.trim() != "harness")
            })
            .collect()
    }

    /// Waits until that many requests for a sample were noted in the file `asked`.
    #[track_caller]
    pub(crate) fn wait_for_requests(&self, n: usize) {
        wait_until("samples are asked for", || {
            std::fs::read_to_string(self.path("asked")).is_ok_and(|it| it.lines().count() >= n)
        });
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // A server that `db url` left, or that outlived a test that failed.
        if self.postmaster().is_some() {
            let _ = self.command(&["db", "stop", "-q"]).output();
        }
        if let Some(pid) = self.postmaster() {
            signal(pid, "QUIT");
        }
    }
}

/// Where binaries are kept that a machine without Postgres has fetched for its tests.
pub(crate) fn data_home() -> PathBuf {
    std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))
        .unwrap_or_else(std::env::temp_dir)
}

#[track_caller]
pub(crate) fn rows(url: &str, query: &str) -> Vec<String> {
    let url = url.split("&options=").next().unwrap();
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    client.batch_execute("set search_path = harness").unwrap();
    let messages = client.simple_query(query).unwrap();
    let row = |it: &postgres::SimpleQueryMessage| {
        let postgres::SimpleQueryMessage::Row(row) = it else { return None };
        Some((0..row.len()).map(|i| row.get(i).unwrap_or("-")).collect::<Vec<_>>().join(" "))
    };
    messages.iter().filter_map(row).collect()
}

/// Sends a signal by its name, without `SIG`.
pub(crate) fn signal(pid: i32, name: &str) {
    let _ = Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
}

pub(crate) fn exists(pid: i32) -> bool {
    // A zombie is gone as far as anybody is concerned.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|it| !it.contains(") Z "))
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "in vain: wait until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A program that runs. Killed when dropped.
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(crate) fn of(child: Child) -> Self {
        Self { child: Some(child) }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.as_ref().unwrap().id().cast_signed()
    }

    pub(crate) fn wait(mut self) -> Said {
        Said::of(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a program said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn said(command: &mut Command) -> Said {
    Said::of(command.output().unwrap())
}

/// Runs a program with a text on its standard input.
pub(crate) fn tell(command: &mut Command, text: &str) -> Said {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Said::of(child.wait_with_output().unwrap())
}

impl Said {
    fn of(output: std::process::Output) -> Self {
        let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|it| panic!("{it}:\n{self}"))
    }

    /// Asserts that standard error has all these texts.
    #[track_caller]
    pub(crate) fn complains(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.err.contains(text), "`{text}` is not said:\n{self}");
        }
        self
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.out)?;
        if !self.err.is_empty() {
            write!(f, "--- stderr\n{}", self.err)?;
        }
        match self.code {
            Some(0) => Ok(()),
            Some(code) => writeln!(f, "--- exit {code}"),
            None => writeln!(f, "--- killed"),
        }
    }
}

/// What a user sees of a few commands, compared with a file.
pub(crate) struct Transcript<'a> {
    project: &'a Project,
    text: String,
}

impl<'a> Transcript<'a> {
    pub(crate) fn of(project: &'a Project) -> Self {
        Self { project, text: String::new() }
    }

    /// Writes a line of explanation.
    pub(crate) fn say(&mut self, text: &str) -> &mut Self {
        writeln!(self.text, "# {text}").unwrap();
        self
    }

    /// Runs the program and writes down what it says.
    pub(crate) fn run(&mut self, args: &[&str]) -> &mut Self {
        let said = self.project.harness(args);
        self.note(args, &said)
    }

    /// Writes down what was said.
    pub(crate) fn note(&mut self, args: &[&str], said: &Said) -> &mut Self {
        let quoted = |it: &&str| if it.contains(' ') { format!("'{it}'") } else { (*it).to_owned() };
        let line = args.iter().map(quoted).collect::<Vec<_>>().join(" ");
        let text = format!("$ harness {line}\n{said}");
        writeln!(self.text, "{}", redact(&text, self.project).trim_end()).unwrap();
        self.text.push('\n');
        self
    }

    /// Compares with `golden/<name>.txt`.
    #[track_caller]
    pub(crate) fn check(&self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/golden/{name}.txt"));
        let is = format!("{}\n", self.text.trim_end());
        if std::env::var_os("HARNESS_BLESS").is_some() {
            std::fs::write(path, is).unwrap();
            return;
        }
        let was = std::fs::read_to_string(path).unwrap_or_default();
        let first = is.lines().zip(was.lines()).position(|(is, was)| is != was);
        let first = first.unwrap_or(is.lines().count().min(was.lines().count()));
        assert!(
            is == was,
            "golden/{name}.txt differs at line {}:\n  is:  {:?}\n  was: {:?}\n\n{is}",
            first + 1,
            is.lines().nth(first),
            was.lines().nth(first),
        );
    }
}

/// Takes out what differs from run to run, leaving widths as they are: ids, digests, instants, durations, the host
/// and how busy it is.
pub(crate) fn redact(text: &str, project: &Project) -> String {
    let text = text.replace(&project.root.display().to_string(), "<project>");
    let mut out = String::new();
    for line in text.lines() {
        // Whether there is one depends on what else the host does.
        if line.ends_with("listed in the ledger") {
            continue;
        }
        let word = |it: char| it.is_ascii_alphanumeric() || it == '-';
        for piece in line.split_inclusive(|it| !word(it)) {
            let (body, end) = match piece.char_indices().next_back() {
                Some((i, last)) if !word(last) => piece.split_at(i),
                _ => (piece, ""),
            };
            let hex = |it: &str| it.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
            let (head, body) = body.split_at(if body.starts_with("run-") { 4 } else { 0 });
            out.push_str(head);
            let digits = body.chars().filter(char::is_ascii_digit).count();
            let is_id = hex(body) && [8, 36, 64].contains(&body.len()) && digits > 0;
            let is_short =
                body.len() == 12 && ["SHA-256 ", "up to ", "commit "].iter().any(|it| out.ends_with(it));
            let is_date = body.len() == 10 && body.starts_with("20") && hex(body);
            if is_id || is_date || is_short {
                out.extend(body.chars().map(|it| if it == '-' { '-' } else { 'x' }));
            } else {
                out.push_str(body);
            }
            out.push_str(end);
        }
        out.push('\n');
    }
    without_times(&out)
}

/// `12:34:56` and `in 0.1 s` without their digits.
fn without_times(text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for i in 0..chars.len() {
        let clock = chars[i..].iter().take(8).collect::<String>();
        let colons = clock.char_indices().filter(|(_, it)| *it == ':').map(|(i, _)| i).collect::<Vec<_>>();
        if colons == [2, 5] && clock.chars().filter(char::is_ascii_digit).count() == 6 {
            for it in &mut chars[i..i + 8] {
                if *it != ':' {
                    *it = 'x';
                }
            }
        }
        let took = chars[i..].iter().take(8).collect::<String>();
        if took.starts_with(" in ") && took[4..].starts_with(|it: char| it.is_ascii_digit()) {
            let end = chars[i + 4..].iter().position(|it| *it == 's').map(|it| i + 4 + it);
            for it in chars[i + 4..end.unwrap_or(i + 4)].iter_mut().filter(|it| it.is_ascii_digit()) {
                *it = 'x';
            }
        }
    }
    chars.into_iter().collect()
}
