//! The words of a command line, as far as rules need them.
//!
//! Left out: everything by which a shell would run the line. Words are split roughly, and a word may be
//! more than one path.

use std::path::{Component, Path, PathBuf};

use crate::clients::Machine;

/// The words of a command line, without quotes.
pub(super) struct ShellLine {
    pub(super) words: Vec<RuleWord>,
    /// Directories that relative paths may start from.
    directories: Vec<PathBuf>,
}

pub(super) struct RuleWord {
    text: String,
    /// The shell may replace it by other words.
    pub(super) expands: bool,
}

impl RuleWord {
    pub(super) fn is_program(&self, name: &str) -> bool {
        self.text.rsplit('/').next() == Some(name)
    }
}

impl ShellLine {
    pub(super) fn read(line: &str, directory: &Path) -> Self {
        let words = split_line(line);
        let mut directories = vec![directory.to_owned()];
        for pair in words.windows(2) {
            if matches!(pair[0].text.as_str(), "cd" | "-C" | "pushd") {
                let paths = directories
                    .iter()
                    .map(|from| normalize(&from.join(&pair[1].text)));
                let paths: Vec<PathBuf> = paths.collect();
                directories.extend(paths);
                // Otherwise `cd a && cd b && …` would double the directories with each step.
                directories.truncate(64);
            }
        }
        Self { words, directories }
    }

    /// The paths that a word may name.
    pub(super) fn paths_of(&self, word: &RuleWord, machine: &Machine<'_>) -> Vec<PathBuf> {
        let value = word.text.split_once('=').map(|(_, value)| value);
        let texts = [Some(word.text.as_str()), value];
        let mut paths = Vec::new();
        for text in texts.into_iter().flatten() {
            if let Some(below) = text.strip_prefix("~/") {
                paths.extend(machine.in_home(below));
            }
            paths.extend(self.directories.iter().map(|from| normalize(&from.join(text))));
        }
        paths
    }
}

/// Splits a line at blanks and operators outside of quotes, and removes quotes and backslashes.
fn split_line(line: &str) -> Vec<RuleWord> {
    let mut words = Vec::new();
    let mut word: Option<RuleWord> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let is_separator = char.is_whitespace() || ";|&()<>`{}".contains(char);
        if quote.is_none() && is_separator {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert(RuleWord {
            text: String::new(),
            expands: false,
        });
        match (quote, char) {
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None | Some('"'), '\\') => word.text.extend(chars.next()),
            (None, '*' | '?' | '[' | '$') | (Some('"'), '$') => {
                word.expands = true;
                word.text.push(char);
            }
            _ => word.text.push(char),
        }
    }
    words.extend(word);
    words
}

/// A path without `.` and `..`, by its text alone.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
