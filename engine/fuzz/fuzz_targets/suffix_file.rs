#![no_main]

#[path = "../checks/suffix_file.rs"]
mod suffix_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| suffix_file::check(data));
