//! The target `redact` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::fuzz_targets::redact(data));
