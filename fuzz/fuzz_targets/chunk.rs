//! Source text of any language, cut into chunks. The invariant is in `docent_fuzz::chunk`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::chunk::check(input));
