//! Entries in JSON files, with comments or without.
//!
//! `jsonc-parser` yields the syntax tree with byte ranges; `braces` and `style` decide which bytes change.
//!
//! Left out on purpose: single quotes, keys without quotes and other dialects. No client writes them.
//!
//! Invariant: byte ranges of the parsed text are byte ranges of the file, also where surrogates were
//! replaced.

use std::borrow::Cow;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, CommentMap, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::braces::{Braces, Layout, Member};
use super::splice::{Splice, apply, indentation_at, is_first_on_line, position_at};
use super::style::FileStyle;
use super::{EditRefused, Entry, EntryLocation, FileFormat, Position, Value};

pub(super) fn find(text: &str, place: &EntryLocation) -> Result<Option<Entry>, EditRefused> {
    let text = replace_lone_surrogates(text);
    let file = JsonFile::read(&text, place.form)?;
    let path = place.path();
    let members = file.members_along(&path)?;
    if members.len() < path.len() {
        return Ok(None);
    }
    let fields = file.object_at(&members)?.properties.iter();
    let fields =
        fields.filter_map(|field| Some((field.name.as_str().to_owned(), plain_value(&field.value)?)));
    Ok(Some(fields.collect()))
}

pub(super) fn put(text: &str, place: &EntryLocation, entry: &Entry) -> Result<Option<String>, EditRefused> {
    let readable = replace_lone_surrogates(text);
    let file = JsonFile::read(&readable, place.form)?;
    let path = place.path();
    let members = file.members_along(&path)?;
    let style = FileStyle::detect(file.text, &file.root, members.last().copied());
    if file.is_empty {
        return Ok(Some(style.write_file(text, &path, entry)));
    }
    let object = file.object_at(&members)?;
    let mut splices = Vec::new();
    let mut missing = Vec::new();
    if members.len() == path.len() {
        for (name, wanted) in entry {
            match file.property(object, name)? {
                None => missing.push((name.clone(), wanted.clone())),
                Some(field) if plain_value(&field.value).as_ref() == Some(wanted) => {}
                Some(field) => {
                    let new = style.write_replacement(field, wanted);
                    splices.push(Splice::replace(field.value.start()..field.value.end(), new));
                }
            }
        }
    } else {
        missing.clone_from(entry);
    }
    if !missing.is_empty() {
        let layout = file.layout(object, members.last().copied(), &style);
        let new = style.write_members(&path[members.len()..], &missing, layout.indent());
        splices.extend(file.braces(object).add_members(file.text, &new, &layout));
    }
    Ok((!splices.is_empty()).then(|| apply(text, splices)))
}

pub(super) fn take_out(
    text: &str,
    place: &EntryLocation,
    before: Option<&str>,
) -> Result<Option<String>, EditRefused> {
    let readable = replace_lone_surrogates(text);
    let file = JsonFile::read(&readable, place.form)?;
    let path = place.path();
    let members = file.members_along(&path)?;
    if members.len() < path.len() {
        return Ok(None);
    }
    // Remove objects that were created for the entry and hold nothing else.
    let kept = before.map_or(path.len(), |before| count_present_keys(before, place));
    let mut last = path.len() - 1;
    while last > kept
        && file
            .braces(file.object_at(&members[..last])?)
            .has_single_member(file.text)
    {
        last -= 1;
    }
    let object = file.object_at(&members[..last])?;
    let start = members[last].start();
    let mut members = object.properties.iter();
    let index = members.position(|member| member.start() == start);
    let splices = index.map(|index| file.braces(object).remove_member(file.text, index));
    Ok(splices.map(|splices| apply(text, splices)))
}

/// The whole content of a text as one value.
pub(super) fn parse_values(text: &str, form: FileFormat) -> Result<Json, EditRefused> {
    let text = replace_lone_surrogates(text);
    Ok(Node::Object(JsonFile::read(&text, form)?.root).into())
}

/// How many of the location's keys a text has. All of them if it cannot be parsed, so that none is removed.
fn count_present_keys(text: &str, place: &EntryLocation) -> usize {
    let text = replace_lone_surrogates(text);
    let count = || {
        Some(
            JsonFile::read(&text, place.form)
                .ok()?
                .members_along(place.keys)
                .ok()?
                .len(),
        )
    };
    count().unwrap_or(place.keys.len())
}

/// A parsed file.
pub(super) struct JsonFile<'a> {
    pub(super) text: &'a str,
    pub(super) root: Object<'a>,
    /// It has no value, at most comments. `root` is then an empty object that the text does not have.
    pub(super) is_empty: bool,
    tokens: Vec<TokenAndRange<'a>>,
    comments: CommentMap<'a>,
}

