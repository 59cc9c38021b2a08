-- Tables and views of the store. Plain SQL for PostgreSQL 14 and newer: no extension, sequence, enum or domain.
-- Every row is written once. Keys are made by the client, so the same row may be offered twice, from anywhere.
-- Documents are `json`, not `jsonb`: the text comes back as it was written, and so does every number in it
-- (`jsonb` would turn -0.0 into 0 and 1e16 into an integer). Cast with `doc::jsonb` to search in them.

-- An experiment has no content of its own. Its id is made from its slug (UUIDv8 of the SHA-256 of
-- 'harness/experiment/' || slug), so that stores on different machines agree on it and merge without conflict.
create table harness.experiments (
  experiment_id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9._-]{0,99}$'),
  created_at timestamptz not null default now());

-- Version 1 is the original; an amendment is a new version with its reason.
create table harness.preregistrations (
  experiment_id uuid not null references harness.experiments,
  version int not null check (version >= 1),
  title text not null,
  canonical text not null,                              -- the exact bytes of the digest
  doc json not null,                                    -- the same, parsed
  sha256 bytea not null check (octet_length(sha256) = 32),
  git_commit text not null,
  git_dirty boolean not null,
  registered_at timestamptz not null,
  reason text,
  stored_at timestamptz not null default now(),
  primary key (experiment_id, version));

create table harness.arms (
  experiment_id uuid not null,
  version int not null,
  arm text not null check (arm <> ''),
  role text not null check (role in ('control', 'treatment', 'sham', 'null')),
  spec json not null,
  primary key (experiment_id, version, arm),
  foreign key (experiment_id, version) references harness.preregistrations);

create table harness.environments (
  env_sha256 bytea primary key check (octet_length(env_sha256) = 32),
  doc json not null,
  stored_at timestamptz not null default now());

create table harness.runs (
  run_id uuid primary key,                              -- UUIDv7: sorts by time
  experiment_id uuid not null,
  version int not null,
  env_sha256 bytea not null references harness.environments,
  host text not null,
  harness text not null,
  seed bigint not null,                                 -- the 64 bits of an unsigned number
  git_commit text not null,
  git_dirty boolean not null,
  started_at timestamptz not null,
  stored_at timestamptz not null default now(),
  foreign key (experiment_id, version) references harness.preregistrations);
create index runs_experiment on harness.runs (experiment_id, run_id);

-- What each arm really was in a run.
create table harness.run_arms (
  run_id uuid not null references harness.runs,
  arm text not null check (arm <> ''),
  command json not null,
  env json not null,
  binary_sha256 bytea check (octet_length(binary_sha256) = 32),
  primary key (run_id, arm));

-- What each arm said of itself in a cell.
create table harness.cell_arms (
  run_id uuid not null,
  cell text not null,
  arm text not null,
  effective json not null,
  result text not null,
  primary key (run_id, cell, arm),
  foreign key (run_id, arm) references harness.run_arms);

-- A run's state is its last event.
create table harness.run_events (
  run_id uuid not null references harness.runs,
  seq int not null check (seq >= 1),
  at timestamptz not null,
  state text not null check (state in ('running', 'resumed', 'done', 'failed', 'aborted')),
  detail json,
  primary key (run_id, seq));

-- One row is a chunk of consecutive blocks of one metric, cell and arm: the i-th value (from 0) is the sample of
-- block first_block + i. The digest is over the big-endian IEEE bytes:
-- sha256(string_agg(float8send(v), ''::bytea order by ord)).
create table harness.sample_sets (
  run_id uuid not null,
  metric text not null check (metric <> ''),
  cell text not null,
  arm text not null,
  warmup boolean not null,
  first_block int not null check (first_block >= 0),
  unit text not null,
  n int not null check (n between 1 and 32768),
  "values" float8[] not null,
  at_ns bigint[],
  sha256 bytea not null check (octet_length(sha256) = 32),
  stored_at timestamptz not null default now(),
  primary key (run_id, metric, cell, arm, warmup, first_block),
  foreign key (run_id, arm) references harness.run_arms,
  constraint one_value_a_block check (array_ndims("values") = 1 and cardinality("values") = n),
  constraint one_time_a_value check (at_ns is null or cardinality(at_ns) = n),
  constraint finite_values check (
    array_position("values", 'NaN') is null and array_position("values", 'Infinity') is null
    and array_position("values", '-Infinity') is null and array_position("values", null) is null));
-- Doubles do not compress; trying to would cost two thirds of the time of an insert.
alter table harness.sample_sets alter column "values" set storage external;
alter table harness.sample_sets alter column at_ns set storage external;

-- A re-analysis adds seq 2.
create table harness.verdicts (
  run_id uuid not null references harness.runs,
  seq int not null check (seq >= 1),
  verdict text not null check (verdict in ('accept', 'reject', 'inconclusive', 'invalid', 'recorded')),
  doc json not null,                                    -- the whole decision
  harness text not null,
  decided_at timestamptz not null,
  primary key (run_id, seq));

-- What a verdict says of each hypothesis and guard: the doc's rows, for people who write SQL.
create table harness.findings (
  run_id uuid not null,
  seq int not null,
  kind text not null check (kind in ('hypothesis', 'guard')),
  id text not null,
  metric text not null,
  cell text not null,
  treatment text not null,
  control text not null,
  finding text not null check (finding in ('supported', 'refuted', 'undecided')),
  n_control int not null,
  n_treatment int not null,
  mean_control float8,
  mean_treatment float8,
  gain float8,
  gain_low float8,
  gain_high float8,
  statistic float8,
  df float8,
  p_value float8,
  ln_p float8,                                          -- where p_value is below the smallest double
  p_adjusted float8,
  effect_size float8,
  primary key (run_id, seq, kind, id, metric, cell, treatment, control),
  foreign key (run_id, seq) references harness.verdicts);

-- One row a chunk, with the words that people filter by.
create view harness.sample_chunks as
  select e.slug as experiment, r.version, s.run_id, r.started_at, r.host, s.metric, s.cell, s.arm, a.role, s.unit,
         s.warmup, s.first_block, s.n, s."values", s.at_ns
  from harness.sample_sets s
  join harness.runs r on r.run_id = s.run_id
  join harness.experiments e on e.experiment_id = r.experiment_id
  left join harness.arms a on a.experiment_id = r.experiment_id and a.version = r.version and a.arm = s.arm;

-- One row a sample; never a warm-up.
create view harness.samples as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value, u.at_ns
  from harness.sample_chunks s
  cross join lateral unnest(s."values", s.at_ns) with ordinality as u(value, at_ns, ord)
  where not s.warmup;

create view harness.warmups as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value, u.at_ns
  from harness.sample_chunks s
  cross join lateral unnest(s."values", s.at_ns) with ordinality as u(value, at_ns, ord)
  where s.warmup;

create view harness.run_states as
  select distinct on (r.run_id) e.slug as experiment, r.*, ev.state, ev.at as state_at
  from harness.runs r
  join harness.experiments e on e.experiment_id = r.experiment_id
  left join harness.run_events ev on ev.run_id = r.run_id
  order by r.run_id, ev.seq desc;

-- The newest complete run of each experiment.
create view harness.latest_runs as
  select distinct on (s.experiment) s.*
  from harness.run_states s
  where s.state = 'done'
  order by s.experiment, s.started_at desc, s.run_id desc;
