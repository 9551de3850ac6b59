//! Prints the definitions, chunks or import statements of source files, one per line, or measures the speed
//! of chunking.
//!
//! usage: outline definitions|chunks|imports FILE…
//!        outline speed DIRECTORY…

#![allow(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for measuring, not for shipping"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use docent_core::chunk::{self, ImportStatement, Outline};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{chunk_with_symbols, encode};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    match what.as_str() {
        "definitions" | "chunks" | "imports" => paths.iter().for_each(|path| print_file(&what, path)),
        "speed" => measure_speed(&paths),
        _ => println!("usage: outline definitions|chunks|imports FILE… | speed DIRECTORY…"),
    }
}

fn read_source(path: &Path) -> Option<(Language, String)> {
    let text = fs::read_to_string(path).ok()?;
    let name = RepoPath::parse(path.file_name()?.to_str()?).ok()?;
    Some((Language::of_file(&name, &text), text))
}

fn print_file(what: &str, path: &Path) {
    let Some((language, text)) = read_source(path) else {
        return;
    };
    let shown = path.display();
    if what == "chunks" {
        let chunked = chunk::chunk(language, &text);
        for chunk in &chunked.chunks {
            let (first, last) = (chunk.lines.start(), chunk.lines.end());
            println!(
                "{shown}\t{first}-{last}\t{}\t{}\t{}\t{}\t{}",
                chunk.kind.name(),
                chunk.path,
                chunk.part,
                chunk.signature,
                chunk.doc
            );
        }
        return;
    }
    if what == "imports" {
        let statements = ImportStatement::find_all(language, &text, &|| false).and_then(Result::ok);
        for import in statements.unwrap_or_default() {
            println!("{shown}\t{}\t{}", import.line, import.text.replace('\n', " "));
        }
        return;
    }
    let Some(Ok(outline)) = Outline::of(language, &text) else {
        return;
    };
    for definition in &outline.definitions {
        println!(
            "{shown}\t{}\t{}\t{}\t{}",
            definition.line(),
            definition.kind.name(),
            definition.name,
            definition.path
        );
    }
}

/// Measures parsing alone, with chunking, and with symbols and their stored form, in turns over the same
/// files, on all cores.
fn measure_speed(directories: &[PathBuf]) {
    let mut files = Vec::new();
    for directory in directories {
        collect_sources(directory, &mut files);
    }
    files.retain(|(language, text)| {
        chunk::has_grammar(*language) && chunk::chunk(*language, text).unparsed.is_none()
    });
    let megabytes = files.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / 1e6;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let measure = || {
        let (mut parse, mut all, mut chunks) = (Duration::ZERO, Duration::ZERO, 0);
        let (mut with_symbols, mut bytes) = (Duration::ZERO, 0);
        while let Some((language, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = Instant::now();
            std::hint::black_box(chunk::parse_only(*language, text));
            parse += started.elapsed();
            let started = Instant::now();
            chunks += chunk::chunk(*language, text).chunks.len();
            all += started.elapsed();
            let started = Instant::now();
            let symbols = chunk_with_symbols(*language, text).1;
            bytes += symbols.map_or(0, |symbols| encode(&symbols).len());
            with_symbols += started.elapsed();
        }
        (
            parse.as_secs_f64(),
            all.as_secs_f64(),
            chunks,
            with_symbols.as_secs_f64(),
            bytes,
        )
    };
    let measured: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(measure)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_default())
            .collect()
    });
    let parse: f64 = measured.iter().map(|(parse, ..)| parse).sum();
    let all: f64 = measured.iter().map(|(_, all, ..)| all).sum();
    let chunks: usize = measured.iter().map(|(_, _, chunks, ..)| chunks).sum();
    let with_symbols: f64 = measured
        .iter()
        .map(|(_, _, _, with_symbols, _)| with_symbols)
        .sum();
    let bytes: usize = measured.iter().map(|(.., bytes)| bytes).sum();
    println!(
        "{} files, {megabytes:.1} MB, {chunks} chunks, {cores} cores; per core: parse {:.1} MB/s, parse and chunk {:.1} MB/s; ratio {:.3}; \
         with symbols {:.1} MB/s, ratio {:.3}, {:.1} MB",
        files.len(),
        megabytes / parse,
        megabytes / all,
        all / parse,
        megabytes / with_symbols,
        with_symbols / parse,
        bytes as f64 / 1e6,
    );
}

fn collect_sources(directory: &Path, files: &mut Vec<(Language, String)>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if path
                .file_name()
                .is_some_and(|name| name != ".git" && name != "node_modules")
            {
                collect_sources(&path, files);
            }
        } else if let Some(file) = read_source(&path) {
            files.push(file);
        }
    }
}
