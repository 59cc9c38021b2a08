//! Databases that are not there, do not let one in, or go away in the middle of a run.

use crate::support::{Experiment, Project, Said, data_home, exists, rows, said, signal, tell, wait_until};
use harness::store::cluster::{Cluster, ClusterOptions};
use std::path::Path;
use std::process::Command;

/// A server of somebody else's: the harness has only its address. It wants a password of everybody but `harness`.
pub(crate) struct Server {
    cluster: Option<Cluster>,
    data: std::path::PathBuf,
}

impl Server {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::with(folder, "", &[])
    }

    /// One that is reached over the network too, by those whom the lines of a `pg_hba.conf` let in, and its address.
    pub(crate) fn listening(folder: &Path, access: &str) -> (Self, String) {
        // An address of its own, so that the port may be the one that the socket's name has.
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let (id, next) = (std::process::id(), NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let address = format!("127.{}.{}.{}", 128 + next % 64, (id >> 8) % 256, 1 + id % 254);
        (Self::with(folder, access, &[("listen_addresses", &address)]), address)
    }

    fn with(folder: &Path, more: &str, settings: &[(&str, &str)]) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let access = folder.join("access.conf");
        std::fs::write(&access, format!("local postgres harness trust\nlocal all all scram-sha-256\n{more}"))
            .unwrap();
        let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut settings: Vec<_> = settings.iter().map(|(key, value)| setting(key, value)).collect();
        settings.extend([setting("fsync", "off"), setting("hba_file", &access.display().to_string())]);
        let dir = folder.join("pg");
        let options =
            ClusterOptions { dir, pg_bin: None, data_home: data_home(), autoinstall: true, settings };
        let cluster = Cluster::acquire(&options, &|_| {}).unwrap();
        rows(&cluster.url(), "alter role harness password 's3cret'");
        let data = cluster.dir().join("data");
        Self { cluster: Some(cluster), data }
    }

    pub(crate) fn trusting(&self) -> String {
        self.cluster.as_ref().unwrap().url()
    }

    /// The address of another database, with this user and password.
    pub(crate) fn url(&self, user: &str, database: &str) -> String {
        let url = self.trusting().replacen("harness@", &format!("{user}@"), 1);
        url.split("&options").next().unwrap().replacen("/postgres", &format!("/{database}"), 1)
    }

    /// The processes of the server.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let works_here =
            |pid: &i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|it| it == self.data);
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|it| it.file_name().to_str()?.parse().ok()).filter(works_here).collect()
    }

    pub(crate) fn kill(&self) {
        let text = std::fs::read_to_string(self.data.join("postmaster.pid")).unwrap();
        let pid: i32 = text.lines().next().unwrap().parse().unwrap();
        signal(pid, "QUIT");
        wait_until("the server is gone", || !exists(pid));
    }

    fn restart(&mut self) {
        self.cluster.as_mut().unwrap().ensure(&|_| {}).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(cluster) = self.cluster.take() {
            let _ = cluster.discard();
        }
    }
}

pub(crate) fn with(project: &Project, variables: &[(&str, &str)], args: &[&str]) -> Said {
    said(project.command(args).envs(variables.iter().copied()))
}

