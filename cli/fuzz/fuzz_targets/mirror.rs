//! The target `mirror` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::hostile::mirror(data));
