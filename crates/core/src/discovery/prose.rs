//! Prose in markdown: list items, paragraphs and sentences, with their headings and lines.
//!
//! Code, tables, HTML and quotes are left out, because nobody states a rule there.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A list item or a paragraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProseBlock {
    pub(super) text: String,
    /// Headings above it, outermost first.
    pub(super) headings: Vec<String>,
    pub(super) bytes: Range<usize>,
    pub(super) is_item: bool,
    /// True for a step of a numbered list.
    pub(super) is_step: bool,
    /// The sentence that introduces its list.
    pub(super) lead: String,
}

/// Bytes of a heading, or of the sentence that introduces a list.
const MAX_HEADING_BYTES: usize = 300;

/// Bytes of a paragraph that are read.
const MAX_BLOCK_BYTES: usize = 6_000;

/// Splits markdown into list items and paragraphs.
pub(super) fn split_blocks(text: &str) -> Vec<ProseBlock> {
    let mut reader = ProseReader::default();
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    for (event, bytes) in parser.into_offset_iter() {
        reader.handle_event(event, bytes);
    }
    reader.blocks
}

#[derive(Default)]
struct ProseReader {
    blocks: Vec<ProseBlock>,
    headings: Vec<(HeadingLevel, String)>,
    heading: Option<(HeadingLevel, String)>,
    /// For each enclosing list, whether it is numbered.
    lists: Vec<bool>,
    block: Option<ProseBlock>,
    /// For each enclosing list, the sentence that introduces it.
    leads: Vec<String>,
    /// Number of enclosing elements without prose, such as tables.
    skipped_depth: usize,
}

impl ProseReader {
    fn handle_event(&mut self, event: Event<'_>, bytes: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.heading = Some((level, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, mut title)) = self.heading.take() {
                    title.truncate(title.floor_char_boundary(MAX_HEADING_BYTES));
                    self.headings.retain(|(other, _)| *other < level);
                    self.headings.push((level, title));
                }
            }
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::HtmlBlock | Tag::BlockQuote(_)) => {
                self.close_block();
                self.skipped_depth += 1;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::HtmlBlock | TagEnd::BlockQuote(_)) => {
                self.skipped_depth = self.skipped_depth.saturating_sub(1);
            }
            Event::Start(Tag::List(first)) => {
                self.close_block();
                self.lists.push(first.is_some());
                let before = self
                    .blocks
                    .last()
                    .filter(|block| block.text.trim_end().ends_with(':'));
                let lead = before
                    .filter(|block| {
                        is_followed_by(block, bytes.start) && block.text.len() <= MAX_HEADING_BYTES
                    })
                    .map(|block| block.text.trim().to_owned());
                self.leads.push(lead.unwrap_or_default());
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
                self.leads.pop();
            }
            Event::Start(Tag::Item) => self.open_block(bytes, true),
            Event::Start(Tag::Paragraph) if self.block.is_none() => self.open_block(bytes, false),
            Event::End(TagEnd::Item | TagEnd::Paragraph) => self.close_block(),
            Event::Text(text) => self.add_text(&text, &bytes),
            Event::Code(code) => self.add_text(&format!("`{code}`"), &bytes),
            Event::SoftBreak | Event::HardBreak => self.add_text(" ", &bytes),
            _ => {}
        }
    }

    fn open_block(&mut self, bytes: Range<usize>, is_item: bool) {
        if self.skipped_depth > 0 {
            return;
        }
        self.close_block();
        self.block = Some(ProseBlock {
            headings: self.headings.iter().map(|(_, title)| title.clone()).collect(),
            bytes: bytes.start..bytes.start,
            is_item,
            is_step: is_item && self.lists.last() == Some(&true),
            lead: self.leads.last().filter(|_| is_item).cloned().unwrap_or_default(),
            text: String::new(),
        });
    }

    fn add_text(&mut self, text: &str, bytes: &Range<usize>) {
        if let Some((_, title)) = &mut self.heading {
            if title.len() < MAX_HEADING_BYTES {
                title.push_str(text);
            }
        } else if let Some(block) = self.block.as_mut().filter(|_| self.skipped_depth == 0) {
            if block.text.len() < MAX_BLOCK_BYTES {
                block
                    .text
                    .push_str(&text[..text.floor_char_boundary(MAX_BLOCK_BYTES)]);
            }
            block.bytes.end = bytes.end;
        }
    }

    fn close_block(&mut self) {
        if let Some(block) = self.block.take().filter(|block| !block.text.trim().is_empty()) {
            self.blocks.push(block);
        }
    }
}

/// True if a list that begins at byte `list` comes directly after a block.
fn is_followed_by(block: &ProseBlock, list: usize) -> bool {
    const MAX_GAP_BYTES: usize = 8;
    list >= block.bytes.end && list - block.bytes.end <= MAX_GAP_BYTES
}

/// Splits a text into sentences. A full stop after an abbreviation, or before a lower-case letter, ends none.
pub(super) fn split_sentences(text: &str) -> Vec<&str> {
    const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"];
    /// Longer than any abbreviation.
    const MAX_ABBREVIATION_BYTES: usize = 10;
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(['.', '!', '?', ';']) {
        let rest = &text[at + mark.len()..];
        let may_end = rest.is_empty()
            || (rest.starts_with([' ', '\n'])
                && mark != ";"
                && !rest.trim_start().starts_with(char::is_lowercase));
        if !may_end {
            continue;
        }
        let near = text[start..at].len().saturating_sub(MAX_ABBREVIATION_BYTES);
        let near = &text[text.ceil_char_boundary(start + near)..at];
        let before = near.rsplit([' ', '(']).next().unwrap_or_default();
        let ends = rest.is_empty() || !ABBREVIATIONS.contains(&before.to_ascii_lowercase().as_str());
        if ends {
            sentences.push(text[start..at + mark.len()].trim());
            start = at + mark.len();
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Line numbers of byte positions.
pub(super) struct LineNumbers(Vec<usize>);

impl LineNumbers {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, counted from 1.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_paragraphs_and_steps_are_told_apart() {
        let text =
            "# A\n\nOne. Two\nthree.\n\n## B\n\n- item `x`\n  more\n  - inner\n\n```\ncode\n```\n\n1. step\n";
        let seen: Vec<(String, Vec<String>, bool, bool)> = split_blocks(text)
            .into_iter()
            .map(|block| (block.text, block.headings, block.is_item, block.is_step))
            .collect();
        let under = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            seen,
            [
                ("One. Two three.".into(), under(&["A"]), false, false),
                ("item `x` more".into(), under(&["A", "B"]), true, false),
                ("inner".into(), under(&["A", "B"]), true, false),
                ("step".into(), under(&["A", "B"]), true, true),
            ]
        );
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        assert_eq!(
            split_sentences("Use v1.2, e.g. here. Never (i.e. not once) panic! See a.rs. ok"),
            [
                "Use v1.2, e.g. here.",
                "Never (i.e. not once) panic!",
                "See a.rs. ok"
            ]
        );
    }
}
