#![no_main]

#[path = "../checks/image_operations.rs"]
mod image_operations;

libfuzzer_sys::fuzz_target!(|data: &[u8]| image_operations::check(data));
