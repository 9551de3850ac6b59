//! The output of a search as its program prints it, line by line.
//!
//! Invariant: every printed line is one entry, separators between groups included, so that the filters of a
//! pipeline select as they would.

use std::path::Path;

use docent_core::shell::OutputFilter;
use docent_core::shell::search::{LineSearchRequest, SearchOutput};
use docent_engine::commands::lines::{FoundLine, FoundLineKind, SearchedFile, SearchedFiles};
use docent_engine::commands::search::SearchError;

use crate::shell::filters::{FilteredLines, filter_lines};
use docent_engine::commands::CharacterSet;

/// What a program prints.
pub(super) struct PlainOutput<'a> {
    pub(super) request: &'a LineSearchRequest,
    pub(super) files: &'a [SearchedFile],
    pub(super) entries: Vec<PrintedLine<'a>>,
    text: Vec<u8>,
}

/// A printed line.
pub(super) struct PrintedLine<'a> {
    /// Where its text begins and ends.
    start: usize,
    end: usize,
    /// Position of its file. `None` for a separator.
    pub(super) file: Option<usize>,
    /// The line of the file. `None` for separators, notices, counts and names.
    pub(super) line: Option<&'a FoundLine>,
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
            entries: Vec::new(),
            text: Vec::new(),
        };
        for error in errors {
            output.push(None, None, &[error.as_bytes()]);
        }
        for (at, file) in found.files.iter().enumerate() {
            match request.output {
                SearchOutput::Lines | SearchOutput::Parts => output.push_lines(at, file, names),
                SearchOutput::FilesWithMatch | SearchOutput::FilesWithoutMatch => {
                    output.push(Some(at), None, &[&file.name]);
                }
                SearchOutput::Counts => {
                    let count = file.matches.to_string();
                    if names {
                        output.push(Some(at), None, &[&file.name, b":", count.as_bytes()]);
                    } else {
                        output.push(Some(at), None, &[count.as_bytes()]);
                    }
                }
                SearchOutput::Nothing => {}
            }
        }
        output
    }

    fn push_lines(&mut self, at: usize, file: &'a SearchedFile, names: bool) {
        let has_context = self.request.context != (0, 0) && self.request.output == SearchOutput::Lines;
        for (position, line) in file.lines.iter().enumerate() {
            let begins_group = line.follows_gap || position == 0 && !self.entries.is_empty();
            if has_context && begins_group {
                self.push(None, None, &[b"--"]);
            }
            let mark: &[u8] = match line.kind {
                FoundLineKind::Match => b":",
                FoundLineKind::Context => b"-",
            };
            let number = line.number.to_string();
            let mut parts: Vec<&[u8]> = Vec::new();
            if names {
                parts.extend([file.name.as_slice(), mark]);
            }
            if self.request.line_numbers {
                parts.extend([number.as_bytes(), mark]);
            }
            parts.push(&line.text);
            self.push(Some(at), Some(line), &parts);
        }
        if let Some(notice) = &file.binary_notice {
            if names {
                self.push(Some(at), None, &[&file.name, b": ", notice]);
            } else {
                self.push(Some(at), None, &[notice]);
            }
        }
    }

    fn push(&mut self, file: Option<usize>, line: Option<&'a FoundLine>, parts: &[&[u8]]) {
        let start = self.text.len();
        self.text.extend(parts.iter().copied().flatten());
        let end = self.text.len();
        self.entries.push(PrintedLine {
            start,
            end,
            file,
            line,
        });
    }

    pub(super) fn text(&self, entry: usize) -> &[u8] {
        let entry = &self.entries[entry];
        &self.text[entry.start..entry.end]
    }

    /// The entries that pass the filters, in their new order.
    pub(super) fn select(
        &self,
        filters: &[OutputFilter],
        characters: CharacterSet,
    ) -> Result<FilteredLines<usize>, SearchError> {
        let lines = (0..self.entries.len()).map(|at| (self.text(at), at)).collect();
        filter_lines(lines, filters, characters)
    }

    /// The characters of the entries, with their line ends.
    pub(super) fn count_chars(&self, selected: &[usize]) -> u64 {
        let chars = |at: &usize| {
            let text = self.text(*at);
            // Bytes that continue a character are not counted.
            let continued = text.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
            (text.len() - continued) as u64 + 1
        };
        selected.iter().map(chars).sum()
    }

    pub(super) fn join(&self, selected: &[usize]) -> Vec<u8> {
        let mut text = Vec::new();
        for at in selected {
            text.extend_from_slice(self.text(*at));
            text.push(b'\n');
        }
        text
    }
}
