//! Secrets in texts. The invariant is in `docent_fuzz::redact`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::redact::check(input));
