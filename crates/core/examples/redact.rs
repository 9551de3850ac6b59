//! Reads texts from standard input, with a NUL after each, and prints those in which a secret is found, or
//! measures the speed of redaction.
//!
//! usage: redact flagged|speed < TEXTS

#![allow(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for measuring, not for shipping"
)]

use std::borrow::Cow;
use std::io::Read;
use std::time::Instant;

use docent_core::text::redact::{find_secret, redact};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .expect("standard input can be read");
    let input = String::from_utf8_lossy(&bytes);
    let texts: Vec<&str> = input.split('\0').filter(|text| !text.is_empty()).collect();
    match what.as_str() {
        "flagged" => print_flagged(&texts),
        "speed" => measure_speed(&texts),
        _ => println!("usage: redact flagged|speed < TEXTS"),
    }
}

/// Prints `refused KIND` or `redacted`, a tab, the redacted text on one line, and the number of all texts at
/// the end.
fn print_flagged(texts: &[&str]) {
    for text in texts {
        let Cow::Owned(clean) = redact(text) else {
            continue;
        };
        let label = find_secret(text).map_or("redacted".to_owned(), |kind| format!("refused {kind}"));
        println!("{label}\t{}", clean.replace('\n', "\\n"));
    }
    println!("texts\t{}", texts.len());
}

fn measure_speed(texts: &[&str]) {
    let megabytes = texts.iter().map(|text| text.len()).sum::<usize>() as f64 / 1e6;
    for (name, run) in [
        ("redact", (|text| redact(text).len()) as fn(&str) -> usize),
        ("find_secret", |text| usize::from(find_secret(text).is_some())),
    ] {
        let best = (0..5)
            .map(|_| {
                let started = Instant::now();
                let sum: usize = texts.iter().map(|text| run(text)).sum();
                std::hint::black_box(sum);
                started.elapsed()
            })
            .min()
            .unwrap_or_default();
        println!("{name}: {:.0} MB/s", megabytes / best.as_secs_f64());
    }
}
