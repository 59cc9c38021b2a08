//! What a link seals, as a digest: the SHA-256 of compact JSON, as evidence has it, an instant in RFC 3339 and UTC.
//! The same object has the same digest in every store and in every evidence file.

use super::super::series::stretches_of;
use super::super::{
    CellArm, Event, Invalidation, Registration, Run, RunArm, SampleSet, StoredFinding, StoredVerdict, micros,
};
use crate::vocab::Digest;
use serde::Serialize;
use serde_json::{Value, json};

/// A version of a registration: the text with its digest, and when, where and why it was frozen.
pub fn registration(it: &Registration) -> Digest {
    of(&Registration { registered_at: micros(it.registered_at), ..it.clone() })
}

/// A run and what its arms are, in order of the name.
pub fn begun(run: &Run, arms: &[RunArm]) -> Digest {
    let mut arms: Vec<&RunArm> = arms.iter().collect();
    arms.sort_by(|a, b| a.arm.cmp(&b.arm));
    of(&json!([Run { started_at: micros(run.started_at), ..run.clone() }, arms]))
}

/// An event: with the echoes in order of cell and arm, and with a line for each gapless stretch of samples in order of
/// metric, cell, arm, warm-up and block: those five, the unit, n, the digest of the values and that of the times.
pub fn event(event: &Event, cells: &[CellArm], sets: &[SampleSet]) -> Digest {
    let mut cells: Vec<&CellArm> = cells.iter().collect();
    cells.sort_by(|a, b| (&a.cell, &a.arm).cmp(&(&b.cell, &b.arm)));
    of(&json!([Event { at: micros(event.at), ..event.clone() }, cells, samples(sets)]))
}

/// A verdict with its findings, in order.
pub fn verdict(verdict: &StoredVerdict, findings: &[StoredFinding]) -> Digest {
    let mut findings: Vec<&StoredFinding> = findings.iter().collect();
    findings.sort_by(|a, b| a.key().cmp(&b.key()));
    of(&json!([StoredVerdict { decided_at: micros(verdict.decided_at), ..verdict.clone() }, findings]))
}

/// That a run is set aside, or taken back.
pub fn invalidation(it: &Invalidation) -> Digest {
    of(&Invalidation { at: micros(it.at), ..it.clone() })
}

/// A record without anything but texts and numbers always has a JSON form.
fn of(record: &impl Serialize) -> Digest {
    Digest::of(serde_json::to_vec(record).unwrap_or_default())
}

/// A line a stretch. Long series are hashed at the same time, on as many cores as there are.
fn samples(sets: &[SampleSet]) -> Vec<Value> {
    let stretches = stretches_of(sets);
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(stretches.len());
    let total: usize = sets.iter().map(|it| it.values.len()).sum();
    // A thread costs more than some thousands of samples.
    if cores < 2 || total < 100_000 {
        return stretches.iter().map(|it| line(it)).collect();
    }
    let parts: Vec<_> = stretches.chunks(stretches.len().div_ceil(cores)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(move || part.iter().map(|it| line(it)).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn line(stretch: &[&SampleSet]) -> Value {
    let n: usize = stretch.iter().map(|it| it.values.len()).sum();
    let values = Digest::of_numbers(stretch.iter().flat_map(|it| &it.values), f64::to_be_bytes);
    let times = Digest::of_numbers(stretch.iter().flat_map(|it| &it.at_ns), i64::to_be_bytes);
    let it = stretch[0];
    json!([it.metric, it.cell, it.arm, it.warmup, it.first_block, it.unit, n, values, times])
}
