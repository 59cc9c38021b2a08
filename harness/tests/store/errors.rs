//! Servers that cannot be used, in words that help.

use crate::support::*;
use harness::store::StoreError;
use std::net::TcpListener;

#[track_caller]
fn check(url: &str, words: &[&str], hint: &str) {
    let error = try_open(url).unwrap_err();
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
    assert!(!text.contains("s3cret") && !format!("{error:?}").contains("s3cret"), "{text}");
    let given = error.hint().unwrap_or_default();
    assert!(given.contains(hint), "`{hint}` in: {given}");
}

#[test]
fn nobody_there() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    check(
        &format!("postgres://alice:s3cret@127.0.0.1:{port}/perf"),
        &["failed to connect", &format!("alice@127.0.0.1:{port}/perf"), "Connection refused"],
        "is the server running",
    );
    check(
        "postgres://alice@/perf?host=/nonexistent",
        &["No such file or directory"],
        "is the server running",
    );
    check("postgres://alice@no-such-host.invalid/perf", &["lookup"], "name is unknown");
}

#[test]
fn a_listener_that_is_no_postgres() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || drop(listener.accept()));
    check(&format!("postgres://alice@127.0.0.1:{port}/perf"), &["failed to connect"], "");
    server.join().unwrap();
}

/// Takes the call and says nothing, as a stopped server does.
#[test]
fn a_listener_that_is_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let began = std::time::Instant::now();
    let url = format!("postgres://alice@127.0.0.1:{port}/perf?connect_timeout=1");
    check(&url, &["no answer"], "not stopped");
    assert!(began.elapsed().as_secs() < 20);
}

#[test]
fn no_such_database_or_user() {
    let database = Database::new();
    check(&of_database(&database.url, "no_such_database"), &["does not exist", "3D000"], "createdb");
    let stranger = match database.url.split_once("://").map(|(_, rest)| rest.split_once('@')) {
        Some(Some((_, rest))) => format!("postgres://stranger:s3cret@{rest}"),
        _ => return,
    };
    check(&stranger, &["stranger"], "");
}

#[test]
fn a_wrong_or_missing_password() {
    let server = PasswordServer::start();
    check(
        &server.url("harness:wrong"),
        &["password authentication failed", "28P01"],
        "user `harness` with this password, which came from the database URL",
    );
    check(&server.url("stranger:s3cret"), &["stranger", "28P01"], "user `stranger`");
    check(&server.url("harness"), &["password missing"], "put it into ~/.pgpass (mode 0600), PGPASSWORD");
    let mut store = migrated(&server.url("harness:s3cret"));
    assert!(!store.location().contains("s3cret") && !store.url().contains("s3cret"));
    assert!(!format!("{store:?}").contains("s3cret"));
    assert!(store.experiments().unwrap().is_empty());
}

#[test]
fn rights_that_are_missing() {
    let database = Database::new();
    if !database.may_make_roles() {
        return;
    }
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[set("eager", 0, &[1.0])], &[]).unwrap();
    drop(store);
    let role = format!("reader_{}", run.id.simple());
    database
        .client()
        .batch_execute(&format!(
            "create role {role} login; grant usage on schema harness to {role}; \
             grant select on all tables in schema harness to {role}"
        ))
        .unwrap();
    let rest = database.url.split_once('@').unwrap().1;
    let mut store = open(&format!("postgres://{role}@{rest}"));
    assert_eq!(store.runs(None).unwrap().len(), 1);
    let error = store.append_event(run.id, &event(2, harness::vocab::RunState::Done)).unwrap_err();
    assert!(
        error.to_string().contains("permission denied") && error.to_string().contains("42501"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("harness_writer"));
    drop(store);
    database
        .client()
        .batch_execute(&format!("grant {role} to current_user; drop owned by {role}; drop role {role}"))
        .unwrap();
}

#[test]
fn a_read_only_server_can_be_read() {
    let database = Database::new();
    let (store, run) = begun(&database);
    drop(store);
    let name: String = database.client().query_one("select current_database()", &[]).unwrap().get(0);
    database
        .client()
        .batch_execute(&format!("alter database {name} set default_transaction_read_only = on"))
        .unwrap();
    let mut store = database.store();
    assert_eq!(store.runs(None).unwrap().len(), 1);
    let error = store.append_block(run.id, &[set("eager", 0, &[1.0])], &[]).unwrap_err();
    assert!(error.hint().unwrap().contains("read-only"), "{error}");
}

#[test]
fn a_lost_connection_is_told_apart_and_repaired() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    for _ in 0..2 {
        database
            .client()
            .execute(
                "select pg_terminate_backend(pid) from pg_stat_activity \
                 where datname = current_database() and usename = current_user and pid <> pg_backend_pid()",
                &[],
            )
            .unwrap();
        let sets = [set("eager", 0, &[1.0])];
        let error = store.append_block(run.id, &sets, &[]).unwrap_err();
        assert!(error.is_lost(), "{error:?}");
        assert!(matches!(store.append_block(run.id, &sets, &[]), Err(StoreError::Lost { .. })));
        store.reconnect().unwrap();
        store.append_block(run.id, &sets, &[]).unwrap();
    }
}
