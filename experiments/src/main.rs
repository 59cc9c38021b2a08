//! The worker of this workspace: the engine's systems, dressed for measuring.
//!
//! `harness run <experiment>` builds and starts it; by hand it answers the lines of the worker protocol.

mod codec;
mod heap;
mod heap_allocators;
mod heap_crew;
mod heap_floor;
mod heap_growth;
#[cfg(feature = "peer-allocators")]
mod heap_peers;
mod heap_trace;
mod heap_workloads;
mod loading;
mod memory;
#[cfg(feature = "peers")]
mod peer_system;
#[cfg(feature = "peers")]
mod peers;
mod queries;
mod questions;
mod suffix;
#[cfg(feature = "peers")]
mod suffix_peer_system;
#[cfg(feature = "peers")]
mod suffix_peers;
mod suffix_workload;
mod terms;

use std::process::ExitCode;

/// The tests run on the engine's heap.
#[cfg(test)]
#[global_allocator]
static HEAP: engine::heap::Heap = engine::heap::Heap::new();

fn main() -> ExitCode {
    harness::worker::main(&[
        &codec::Codec,
        &loading::Loading,
        &loading::LoadingMemory,
        &heap::Heap,
        &heap::HeapMemory,
        &suffix::Suffix,
        #[cfg(feature = "peers")]
        &peer_system::Peers,
        #[cfg(feature = "peers")]
        &peer_system::PeersMemory,
        #[cfg(feature = "peers")]
        &suffix_peer_system::SuffixPeers,
    ])
}
