//! The style of a JSON file (line endings, indentation, spacing), and new text written in it.
//!
//! Left out: where the text goes (`braces`), and TOML, whose new text has one style.
//!
//! Invariant: an empty file gets two spaces, `\n` and lists on one line.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use serde_json::Value as Json;

use super::splice::{detect_eol, indentation_at, is_blank, is_first_on_line, quote};
use super::{Entry, Value};

/// The style of a file, taken from its first members.
pub(super) struct FileStyle<'a> {
    text: &'a str,
    pub(super) eol: &'a str,
    /// One step of indentation.
    pub(super) unit: &'a str,
    /// After colons, and after commas within a line.
    pub(super) space: &'a str,
    /// Whether lists have one item per line.
    has_open_lists: bool,
}

impl<'a> FileStyle<'a> {
    /// Detects the style from the file's first members, and that of lists from the member nearest to the
    /// entry.
    pub(super) fn detect(text: &'a str, root: &Object, place: Option<&ObjectProp>) -> Self {
        let members = &root.properties;
        let on_line = members
            .iter()
            .find(|member| is_first_on_line(text, member.start()));
        let unit = on_line.and_then(|member| {
            let unit = indentation_at(text, member.start()).strip_prefix(indentation_at(text, root.start()));
            unit.filter(|unit| !unit.is_empty())
        });
        let is_tight = members
            .first()
            .is_some_and(|member| text[..member.value.start()].ends_with(':'));
        let list = place
            .and_then(|member| first_list(&member.value))
            .or_else(|| members.iter().find_map(|member| first_list(&member.value)));
        Self {
            text,
            eol: detect_eol(text),
            unit: unit.unwrap_or("  "),
            space: if is_tight { "" } else { " " },
            has_open_lists: list.is_some_and(|list| is_open(text, list)),
        }
    }

    /// Writes a whole file, after comments if there are any.
    pub(super) fn write_file(&self, comments: &str, path: &[&str], entry: &Entry) -> String {
        let members = self.write_members(path, entry, Some(self.unit));
        let object = self.write_bracketed(['{', '}'], &members, Some(""));
        let comments = if is_blank(comments) { "" } else { comments };
        let eol = self.eol;
        let between = if comments.is_empty() || comments.ends_with('\n') {
            ""
        } else {
            eol
        };
        format!("{comments}{between}{object}{eol}")
    }

    /// Writes the entry inside one object per key, or its fields if there are no keys. With an indentation,
    /// each member gets its own line.
    pub(super) fn write_members(&self, keys: &[&str], entry: &Entry, indent: Option<&str>) -> Vec<String> {
        let member = |name: &str, value: &str| format!("{}:{}{value}", quote(name), self.space);
        let Some((key, keys)) = keys.split_first() else {
            let indent = indent.filter(|_| self.has_open_lists);
            let field = |(name, value): &(String, Value)| member(name, &self.write_value(value, indent));
            return entry.iter().map(field).collect();
        };
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let members = self.write_members(keys, entry, inner.as_deref());
        vec![member(key, &self.write_bracketed(['{', '}'], &members, indent))]
    }

    /// Writes a value that replaces a field's value. A list has one item per line if the replaced list had.
    pub(super) fn write_replacement(&self, field: &ObjectProp, value: &Value) -> String {
        let is_open = match &field.value {
            Node::Array(list) if !list.elements.is_empty() => is_open(self.text, list),
            _ => self.has_open_lists,
        };
        let has_line = is_open && is_first_on_line(self.text, field.start());
        self.write_value(value, has_line.then(|| indentation_at(self.text, field.start())))
    }

    /// Writes a value. With an indentation, a list has one item per line.
    fn write_value(&self, value: &Value, indent: Option<&str>) -> String {
        match value {
            Value::Text(text) => quote(text),
            Value::Flag(flag) => flag.to_string(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| quote(item)).collect();
                self.write_bracketed(['[', ']'], &items, indent.filter(|_| !items.is_empty()))
            }
        }
    }

    /// Writes any value. With an indentation, which is that of its first line, every member and item gets its
    /// own line.
    pub(super) fn write_json(&self, value: &Json, indent: Option<&str>) -> String {
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let write = |value: &Json| self.write_json(value, inner.as_deref());
        match value {
            Json::Array(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(write).collect();
                self.write_bracketed(['[', ']'], &items, indent)
            }
            Json::Object(members) if !members.is_empty() => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}:{}{}", quote(name), self.space, write(value)))
                    .collect();
                self.write_bracketed(['{', '}'], &members, indent)
            }
            other => other.to_string(),
        }
    }

    /// Writes items in brackets, one per line if there is an indentation for the closing bracket.
    fn write_bracketed(&self, [open, close]: [char; 2], items: &[String], outer: Option<&str>) -> String {
        let Some(outer) = outer else {
            return format!("{open}{}{close}", items.join(&format!(",{}", self.space)));
        };
        let start = format!("{}{outer}{}", self.eol, self.unit);
        let items = items.join(&format!(",{start}"));
        format!("{open}{start}{items}{}{outer}{close}", self.eol)
    }
}

/// The first list with items in a value, depth first.
fn first_list<'a, 'b>(value: &'b Node<'a>) -> Option<&'b Array<'a>> {
    match value {
        Node::Array(list) if !list.elements.is_empty() => Some(list),
        Node::Object(object) => object
            .properties
            .iter()
            .find_map(|member| first_list(&member.value)),
        _ => None,
    }
}

/// Whether a list's first item is on a line after its bracket.
fn is_open(text: &str, list: &Array) -> bool {
    let first = list.elements.first().map_or(list.start(), Ranged::start);
    text[list.start()..first].contains('\n')
}
