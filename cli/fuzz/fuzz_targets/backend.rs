//! The target `backend` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::fuzz_targets::backend_record(data));
