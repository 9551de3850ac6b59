//! Positions in a text as editors count them: lines and columns from 0, the column in units of an encoding.
//!
//! A line ends with `\n`, `\r\n` or `\r`. Everything else in docent counts rows, which end with `\n` alone,
//! and columns in bytes, so both are converted by way of the byte.
//!
//! Invariant: any position leads to a byte on the border of a character, and no position makes this module
//! panic.

use crate::symbols::SourcePosition;

/// The units that columns are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionEncoding {
    Utf8,
    /// The default of the Language Server Protocol.
    #[default]
    Utf16,
    Utf32,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: u32,
    /// Units of the encoding from the start of the line.
    pub column: u32,
}

/// A part of a text, the end excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextSpan {
    pub start: TextPosition,
    pub end: TextPosition,
}

/// The lines of one text.
#[derive(Clone, Debug)]
pub struct TextPositions<'a> {
    text: &'a str,
    encoding: PositionEncoding,
    /// The byte where each line begins.
    lines: Vec<u32>,
    /// The byte where each row begins, if a `\r` alone makes them differ from the lines.
    rows: Option<Vec<u32>>,
}

/// The mark at the start of a file, which editors take from the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> TextPositions<'a> {
    pub fn of(text: &'a str, encoding: PositionEncoding) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        let mut has_lone_return = false;
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\r' {
                if bytes.get(at + 1) == Some(&b'\n') {
                    continue;
                }
                has_lone_return = true;
            }
            lines.push(to_u32(at + 1));
        }
        let rows = has_lone_return.then(|| {
            let ends = memchr::memchr_iter(b'\n', bytes);
            std::iter::once(0).chain(ends.map(|at| to_u32(at + 1))).collect()
        });
        Self {
            text,
            encoding,
            lines,
            rows,
        }
    }

    /// The text of a file that no editor has handed over. Its byte order mark is in no column, because
    /// editors take it from the text.
    pub fn of_file(text: &'a str, encoding: PositionEncoding) -> Self {
        let mut positions = Self::of(text, encoding);
        if text.starts_with(BYTE_ORDER_MARK) {
            let lines = &positions.lines;
            positions.rows.get_or_insert_with(|| lines.clone());
            positions.lines[0] = to_u32(BYTE_ORDER_MARK.len_utf8());
        }
        positions
    }

    /// The byte at a position. Beyond the end of a line it is the end of the line, beyond the last line the
    /// end of the text.
    pub fn byte(&self, at: TextPosition) -> usize {
        let Some(line) = self.line(at.line as usize) else {
            return self.text.len();
        };
        let start = self.lines[at.line as usize] as usize;
        start + self.bytes_of_units(line, at.column as usize)
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> TextPosition {
        let byte = self.text.floor_char_boundary(byte);
        let line = self.lines.partition_point(|start| *start as usize <= byte);
        let line = line.saturating_sub(1);
        let before = self.text.get(self.lines[line] as usize..byte).unwrap_or_default();
        TextPosition {
            line: to_u32(line),
            column: to_u32(self.units(before)),
        }
    }

    pub fn span(&self, start: usize, end: usize) -> TextSpan {
        TextSpan {
            start: self.position(start),
            end: self.position(end.max(start)),
        }
    }

    /// The row and column that the rest of docent counts.
    pub fn source_position(&self, byte: usize) -> SourcePosition {
        let byte = self.text.floor_char_boundary(byte);
        let rows = self.rows();
        let row = rows.partition_point(|start| *start as usize <= byte) - 1;
        SourcePosition {
            line: to_u32(row + 1),
            column: to_u32(byte) - rows[row],
        }
    }

    /// The byte at a row and column. `None` if the text has no such row.
    pub fn source_byte(&self, at: SourcePosition) -> Option<usize> {
        let row = *self.rows().get(at.line.checked_sub(1)? as usize)?;
        let byte = row as usize + at.column as usize;
        Some(self.text.floor_char_boundary(byte))
    }

    /// The byte behind a row, without its line end. The end of the text beyond the last row.
    pub fn row_end(&self, row: u32) -> usize {
        let next = self.rows().get(row as usize);
        let end = next.map_or(self.text.len(), |start| *start as usize);
        let rest = self.text[..end].trim_end_matches(['\n', '\r']);
        let start = self.rows().get((row as usize).saturating_sub(1));
        start.map_or(end, |start| rest.len().max(*start as usize))
    }

    fn rows(&self) -> &[u32] {
        self.rows.as_deref().unwrap_or(&self.lines)
    }

    /// A line without its end.
    fn line(&self, line: usize) -> Option<&'a str> {
        let start = *self.lines.get(line)? as usize;
        let end = self
            .lines
            .get(line + 1)
            .map_or(self.text.len(), |end| *end as usize);
        Some(self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    fn units(&self, text: &str) -> usize {
        match self.encoding {
            PositionEncoding::Utf8 => text.len(),
            PositionEncoding::Utf16 if text.is_ascii() => text.len(),
            PositionEncoding::Utf16 => text.encode_utf16().count(),
            PositionEncoding::Utf32 => text.chars().count(),
        }
    }

    /// Bytes of the first units of a line, at most all of it. Half a character counts as nothing.
    fn bytes_of_units(&self, line: &str, units: usize) -> usize {
        if self.encoding == PositionEncoding::Utf8 || line.is_ascii() {
            return line.floor_char_boundary(units);
        }
        let mut left = units;
        for (at, character) in line.char_indices() {
            let width = match self.encoding {
                PositionEncoding::Utf16 => character.len_utf16(),
                _ => 1,
            };
            if width > left {
                return at;
            }
            left -= width;
        }
        line.len()
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(line: u32, column: u32) -> TextPosition {
        TextPosition { line, column }
    }

    #[track_caller]
    fn check(text: &str, word: &str, [utf8, utf16, utf32]: [TextPosition; 3]) {
        let byte = text.find(word).unwrap();
        for (encoding, expected) in [
            (PositionEncoding::Utf8, utf8),
            (PositionEncoding::Utf16, utf16),
            (PositionEncoding::Utf32, utf32),
        ] {
            let positions = TextPositions::of(text, encoding);
            assert_eq!(positions.position(byte), expected, "{encoding:?} {text:?}");
            assert_eq!(positions.byte(expected), byte, "{encoding:?} {text:?}");
        }
    }

    #[test]
    fn columns_count_units_of_the_encoding() {
        check("let owl = 1;", "owl", [at(0, 4), at(0, 4), at(0, 4)]);
        check("\té owl", "owl", [at(0, 4), at(0, 3), at(0, 3)]);
        check("a\n\"🦉\" owl", "owl", [at(1, 7), at(1, 5), at(1, 4)]);
        // A letter with a combining mark is two characters.
        check("e\u{301} owl", "owl", [at(0, 4), at(0, 3), at(0, 3)]);
    }

    #[test]
    fn each_line_end_begins_a_line() {
        let all = |position| [position; 3];
        check("a\r\nowl", "owl", all(at(1, 0)));
        check("a\rowl", "owl", all(at(1, 0)));
        check("a\n\r\n\rowl", "owl", all(at(3, 0)));
    }

    #[test]
    fn positions_outside_of_the_text_lead_to_its_borders() {
        let positions = TextPositions::of("a🦉\r\nb\n", PositionEncoding::Utf16);
        assert_eq!(positions.byte(at(0, 2)), 1, "half a character");
        assert_eq!(positions.byte(at(0, 90)), 5, "before the line end");
        assert_eq!(positions.byte(at(2, 0)), 9);
        assert_eq!(positions.byte(at(7, 3)), 9);
    }

    #[test]
    fn a_byte_order_mark_is_in_no_column_of_a_file() {
        let text = "\u{feff}owl\nelk";
        let positions = TextPositions::of_file(text, PositionEncoding::Utf16);
        assert_eq!(positions.position(3), at(0, 0));
        assert_eq!(positions.byte(at(0, 1)), 4);
        assert_eq!(positions.position(0), at(0, 0));
        assert_eq!(positions.position(7), at(1, 0));
        let source = SourcePosition { line: 1, column: 3 };
        assert_eq!(positions.source_byte(source), Some(3));
        assert_eq!(
            positions.source_position(4),
            SourcePosition { line: 1, column: 4 }
        );
        let kept = TextPositions::of(text, PositionEncoding::Utf16);
        assert_eq!(kept.position(3), at(0, 1));
    }

    #[test]
    fn rows_end_with_a_line_feed_alone() {
        let text = "a\rb\nowl 🦉";
        let positions = TextPositions::of(text, PositionEncoding::Utf16);
        let row = positions.source_position(text.find("owl").unwrap());
        assert_eq!(row, SourcePosition { line: 2, column: 0 });
        assert_eq!(positions.source_byte(row), text.find("owl"));
        assert_eq!(positions.position(4), at(2, 0));
        assert_eq!(positions.row_end(1), 3);
        assert_eq!(positions.row_end(2), text.len());
        assert_eq!(positions.source_byte(SourcePosition { line: 9, column: 0 }), None);
    }

    proptest! {
        #[test]
        fn a_byte_survives_the_way_there_and_back(text in "[a-c\r\n\té🦉\u{301}]{0,40}", byte in 0_usize..90) {
            let byte = text.floor_char_boundary(byte);
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
                let positions = TextPositions::of(&text, encoding);
                let there = positions.position(byte);
                // Inside of a line end, positions are at its beginning.
                let is_in_line_end = text[..byte].ends_with('\r') && text[byte..].starts_with('\n');
                prop_assert_eq!(positions.byte(there), if is_in_line_end { byte - 1 } else { byte });
                prop_assert_eq!(positions.source_byte(positions.source_position(byte)), Some(byte));
            }
        }

        #[test]
        fn no_position_panics(text in "\\PC{0,20}\r?\n?\\PC{0,20}", line in 0_u32..5, column: u32) {
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
                let positions = TextPositions::of(&text, encoding);
                let byte = positions.byte(at(line, column));
                prop_assert!(text.is_char_boundary(byte));
                positions.source_byte(SourcePosition { line, column });
                positions.row_end(line);
            }
        }
    }
}
