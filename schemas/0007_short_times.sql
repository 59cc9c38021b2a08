-- Rows of few samples with their times in half of the space. Rows that are there already stay as they are, and read as
-- before.
--
-- A fourth form beside those of 0005, for rows with at most 128 values: all of it in one value. Its bytes are
--   the number of bits of an offset, 0 to 32
--   the number of bytes of the start in the upper four bits, and of the step in the lower four, 1 to 7 each
--   the start, then the step, both big-endian in two's complement
--   the offsets without a sign, one after the other with the highest bit first, the last byte filled up with zeros
-- and the i-th time (from 0) is start + i * step + the i-th offset.
--
-- When a row was stored says nothing that its run's events do not say, and takes 8 bytes: new rows have none.

alter table harness.sample_sets
  add column at_packed bytea,
  alter column at_packed set statistics 0,
  alter column stored_at drop default,
  alter column stored_at drop not null,
  drop constraint one_form_of_times,
  add constraint one_form_of_times check (
    num_nonnulls(at_ns, at_off, times_of, at_packed) <= 1
    and num_nonnulls(at_start, at_step, at_off) in (0, 3)
    and (at_off is null or cardinality(at_off) = n and array_position(at_off, null) is null)
    and (at_packed is null or n <= 128)) not valid;

create function harness.packed_int(bytes bytea) returns bigint
  language sql immutable strict parallel safe
  return ('x' || lpad(encode(bytes, 'hex'), 16, '0'))::bit(64)::bigint
    - case when get_byte(bytes, 0) > 127 then 1::bigint << (8 * octet_length(bytes)) else 0 end;

-- The i-th time (from 0) of at_packed.
create function harness.packed_time(packed bytea, i bigint) returns bigint
  language sql immutable strict parallel safe
  return (select harness.packed_int(substr(packed, 3, w.of_start)) + i * harness.packed_int(substr(packed, 3 + w.of_start, w.of_step))
    + ((('x' || lpad(encode(w.around, 'hex'), 16, '0'))::bit(64)::bigint
        >> (8 * octet_length(w.around) - (i * w.bits % 8)::int - w.bits)) & ((1::bigint << w.bits) - 1))
  from (select h.*, substr(packed, (3 + h.of_start + h.of_step + i * h.bits / 8)::int, 5) as around
        from (select get_byte(packed, 0) as bits, get_byte(packed, 1) >> 4 as of_start, get_byte(packed, 1) & 15 as of_step) h) w);

create or replace view harness.stored_chunks as
  select e.slug as experiment, r.version, s.run_id, r.started_at, r.host, s.metric, s.cell, s.arm, a.role, s.unit,
         s.warmup, s.first_block, s.n, s."values", coalesce(s.at_ns, t.at_ns) as at_ns,
         coalesce(s.at_start, t.at_start) as at_start, coalesce(s.at_step, t.at_step) as at_step,
         coalesce(s.at_off, t.at_off) as at_off, coalesce(s.at_packed, t.at_packed) as at_packed
  from harness.sample_sets s
  join harness.runs r on r.run_id = s.run_id
  join harness.experiments e on e.experiment_id = r.experiment_id
  left join harness.arms a on a.experiment_id = r.experiment_id and a.version = r.version and a.arm = s.arm
  left join harness.sample_sets t on t.run_id = s.run_id and t.metric = s.times_of and t.cell = s.cell
    and t.arm = s.arm and t.warmup = s.warmup and t.first_block = s.first_block;

create or replace view harness.sample_chunks as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.warmup, s.first_block, s.n, s."values",
         case when s.at_off is not null
              then array(select s.at_start + (u.ord - 1) * s.at_step + u.off
                         from unnest(s.at_off) with ordinality as u(off, ord) order by u.ord)
              when s.at_packed is not null
              then array(select harness.packed_time(s.at_packed, i) from generate_series(0, s.n - 1) as i order by i)
              else s.at_ns end as at_ns
  from harness.stored_chunks s;

create or replace view harness.samples as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value,
         coalesce(u.at_ns, s.at_start + (u.ord - 1) * s.at_step + u.off, harness.packed_time(s.at_packed, u.ord - 1))
           as at_ns
  from harness.stored_chunks s
  cross join lateral unnest(s."values", s.at_ns, s.at_off) with ordinality as u(value, at_ns, off, ord)
  where not s.warmup;

create or replace view harness.warmups as
  select s.experiment, s.version, s.run_id, s.started_at, s.host, s.metric, s.cell, s.arm, s.role, s.unit,
         s.first_block + u.ord::int - 1 as block, u.value,
         coalesce(u.at_ns, s.at_start + (u.ord - 1) * s.at_step + u.off, harness.packed_time(s.at_packed, u.ord - 1))
           as at_ns
  from harness.stored_chunks s
  cross join lateral unnest(s."values", s.at_ns, s.at_off) with ordinality as u(value, at_ns, off, ord)
  where s.warmup;
