//! `WordPiece` tokens of the bundled embedding table, cut the way the table was trained.
//!
//! Identifiers are split at case and digits and put into lower case; scripts other than Latin have no pieces.
//! A word that the vocabulary lacks is cut into the longest known pieces, from its beginning.

use xxhash_rust::xxh3::xxh3_64;

/// The vocabulary: every piece with its number.
#[derive(Debug)]
pub struct Vocabulary<'a> {
    /// All pieces, one per line, and the byte where each begins.
    text: &'a str,
    starts: Vec<u32>,
    /// A hash table with open addressing: piece number + 1, or 0 for an empty slot. At least twice as many
    /// slots as pieces.
    slots: Vec<u32>,
}

/// Prefix of a piece that continues a word.
const CONTINUATION: &str = "##";

/// Longer words are data.
const MAX_WORD_BYTES: usize = 64;

impl<'a> Vocabulary<'a> {
    /// Reads a vocabulary of one piece per line, each line with its end.
    pub fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        starts.extend(ends.map(|end| u32::try_from(end + 1).unwrap_or(u32::MAX)));
        let count = starts.len() - 1;
        let mut vocabulary = Self {
            text,
            starts,
            slots: vec![0; (count * 2).next_power_of_two().max(2)],
        };
        for piece in 0..count {
            let mut slot = vocabulary.first_slot(vocabulary.piece(piece));
            while vocabulary.slots[slot] != 0 {
                slot = (slot + 1) % vocabulary.slots.len();
            }
            vocabulary.slots[slot] = u32::try_from(piece + 1).unwrap_or_default();
        }
        vocabulary
    }

    fn piece(&self, number: usize) -> &[u8] {
        &self.text.as_bytes()[self.starts[number] as usize..self.starts[number + 1] as usize - 1]
    }

    fn first_slot(&self, piece: &[u8]) -> usize {
        // The number of slots is a power of two, so the remainder is the lowest bits.
        usize::try_from(xxh3_64(piece) & (self.slots.len() as u64 - 1)).unwrap_or_default()
    }

    fn find(&self, piece: &[u8]) -> Option<u32> {
        let mut slot = self.first_slot(piece);
        loop {
            let number = self.slots[slot].checked_sub(1)?;
            if self.piece(number as usize) == piece {
                return Some(number);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    /// True if a whole word is in the vocabulary.
    pub fn contains(&self, word: &str) -> bool {
        self.find(word.to_ascii_lowercase().as_bytes()).is_some()
    }

    /// Appends the numbers of a word's pieces. Everything after an unknown part is left out.
    pub fn append_pieces(&self, word: &str, into: &mut Vec<u32>) {
        if word.len() > MAX_WORD_BYTES {
            return;
        }
        // The prefix stands before the word, so that every continuing piece is a slice of the same bytes.
        let mut bytes = [0_u8; CONTINUATION.len() + MAX_WORD_BYTES];
        bytes[..CONTINUATION.len()].copy_from_slice(CONTINUATION.as_bytes());
        let end = CONTINUATION.len() + word.len();
        bytes[CONTINUATION.len()..end].copy_from_slice(word.as_bytes());
        bytes[CONTINUATION.len()..end].make_ascii_lowercase();
        if let Some(whole) = self.find(&bytes[CONTINUATION.len()..end]) {
            into.push(whole);
            return;
        }
        let mut from = CONTINUATION.len();
        while from < end {
            if from > CONTINUATION.len() {
                bytes[from - CONTINUATION.len()..from].copy_from_slice(CONTINUATION.as_bytes());
            }
            let start = if from == CONTINUATION.len() {
                from
            } else {
                from - CONTINUATION.len()
            };
            let longest = (from + 1..=end)
                .rev()
                .find_map(|until| Some((until, self.find(&bytes[start..until])?)));
            let Some((until, piece)) = longest else { return };
            into.push(piece);
            from = until;
        }
    }
}

/// The words of a text: runs of letters of one case, perhaps with one capital first, and runs of digits.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        let start = at;
        let run = |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| is(byte)).count();
        let first = bytes.get(start)?;
        if first.is_ascii_digit() {
            at += run(start, u8::is_ascii_digit);
        } else if first.is_ascii_lowercase() {
            at += run(start, u8::is_ascii_lowercase);
        } else {
            let capitals = run(start, u8::is_ascii_uppercase);
            let small = run(start + capitals, u8::is_ascii_lowercase);
            at += match (capitals, small) {
                (_, 0) => capitals,
                (1, _) => 1 + small,
                // The last capital belongs to the small letters that follow.
                _ => capitals - 1,
            };
        }
        Some(&text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_the_table_was_trained() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        check("readFile read_file", &["read", "File", "read", "file"]);
        check(
            "HTTPServer2 XMLHttpRequest",
            &["HTTP", "Server", "2", "XML", "Http", "Request"],
        );
        check("ABC aB3c über", &["ABC", "a", "B", "3", "c", "ber"]);
        check("", &[]);
    }

    #[test]
    fn an_unknown_word_is_cut_into_the_longest_pieces() {
        let vocabulary = Vocabulary::new("read\nre\n##ad\n##er\nun\n##read\n");
        let pieces = |word: &str| {
            let mut pieces = Vec::new();
            vocabulary.append_pieces(word, &mut pieces);
            pieces
        };
        assert_eq!(pieces("Read"), [0]);
        assert_eq!(pieces("reader"), [0, 3]);
        assert_eq!(pieces("unreader"), [4, 5, 3]);
        assert_eq!(pieces("rex"), [1]);
        assert!(pieces("x").is_empty());
        assert!(pieces(&"a".repeat(65)).is_empty());
        assert!(vocabulary.contains("READ") && !vocabulary.contains("reader"));
    }
}
