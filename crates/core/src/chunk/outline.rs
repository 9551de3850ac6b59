//! What a file defines, and the statements with which it imports, as its grammar's query tells.
//!
//! The tree is walked once, without its smallest parts: what stands on one line is looked into only so far as a definition can
//! be wrapped. At each node where a pattern begins, the query is asked about that node alone. A query over the whole tree
//! would visit every token and cost a third of the parse.
//!
//! Left out on purpose: what definitions mean to each other. Names are text.

use std::cell::RefCell;
use std::ops::ControlFlow;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, ParseOptions, Parser, QueryCursor, Tree};

use super::embedded_scripts::scripts;
use super::grammar::{self, Beside, Capture, Grammar, QueryPart};
use super::signature::{documentation, plain, signature};
use super::{ChunkKind, Unread};
use crate::language::Language;

/// The definitions of a file, in the order they stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub definitions: Vec<Definition>,
}

/// Something that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub kind: ChunkKind,
    pub name: String,
    /// The name with those it stands inside of: `Library.lend`.
    pub path: String,
    pub signature: String,
    pub doc: String,
    /// Rows, counted from 0: where what is said about it begins, where it begins itself, where its name is, where it ends.
    pub(super) lead: usize,
    pub(super) head: usize,
    pub(super) name_row: usize,
    pub(super) end: usize,
    /// The definition it stands in.
    pub(super) parent: Option<usize>,
    pub(super) has_body: bool,
    /// Rows at which a part of a long body begins.
    pub(super) joints: Vec<usize>,
}

/// An import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
    /// True when there is a syntax error in it.
    pub is_broken: bool,
}

/// Bytes of an import statement.
const MAX_IMPORT_BYTES: usize = 10_000;

/// Bodies with more rows have their joints noted.
const LONG_BODY: usize = 40;

/// How far a node on one line is looked into, for definitions.
const SLACK: u8 = 2;

/// Definitions inside more others than this are passed over, and longer paths lose their beginning: nobody writes such,
/// and memory would grow by the square.
const DEEPEST: usize = 32;
const MAX_PATH_BYTES: usize = 400;

impl Outline {
    /// The outline of a text; nothing for a language without a grammar.
    pub fn of(language: Language, text: &str) -> Option<Result<Self, Unread>> {
        let mut walk = OutlineWalk::new(grammar::load(language, QueryPart::Definitions)?, text, SLACK);
        Some(walk.over(language, &|| false).map(|()| walk.outline))
    }
}

impl Statement {
    /// The import statements of a text; nothing for a language without a grammar. Gives up when `stop` says so.
    pub fn all(language: Language, text: &str, stop: &dyn Fn() -> bool) -> Option<Result<Vec<Self>, Unread>> {
        let mut walk = OutlineWalk::new(grammar::load(language, QueryPart::Imports)?, text, u8::MAX);
        Some(walk.over(language, stop).map(|()| walk.imports))
    }
}

impl Definition {
    /// The line its name is on, counted from 1.
    pub fn line(&self) -> usize {
        self.name_row + 1
    }
}

/// Parses within a budget that grows with the text: some broken texts would otherwise take time by its square.
pub(super) fn parse(
    grammar: &Grammar,
    text: &str,
    parts: &[tree_sitter::Range],
    stop: &dyn Fn() -> bool,
) -> Option<Tree> {
    if is_too_deep(text) {
        return None;
    }
    // What a parser has allocated serves the next file too.
    PARSER.with_borrow_mut(|parser| {
        parser
            .set_language(&grammar.syntax)
            .expect("the grammars are of this version");
        parser.reset();
        parser.set_included_ranges(parts).ok()?;
        parse_with(parser, text, stop)
    })
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

fn parse_with(parser: &mut Parser, text: &str, stop: &dyn Fn() -> bool) -> Option<Tree> {
    // It is asked every hundred steps of the parser, which takes about one for a byte.
    let mut left = 1_000 + text.len() / 10;
    let mut progress = |_: &_| {
        left = left.saturating_sub(1);
        if left == 0 || stop() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )
}

/// True for brackets inside brackets as nobody writes them: the parser would take a thousand times their size in memory.
fn is_too_deep(text: &str) -> bool {
    const DEEPEST: u32 = 5_000;
    // Round, square, curly and angle ones.
    let mut open = [0_u32; 4];
    for byte in text.bytes() {
        let kind = match byte {
            b'(' | b')' => 0,
            b'[' | b']' => 1,
            b'{' | b'}' => 2,
            b'<' | b'>' => 3,
            // `a < b;` opens nothing.
            b';' => {
                open[3] = 0;
                continue;
            }
            _ => continue,
        };
        if matches!(byte, b'(' | b'[' | b'{' | b'<') {
            open[kind] += 1;
            if open[kind] > DEEPEST {
                return true;
            }
        } else {
            open[kind] = open[kind].saturating_sub(1);
        }
    }
    false
}

struct OutlineWalk<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    query: QueryCursor,
    slack: u8,
    outline: Outline,
    imports: Vec<Statement>,
    /// Definitions that are open, by their index, with the byte where they end.
    open: Vec<(usize, usize)>,
}

