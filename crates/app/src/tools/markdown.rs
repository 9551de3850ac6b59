//! Markdown that what it quotes cannot break: text from commits and files stays on its line and inside its fence.

use docent_core::text::reveal::reveal_part;

/// Text for the middle of a line: nothing invisible, no line ends, not endless.
pub(crate) fn inline(text: &str) -> String {
    inline_to(text, 500)
}

/// The same with at most so many characters.
pub(crate) fn inline_to(text: &str, most: usize) -> String {
    // Cut first: the rest of an endless text is not looked at.
    let start = text
        .char_indices()
        .nth(most + 1)
        .map_or(text, |(end, _)| &text[..end]);
    let shown = reveal_part(start)
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    cut(&shown, most, "…")
}

/// Text of at most so many characters, the mark where it is cut among them.
pub(crate) fn cut(text: &str, most: usize, mark: &str) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(length(mark))).collect();
    kept + mark
}

/// An answer that keeps to its size whatever was put into it.
pub(crate) fn whole(text: &str, room: usize) -> String {
    cut(text, room, "\n> Note: The answer is cut here; ask for less\n")
}

/// A fence that nothing in `text` closes: longer than the longest run of backticks in it.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// A number as people read it: `1,234`.
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

/// Something the reader should know about the answer.
pub(crate) fn note(sentence: &str) -> String {
    format!("\n> Note: {sentence}\n")
}

/// How many characters, as an answer's size is counted.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
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
