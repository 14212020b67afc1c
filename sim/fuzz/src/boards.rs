//! libFuzzer's way into the scenarios.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rtoslab_machine::scenarios::check(data));
