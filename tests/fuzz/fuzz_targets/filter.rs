//! The body `filter` under libFuzzer.

#![no_main]

#[allow(dead_code, reason = "every target includes all bodies and runs one")]
#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::filter(bytes));