#[test]
fn a_database_that_cannot_be_used_is_named_without_its_password() {
    let project = Project::with(&Experiment::FASTER);
    let server = Server::start(&project.outside("server"));
    rows(&server.trusting(), "create database perf");
    let cases = [
        (
            "postgres://bob:s3cret@127.0.0.1:1/perf".to_owned(),
            "bob@127.0.0.1:1/perf: ",
            "is the server running there?",
        ),
        (
            server.url("harness:s3cret", "nodb"),
            "database \"nodb\" does not exist",
            "create the database first",
        ),
        (
            server.url("harness:s3cret-wrong", "perf"),
            "password authentication failed",
            "user `harness` with this password, which came from the database URL",
        ),
        (server.url("harness", "perf"), "password missing", "the server wants a password"),
        (server.url("nobody:s3cret", "perf"), "password authentication failed", "user `nobody`"),
        (server.url("harness:s3cret", "perf"), "no schema of the harness yet", "harness db migrate"),
        ("postgres://bob:s3cret@127.0.0.1:1/perf?sslmode=tls".to_owned(), "unknown sslmode", ""),
        ("postgres://bob:s3cret@127.0.0.1:port/perf".to_owned(), "unusable database URL", ""),
        ("s3cret".to_owned(), "unusable database URL", ""),
    ];
    for (url, problem, hint) in &cases {
        for args in [&["list", "-v"][..], &["run", "faster", "-v"], &["db", "status"]] {
            let told = said(project.command(args).env("HARNESS_DATABASE_URL", url));
            assert_eq!(told.code, Some(1), "{told}");
            told.complains(&["error: ", problem, hint]);
            let typed = project.harness(&[args, &["--database-url", url]].concat());
            let rest = match typed.err.split_once('\n') {
                Some((first, rest)) if first.starts_with("warning: every user") => rest,
                _ => &typed.err,
            };
            assert_eq!((typed.code, rest), (told.code, told.err.as_str()));
            assert_eq!(rest != typed.err, url.contains(":s3cret"), "{typed}");
            assert!(!told.to_string().contains("s3cret") && !typed.to_string().contains("s3cret"), "{typed}");
        }
    }
    assert!(!project.path(".harness/pg").exists(), "the private cluster is no way out");
    assert!(!project.path("ledgers").exists());

    // With the right password everything works, and it is nowhere to be seen.
    let url = server.url("harness:s3cret", "perf");
    let url = url.as_str();
    let migrated = with(&project, &[("DATABASE_URL", url)], &["db", "migrate"]);
    assert_eq!(migrated.code, Some(0), "{migrated}");
    migrated.complains(&["applied migrations 1 to ", "/perf"]);
    with(&project, &[("DATABASE_URL", url)], &["db", "migrate"]).complains(&["is up to date"]);
    let run = with(&project, &[("DATABASE_URL", url)], &["run", "faster", "-v"]);
    assert_eq!(run.code, Some(0), "{run}");
    let status = with(&project, &[("HARNESS_DATABASE_URL", url)], &["db", "status"]);
    assert!(status.out.contains("/perf") && status.out.contains("PostgreSQL"), "{status}");
    let address = with(&project, &[("DATABASE_URL", url)], &["db", "url"]);
    let help = with(&project, &[("HARNESS_DATABASE_URL", url)], &["run", "--help"]);
    let stop = with(&project, &[("DATABASE_URL", url)], &["db", "stop"]);
    assert_eq!(stop.code, Some(2), "{stop}");
    stop.complains(&["not the harness's own to stop"]);
    let query = "select arm, count(*) from samples where experiment = 'faster' group by arm order by arm\n";
    let psql = tell(project.command(&["db", "psql"]).env("DATABASE_URL", url), query);
    assert!(psql.code == Some(0) && psql.out.contains("a   |    10"), "{psql}");
    for told in [&migrated, &run, &status, &address, &help, &stop, &psql] {
        assert!(!told.to_string().contains("s3cret"), "{told}");
    }
    for file in ["ledgers/demo.md", "ledgers/evidence/faster/registration-1.json"] {
        assert!(!project.read(file).contains("s3cret"), "{file}");
    }

    // What is typed comes first, then the harness's own variable, then everybody's.
    let (none, own) = ("postgres://bob@127.0.0.1:1/none", "postgres://bob@127.0.0.1:1/own");
    let told = with(&project, &[("HARNESS_DATABASE_URL", own), ("DATABASE_URL", url)], &["list"]);
    told.complains(&["/own"]);
    let told = with(&project, &[("HARNESS_DATABASE_URL", own)], &["list", "--database-url", none]);
    told.complains(&["/none"]);
    let told = with(&project, &[("HARNESS_DATABASE_URL", url), ("DATABASE_URL", none)], &["list"]);
    assert_eq!(told.code, Some(0), "{told}");
    // An empty one of the harness's own means the private cluster.
    let told = with(&project, &[("HARNESS_DATABASE_URL", ""), ("DATABASE_URL", none)], &["db", "status"]);
    assert!(told.code == Some(0) && told.out.contains("the private cluster in"), "{told}");
}

