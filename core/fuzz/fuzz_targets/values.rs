//! The target `values` for the fuzzer.
#![no_main]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::TARGETS[6].1(data));
