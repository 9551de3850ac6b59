//! Finds long functions and folds them, for `eval/folding`.
//!
//! usage: fold functions `MIN_LINES` < FILES
//!        fold show < FUNCTIONS
//!
//! `functions` reads lines {"path", "text"} and prints the functions of each file. `show` reads lines
//! {"path", "text", "first", "focus", "budget"} and prints the shown lines of each function.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for measuring, not for shipping"
)]

use std::io::BufRead as _;

use docent_core::chunk::{ChunkKind, Outline};
use docent_core::fold::{Focus, FoldBudget, fold};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let min_lines = arguments
        .get(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(81);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(input) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let output = match arguments.first().map(String::as_str) {
            Some("show") => shown_lines(&input),
            _ => functions(&input, min_lines),
        };
        println!("{output}");
    }
}

fn language_of(input: &Value) -> Language {
    let (path, text) = (text_of(input, "path"), text_of(input, "text"));
    let name = path.rsplit('/').next().unwrap_or(path);
    RepoPath::parse(name).map_or(Language::PlainText, |name| Language::of_file(&name, text))
}

fn text_of<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_default()
}

/// The functions of a file with at least `min_lines` lines: name, first and last line.
fn functions(input: &Value, min_lines: usize) -> Value {
    let Some(Ok(outline)) = Outline::of(language_of(input), text_of(input, "text")) else {
        return json!([]);
    };
    outline
        .definitions
        .iter()
        .filter(|definition| matches!(definition.kind, ChunkKind::Function | ChunkKind::Method))
        .map(|definition| (definition, definition.lines()))
        .filter(|(_, lines)| lines.end() + 1 - lines.start() >= min_lines)
        .map(|(definition, lines)| json!([definition.path, lines.start(), lines.end()]))
        .collect()
}

/// The ranges of shown lines of a function.
fn shown_lines(input: &Value) -> Value {
    let focus = Focus {
        question: text_of(input, "focus"),
        ..Focus::default()
    };
    let first = input["first"]
        .as_u64()
        .and_then(|first| usize::try_from(first).ok())
        .unwrap_or(1);
    #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
    let budget = FoldBudget::Share(input["budget"].as_f64().unwrap_or(0.35) as f32);
    fold(text_of(input, "text"), first, language_of(input), &focus, budget)
        .iter()
        .filter(|part| part.is_shown())
        .map(|part| json!([part.lines().start(), part.lines().end()]))
        .collect()
}
