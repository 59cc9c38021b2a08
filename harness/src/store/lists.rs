//! What is in the store: lists of experiments and runs, and a run as a whole.

use super::transact::Failure;
use super::{
    ExperimentLine, RunData, RunLine, Store, StoreError, check, events, invalidations, runs, samples,
};
use postgres::types::Type;
use postgres::{Row, Transaction};
use uuid::Uuid;

impl Store {
    /// Every registered experiment, in order of the name.
    pub fn experiments(&mut self) -> Result<Vec<ExperimentLine>, StoreError> {
        self.transact("list the experiments", |transaction| {
            let rows = transaction.query_typed(
                "select e.slug, newest.title, newest.version, first.registered_at, \
                   (select count(*) from harness.runs r where r.experiment_id = e.experiment_id) \
                 from harness.experiments e \
                 join (select distinct on (experiment_id) experiment_id, title, version \
                       from harness.preregistrations order by experiment_id, version desc) newest \
                   using (experiment_id) \
                 join (select distinct on (experiment_id) experiment_id, registered_at \
                       from harness.preregistrations order by experiment_id, version) first \
                   using (experiment_id) \
                 order by e.slug collate \"C\"",
                &[],
            )?;
            rows.iter()
                .map(|row| {
                    Ok(ExperimentLine {
                        experiment: row.try_get(0)?,
                        title: row.try_get(1)?,
                        version: row.try_get::<_, i32>(2)?.unsigned_abs(),
                        registered_at: row.try_get(3)?,
                        runs: row.try_get::<_, i64>(4)?.unsigned_abs(),
                    })
                })
                .collect()
        })
    }

    /// The runs of an experiment, or all runs, in order of their beginning.
    pub fn runs(&mut self, experiment: Option<&str>) -> Result<Vec<RunLine>, StoreError> {
        if experiment.is_some_and(|it| check::slug(it).is_err()) {
            return Ok(Vec::new());
        }
        self.transact("list the runs", |transaction| lines(transaction, experiment))
    }

    /// The newest complete run of an experiment that is not set aside.
    pub fn latest_run(&mut self, experiment: &str) -> Result<Option<RunLine>, StoreError> {
        let runs = self.runs(Some(experiment))?;
        Ok(runs
            .into_iter()
            .rev()
            .find(|it| it.state == crate::vocab::RunState::Done && it.invalidated.is_none()))
    }

    /// A run with everything that it stored. All its digests hold.
    pub fn run(&mut self, id: Uuid) -> Result<Option<RunData>, StoreError> {
        self.transact("read the run", |transaction| whole(transaction, id))
    }
}

fn lines(transaction: &mut Transaction<'_>, experiment: Option<&str>) -> Result<Vec<RunLine>, Failure> {
    let columns = runs::COLUMNS;
    let tables = runs::TABLES;
    let rows = transaction.query_typed(
        &format!(
            "select {columns}, ev.state, ev.at, coalesce((select sum(s.n)::bigint from harness.sample_sets s \
               where s.run_id = r.run_id and not s.warmup), 0), v.verdict, \
             (select i.reason from harness.invalidated_runs i where i.run_id = r.run_id) from {tables} \
             join (select distinct on (run_id) run_id, state, at from harness.run_events \
                   order by run_id, seq desc) ev using (run_id) \
             left join (select distinct on (run_id) run_id, verdict from harness.verdicts \
                        order by run_id, seq desc) v using (run_id) \
             where $1::text is null or e.slug = $1 order by r.started_at, r.run_id"
        ),
        &[(&experiment, Type::TEXT)],
    )?;
    rows.iter().map(line).collect()
}

fn line(row: &Row) -> Result<RunLine, Failure> {
    let judged = row.try_get::<_, Option<&str>>(14)?.is_some();
    Ok(RunLine {
        run: runs::read(row)?,
        state: events::word(row, 11)?,
        state_at: row.try_get(12)?,
        samples: row.try_get::<_, i64>(13)?.unsigned_abs(),
        verdict: if judged { Some(events::word(row, 14)?) } else { None },
        invalidated: row.try_get(15)?,
    })
}

/// Everything of a run.
pub(super) fn whole(transaction: &mut Transaction<'_>, id: Uuid) -> Result<Option<RunData>, Failure> {
    let Some(run) = runs::find(transaction, id)? else { return Ok(None) };
    runs::environment_holds(transaction, &run)?;
    Ok(Some(RunData {
        run,
        arms: runs::arms_of(transaction, id)?,
        cells: samples::cells_of(transaction, id)?,
        events: events::of(transaction, id)?,
        sets: samples::of(transaction, id)?,
        invalidations: invalidations::of(transaction, id)?,
    }))
}
