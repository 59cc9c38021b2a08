//! What the host did while a run was measured, as the detail of the run's events.

use crate::measure::{Aside, Conditions};
use crate::store::SampleSet;
use serde_json::{Map, Value, json};

/// More rows are not kept: neighbors are joined, each quantity by its worst value.
const MOST: usize = 4_096;

/// The conditions of all blocks of a process's part of a run, in the order in which they were measured.
#[derive(Default)]
pub(super) struct Telemetry {
    rows: Vec<(usize, Conditions)>,
    /// How many blocks a row stands for.
    joined: usize,
    pending: usize,
}

impl Telemetry {
    /// Adds the conditions of a step of the plan; of short steps that are told together they come with the last one.
    pub(super) fn add(&mut self, step: usize, it: Conditions) {
        if it == Conditions::default() {
            return;
        }
        let every = self.joined.max(1);
        match self.rows.last_mut() {
            Some((_, last)) if !self.pending.is_multiple_of(every) => *last = worst(*last, it),
            _ => self.rows.push((step, it)),
        }
        self.pending += 1;
        if self.rows.len() > MOST {
            self.rows = self
                .rows
                .chunks(2)
                .map(|pair| (pair[0].0, pair.iter().fold(Conditions::default(), |all, it| worst(all, it.1))))
                .collect();
            self.joined = every * 2;
        }
    }

    /// The rows by quantity, without those that the kernel does not tell; `None` if that is all.
    pub(super) fn detail(&self) -> Option<Value> {
        let mut columns = Map::new();
        for (i, (name, unit, _)) in Conditions::default().named().into_iter().enumerate() {
            let values: Vec<Option<f64>> = self.rows.iter().map(|(_, it)| it.named()[i].2).collect();
            if values.iter().any(Option::is_some) {
                columns.insert(name.to_owned(), json!({ "unit": unit, "values": values }));
            }
        }
        (!columns.is_empty()).then(|| {
            let steps: Vec<usize> = self.rows.iter().map(|(step, _)| *step).collect();
            json!({ "steps": steps, "quantities": columns })
        })
    }
}

fn worst(a: Conditions, b: Conditions) -> Conditions {
    let most = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
    Conditions {
        load: most(a.load, b.load),
        steal: most(a.steal, b.steal),
        pressure: most(a.pressure, b.pressure),
        // A processor that was slower is the worse one.
        frequency: most(a.frequency.map(|it| -it), b.frequency.map(|it| -it)).map(|it| -it),
        switches: most(a.switches, b.switches),
    }
}

/// A block whose samples do not count, with its samples.
pub(super) fn set_aside(step: usize, aside: &Aside, sets: &[SampleSet], conditions: &Conditions) -> Value {
    let first = sets.first();
    let seen: Map<String, Value> = conditions
        .named()
        .into_iter()
        .filter_map(|(name, _, value)| Some((name.to_owned(), json!(value?))))
        .collect();
    json!({ "block": {
        "cell": first.map_or("", |it| it.cell.as_str()),
        "block": first.map_or(0, |it| it.first_block),
        "step": step,
        "attempt": aside.attempt,
        "then": if aside.excluded { "exclude" } else { "remeasure" },
        "reasons": aside.reasons,
        "conditions": seen,
        "samples": sets.iter().map(|it| json!({
            "metric": it.metric, "arm": it.arm, "unit": it.unit, "values": it.values,
        })).collect::<Vec<_>>(),
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_keep_the_worst_of_neighbors() {
        let mut telemetry = Telemetry::default();
        for step in 0..20_000 {
            let steal = Some(if step == 12_345 { 0.5 } else { 0.0 });
            telemetry.add(step, Conditions { steal, frequency: Some(step as f64), ..Conditions::default() });
        }
        assert!(telemetry.rows.len() <= MOST + 1);
        let detail = telemetry.detail().unwrap();
        let steal = detail["quantities"]["steal"]["values"].as_array().unwrap();
        assert_eq!(steal.iter().filter(|it| it.as_f64() == Some(0.5)).count(), 1);
        assert_eq!(detail["quantities"]["frequency"]["values"][0], 0.0);
        assert!(detail["quantities"].get("load").is_none());
        assert!(Telemetry::default().detail().is_none());
    }
}
