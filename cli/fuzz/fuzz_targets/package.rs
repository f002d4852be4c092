//! The target `package` for the fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| formwork::hostile::fuzz_package_address(data));
