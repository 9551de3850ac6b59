//! Choices by the words of a question: what to search for, which definitions to read, and where in a file to
//! look.
//!
//! Invariant: ties are broken by the order of the text, so that the same question gives the same steps.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Small words, and those of commits that say nothing about the code.
const STOP: &str = "the a an and or of to in on for with from by is are be as at it its this that these those when if not \
    no use uses using used add fix fixes fixed make don doesn dont does do avoid prevent handle skip only instead into out \
    than then after before while without via now was were has have can cannot should would could will which where all any \
    some also but just same so there their they we you";

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[A-Za-z_][A-Za-z0-9_]{2,}").expect("a literal pattern"));

static PART: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[A-Z]?[a-z]+|[A-Z]+|[0-9]+").expect("a literal pattern"));

/// A range of lines in a row of an outline: `12-40`.
static RANGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\d+)\s*[-–]\s*(\d+)").expect("a literal pattern"));

/// The words that one would search for, in their order and in lower case, each once.
pub fn words_of(question: &str) -> Vec<String> {
    let small: HashSet<&str> = STOP.split_whitespace().collect();
    let mut words: Vec<String> = Vec::new();
    for word in WORD.find_iter(question) {
        let word = word.as_str().to_lowercase();
        if !small.contains(word.as_str()) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// The parts of names and words: `readRange` has `read` and `range`.
fn parts(text: &str) -> HashSet<String> {
    let parts = PART.find_iter(text).map(|part| part.as_str().to_lowercase());
    parts.filter(|part| part.len() > 2).collect()
}

/// The ranges of an outline's rows that share most words with the question, at most `limit`.
pub fn best_ranges(outline: &str, question: &str, limit: usize) -> Vec<(usize, usize)> {
    let wanted = parts(question);
    let mut rows: Vec<(usize, usize, usize)> = outline
        .lines()
        .filter_map(|line| {
            let found = RANGE.captures(line)?;
            let shared = parts(line).intersection(&wanted).count();
            Some((shared, found[1].parse().ok()?, found[2].parse().ok()?))
        })
        .filter(|(shared, ..)| *shared > 0)
        .collect();
    rows.sort_by_key(|(shared, first, last)| (usize::MAX - shared, last.saturating_sub(*first)));
    rows.into_iter()
        .take(limit)
        .map(|(_, first, last)| (first, last))
        .collect()
}

/// The first line of the span of `span` lines with most different words, outside of spans that begin at
/// `taken`. Lines count from 1.
pub fn best_cluster(text: &str, words: &[String], span: usize, taken: &[usize]) -> Option<usize> {
    let matches: Vec<(usize, Vec<usize>)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| {
            let line = line.to_lowercase();
            let has = (0..words.len())
                .filter(|at| line.contains(words[*at].as_str()))
                .collect();
            (number, has)
        })
        .filter(|(_, has): &(usize, Vec<usize>)| !has.is_empty())
        .collect();
    let mut best: Option<((usize, usize), usize)> = None;
    for (at, (number, _)) in matches.iter().enumerate() {
        if taken.iter().any(|start| (*start..start + span).contains(number)) {
            continue;
        }
        let inside: Vec<&Vec<usize>> = matches[at..]
            .iter()
            .take_while(|(line, _)| *line < number + span)
            .map(|(_, has)| has)
            .collect();
        let different: HashSet<usize> = inside.iter().flat_map(|has| has.iter().copied()).collect();
        let score = (different.len(), inside.len());
        if best.is_none_or(|(best, _)| score > best) {
            best = Some((score, *number));
        }
    }
    best.map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_not_searched_for() {
        assert_eq!(
            words_of("Fix the Retry of a request_id, and retry"),
            ["retry", "request_id"]
        );
    }

    #[test]
    fn the_rows_that_share_most_words_are_read() {
        let outline = "src/a.rs\n1-9 fn readRange\n20-22 fn read_all\n30-90 fn write\n";
        assert_eq!(
            best_ranges(outline, "reading a range: read it", 2),
            [(1, 9), (20, 22)]
        );
        assert_eq!(best_ranges(outline, "nothing of this", 2), []);
    }

    #[test]
    fn the_densest_span_is_read_once() {
        let text = "walrus\n\n\nwalrus seal\nseal\n";
        let words = ["walrus".to_owned(), "seal".to_owned()];
        assert_eq!(best_cluster(text, &words, 2, &[]), Some(4));
        assert_eq!(best_cluster(text, &words, 2, &[4]), Some(1));
        assert_eq!(best_cluster(text, &["whale".to_owned()], 2, &[]), None);
    }
}
