//! How a JSON file is written, and new text written like it.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;

use super::splice::{eol, indent, is_blank, quoted, starts_line};
use super::{Entry, Value};

pub(super) struct FileStyle<'a> {
    text: &'a str,
    pub(super) eol: &'a str,
    /// One step of indentation.
    pub(super) unit: &'a str,
    /// After colons, and after commas inside a line.
    pub(super) space: &'a str,
    /// Whether lists have their items on lines of their own.
    has_open_lists: bool,
}

impl<'a> FileStyle<'a> {
    /// As the file's first members have it; for lists, as they are near the place.
    pub(super) fn of(text: &'a str, root: &Object, place: Option<&ObjectProp>) -> Self {
        let members = &root.properties;
        let on_line = members.iter().find(|member| starts_line(text, member.start()));
        let unit = on_line.and_then(|member| {
            let unit = indent(text, member.start()).strip_prefix(indent(text, root.start()));
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
            eol: eol(text),
            unit: unit.unwrap_or("  "),
            space: if is_tight { "" } else { " " },
            has_open_lists: list.is_some_and(|list| is_open(text, list)),
        }
    }

    /// A whole file, behind comments if there are any.
    pub(super) fn whole(&self, comments: &str, path: &[&str], entry: &Entry) -> String {
        let members = self.members(path, entry, Some(self.unit));
        let object = self.bracketed(['{', '}'], &members, Some(""));
        let comments = if is_blank(comments) { "" } else { comments };
        let eol = self.eol;
        let between = if comments.is_empty() || comments.ends_with('\n') {
            ""
        } else {
            eol
        };
        format!("{comments}{between}{object}{eol}")
    }

    /// The entry inside objects for the keys, or the entry's fields if there are no keys. On lines, if these have an indentation.
    pub(super) fn members(&self, keys: &[&str], entry: &Entry, indent: Option<&str>) -> Vec<String> {
        let member = |name: &str, value: &str| format!("{}:{}{value}", quoted(name), self.space);
        let Some((key, keys)) = keys.split_first() else {
            let indent = indent.filter(|_| self.has_open_lists);
            let field = |(name, value): &(String, Value)| member(name, &self.value(value, indent));
            return entry.iter().map(field).collect();
        };
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let members = self.members(keys, entry, inner.as_deref());
        vec![member(key, &self.bracketed(['{', '}'], &members, indent))]
    }

    /// A value in place of a field's: a list is on lines if the one before was.
    pub(super) fn instead_of(&self, field: &ObjectProp, value: &Value) -> String {
        let is_open = match &field.value {
            Node::Array(list) if !list.elements.is_empty() => is_open(self.text, list),
            _ => self.has_open_lists,
        };
        let has_line = is_open && starts_line(self.text, field.start());
        self.value(value, has_line.then(|| indent(self.text, field.start())))
    }

    /// A list is on lines, if an indentation is given.
    fn value(&self, value: &Value, indent: Option<&str>) -> String {
        match value {
            Value::Text(text) => quoted(text),
            Value::Flag(flag) => flag.to_string(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                self.bracketed(['[', ']'], &items, indent.filter(|_| !items.is_empty()))
            }
        }
    }

    /// On lines, if there is an indentation for the closing bracket.
    fn bracketed(&self, [open, close]: [char; 2], items: &[String], outer: Option<&str>) -> String {
        let Some(outer) = outer else {
            return format!("{open}{}{close}", items.join(&format!(",{}", self.space)));
        };
        let start = format!("{}{outer}{}", self.eol, self.unit);
        let items = items.join(&format!(",{start}"));
        format!("{open}{start}{items}{}{outer}{close}", self.eol)
    }
}

/// The first list in a value that has items.
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

/// Whether a list's first item is on another line than its bracket.
fn is_open(text: &str, list: &Array) -> bool {
    let first = list.elements.first().map_or(list.start(), Ranged::start);
    text[list.start()..first].contains('\n')
}
