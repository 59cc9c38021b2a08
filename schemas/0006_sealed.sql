-- What ends a run seals its samples and echoes in the chain: nothing is added to them afterwards. Asked once a
-- statement, not once a row.
create function harness.refuse_after_the_end() returns trigger language plpgsql as $$
declare
  ended record;
begin
  select last.run_id, last.state into ended
  from (select distinct run_id from added) a
  cross join lateral (select ev.run_id, ev.state from harness.run_events ev
                      where ev.run_id = a.run_id order by ev.seq desc limit 1) last
  where last.state in ('done', 'failed')
  limit 1;
  if found then
    raise exception 'run % is %: nothing is added to harness.% any more', ended.run_id, ended.state, tg_table_name
      using errcode = 'HL002', hint = 'Measure again: a new run.';
  end if;
  return null;
end $$;

create trigger sealed after insert on harness.sample_sets
  referencing new table as added for each statement execute function harness.refuse_after_the_end();
create trigger sealed after insert on harness.cell_arms
  referencing new table as added for each statement execute function harness.refuse_after_the_end();
