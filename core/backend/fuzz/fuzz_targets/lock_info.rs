//! The target `lock_info` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_backend::fuzz_targets::fuzz_lock_info(data));
