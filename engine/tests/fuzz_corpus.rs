//! What the fuzzers found worth keeping is checked anew by every test run, without a fuzzer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
#![expect(clippy::duplicate_mod, reason = "what a fuzz target checks stands by itself")]

#[cfg(feature = "json")]
#[path = "../fuzz/checks/decoding.rs"]
mod decoding;
#[path = "../fuzz/checks/image_build.rs"]
mod image_build;
#[path = "../fuzz/checks/image_decoder.rs"]
mod image_decoder;
#[path = "../fuzz/checks/image_operations.rs"]
mod image_operations;
#[path = "../fuzz/checks/suffix_file.rs"]
mod suffix_file;

use std::path::Path;

/// Checks every input of a corpus.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        let outcome = std::panic::catch_unwind(|| check(&input));
        assert!(outcome.is_ok(), "the input is {}", path.display());
        checked += 1;
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn decoder() {
    replay("image_decoder", image_decoder::check);
}

#[test]
fn build() {
    replay("image_build", image_build::check);
}

#[test]
fn operations() {
    replay("image_operations", image_operations::check);
}

#[test]
fn suffix_files() {
    replay("suffix_file", suffix_file::check);
}

/// Every format of a dictionary, each with its corpus.
#[cfg(feature = "json")]
#[test]
fn codecs() {
    use engine::codec::Format::{Bincode, Json, ProtobufV1, ProtobufV2};
    replay("bincode", |bytes| decoding::check(bytes, Bincode));
    replay("json", |bytes| decoding::check(bytes, Json));
    replay("protobuf_v1", |bytes| decoding::check(bytes, ProtobufV1));
    replay("protobuf_v2", |bytes| decoding::check(bytes, ProtobufV2));
}
