//! Entries in TOML files: as tables with a header, inside inline tables, and with dotted keys.
//!
//! A comment directly above a header belongs to it: no table is inserted between the two.
//!
//! Left out: the style of existing values. New values are written in one style.
//!
//! Invariant: a removal keeps every comment outside of the entry, those above its header included.

use std::ops::Range;

use super::braces::Layout;
use super::splice::{
    Splice, apply, detect_eol, indentation_at, is_blank, line_break_before, line_end, line_start,
    position_at, quote,
};
use super::statements::{Pair, StatementKind, TomlFile, TomlSection, is_at_or_below};
use super::{EditRefused, Entry, EntryLocation, Value};

const ONE_LINE: Layout = Layout::OneLine { space: " ", pad: " " };

pub(super) fn find(text: &str, place: &EntryLocation) -> Result<Option<Entry>, EditRefused> {
    let file = TomlFile::read(text)?;
    let path = place.path();
    check_tables(text, &file, &path)?;
    if file.first_mention(&path).is_none() {
        return Ok(None);
    }
    let field = |pair: &Pair| match (&pair.path[..], &pair.kind) {
        ([outer @ .., name], StatementKind::Plain(value)) if outer == &path[..] => {
            Some((name.clone(), value.clone()))
        }
        _ => None,
    };
    Ok(Some(file.pairs.iter().filter_map(field).collect()))
}

pub(super) fn put(text: &str, place: &EntryLocation, entry: &Entry) -> Result<Option<String>, EditRefused> {
    let file = TomlFile::read(text)?;
    let path = place.path();
    check_tables(text, &file, &path)?;
    if file.first_mention(&path).is_none() {
        return Ok(Some(apply(text, add_entry(text, &file, place, entry))));
    }
    let mut splices = Vec::new();
    let mut missing = Vec::new();
    for (name, wanted) in entry {
        let field = [&path[..], &[name]].concat();
        match file.pair(&field).map(|index| &file.pairs[index]) {
            Some(pair) if matches!(&pair.kind, StatementKind::Plain(value) if value == wanted) => {}
            Some(pair) => splices.push(Splice::replace(pair.value.clone(), write_value(wanted))),
            None => match file.first_mention(&field) {
                Some(start) => return Err(wrong_kind(text, start, &field, "a value")),
                None => missing.push((name.clone(), wanted.clone())),
            },
        }
    }
    if !missing.is_empty() {
        splices.extend(add_fields(text, &file, &path, &missing));
    }
    Ok((!splices.is_empty()).then(|| apply(text, splices)))
}

pub(super) fn take_out(text: &str, place: &EntryLocation) -> Result<Option<String>, EditRefused> {
    let file = TomlFile::read(text)?;
    let path = place.path();
    check_tables(text, &file, place.keys)?;
    if file.first_mention(&path).is_none() {
        return Ok(None);
    }
    let through = || file.pairs.iter().filter(|pair| pair.leads_through(&path));
    // Remove members of an inline table one by one: each removal may take the comma of the member before.
    if let Some((pair, within)) = through().find_map(|pair| Some((pair, pair.within?))) {
        let braces = file.braces(within);
        let mut members = braces.members.iter();
        let Some(index) = members.position(|member| member.range.start == pair.start) else {
            return Err(EditRefused::Unproven);
        };
        let text = apply(text, braces.remove_member(text, index));
        return Ok(Some(take_out(&text, place)?.unwrap_or(text)));
    }
    let lines = through().map(|pair| pair.start..pair.value.end);
    let mut splices = remove_statements(text, lines, 1);
    let sections = file.sections.iter();
    let sections = sections.filter(|section| is_at_or_below(&section.path, &path));
    splices.extend(remove_statements(
        text,
        sections.map(|section| section.start..section.end),
        2,
    ));
    Ok(Some(apply(text, splices)))
}

/// Adds an entry in the form of the existing servers: inline table, dotted keys, or else a table with a
/// header.
fn add_entry(text: &str, file: &TomlFile, place: &EntryLocation, entry: &Entry) -> Vec<Splice> {
    let path = place.path();
    let mut ends = (1..path.len()).rev();
    let inline = ends.find_map(|end| Some((end, file.pair(&path[..end])?)));
    if let Some((end, index)) = inline {
        let fields = write_pairs(entry, "").join(", ");
        let member = format!("{} = {{ {fields} }}", write_dotted_key(&path[end..]));
        return file.braces(index).add_members(text, &[member], &ONE_LINE);
    }
    let mut pairs = file.pairs.iter().rev();
    let like = pairs.find(|pair| pair.within.is_none() && pair.leads_through(place.keys));
    match like {
        Some(pair) => {
            let servers = pair.key_text(text, place.keys.len());
            let prefix = format!("{servers}.{}.", write_key(place.name));
            vec![add_lines(text, pair.start, pair.value.end, entry, &prefix)]
        }
        None => add_section(text, file, &path, entry),
    }
}

