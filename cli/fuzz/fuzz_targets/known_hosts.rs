//! The target `known_hosts` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_provisioners::fuzz_targets::known_hosts(data));
