//! The road of what a run measures: into the spool at once, from there to the store in chunks.

use super::failure::Failure;
use super::records::Records;
use super::sync::holds;
use super::ui::Ui;
use crate::measure::Measured;
use crate::spool::{Spool, SpoolError};
use crate::store::{CellArm, Event, RunData, SampleSet, Store, StoreError, StoredFinding, StoredVerdict};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// So many steps wait for the store at most, and so long if they are slower. Chunks keep the store small and the
/// host quiet; the spool has every block at once.
const STEPS: usize = 512;
const PERIOD: Duration = Duration::from_secs(1);

pub(super) struct Outbox {
    run: Uuid,
    spool: Spool,
    sets: Vec<SampleSet>,
    cells: Vec<CellArm>,
    steps: usize,
    sent: Instant,
    /// The store failed: the spool carries the run alone.
    away: bool,
    verdict: Option<(StoredVerdict, Vec<StoredFinding>)>,
}

impl Outbox {
    pub(super) fn new(run: Uuid, spool: Spool) -> Self {
        let (sets, cells) = (Vec::new(), Vec::new());
        Self { run, spool, sets, cells, steps: 0, sent: Instant::now(), away: false, verdict: None }
    }

    /// Keeps what a step measured.
    pub(super) fn block(
        &mut self,
        records: &mut Records,
        measured: Measured,
        ui: &Ui,
    ) -> Result<(), Failure> {
        self.spool.block(&measured.sets, &measured.cells)?;
        if self.away || matches!(records, Records::Files(_)) {
            return Ok(());
        }
        self.sets.extend(measured.sets);
        self.cells.extend(measured.cells);
        self.steps += 1;
        if self.steps >= STEPS || self.sent.elapsed() >= PERIOD { self.flush(records, ui) } else { Ok(()) }
    }

    /// Keeps an event, after everything that came before it.
    pub(super) fn event(&mut self, records: &mut Records, event: &Event, ui: &Ui) -> Result<(), Failure> {
        self.spool.event(event)?;
        self.flush(records, ui)?;
        let run = self.run;
        self.send(records, ui, |store| store.append_event(run, event))
    }

    /// Keeps the verdict. The first one stands, however often the way to the store must be tried.
    pub(super) fn verdict(
        &mut self,
        records: &mut Records,
        make: impl FnOnce() -> (StoredVerdict, Vec<StoredFinding>),
    ) -> Result<(StoredVerdict, Vec<StoredFinding>), Failure> {
        let (verdict, findings) = match &self.verdict {
            Some(it) => it.clone(),
            None => {
                let (verdict, findings) = make();
                self.spool.verdict(&verdict, &findings)?;
                self.verdict.insert((verdict, findings)).clone()
            }
        };
        if let Records::Store(store) = records {
            again(store, |store| store.append_verdict(&verdict, &findings))?;
        }
        Ok((verdict, findings))
    }

    fn flush(&mut self, records: &mut Records, ui: &Ui) -> Result<(), Failure> {
        let (sets, cells) = (std::mem::take(&mut self.sets), std::mem::take(&mut self.cells));
        (self.steps, self.sent) = (0, Instant::now());
        if sets.is_empty() && cells.is_empty() {
            return Ok(());
        }
        let run = self.run;
        self.send(records, ui, |store| store.append_block(run, &sets, &cells))
    }

    /// Tells the store something. One that fails is left alone from then on, and the user is told so once.
    pub(super) fn send(
        &mut self,
        records: &mut Records,
        ui: &Ui,
        write: impl FnMut(&mut Store) -> Result<(), StoreError>,
    ) -> Result<(), Failure> {
        let Records::Store(store) = records else { return Ok(()) };
        if self.away {
            return Ok(());
        }
        match again(store, write) {
            Err(error) if error.is_away() => {
                self.gone(&Failure::from(error), ui);
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// Leaves a store alone that failed.
    pub(super) fn gone(&mut self, failure: &Failure, ui: &Ui) {
        ui.warning(&format!("{failure}; the run goes on, its spool keeps it"));
        self.away = true;
    }

    /// Gives a store that failed in the middle all that it missed. `false` if it still fails.
    pub(super) fn catch_up(&mut self, records: &mut Records, ui: &Ui) -> Result<bool, Failure> {
        let Records::Store(store) = records else { return Ok(false) };
        if !self.away {
            return Ok(true);
        }
        let held = self.spool.held()?;
        let Some(data) = held.data else { return Ok(true) };
        let load = |store: &mut Store| store.import(&data, &held.registrations, &held.verdicts);
        match store.reconnect().and_then(|()| load(store)) {
            Ok(()) => {
                ui.note("the store is back and has all of the run");
                self.away = false;
                Ok(true)
            }
            Err(error) if error.is_away() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the spool: the store has all of it, as `stored` was read from there.
    pub(super) fn finish(self, stored: &RunData) -> Result<(), Failure> {
        let spooled = self.spool.held()?.data;
        if let Some(spooled) = spooled {
            holds(Some(stored.clone()), &spooled)?;
        }
        Ok(self.spool.remove()?)
    }

    /// Forgets a run that could not begin.
    pub(super) fn discard(self) -> Result<(), SpoolError> {
        self.spool.remove()
    }

    /// Where the spool is.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.spool.folder()
    }
}

/// Writes something, once more after a connection that broke. What is stored twice is stored once.
fn again(
    store: &mut Store,
    mut write: impl FnMut(&mut Store) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match write(store) {
        Err(error) if error.is_lost() && store.reconnect().is_ok() => write(store),
        other => other,
    }
}
