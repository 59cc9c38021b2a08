use super::runs::differ;
use super::{RunData, StoreError, series};

impl RunData {
    /// This and another copy of the same run, of which each may have what the other lacks.
    ///
    /// Where both have something they must have the same, samples to the bit; the first difference is a
    /// [`StoreError::Contradiction`].
    pub fn union(mut self, other: &Self) -> Result<Self, StoreError> {
        let id = self.run.id;
        differ(&format!("run {id}"), &self.run, &other.run)?;
        differ(&format!("arms of run {id}"), &self.arms, &other.arms)?;
        for cell in &other.cells {
            match self.cells.iter().find(|it| it.cell == cell.cell && it.arm == cell.arm) {
                Some(known) => {
                    differ(&format!("what arm {} said in cell `{}`", cell.arm, cell.cell), known, cell)?;
                }
                None => self.cells.push(cell.clone()),
            }
        }
        for event in &other.events {
            match self.events.iter().find(|it| it.seq == event.seq) {
                Some(known) => differ(&format!("event {} of run {id}", event.seq), known, event)?,
                None => self.events.push(event.clone()),
            }
        }
        for it in &other.invalidations {
            match self.invalidations.iter().find(|known| known.seq == it.seq) {
                Some(known) => differ(&format!("invalidation {} of run {id}", it.seq), known, it)?,
                None => self.invalidations.push(it.clone()),
            }
        }
        let missing = series::missing(&self.sets, &other.sets)?;
        if !missing.is_empty() {
            self.sets.extend(missing);
            self.sets = series::join(self.sets);
        }
        self.cells.sort_by(|a, b| (&a.cell, &a.arm).cmp(&(&b.cell, &b.arm)));
        self.events.sort_by_key(|it| it.seq);
        self.invalidations.sort_by_key(|it| it.seq);
        Ok(self)
    }
}
