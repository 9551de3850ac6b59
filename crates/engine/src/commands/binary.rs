//! Binary files, as `grep` and `rg` treat them.
//!
//! GNU grep takes a file with a NUL byte, and in a UTF-8 locale a matching line that is not UTF-8, for
//! binary, and says only that it matches. ripgrep leaves out such files unless they were named, and decodes
//! UTF-16.

#[cfg(unix)]
use std::path::Path;

use docent_core::shell::search::{BinaryFiles, SearchOutput, SearchProgram};

#[cfg(unix)]
use super::STANDARD_INPUT;
use super::lines::{FoundLine, FoundLineKind, SearchedFile};
use super::search::LineSearch;
#[cfg(unix)]
use super::silver::is_binary;

/// ripgrep looks for NUL bytes in so much of a file before it searches.
const RIPGREP_PREFIX_BYTES: usize = 64 << 10;

/// Where a file turns out to be binary.
#[derive(Clone, Copy)]
pub(super) struct FirstNul {
    pub(super) offset: usize,
    /// Where the buffer of grep begins that has it: lines before were printed already.
    pub(super) buffer_start: usize,
}

/// The size of grep's buffer after a file with lines of this length at most, which has to hold a whole line.
pub(super) fn grown_buffer(mut buffer_bytes: usize, longest_line: usize) -> usize {
    const PAGE_BYTES: usize = 4 << 10;
    while longest_line > buffer_bytes - PAGE_BYTES {
        buffer_bytes *= 2;
    }
    buffer_bytes
}

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

    /// The first NUL byte of a binary file, which grep reads in buffers of this size. `None` for text.
    pub(super) fn binary_from(&self, content: &[u8], buffer_bytes: usize) -> Option<FirstNul> {
        if self.request.binary == BinaryFiles::Text || self.request.program == SearchProgram::Silver {
            return None;
        }
        let offset = memchr::memchr(0, content)?;
        Some(FirstNul {
            offset,
            buffer_start: offset / buffer_bytes * buffer_bytes,
        })
    }

    /// The content as grep searches it: from the buffer with the first NUL byte on, each NUL ends a line.
    pub(super) fn split_at_nul(&self, content: &[u8], nul: FirstNul) -> Option<Vec<u8>> {
        if self.request.program != SearchProgram::Grep {
            return None;
        }
        let mut split = content.to_vec();
        for byte in &mut split[nul.buffer_start..] {
            if *byte == 0 {
                *byte = b'\n';
            }
        }
        Some(split)
    }

    /// The content that `-I` lets grep search: the buffers before the one with the first NUL byte, and
    /// nothing if only counts or names are printed.
    pub(super) fn before_nul<'c>(&self, content: &'c [u8], nul: FirstNul) -> &'c [u8] {
        let prints_lines = matches!(self.request.output, SearchOutput::Lines | SearchOutput::Parts);
        if self.request.program == SearchProgram::Grep && prints_lines {
            let whole = &content[..nul.buffer_start];
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
    pub(super) fn hide_binary_lines(&self, file: &mut SearchedFile, content: &[u8], nul: FirstNul) {
        let prints_lines = matches!(self.request.output, SearchOutput::Lines | SearchOutput::Parts);
        if file.matches == 0 || !prints_lines {
            return;
        }
        match self.request.program {
            SearchProgram::Grep => {
                // Lines of the buffers before the one with the NUL were printed already.
                let printed_lines = memchr::memchr_iter(b'\n', &content[..nul.buffer_start]).count() as u64;
                let is_late =
                    |line: &FoundLine| line.kind == FoundLineKind::Match && line.number > printed_lines;
                if file.lines.iter().any(is_late) {
                    file.lines.retain(|line| line.number <= printed_lines);
                    file.binary_notice = Some(grep_notice(&file.name));
                }
            }
            SearchProgram::Ripgrep => {
                let begins_with_context = file
                    .lines
                    .first()
                    .is_some_and(|line| line.kind == FoundLineKind::Context);
                file.lines.clear();
                // ripgrep stops at a line of context, once it has seen the NUL byte.
                if begins_with_context && nul.offset < RIPGREP_PREFIX_BYTES {
                    file.matches = 0;
                    return;
                }
                let notice = format!(
                    "binary file matches (found \"\\0\" byte around offset {})",
                    nul.offset
                );
                file.binary_notice = Some(notice.into_bytes());
            }
            // git has decided it itself, and `ag` has another rule.
            SearchProgram::GitGrep | SearchProgram::Silver => {}
        }
    }

    /// What `ag` does with a file that it takes for binary: it skips it, or says only that it matches.
    #[cfg(unix)]
    pub(super) fn hide_silver_binary(&self, file: &mut SearchedFile, content: &[u8]) {
        if self.request.program != SearchProgram::Silver || file.path == Path::new(STANDARD_INPUT) {
            return;
        }
        let is_skipped = self.request.binary != BinaryFiles::Text;
        // Empty files are in no list.
        file.is_left_out |= content.is_empty();
        if !is_binary(content) {
            return;
        }
        if is_skipped {
            file.is_left_out = true;
            file.matches = 0;
            file.lines.clear();
        } else if file.matches > 0 && self.request.output == SearchOutput::Lines {
            file.lines.clear();
            file.binary_notice = Some([b"Binary file ", file.name.as_slice(), b" matches."].concat());
        }
    }

    #[cfg(not(unix))]
    pub(super) fn hide_silver_binary(&self, _: &mut SearchedFile, _: &[u8]) {}
}

/// What grep prints for a binary file that matches.
pub fn grep_notice(name: &[u8]) -> Vec<u8> {
    [b"grep: ", name, b": binary file matches"].concat()
}
