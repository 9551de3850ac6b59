//! An answer's budget: its size limit in characters, of which JSON spends some on quotes and escapes.
//!
//! Each tool divides its budget itself; this only measures and cuts.

use std::borrow::Cow;

/// Cuts a text to a budget: the longest beginning of `text` whose revealed form takes at most `budget`
/// characters inside a JSON string, cut after a line end if there is one. Returns the length of that
/// beginning in bytes, and its revealed form.
pub(crate) fn fit<'a>(
    text: &'a str,
    budget: usize,
    reveal: fn(&'a str) -> Cow<'a, str>,
) -> (usize, Cow<'a, str>) {
    let mut attempt = budget;
    loop {
        let part = json_prefix(text, attempt);
        let shown = reveal(part);
        let cost = json_length(&shown);
        if cost <= budget {
            return (part.len(), shown);
        }
        // Revealing made the text longer. Shorten it in proportion, and by one character at least.
        attempt = (attempt * budget / cost).min(attempt - 1);
    }
}

/// Joins the notices of an answer into its `notice` field. `None` without any.
pub(crate) fn notice(sentences: &[String]) -> Option<String> {
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// The characters that `text` takes inside a JSON string.
pub(crate) fn json_length(text: &str) -> usize {
    text.chars().map(json_width).sum()
}

/// The longest beginning of `text` that takes at most `budget` characters inside a JSON string, cut after a
/// line end if there is one.
fn json_prefix(text: &str, budget: usize) -> &str {
    let mut used = 0;
    let mut line_end = 0;
    for (at, c) in text.char_indices() {
        used += json_width(c);
        if used > budget {
            return &text[..if line_end > 0 { line_end } else { at }];
        }
        if c == '\n' {
            line_end = at + 1;
        }
    }
    text
}

fn json_width(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_json() {
        for text in ["", "plain", "a\"b\\c\n\r\t", "\u{1}\u{8}\u{c}\u{1f}\u{7f}", "äö…"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(json_length(text) + 2, json.chars().count(), "{text:?}");
        }
    }

    #[test]
    fn revealed_text_fits_and_no_escape_is_cut_in_two() {
        let text = "\u{202e}".repeat(50);
        let (kept, shown) = fit(&text, 100, docent_core::text::reveal::reveal);
        assert_eq!(shown, r"\u{202E}".repeat(kept / 3));
        assert!(json_length(&shown) <= 100 && kept >= 30, "{kept}");
        assert_eq!(
            fit("plain", 100, docent_core::text::reveal::reveal),
            (5, "plain".into())
        );
        assert_eq!(fit(&text, 3, docent_core::text::reveal::reveal).0, 0);
    }

    #[test]
    fn text_is_cut_after_a_line_end_if_there_is_one() {
        assert_eq!(json_prefix("ab\ncd\nef", 8), "ab\ncd\n");
        assert_eq!(json_prefix("ab\ncd\nef", 7), "ab\n");
        assert_eq!(json_prefix("ab\ncd\nef", 10), "ab\ncd\nef");
        assert_eq!(json_prefix("äöü", 2), "äö");
        assert_eq!(json_prefix("\"\"\"", 3), "\"");
    }
}
