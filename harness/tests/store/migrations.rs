//! The schema's steps.

use crate::support::*;
use harness::store::StoreError;
use std::process::{Child, Command, Stdio};

#[test]
fn eight_first_uses_at_once_make_one_schema() {
    let database = Database::empty();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let url = &database.url;
            scope.spawn(move || {
                let mut store = migrated(url);
                store.register(&registration(&format!("exp-{}", i % 3), 1)).unwrap();
            });
        }
    });
    let mut store = database.store();
    assert_eq!(store.experiments().unwrap().len(), 3);
    let applied: i64 =
        database.client().query_one("select count(*) from harness.schema_migrations", &[]).unwrap().get(0);
    assert_eq!(applied, 7);
}

/// The same by the program itself, each in a process of its own.
#[test]
fn eight_processes_at_once_make_one_schema() {
    let database = Database::empty();
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join("experiments")).unwrap();
    let migrate = || {
        let mut harness = Command::new(env!("CARGO_BIN_EXE_harness"));
        harness
            .args(["db", "migrate"])
            .current_dir(project.path())
            .env("HARNESS_DATABASE_URL", &database.url);
        harness.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<Child> = (0..8).map(|_| migrate()).collect();
    for process in all {
        let said = process.wait_with_output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
    let mut client = database.client();
    let applied =
        client.query("select version from harness.schema_migrations order by version", &[]).unwrap();
    assert!(applied.iter().map(|row| row.get::<_, i32>(0)).eq(1..=7));
    open(&database.url).close().unwrap();
}

/// What others share is changed by somebody who means to.
#[test]
fn a_missing_or_older_schema_is_told_and_brought_up_on_demand() {
    let database = Database::empty();
    let error = try_open(&database.url).unwrap_err();
    assert!(error.to_string().ends_with("has no schema of the harness yet"), "{error}");
    assert!(error.hint().unwrap().contains("harness db migrate"));
    let made: bool =
        database.client().query_one("select to_regnamespace('harness') is not null", &[]).unwrap().get(0);
    assert!(!made);

    let (store, applied) = try_migrate(&database.url).unwrap();
    assert!(applied.iter().copied().eq(1..=applied.len() as i32), "{applied:?}");
    store.close().unwrap();
    assert_eq!(try_migrate(&database.url).unwrap().1, [] as [i32; 0]);
    open(&database.url).close().unwrap();

    let newest = applied.len() as i32;
    database
        .client()
        .execute("delete from harness.schema_migrations where version = $1", &[&newest])
        .unwrap();
    let error = try_open(&database.url).unwrap_err();
    assert!(
        matches!(error, StoreError::OlderSchema { found, known, .. } if (found, known) == (newest - 1, newest)),
        "{error}"
    );
}

#[test]
fn a_newer_schema_is_refused() {
    let database = Database::new();
    database
        .client()
        .batch_execute(
            "insert into harness.schema_migrations (version, name, sha256) values (8, 'later', '')",
        )
        .unwrap();
    assert!(matches!(try_migrate(&database.url), Err(StoreError::NewerSchema { found: 8, .. })));
    let error = try_open(&database.url).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 8, known: 7, .. }));
    assert!(error.to_string().starts_with("the schema 8 of the database at "), "{error}");
    assert!(error.to_string().ends_with(" is newer than this harness, which knows 7"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("upgrade harness"));
}

#[test]
fn an_edited_migration_is_refused() {
    let database = Database::new();
    database
        .client()
        .batch_execute("update harness.schema_migrations set sha256 = sha256('other') where version = 1")
        .unwrap();
    let error = try_open(&database.url).unwrap_err();
    assert!(error.to_string().starts_with("migration 1 (`init`) of the database at "), "{error}");
    assert!(error.to_string().ends_with(" is not the one that this harness has"), "{error}");
}

#[test]
fn a_failed_migration_leaves_nothing() {
    let database = Database::empty();
    // Somebody else's table where the schema wants its own.
    database.client().batch_execute("create schema harness; create table harness.runs (x int)").unwrap();
    let error = try_migrate(&database.url).unwrap_err();
    assert!(error.to_string().contains("failed to create the schema at"), "{error}");
    let made: bool = database
        .client()
        .query_one("select to_regclass('harness.schema_migrations') is not null", &[])
        .unwrap()
        .get(0);
    assert!(!made);
}
