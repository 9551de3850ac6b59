//! The outermost blocks of a page (headings, paragraphs, lists, tables, code), and the points where each may
//! be cut.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::docs::snippet::{PlainText, markdown_options};

/// An outermost block of a page.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: Joint,
    pub(super) heading: Option<Heading>,
    /// Points where the block may be cut if it is too long.
    pub(super) joints: Vec<Joint>,
}

/// A point where a page may be cut: byte positions in its text and in its plain text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    pub(super) text: usize,
    pub(super) plain: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub(super) level: usize,
    /// As a reader sees it.
    pub(super) shown: String,
    pub(super) slug: String,
}

/// Splits a text, from byte `from` on, into its outermost blocks, and returns its plain text. Text that is no
/// block, such as link definitions, belongs to the block before it.
pub(super) fn split_blocks(text: &str, from: usize) -> (Vec<Block>, String) {
    let mut plain = PlainText::default();
    let mut blocks: Vec<Block> = Vec::new();
    let mut depth = 0_usize;
    let mut heading: Option<(usize, String, String)> = None;
    let mut is_paragraph = false;
    let joint = |at: usize, plain: &PlainText| Joint {
        text: text[from..at].rfind('\n').map_or(from, |end| from + end + 1),
        plain: plain.text.len(),
    };
    for (event, range) in Parser::new_ext(&text[from..], markdown_options()).into_offset_iter() {
        let start = from + range.start;
        match &event {
            Event::Start(tag) => {
                if depth == 0 {
                    is_paragraph = matches!(tag, Tag::Paragraph);
                    blocks.push(Block {
                        start: joint(start, &plain),
                        heading: None,
                        joints: Vec::new(),
                    });
                    if let Tag::Heading { level, .. } = tag {
                        heading = Some((*level as usize, String::new(), String::new()));
                    }
                } else if depth == 1
                    && matches!(tag, Tag::Item | Tag::TableRow)
                    && let Some(block) = blocks.last_mut()
                {
                    block.joints.push(joint(start, &plain));
                }
                depth += 1;
            }
            Event::End(end) => {
                depth -= 1;
                if let TagEnd::Heading(_) = end
                    && let Some((level, shown, written)) = heading.take()
                    && let Some(block) = blocks.last_mut()
                {
                    let shown = one_line(without_anchor(&shown));
                    block.heading = Some(Heading {
                        level,
                        shown: if shown.is_empty() { "section".into() } else { shown },
                        slug: slug(&written),
                    });
                }
            }
            Event::Rule if depth == 0 => blocks.push(Block {
                start: joint(start, &plain),
                heading: None,
                joints: Vec::new(),
            }),
            _ => {
                if let Some((_, shown, written)) = &mut heading {
                    match &event {
                        Event::Text(text) | Event::Code(text) => {
                            shown.push_str(text);
                            written.push_str(text);
                        }
                        // Slugs include HTML tags, as on other sites; readers do not see the tags.
                        Event::InlineHtml(tag) => written.push_str(tag),
                        Event::SoftBreak | Event::HardBreak => {
                            shown.push(' ');
                            written.push('\n');
                        }
                        _ => {}
                    }
                }
            }
        }
        plain.add(&event);
        if is_paragraph
            && depth == 1
            && matches!(event, Event::SoftBreak | Event::HardBreak)
            && let Some(block) = blocks.last_mut()
        {
            block.joints.push(joint(from + range.end, &plain));
        }
    }
    (blocks, plain.text)
}

/// Characters of a shown heading or title.
const MAX_HEADING_CHARS: usize = 200;

/// Characters of a slug. Names are passed around, so they must not be endless.
const MAX_SLUG_CHARS: usize = 300;

/// A heading on one line, cut if it is too long.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_HEADING_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A heading without the anchor that some sites write into it: `Settings {#settings}`.
fn without_anchor(heading: &str) -> &str {
    match heading
        .trim_end()
        .strip_suffix('}')
        .and_then(|rest| rest.rsplit_once("{#"))
    {
        Some((shown, id)) if !id.contains(char::is_whitespace) => shown,
        _ => heading,
    }
}

/// A heading as a part of a name: lower-case letters and digits of any script, joined with `-`.
pub fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for c in heading.trim().chars().flat_map(char::to_lowercase) {
        match c {
            ' ' | '-' if slug.is_empty() || slug.ends_with('-') => {}
            ' ' | '-' => slug.push('-'),
            c if c.is_alphanumeric() => slug.push(c),
            _ => {}
        }
    }
    let end = slug
        .char_indices()
        .nth(MAX_SLUG_CHARS)
        .map_or(slug.len(), |(end, _)| end);
    let slug = slug[..end].trim_end_matches('-');
    if slug.is_empty() {
        "section".into()
    } else {
        slug.into()
    }
}
