//! What happens to a run: one row an event, never changed.

use super::runs::differ;
use super::transact::Failure;
use super::{Event, Store, StoreError, chain, check, micros, samples};
use crate::vocab::{RunState, Seal};
use postgres::types::Type;
use postgres::{Row, Transaction};
use uuid::Uuid;

impl Store {
    /// Appends an event to a run.
    pub fn append_event(&mut self, run: Uuid, event: &Event) -> Result<(), StoreError> {
        check::event(event)?;
        self.transact("store the event", |transaction| {
            exists(transaction, run)?;
            insert(transaction, run, event, false)
        })?;
        if event.state == RunState::Done {
            self.refresh_statistics();
        }
        Ok(())
    }
}

pub(super) fn exists(transaction: &mut Transaction<'_>, run: Uuid) -> Result<(), Failure> {
    match transaction
        .query_typed_opt("select 1 from harness.runs where run_id = $1", &[(&run, Type::UUID)])?
    {
        Some(_) => Ok(()),
        None => Err(StoreError::UnknownRun(run).into()),
    }
}

/// An event that ends a run seals what is stored of it then: samples come first.
pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    event: &Event,
    found: bool,
) -> Result<(), Failure> {
    if matches!(event.state, RunState::Done | RunState::Failed) {
        // Nobody adds a sample between the seal's look at them and the event that refuses more.
        samples::lock(transaction, run)?;
    }
    let inserted = transaction.execute(
        "insert into harness.run_events (run_id, seq, at, state, detail) values ($1, $2, $3, $4, $5) \
         on conflict do nothing",
        &[
            &run,
            &check::whole("event.seq", event.seq)?,
            &micros(event.at),
            &event.state.as_str(),
            &event.detail,
        ],
    )?;
    if inserted == 0 {
        let stored = of(transaction, run)?;
        let stored = stored.iter().find(|it| it.seq == event.seq).ok_or(Failure::Again)?;
        let given = Event { at: micros(event.at), ..event.clone() };
        return Ok(differ(&format!("event {} of run {run}", event.seq), stored, &given)?);
    }
    let experiment = chain::experiment_of(transaction, run)?;
    let body = chain::event_body(transaction, run, event)?;
    chain::seal(transaction, &experiment, Seal::Event, chain::object(run, event.seq), event.at, found, body)
}

/// All events of a run, in order.
pub(super) fn of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<Event>, Failure> {
    let rows = transaction.query_typed(
        "select seq, at, state, detail from harness.run_events where run_id = $1 order by seq",
        &[(&run, Type::UUID)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Event {
                seq: row.try_get::<_, i32>(0)?.unsigned_abs(),
                at: row.try_get(1)?,
                state: word(row, 2)?,
                detail: row.try_get(3)?,
            })
        })
        .collect()
}

/// A word of a closed set; the schema lets no other in.
pub(super) fn word<T: std::str::FromStr<Err = crate::vocab::UnknownWord>>(
    row: &Row,
    column: usize,
) -> Result<T, Failure> {
    let text: &str = row.try_get(column)?;
    text.parse()
        .map_err(|error: crate::vocab::UnknownWord| StoreError::Damaged { problem: error.to_string() }.into())
}