#[test]
fn a_private_server_that_is_killed_is_started_again_and_the_run_goes_on() {
    let project = Project::with(&Experiment::FASTER);
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(8);
    signal(project.postmaster().unwrap(), "KILL");
    let told = run.wait();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    assert_eq!(project.sql("select arm, count(*) from samples group by arm order by arm"), ["a 10", "b 10"]);
    // Nothing was asked for twice.
    assert_eq!(project.read("asked").lines().count(), 22);
}

#[test]
fn a_server_that_goes_away_for_good_leaves_the_run_to_its_spool_until_it_is_back() {
    let project = Project::with(&Experiment::FASTER);
    let mut server = Server::start(&project.outside("server"));
    let url = server.trusting();
    project.expect(0, &["db", "migrate", "--database-url", &url]);
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let args = ["run", "faster", "--database-url", &url];
    let run = project.start(&args);
    project.wait_for_requests(8);
    server.kill();
    let told = run.wait();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    told.complains(&[
        "; the run goes on, its spool keeps it",
        "is kept in `.harness/spool/",
        "until a store has it: harness db sync",
        "ledgers/demo.md",
    ]);
    assert_eq!(told.err.matches("warning: ").count(), 2, "{told}");
    assert!(project.workers().is_empty());
    assert!(!project.path(".harness/pg").exists(), "the private cluster is no way out");
    let ledger = project.read("ledgers/demo.md");
    let sync = ["db", "sync", "--database-url", &url];
    project.expect(1, &sync);
    server.restart();
    let told = project.expect(0, &sync);
    assert!(told.out.contains("faster") && told.out.contains("loaded"), "{told}");
    project.expect(0, &sync).complains(&["nothing waits in the spool"]);
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(rows(&url, counted), ["a 10 10", "b 10 10"]);
    assert_eq!(rows(&url, "select count(*) from harness.runs"), ["1"]);
    assert_eq!(rows(&url, "select state from harness.run_events order by seq"), ["running", "done"]);
    assert_eq!(rows(&url, "select verdict from harness.verdicts"), ["accept"]);
    assert_eq!(project.read("asked").lines().count(), 22);
    project.expect(0, &["render", "--check", "--database-url", &url]);
    assert_eq!(project.read("ledgers/demo.md"), ledger);
}

#[test]
fn a_server_that_is_back_before_the_end_gets_what_it_missed() {
    let project = Project::with(&Experiment { samples: 30, ..Experiment::FASTER });
    let mut server = Server::start(&project.outside("server"));
    let url = server.trusting();
    project.expect(0, &["db", "migrate", "--database-url", &url]);
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster", "--database-url", &url]);
    project.wait_for_requests(4);
    server.kill();
    // Chunks are sent every second: one was tried in vain.
    project.wait_for_requests(34);
    server.restart();
    let told = run.wait();
    assert_eq!(told.code, Some(0), "{told}");
    told.complains(&["the run goes on, its spool keeps it", "the store is back and has all of the run"]);
    assert!(std::fs::read_dir(project.path(".harness/spool")).unwrap().next().is_none());
    assert_eq!(rows(&url, "select arm, count(*) from samples group by arm order by arm"), ["a 30", "b 30"]);
    assert_eq!(rows(&url, "select verdict from harness.verdicts"), ["accept"]);
}

