//! The target `handshake` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork_plugin_protocol::fuzz_targets::handshake(data));
