//! The roles of a shared server: who was given them can add, and nobody of them can change what is there.

use crate::support::*;
use harness::store::{ROLES, StoreError};

#[test]
fn writers_add_and_change_nothing() {
    let database = Database::new();
    if !database.may_make_roles() {
        return;
    }
    let (mut store, run) = begun(&database);
    store.make_roles().unwrap();
    store.make_roles().unwrap();
    let id = run.id.simple();
    let (reader, writer) = (format!("r_{id}"), format!("w_{id}"));
    let mut admin = database.client();
    admin
        .batch_execute(&format!(
            "create role {reader} login in role harness_reader; create role {writer} login in role harness_writer"
        ))
        .unwrap();
    let as_user = |user: &str| {
        let (head, tail) = database.url.split_once('@').unwrap();
        let scheme = head.split_once("://").unwrap().0;
        format!("{scheme}://{user}@{tail}")
    };

    // Everything that a run needs works for a writer, from the registration on.
    let mut own = open(&as_user(&writer));
    let registration = registration("exp-2", 1);
    own.register(&registration).unwrap();
    let second = run_of(&registration);
    own.begin_run(&second, &arms()).unwrap();
    own.append_block(second.id, &[set("eager", 0, &[1.0])], &[cell_arm("eager")]).unwrap();
    own.append_event(second.id, &event(2, harness::vocab::RunState::Done)).unwrap();
    own.append_verdict(&verdict(second.id, 1), &[]).unwrap();
    assert_eq!(own.runs(None).unwrap().len(), 2);

    let mut other = open(&as_user(&reader));
    assert_eq!(other.run(second.id).unwrap().unwrap().sets.len(), 1);
    let error = other.append_block(second.id, &[set("lazy", 0, &[1.0])], &[]).unwrap_err();
    assert!(matches!(&error, StoreError::Server { code: Some(code), .. } if code == "42501"), "{error}");
    assert!(error.hint().unwrap().contains("grant harness_reader"), "{error:?}");

    let url = as_user(&writer);
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let tables = client
        .query("select c.relname::text from pg_class c where c.relnamespace = 'harness'::regnamespace and c.relkind = 'r'", &[])
        .unwrap();
    assert!(tables.len() >= 12);
    let mut refused = vec![
        "create table harness.mine (x int)".to_owned(),
        "drop view harness.samples".to_owned(),
        "drop schema harness cascade".to_owned(),
        "create or replace function harness.refuse_change() returns trigger language sql as 'select null'"
            .to_owned(),
        "insert into harness.schema_migrations (version, name, sha256) values (99, 'x', '')".to_owned(),
        "set session_replication_role = replica".to_owned(),
        "set role harness_admin".to_owned(),
    ];
    for row in &tables {
        let table: String = row.get(0);
        refused.extend([
            format!("update harness.{table} set {} where false", column(&mut admin, &table)),
            format!("delete from harness.{table}"),
            format!("truncate harness.{table} cascade"),
            format!("alter table harness.{table} disable trigger all"),
            format!("drop table harness.{table} cascade"),
            format!("alter table harness.{table} add column x int"),
            format!("create trigger mine before insert on harness.{table} execute function harness.refuse_change()"),
        ]);
    }
    for sql in &refused {
        let error = client.batch_execute(sql).unwrap_err();
        assert_eq!(error.code().map(postgres::error::SqlState::code), Some("42501"), "{sql}: {error:?}");
    }
    drop((own, other, client));

    // The owner has the triggers against mistakes.
    let error = admin.batch_execute("delete from harness.sample_sets").unwrap_err();
    assert_eq!(error.code().map(postgres::error::SqlState::code), Some("HL001"));
    // Roles belong to the whole server, which may be somebody's. Who is no superuser drops what its own roles own.
    admin
        .batch_execute(&format!("grant harness_admin, harness_writer, {reader}, {writer} to current_user"))
        .unwrap();
    admin.batch_execute(&format!("drop owned by {reader}, {writer}; drop role {reader}, {writer}")).unwrap();
    let name: String = admin.query_one("select current_database()::text", &[]).unwrap().get(0);
    admin.batch_execute(&format!("reassign owned by harness_admin to current_user; revoke all on database {name} from harness_admin")).unwrap();
    for (role, _) in ROLES.iter().rev() {
        let _ = admin.batch_execute(&format!("drop owned by {role}; drop role {role}"));
    }
}

/// `column = column`, of a table's first one.
fn column(admin: &mut postgres::Client, table: &str) -> String {
    let asked = "select attname::text from pg_attribute where attrelid = ('harness.' || $1::text)::regclass and attnum = 1";
    let name: String = admin.query_one(asked, &[&table]).unwrap().get(0);
    format!("{name} = {name}")
}
