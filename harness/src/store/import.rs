//! Taking over what another store exported: all of it or nothing.

use super::transact::Failure;
use super::{
    Link, Registration, RunData, Store, StoreError, StoredFinding, StoredVerdict, chain, check, events,
    invalidations, register, runs, samples, verdicts,
};
use crate::store::runs::differ;
use postgres::Transaction;

impl Store {
    /// Stores a registration that was frozen elsewhere, taking over the chain up to the last link about it; see
    /// [`Store::import_linked`].
    pub fn import_registration(&mut self, it: &Registration, links: &[Link]) -> Result<(), StoreError> {
        check::registration(it)?;
        let arms = register::arms(&it.doc)?;
        self.transact("import the registration", |transaction| {
            chain::adopt(transaction, &it.experiment, links)?;
            register::insert(transaction, it, &arms, true)?;
            same_circumstances(transaction, it)
        })
    }

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
        self.import_linked(data, registrations, judgements, &[])
    }

    /// [`Store::import`], taking over the chain of the store that measured it, up to the last link about the run. It
    /// is taken over where it goes on from this store's own; otherwise, and where it says nothing, what is
    /// imported is sealed as found.
    pub fn import_linked(
        &mut self,
        data: &RunData,
        registrations: &[Registration],
        judgements: &[(StoredVerdict, Vec<StoredFinding>)],
        links: &[Link],
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
        data.invalidations.iter().try_for_each(check::invalidation)?;
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
            chain::adopt(transaction, &data.run.experiment, links)?;
            for (registration, arms) in registrations.iter().zip(&arms) {
                register::insert(transaction, registration, arms, true)?;
                same_circumstances(transaction, registration)?;
            }
            runs::insert(transaction, &data.run, &data.arms, true)?;
            samples::insert(transaction, data.run.id, &data.sets, &data.cells)?;
            for event in &data.events {
                events::insert(transaction, data.run.id, event, true)?;
            }
            for (verdict, findings) in judgements {
                verdicts::insert(transaction, verdict, findings, true)?;
            }
            for it in &data.invalidations {
                invalidations::insert(transaction, data.run.id, it, true)?;
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
