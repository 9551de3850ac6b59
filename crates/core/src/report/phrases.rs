//! Phrases of a query: texts that code has word for word, such as an error message or a pasted line.
//!
//! A message is written in code with placeholders, so the longest run of words that a text shares with the
//! phrase counts, not the whole phrase alone.
//!
//! Invariant: a phrase is compared by its words in lower case, so that quotes and spaces make no difference.

use std::cmp::Reverse;
use std::sync::LazyLock;

use regex::Regex;

use super::lines::{LineKind, ReportLine};

/// Words in a row that are more than chance.
const MIN_RUN: usize = 4;

/// Longer phrases are cut.
const MAX_WORDS: usize = 40;

/// Phrases of one query. Each is compared with every candidate.
const MAX_PHRASES: usize = 8;

/// Parts of a question in a line that are compared beside the whole.
const MAX_PARTS: usize = 3;

/// A text that code may have word for word.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    words: Vec<String>,
    /// How sure it is that the text is somebody's code or message.
    pub weight: f32,
    /// Shorter runs do not count.
    min_run: usize,
}

impl Phrase {
    /// `None` if the text is too short to be more than chance.
    pub fn new(text: &str, weight: f32) -> Option<Self> {
        let words: Vec<String> = raw_words(text).take(MAX_WORDS).collect();
        (words.len() >= MIN_RUN).then_some(Self {
            words,
            weight,
            min_run: MIN_RUN,
        })
    }

    /// Only runs of most of its words count: a question shares a few words in a row with many texts, a pasted
    /// line shares most of them.
    fn with_most_words(mut self) -> Self {
        self.min_run = MIN_RUN.max(self.words.len() * 7 / 10);
        self
    }

    /// The words, for a search for chunks that have all of them.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// How much of the phrase a text has in one run, from 0 to 1. 0 for a run that may be chance.
    pub fn share_in(&self, text_words: &[String]) -> f32 {
        let run = longest_run(&self.words, text_words);
        if run.len() < self.min_run || !run.iter().any(|word| word.len() > 4) {
            return 0.0;
        }
        let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
        number(run.len()) / number(self.words.len())
    }
}

/// The words of a text as phrases are compared.
fn raw_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The longest run of words of `phrase` that `text` has in the same order without a gap; the first of equals.
fn longest_run<'a>(phrase: &'a [String], text: &[String]) -> &'a [String] {
    let (mut best, mut end) = (0, 0);
    // Length of the run that ends at each word of the phrase, for the word of the text before.
    let mut before = vec![0; phrase.len() + 1];
    for word in text {
        let mut diagonal = 0;
        for (at, wanted) in phrase.iter().enumerate() {
            let run = if wanted == word { diagonal + 1 } else { 0 };
            diagonal = before[at + 1];
            before[at + 1] = run;
            if run > best {
                (best, end) = (run, at + 1);
            }
        }
    }
    &phrase[end - best..end]
}

/// The phrases of a report: messages of errors first, then quoted texts, then lines of code.
pub(super) fn read_phrases(lines: &[ReportLine<'_>]) -> Vec<Phrase> {
    static ERROR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:E +)?(?:[\w.]+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit)\b[^:]{0,20}: *(.+)$|panicked at '([^']+)'|^(?:panic|error|fatal): (.+)$")
            .expect("the pattern is a literal")
    });
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#""([^"\n]{12,300})"|“([^”]{12,300})”|`([^`\n]{12,300})`"#)
            .expect("the pattern is a literal")
    });
    let mut found: Vec<Phrase> = Vec::new();
    for line in lines {
        let error = ERROR.captures(line.text);
        if let Some(message) = error.and_then(|found| found.iter().skip(1).flatten().next()) {
            found.extend(Phrase::new(message.as_str(), 1.0));
        }
        if matches!(line.kind, LineKind::Title | LineKind::Prose) {
            let quoted = QUOTED.captures_iter(line.text);
            let texts = quoted.filter_map(|found| Some(found.iter().skip(1).flatten().next()?.as_str()));
            found.extend(texts.filter_map(|text| Phrase::new(text, 0.8)));
        }
        if line.kind == LineKind::Code {
            found.extend(Phrase::new(line.text, 0.5));
        }
    }
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut phrases: Vec<Phrase> = Vec::new();
    for phrase in found {
        if phrases.len() < MAX_PHRASES && phrases.iter().all(|known| known.words != phrase.words) {
            phrases.push(phrase);
        }
    }
    phrases
}

