//! Binary files, as `grep` and `rg` treat them.
//!
//! GNU grep takes a file with a NUL byte, and in a UTF-8 locale a matching line that is not UTF-8, for
//! binary, and says only that it matches. ripgrep leaves out such files unless they were named, and decodes
//! UTF-16.

use docent_core::shell::search::{BinaryFiles, SearchOutput, SearchProgram};

use super::CharacterSet;
use super::lines::{FoundLine, FoundLineKind, SearchedFile};
use super::search::{GREP_BUFFER_BYTES, LineSearch};

impl LineSearch<'_> {
    /// The text of a file that is encoded otherwise. ripgrep decodes UTF-16 by its mark, and drops that of
    /// UTF-8.
    pub(super) fn decode(&self, content: &[u8]) -> Option<Vec<u8>> {
        if self.request.program != SearchProgram::Ripgrep {
            return None;
        }
        if let Some(rest) = content.strip_prefix(b"\xef\xbb\xbf") {
            return Some(rest.to_vec());
        }
        let decode: fn([u8; 2]) -> u16 = match content {
            [0xff, 0xfe, ..] => u16::from_le_bytes,
            [0xfe, 0xff, ..] => u16::from_be_bytes,
            _ => return None,
        };
        let units = content[2..]
            .chunks_exact(2)
            .map(|pair| decode([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units)
            .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        Some(text.into_bytes())
    }

    /// The offset from which a file is binary. `None` for text.
    pub(super) fn binary_from(&self, content: &[u8]) -> Option<usize> {
        if self.request.binary == BinaryFiles::Text {
            return None;
        }
        memchr::memchr(0, content)
    }

    /// The content as grep searches it: from the buffer with the first NUL byte on, each NUL ends a line.
    pub(super) fn split_at_nul(&self, content: &[u8], offset: usize) -> Option<Vec<u8>> {
        if self.request.program != SearchProgram::Grep {
            return None;
        }
        let mut split = content.to_vec();
        for byte in &mut split[buffer_start(offset)..] {
            if *byte == 0 {
                *byte = b'\n';
            }
        }
        Some(split)
    }

    /// The content that `-I` lets grep search: the buffers before the one with the first NUL byte, and
    /// nothing if only counts or names are printed.
    pub(super) fn before_nul<'c>(&self, content: &'c [u8], offset: usize) -> &'c [u8] {
        let prints_lines = matches!(self.request.output, SearchOutput::Lines | SearchOutput::Parts);
        if self.request.program == SearchProgram::Grep && prints_lines {
            let whole = &content[..buffer_start(offset)];
            &whole[..memchr::memrchr(b'\n', whole).map_or(0, |end| end + 1)]
        } else {
            &content[..0]
        }
    }

    /// What ripgrep prints of a file in which it has stopped at a NUL byte.
    pub(super) fn hide_rest(&self, file: &mut SearchedFile, offset: u64) {
        if !matches!(self.request.output, SearchOutput::Lines | SearchOutput::Parts) {
            file.matches = 0;
            file.is_left_out = true;
        } else if file.matches > 0 {
            let notice = format!(
                "WARNING: stopped searching binary file after match (found \"\\0\" byte around offset {offset})"
            );
            file.binary_notice = Some(notice.into_bytes());
        }
    }

    /// Removes the lines that the program does not print because the file is binary from `offset` on.
    pub(super) fn hide_binary_lines(&self, file: &mut SearchedFile, content: &[u8], offset: usize) {
        let prints_lines = matches!(self.request.output, SearchOutput::Lines | SearchOutput::Parts);
        if file.matches == 0 || !prints_lines {
            return;
        }
        match self.request.program {
            SearchProgram::Grep => {
                // Lines of the buffers before the one with the NUL were printed already.
                let printed_lines =
                    memchr::memchr_iter(b'\n', &content[..buffer_start(offset)]).count() as u64;
                let is_late =
                    |line: &FoundLine| line.kind == FoundLineKind::Match && line.number > printed_lines;
                if file.lines.iter().any(is_late) {
                    file.lines.retain(|line| line.number <= printed_lines);
                    file.binary_notice = Some(grep_notice(&file.name));
                }
            }
            SearchProgram::Ripgrep => {
                file.lines.clear();
                let notice = format!("binary file matches (found \"\\0\" byte around offset {offset})");
                file.binary_notice = Some(notice.into_bytes());
            }
        }
    }

    /// In a UTF-8 locale, grep stops printing a file at the first line that is not UTF-8.
    pub(super) fn hide_wrong_encoding(&self, file: &mut SearchedFile) {
        let is_checked = self.request.program == SearchProgram::Grep
            && self.characters == CharacterSet::Utf8
            && self.request.binary != BinaryFiles::Text;
        if !is_checked {
            return;
        }
        // Lines of context are printed whatever they have.
        let is_wrong =
            |line: &FoundLine| line.kind == FoundLineKind::Match && std::str::from_utf8(&line.text).is_err();
        if let Some(first) = file.lines.iter().position(is_wrong) {
            file.lines.truncate(first);
            if self.request.binary == BinaryFiles::Default {
                file.binary_notice = Some(grep_notice(&file.name));
            }
        }
    }
}

/// Where the buffer of grep that has this offset begins.
fn buffer_start(offset: usize) -> usize {
    offset / GREP_BUFFER_BYTES * GREP_BUFFER_BYTES
}

/// What grep prints for a binary file that matches.
pub fn grep_notice(name: &[u8]) -> Vec<u8> {
    [b"grep: ", name, b": binary file matches"].concat()
}
