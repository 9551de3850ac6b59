//! The bundled embedder: a table of word pieces with a vector each. The vector of a text is the sum of the
//! vectors of its pieces, normalised.
//!
//! How the table was trained is not here but in `model/`.
//!
//! Invariant: the table is not copied out of the binary. Only its vocabulary is built in memory, at the first
//! text.

use std::sync::OnceLock;

use docent_core::text::wordpiece::{Vocabulary, words};

use super::{DIMENSIONS, Embedder, Vector};

/// Layout: "CSE1", then row count, dimensions and byte length of the words as little-endian `u32`; the words,
/// one per line; an `f32` scale per row; the rows, a byte per dimension.
static TABLE: &[u8] = include_bytes!("../../../../model/table.bin");

const HEADER_BYTES: usize = 16;

/// The bundled embedder.
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
    /// An `f32` per row, four bytes each.
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
        let (text, rest) = table[HEADER_BYTES..].split_at(length);
        let (scales, rows) = rest.split_at(4 * count);
        let text = std::str::from_utf8(text).expect("the words of the table are text");
        Self {
            vocabulary: Vocabulary::new(text),
            scales,
            rows: &rows[..count * DIMENSIONS],
        }
    }
}

fn read_scale(scales: &[u8], piece: usize) -> f32 {
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
        // A piece that occurs several times is added once, with that weight.
        pieces.sort_unstable();
        let mut sum = [0.0_f32; DIMENSIONS];
        for equal in pieces.chunk_by(|a, b| a == b) {
            let piece = equal[0] as usize;
            let row = &rows[piece * DIMENSIONS..(piece + 1) * DIMENSIONS];
            #[expect(clippy::cast_precision_loss, reason = "no text has so many words")]
            let weight = read_scale(scales, piece) * equal.len() as f32;
            for (part, number) in sum.iter_mut().zip(row) {
                *part += weight * f32::from(number.cast_signed());
            }
        }
        Vector::normalize(&sum)
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
    fn texts_of_similar_meaning_are_similar() {
        let vector = |text: &str| bundled().embed(text).unwrap();
        let near = vector("delete a file").similarity(&vector("remove files from the directory"));
        let far = vector("delete a file").similarity(&vector("matrix multiplication"));
        assert!(near > far + 0.2, "{near} {far}");
        let same = vector("delete a file").similarity(&vector("Delete a File"));
        assert!(same > 0.99, "{same}");
    }

    #[test]
    fn texts_are_tokenized_as_for_training() {
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
    fn a_text_without_words_has_no_vector() {
        for text in ["", "  \n", "日本語", "…—"] {
            assert_eq!(bundled().embed(text), None, "{text:?}");
        }
        assert!(bundled().knows("delete file"));
        assert!(!bundled().knows("xyzzyq"));
        assert!(!bundled().knows(""));
    }
}
