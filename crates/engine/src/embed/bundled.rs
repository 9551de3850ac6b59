//! The embedder that comes with docent: a table of word pieces, each with a vector. The vector of a text is the sum of those of
//! its pieces. How the table was made is told in `model/`.
//!
//! The table stays where it is in the binary; only where its words are is worked out, when the first text comes.

use std::sync::OnceLock;

use docent_core::text::wordpiece::{Vocabulary, words};

use super::{DIMENSIONS, Embedder, Vector};

/// "CSE1", rows, numbers a row, length of the words; then the words, one a line, a scale for each row, and the rows.
static TABLE: &[u8] = include_bytes!("../../../../model/table.bin");

const HEAD: usize = 16;

/// The embedder that comes with docent.
pub fn bundled() -> &'static dyn Embedder {
    static BUNDLED: Bundled = Bundled {
        opened: OnceLock::new(),
    };
    &BUNDLED
}

#[derive(Debug)]
struct Bundled {
    opened: OnceLock<OpenedTable>,
}

#[derive(Debug)]
struct OpenedTable {
    vocabulary: Vocabulary<'static>,
    /// Four bytes each.
    scales: &'static [u8],
    rows: &'static [u8],
}

impl Bundled {
    fn opened(&self) -> &OpenedTable {
        self.opened.get_or_init(|| OpenedTable::read(TABLE))
    }
}

impl OpenedTable {
    fn read(table: &'static [u8]) -> Self {
        let number = |at: usize| {
            let bytes = [table[at], table[at + 1], table[at + 2], table[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        assert!(
            table.starts_with(b"CSE1") && number(8) == DIMENSIONS,
            "the table has another form"
        );
        let (count, length) = (number(4), number(12));
        let (text, rest) = table[HEAD..].split_at(length);
        let (scales, rows) = rest.split_at(4 * count);
        let text = std::str::from_utf8(text).expect("the words of the table are text");
        Self {
            vocabulary: Vocabulary::new(text),
            scales,
            rows: &rows[..count * DIMENSIONS],
        }
    }
}

fn scale(scales: &[u8], piece: usize) -> f32 {
    let bytes = &scales[4 * piece..4 * piece + 4];
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl Embedder for Bundled {
    fn name(&self) -> &'static str {
        "bundled-1"
    }

    fn embed(&self, text: &str) -> Option<Vector> {
        let OpenedTable {
            vocabulary,
            scales,
            rows,
        } = self.opened();
        let mut pieces: Vec<u32> = Vec::with_capacity(text.len() / 5);
        for word in words(text) {
            vocabulary.append_pieces(word, &mut pieces);
        }
        // Each row is added once, as often as it occurs.
        pieces.sort_unstable();
        let mut sum = [0.0_f32; DIMENSIONS];
        for same in pieces.chunk_by(|a, b| a == b) {
            let piece = same[0] as usize;
            let row = &rows[piece * DIMENSIONS..(piece + 1) * DIMENSIONS];
            #[expect(clippy::cast_precision_loss, reason = "no text has so many words")]
            let weight = scale(scales, piece) * same.len() as f32;
            for (part, number) in sum.iter_mut().zip(row) {
                *part += weight * f32::from(number.cast_signed());
            }
        }
        Vector::pointing(&sum)
    }

    fn knows(&self, text: &str) -> bool {
        let vocabulary = &self.opened().vocabulary;
        let mut any = false;
        let all = words(text).all(|word| {
            any = true;
            vocabulary.contains(word)
        });
        any && all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_is_near() {
        let vector = |text: &str| bundled().embed(text).unwrap();
        let near = vector("delete a file").similarity(&vector("remove files from the directory"));
        let far = vector("delete a file").similarity(&vector("matrix multiplication"));
        assert!(near > far + 0.2, "{near} {far}");
        let same = vector("delete a file").similarity(&vector("Delete a File"));
        assert!(same > 0.99, "{same}");
    }

    #[test]
    fn texts_are_cut_as_they_were_for_training() {
        #[derive(serde::Deserialize)]
        struct Example {
            text: String,
            words: Vec<String>,
            pieces: Vec<u32>,
        }
        let examples = include_str!("../../../../model/test_vectors.json");
        let examples: Vec<Example> = serde_json::from_str(examples).unwrap();
        let vocabulary = OpenedTable::read(TABLE).vocabulary;
        assert!(examples.len() > 20);
        for example in examples {
            let cut: Vec<String> = words(&example.text).map(str::to_ascii_lowercase).collect();
            assert_eq!(cut, example.words, "{:?}", example.text);
            let mut pieces = Vec::new();
            for word in words(&example.text) {
                vocabulary.append_pieces(word, &mut pieces);
            }
            assert_eq!(pieces, example.pieces, "{:?}", example.text);
        }
    }

    #[test]
    fn what_has_no_words_has_no_vector() {
        for text in ["", "  \n", "日本語", "…—"] {
            assert_eq!(bundled().embed(text), None, "{text:?}");
        }
        assert!(bundled().knows("delete file"));
        assert!(!bundled().knows("xyzzyq"));
        assert!(!bundled().knows(""));
    }
}
