//! The target `plan` for the fuzzer.
#![no_main]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::TARGETS[2].1(data));
