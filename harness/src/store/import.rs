//! Taking over what another store exported: all of it or nothing.

use super::transact::Failure;
use super::{
    Registration, RunData, Store, StoreError, StoredFinding, StoredVerdict, check, events, register, runs,
    samples, verdicts,
};
use crate::store::runs::differ;
use postgres::Transaction;

impl Store {
    /// Stores a run that was measured elsewhere, with its registrations and verdicts, in one transaction.
    ///
    /// What is stored already is compared, to the bit and whatever chunks it came in; the first difference is a
    /// [`StoreError::Contradiction`] and nothing is stored. The same import again changes nothing, and one that
    /// has more of the same run adds what is missing.
    pub fn import(
        &mut self,
        data: &RunData,
        registrations: &[Registration],
        judgements: &[(StoredVerdict, Vec<StoredFinding>)],
    ) -> Result<(), StoreError> {
        let mut arms = Vec::with_capacity(registrations.len());
        for registration in registrations {
            check::registration(registration)?;
            arms.push(register::arms(&registration.doc)?);
        }
        check::run(&data.run, &data.arms)?;
        data.events.iter().try_for_each(check::event)?;
        data.sets.iter().try_for_each(check::sample_set)?;
        data.cells.iter().try_for_each(check::cell_arm)?;
        if data.events.is_empty() {
            return Err(StoreError::invalid("events", format!("run {} has none", data.run.id)));
        }
        for (verdict, findings) in judgements {
            check::verdict(verdict, findings)?;
            if verdict.run != data.run.id {
                let problem = format!("it is of run {}, not of run {}", verdict.run, data.run.id);
                return Err(StoreError::invalid("verdict.run", problem));
            }
        }
        self.transact("import the run", |transaction| {
            for (registration, arms) in registrations.iter().zip(&arms) {
                register::insert(transaction, registration, arms)?;
                same_circumstances(transaction, registration)?;
            }
            runs::insert(transaction, &data.run, &data.arms)?;
            for event in &data.events {
                events::insert(transaction, data.run.id, event)?;
            }
            samples::insert(transaction, data.run.id, &data.sets, &data.cells)?;
            for (verdict, findings) in judgements {
                verdicts::insert(transaction, verdict, findings)?;
            }
            Ok(())
        })?;
        self.refresh_statistics();
        Ok(())
    }
}

/// A copy of a registration says the same of where and when it was frozen; only somebody who registers the text
/// anew may find it registered already.
fn same_circumstances(transaction: &mut Transaction<'_>, given: &Registration) -> Result<(), Failure> {
    let stored = register::stored(transaction, &given.experiment, given.version)?.ok_or(Failure::Again)?;
    let of = |field: &str| format!("{field} of version {} of `{}`", given.version, given.experiment);
    differ(&of("title"), &stored.title, &given.title)?;
    differ(&of("reason"), &stored.reason, &given.reason)?;
    Ok(())
}
