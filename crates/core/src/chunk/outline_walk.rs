//! The walk over a syntax tree that fills an outline.
//!
//! The tree is walked once, without its smallest parts: a node on a single line is entered only as deep as a
//! definition can be wrapped. At each node where a pattern of the query can begin, the query runs on that
//! node alone. A query over the whole tree would visit every token and cost a third of the parse.
//!
//! Invariant: definitions are found in source order, so the enclosing ones are always known first.

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, Tree};

use super::comment_gap::belongs_across_gap;
use super::embedded_scripts::find_scripts;
use super::grammar::{Capture, Grammar, NodeRole};
use super::outline::{Definition, ImportStatement, Outline};
use super::parse::parse;
use super::signature::{clean_doc, clean_name, clean_signature};
use super::{ChunkKind, MAX_PARSED_BYTES, Unparsed};
use crate::language::Language;

/// Longer import statements are left out.
const MAX_IMPORT_BYTES: usize = 10_000;

/// Bodies with more rows than this have their joints recorded.
const MAX_UNCUT_BODY_ROWS: usize = 40;

/// How many levels of a single-line node are searched for definitions.
pub(super) const DEFINITION_SLACK: u8 = 2;

/// Definitions nested deeper are left out, and longer paths lose their beginning. Nobody writes such code,
/// and memory would grow by the square of the depth.
const MAX_DEFINITION_DEPTH: usize = 32;
const MAX_PATH_CHARS: usize = 400;

/// How deep below a definition its body is looked for.
const MAX_BODY_DEPTH: u8 = 3;

pub(super) struct OutlineWalk<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    query: QueryCursor,
    slack: u8,
    pub(super) outline: Outline,
    pub(super) imports: Vec<ImportStatement>,
    /// Definitions around the current node: index, and the byte where each ends.
    open: Vec<(usize, usize)>,
}

/// State of the walk on one level of the tree.
#[derive(Clone, Copy, Debug)]
struct TreeLevel {
    /// The comments and attributes directly before the current node.
    run: Option<CommentRun>,
    /// Last row of the previous node.
    last_row: usize,
    slack: u8,
}

/// Comments and attributes without a gap between them.
#[derive(Clone, Copy, Debug)]
struct CommentRun {
    row: usize,
    last_row: usize,
    /// Byte range of the text. Empty for a node that only wraps a definition.
    bytes: (usize, usize),
}

