-- When samples were complete, in a quarter of the space. All metrics of a sample have one time, and samples come about
-- evenly: a time is kept once for all metrics of an arm, as its distance from a straight line. Rows that are there
-- already stay as they are, and read as before.
--
-- A row has one of these, or no times at all:
--   at_ns                       the times themselves, where the line is too far away
--   at_start, at_step, at_off   the i-th time (from 0) is at_start + i * at_step + at_off[i + 1]
--   times_of                    the times of another metric's row of the same cell, arm and blocks

alter table harness.sample_sets
  add column at_start bigint,
  add column at_step bigint,
  add column at_off int[],
  add column times_of text,
  alter column at_off set storage external,
  add constraint one_form_of_times check (
    num_nonnulls(at_ns, at_off, times_of) <= 1
    and num_nonnulls(at_start, at_step, at_off) in (0, 3)
    and (at_off is null or cardinality(at_off) = n and array_position(at_off, null) is null)),
  add constraint times_are_there foreign key (run_id, times_of, cell, arm, warmup, first_block)
    references harness.sample_sets (run_id, metric, cell, arm, warmup, first_block);

-- The same as before in a third of the time: NaN is the greatest of all numbers here. Rows that are there already
-- passed the old one.
alter table harness.sample_sets
  drop constraint finite_values,
  add constraint finite_values check (
    array_position("values", null) is null
    and 'Infinity' > all ("values") and '-Infinity' < all ("values")) not valid;

-- Statistics over the elements of arrays help no query here, and take ANALYZE seconds.
alter table harness.sample_sets
  alter column "values" set statistics 0,
  alter column at_ns set statistics 0,
  alter column at_off set statistics 0;

-- One row a chunk, with its times in whichever form its own row or that of the other metric has them.
create view harness.stored_chunks as
  select e.slug as experiment, r.version, s.run_id, r.started_at, r.host, s.metric, s.cell, s.arm, a.role, s.unit,
         s.warmup, s.first_block, s.n, s."values", coalesce(s.at_ns, t.at_ns) as at_ns,
         coalesce(s.at_start, t.at_start) as at_start, coalesce(s.at_step, t.at_step) as at_step,
         coalesce(s.at_off, t.at_off) as at_off
  from harness.sample_sets s
  join harness.runs r on r.run_id = s.run_id
  join harness.experiments e on e.experiment_id = r.experiment_id
  left join harness.arms a on a.experiment_id = r.experiment_id and a.version = r.version and a.arm = s.arm
  left join harness.sample_sets t on t.run_id = s.run_id and t.metric = s.times_of and t.cell = s.cell
    and t.arm = s.arm and t.warmup = s.warmup and t.first_block = s.first_block;

create or replace view harness.sample_chunks as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.warmup, s.first_block, s.n, s."values",
         case when s.at_off is null then s.at_ns
              else array(select s.at_start + (u.ord - 1) * s.at_step + u.off
                         from unnest(s.at_off) with ordinality as u(off, ord) order by u.ord) end as at_ns
  from harness.stored_chunks s;

create or replace view harness.samples as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value,
         coalesce(u.at_ns, s.at_start + (u.ord - 1) * s.at_step + u.off) as at_ns
  from harness.stored_chunks s
  cross join lateral unnest(s."values", s.at_ns, s.at_off) with ordinality as u(value, at_ns, off, ord)
  where not s.warmup;

create or replace view harness.warmups as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value,
         coalesce(u.at_ns, s.at_start + (u.ord - 1) * s.at_step + u.off) as at_ns
  from harness.stored_chunks s
  cross join lateral unnest(s."values", s.at_ns, s.at_off) with ordinality as u(value, at_ns, off, ord)
  where s.warmup;