/// Adds missing fields to an existing entry, in its form.
fn add_fields(text: &str, file: &TomlFile, path: &[&str], fields: &Entry) -> Vec<Splice> {
    if let Some(section) = file.sections.iter().find(|section| section.path == path) {
        return vec![add_lines(text, section.last, section.end, fields, "")];
    }
    if let Some(index) = file.pair(path) {
        return file
            .braces(index)
            .add_members(text, &write_pairs(fields, ""), &ONE_LINE);
    }
    let Some(pair) = file.pairs.iter().rev().find(|pair| pair.leads_through(path)) else {
        return add_section(text, file, path, fields);
    };
    let prefix = format!("{}.", pair.key_text(text, path.len()));
    match pair.within {
        Some(index) => file
            .braces(index)
            .add_members(text, &write_pairs(fields, &prefix), &ONE_LINE),
        None => vec![add_lines(text, pair.start, pair.value.end, fields, &prefix)],
    }
}

/// Adds pairs on lines below the statement with this start and end, indented like it.
fn add_lines(text: &str, start: usize, end: usize, fields: &Entry, prefix: &str) -> Splice {
    let before = format!("{}{}", detect_eol(text), indentation_at(text, start));
    let lines = write_pairs(fields, prefix).join(&before);
    Splice::insert(line_end(text, end), before + &lines)
}

/// Adds a table with a header: after the last table of servers, or else at the end of the file.
fn add_section(text: &str, file: &TomlFile, path: &[&str], entry: &Entry) -> Vec<Splice> {
    let eol = detect_eol(text);
    let lines = format!(
        "[{}]{eol}{}",
        write_dotted_key(path),
        write_pairs(entry, "").join(eol)
    );
    if is_blank(text) {
        return vec![Splice::replace(0..text.len(), format!("{lines}{eol}"))];
    }
    let servers = &path[..path.len() - 1];
    let mut sections = file.sections.iter();
    let last = sections.rposition(|section| is_at_or_below(&section.path, servers));
    let last = last.unwrap_or(file.sections.len() - 1);
    let at = section_end(text, &file.sections[last], file.sections.get(last + 1));
    vec![Splice::insert(at, format!("{eol}{eol}{lines}"))]
}

/// End of a section with the comments after it, except for those directly above the next header.
fn section_end(text: &str, section: &TomlSection, next: Option<&TomlSection>) -> usize {
    let until = next.map_or(text.len(), |next| line_start(text, next.start));
    let mut end = line_end(text, section.end);
    let mut comments_end = None;
    let mut at = end;
    for line in text[end..until].split_inclusive('\n') {
        if is_blank(line) {
            end = comments_end.take().unwrap_or(end);
        } else {
            comments_end = Some(line_end(text, at));
        }
        at += line.len();
    }
    match next {
        Some(_) => end,
        None => comments_end.unwrap_or(end),
    }
}

/// Removes statements: their lines, and up to `breaks` line breaks before them. Adjacent statements are
/// removed as one.
fn remove_statements(
    text: &str,
    statements: impl Iterator<Item = Range<usize>>,
    breaks: usize,
) -> Vec<Splice> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in statements {
        match joined.last_mut() {
            Some(last) if is_blank(&text[last.end..range.start]) => last.end = range.end,
            _ => joined.push(range),
        }
    }
    let lines = joined.into_iter().map(|range| {
        let (mut start, mut end) = (line_start(text, range.start), line_end(text, range.end));
        let is_first = start == 0;
        for _ in 0..breaks {
            if is_first {
                end += text[end..].len() - skip_line_break(&text[end..]).len();
            } else if text[..start].ends_with('\n') {
                start = line_break_before(text, start);
            }
        }
        Splice::remove(start..end)
    });
    lines.collect()
}

/// The text after one line ending at its start.
fn skip_line_break(text: &str) -> &str {
    let after = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    after.unwrap_or(text)
}

/// Refuses a file in which the path, or a prefix of it, is not a table.
fn check_tables(text: &str, file: &TomlFile, path: &[&str]) -> Result<(), EditRefused> {
    for end in 1..=path.len() {
        let path = &path[..end];
        let pair = file.pair(path).map(|index| &file.pairs[index]);
        if let Some(pair) = pair.filter(|pair| pair.kind != StatementKind::Table) {
            return Err(wrong_kind(text, pair.value.start, path, "a table"));
        }
        let mut sections = file.sections.iter();
        if let Some(list) = sections.find(|section| section.is_list && section.path == path) {
            return Err(wrong_kind(text, list.start, path, "a table"));
        }
    }
    Ok(())
}

fn wrong_kind(text: &str, at: usize, path: &[&str], wanted: &'static str) -> EditRefused {
    EditRefused::WrongKind {
        at: position_at(text, at),
        what: format!("\"{}\"", path.join(".")),
        wanted,
    }
}

fn write_pairs(entry: &Entry, prefix: &str) -> Vec<String> {
    let pair =
        |(name, value): &(String, Value)| format!("{prefix}{} = {}", write_key(name), write_value(value));
    entry.iter().map(pair).collect()
}

fn write_dotted_key(path: &[&str]) -> String {
    path.iter()
        .map(|name| write_key(name))
        .collect::<Vec<_>>()
        .join(".")
}

/// A key, quoted if it must be.
fn write_key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_bare) {
        name.to_owned()
    } else {
        quote(name)
    }
}

fn write_value(value: &Value) -> String {
    match value {
        Value::Text(text) => quote(text),
        Value::Flag(flag) => flag.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| quote(item)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
