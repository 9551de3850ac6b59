//! Statements of a TOML file with their byte ranges: headers and pairs of key and value, in the file's order.
//!
//! Built from the events of `toml_parser`. `toml_edit`, built on the same events, drops what an edit of the
//! text needs: positions of commas, and how each dotted key was written.
//!
//! Left out: validation, which the `toml` crate does first, and tables inside lists, which no path leads to.
//!
//! Invariant: every range is a range of the text that was read.

use std::ops::Range;

use serde_json::Value as Json;
use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

use super::braces::{Braces, Member};
use super::splice::position_at;
use super::{EditRefused, Position, Value};

/// A parsed file.
pub(super) struct TomlFile {
    /// The first one is the part before all headers.
    pub(super) sections: Vec<TomlSection>,
    /// Pairs of inline tables come after the pair that holds the table. Pairs inside lists are left out.
    pub(super) pairs: Vec<Pair>,
}

/// A header and the pairs below it.
#[derive(Default)]
pub(super) struct TomlSection {
    pub(super) path: Vec<String>,
    /// Whether the header is `[[…]]`.
    pub(super) is_list: bool,
    pub(super) start: usize,
    /// Start of its last pair, or of the header if there is none.
    pub(super) last: usize,
    /// End of its last pair, or of the header.
    pub(super) end: usize,
}

/// A key, possibly dotted, and its value.
pub(super) struct Pair {
    /// All keys that lead to the value: those of its section and of enclosing tables, then its own.
    pub(super) path: Vec<String>,
    /// The ends of the pair's own keys, which are the last ones of the path.
    pub(super) key_ends: Vec<usize>,
    pub(super) start: usize,
    pub(super) value: Range<usize>,
    pub(super) kind: StatementKind,
    /// Index of the pair whose inline table holds this one.
    pub(super) within: Option<usize>,
    pub(super) comma: Option<usize>,
}

/// The kind of a pair's value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    Plain(Value),
    Table,
    Other,
}

/// The whole content of a text as one value.
pub(super) fn parse_values(text: &str) -> Result<Json, EditRefused> {
    ::toml::from_str(text).map_err(|error| EditRefused::Syntax {
        at: error.span().map_or(Position { line: 1, column: 1 }, |span| {
            position_at(text, span.start)
        }),
        what: error.message().lines().collect::<Vec<_>>().join(", "),
    })
}

impl TomlFile {
    pub(super) fn read(text: &str) -> Result<Self, EditRefused> {
        parse_values(text)?;
        let source = Source::new(text);
        let mut events: Vec<Event> = Vec::new();
        parse_document(&source.lex().into_vec(), &mut events, &mut ());
        let mut reader = StatementReader {
            source,
            events: events.into_iter(),
            file: Self {
                sections: vec![TomlSection::default()],
                pairs: Vec::new(),
            },
        };
        reader.read_document();
        Ok(reader.file)
    }

    /// The pair with exactly this path.
    pub(super) fn pair(&self, path: &[&str]) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.path == path)
    }

    /// Start of the first statement about a path or something below it.
    pub(super) fn first_mention(&self, path: &[&str]) -> Option<usize> {
        let sections = self
            .sections
            .iter()
            .filter(|section| is_at_or_below(&section.path, path));
        let pairs = self.pairs.iter().filter(|pair| is_at_or_below(&pair.path, path));
        let starts = sections
            .map(|section| section.start)
            .chain(pairs.map(|pair| pair.start));
        starts.min()
    }

    /// The inline table that a pair holds.
    pub(super) fn braces(&self, index: usize) -> Braces {
        let members = self.pairs.iter().filter(|pair| pair.within == Some(index));
        let members = members.map(|pair| Member {
            range: pair.start..pair.value.end,
            comma: pair.comma,
        });
        let value = &self.pairs[index].value;
        Braces {
            inside: value.start + 1..value.end - 1,
            members: members.collect(),
            comments_end: None,
        }
    }
}

impl Pair {
    /// How many keys of the path come from its section and enclosing tables.
    pub(super) fn depth(&self) -> usize {
        self.path.len() - self.key_ends.len()
    }

    /// Its own keys as written, up to the one that completes the first `keys` keys of the path.
    pub(super) fn key_text<'a>(&self, text: &'a str, keys: usize) -> &'a str {
        let own = keys.saturating_sub(self.depth() + 1);
        &text[self.start..self.key_ends[own]]
    }

    /// Whether the pair's own keys lead to the path or beyond it.
    pub(super) fn leads_through(&self, path: &[&str]) -> bool {
        is_at_or_below(&self.path, path) && self.depth() < path.len()
    }
}

/// Whether a path equals `outer` or begins with it.
pub(super) fn is_at_or_below(path: &[String], outer: &[&str]) -> bool {
    path.len() >= outer.len() && path.iter().zip(outer).all(|(key, outer)| key == outer)
}

/// Turns the parser's events into statements.
struct StatementReader<'a> {
    source: Source<'a>,
    events: std::vec::IntoIter<Event>,
    file: TomlFile,
}

