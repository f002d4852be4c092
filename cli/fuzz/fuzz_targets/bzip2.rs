//! The target `bzip2` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::hostile::bzip2(data));
