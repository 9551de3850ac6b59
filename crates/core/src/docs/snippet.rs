//! What a section says, without its markup: the text that is searched, and the part of it that is shown with a result.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::tokens::words_into;

/// The words of a part of a page as people read them: no marks, no addresses, no tags.
pub fn plain(markdown: &str) -> String {
    let mut plain = Plain::default();
    for event in Parser::new_ext(markdown, dialect()) {
        plain.add(&event);
    }
    plain.text
}

/// What a reader sees, as it is put together.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// What ends the tag or the comment that is open.
    open: Option<&'static str>,
}

/// The markdown that pages are written in.
pub(crate) fn dialect() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH
}

impl Plain {
    /// Appends what a reader sees of a part of the markup.
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => self.text.push_str(text),
            Event::Html(html) => self.html(html),
            Event::End(TagEnd::TableCell) => self.text.push_str(" | "),
            Event::Start(Tag::Item) => self.text.push_str("- "),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableRow
                | TagEnd::TableHead,
            ) => self.text.push('\n'),
            Event::End(TagEnd::HtmlBlock) => {
                self.open = None;
                self.text.push('\n');
            }
            _ => {}
        }
    }

    /// What stands between tags, and outside of comments. Both may go on in the next line, which is another event.
    fn html(&mut self, html: &str) {
        let mut rest = html;
        loop {
            if let Some(close) = self.open {
                let Some(end) = rest.find(close) else { return };
                rest = &rest[end + close.len()..];
                self.open = None;
            }
            let Some(start) = rest.find('<') else { break };
            self.text.push_str(&rest[..start]);
            let comment = rest[start..].starts_with("<!--");
            self.open = Some(if comment { "-->" } else { ">" });
            rest = &rest[start..];
        }
        self.text.push_str(rest);
    }
}

/// Characters of a snippet, about.
const LENGTH: usize = 240;

/// The part of a plain text that has most of what was asked for, on one line.
pub fn snippet(plain: &str, wanted: &[String]) -> String {
    let text: Vec<&str> = plain.split_whitespace().collect();
    if text.iter().map(|word| word.chars().count() + 1).sum::<usize>() <= LENGTH {
        return text.join(" ");
    }
    // Which of the wanted words each word is.
    let numbers: HashMap<&str, usize> = wanted.iter().map(String::as_str).zip(0..).collect();
    let mut stems = String::new();
    let hits: Vec<Vec<usize>> = text
        .iter()
        .map(|word| {
            stems.clear();
            words_into(word, &mut stems);
            stems
                .split_terminator(' ')
                .filter_map(|stem| numbers.get(stem).copied())
                .collect()
        })
        .collect();
    // Where a window over the words holds most different ones of those asked for; the first of equals.
    let mut best = (0, 0);
    let mut start = 0;
    let mut length = 0;
    let mut inside: HashMap<usize, usize> = HashMap::new();
    for end in 0..text.len() {
        length += text[end].chars().count() + 1;
        for word in &hits[end] {
            *inside.entry(*word).or_default() += 1;
        }
        while length > LENGTH && start < end {
            length -= text[start].chars().count() + 1;
            for word in &hits[start] {
                if let Some(count) = inside.get_mut(word) {
                    *count -= 1;
                    if *count == 0 {
                        inside.remove(word);
                    }
                }
            }
            start += 1;
        }
        if inside.len() > best.0 {
            best = (inside.len(), start);
        }
    }
    // Some words before the first hit, as far as there is room, and what follows.
    let mut from = best.1;
    let first_hit = (from..text.len())
        .find(|at| !hits[*at].is_empty())
        .unwrap_or(from);
    let lead = first_hit.saturating_sub(8);
    if lead > from {
        from = lead;
    }
    let mut snippet = String::new();
    let mut until = from;
    while until < text.len() && snippet.chars().count() + text[until].chars().count() < LENGTH {
        if !snippet.is_empty() {
            snippet.push(' ');
        }
        snippet.push_str(text[until]);
        until += 1;
    }
    if until == from
        && let Some(word) = text.get(from)
    {
        snippet.extend(word.chars().take(LENGTH));
        until += 1;
    }
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if until < text.len() { "…" } else { "" },
    );
    format!("{before}{snippet}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

    #[test]
    fn markup_and_addresses_are_no_text() {
        let markdown = "# A *title*\n\nSee [the guide](https://x.example/y) and `code()`.\n\n<div class=\"a\">\ninside <b>it</b>\n</div>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n```rust\nfn x() {}\n```\n<!-- hidden -->\n\n<!--\nhidden\nas well -->\n";
        assert_eq!(
            plain(markdown).split_whitespace().collect::<Vec<_>>().join(" "),
            "A title See the guide and code(). inside it a | b | 1 | 2 | - one - two fn x() {}"
        );
    }

    #[test]
    fn a_snippet_is_around_the_best_match_and_keeps_its_case() {
        let filler = "filler ".repeat(100);
        let plain =
            format!("Backoff is named once. {filler}The SDK uses Exponential Backoff with jitter. {filler}");
        let wanted = words("exponential backoff jitter");
        let shown = snippet(&plain, &wanted);
        assert!(shown.starts_with("…filler"), "{shown}");
        assert!(
            shown.contains("The SDK uses Exponential Backoff with jitter."),
            "{shown}"
        );
        assert!(shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= LENGTH + 2);
        assert_eq!(snippet("Short and whole.", &wanted), "Short and whole.");
        assert_eq!(snippet("", &wanted), "");
        assert_eq!(snippet(&"x".repeat(1_000), &wanted), "x".repeat(LENGTH));
    }
}
