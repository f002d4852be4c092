//! The target `ssh_key` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_provisioners::fuzz_targets::ssh_key(data));
