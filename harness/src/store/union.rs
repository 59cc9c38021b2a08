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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{CellArm, Event, Git, Run, SampleSet};
    use crate::vocab::{Digest, RunState};
    use serde_json::json;
    use uuid::Uuid;

    fn set(first_block: u32, values: &[f64]) -> SampleSet {
        SampleSet {
            metric: "t".to_owned(),
            cell: String::new(),
            arm: "a".to_owned(),
            warmup: false,
            first_block,
            unit: "ms".to_owned(),
            values: values.to_vec(),
            at_ns: Vec::new(),
        }
    }

    fn event(seq: u32, state: RunState) -> Event {
        Event { seq, at: "2026-01-10T09:00:00Z".parse().unwrap(), state, detail: None }
    }

    fn cell(arm: &str, result: &str) -> CellArm {
        CellArm { cell: String::new(), arm: arm.into(), effective: json!({}), result: result.into() }
    }

    fn data(sets: Vec<SampleSet>, events: Vec<Event>, cells: Vec<CellArm>) -> RunData {
        let run = Run {
            id: Uuid::nil(),
            experiment: "e".into(),
            version: 1,
            registration: Digest::of("e"),
            host: "h".into(),
            environment: json!({}),
            harness: "0.1.0".into(),
            seed: 1,
            git: Git { commit: "unknown".into(), dirty: false },
            started_at: "2026-01-10T09:00:00Z".parse().unwrap(),
        };
        RunData { run, arms: Vec::new(), cells, events, sets, invalidations: Vec::new() }
    }

    #[test]
    fn each_gives_what_the_other_lacks() {
        let (running, done) = (event(1, RunState::Running), event(2, RunState::Done));
        let a = data(vec![set(0, &[1.0, 2.0])], vec![running.clone()], vec![cell("b", "d")]);
        let b = data(vec![set(1, &[2.0, 3.0])], vec![running.clone(), done.clone()], vec![cell("a", "d")]);
        let both =
            data(vec![set(0, &[1.0, 2.0, 3.0])], vec![running, done], vec![cell("a", "d"), cell("b", "d")]);
        assert_eq!(a.clone().union(&b).unwrap(), both);
        assert_eq!(b.union(&a).unwrap(), both);
        assert_eq!(both.clone().union(&a).unwrap(), both);
    }

    #[test]
    fn what_both_have_must_be_the_same() {
        let a = data(vec![set(0, &[0.0])], vec![event(1, RunState::Running)], vec![cell("a", "d")]);
        let others = [
            (data(vec![set(0, &[-0.0])], vec![], vec![]), "block 0: stored 0.0, given -0.0"),
            (data(vec![], vec![event(1, RunState::Failed)], vec![]), "event 1 of run"),
            (data(vec![], vec![], vec![cell("a", "e")]), "what arm a said in cell ``"),
        ];
        for (other, difference) in others {
            let told = a.clone().union(&other).unwrap_err().to_string();
            assert!(told.contains(difference), "{told}");
        }
        let mut other = a.clone();
        other.run.seed = 2;
        assert!(a.union(&other).is_err());
    }
}
