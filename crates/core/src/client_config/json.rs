//! Entries in JSON files, with comments or without.
//!
//! Left out on purpose: single quotes, keys without quotes and other dialects. No client writes them.

use std::borrow::Cow;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, CommentMap, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::braces::{Braces, Layout, Member};
use super::splice::{Splice, apply, indent, position, starts_line};
use super::style::FileStyle;
use super::{EditRefused, Entry, EntryLocation, FileFormat, Position, Value};

pub(super) fn find(text: &str, place: &EntryLocation) -> Result<Option<Entry>, EditRefused> {
    let text = readable(text);
    let file = JsonFile::read(&text, place.form)?;
    let path = place.path();
    let way = file.way(&path)?;
    if way.len() < path.len() {
        return Ok(None);
    }
    let fields = file.object_at(&way)?.properties.iter();
    let fields = fields.filter_map(|field| Some((field.name.as_str().to_owned(), plain(&field.value)?)));
    Ok(Some(fields.collect()))
}

pub(super) fn put(text: &str, place: &EntryLocation, entry: &Entry) -> Result<Option<String>, EditRefused> {
    let readable = readable(text);
    let file = JsonFile::read(&readable, place.form)?;
    let path = place.path();
    let way = file.way(&path)?;
    let style = FileStyle::of(file.text, &file.root, way.last().copied());
    if file.is_empty {
        return Ok(Some(style.whole(text, &path, entry)));
    }
    let object = file.object_at(&way)?;
    let mut splices = Vec::new();
    let mut missing = Vec::new();
    if way.len() == path.len() {
        for (name, wanted) in entry {
            match file.property(object, name)? {
                None => missing.push((name.clone(), wanted.clone())),
                Some(field) if plain(&field.value).as_ref() == Some(wanted) => {}
                Some(field) => {
                    let new = style.instead_of(field, wanted);
                    splices.push(Splice::replace(field.value.start()..field.value.end(), new));
                }
            }
        }
    } else {
        missing.clone_from(entry);
    }
    if !missing.is_empty() {
        let layout = file.layout(object, way.last().copied(), &style);
        let new = style.members(&path[way.len()..], &missing, layout.indent());
        splices.extend(file.braces(object).add(file.text, &new, &layout));
    }
    Ok((!splices.is_empty()).then(|| apply(text, splices)))
}

pub(super) fn take_out(
    text: &str,
    place: &EntryLocation,
    before: Option<&str>,
) -> Result<Option<String>, EditRefused> {
    let readable = readable(text);
    let file = JsonFile::read(&readable, place.form)?;
    let path = place.path();
    let way = file.way(&path)?;
    if way.len() < path.len() {
        return Ok(None);
    }
    // Objects that only the entry needed go with it.
    let kept = before.map_or(path.len(), |before| depth(before, place));
    let mut last = path.len() - 1;
    while last > kept && file.braces(file.object_at(&way[..last])?).hold_one(file.text) {
        last -= 1;
    }
    let object = file.object_at(&way[..last])?;
    let start = way[last].start();
    let mut members = object.properties.iter();
    let index = members.position(|member| member.start() == start);
    let splices = index.map(|index| file.braces(object).remove(file.text, index));
    Ok(splices.map(|splices| apply(text, splices)))
}

/// All that a text says.
pub(super) fn values(text: &str, form: FileFormat) -> Result<Json, EditRefused> {
    let text = readable(text);
    Ok(Node::Object(JsonFile::read(&text, form)?.root).into())
}

/// How many of the place's keys are in a text. All of them, if that cannot be told.
fn depth(text: &str, place: &EntryLocation) -> usize {
    let text = readable(text);
    let known = || {
        Some(
            JsonFile::read(&text, place.form)
                .ok()?
                .way(place.keys)
                .ok()?
                .len(),
        )
    };
    known().unwrap_or(place.keys.len())
}

/// A file that was read.
struct JsonFile<'a> {
    text: &'a str,
    root: Object<'a>,
    /// It has no object, and nothing else.
    is_empty: bool,
    tokens: Vec<TokenAndRange<'a>>,
    comments: CommentMap<'a>,
}

