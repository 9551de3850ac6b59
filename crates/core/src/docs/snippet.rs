//! The text of a section without its markup, and the part of it that is shown with a result.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::left_out::left_out_words_into;
use crate::text::tokens::words_into;

/// The text of markdown as a reader sees it, without markup, link targets and HTML tags.
pub(super) fn plain_text_of_markdown(markdown: &str) -> String {
    let mut plain = PlainText::default();
    for event in Parser::new_ext(markdown, markdown_options()) {
        plain.add(&event);
    }
    plain.text
}

/// Builds the plain text from the events of the markdown parser.
#[derive(Debug, Default)]
pub(crate) struct PlainText {
    pub(crate) text: String,
    /// The text that closes the open HTML tag or comment.
    open: Option<&'static str>,
}

/// The markdown extensions that pages may use.
pub(crate) fn markdown_options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH
}

impl PlainText {
    /// Appends the visible text of an event.
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => self.text.push_str(text),
            Event::Html(html) => self.add_html(html),
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

    /// Appends the text between tags and outside of comments. Both may continue in the next line, which is
    /// another event.
    fn add_html(&mut self, html: &str) {
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

/// Characters of a snippet, approximately.
const SNIPPET_CHARS: usize = 240;

/// The part of a plain text with the most different words of the query, on one line.
pub fn best_snippet(plain: &str, query_words: &[String]) -> String {
    let text: Vec<&str> = plain.split_whitespace().collect();
    if text.iter().map(|word| word.chars().count() + 1).sum::<usize>() <= SNIPPET_CHARS {
        return text.join(" ");
    }
    // The query words that each word of the text matches, by number.
    let numbers: HashMap<&str, usize> = query_words.iter().map(String::as_str).zip(0..).collect();
    let mut stems = String::new();
    let hits: Vec<Vec<usize>> = text
        .iter()
        .map(|word| {
            stems.clear();
            words_into(word, &mut stems);
            left_out_words_into(word, &mut stems);
            stems
                .split_terminator(' ')
                .filter_map(|stem| numbers.get(stem).copied())
                .collect()
        })
        .collect();
    // Slide a window over the words. The first one with the most different query words wins.
    let mut best = (0, 0);
    let mut start = 0;
    let mut length = 0;
    let mut inside: HashMap<usize, usize> = HashMap::new();
    for end in 0..text.len() {
        length += text[end].chars().count() + 1;
        for word in &hits[end] {
            *inside.entry(*word).or_default() += 1;
        }
        while length > SNIPPET_CHARS && start < end {
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
    // Start a few words before the first hit.
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
    while until < text.len() && snippet.chars().count() + text[until].chars().count() < SNIPPET_CHARS {
        if !snippet.is_empty() {
            snippet.push(' ');
        }
        snippet.push_str(text[until]);
        until += 1;
    }
    if until == from
        && let Some(word) = text.get(from)
    {
        snippet.extend(word.chars().take(SNIPPET_CHARS));
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
    fn markup_and_link_targets_are_left_out() {
        let markdown = "# A *title*\n\nSee [the guide](https://x.example/y) and `code()`.\n\n<div class=\"a\">\ninside <b>it</b>\n</div>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n```rust\nfn x() {}\n```\n<!-- hidden -->\n\n<!--\nhidden\nas well -->\n";
        assert_eq!(
            plain_text_of_markdown(markdown)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            "A title See the guide and code(). inside it a | b | 1 | 2 | - one - two fn x() {}"
        );
    }

    #[test]
    fn a_snippet_shows_the_best_match_in_its_context() {
        let filler = "filler ".repeat(100);
        let plain =
            format!("Backoff is named once. {filler}The SDK uses Exponential Backoff with jitter. {filler}");
        let wanted = words("exponential backoff jitter");
        let shown = best_snippet(&plain, &wanted);
        assert!(shown.starts_with("…filler"), "{shown}");
        assert!(
            shown.contains("The SDK uses Exponential Backoff with jitter."),
            "{shown}"
        );
        assert!(shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= SNIPPET_CHARS + 2);
        assert_eq!(best_snippet("Short and whole.", &wanted), "Short and whole.");
        assert_eq!(best_snippet("", &wanted), "");
        assert_eq!(
            best_snippet(&"x".repeat(1_000), &wanted),
            "x".repeat(SNIPPET_CHARS)
        );
    }
}
