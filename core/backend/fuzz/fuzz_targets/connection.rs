//! The target `connection` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_backend::fuzz_targets::fuzz_pg_connection(data));
