//! Source text of any language, and stored symbols. The invariant is in `docent_fuzz::symbols`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::symbols::check(input));