impl<'a> JsonFile<'a> {
    pub(super) fn read(text: &'a str, form: FileFormat) -> Result<Self, EditRefused> {
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
            at: position_at(text, error.range().start),
            what: error.kind().to_string().to_lowercase(),
        })?;
        if is_strict && parsed.value.is_some() {
            // jsonc-parser accepts control characters in strings, and blanks that are not whitespace in JSON.
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
                    at: position_at(text, other.start()),
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

    /// The members along a path, up to the first key that is missing.
    pub(super) fn members_along(&self, path: &[&str]) -> Result<Vec<&ObjectProp<'a>>, EditRefused> {
        let mut members = Vec::new();
        for key in path {
            match self.property(self.object_at(&members)?, key)? {
                Some(member) => members.push(member),
                None => break,
            }
        }
        Ok(members)
    }

    /// The object that the last of these members holds; the root object if there are none.
    pub(super) fn object_at<'b>(
        &'b self,
        members: &[&'b ObjectProp<'a>],
    ) -> Result<&'b Object<'a>, EditRefused> {
        let Some(member) = members.last() else {
            return Ok(&self.root);
        };
        member.value.as_object().ok_or_else(|| EditRefused::WrongKind {
            at: position_at(self.text, member.value.start()),
            what: format!("\"{}\"", member.name.as_str()),
            wanted: "an object",
        })
    }

    /// The member with a key. Two of them are refused.
    pub(super) fn property<'b>(
        &self,
        object: &'b Object<'a>,
        key: &str,
    ) -> Result<Option<&'b ObjectProp<'a>>, EditRefused> {
        let members = object.properties.iter();
        let mut matching = members.filter(|member| member.name.as_str() == key);
        let first = matching.next();
        match matching.next() {
            None => Ok(first),
            Some(second) => Err(EditRefused::Duplicate {
                at: position_at(self.text, second.start()),
                key: key.to_owned(),
            }),
        }
    }

    /// The object as braces with members, for adding and removing.
    pub(super) fn braces(&self, object: &Object) -> Braces {
        self.bracketed(object, object.properties.iter())
    }

    /// The list as brackets with its items as members.
    pub(super) fn brackets(&self, list: &Array) -> Braces {
        self.bracketed(list, list.elements.iter())
    }

    fn bracketed<'b, T: Ranged + 'b>(
        &self,
        whole: &impl Ranged,
        parts: impl Iterator<Item = &'b T>,
    ) -> Braces {
        let comma_after = |end: usize| {
            let next = self.tokens.partition_point(|token| token.range.start < end);
            let next = self.tokens.get(next)?;
            (next.token == Token::Comma).then_some(next.range.start)
        };
        let members = parts.map(|part| Member {
            range: part.start()..part.end(),
            comma: comma_after(part.end()),
        });
        let close = whole.end() - 1;
        let comments = self.comments.get(&close).and_then(|comments| comments.last());
        Braces {
            inside: whole.start() + 1..close,
            members: members.collect(),
            comments_end: comments.map(Ranged::end),
        }
    }

    /// The layout of new members: one per line if the object's last member starts a line, or, in an empty
    /// object, the member that holds it.
    pub(super) fn layout(
        &self,
        object: &Object,
        holder: Option<&ObjectProp>,
        style: &FileStyle<'a>,
    ) -> Layout<'a> {
        let last = object.properties.last().map(Ranged::start);
        self.layout_after(object, last, holder, style)
    }

    /// The layout of new items of a list, in the same way.
    pub(super) fn list_layout(&self, list: &Array, holder: &ObjectProp, style: &FileStyle<'a>) -> Layout<'a> {
        let last = list.elements.last().map(Ranged::start);
        self.layout_after(list, last, Some(holder), style)
    }

    /// `last` is where the last member or item starts.
    fn layout_after(
        &self,
        whole: &impl Ranged,
        last: Option<usize>,
        holder: Option<&ObjectProp>,
        style: &FileStyle<'a>,
    ) -> Layout<'a> {
        let text = self.text;
        let outer = holder.map_or(whole.start(), Ranged::start);
        let has_lines = match last {
            Some(last) => is_first_on_line(text, last),
            None => holder.is_none() || is_first_on_line(text, outer),
        };
        if !has_lines {
            return Layout::OneLine {
                space: style.space,
                // `{ }` becomes `{ new }`: the blank inside is repeated on both sides.
                pad: &text[whole.start() + 1..whole.end() - 1],
            };
        }
        let outer = indentation_at(text, outer).to_owned();
        let indent = match last {
            Some(last) => indentation_at(text, last).to_owned(),
            None => format!("{outer}{}", style.unit),
        };
        let eol = style.eol;
        Layout::Lines { eol, indent, outer }
    }
}

/// The value of a field, or `None` for kinds that no [`Value`] can hold.
fn plain_value(value: &Node) -> Option<Value> {
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

/// Replaces escapes of lone surrogates by another escape of the same length, so that byte ranges stay valid.
///
/// JavaScript writes them after cutting a string inside a surrogate pair, and reads them again.
/// `jsonc-parser` and `serde_json` refuse them, so that a client's history would keep docent from being
/// added.
pub(super) fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    let code_unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut splices = Vec::new();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += offset;
        let (first, second) = (code_unit(at), code_unit(at + 6));
        at += match (first, second) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                splices.push(Splice::replace(at..at + 6, "\\ufffd"));
                6
            }
            _ => 2,
        };
        at = at.min(text.len());
    }
    if splices.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(apply(text, splices))
    }
}
