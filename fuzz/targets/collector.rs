#![no_main]

#[path = "../properties/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target uses one of them")]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::collector(data));
