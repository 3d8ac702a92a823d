#![no_main]

#[path = "../checks/mapping_file.rs"]
mod mapping_file;
#[path = "../checks/nested.rs"]
mod nested;

libfuzzer_sys::fuzz_target!(|data: &[u8]| nested::check(data));