/// The result of the query on one node.
enum Matched {
    /// A definition, which may hold others.
    Definition,
    /// Documentation of the definition that follows.
    Documentation,
    Nothing,
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

impl<'a> OutlineWalk<'a> {
    pub(super) fn new(grammar: &'a Grammar, text: &'a str, slack: u8) -> Self {
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
    pub(super) fn walk_text(
        &mut self,
        language: Language,
        stop: &dyn Fn() -> bool,
    ) -> Result<Tree, Unparsed> {
        if self.text.len() > MAX_PARSED_BYTES {
            return Err(Unparsed::TooLarge);
        }
        let is_page = matches!(language, Language::Vue | Language::Svelte);
        let scripts = if is_page {
            find_scripts(self.text)
        } else {
            Vec::new()
        };
        // A page without scripts has nothing to parse.
        let text = if is_page && scripts.is_empty() {
            ""
        } else {
            self.text
        };
        let tree = parse(self.grammar, text, &scripts, stop).ok_or(Unparsed::Unparsable)?;
        self.walk_tree(&tree);
        Ok(tree)
    }

    fn walk_tree(&mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        let mut levels: Vec<TreeLevel> = Vec::new();
        let mut level = TreeLevel::new(self.slack);
        loop {
            let inner = self.visit_node(cursor.node(), &mut level);
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

    /// Records a node. Returns the state for its children if they are worth a visit.
    fn visit_node(&mut self, node: Node<'_>, level: &mut TreeLevel) -> Option<TreeLevel> {
        let kind = usize::from(node.kind_id());
        let (first, last) = rows(node);
        let role = self.grammar.roles.get(kind).copied().unwrap_or(NodeRole::Other);
        let can_match = self.grammar.starts_pattern.get(kind).copied().unwrap_or_default();
        let mut inner = TreeLevel::new(self.slack);
        if can_match && role != NodeRole::Wrapper {
            let run = self.run_above(level.run, first);
            match self.match_node(node, run) {
                Matched::Definition => {
                    level.run = None;
                    level.last_row = last;
                    return Some(inner);
                }
                Matched::Documentation => {
                    level.run = Some(CommentRun::extended(level.run, node));
                    level.last_row = last;
                    return None;
                }
                Matched::Nothing => {}
            }
        } else if node.is_error() {
            self.record_broken_import(node);
        }
        match role {
            NodeRole::Comment | NodeRole::Attribute => {
                if role == NodeRole::Attribute {
                    level.run = self.run_above(level.run, first);
                }
                self.extend_run(node, level);
                level.last_row = last;
                return None;
            }
            NodeRole::Wrapper => {
                if can_match {
                    self.match_node(node, None);
                }
                level.run = self.run_above(level.run, first);
                inner.run = Some(level.run_for_wrapped(first));
                level.last_row = last;
                if first == last {
                    inner.slack = self.slack.saturating_sub(DEFINITION_SLACK);
                }
                return Some(inner);
            }
            NodeRole::Other => {}
        }
        // Keywords such as `export` and `pub` may stand between a comment and its definition.
        if node.is_named() {
            level.run = None;
        }
        level.last_row = last;
        if first == last {
            inner.slack = level.slack.checked_sub(1)?;
        }
        (node.child_count() > 0).then_some(inner)
    }

    /// The run of comments and attributes if it is about what begins at the row `first`.
    fn run_above(&self, run: Option<CommentRun>, first: usize) -> Option<CommentRun> {
        let run = run?;
        let is_about = match first.saturating_sub(run.last_row) {
            0 | 1 => true,
            2 => run.bytes.1 > 0 && belongs_across_gap(self.text, run.bytes),
            _ => false,
        };
        is_about.then_some(CommentRun {
            last_row: run.last_row.max(first.saturating_sub(1)),
            ..run
        })
    }

    /// Adds a comment or attribute to the run before the next definition. A comment behind code is about that
    /// code, and the shebang line is about the script.
    fn extend_run(&self, node: Node<'_>, level: &mut TreeLevel) {
        let (first, _) = rows(node);
        let is_shebang = first == 0 && self.text[node.byte_range()].starts_with("#!");
        let is_trailing = level.run.is_none() && (level.last_row == first || is_shebang);
        level.run = match level.run {
            None if is_trailing => None,
            run => Some(CommentRun::extended(run, node)),
        };
    }

    /// Runs the query on a node and records the definition or import it finds.
    fn match_node(&mut self, node: Node<'_>, run: Option<CommentRun>) -> Matched {
        let mut captures = Captures::default();
        let mut matches = self
            .query
            .matches(&self.grammar.query, node, self.text.as_bytes());
        while let Some(matched) = matches.next() {
            for capture in matched.captures() {
                match self.grammar.captures[capture.index as usize] {
                    Capture::Definition(kind) => {
                        captures.definition.get_or_insert((kind, capture.node));
                    }
                    Capture::Name => drop(captures.name.get_or_insert(capture.node)),
                    Capture::Scope => drop(captures.scope.get_or_insert(capture.node)),
                    Capture::Body => drop(captures.body.get_or_insert(capture.node)),
                    Capture::Doc => drop(captures.doc.get_or_insert(capture.node)),
                    Capture::Import => drop(captures.import.get_or_insert(capture.node)),
                    Capture::PredicateOnly => {}
                }
            }
        }
        if let Some(import) = captures.import {
            self.record_import(import);
        }
        // Most grammars have a field for the name. A pattern that need not capture it compiles faster.
        let name = match (captures.name, captures.definition) {
            (None, Some((_, definition))) => definition.child_by_field_name("name"),
            (name, _) => name,
        };
        match (captures.definition, name) {
            (Some((kind, definition)), Some(name)) => {
                self.record_definition(kind, definition, name, &captures, run);
                Matched::Definition
            }
            _ if captures.doc.is_some() => Matched::Documentation,
            _ => Matched::Nothing,
        }
    }

    fn record_import(&mut self, node: Node<'_>) {
        let text = &self.text[node.byte_range()];
        if text.len() <= MAX_IMPORT_BYTES {
            self.imports.push(ImportStatement {
                line: node.start_position().row + 1,
                text: text.to_owned(),
                is_broken: node.has_error(),
            });
        }
    }

    /// Records a line that begins like an import and is too broken to be parsed as one.
    fn record_broken_import(&mut self, node: Node<'_>) {
        let text = self.text[node.byte_range()].trim_start();
        let line = text.lines().next().unwrap_or_default();
        if line.starts_with("import ") && line.len() <= MAX_IMPORT_BYTES {
            self.imports.push(ImportStatement {
                line: node.start_position().row + 1,
                text: line.to_owned(),
                is_broken: true,
            });
        }
    }

    fn record_definition(
        &mut self,
        kind: ChunkKind,
        node: Node<'_>,
        name: Node<'_>,
        captures: &Captures<'_>,
        run: Option<CommentRun>,
    ) {
        self.close_definitions_before(node.start_byte());
        if self.open.len() >= MAX_DEFINITION_DEPTH {
            return;
        }
        let parent = self.open.last().map(|(index, _)| *index);
        let body = captures.body.or_else(|| find_body(node, MAX_BODY_DEPTH));
        if self.is_part_of_parent(kind, node, parent, body.is_some()) {
            return;
        }
        let (head, end) = rows(node);
        let name_row = name.start_position().row;
        let name_bytes = name.byte_range();
        let (name, scope) = self.split_name(name, captures.scope);
        if let Some(parent) = parent
            && let outer = &mut self.outline.definitions[parent]
            && (outer.kind == kind && outer.name == name && outer.head == head)
        {
            // `typedef struct x { … } x;` defines one type.
            outer.name_row = name_row;
            outer.name_bytes = name_bytes;
            return;
        }
        let doc_bytes = match captures.doc {
            Some(doc) => doc.byte_range(),
            None => run.map_or(0..0, |run| run.bytes.0..run.bytes.1),
        };
        let signature_end = body.map_or(node.end_byte(), |body| body.start_byte());
        let signature_bytes = node.start_byte()..signature_end.max(node.start_byte());
        let definition = Definition {
            kind: self.kind_inside(parent, kind, scope.is_some()),
            path: self.path_inside(parent, scope, &name),
            name,
            signature: clean_signature(&self.text[signature_bytes.clone()]),
            doc: clean_doc(&self.text[doc_bytes.clone()]),
            lead: run.map_or(head, |run| run.row.min(head)),
            head,
            name_row,
            end,
            parent,
            // Haskell has no node for a body.
            has_body: body.is_some_and(|body| body.start_byte() > node.start_byte())
                || matches!(node.kind(), "function" | "bind"),
            joints: match body {
                Some(body) if end - head > MAX_UNCUT_BODY_ROWS => statement_rows(body),
                _ => Vec::new(),
            },
            bytes: node.byte_range(),
            name_bytes,
            signature_bytes,
            doc_bytes,
        };
        if body.is_none() && self.merge_equation(&definition) {
            return;
        }
        self.outline.definitions.push(definition);
        self.open
            .push((self.outline.definitions.len() - 1, node.end_byte()));
    }

    fn close_definitions_before(&mut self, byte: usize) {
        while self.open.last().is_some_and(|(_, until)| *until <= byte) {
            self.open.pop();
        }
    }

    /// True for a match that belongs to its parent and is no definition.
    fn is_part_of_parent(
        &self,
        kind: ChunkKind,
        node: Node<'_>,
        parent: Option<usize>,
        has_body: bool,
    ) -> bool {
        let Some(outer) = parent.map(|parent| &self.outline.definitions[parent]) else {
            return false;
        };
        // Inside a function, `Foo x(a);` defines a variable and looks like a declaration.
        let is_variable = outer.kind.is_function() && kind == ChunkKind::Function && !has_body;
        // `app.use = function use() { … }` is one function.
        let is_bound =
            matches!(node.kind(), "function_expression" | "class") && (outer.head, outer.end) == rows(node);
        is_variable || is_bound
    }

    /// The name of a definition, and the scope that it is qualified with: `Foo` of `Foo::bar`.
    fn split_name(&self, name: Node<'_>, scope: Option<Node<'_>>) -> (String, Option<String>) {
        let mut written = self.text[name.byte_range()].trim();
        let mut scope = scope.map(|scope| clean_name(&self.text[scope.byte_range()]));
        if let Some((before, last)) = written.rsplit_once("::")
            && !last.is_empty()
        {
            scope = scope.or_else(|| Some(clean_name(before)));
            written = last;
        }
        (clean_name(written), scope)
    }

    /// A function inside a type, or one with a scope, is a method.
    fn kind_inside(&self, parent: Option<usize>, kind: ChunkKind, has_scope: bool) -> ChunkKind {
        let outer = parent.map(|parent| self.outline.definitions[parent].kind);
        match (kind, outer) {
            (ChunkKind::Function, Some(ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type)) => {
                ChunkKind::Method
            }
            (ChunkKind::Function, _) if has_scope => ChunkKind::Method,
            _ => kind,
        }
    }

    fn path_inside(&self, parent: Option<usize>, scope: Option<String>, name: &str) -> String {
        let outer = parent.map(|parent| &self.outline.definitions[parent]);
        let mut path = outer.map(|outer| format!("{}.", outer.path)).unwrap_or_default();
        if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
            path += &format!("{scope}.");
        }
        path += name;
        if let Some((start, _)) = path.char_indices().rev().nth(MAX_PATH_CHARS) {
            path.drain(..start);
        }
        path
    }

    /// Extends the previous definition if this one is a further equation of the same function, as in Haskell.
    fn merge_equation(&mut self, definition: &Definition) -> bool {
        let Some(last) = self.outline.definitions.last_mut() else {
            return false;
        };
        let is_same = last.path == definition.path
            && last.kind == definition.kind
            && last.parent == definition.parent
            && definition.kind == ChunkKind::Function
            && last.end + 1 >= definition.lead;
        if is_same {
            last.end = last.end.max(definition.end);
            last.bytes.end = last.bytes.end.max(definition.bytes.end);
            last.has_body |= definition.has_body;
        }
        is_same
    }
}

impl TreeLevel {
    fn new(slack: u8) -> Self {
        Self {
            run: None,
            last_row: usize::MAX,
            slack,
        }
    }

    /// The run that a wrapper at row `first` hands on to the definition inside it.
    fn run_for_wrapped(&mut self, first: usize) -> CommentRun {
        let run = self.run.take().filter(|run| first <= run.last_row + 1);
        CommentRun {
            last_row: first,
            ..run.unwrap_or(CommentRun {
                row: first,
                last_row: first,
                bytes: (0, 0),
            })
        }
    }
}

impl CommentRun {
    /// The run with another comment or attribute at its end; a new run after a gap.
    fn extended(run: Option<Self>, node: Node<'_>) -> Self {
        let (first, last_row) = rows(node);
        let run = run.filter(|run| first <= run.last_row + 1);
        let bytes = run.map(|run| run.bytes).filter(|bytes| bytes.1 > 0);
        Self {
            row: run.map_or(first, |run| run.row),
            last_row,
            bytes: (bytes.map_or(node.start_byte(), |bytes| bytes.0), node.end_byte()),
        }
    }
}

/// First and last row of a node. A node that ends with a line end does not reach into the next row.
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
fn find_body(node: Node<'_>, depth: u8) -> Option<Node<'_>> {
    node.child_by_field_name("body").or_else(|| {
        let mut cursor = node.walk();
        let depth = depth.checked_sub(1)?;
        // The bound function is the last child.
        let last = node.named_children(&mut cursor).last()?;
        if last.kind().ends_with("block") || last.kind().ends_with("body") {
            return Some(last);
        }
        find_body(last, depth)
    })
}

/// Rows at which the statements of a body begin.
fn statement_rows(body: Node<'_>) -> Vec<usize> {
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
