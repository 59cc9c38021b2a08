-- The store is insert-only, and the server says so: no row is changed or removed once it is written.
create function harness.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'harness.% is append-only: % refused', tg_table_name, lower(tg_op)
    using errcode = 'HL001', hint = 'Write a new row: an amendment, an event, a later verdict.';
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['experiments', 'preregistrations', 'arms', 'environments', 'runs', 'run_arms',
                              'cell_arms', 'run_events', 'sample_sets', 'verdicts', 'findings']
  loop
    execute format('create trigger append_only before update or delete on harness.%I '
                   'for each row execute function harness.refuse_change()', name);
    execute format('create trigger append_only_truncate before truncate on harness.%I '
                   'for each statement execute function harness.refuse_change()', name);
  end loop;
end $$;
