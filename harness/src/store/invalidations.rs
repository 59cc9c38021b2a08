//! Runs that are set aside: one row says so and why, another takes it back. Nothing is deleted.

use super::runs::differ;
use super::transact::Failure;
use super::{Invalidation, Store, StoreError, chain, check, micros};
use postgres::Transaction;
use postgres::types::Type;
use uuid::Uuid;

impl Store {
    /// Sets a run aside, or takes that back; see [`Invalidation`].
    pub fn invalidate(&mut self, run: Uuid, it: &Invalidation) -> Result<(), StoreError> {
        check::invalidation(it)?;
        self.transact("set the run aside", |transaction| insert(transaction, run, it, false))
    }
}

pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    it: &Invalidation,
    found: bool,
) -> Result<(), Failure> {
    let experiment = chain::experiment_of(transaction, run)?;
    let inserted = transaction.execute(
        "insert into harness.invalidations (run_id, seq, at, invalid, reason) values ($1, $2, $3, $4, $5) \
         on conflict do nothing",
        &[&run, &check::whole("invalidation.seq", it.seq)?, &micros(it.at), &it.invalid, &it.reason],
    )?;
    if inserted == 0 {
        let stored = of(transaction, run)?;
        let stored = stored.iter().find(|that| that.seq == it.seq).ok_or(Failure::Again)?;
        let given = Invalidation { at: micros(it.at), ..it.clone() };
        differ(&format!("invalidation {} of run {run}", it.seq), stored, &given)?;
        return Ok(());
    }
    let (kind, body) = (chain::invalidated(it.invalid), chain::body::invalidation(it));
    chain::seal(transaction, &experiment, kind, chain::object(run, it.seq), it.at, found, body)
}

pub(super) fn of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<Invalidation>, Failure> {
    let rows = transaction.query_typed(
        "select seq, at, invalid, reason from harness.invalidations where run_id = $1 order by seq",
        &[(&run, Type::UUID)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Invalidation {
                seq: row.try_get::<_, i32>(0)?.unsigned_abs(),
                at: row.try_get(1)?,
                invalid: row.try_get(2)?,
                reason: row.try_get(3)?,
            })
        })
        .collect()
}
