//! The pieces of words that the embedding table knows, cut the way it was trained.
//!
//! Identifiers are split at case and digits and put into small letters; other scripts than Latin have no pieces. A word that
//! is not known as a whole is cut into the longest pieces that are, from its beginning.

use xxhash_rust::xxh3::xxh3_64;

/// The pieces there are, each with its number.
#[derive(Debug)]
pub struct Vocabulary<'a> {
    /// All of them, one a line, and where each begins.
    text: &'a str,
    starts: Vec<u32>,
    /// Where to find a piece: its number and 1, by its hash; 0 where there is none. Twice as many places as pieces, or more.
    places: Vec<u32>,
}

/// Marks a piece that goes on with a word.
const GOES_ON: &str = "##";

/// Longer words are data.
const MAX_WORD_CHARS: usize = 64;

impl<'a> Vocabulary<'a> {
    /// Of pieces, one a line, of which each line has its end.
    pub fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        starts.extend(ends.map(|end| u32::try_from(end + 1).unwrap_or(u32::MAX)));
        let count = starts.len() - 1;
        let mut vocabulary = Self {
            text,
            starts,
            places: vec![0; (count * 2).next_power_of_two().max(2)],
        };
        for piece in 0..count {
            let mut place = vocabulary.place(vocabulary.piece(piece));
            while vocabulary.places[place] != 0 {
                place = (place + 1) % vocabulary.places.len();
            }
            vocabulary.places[place] = u32::try_from(piece + 1).unwrap_or_default();
        }
        vocabulary
    }

    fn piece(&self, number: usize) -> &[u8] {
        &self.text.as_bytes()[self.starts[number] as usize..self.starts[number + 1] as usize - 1]
    }

    fn place(&self, piece: &[u8]) -> usize {
        // Of a power of two, the rest is the lowest bits.
        usize::try_from(xxh3_64(piece) & (self.places.len() as u64 - 1)).unwrap_or_default()
    }

    fn find(&self, piece: &[u8]) -> Option<u32> {
        let mut place = self.place(piece);
        loop {
            let number = self.places[place].checked_sub(1)?;
            if self.piece(number as usize) == piece {
                return Some(number);
            }
            place = (place + 1) % self.places.len();
        }
    }

    /// Whether a word is known as a whole.
    pub fn has(&self, word: &str) -> bool {
        self.find(word.to_ascii_lowercase().as_bytes()).is_some()
    }

    /// Appends the numbers of a word's pieces. What follows a part that is not known is left out.
    pub fn pieces_into(&self, word: &str, into: &mut Vec<u32>) {
        if word.len() > MAX_WORD_CHARS {
            return;
        }
        // The mark stands before the word, so that a piece that goes on is a part of the same bytes.
        let mut bytes = [0_u8; GOES_ON.len() + MAX_WORD_CHARS];
        bytes[..GOES_ON.len()].copy_from_slice(GOES_ON.as_bytes());
        let end = GOES_ON.len() + word.len();
        bytes[GOES_ON.len()..end].copy_from_slice(word.as_bytes());
        bytes[GOES_ON.len()..end].make_ascii_lowercase();
        if let Some(whole) = self.find(&bytes[GOES_ON.len()..end]) {
            into.push(whole);
            return;
        }
        let mut from = GOES_ON.len();
        while from < end {
            if from > GOES_ON.len() {
                bytes[from - GOES_ON.len()..from].copy_from_slice(GOES_ON.as_bytes());
            }
            let start = if from == GOES_ON.len() {
                from
            } else {
                from - GOES_ON.len()
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

/// The words of a text: runs of letters of one case, with one capital before small ones, and runs of digits.
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
    fn a_word_is_whole_or_the_longest_pieces() {
        let vocabulary = Vocabulary::new("read\nre\n##ad\n##er\nun\n##read\n");
        let pieces = |word: &str| {
            let mut pieces = Vec::new();
            vocabulary.pieces_into(word, &mut pieces);
            pieces
        };
        assert_eq!(pieces("Read"), [0]);
        assert_eq!(pieces("reader"), [0, 3]);
        assert_eq!(pieces("unreader"), [4, 5, 3]);
        assert_eq!(pieces("rex"), [1]);
        assert!(pieces("x").is_empty());
        assert!(pieces(&"a".repeat(65)).is_empty());
        assert!(vocabulary.has("READ") && !vocabulary.has("reader"));
    }
}