impl StatementReader<'_> {
    fn read_document(&mut self) {
        while let Some(event) = self.next_significant() {
            match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.read_header(event),
                EventKind::SimpleKey => {
                    let section = self.file.sections.last().map(|section| section.path.clone());
                    let end = self.read_pair(event, &section.unwrap_or_default(), None);
                    if let Some(section) = self.file.sections.last_mut() {
                        (section.last, section.end) = (event.span().start(), end);
                    }
                }
                _ => {}
            }
        }
    }

    /// The next event that is not whitespace, a comment or a line break.
    fn next_significant(&mut self) -> Option<Event> {
        self.events.find(|event| {
            !matches!(
                event.kind(),
                EventKind::Whitespace | EventKind::Comment | EventKind::Newline
            )
        })
    }

    fn decode_key(&self, event: Event) -> String {
        let mut key = String::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut key, &mut ());
        }
        key
    }

    fn read_header(&mut self, open: Event) {
        let start = open.span().start();
        let mut section = TomlSection {
            is_list: open.kind() == EventKind::ArrayTableOpen,
            start,
            last: start,
            end: open.span().end(),
            ..TomlSection::default()
        };
        while let Some(event) = self.next_significant() {
            match event.kind() {
                EventKind::SimpleKey => section.path.push(self.decode_key(event)),
                EventKind::StdTableClose | EventKind::ArrayTableClose => {
                    section.end = event.span().end();
                    break;
                }
                _ => {}
            }
        }
        self.file.sections.push(section);
    }

    /// Reads a pair from its first key on. Returns its end.
    fn read_pair(&mut self, first: Event, outer: &[String], within: Option<usize>) -> usize {
        let mut path = outer.to_vec();
        let mut key_ends = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            match event.kind() {
                EventKind::SimpleKey => {
                    path.push(self.decode_key(event));
                    key_ends.push(event.span().end());
                }
                EventKind::KeyValSep => break,
                _ => {}
            }
            next = self.next_significant();
        }
        let index = self.file.pairs.len();
        self.file.pairs.push(Pair {
            path: path.clone(),
            key_ends,
            start: first.span().start(),
            value: 0..0,
            kind: StatementKind::Other,
            within,
            comma: None,
        });
        if let Some(event) = self.next_significant() {
            let (end, kind) = self.read_value(event, &path, index);
            let pair = &mut self.file.pairs[index];
            (pair.value, pair.kind) = (event.span().start()..end, kind);
        }
        self.file.pairs[index].value.end
    }

    /// Reads a value that begins with this event. Returns its end and its kind.
    fn read_value(&mut self, open: Event, path: &[String], index: usize) -> (usize, StatementKind) {
        let span = open.span();
        match open.kind() {
            EventKind::InlineTableOpen => (
                self.read_inline_table(span.end(), path, index),
                StatementKind::Table,
            ),
            EventKind::ArrayOpen => {
                let pairs = self.file.pairs.len();
                let list = self.read_list(span.end(), path, index);
                self.file.pairs.truncate(pairs);
                list
            }
            _ => (span.end(), self.read_scalar(open)),
        }
    }

    fn read_inline_table(&mut self, mut end: usize, path: &[String], index: usize) -> usize {
        let mut last = None;
        while let Some(event) = self.next_significant() {
            end = event.span().end();
            match event.kind() {
                EventKind::InlineTableClose => break,
                EventKind::SimpleKey => {
                    last = Some(self.file.pairs.len());
                    end = self.read_pair(event, path, Some(index));
                }
                EventKind::ValueSep => {
                    if let Some(last) = last {
                        self.file.pairs[last].comma = Some(event.span().start());
                    }
                }
                _ => {}
            }
        }
        end
    }

    fn read_list(&mut self, mut end: usize, path: &[String], index: usize) -> (usize, StatementKind) {
        let mut items = Some(Vec::new());
        while let Some(event) = self.next_significant() {
            end = event.span().end();
            match event.kind() {
                EventKind::ArrayClose => break,
                EventKind::ValueSep => {}
                _ => match (self.read_value(event, path, index), &mut items) {
                    ((_, StatementKind::Plain(Value::Text(item))), Some(items)) => items.push(item),
                    _ => items = None,
                },
            }
        }
        (
            end,
            items.map_or(StatementKind::Other, |items| {
                StatementKind::Plain(Value::List(items))
            }),
        )
    }

    fn read_scalar(&self, event: Event) -> StatementKind {
        let Some(raw) = self.source.get(event) else {
            return StatementKind::Other;
        };
        match (event.encoding(), raw.as_str()) {
            (Some(_), _) => {
                let mut text = String::new();
                let _ = raw.decode_scalar(&mut text, &mut ());
                StatementKind::Plain(Value::Text(text))
            }
            (None, "true") => StatementKind::Plain(Value::Flag(true)),
            (None, "false") => StatementKind::Plain(Value::Flag(false)),
            _ => StatementKind::Other,
        }
    }
}
