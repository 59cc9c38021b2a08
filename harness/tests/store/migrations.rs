//! The schema's steps.

use crate::support::*;
use harness::store::StoreError;

#[test]
fn eight_first_uses_at_once_make_one_schema() {
    let database = Database::empty();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let url = &database.url;
            scope.spawn(move || {
                let mut store = open(url);
                store.register(&registration(&format!("exp-{}", i % 3), 1)).unwrap();
            });
        }
    });
    let mut store = database.store();
    assert_eq!(store.experiments().unwrap().len(), 3);
    let applied: i64 =
        database.client().query_one("select count(*) from harness.schema_migrations", &[]).unwrap().get(0);
    assert_eq!(applied, 3);
}

#[test]
fn a_newer_schema_is_refused() {
    let database = Database::new();
    database
        .client()
        .batch_execute(
            "insert into harness.schema_migrations (version, name, sha256) values (7, 'later', '')",
        )
        .unwrap();
    let error = try_open(&database.url).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 7, known: 3 }));
    assert_eq!(error.to_string(), "the database's schema 7 is newer than this harness, which knows 3");
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
    assert_eq!(
        error.to_string(),
        "migration 1 (`init`) of the database is not the one that this harness has"
    );
}

#[test]
fn a_failed_migration_leaves_nothing() {
    let database = Database::empty();
    // Somebody else's table where the schema wants its own.
    database.client().batch_execute("create schema harness; create table harness.runs (x int)").unwrap();
    let error = try_open(&database.url).unwrap_err();
    assert!(error.to_string().contains("failed to create the schema at"), "{error}");
    let made: bool = database
        .client()
        .query_one("select to_regclass('harness.schema_migrations') is not null", &[])
        .unwrap()
        .get(0);
    assert!(!made);
}
