#![no_main]

#[path = "../checks/image_decoder.rs"]
mod image_decoder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| image_decoder::check(data));
