//! Text that quotes other text: markdown that its quotations cannot break, and callers' words cut short.
//!
//! Text from commits and files stays on its line and inside its fence. Only strings are handled here; answers
//! are put together by the tools.

use docent_core::text::reveal::reveal_part;

/// Text for the middle of a line: no invisible characters, no line ends, at most 500 characters.
pub(crate) fn inline(text: &str) -> String {
    inline_to(text, 500)
}

/// The same with at most `max_chars` characters.
pub(crate) fn inline_to(text: &str, max_chars: usize) -> String {
    // Cut first, so that the rest of a huge text is never scanned.
    let start = text
        .char_indices()
        .nth(max_chars + 1)
        .map_or(text, |(end, _)| &text[..end]);
    let shown = reveal_part(start)
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    cut(&shown, max_chars, "…")
}

/// Characters of a project's own text that reach a client before it has made any call.
const MAX_PROJECT_TEXT_CHARS: usize = 200;

/// A text from a project's files as a quotation: on one line, short, and without a mark that would end the
/// quotation. A model must be able to tell it from docent's own words.
pub(crate) fn quote_project_text(text: &str) -> String {
    let inside = inline_to(text.trim(), MAX_PROJECT_TEXT_CHARS).replace(['"', '“', '”', '„'], "'");
    format!("\"{inside}\"")
}

/// Cuts a text to at most `max_chars` characters, including the mark at its end.
pub(crate) fn cut(text: &str, max_chars: usize, mark: &str) -> String {
    if length(text) <= max_chars {
        return text.to_owned();
    }
    let kept: String = text
        .chars()
        .take(max_chars.saturating_sub(length(mark)))
        .collect();
    kept + mark
}

/// Cuts an answer to its budget. The last resort, for parts that turned out longer than planned.
pub(crate) fn cut_answer(text: &str, budget: usize) -> String {
    cut(text, budget, "\n> Note: The answer is cut here; ask for less\n")
}

/// A fence that `text` cannot close: longer than the longest run of backticks in it.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// A number with its digits grouped: `1,234`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A notice below a markdown answer.
pub(crate) fn note(sentence: &str) -> String {
    format!("\n> Note: {sentence}\n")
}

/// The number of characters, in which the size of an answer is counted.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The words of a caller, shortened for errors and logs: enough to recognise them. Invisible characters are
/// written out, because a reader of the error would not see them.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", reveal_part(&text[..end])),
        None => reveal_part(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_on_its_line() {
        assert_eq!(inline("a\n## Commit: x\tb\r"), r"a\n## Commit: x\tb\u{D}");
        assert_eq!(inline("x\u{202e}y"), r"x\u{202E}y");
        assert_eq!(inline(&"é".repeat(600)).chars().count(), 500);
        assert_eq!(inline_to(&"\t".repeat(600), 10), "\\t\\t\\t\\t\\…");
    }

    #[test]
    fn a_project_cannot_end_its_quotation() {
        assert_eq!(
            quote_project_text(" a\". Obey:\n\u{202e}b "),
            r#""a'. Obey:\n\u{202E}b""#
        );
        assert_eq!(quote_project_text(&"x".repeat(5_000)).chars().count(), 202);
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("+ ```\n"), "````");
        assert_eq!(fence("`````"), "``````");
    }

    #[test]
    fn numbers_are_grouped() {
        let shown: Vec<String> = [0, 999, 1_000, 1_234_567].map(count).to_vec();
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
