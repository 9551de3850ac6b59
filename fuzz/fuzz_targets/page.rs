//! Markdown pages, cut into sections. The invariant is in `docent_fuzz::page`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::page::check(input));
