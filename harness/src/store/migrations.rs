//! The schema's steps: `schemas/NNNN_*.sql`, embedded, applied in order, each once and never changed afterwards.

use super::transact::Failure;
use super::{Store, StoreError, chain};
use crate::vocab::Digest;
use postgres::Transaction;

struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

const ALL: &[Migration] = &[
    Migration { version: 1, name: "init", sql: include_str!("../../../schemas/0001_init.sql") },
    Migration { version: 2, name: "append_only", sql: include_str!("../../../schemas/0002_append_only.sql") },
    Migration { version: 3, name: "chain", sql: include_str!("../../../schemas/0003_chain.sql") },
    Migration { version: 4, name: "builds", sql: include_str!("../../../schemas/0004_builds.sql") },
    Migration { version: 5, name: "times", sql: include_str!("../../../schemas/0005_times.sql") },
    Migration { version: 6, name: "sealed", sql: include_str!("../../../schemas/0006_sealed.sql") },
    Migration { version: 7, name: "short_times", sql: include_str!("../../../schemas/0007_short_times.sql") },
];

/// Any number that nobody else uses: the lock under which migrations run.
const LOCK: i64 = 0x6861_726e_6573_7331;

const BOOTSTRAP: &str = "create schema if not exists harness;
create table if not exists harness.schema_migrations (
  version int primary key,
  name text not null,
  sha256 bytea not null,
  applied_at timestamptz not null default now());";

/// Refuses a schema that is older than what this build knows, or newer, or another; asks one question, takes no lock
/// and works on a read-only server.
pub(super) fn check(store: &mut Store) -> Result<(), StoreError> {
    let missing = pending(store)?;
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(StoreError::OlderSchema {
            location: store.location(),
            found: first.version - 1,
            known: ALL.last().map_or(0, |it| it.version),
        }),
    }
}

/// The steps that the database lacks.
fn pending(store: &mut Store) -> Result<Vec<&'static Migration>, StoreError> {
    let location = store.location();
    store.transact("read the schema's version", |transaction| {
        let exists: bool = transaction
            .query_typed_one("select to_regclass('harness.schema_migrations') is not null", &[])?
            .try_get(0)?;
        if exists { missing(transaction, &location) } else { Ok(ALL.iter().collect()) }
    })
}

/// Brings the schema up to what this build knows; refuses one that it does not know. Gives the versions that were
/// applied, by this process or by another one meanwhile.
pub(super) fn apply(store: &mut Store) -> Result<Vec<i32>, StoreError> {
    let applied: Vec<i32> = pending(store)?.iter().map(|it| it.version).collect();
    if applied.is_empty() {
        return Ok(applied);
    }
    let location = store.location();
    let mut tries = 0;
    loop {
        tries += 1;
        match store.transact("create the schema", |transaction| migrate(transaction, &location)) {
            // The lock makes first uses wait for each other, but not on servers where it is only a word.
            Err(StoreError::Server { code: Some(code), .. })
                if tries < 5 && ["42P06", "42P07", "42710", "42723", "XX000"].contains(&code.as_str()) => {}
            result => return result.map(|()| applied),
        }
    }
}

fn migrate(transaction: &mut Transaction<'_>, location: &str) -> Result<(), Failure> {
    transaction.query_one("select pg_advisory_xact_lock($1)", &[&LOCK])?;
    transaction.batch_execute(BOOTSTRAP)?;
    let missing = missing(transaction, location)?;
    for migration in &missing {
        transaction.execute(
            "insert into harness.schema_migrations (version, name, sha256) values ($1, $2, $3)",
            &[&migration.version, &migration.name, &Digest::of(migration.sql).0.as_slice()],
        )?;
        transaction.batch_execute(migration.sql)?;
    }
    if missing.iter().any(|it| it.name == "chain") {
        // Read as this build reads, so after all of its steps.
        chain::find(transaction)?;
    }
    Ok(())
}

/// What is still to be applied; an error when the database has something else.
fn missing(transaction: &mut Transaction<'_>, location: &str) -> Result<Vec<&'static Migration>, Failure> {
    let rows = transaction
        .query_typed("select version, name, sha256 from harness.schema_migrations order by version", &[])?;
    let known = ALL.last().map_or(0, |it| it.version);
    let mut missing: Vec<&Migration> = ALL.iter().collect();
    let newest = rows.last().map(|row| row.try_get::<_, i32>(0)).transpose()?;
    if let Some(found) = newest.filter(|it| *it > known) {
        return Err(StoreError::NewerSchema { location: location.to_owned(), found, known }.into());
    }
    for row in rows {
        let (version, name, digest): (i32, String, Vec<u8>) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let same = ALL.iter().any(|it| it.version == version && Digest::of(it.sql).0[..] == digest[..]);
        if !same {
            return Err(StoreError::EditedMigration { location: location.to_owned(), version, name }.into());
        }
        missing.retain(|it| it.version != version);
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_embedded_in_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .filter(|it| it.ends_with(".sql"))
            .collect();
        files.sort();
        let embedded: Vec<String> =
            ALL.iter().map(|it| format!("{:04}_{}.sql", it.version, it.name)).collect();
        assert_eq!(files, embedded);
        assert!(ALL.iter().zip(1..).all(|(it, version)| it.version == version));
    }
}
