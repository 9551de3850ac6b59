//! Markdown as what people say in it: list items and sentences, with the heading they stand under and their lines.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A list item or a paragraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) text: String,
    /// Headings it stands under, the outermost first.
    pub(super) headings: Vec<String>,
    pub(super) bytes: Range<usize>,
    pub(super) is_item: bool,
    /// A step of a numbered list.
    pub(super) is_step: bool,
    /// What announces the list it is in.
    pub(super) lead: String,
}

/// Bytes of a heading, or of what announces a list, that say what it is about; and of a paragraph that anybody would read.
const MAX_HEADING_BYTES: usize = 300;
const MAX_UNIT_BYTES: usize = 6_000;

/// Everything that is said outside of code, tables and quotes.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let mut reader = ProseReader::default();
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    for (event, bytes) in parser.into_offset_iter() {
        reader.take(event, bytes);
    }
    reader.units
}

#[derive(Default)]
struct ProseReader {
    units: Vec<Unit>,
    headings: Vec<(HeadingLevel, String)>,
    heading: Option<(HeadingLevel, String)>,
    /// For each list around: whether it is numbered.
    lists: Vec<bool>,
    unit: Option<Unit>,
    /// For each list around, what announces it.
    leads: Vec<String>,
    /// Inside of so many things that say nothing.
    silent: usize,
}

impl ProseReader {
    fn take(&mut self, event: Event<'_>, bytes: Range<usize>) {
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
                self.close();
                self.silent += 1;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::HtmlBlock | TagEnd::BlockQuote(_)) => {
                self.silent = self.silent.saturating_sub(1);
            }
            Event::Start(Tag::List(first)) => {
                self.close();
                self.lists.push(first.is_some());
                let before = self
                    .units
                    .last()
                    .filter(|unit| unit.text.trim_end().ends_with(':'));
                let lead = before
                    .filter(|unit| follows(unit, bytes.start) && unit.text.len() <= MAX_HEADING_BYTES)
                    .map(|unit| unit.text.trim().to_owned());
                self.leads.push(lead.unwrap_or_default());
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
                self.leads.pop();
            }
            Event::Start(Tag::Item) => self.open(bytes, true),
            Event::Start(Tag::Paragraph) if self.unit.is_none() => self.open(bytes, false),
            Event::End(TagEnd::Item | TagEnd::Paragraph) => self.close(),
            Event::Text(said) => self.say(&said, &bytes),
            Event::Code(said) => self.say(&format!("`{said}`"), &bytes),
            Event::SoftBreak | Event::HardBreak => self.say(" ", &bytes),
            _ => {}
        }
    }

    fn open(&mut self, bytes: Range<usize>, is_item: bool) {
        if self.silent > 0 {
            return;
        }
        self.close();
        self.unit = Some(Unit {
            headings: self.headings.iter().map(|(_, title)| title.clone()).collect(),
            bytes: bytes.start..bytes.start,
            is_item,
            is_step: is_item && self.lists.last() == Some(&true),
            lead: self.leads.last().filter(|_| is_item).cloned().unwrap_or_default(),
            text: String::new(),
        });
    }

    fn say(&mut self, said: &str, bytes: &Range<usize>) {
        if let Some((_, title)) = &mut self.heading {
            if title.len() < MAX_HEADING_BYTES {
                title.push_str(said);
            }
        } else if let Some(unit) = self.unit.as_mut().filter(|_| self.silent == 0) {
            if unit.text.len() < MAX_UNIT_BYTES {
                unit.text
                    .push_str(&said[..said.floor_char_boundary(MAX_UNIT_BYTES)]);
            }
            unit.bytes.end = bytes.end;
        }
    }

    fn close(&mut self) {
        if let Some(unit) = self.unit.take().filter(|unit| !unit.text.trim().is_empty()) {
            self.units.push(unit);
        }
    }
}

/// Whether a list that begins at a byte comes right behind a unit.
fn follows(unit: &Unit, list: usize) -> bool {
    const GAP: usize = 8;
    list >= unit.bytes.end && list - unit.bytes.end <= GAP
}

/// The sentences of a text. A point behind a short form, or before a small letter, ends none.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    const SHORT: [&str; 8] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"];
    /// More bytes than any of them has.
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
        let ends = rest.is_empty() || !SHORT.contains(&before.to_ascii_lowercase().as_str());
        if ends {
            sentences.push(text[start..at + mark.len()].trim());
            start = at + mark.len();
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Numbers lines of a text.
pub(super) struct LineNumbers(Vec<usize>);

impl LineNumbers {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line, from 1, that a byte is in.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_paragraphs_are_told_apart() {
        let text =
            "# A\n\nOne. Two\nthree.\n\n## B\n\n- item `x`\n  more\n  - inner\n\n```\ncode\n```\n\n1. step\n";
        let seen: Vec<(String, Vec<String>, bool, bool)> = units(text)
            .into_iter()
            .map(|unit| (unit.text, unit.headings, unit.is_item, unit.is_step))
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
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            sentences("Use v1.2, e.g. here. Never (i.e. not once) panic! See a.rs. ok"),
            [
                "Use v1.2, e.g. here.",
                "Never (i.e. not once) panic!",
                "See a.rs. ok"
            ]
        );
    }
}
