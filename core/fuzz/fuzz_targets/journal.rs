//! The target `journal` for the fuzzer.
#![no_main]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::TARGETS[8].1(data));
