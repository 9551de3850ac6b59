//! Sections of documents, data and markup, cut at headings, top-level keys, SQL statements and CSS rules.
//!
//! No grammar is needed: a heading or a key shows by how its line begins.

use std::ops::RangeInclusive;

use super::{Chunk, Rows, line_blocks};
use crate::language::Language;

/// Neighbouring sections are joined while they have fewer rows than this together.
const MIN_SECTION_ROWS: usize = 12;

/// Cuts a text into sections; `None` for a language that has none.
pub(super) fn cut_sections(language: Language, rows: &Rows<'_>) -> Option<Vec<Chunk>> {
    let title: fn(&str) -> Option<String> = match language {
        Language::Markdown | Language::Mdx => return Some(cut_markdown(rows)),
        Language::Toml | Language::Ini => |row| {
            let name = row.strip_prefix('[')?.trim_end();
            Some(name.trim_matches(|c| c == '[' || c == ']').to_owned())
        },
        Language::Yaml => |row| {
            let name = row.split_once(':')?.0;
            let is_key = name.starts_with(|c: char| c.is_alphanumeric() || "_\"'./$".contains(c));
            is_key.then(|| name.trim_matches(|c| c == '"' || c == '\'').to_owned())
        },
        Language::Json | Language::Jsonc => return Some(cut_json(rows)),
        Language::Css | Language::Scss | Language::Less => |row| {
            let is_rule = row.starts_with(|c: char| c.is_alphanumeric() || ".#@:*[&".contains(c));
            is_rule.then(|| row.trim_end().trim_end_matches(['{', ',']).trim_end().to_owned())
        },
        Language::Sql => |row| {
            let mut words = row.split_whitespace();
            let verb = words.next()?.to_ascii_uppercase();
            let starts = ["CREATE", "ALTER", "INSERT", "UPDATE", "DELETE", "DROP", "GRANT"];
            starts.contains(&verb.as_str()).then(|| {
                let rest = words.take(5).collect::<Vec<_>>().join(" ");
                format!("{verb} {}", rest.trim_end_matches(['(', ';']))
                    .trim_end()
                    .to_owned()
            })
        },
        Language::Html | Language::Xml => |row| {
            let tag = row.trim_start().strip_prefix('<')?;
            let indented = row.len() - row.trim_start().len();
            let name: String = tag
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '-')
                .collect();
            (indented <= 4 && !name.is_empty()).then_some(name)
        },
        _ => return None,
    };
    let titles = (0..rows.count()).filter_map(|row| {
        let text = title(rows.row(row))?;
        Some(Title { row, depth: 1, text })
    });
    Some(cut_at_titles(
        rows,
        SmallSections::Join,
        &titles.collect::<Vec<_>>(),
    ))
}

/// Cuts JSON at the keys of the outermost object: those with the indentation of the first key.
fn cut_json(rows: &Rows<'_>) -> Vec<Chunk> {
    let key = |row: usize| {
        let text = rows.row(row);
        let indent = text.len() - text.trim_start().len();
        let (key, rest) = text.trim_start().strip_prefix('"')?.split_once('"')?;
        (indent > 0 && rest.trim_start().starts_with(':')).then_some((indent, key))
    };
    let first = (0..rows.count()).find_map(key).map(|(indent, _)| indent);
    let titles = (0..rows.count()).filter_map(|row| {
        let (_, text) = key(row).filter(|(indent, _)| Some(*indent) == first)?;
        Some(Title {
            row,
            depth: 1,
            text: text.to_owned(),
        })
    });
    cut_at_titles(rows, SmallSections::Join, &titles.collect::<Vec<_>>())
}

/// Cuts markdown at its headings. A parser finds them, because a `#` inside a code block is no heading.
fn cut_markdown(rows: &Rows<'_>) -> Vec<Chunk> {
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    let mut headings: Vec<Title> = Vec::new();
    let mut open: Option<Title> = None;
    for (event, range) in Parser::new(rows.text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let row = rows.starts.partition_point(|start| *start <= range.start) - 1;
                open = Some(Title {
                    row,
                    depth: level as usize,
                    text: String::new(),
                });
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(title) = &mut open {
                    title.text.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(open.take()),
            _ => {}
        }
    }
    cut_at_titles(rows, SmallSections::Keep, &headings)
}

/// The treatment of sections with few rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SmallSections {
    Keep,
    /// Join neighbours.
    Join,
}

/// A heading or key at which a section begins.
struct Title {
    row: usize,
    depth: usize,
    text: String,
}

/// Cuts before each title. The path of a section is its title with those above it.
fn cut_at_titles(rows: &Rows<'_>, small: SmallSections, titles: &[Title]) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let first = titles.first().map_or(rows.count(), |title| title.row);
    if first > 0 {
        add_section(rows, 0..=first - 1, None, &mut chunks);
    }
    let end = |at: usize| titles.get(at + 1).map_or(rows.count(), |next| next.row);
    let mut above: Vec<&Title> = Vec::new();
    let mut at = 0;
    while at < titles.len() {
        let title = &titles[at];
        let mut last = at;
        // Join the next titles while all of them together stay small.
        while small == SmallSections::Join
            && last + 1 < titles.len()
            && end(last + 1) - title.row < MIN_SECTION_ROWS
        {
            last += 1;
        }
        above.retain(|other| other.depth < title.depth);
        above.push(title);
        let path: Vec<&str> = above.iter().map(|title| title.text.as_str()).collect();
        let joined: Vec<&str> = titles[at..=last]
            .iter()
            .map(|title| title.text.as_str())
            .collect();
        let head = match small {
            SmallSections::Keep => (title.text.clone(), path.join(" > ")),
            SmallSections::Join => (joined.join(", "), joined.join(", ")),
        };
        if end(last) > title.row {
            add_section(rows, title.row..=end(last) - 1, Some(&head), &mut chunks);
        }
        at = last + 1;
    }
    chunks
}

fn add_section(
    rows: &Rows<'_>,
    region: RangeInclusive<usize>,
    head: Option<&(String, String)>,
    chunks: &mut Vec<Chunk>,
) {
    let regions: Vec<RangeInclusive<usize>> = line_blocks::cut_rows(rows, region).collect();
    let parts = regions.len();
    for (part, rows) in (1..).zip(regions) {
        let mut chunk = Chunk::block(rows);
        if let Some((title, path)) = head {
            chunk.name.clone_from(title);
            chunk.path.clone_from(path);
            chunk.part = part;
            chunk.parts = parts;
        }
        chunks.push(chunk);
    }
}
