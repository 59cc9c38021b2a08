#![no_main]

#[path = "../checks/image_build.rs"]
mod image_build;

libfuzzer_sys::fuzz_target!(|data: &[u8]| image_build::check(data));