/// The phrases of a question in a line: the whole line, if it is long enough to be somebody's text, and the
/// parts of it between values in quotes or brackets, because code has placeholders for these.
pub fn phrases_of_line(text: &str) -> Vec<Phrase> {
    /// Shorter questions have runs of words in common with much that they are not about.
    const MIN_WORDS: usize = 5;
    let mut phrases = Vec::from_iter(
        Phrase::new(text, 1.0)
            .filter(|phrase| phrase.words.len() >= MIN_WORDS)
            .map(Phrase::with_most_words),
    );
    let mut parts: Vec<Phrase> = split_at_values(text)
        .into_iter()
        .filter_map(|part| Phrase::new(part, 1.0))
        .map(Phrase::with_most_words)
        .filter(|part| phrases.iter().all(|whole| whole.words != part.words))
        .collect();
    parts.sort_by_key(|part| Reverse(part.words.len()));
    parts.truncate(MAX_PARTS);
    phrases.append(&mut parts);
    phrases
}

/// The parts of a text between values: quoted and bracketed texts, and the ends of sentences.
fn split_at_values(text: &str) -> Vec<&str> {
    static VALUE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"'[^'\n]{1,80}'|"[^"\n]{1,80}"|`[^`\n]{1,80}`|\{[^\n]{1,120}?\}|\[[^\n]{1,120}?\]|[:;.!] |\d+"#,
        )
        .expect("the pattern is a literal")
    });
    let parts = VALUE.split(text);
    parts.filter(|part| !part.trim().is_empty()).collect()
}

/// How much of the phrases a text has, from 0 to 1: the most of any phrase.
pub fn phrase_score(phrases: &[Phrase], text: &str) -> f32 {
    let words: Vec<String> = raw_words(text).collect();
    phrases
        .iter()
        .map(|phrase| phrase.weight * phrase.share_in(&words))
        .fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_compared_between_its_values() {
        let check = |line: &str, text: &str| {
            let score = phrase_score(&phrases_of_line(line), text);
            assert!(score > 0.9, "{line}: {score}");
        };
        check(
            "ERROR! no sea 'north' for walrus \"Bo\" to swim in. Check the depth of the sea and try again later.",
            "fail(f'no sea {sea}. Check the depth of the sea and try again later.')",
        );
        check(
            "cannot feed {\"fish\": 3}: the bucket is still closed after 30 seconds",
            "cannot feed %s: the bucket is still closed after %d seconds",
        );
    }

    #[test]
    fn a_phrase_is_found_around_its_placeholders() {
        let check = |phrase: &str, text: &str, expected: f32| {
            let text: Vec<String> = raw_words(text).collect();
            let phrase = Phrase::new(phrase, 1.0).expect("long enough");
            assert!(
                (phrase.share_in(&text) - expected).abs() < 0.01,
                "{phrase:?} {}",
                phrase.share_in(&text)
            );
        };
        check(
            "Cannot find walrus 'Bo' in this sea",
            "raise Lost(\"Cannot find walrus %s in this sea\")",
            0.0,
        );
        check(
            "The walrus cannot sink below 'x'",
            "fail(f'The walrus cannot sink below {depth}')",
            0.833,
        );
        check(
            "if depth > max_depth: return None",
            "x\n  if depth > max_depth:\n    return None\n",
            1.0,
        );
        check("it is on the sea", "and it is on the way", 0.0);
    }
}
