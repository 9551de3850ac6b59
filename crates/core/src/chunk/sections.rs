//! Documents, data and markup, cut at their own joints: headings, top-level keys, statements, blocks of braces.
//!
//! No grammar is needed for that: a heading or a key is known by how its line begins.

use std::ops::RangeInclusive;

use super::{Chunk, Kind, Rows, lines};

/// Sections of fewer rows are put together with the next.
const SMALL: usize = 12;

/// Cuts a text of a language that has sections; nothing for any other.
pub(super) fn sections(language: &str, rows: &Rows<'_>) -> Option<Vec<Chunk>> {
    let title: fn(&str) -> Option<String> = match language {
        "markdown" | "mdx" => return Some(markdown(rows)),
        "toml" | "ini" => |row| {
            let name = row.strip_prefix('[')?.trim_end();
            Some(name.trim_matches(|c| c == '[' || c == ']').to_owned())
        },
        "yaml" => |row| {
            let name = row.split_once(':')?.0;
            let is_key = name.starts_with(|c: char| c.is_alphanumeric() || "_\"'./$".contains(c));
            is_key.then(|| name.trim_matches(|c| c == '"' || c == '\'').to_owned())
        },
        "json" | "jsonc" => json_key,
        "css" | "scss" | "less" => |row| {
            let is_rule = row.starts_with(|c: char| c.is_alphanumeric() || ".#@:*[&".contains(c));
            is_rule.then(|| row.trim_end().trim_end_matches(['{', ',']).trim_end().to_owned())
        },
        "sql" => |row| {
            let mut words = row.split_whitespace();
            let verb = words.next()?.to_ascii_uppercase();
            let starts = [
                "CREATE", "ALTER", "INSERT", "SELECT", "UPDATE", "DELETE", "DROP", "WITH", "GRANT", "BEGIN",
            ];
            starts.contains(&verb.as_str()).then(|| {
                let rest = words.take(5).collect::<Vec<_>>().join(" ");
                format!("{verb} {}", rest.trim_end_matches(['(', ';']))
                    .trim_end()
                    .to_owned()
            })
        },
        "html" | "xml" => |row| {
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
    let title = |row: usize| title(rows.row(row)).map(|title| (title, 1));
    Some(cut_at(rows, Small::TakesTheNext, &title))
}

/// A key one step inside the outermost braces, as it is usually written: indented once.
fn json_key(row: &str) -> Option<String> {
    let indented = row.len() - row.trim_start().len();
    let key = row.trim_start().strip_prefix('"')?;
    let (key, rest) = key.split_once('"')?;
    (indented <= 4 && indented > 0 && rest.trim_start().starts_with(':')).then(|| key.to_owned())
}

/// Sections under headings, found by a parser of markdown: a `#` in a fence is no heading.
fn markdown(rows: &Rows<'_>) -> Vec<Chunk> {
    use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

    let mut headings: Vec<(usize, usize, String)> = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    for (event, range) in Parser::new(rows.text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let row = rows.starts.partition_point(|start| *start <= range.start) - 1;
                let depth = match level {
                    HeadingLevel::H1 => 1,
                    HeadingLevel::H2 => 2,
                    HeadingLevel::H3 => 3,
                    HeadingLevel::H4 => 4,
                    HeadingLevel::H5 => 5,
                    HeadingLevel::H6 => 6,
                };
                open = Some((row, depth, String::new()));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, _, title)) = &mut open {
                    title.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(open.take()),
            _ => {}
        }
    }
    let title = |row: usize| {
        let at = headings.binary_search_by_key(&row, |heading| heading.0).ok()?;
        Some((headings[at].2.clone(), headings[at].1))
    };
    cut_at(rows, Small::Stays, &title)
}

/// What becomes of a section with few rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Small {
    Stays,
    TakesTheNext,
}

/// Cuts before each row that has a title and a depth, with the titles above it as its path.
fn cut_at(rows: &Rows<'_>, small: Small, title: &dyn Fn(usize) -> Option<(String, usize)>) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut head: Option<(String, String)> = None;
    let mut start = 0;
    for row in 0..rows.count() {
        let Some((title, depth)) = title(row) else {
            continue;
        };
        if small == Small::TakesTheNext && head.is_some() && row - start < SMALL {
            continue;
        }
        if row > start {
            section(rows, start..=row - 1, head.as_ref(), &mut chunks);
        }
        start = row;
        while above.last().is_some_and(|(last, _)| *last >= depth) {
            above.pop();
        }
        above.push((depth, title.clone()));
        let path: Vec<&str> = above.iter().map(|(_, title)| title.as_str()).collect();
        head = Some((title, path.join(" > ")));
    }
    if start < rows.count() {
        section(rows, start..=rows.count() - 1, head.as_ref(), &mut chunks);
    }
    chunks
}

fn section(
    rows: &Rows<'_>,
    region: RangeInclusive<usize>,
    head: Option<&(String, String)>,
    chunks: &mut Vec<Chunk>,
) {
    for (part, rows) in (1..).zip(lines::cut(rows, region)) {
        let mut chunk = Chunk::block(rows);
        if let Some((title, path)) = head {
            chunk.kind = Kind::Block;
            chunk.name.clone_from(title);
            chunk.path.clone_from(path);
            chunk.part = part;
        }
        chunks.push(chunk);
    }
}
