//! The target `configuration` for the fuzzer.
#![no_main]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::TARGETS[7].1(data));
