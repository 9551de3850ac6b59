//! The output of a search as its program prints it, line by line.
//!
//! Text is put together only for lines that are printed or filtered: a search can find a hundred times more
//! than an answer shows.
//!
//! Invariant: every printed line is one entry, separators between groups included, so that the filters of a
//! pipeline select as they would.

use std::path::Path;

use docent_core::shell::OutputFilter;
use docent_core::shell::search::{LineSearchRequest, SearchOutput, SearchProgram};
use docent_engine::commands::lines::{FoundLine, FoundLineKind, SearchedFile, SearchedFiles};
use docent_engine::commands::search::SearchError;

use crate::shell::filters::{FilteredLines, filter_lines};
use docent_engine::commands::CharacterSet;

/// Stands between groups of lines with context.
const SEPARATOR: &[u8] = b"--";

/// What a program prints.
pub(super) struct PlainOutput<'a> {
    pub(super) request: &'a LineSearchRequest,
    pub(super) files: &'a [SearchedFile],
    pub(super) entries: Vec<PrintedLine<'a>>,
    /// Lines begin with the name of their file.
    names: bool,
}

/// A printed line.
pub(super) struct PrintedLine<'a> {
    /// Position of its file. `None` for a separator.
    pub(super) file: Option<usize>,
    /// The line of the file. `None` for separators, notices, counts and names.
    pub(super) line: Option<&'a FoundLine>,
    /// The text of an entry that is no line of a file.
    text: Vec<u8>,
}

impl<'a> PlainOutput<'a> {
    /// Prints what was found. `errors` are the messages that go where the lines go.
    pub(super) fn print(
        request: &'a LineSearchRequest,
        found: &'a SearchedFiles,
        errors: &[String],
        directory: &Path,
    ) -> Self {
        let names = request
            .file_names
            .unwrap_or_else(|| match request.operands.as_slice() {
                [one] => directory.join(one).is_dir(),
                _ => true,
            });
        let mut output = Self {
            request,
            files: &found.files,
            entries: Vec::with_capacity(found.files.iter().map(|file| file.lines.len()).sum()),
            names,
        };
        for error in errors {
            output.push(None, &[error.as_bytes()]);
        }
        for (at, file) in found.files.iter().enumerate() {
            match request.output {
                SearchOutput::Lines | SearchOutput::Parts => output.push_lines(at, file),
                SearchOutput::FilesWithMatch | SearchOutput::FilesWithoutMatch => {
                    output.push(Some(at), &[&file.name]);
                }
                SearchOutput::Counts => {
                    let count = file.matches.to_string();
                    if names {
                        output.push(Some(at), &[&file.name, b":", count.as_bytes()]);
                    } else {
                        output.push(Some(at), &[count.as_bytes()]);
                    }
                }
                SearchOutput::Nothing => {}
            }
        }
        output
    }

    fn push_lines(&mut self, at: usize, file: &'a SearchedFile) {
        let has_context = self.request.context != (0, 0) && self.request.output == SearchOutput::Lines;
        let program = self.request.program;
        let is_git = program == SearchProgram::GitGrep;
        // grep separates a file from one that has matched, whether or not it printed a line of that.
        let follows_file = match program {
            SearchProgram::Grep => at > 0,
            _ => !is_git && !self.entries.is_empty(),
        };
        if has_context && follows_file && (file.has_own_separators || !file.lines.is_empty()) {
            self.push(None, &[SEPARATOR]);
        }
        for line in &file.lines {
            let is_separator = line.kind == FoundLineKind::Separator;
            if has_context && line.follows_gap || is_separator {
                self.push(None, &[SEPARATOR]);
            }
            if is_separator {
                continue;
            }
            self.entries.push(PrintedLine {
                file: Some(at),
                line: Some(line),
                text: Vec::new(),
            });
        }
        if let Some(notice) = &file.binary_notice {
            // Other programs have the name in what they say.
            let begins_with_name = self.names && program != SearchProgram::Silver && !is_git;
            if begins_with_name {
                self.push(Some(at), &[&file.name, b": ", notice]);
            } else {
                self.push(Some(at), &[notice]);
            }
        }
    }

    /// Adds an entry that is no line of a file.
    fn push(&mut self, file: Option<usize>, parts: &[&[u8]]) {
        self.entries.push(PrintedLine {
            file,
            line: None,
            text: parts.concat(),
        });
    }

    /// Whether an entry stands between two groups of lines.
    pub(super) fn is_separator(&self, entry: usize) -> bool {
        let entry = &self.entries[entry];
        entry.file.is_none() && entry.text == SEPARATOR && self.request.context != (0, 0)
    }

    /// Appends the text of an entry, without its line end.
    pub(super) fn write(&self, entry: usize, to: &mut Vec<u8>) {
        let entry = &self.entries[entry];
        let Some(line) = entry.line else {
            to.extend_from_slice(&entry.text);
            return;
        };
        let mark: u8 = match line.kind {
            FoundLineKind::Match => b':',
            FoundLineKind::Context | FoundLineKind::Separator => b'-',
        };
        if let Some(file) = entry.file.filter(|_| self.names) {
            to.extend_from_slice(&self.files[file].name);
            to.push(mark);
        }
        if self.request.line_numbers {
            to.extend_from_slice(line.number.to_string().as_bytes());
            to.push(mark);
        }
        to.extend_from_slice(&line.text);
    }

    /// The entries that pass the filters, in their new order.
    pub(super) fn select(
        &self,
        filters: &[OutputFilter],
        characters: CharacterSet,
    ) -> Result<FilteredLines<usize>, SearchError> {
        if filters.is_empty() {
            return Ok(FilteredLines {
                kept: (0..self.entries.len()).collect(),
                count: None,
                errors: Vec::new(),
                is_success: true,
            });
        }
        let texts: Vec<Vec<u8>> = (0..self.entries.len())
            .map(|at| {
                let mut text = Vec::new();
                self.write(at, &mut text);
                text
            })
            .collect();
        let lines = texts.iter().map(Vec::as_slice).zip(0..).collect();
        filter_lines(lines, filters, characters)
    }

    /// The characters of the entries, with their line ends.
    pub(super) fn count_chars(&self, selected: &[usize]) -> u64 {
        let name_chars: Vec<u64> = self.files.iter().map(|file| count_chars(&file.name)).collect();
        let chars = |at: &usize| {
            let entry = &self.entries[*at];
            let Some(line) = entry.line else {
                return count_chars(&entry.text) + 1;
            };
            let name = entry
                .file
                .filter(|_| self.names)
                .map_or(0, |file| name_chars[file] + 1);
            let number = if self.request.line_numbers {
                u64::from(line.number.checked_ilog10().unwrap_or_default()) + 2
            } else {
                0
            };
            name + number + count_chars(&line.text) + 1
        };
        selected.iter().map(chars).sum()
    }

    pub(super) fn join(&self, selected: &[usize]) -> Vec<u8> {
        let mut text = Vec::new();
        for at in selected {
            self.write(*at, &mut text);
            text.push(b'\n');
        }
        text
    }
}

/// Bytes that continue a character are not counted.
fn count_chars(text: &[u8]) -> u64 {
    text.iter().map(|byte| u64::from(*byte & 0xc0 != 0x80)).sum()
}
