//! What is left of the store under `cfg(loom)`: the part whose threads are to be tried in every order.
#![cfg_attr(not(test), expect(dead_code, reason = "only its tests are run"))]

#[path = "pipeline.rs"]
mod pipeline;
#[path = "sync.rs"]
mod sync;
