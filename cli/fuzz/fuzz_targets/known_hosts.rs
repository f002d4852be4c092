//! The target `known_hosts` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_provisioners::hostile::known_hosts(data));
