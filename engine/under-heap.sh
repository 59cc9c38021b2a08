#!/usr/bin/env bash
# Runs tests with the heap in the place of the C library's allocator: in the tests' own processes and in all that these
# start. The arguments are those of `cargo test`.
#
#   engine/under-heap.sh -p harness
#   ENGINE_HEAP_INLINE=c2,c3,c4,c5,c6,c7 engine/under-heap.sh -p engine --features heap,json
#   ENGINE_HEAP_DEBUG=1 engine/under-heap.sh --manifest-path another/Cargo.toml
#
# A program that has an allocator of its own installed keeps it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
env -u ENGINE_HEAP_DEBUG -u ENGINE_HEAP_INLINE cargo build --quiet --release --manifest-path "$root/Cargo.toml" \
    --target-dir "$target" -p engine --features heap --example heap_preload
# Only what cargo runs is run on the heap, not cargo and the compiler.
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${host}_RUNNER=env LD_PRELOAD=$target/release/examples/libheap_preload.so"
exec cargo test "$@"
