//! Servers that say nothing: they take a call and leave it at that, or fall silent in the middle of a run.

use crate::databases::Server;
use crate::support::{Experiment, Project, rows, signal};
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn a_server_that_takes_calls_and_says_nothing_is_given_up() {
    let project = Project::with(&Experiment::FASTER);
    // The system takes the calls, and nobody ever answers one.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://alice:s3cret@127.0.0.1:{port}/perf?connect_timeout=1");
    for args in [&["run", "faster"][..], &["db", "status"], &["db", "sync"]] {
        let began = Instant::now();
        let told = project.expect(1, &[args, &["--database-url", &url]].concat());
        told.complains(&[
            &format!("failed to connect at postgresql://alice@127.0.0.1:{port}/perf"),
            "no answer to the greeting",
            "check that a Postgres server listens there, and that it is not stopped",
        ]);
        assert!(!told.err.replacen("warning", "", 1).contains("s3cret"), "{told}");
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
}

/// Stops the processes of a server that `which` picks, in the middle of a run, which must end with its verdict.
fn falls_silent(which: impl Fn(&Server, &str) -> Vec<i32>) {
    let project = Project::with(&Experiment::FASTER);
    let (server, address) = Server::listening(&project.outside("server"), "host all all all trust\n");
    let direct = server.trusting();
    let url = format!("postgres://harness@{address}/postgres?tcp_user_timeout=2000&connect_timeout=1");
    project.expect(0, &["db", "migrate", "--database-url", &direct]);
    project.write("asked", "");
    project.write("pause", "0.1\n");
    let run = project.start(&["run", "faster", "--database-url", &url]);
    project.wait_for_requests(6);
    let stopped = which(&server, &direct);
    assert!(!stopped.is_empty());
    stopped.iter().for_each(|it| signal(*it, "STOP"));
    let began = Instant::now();
    let told = run.wait();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    told.complains(&["; the run goes on, its spool keeps it", "until a store has it: harness db sync"]);
    // Nothing was measured twice, and nobody waited for the store with each block.
    assert_eq!(project.read("asked").lines().count(), 22);
    assert_eq!(told.err.matches("the run goes on").count(), 1, "{told}");
    assert!(project.workers().is_empty());

    stopped.iter().for_each(|it| signal(*it, "CONT"));
    let told = project.expect(0, &["db", "sync", "--database-url", &url]);
    assert!(told.out.contains("loaded"), "{told}");
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(rows(&direct, counted), ["a 10 10", "b 10 10"]);
    assert_eq!(rows(&direct, "select verdict from harness.verdicts"), ["accept"]);
}

#[test]
fn a_run_whose_server_is_stopped_ends_with_its_verdict() {
    falls_silent(|server, _| server.processes());
}

/// The server takes new calls, and what the stopped process has locked stays locked.
#[test]
fn a_run_whose_backend_is_stopped_ends_with_its_verdict() {
    falls_silent(|_, direct| {
        let wanted =
            "select pid from pg_stat_activity where application_name = 'harness' and client_addr is not null";
        let mut pids: Vec<i32> = Vec::new();
        let lock = "begin; lock table harness.sample_sets in access exclusive mode";
        let mut holder =
            postgres::Client::connect(direct.split("&options=").next().unwrap(), postgres::NoTls).unwrap();
        holder.batch_execute(lock).unwrap();
        crate::support::wait_until("the run waits for its table", || {
            let waiting = format!("{wanted} and wait_event_type = 'Lock'");
            pids = rows(direct, &waiting).iter().filter_map(|it| it.parse().ok()).collect();
            !pids.is_empty()
        });
        pids.iter().for_each(|it| signal(*it, "STOP"));
        // Granted to one that cannot go on.
        holder.batch_execute("rollback").unwrap();
        pids
    });
}
