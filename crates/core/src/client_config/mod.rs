//! A server's entry in the configuration file of an MCP client: put in, taken out, and nothing else touched.
//!
//! Files are edited as text. What is around the entry stays byte for byte: comments, indentation, line ends, the order of keys,
//! a missing last newline. New text is set like the text around it.
//!
//! Invariants: every edited text was read again, and says the same as before apart from the entry. What cannot be edited so is
//! refused. Nothing here panics, whatever the text.

mod braces;
mod json;
mod splice;
mod statements;
mod style;
mod toml;

use std::fmt;

use serde_json::{Map, Value as Json};

/// How a client's file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Json,
    /// JSON with comments, and with commas after the last member.
    Jsonc,
    Toml,
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub struct EntryLocation<'a> {
    pub form: FileFormat,
    /// The keys that lead to the servers: `["mcpServers"]`. At least one.
    pub keys: &'a [&'a str],
    /// The server's own key.
    pub name: &'a str,
}

/// A server's fields, in order. At least one.
pub type Entry = Vec<(String, Value)>;

/// A field's value, of the kinds that are written and compared.
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
    /// A list or a number, say, where the way leads through.
    #[error("{at}: {what} is not {wanted}")]
    WrongKind {
        at: Position,
        what: String,
        wanted: &'static str,
    },
    /// A key on the way is there twice: clients differ in which one they believe.
    #[error("{at}: \"{key}\" is there twice")]
    Duplicate { at: Position, key: String },
    /// Read again, the edited text did not say what it should. This is a mistake in this module.
    #[error("the file cannot be edited without changing something else in it")]
    Unproven,
}

/// A place in a text: its line, and the character in it, both from one.
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
    fn path(&self) -> Vec<&str> {
        self.keys.iter().copied().chain([self.name]).collect()
    }
}

/// The entry as it stands in the file, without fields of other kinds.
pub fn find(text: &str, place: &EntryLocation) -> Result<Option<Entry>, EditRefused> {
    let (_, text) = without_mark(text);
    match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::find(text, place),
        FileFormat::Toml => toml::find(text, place),
    }
}

/// The text with an entry that has the fields of `entry`. `None` if it has them already. An existing entry keeps its other fields.
///
/// A text without content becomes a whole file.
pub fn put(text: &str, place: &EntryLocation, entry: &Entry) -> Result<Option<String>, EditRefused> {
    edit(text, place, Some(entry), |text| match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::put(text, place, entry),
        FileFormat::Toml => toml::put(text, place, entry),
    })
}

/// The text without the entry. `None` if there is no entry.
///
/// `before` is the text before [`put`]. With it, a table of servers that was not there before goes too when it is empty; and if
/// nothing but the entry has changed since, the result is that text.
pub fn take_out(
    text: &str,
    place: &EntryLocation,
    before: Option<&str>,
) -> Result<Option<String>, EditRefused> {
    if let Some(before) = before
        && leads_to(before, text, place)
    {
        return Ok(Some(before.to_owned()));
    }
    let before = before.map(|before| without_mark(before).1);
    edit(text, place, None, |text| match place.form {
        FileFormat::Json | FileFormat::Jsonc => json::take_out(text, place, before),
        FileFormat::Toml => toml::take_out(text, place),
    })
}

/// Whether putting in the entry of `text` is all that made it from `before`.
fn leads_to(before: &str, text: &str, place: &EntryLocation) -> bool {
    let (Ok(None), Ok(Some(entry))) = (find(before, place), find(text, place)) else {
        return false;
    };
    matches!(put(before, place, &entry), Ok(Some(changed)) if changed == text)
}

/// Edits what follows the byte order mark, and proves the result.
fn edit<F>(
    text: &str,
    place: &EntryLocation,
    entry: Option<&Entry>,
    change: F,
) -> Result<Option<String>, EditRefused>
where
    F: Fn(&str) -> Result<Option<String>, EditRefused>,
{
    let (mark, text) = without_mark(text);
    let Some(changed) = change(text)? else {
        return Ok(None);
    };
    let Ok(after) = values(&changed, place.form) else {
        return Err(EditRefused::Unproven);
    };
    if is_proven(values(text, place.form)?, after, place, entry) {
        Ok(Some(format!("{mark}{changed}")))
    } else {
        Err(EditRefused::Unproven)
    }
}

fn without_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    text.split_at(mark)
}

/// All that a text says.
fn values(text: &str, form: FileFormat) -> Result<Json, EditRefused> {
    match form {
        FileFormat::Json | FileFormat::Jsonc => json::values(text, form),
        FileFormat::Toml => statements::values(text),
    }
}

/// Whether `after` is `before` with the entry as it is wanted, or without it.
fn is_proven(mut before: Json, mut after: Json, place: &EntryLocation, entry: Option<&Entry>) -> bool {
    let Some(entry) = entry else {
        if let Some(servers) = table(&mut before, place.keys) {
            servers.remove(place.name);
        }
        // A table that became empty may have gone.
        for values in [&mut before, &mut after] {
            for end in (1..=place.keys.len()).rev() {
                let (key, keys) = (place.keys[end - 1], &place.keys[..end - 1]);
                if let Some(outer) = table(values, keys)
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
    let Some(fields) = table(&mut before, &place.path()) else {
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

/// The table these keys lead to, made where it is missing.
fn table<'a>(values: &'a mut Json, keys: &[&str]) -> Option<&'a mut Map<String, Json>> {
    keys.iter().try_fold(values.as_object_mut()?, |table, key| {
        let value = table.entry(*key).or_insert_with(|| Json::Object(Map::new()));
        value.as_object_mut()
    })
}

#[cfg(test)]
mod tests;
