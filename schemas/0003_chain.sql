-- What was registered, measured, decided and set aside, one link after the other, so that nothing of it can be taken
-- out, put in or changed without every later link showing it. One chain an experiment: writers of different
-- experiments do not wait for each other.
--
-- The hash of a link is the SHA-256 of these bytes, one after the other:
--   the hash of the link before it; before the first, the SHA-256 of 'harness/chain/' || slug
--   'seq|kind|object|at|found', where `at` is in microseconds since 1970 and `found` is true or false
--   its body
-- What a body is made of stands with each kind in the store's documentation.

create table harness.chain (
  experiment_id uuid not null references harness.experiments,
  seq int not null check (seq >= 1),
  kind text not null check (kind in ('registered', 'amended', 'begun', 'event', 'verdict', 'invalidated', 'restored')),
  object text not null check (object <> ''),            -- a version, a run, or a run and a number: 'id/2'
  at timestamptz not null,                              -- when that happened
  found boolean not null,                               -- sealed later: it was there already, or was imported
  body bytea not null check (octet_length(body) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  stored_at timestamptz not null default now(),
  primary key (experiment_id, seq),
  unique (experiment_id, kind, object));

-- A run is set aside, or taken back, by one more row. Its samples stay where they are.
create table harness.invalidations (
  run_id uuid not null references harness.runs,
  seq int not null check (seq >= 1),
  at timestamptz not null,
  invalid boolean not null,                             -- false takes it back
  reason text not null check (reason <> ''),
  primary key (run_id, seq));

do $$
declare
  name text;
begin
  foreach name in array array['chain', 'invalidations']
  loop
    execute format('create trigger append_only before update or delete on harness.%I '
                   'for each row execute function harness.refuse_change()', name);
    execute format('create trigger append_only_truncate before truncate on harness.%I '
                   'for each statement execute function harness.refuse_change()', name);
  end loop;
end $$;

-- The runs that are set aside now.
create view harness.invalidated_runs as
  select newest.run_id, newest.at, newest.reason
  from (select distinct on (run_id) run_id, at, invalid, reason
        from harness.invalidations order by run_id, seq desc) newest
  where newest.invalid;

-- The newest complete run of each experiment that is not set aside.
create or replace view harness.latest_runs as
  select distinct on (s.experiment) s.*
  from harness.run_states s
  where s.state = 'done' and not exists (select from harness.invalidated_runs i where i.run_id = s.run_id)
  order by s.experiment, s.started_at desc, s.run_id desc;