/// What was seen on one level of the tree so far.
#[derive(Clone, Copy, Debug)]
struct TreeLevel {
    /// Comments and attributes that stand together, up to the present node.
    run: Option<Run>,
    /// The row on which the last node ended.
    last_row: usize,
    slack: u8,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    row: usize,
    last_row: usize,
    /// Where the words are, in bytes; nowhere for what only wraps.
    words: (usize, usize),
}

impl TreeLevel {
    fn new(slack: u8) -> Self {
        Self {
            run: None,
            last_row: usize::MAX,
            slack,
        }
    }
}

impl<'a> OutlineWalk<'a> {
    fn new(grammar: &'a Grammar, text: &'a str, slack: u8) -> Self {
        let mut query = QueryCursor::new();
        query.set_max_start_depth(Some(0));
        query.set_match_limit(64);
        Self {
            grammar,
            text,
            query,
            slack,
            outline: Outline::default(),
            imports: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Parses the text and walks its tree.
    fn over(&mut self, language: Language, stop: &dyn Fn() -> bool) -> Result<(), Unread> {
        if self.text.len() > super::MAX_PARSED_BYTES {
            return Err(Unread::TooLarge);
        }
        let scripts = match language {
            Language::Vue | Language::Svelte => scripts(self.text),
            _ => Vec::new(),
        };
        if matches!(language, Language::Vue | Language::Svelte) && scripts.is_empty() {
            return Ok(());
        }
        let tree = parse(self.grammar, self.text, &scripts, stop).ok_or(Unread::Unparsable)?;
        self.run(&tree);
        Ok(())
    }

    fn run(&mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        let mut levels: Vec<TreeLevel> = Vec::new();
        let mut level = TreeLevel::new(self.slack);
        loop {
            let inner = self.visit(cursor.node(), &mut level);
            if let Some(inner) = inner
                && cursor.goto_first_child()
            {
                levels.push(level);
                level = inner;
                continue;
            }
            while !cursor.goto_next_sibling() {
                let Some(outer) = levels.pop() else { return };
                cursor.goto_parent();
                level = outer;
            }
        }
    }

    /// Takes note of a node. Returns what is known about the level below, if that is worth a look.
    fn visit(&mut self, node: Node<'_>, level: &mut TreeLevel) -> Option<TreeLevel> {
        let kind = usize::from(node.kind_id());
        let (first, last) = rows(node);
        let beside = self.grammar.beside.get(kind).copied().unwrap_or(Beside::Nothing);
        let mut inner = TreeLevel::new(self.slack);
        let begins = self.grammar.begins.get(kind).copied().unwrap_or_default();
        if begins && beside != Beside::Wrapper {
            let run = level.run.filter(|run| first <= run.last_row + 1);
            match self.match_at(node, run) {
                Matched::Definition => {
                    level.run = None;
                    level.last_row = last;
                    return Some(inner);
                }
                Matched::Documentation => {
                    level.run = Some(Run::with(level.run, node));
                    level.last_row = last;
                    return None;
                }
                Matched::Nothing => {}
            }
        } else if node.is_error() {
            self.note_error(node);
        }
        match beside {
            Beside::Comment | Beside::Attribute => {
                // A comment behind something is about that, and the first line of a script about the script.
                let is_shebang = first == 0 && self.text[node.byte_range()].starts_with("#!");
                let follows = level.run.is_none() && (level.last_row == first || is_shebang);
                level.run = match level.run {
                    None if follows => None,
                    run => Some(Run::with(run, node)),
                };
                level.last_row = last;
                return None;
            }
            Beside::Wrapper => {
                if begins {
                    self.match_at(node, None);
                }
                let run = level.run.take().filter(|run| first <= run.last_row + 1);
                inner.run = Some(Run {
                    last_row: first,
                    ..run.unwrap_or(Run {
                        row: first,
                        last_row: first,
                        words: (0, 0),
                    })
                });
                level.last_row = last;
                if first == last {
                    inner.slack = self.slack.saturating_sub(SLACK);
                }
                return Some(inner);
            }
            Beside::Nothing => {}
        }
        // Words like `export` and `pub` do not come between a definition and what is said about it.
        if node.is_named() {
            level.run = None;
        }
        level.last_row = last;
        if first == last {
            inner.slack = level.slack.checked_sub(1)?;
        }
        (node.child_count() > 0).then_some(inner)
    }

    /// Asks the query about a node.
    fn match_at(&mut self, node: Node<'_>, run: Option<Run>) -> Matched {
        let mut found = Captures::default();
        let mut matches = self
            .query
            .matches(&self.grammar.query, node, self.text.as_bytes());
        while let Some(matched) = matches.next() {
            for capture in matched.captures() {
                match self.grammar.captures[capture.index as usize] {
                    Capture::Definition(kind) => drop(found.definition.get_or_insert((kind, capture.node))),
                    Capture::Name => drop(found.name.get_or_insert(capture.node)),
                    Capture::Scope => drop(found.scope.get_or_insert(capture.node)),
                    Capture::Body => drop(found.body.get_or_insert(capture.node)),
                    Capture::Doc => drop(found.doc.get_or_insert(capture.node)),
                    Capture::Import => drop(found.import.get_or_insert(capture.node)),
                    Capture::Unseen => {}
                }
            }
        }
        if let Some(import) = found.import {
            self.import(import);
        }
        // Most grammars say which part is the name; patterns that need not say it themselves are compiled sooner.
        let name = match (found.name, found.definition) {
            (None, Some((_, definition))) => definition.child_by_field_name("name"),
            (name, _) => name,
        };
        match (found.definition, name) {
            (Some((kind, definition)), Some(name)) => {
                self.define(kind, definition, name, &found, run);
                Matched::Definition
            }
            _ if found.doc.is_some() => Matched::Documentation,
            _ => Matched::Nothing,
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let text = &self.text[node.byte_range()];
        if text.len() <= MAX_IMPORT_BYTES {
            self.imports.push(Statement {
                line: node.start_position().row + 1,
                text: text.to_owned(),
                is_broken: node.has_error(),
            });
        }
    }

    /// Remembers a line that begins as an import and is too broken to be one.
    fn note_error(&mut self, node: Node<'_>) {
        let text = self.text[node.byte_range()].trim_start();
        let line = text.lines().next().unwrap_or_default();
        if line.starts_with("import ") && line.len() <= MAX_IMPORT_BYTES {
            self.imports.push(Statement {
                line: node.start_position().row + 1,
                text: line.to_owned(),
                is_broken: true,
            });
        }
    }

    fn define(
        &mut self,
        kind: ChunkKind,
        node: Node<'_>,
        name: Node<'_>,
        found: &Captures<'_>,
        run: Option<Run>,
    ) {
        let (head, end) = rows(node);
        while self
            .open
            .last()
            .is_some_and(|(_, until)| *until <= node.start_byte())
        {
            self.open.pop();
        }
        if self.open.len() >= DEEPEST {
            return;
        }
        let parent = self.open.last().map(|(index, _)| *index);
        let outer = parent.map(|parent| &self.outline.definitions[parent]);
        let body = found.body.or_else(|| body_of(node, 3));
        let in_function = outer.is_some_and(|outer| outer.kind.is_function());
        if in_function && kind == ChunkKind::Function && body.is_none() {
            // `Foo x(a);` makes a variable there, and looks like a declaration.
            return;
        }
        let is_bound = matches!(node.kind(), "function_expression" | "class")
            && outer.is_some_and(|outer| outer.head == head && outer.end == end);
        if is_bound {
            // `app.use = function use() { … }` is one function.
            return;
        }
        let mut written = self.text[name.byte_range()].trim();
        let mut scope = found.scope.map(|scope| plain(&self.text[scope.byte_range()]));
        if let Some((before, last)) = written.rsplit_once("::")
            && !last.is_empty()
        {
            scope = scope.or_else(|| Some(plain(before)));
            written = last;
        }
        let name_text = plain(written);
        if let Some(parent) = parent
            && let outer = &mut self.outline.definitions[parent]
            && (outer.kind == kind && outer.name == name_text && outer.head == head)
        {
            // `typedef struct x { … } x;`
            outer.name_row = name.start_position().row;
            return;
        }
        let outer = parent.map(|parent| &self.outline.definitions[parent]);
        let kind = match (kind, outer.map(|outer| outer.kind)) {
            (ChunkKind::Function, Some(ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type)) => {
                ChunkKind::Method
            }
            (ChunkKind::Function, _) if scope.is_some() => ChunkKind::Method,
            _ => kind,
        };
        let mut path = outer.map(|outer| format!("{}.", outer.path)).unwrap_or_default();
        if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
            path += &format!("{scope}.");
        }
        path += &name_text;
        if let Some((start, _)) = path.char_indices().rev().nth(MAX_PATH_BYTES) {
            path.drain(..start);
        }

        let until = body.map_or(node.end_byte(), |body| body.start_byte());
        let doc = match found.doc {
            Some(doc) => &self.text[doc.byte_range()],
            None => run.map_or("", |run| &self.text[run.words.0..run.words.1]),
        };
        let definition = Definition {
            kind,
            name: name_text,
            path,
            signature: signature(&self.text[node.start_byte()..until.max(node.start_byte())]),
            doc: documentation(doc),
            lead: run.map_or(head, |run| run.row.min(head)),
            head,
            name_row: name.start_position().row,
            end,
            parent,
            // Haskell has no node for a body.
            has_body: body.is_some_and(|body| body.start_byte() > node.start_byte())
                || matches!(node.kind(), "function" | "bind"),
            joints: match body {
                Some(body) if end - head > LONG_BODY => joints(body),
                _ => Vec::new(),
            },
        };
        // One thing said in several equations, as Haskell does.
        if let Some(last) = self.outline.definitions.last_mut()
            && (last.path == definition.path && last.kind == kind && last.parent == parent)
            && kind == ChunkKind::Function
            && last.end + 1 >= definition.lead
            && body.is_none()
        {
            last.end = last.end.max(definition.end);
            last.has_body |= definition.has_body;
            return;
        }
        self.outline.definitions.push(definition);
        self.open
            .push((self.outline.definitions.len() - 1, node.end_byte()));
    }
}

/// What a query says about a node.
enum Matched {
    /// It is a definition, which may hold others.
    Definition,
    /// It says something about the definition that follows.
    Documentation,
    Nothing,
}

impl Run {
    /// The run with another comment or attribute at its end, or a new one.
    fn with(run: Option<Self>, node: Node<'_>) -> Self {
        let (first, last_row) = rows(node);
        let run = run.filter(|run| first <= run.last_row + 1);
        let words = run.map(|run| run.words).filter(|words| words.1 > 0);
        Self {
            row: run.map_or(first, |run| run.row),
            last_row,
            words: (words.map_or(node.start_byte(), |words| words.0), node.end_byte()),
        }
    }
}

#[derive(Default)]
struct Captures<'a> {
    definition: Option<(ChunkKind, Node<'a>)>,
    name: Option<Node<'a>>,
    scope: Option<Node<'a>>,
    body: Option<Node<'a>>,
    doc: Option<Node<'a>>,
    import: Option<Node<'a>>,
}

/// The first and the last row of a node; one that ends with a line end does not reach into the next row.
fn rows(node: Node<'_>) -> (usize, usize) {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row {
        end.row - 1
    } else {
        end.row
    };
    (start.row, last)
}

/// The body of a definition, or of the function that is bound to its name.
fn body_of(node: Node<'_>, depth: u8) -> Option<Node<'_>> {
    node.child_by_field_name("body").or_else(|| {
        let mut cursor = node.walk();
        let depth = depth.checked_sub(1)?;
        // What is bound stands last.
        let last = node.named_children(&mut cursor).last()?;
        if last.kind().ends_with("block") || last.kind().ends_with("body") {
            return Some(last);
        }
        body_of(last, depth)
    })
}

/// Rows at which the statements of a body begin.
fn joints(body: Node<'_>) -> Vec<usize> {
    let mut body = body;
    // Some grammars put the statements one level deeper.
    for _ in 0..3 {
        match (body.named_child_count(), body.named_child(0)) {
            (1, Some(only)) if only.named_child_count() > 0 => body = only,
            _ => break,
        }
    }
    let mut cursor = body.walk();
    body.named_children(&mut cursor)
        .map(|child| child.start_position().row)
        .collect()
}
