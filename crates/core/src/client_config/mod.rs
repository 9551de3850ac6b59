//! A server's entry in the configuration file of an MCP client, and items of its lists (`items`): added,
//! updated and removed.
//!
//! Parsers of the ecosystem (`jsonc-parser`, `toml_parser`) say where things are; the edit itself is a splice
//! of the text. So everything around the entry stays byte for byte: comments, indentation, line endings, the
//! order of keys, a missing last newline. New text follows the style of the text around it. Editors that
//! print a syntax tree were tried and lose some of it: `docs/design/010-client-config.md`.
//!
//! Left out: opening and writing of files (`engine::clients`), and keys that are not on the way to the entry.
//!
//! Invariants: every edited text is parsed once more and must differ from the original in the entry alone. A
//! text that cannot be edited that way is refused, never rewritten. No text makes this module panic.

mod braces;
mod items;
mod json;
mod runner;
mod splice;
mod statements;
mod style;
mod toml;

use std::fmt;

use serde_json::{Map, Value as Json};

pub use items::{ItemLists, ListItem};
pub use runner::package_runner;

/// The syntax of a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
}

/// The path of an entry in a file.
#[derive(Clone, Copy, Debug)]
pub struct EntryLocation<'a> {
    pub form: FileFormat,
    /// The keys that lead to the table of servers: `["mcpServers"]`. At least one.
    pub keys: &'a [&'a str],
    /// The server's own key in that table.
    pub name: &'a str,
}

/// A server's fields, in order. At least one.
pub type Entry = Vec<(String, Value)>;

/// A field's value, of the kinds that docent writes and compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    List(Vec<String>),
    Flag(bool),
}

/// Why a text is not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    #[error("{at}: {what}")]
    Syntax { at: Position, what: String },
    /// A key on the path leads to a list or a number, for example.
    #[error("{at}: {what} is not {wanted}")]
    WrongKind {
        at: Position,
        what: String,
        wanted: &'static str,
    },
    /// A key on the path occurs twice. Clients differ in which one they use.
    #[error("{at}: \"{key}\" is there twice")]
    Duplicate { at: Position, key: String },
    /// The edited text, parsed again, differs in more than the entry. This is a bug in this module.
    #[error("the file cannot be edited without changing something else in it")]
    Unproven,
}

/// Line and column in a text, both from one. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl EntryLocation<'_> {
    /// All keys, the server's own last.
    fn path(&self) -> Vec<&str> {
        self.keys.iter().copied().chain([self.name]).collect()
    }
}

/// The entry's fields, or `None` if there is no entry. Fields that no [`Value`] can hold are skipped.
pub fn find(text: &str, place: &EntryLocation) -> Result<Option<Entry>, EditRefused> {
    let (_, text) = split_byte_order_mark(text);
    match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::find(text, place),
        FileFormat::Toml => toml::find(text, place),
    }
}

/// Adds the entry, or sets the fields of an existing one, which keeps its other fields. `None` if nothing
/// changes.
///
/// A text without content becomes a whole file.
pub fn put(text: &str, place: &EntryLocation, entry: &Entry) -> Result<Option<String>, EditRefused> {
    edit_checked(text, place, Some(entry), |text| match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::put(text, place, entry),
        FileFormat::Toml => toml::put(text, place, entry),
    })
}

/// The content of a JSON file of a client, with comments or without.
pub fn read_json(text: &str) -> Result<Json, EditRefused> {
    json::parse_values(split_byte_order_mark(text).1, FileFormat::Jsonc)
}

/// Removes the entry. `None` if there is no entry.
///
/// `before` is the text as it was before [`put`]. It allows two more things: if only the entry has changed
/// since, the result is that text; otherwise a table of servers that [`put`] had to create is removed once it
/// is empty.
pub fn take_out(
    text: &str,
    place: &EntryLocation,
    before: Option<&str>,
) -> Result<Option<String>, EditRefused> {
    if let Some(before) = before
        && is_result_of_put(before, text, place)
    {
        return Ok(Some(before.to_owned()));
    }
    let before = before.map(|before| split_byte_order_mark(before).1);
    edit_checked(text, place, None, |text| match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::take_out(text, place, before),
        FileFormat::Toml => toml::take_out(text, place),
    })
}

/// Whether [`put`], applied to `before` with the entry of `text`, gives exactly `text`.
fn is_result_of_put(before: &str, text: &str, place: &EntryLocation) -> bool {
    let (Ok(None), Ok(Some(entry))) = (find(before, place), find(text, place)) else {
        return false;
    };
    matches!(put(before, place, &entry), Ok(Some(changed)) if changed == text)
}

/// Applies `change` to the text after the byte order mark, and checks the result.
fn edit_checked<F>(
    text: &str,
    place: &EntryLocation,
    entry: Option<&Entry>,
    change: F,
) -> Result<Option<String>, EditRefused>
where
    F: Fn(&str) -> Result<Option<String>, EditRefused>,
{
    let (mark, text) = split_byte_order_mark(text);
    let Some(changed) = change(text)? else {
        return Ok(None);
    };
    let Ok(after) = parse_values(&changed, place.form) else {
        return Err(EditRefused::Unproven);
    };
    if differs_only_in_entry(parse_values(text, place.form)?, after, place, entry) {
        Ok(Some(format!("{mark}{changed}")))
    } else {
        Err(EditRefused::Unproven)
    }
}

/// The byte order mark, empty if there is none, and the rest.
fn split_byte_order_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    text.split_at(mark)
}

/// The whole content of a text as one value, to compare two versions of a file.
fn parse_values(text: &str, form: FileFormat) -> Result<Json, EditRefused> {
    match form {
        FileFormat::Json | FileFormat::Jsonc => json::parse_values(text, form),
        FileFormat::Toml => statements::parse_values(text),
    }
}

/// Whether `after` is `before` with the fields of `entry` set, or without the entry if `entry` is `None`.
fn differs_only_in_entry(
    mut before: Json,
    mut after: Json,
    place: &EntryLocation,
    entry: Option<&Entry>,
) -> bool {
    let Some(entry) = entry else {
        if let Some(servers) = table_at(&mut before, place.keys) {
            servers.remove(place.name);
        }
        // The removal may have dropped tables that became empty.
        for values in [&mut before, &mut after] {
            for end in (1..=place.keys.len()).rev() {
                let (key, keys) = (place.keys[end - 1], &place.keys[..end - 1]);
                if let Some(outer) = table_at(values, keys)
                    && outer
                        .get(key)
                        .and_then(Json::as_object)
                        .is_some_and(Map::is_empty)
                {
                    outer.remove(key);
                }
            }
        }
        return before == after;
    };
    let Some(fields) = table_at(&mut before, &place.path()) else {
        return false;
    };
    for (field, value) in entry {
        let value = match value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::List(items) => Json::from(items.as_slice()),
            Value::Flag(flag) => Json::from(*flag),
        };
        fields.insert(field.clone(), value);
    }
    before == after
}

/// The table at a path, created if it is missing. `None` if something else is in the way.
fn table_at<'a>(values: &'a mut Json, keys: &[&str]) -> Option<&'a mut Map<String, Json>> {
    keys.iter().try_fold(values.as_object_mut()?, |table, key| {
        let value = table.entry(*key).or_insert_with(|| Json::Object(Map::new()));
        value.as_object_mut()
    })
}

#[cfg(test)]
mod tests;
