//! The rights on a shared server: three roles without a login, given to the people who need them.
//!
//! Triggers say why a change is refused, but whoever owns a table can disable them. A right that was never granted
//! cannot be taken, so these roles are what keeps a shared store append-only.

use super::{Store, StoreError};

/// The roles and what each may do, from the least.
pub const ROLES: &[(&str, &str)] = &[
    ("harness_reader", "look at everything"),
    ("harness_writer", "the same, and add: register, measure, decide; change or remove nothing"),
    ("harness_admin", "own the schema: migrate"),
];

/// What makes the roles and their rights; it can be run again, also after a migration.
///
/// Needs the right to create roles, and to be the owner of the schema or a superuser.
pub fn sql() -> &'static str {
    SQL
}

const SQL: &str = "\
do $$
declare
  name text;
begin
  foreach name in array array['harness_reader', 'harness_writer', 'harness_admin'] loop
    if not exists (select from pg_roles where rolname = name) then
      begin
        execute format('create role %I nologin', name);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  grant harness_reader to harness_writer;
  grant harness_writer to harness_admin;
  -- Who hands the schema over must be one of those who may own it.
  if not pg_has_role(current_user, 'harness_admin', 'usage') then
    execute format('grant harness_admin to %I', current_user);
  end if;
  execute format('grant create on database %I to harness_admin', current_database());
  alter schema harness owner to harness_admin;
  revoke all on schema harness from public;
  grant usage on schema harness to harness_reader;
  for name in select c.oid::regclass::text from pg_class c
              where c.relnamespace = 'harness'::regnamespace and c.relkind in ('r', 'v')
  loop
    execute format('alter table %s owner to harness_admin', name);
    execute format('revoke all on %s from public, harness_reader, harness_writer', name);
    execute format('grant select on %s to harness_reader', name);
  end loop;
  for name in select c.oid::regclass::text from pg_class c
              where c.relnamespace = 'harness'::regnamespace and c.relkind = 'r'
                and c.relname <> 'schema_migrations'
  loop
    execute format('grant insert on %s to harness_writer', name);
  end loop;
  for name in select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'harness'::regnamespace
  loop
    execute format('alter function %s owner to harness_admin', name);
  end loop;
end $$;
";

impl Store {
    /// Makes the roles of a shared server and gives them their rights on the schema.
    pub fn make_roles(&mut self) -> Result<(), StoreError> {
        self.transact("make the roles", |transaction| Ok(transaction.batch_execute(SQL)?))
    }
}
