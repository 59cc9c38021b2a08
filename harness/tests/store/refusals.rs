//! What a server says no with, each in words that help: servers that are real, and one that only speaks the
//! greeting, for what a real one says too seldom.

use crate::clusters::Project;
use crate::support::*;
use harness::store::cluster::{Cluster, ClusterOptions};
use harness::store::{Store, StoreError};
use postgres::{Client, NoTls};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

#[track_caller]
fn says(error: &StoreError, code: &str, words: &str, hint: &str) {
    let text = error.to_string();
    assert!(text.contains(words) && text.contains(code), "`{words}`, `{code}` in: {text}");
    let given = error.hint().unwrap_or_default();
    assert!(given.contains(hint), "`{hint}` in: {given}");
}

/// A server that takes calls and refuses each with the next of `answers`: SQLSTATE and message.
fn refusing(answers: &'static [(&'static str, &'static str)]) -> (u16, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for (code, message) in answers {
            let (mut call, _) = listener.accept().unwrap();
            if greeting(&mut call) == 80_877_103 {
                // No TLS; the call without it follows.
                call.write_all(b"N").unwrap();
                call = listener.accept().unwrap().0;
                greeting(&mut call);
            }
            let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
            call.write_all(b"E").unwrap();
            call.write_all(&(fields.len() as u32 + 4).to_be_bytes()).unwrap();
            call.write_all(fields.as_bytes()).unwrap();
        }
    });
    (port, server)
}

/// Reads a greeting and gives the version, or the request, in it.
fn greeting(call: &mut TcpStream) -> u32 {
    let mut head = [0; 8];
    call.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes(head[..4].try_into().unwrap());
    let mut rest = vec![0; length as usize - 8];
    call.read_exact(&mut rest).unwrap();
    u32::from_be_bytes(head[4..].try_into().unwrap())
}

#[test]
fn a_server_that_is_starting_or_full_is_asked_again() {
    let (port, server) = refusing(&[
        ("57P03", "the database system is starting up"),
        ("53300", "sorry, too many clients already"),
        ("57P03", "the database system is not yet accepting connections"),
        ("3D000", "database \"perf\" does not exist"),
    ]);
    let error = try_open(&format!("postgres://alice:s3cret@127.0.0.1:{port}/perf")).unwrap_err();
    says(&error, "3D000", "does not exist", "createdb");
    server.join().unwrap();
}

#[test]
fn every_refusal_of_a_greeting_has_its_remedy() {
    for (answer, words, hint) in [
        (
            &[("28P01", "password authentication failed for user \"alice\"")] as &'static [_],
            "alice",
            "came from the database URL",
        ),
        (
            &[("28000", "no pg_hba.conf entry for host \"::1\", user \"alice\", no encryption"); 2],
            "no encryption",
            "sslmode=require",
        ),
        (&[("28000", "role \"alice\" is not permitted to log in"); 2], "not permitted", "pg_hba.conf"),
        (&[("42501", "permission denied for database \"perf\"")], "permission denied", "harness_writer"),
        (&[("57P01", "terminating connection due to administrator command")], "terminating", ""),
        (&[("53100", "could not write file: No space left on device")], "No space left", "free some space"),
        (&[("57014", "canceling authentication due to timeout")], "timeout", "less busy"),
        (
            &[("25006", "cannot execute in a read-only transaction")],
            "read-only",
            "target_session_attrs=read-write",
        ),
        (&[("99999", "something new")], "something new", ""),
    ] {
        let (port, _server) = refusing(answer);
        let error = try_open(&format!("postgres://alice:s3cret@127.0.0.1:{port}/perf")).unwrap_err();
        let code = if answer[0].0 == "57P01" { "" } else { answer[0].0 };
        says(&error, code, words, hint);
        says(&error, "", &format!("failed to connect at postgresql://alice@127.0.0.1:{port}/perf"), "");
        assert!(!format!("{error:?}").contains("s3cret"));
    }
}

