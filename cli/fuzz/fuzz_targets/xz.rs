//! The target `xz` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::fuzz_targets::xz(data));
