//! LCOV reports, fed in pieces of any size. The invariant is in `docent_fuzz::lcov`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::lcov::check(input));
