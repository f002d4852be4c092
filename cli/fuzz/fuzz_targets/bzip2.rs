//! The target `bzip2` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::fuzz_targets::bzip2(data));