impl<'a> JsonFile<'a> {
    fn read(text: &'a str, form: FileFormat) -> Result<Self, EditRefused> {
        let is_strict = form == FileFormat::Json;
        let options = ParseOptions {
            allow_comments: !is_strict,
            allow_trailing_commas: !is_strict,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collect = CollectOptions {
            comments: CommentCollectionStrategy::Separate,
            tokens: true,
        };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| EditRefused::Syntax {
            at: position(text, error.range().start),
            what: error.kind().to_string().to_lowercase(),
        })?;
        if is_strict && parsed.value.is_some() {
            // The parser is lenient about control characters and blanks that are none in JSON.
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
                let (line, column) = (error.line(), error.column().max(1));
                let what = error.to_string();
                EditRefused::Syntax {
                    at: Position { line, column },
                    what: what.split(" at line ").next().unwrap_or_default().to_owned(),
                }
            })?;
        }
        let is_empty = parsed.value.is_none();
        let root = match parsed.value {
            Some(Node::Object(root)) => root,
            None => Object {
                range: jsonc_parser::common::Range::new(0, 0),
                properties: Vec::new(),
            },
            Some(other) => {
                return Err(EditRefused::WrongKind {
                    at: position(text, other.start()),
                    what: "the file".to_owned(),
                    wanted: "an object",
                });
            }
        };
        Ok(Self {
            text,
            root,
            is_empty,
            tokens: parsed.tokens.unwrap_or_default(),
            comments: parsed.comments.unwrap_or_default(),
        })
    }

    /// The members that lead along the path, as far as they are there.
    fn way(&self, path: &[&str]) -> Result<Vec<&ObjectProp<'a>>, EditRefused> {
        let mut way = Vec::new();
        for key in path {
            match self.property(self.object_at(&way)?, key)? {
                Some(member) => way.push(member),
                None => break,
            }
        }
        Ok(way)
    }

    /// The object at the end of a way.
    fn object_at<'b>(&'b self, way: &[&'b ObjectProp<'a>]) -> Result<&'b Object<'a>, EditRefused> {
        let Some(member) = way.last() else {
            return Ok(&self.root);
        };
        member.value.as_object().ok_or_else(|| EditRefused::WrongKind {
            at: position(self.text, member.value.start()),
            what: format!("\"{}\"", member.name.as_str()),
            wanted: "an object",
        })
    }

    fn property<'b>(
        &self,
        object: &'b Object<'a>,
        key: &str,
    ) -> Result<Option<&'b ObjectProp<'a>>, EditRefused> {
        let members = object.properties.iter();
        let mut found = members.filter(|member| member.name.as_str() == key);
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some(second) => Err(EditRefused::Duplicate {
                at: position(self.text, second.start()),
                key: key.to_owned(),
            }),
        }
    }

    fn braces(&self, object: &Object) -> Braces {
        let comma_after = |end: usize| {
            let next = self.tokens.partition_point(|token| token.range.start < end);
            let next = self.tokens.get(next)?;
            (next.token == Token::Comma).then_some(next.range.start)
        };
        let members = object.properties.iter().map(|member| Member {
            range: member.start()..member.end(),
            comma: comma_after(member.end()),
        });
        let close = object.end() - 1;
        let comments = self.comments.get(&close).and_then(|comments| comments.last());
        Braces {
            inside: object.start() + 1..close,
            members: members.collect(),
            comments_end: comments.map(Ranged::end),
        }
    }

    /// How members are added to an object: on lines of their own, if that is how it is written, or the member that holds it.
    fn layout(&self, object: &Object, holder: Option<&ObjectProp>, style: &FileStyle<'a>) -> Layout<'a> {
        let text = self.text;
        let outer = holder.map_or(object.start(), Ranged::start);
        let last = object.properties.last().map(Ranged::start);
        let has_lines = match last {
            Some(last) => starts_line(text, last),
            None => holder.is_none() || starts_line(text, outer),
        };
        if !has_lines {
            return Layout::OneLine {
                space: style.space,
                // What was the blank in them, is now on both sides.
                pad: &text[object.start() + 1..object.end() - 1],
            };
        }
        let outer = indent(text, outer).to_owned();
        let indent = match last {
            Some(last) => indent(text, last).to_owned(),
            None => format!("{outer}{}", style.unit),
        };
        let eol = style.eol;
        Layout::Lines { eol, indent, outer }
    }
}

/// The value of a field, if it is of a kind that is written here.
fn plain(value: &Node) -> Option<Value> {
    let text = |value: &Node| Some(value.as_string_lit()?.value.clone().into_owned());
    match value {
        Node::StringLit(_) => text(value).map(Value::Text),
        Node::BooleanLit(flag) => Some(Value::Flag(flag.value)),
        Node::Array(list) => {
            let items = list.elements.iter().map(text);
            items.collect::<Option<_>>().map(Value::List)
        }
        _ => None,
    }
}

/// The text with halves of surrogate pairs replaced by another escape of the same length.
///
/// JavaScript writes them where it has cut a text in the middle of a character, and reads them again; parsers that know only
/// Unicode do not.
fn readable(text: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut halves = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += found;
        let (first, second) = (unit(at), unit(at + 6));
        at += match (first, second) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                halves.push(Splice::replace(at..at + 6, "\\ufffd"));
                6
            }
            _ => 2,
        };
        at = at.min(text.len());
    }
    if halves.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(apply(text, halves))
    }
}
