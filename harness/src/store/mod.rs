//! The store: every raw sample, registration and verdict in Postgres, insert-only.

mod record;

pub use record::{
    CellArm, Event, Git, Registration, Run, RunArm, RunData, RunLine, SampleSet, StoredVerdict,
};
