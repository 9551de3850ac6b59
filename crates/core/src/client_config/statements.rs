//! What stands in a TOML file, and where: its tables and its pairs of key and value, in the file's order.
//!
//! Whether a file is valid is decided by the `toml` crate; only what it accepts is taken apart here.

use std::ops::Range;

use serde_json::Value as Json;
use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

use super::braces::{Braces, Member};
use super::splice::position;
use super::{EditRefused, Position, Value};

pub(super) struct TomlFile {
    /// The first is the part before all headers.
    pub(super) sections: Vec<TomlSection>,
    /// Those of inline tables come after the pair that has the table. Those in lists are left out.
    pub(super) pairs: Vec<Pair>,
}

/// A header with the pairs below it.
#[derive(Default)]
pub(super) struct TomlSection {
    pub(super) path: Vec<String>,
    /// Written `[[…]]`.
    pub(super) is_list: bool,
    pub(super) start: usize,
    /// Where its last pair starts; where the header does, if there is none.
    pub(super) last: usize,
    /// Where that ends.
    pub(super) end: usize,
}

pub(super) struct Pair {
    /// All keys that lead to the value, those of its section and of tables around it first.
    pub(super) path: Vec<String>,
    /// Where each of the keys ends that stand in the pair itself: the last ones of the path.
    pub(super) key_ends: Vec<usize>,
    pub(super) start: usize,
    pub(super) value: Range<usize>,
    pub(super) kind: StatementKind,
    /// The pair whose inline table it stands in.
    pub(super) within: Option<usize>,
    pub(super) comma: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    Plain(Value),
    Table,
    Other,
}

/// All that a text says.
pub(super) fn values(text: &str) -> Result<Json, EditRefused> {
    ::toml::from_str(text).map_err(|error| EditRefused::Syntax {
        at: error
            .span()
            .map_or(Position { line: 1, column: 1 }, |span| position(text, span.start)),
        what: error.message().lines().collect::<Vec<_>>().join(", "),
    })
}

impl TomlFile {
    pub(super) fn read(text: &str) -> Result<Self, EditRefused> {
        values(text)?;
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
        reader.read();
        Ok(reader.file)
    }

    /// The pair with exactly this path.
    pub(super) fn pair(&self, path: &[&str]) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.path == path)
    }

    /// Where a path, or what is below it, is first spoken of.
    pub(super) fn first(&self, path: &[&str]) -> Option<usize> {
        let sections = self
            .sections
            .iter()
            .filter(|section| is_below(&section.path, path));
        let pairs = self.pairs.iter().filter(|pair| is_below(&pair.path, path));
        let starts = sections
            .map(|section| section.start)
            .chain(pairs.map(|pair| pair.start));
        starts.min()
    }

    /// The inline table that a pair has.
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
    /// How many keys of the path were said before the pair.
    pub(super) fn depth(&self) -> usize {
        self.path.len() - self.key_ends.len()
    }

    /// Its keys as they are written, up to the one that ends so many of the path.
    pub(super) fn key_text<'a>(&self, text: &'a str, keys: usize) -> &'a str {
        let own = keys.saturating_sub(self.depth() + 1);
        &text[self.start..self.key_ends[own]]
    }

    /// Whether the pair's own keys lead to the path, or through it.
    pub(super) fn leads_through(&self, path: &[&str]) -> bool {
        is_below(&self.path, path) && self.depth() < path.len()
    }
}

/// Whether a path is another one, or leads on from it.
pub(super) fn is_below(path: &[String], outer: &[&str]) -> bool {
    path.len() >= outer.len() && path.iter().zip(outer).all(|(key, outer)| key == outer)
}

struct StatementReader<'a> {
    source: Source<'a>,
    events: std::vec::IntoIter<Event>,
    file: TomlFile,
}

impl StatementReader<'_> {
    fn read(&mut self) {
        while let Some(event) = self.next() {
            match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.header(event),
                EventKind::SimpleKey => {
                    let section = self.file.sections.last().map(|section| section.path.clone());
                    let end = self.pair(event, &section.unwrap_or_default(), None);
                    if let Some(section) = self.file.sections.last_mut() {
                        (section.last, section.end) = (event.span().start(), end);
                    }
                }
                _ => {}
            }
        }
    }

    /// The next event that says something.
    fn next(&mut self) -> Option<Event> {
        self.events.find(|event| {
            !matches!(
                event.kind(),
                EventKind::Whitespace | EventKind::Comment | EventKind::Newline
            )
        })
    }

    fn key(&self, event: Event) -> String {
        let mut key = String::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut key, &mut ());
        }
        key
    }

    fn header(&mut self, open: Event) {
        let start = open.span().start();
        let mut section = TomlSection {
            is_list: open.kind() == EventKind::ArrayTableOpen,
            start,
            last: start,
            end: open.span().end(),
            ..TomlSection::default()
        };
        while let Some(event) = self.next() {
            match event.kind() {
                EventKind::SimpleKey => section.path.push(self.key(event)),
                EventKind::StdTableClose | EventKind::ArrayTableClose => {
                    section.end = event.span().end();
                    break;
                }
                _ => {}
            }
        }
        self.file.sections.push(section);
    }

    /// Reads a pair from its first key on, and tells where it ends.
    fn pair(&mut self, first: Event, outer: &[String], within: Option<usize>) -> usize {
        let mut path = outer.to_vec();
        let mut key_ends = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            match event.kind() {
                EventKind::SimpleKey => {
                    path.push(self.key(event));
                    key_ends.push(event.span().end());
                }
                EventKind::KeyValSep => break,
                _ => {}
            }
            next = self.next();
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
        if let Some(event) = self.next() {
            let (end, kind) = self.value(event, &path, index);
            let pair = &mut self.file.pairs[index];
            (pair.value, pair.kind) = (event.span().start()..end, kind);
        }
        self.file.pairs[index].value.end
    }

    /// Reads a value that begins with this event, and tells where it ends.
    fn value(&mut self, open: Event, path: &[String], index: usize) -> (usize, StatementKind) {
        let span = open.span();
        match open.kind() {
            EventKind::InlineTableOpen => (self.table(span.end(), path, index), StatementKind::Table),
            EventKind::ArrayOpen => {
                let pairs = self.file.pairs.len();
                let list = self.list(span.end(), path, index);
                self.file.pairs.truncate(pairs);
                list
            }
            _ => (span.end(), self.scalar(open)),
        }
    }

    fn table(&mut self, mut end: usize, path: &[String], index: usize) -> usize {
        let mut last = None;
        while let Some(event) = self.next() {
            end = event.span().end();
            match event.kind() {
                EventKind::InlineTableClose => break,
                EventKind::SimpleKey => {
                    last = Some(self.file.pairs.len());
                    end = self.pair(event, path, Some(index));
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

    fn list(&mut self, mut end: usize, path: &[String], index: usize) -> (usize, StatementKind) {
        let mut items = Some(Vec::new());
        while let Some(event) = self.next() {
            end = event.span().end();
            match event.kind() {
                EventKind::ArrayClose => break,
                EventKind::ValueSep => {}
                _ => match (self.value(event, path, index), &mut items) {
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

    fn scalar(&self, event: Event) -> StatementKind {
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
