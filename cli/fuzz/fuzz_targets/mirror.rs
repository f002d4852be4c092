//! The target `mirror` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::fuzz_targets::mirror(data));
