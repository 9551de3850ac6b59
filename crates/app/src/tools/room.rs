//! How much fits: answers have a size limit in characters, and JSON spends some on quotes and escapes.

use std::borrow::Cow;

/// The longest beginning of `text` whose revealed form takes at most `room` characters inside a JSON string, cut after
/// a line end where there is one: how many bytes of `text` it has, and how it is shown.
pub(crate) fn fit<'a>(
    text: &'a str,
    room: usize,
    reveal: fn(&'a str) -> Cow<'a, str>,
) -> (usize, Cow<'a, str>) {
    let mut tried = room;
    loop {
        let part = json_prefix(text, tried);
        let shown = reveal(part);
        let takes = json_length(&shown);
        if takes <= room {
            return (part.len(), shown);
        }
        // What was revealed takes more than it did; with this much less it fits, or nearly.
        tried = (tried * room / takes).min(tried - 1);
    }
}

/// What an answer leaves out, as its one `notice`.
pub(crate) fn notice(sentences: &[String]) -> Option<String> {
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// The characters `text` takes inside a JSON string.
pub(crate) fn json_length(text: &str) -> usize {
    text.chars().map(json_width).sum()
}

/// The longest beginning of `text` that takes at most `room` characters inside a JSON string, cut after a
/// line end where there is one.
fn json_prefix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut line_end = 0;
    for (at, c) in text.char_indices() {
        used += json_width(c);
        if used > room {
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
    fn what_is_revealed_fits_and_is_not_cut_in_two() {
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
    fn text_is_cut_after_a_line_where_there_is_one() {
        assert_eq!(json_prefix("ab\ncd\nef", 8), "ab\ncd\n");
        assert_eq!(json_prefix("ab\ncd\nef", 7), "ab\n");
        assert_eq!(json_prefix("ab\ncd\nef", 10), "ab\ncd\nef");
        assert_eq!(json_prefix("äöü", 2), "äö");
        assert_eq!(json_prefix("\"\"\"", 3), "\"");
    }
}
