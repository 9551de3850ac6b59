//! The agent that has a shell only: it lists files by the words of the question, then reads ranges of the
//! best ones.
//!
//! It does what `rg -c` and `sed -n` would print, in this process and by docent's own text search, so that
//! the time of starting programs is not held against it.
//!
//! Invariant: it knows the question and the files, and nothing of an index.

use std::collections::HashMap;

use docent_core::compare::{best_cluster, words_of};
use docent_core::path::RepoPath;

use super::CompareError;
use super::questions::{is_beside, is_code};
use super::screen::{AgentScreen, ShownAnswer};
use crate::deadline::Deadline;
use crate::files::{Root, decode_file};
use crate::grep::{Case, Grep, GrepQuery};

/// Files that its first list shows, and those of them that it looks at a second time.
const LISTED_FILES: usize = 10;
const FILES_READ_TWICE: usize = 3;

/// Lines that it reads at once: the median of real sessions.
const SPAN: usize = 200;

/// Lines above the densest place that it reads too.
const LINES_ABOVE: usize = 10;

const MAX_FILE_BYTES: u64 = 4 << 20;

/// Looks for the answer to a question in the files below `root`.
pub fn ask_shell(
    root: &Root,
    question: &str,
    screen: &mut AgentScreen<'_>,
    deadline: &Deadline,
) -> Result<(), CompareError> {
    let words = words_of(question);
    let files = screen.run(|| rank_files(root, &words, deadline))?;
    let listed: Vec<&str> = files.iter().take(LISTED_FILES).map(RepoPath::as_str).collect();
    let list = ShownAnswer {
        command: format!("rg -ic '{}'", words.join("|")),
        text: &listed.join("\n"),
        about: None,
        can_answer: false,
    };
    if !screen.show(&list) {
        return Ok(());
    }
    let mut taken: HashMap<&RepoPath, Vec<usize>> = HashMap::new();
    for turn_files in [LISTED_FILES, FILES_READ_TWICE] {
        for path in files.iter().take(turn_files) {
            let places = taken.entry(path).or_default();
            let Some((start, lines)) = screen.run(|| read_span(root, path, &words, places)) else {
                continue;
            };
            let read = ShownAnswer {
                command: format!("sed -n {start},{}p {path}", start + SPAN - 1),
                text: &lines,
                about: Some(path.as_str()),
                can_answer: true,
            };
            if !screen.show(&read) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The lines around the densest place of a file that was not read yet, and the number of the first.
fn read_span(
    root: &Root,
    path: &RepoPath,
    words: &[String],
    places: &mut Vec<usize>,
) -> Option<(usize, String)> {
    let text = decode_file(root.read(path, MAX_FILE_BYTES).ok()?.bytes);
    let at = best_cluster(&text, words, SPAN, places)?;
    places.push(at);
    let start = at.saturating_sub(LINES_ABOVE).max(1);
    let lines: Vec<&str> = text.lines().skip(start - 1).take(SPAN).collect();
    Some((start, lines.join("\n")))
}

/// Files of code by how many of the words they have, then how often. Tests and samples come after the rest.
fn rank_files(root: &Root, words: &[String], deadline: &Deadline) -> Result<Vec<RepoPath>, CompareError> {
    let mut counts: HashMap<RepoPath, (usize, u64)> = HashMap::new();
    for word in words {
        for (path, lines) in count_lines(root, word, deadline)? {
            let count = counts.entry(path).or_default();
            *count = (count.0 + 1, count.1 + lines);
        }
    }
    let mut files: Vec<(RepoPath, (usize, u64))> = counts.into_iter().collect();
    files.sort_by_cached_key(|(path, (words, lines))| {
        (
            is_beside(path),
            usize::MAX - words,
            u64::MAX - lines,
            path.clone(),
        )
    });
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// The files of code with a word in any case, and their matching lines.
fn count_lines(root: &Root, word: &str, deadline: &Deadline) -> Result<Vec<(RepoPath, u64)>, CompareError> {
    let query = GrepQuery {
        // Words of questions are letters, digits and underscores.
        pattern: word,
        file_pattern: None,
        paths: &[],
        kinds: &[],
        case: Case::Insensitive,
        context_lines: 0,
    };
    let counted = Grep::new(root, &query, deadline)?.count()?;
    let files = counted.files.into_iter().filter(|file| is_code(file.path()));
    Ok(files.map(|file| (file.path().clone(), file.lines)).collect())
}

/// The words of a question that fewest lines of code have, those that none has left out.
pub fn rarest_words(root: &Root, question: &str, deadline: &Deadline) -> Result<Vec<String>, CompareError> {
    let mut counted: Vec<(u64, String)> = Vec::new();
    for word in words_of(question) {
        let lines = count_lines(root, &word, deadline)?
            .iter()
            .map(|(_, lines)| lines)
            .sum();
        if lines > 0 {
            counted.push((lines, word));
        }
    }
    counted.sort();
    Ok(counted.into_iter().map(|(_, word)| word).collect())
}