#[test]
fn the_private_server_is_reached_from_outside_and_stopped_on_demand() {
    let project = Project::with(&Experiment::FASTER);
    let none = project.expect(0, &["db", "stop"]);
    none.complains(&["there is no private server yet"]);
    assert!(!project.path(".harness/pg").exists());
    project.expect(0, &["run", "faster", "-q"]);
    assert!(project.postmaster().is_none(), "nobody uses it any more");
    let query = "select arm, avg(value) from samples where experiment = 'faster' group by arm";
    let told = tell(&mut project.command(&["db", "psql"]), query);
    assert!(told.code == Some(0) && told.out.contains("(2 rows)"), "{told}");
    let told = tell(
        project.command(&["db", "psql", "-q"]).env("PSQLRC", "none"),
        "\\set ON_ERROR_STOP 1\nselect oops",
    );
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["psql ended with exit status: 3"]);
    assert!(project.postmaster().is_none());

    let url = project.expect(0, &["db", "url"]).out;
    assert_eq!(url.lines().count(), 1);
    let mut psql = project.program("psql", &[url.trim(), "-At", "-c", query]);
    assert_eq!(said(&mut psql).out.lines().count(), 2);
    // A client that stays keeps the server, whatever the harness does meanwhile.
    let plain = url.trim().split("&options=").next().unwrap();
    let mut client = postgres::Client::connect(plain, postgres::NoTls).unwrap();
    let postmaster = project.postmaster();
    assert!(postmaster.is_some());
    project.expect(0, &["list"]);
    assert_eq!(project.postmaster(), postmaster);
    assert_eq!(client.query("select count(*) from harness.runs", &[]).unwrap().len(), 1);
    drop(client);
    project.expect(0, &["db", "stop"]).complains(&["the private server is stopped"]);
    assert!(project.postmaster().is_none());
    // Without a path, it may lie beside a server's programs.
    let told = tell(project.command(&["db", "psql", "-q"]).env("PATH", "/nonexistent"), "select 1;\n");
    if told.code != Some(0) {
        told.complains(&["no psql on PATH", "postgresql-client"]);
    }
}

#[test]
fn ctrl_c_in_psql_is_for_psql() {
    let project = Project::new();
    let url = project.expect(0, &["db", "url"]).out;
    // A process group of its own, as a terminal makes it; `script` would need a terminal.
    let mut command = Command::new("setsid");
    let inner = project.command(&["db", "psql"]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(&project.root).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write as _;
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"select pg_sleep(60);\n").unwrap();
    let sleeping = "select count(*) from pg_stat_activity where query like 'select pg_sleep%'";
    wait_until("the query runs", || rows(url.trim(), sleeping) == ["1"]);
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-s", "INT", "--", &group]).status().unwrap().success());
    // The query is cancelled, and the next one is answered: psql reads on when its input is no terminal only if it
    // was not ended, so it is enough that the harness waits for its end.
    let _ = input.write_all(b"select 'still here';\n");
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some(), "the harness was ended by the signal: {output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cancel"), "{output:?}");
}

/// Containers like to run as a user whom the system does not know, which initdb does not.
#[test]
fn a_user_without_a_name_has_a_private_server_too() {
    use std::os::unix::process::CommandExt;
    const NAMELESS: u32 = 43_210;
    let project = Project::new();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let own =
        project.outside("project").metadata().map(|it| std::os::unix::fs::MetadataExt::uid(&it)).unwrap();
    if own != 0 || accounts.contains(&NAMELESS.to_string()) {
        return;
    }
    let give =
        Command::new("chown").arg("-R").arg(NAMELESS.to_string()).arg(project.outside("")).status().unwrap();
    assert!(give.success());
    let mut command = project.command(&["db", "status"]);
    match command.uid(NAMELESS).gid(NAMELESS).output() {
        // The program lies where only root may go.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
        output => {
            let output = output.unwrap();
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            // Without user namespaces there is an answer at least.
            assert!(output.status.success() || told.contains("no entry in /etc/passwd"), "{told}");
        }
    }
}
