//! The target `backend` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::hostile::backend_record(data));
