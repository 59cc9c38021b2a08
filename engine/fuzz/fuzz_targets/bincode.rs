#![no_main]

use engine::codec::Format;

#[path = "../checks/decoding.rs"]
mod decoding;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| decoding::check(bytes, Format::Bincode));