#[test]
fn the_first_of_several_hosts_that_suits_is_used() {
    let database = Database::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some((_, folder)) = database.url.split_once("host=") else { return };
    let folder = folder.split('&').next().unwrap();
    let name: String = database.client().query_one("select current_database()::text", &[]).unwrap().get(0);
    let url =
        |more: &str| format!("host=127.0.0.1,{folder} port={closed},5432 user=harness dbname={name} {more}");
    for attrs in ["any", "read-write", "primary", "prefer-standby"] {
        open(&url(&format!("target_session_attrs={attrs}"))).close().unwrap();
    }
    for (attrs, words) in [("read-only", "is not read-only"), ("standby", "is no standby")] {
        let error = try_open(&url(&format!("target_session_attrs={attrs}"))).unwrap_err();
        says(&error, "Connection refused", words, "another kind of server");
    }
}

#[test]
fn a_server_without_a_free_connection() {
    let project = Project::new();
    let settings = [("max_connections", "3"), ("superuser_reserved_connections", "0"), ("fsync", "off")];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let cluster = Cluster::acquire(&ClusterOptions { settings, ..project.options() }, &|_| {}).unwrap();
    let url = cluster.url();
    migrated(&url).close().unwrap();
    let fill = || -> Vec<Client> {
        let mut all = Vec::new();
        let began = Instant::now();
        // Who has just gone is still there for a moment.
        while all.len() < 3 {
            all.extend(Client::connect(&url, NoTls));
            assert!(began.elapsed() < Duration::from_secs(30));
        }
        all
    };
    let all = fill();
    let leaving = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(all);
    });
    open(&url).close().unwrap();
    leaving.join().unwrap();
    let all = fill();
    says(&try_open(&url).unwrap_err(), "53300", "", "max_connections");
    drop(all);
    cluster.discard().unwrap();
}

#[test]
fn a_cancelled_statement() {
    let database = Database::new();
    let mut store = database.store();
    let mut admin = database.client();
    let mut lock = admin.transaction().unwrap();
    lock.batch_execute("lock table harness.runs in access exclusive mode").unwrap();
    let url = database.url.clone();
    let canceller = std::thread::spawn(move || {
        let mut other = Client::connect(&url, NoTls).unwrap();
        let cancel = "select count(pg_cancel_backend(pid)) from pg_stat_activity \
                      where datname = current_database() and wait_event_type = 'Lock'";
        while other.query_one(cancel, &[]).unwrap().get::<_, i64>(0) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    says(&store.runs(None).unwrap_err(), "57014", "cancel", "less busy");
    canceller.join().unwrap();
    lock.rollback().unwrap();
    assert_eq!(store.runs(None).unwrap(), []);
}

/// On a file system of 64 MB, which only root can make.
#[test]
fn a_full_disk_keeps_what_was_acknowledged() {
    let project = Project::new();
    std::fs::create_dir_all(project.pg()).unwrap();
    let mount = |args: &[&str]| {
        let ran = std::process::Command::new(args[0]).args(&args[1..]).arg(project.pg()).output();
        ran.is_ok_and(|it| it.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "none"]) {
        return;
    }
    let result = std::panic::catch_unwind(|| fill_the_disk(&project));
    crate::clusters::kill(&project.pids());
    while !mount(&["umount"]) {
        std::thread::sleep(Duration::from_millis(20));
    }
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

fn fill_the_disk(project: &Project) {
    let mut store = project.open();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    let values: Vec<f64> = (0..30_000).map(f64::from).collect();
    let mut blocks = 0_u32;
    let error = loop {
        let sets = [set("eager", blocks * 30_000, &values), set("lazy", blocks * 30_000, &values)];
        match store.append_block(run.id, &sets, &[]) {
            Ok(()) => blocks += 1,
            Err(error) => break error,
        }
        assert!(blocks < 200, "64 MB hold no 90 MB");
    };
    // A full disk for the log of changes stops the server, now or with what is read next; for the data it fails the
    // statement.
    let read = if error.is_lost() { None } else { Some(store.run(run.id)) };
    let Some(Ok(data)) = read else {
        assert!(read.is_none_or(|it| it.is_err_and(|it| it.is_lost())));
        let text = Store::open(&options(project.path())).map(drop).unwrap_err();
        assert!(text.to_string().contains("No space left"), "{text}");
        assert!(text.hint().unwrap().contains("free some space"), "{text:?}");
        return;
    };
    says(&error, "53100", "", "nothing that was stored is lost");
    let data = data.unwrap();
    assert_eq!(data.sets.iter().map(|it| it.values.len()).sum::<usize>(), 2 * 30_000 * blocks as usize);
    drop(store);
}
