//! Words that the tokenizer leaves out: stop words, single letters, and long numbers. They are searched for
//! if a query has no others, so that `return` and `C` find the pages that are about them.

use super::tokens::is_stop_word;

/// Longer numbers are data.
const MAX_NUMBER_BYTES: usize = 64;

/// Numbers of up to this many digits are words like others.
const MAX_WORD_DIGITS: usize = 6;

/// Appends the left-out words of `text` in lower case, each followed by a space.
pub fn left_out_words_into(text: &str, into: &mut String) {
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if !word.is_ascii() || word.is_empty() || word.len() > MAX_NUMBER_BYTES {
            continue;
        }
        let start = into.len();
        into.push_str(word);
        into[start..].make_ascii_lowercase();
        let is_number = word.len() > MAX_WORD_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || word.len() == 1 || is_stop_word(&into[start..]) {
            into.push(' ');
        } else {
            into.truncate(start);
        }
    }
}

/// The left-out words of `text`, each once.
pub fn left_out_words(text: &str) -> Vec<String> {
    let mut all = String::new();
    left_out_words_into(text, &mut all);
    let mut words: Vec<String> = Vec::new();
    for word in all.split_terminator(' ') {
        if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

    #[test]
    fn every_word_is_either_indexed_or_left_out() {
        let check = |text: &str, expected: &[&str]| assert_eq!(left_out_words(text), expected, "{text}");
        check(
            "Return this if x is 12345678 of it",
            &["return", "this", "if", "x", "is", "12345678", "of", "it"],
        );
        check("request handler 123 größe", &[]);
        check("C++", &["c"]);
        for word in ["return", "12345678", "x"] {
            assert!(words(word).is_empty(), "{word}");
        }
    }
}
