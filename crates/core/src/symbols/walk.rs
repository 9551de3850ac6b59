//! The walk over a syntax tree that collects the symbols of a file.
//!
//! Functions, types and modules were found when the file was cut into chunks; the walk adds fields, constants
//! and variables, and every use of a name that is not local. Each node is visited once.
//!
//! Invariant: the stack of the walk is on the heap, so deeply nested text does not overflow it.

use std::collections::HashSet;

use tree_sitter::{Node, Tree};

use super::reader::{MAX_NAME_BYTES, OpenDefinition, SymbolReader, THIS_TYPE, to_u32};
use super::rules::{self, ChildMeaning, NodeMeaning, NodeRule, ScopeKind};
use super::{
    ByteRange, DefinitionId, Expression, ExpressionId, FileSymbols, NameId, Position, Reference,
    ReferenceRole, SymbolDefinition, SymbolKind, Target,
};
use crate::chunk::{ChunkKind, Definition, FileSyntax};
use crate::language::Language;

/// Definitions and uses that are kept of a file. A person writes fewer.
pub(super) const MAX_DEFINITIONS: usize = 20_000;
const MAX_REFERENCES: usize = 200_000;

/// The storage class of definitions that only their own file can use.
pub(super) const LOCAL_MARK: &str = "static";

/// Reads the symbols of a parsed text.
pub(super) fn read_symbols(language: Language, text: &str, syntax: &FileSyntax) -> FileSymbols {
    let Some(rules) = rules::load(language) else {
        return SymbolWalk::new(language, text, syntax, &rules::NO_RULES).finish();
    };
    let mut walk = SymbolWalk::new(language, text, syntax, rules);
    walk.walk_tree(&syntax.tree);
    walk.finish()
}

pub(super) struct SymbolWalk<'a> {
    pub(super) reader: SymbolReader<'a>,
    pub(super) language: Language,
    /// Definitions of the outline, in source order.
    pub(super) outline: &'a [Definition],
    /// The next of them that the walk comes to.
    pub(super) next: usize,
    /// Where each definition begins: the order of the finished list.
    pub(super) starts: Vec<usize>,
    /// Fields that were defined by an assignment: `self.rows = []`.
    pub(super) fields: HashSet<(DefinitionId, NameId)>,
    /// How many functions without a name are open inside the innermost definition.
    lambdas: usize,
}

/// A node whose children are being visited.
struct Frame {
    rule: &'static NodeRule,
    context: Context,
    /// Scopes that were open before the node.
    depth: usize,
    is_lambda: bool,
    bind: Option<PendingBind>,
}

/// Names that are bound once the value has been visited: in `row = row.next()` the value is still the old row.
pub(super) struct PendingBind {
    pub(super) after: usize,
    pub(super) names: Vec<(NameId, Option<ExpressionId>)>,
}

/// What the nodes above say about a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// In a type.
    in_type: bool,
    /// It is called.
    is_callee: bool,
    /// It is bound and not used.
    is_target: bool,
}

impl<'a> SymbolWalk<'a> {
    fn new(language: Language, text: &'a str, syntax: &'a FileSyntax, rules: &'static rules::Rules) -> Self {
        let outline = &syntax.outline.definitions;
        let mut walk = Self {
            reader: SymbolReader::new(text, rules),
            language,
            outline: &outline[..outline.len().min(MAX_DEFINITIONS)],
            next: 0,
            starts: Vec::new(),
            fields: HashSet::new(),
            lambdas: 0,
        };
        for definition in walk.outline {
            let mut converted = walk.convert(definition);
            if rules.traits.flat_functions
                && let Some(parent) = definition.parent
                && outline[parent].kind == ChunkKind::Function
            {
                converted.parent = None;
                converted.scope = walk.reader.intern("");
            }
            walk.reader.symbols.definitions.push(converted);
            walk.starts.push(definition.bytes.start);
        }
        walk
    }

    fn walk_tree(&mut self, tree: &'a Tree) {
        let mut cursor = tree.walk();
        let mut frames: Vec<Frame> = Vec::new();
        loop {
            let node = cursor.node();
            let (meaning, context) = match frames.last() {
                Some(frame) if frame.rule.children.is_empty() => (None, frame.context.below(None)),
                Some(frame) => {
                    let field = cursor.field_id().map(std::num::NonZero::get);
                    let mut meaning = frame.rule.meaning_of_child(node.kind_id(), field);
                    // `Shelf::sort` of Java has no fields: the last child is the member.
                    if meaning == Some(ChildMeaning::Receiver)
                        && frame.rule.has_member_last()
                        && node.next_named_sibling().is_none()
                    {
                        meaning = Some(ChildMeaning::Member);
                    }
                    (meaning, frame.context.below(meaning))
                }
                None => (None, Context::default()),
            };
            self.open_definitions_until(node.start_byte());
            if let Some(frame) = self.enter(node, meaning, context)
                && cursor.goto_first_child()
            {
                frames.push(frame);
                continue;
            }
            loop {
                let end = cursor.node().end_byte();
                if let Some(frame) = frames.last_mut()
                    && frame.bind.as_ref().is_some_and(|bind| bind.after <= end)
                {
                    let bind = frame.bind.take();
                    for (name, value) in bind.into_iter().flat_map(|bind| bind.names) {
                        self.reader.scopes.bind(name, value);
                    }
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                let Some(frame) = frames.pop() else { return };
                cursor.goto_parent();
                if frame.rule.scope.is_some() {
                    self.reader.scopes.close_to(frame.depth);
                }
                self.lambdas = self.lambdas.saturating_sub(usize::from(frame.is_lambda));
            }
        }
    }

    /// Closes the definitions that end before a byte, and opens those that begin there.
    fn open_definitions_until(&mut self, byte: usize) {
        while let Some(open) = self.reader.open.last()
            && open.end <= byte
        {
            self.reader.scopes.close_to(open.depth);
            self.reader.open.pop();
            self.lambdas = 0;
        }
        while let Some(definition) = self.outline.get(self.next)
            && definition.bytes.start <= byte
        {
            let id = DefinitionId(to_u32(self.next));
            self.next += 1;
            if definition.bytes.end <= byte {
                continue;
            }
            let name = self.reader.symbols.definitions[id.0 as usize].name;
            // A function inside a function is a local name.
            if self.is_local() && !self.reader.rules.traits.flat_functions {
                let value = self.reader.keep(Expression::Definition(id));
                self.reader.scopes.bind(name, value);
            }
            self.reader.open.push(OpenDefinition {
                id,
                kind: self.reader.symbols.definitions[id.0 as usize].kind,
                end: definition.bytes.end,
                name_start: definition.name_bytes.start,
                depth: self.reader.scopes.depth(),
            });
            self.reader.scopes.open();
            self.lambdas = 0;
        }
    }

    /// True if a name that is bound here is a local variable.
    pub(super) fn is_local(&self) -> bool {
        match self.reader.open.last() {
            Some(open) if !open.kind.is_container() => true,
            Some(open) => self.reader.scopes.depth() > open.depth + 1,
            None => self.reader.scopes.depth() > 0,
        }
    }

    /// Records a node. Returns the frame for its children if they are worth a visit.
    fn enter(
        &mut self,
        node: Node<'a>,
        meaning: Option<ChildMeaning>,
        mut context: Context,
    ) -> Option<Frame> {
        let rule = self.reader.rules.of(node);
        match meaning {
            Some(ChildMeaning::Ignore | ChildMeaning::Member) => return None,
            Some(ChildMeaning::Result) => self.set_result(node, true),
            Some(ChildMeaning::Return) => self.set_result(node, false),
            Some(ChildMeaning::Base) => self.add_bases(node),
            Some(ChildMeaning::Key) => {
                self.use_key(node);
                return None;
            }
            Some(ChildMeaning::LocalMark) => {
                self.mark_as_local(node);
                return None;
            }
            _ => {}
        }
        let mut frame = Frame {
            rule,
            context,
            depth: self.reader.scopes.depth(),
            is_lambda: false,
            bind: None,
        };
        if let Some(scope) = rule.scope {
            self.reader.scopes.open();
            frame.is_lambda = scope == ScopeKind::Lambda && !self.is_own_function(node);
            self.lambdas += usize::from(frame.is_lambda);
            if scope == ScopeKind::Comprehension {
                self.bind_ahead(node);
            }
        }
        match rule.meaning {
            None => {}
            Some(NodeMeaning::Skip) => return self.leave_early(&frame),
            Some(NodeMeaning::Name) => return self.use_name(node, context, ReferenceRole::Name),
            Some(NodeMeaning::TypeName) => return self.use_name(node, context, ReferenceRole::Type),
            Some(NodeMeaning::MemberName) => {
                if !context.is_target {
                    self.use_member(node, None, context);
                }
                return None;
            }
            // Without a member here, the part that has it is below: `library::people::find()`.
            Some(NodeMeaning::Access) if rule.child(node, ChildMeaning::Member).is_some() => {
                self.use_access(node, rule, context);
                context = Context {
                    in_type: context.in_type,
                    ..Context::default()
                };
            }
            Some(NodeMeaning::Call) => {
                self.use_called_member(node, rule);
                context = Context::default();
            }
            Some(NodeMeaning::Index) => context.is_target = false,
            Some(NodeMeaning::This | NodeMeaning::Super | NodeMeaning::ThisType | NodeMeaning::PathRoot) => {
                return None;
            }
            Some(NodeMeaning::MacroText) => {
                self.read_macro_imports(node);
                self.use_macro_text(node);
                return None;
            }
            // A module with its body in the file is no import.
            Some(NodeMeaning::Import) if node.child_by_field_name("body").is_none() => {
                self.read_import(node, rule);
                return self.leave_early(&frame);
            }
            Some(NodeMeaning::Export) => {
                if self.read_export(node, rule) {
                    return self.leave_early(&frame);
                }
            }
            Some(NodeMeaning::Package) => {
                self.read_package(node);
                return None;
            }
            Some(
                bound @ (NodeMeaning::Bind
                | NodeMeaning::Parameter
                | NodeMeaning::Assign
                | NodeMeaning::Constant
                | NodeMeaning::Field
                | NodeMeaning::Variable
                | NodeMeaning::Macro),
            ) => frame.bind = self.read_binding(node, rule, bound),
            Some(_) => {}
        }
        frame.context = context;
        if node.child_count() == 0 {
            return self.leave_early(&frame);
        }
        Some(frame)
    }

    fn leave_early(&mut self, frame: &Frame) -> Option<Frame> {
        if frame.rule.scope.is_some() {
            self.reader.scopes.close_to(frame.depth);
            self.lambdas = self.lambdas.saturating_sub(usize::from(frame.is_lambda));
        }
        None
    }

    /// True for the function that a definition binds to its name: `const f = () => …`.
    fn is_own_function(&self, node: Node<'_>) -> bool {
        let Some(open) = self.reader.open.last() else {
            return false;
        };
        !open.kind.is_container() && self.lambdas == 0 && open.end <= node.end_byte() + 2
    }

    pub(super) fn position(node: Node<'_>) -> Position {
        let at = node.start_position();
        Position {
            line: to_u32(at.row + 1),
            column: to_u32(at.column),
        }
    }

    pub(super) fn add_reference(
        &mut self,
        node: Node<'_>,
        name: NameId,
        role: ReferenceRole,
        target: Target,
    ) {
        self.add_reference_at(Self::position(node), name, role, target);
    }

    pub(super) fn add_reference_at(
        &mut self,
        at: Position,
        name: NameId,
        role: ReferenceRole,
        target: Target,
    ) {
        if self.reader.symbols.references.len() < MAX_REFERENCES {
            self.reader.symbols.references.push(Reference {
                name,
                role,
                at,
                within: self.reader.open.last().map(|open| open.id),
                target,
            });
        }
    }

    fn use_name(&mut self, node: Node<'a>, context: Context, role: ReferenceRole) -> Option<Frame> {
        let text = self.reader.text_of(node);
        let is_name_of_definition = self
            .reader
            .open
            .last()
            .is_some_and(|open| open.name_start == node.start_byte());
        let is_bound = context.is_target && !(role == ReferenceRole::Name && self.is_constant_pattern(text));
        let is_this_type = text == THIS_TYPE && self.reader.enclosing_type().is_some();
        if is_bound
            || is_this_type
            || is_name_of_definition
            || matches!(text, "" | "_")
            || text.len() > MAX_NAME_BYTES
        {
            return None;
        }
        let name = self.reader.intern(text);
        // The names of structs are no names of variables in C.
        let is_tag = role == ReferenceRole::Type && self.reader.rules.traits.flat_functions;
        let target = match self.reader.scopes.find(name).filter(|_| !is_tag) {
            None => Target::Scope,
            Some(Some(value)) => match self.reader.symbols.expressions.get(value.0 as usize) {
                Some(Expression::Definition(id)) if self.is_name_of(*id, name) => Target::Definition(*id),
                _ => return None,
            },
            Some(None) => return None,
        };
        self.add_reference(node, name, context.role(role), target);
        None
    }

    /// Whether a name in a pattern is a constant or a type, and not a new variable.
    pub(super) fn is_constant_pattern(&self, name: &str) -> bool {
        self.reader.rules.traits.constants_in_patterns && starts_with_capital(name) && self.is_local()
    }

    pub(super) fn is_name_of(&self, id: DefinitionId, name: NameId) -> bool {
        let definition = self.reader.symbols.definitions.get(id.0 as usize);
        definition.is_some_and(|definition| definition.name == name)
    }

    fn use_access(&mut self, node: Node<'a>, rule: &'static NodeRule, context: Context) {
        let Some(member) = rule.child(node, ChildMeaning::Member) else {
            return;
        };
        let Some(receiver) = rule.child(node, ChildMeaning::Receiver) else {
            // `::sweep()`
            self.use_name(member, context, ReferenceRole::Name);
            return;
        };
        let receiver = self.reader.value_of(receiver);
        self.use_member(member, receiver, context);
    }

    /// The name of a field in `Row { cells: … }`.
    fn use_key(&mut self, node: Node<'a>) {
        let key = if node.named_child_count() == 1 {
            node.named_child(0).unwrap_or(node)
        } else {
            node
        };
        if key.named_child_count() == 0 && self.reader.rules.of(key).meaning != Some(NodeMeaning::Builtin) {
            self.use_member(key, None, Context::default());
        }
    }

    /// Grammars such as Java's and Ruby's have the receiver of a call beside its name.
    fn use_called_member(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let Some(member) = rule.child(node, ChildMeaning::Member) else {
            return;
        };
        let context = Context {
            is_callee: true,
            ..Context::default()
        };
        match rule.child(node, ChildMeaning::Receiver) {
            Some(receiver) => {
                let receiver = self.reader.value_of(receiver);
                self.use_member(member, receiver, context);
            }
            None => {
                self.use_name(member, context, ReferenceRole::Call);
            }
        }
    }

    fn use_member(&mut self, node: Node<'a>, receiver: Option<ExpressionId>, context: Context) {
        let text = self.reader.text_of(node);
        if text.is_empty() || text.len() > MAX_NAME_BYTES {
            return;
        }
        let is_name_of_definition = self
            .reader
            .open
            .last()
            .is_some_and(|open| open.name_start == node.start_byte());
        if is_name_of_definition {
            return;
        }
        let name = self.reader.intern(text);
        let target = receiver.map_or(Target::UnknownMember, Target::Member);
        self.add_reference(node, name, context.role(ReferenceRole::Member), target);
    }

    /// Records the type that the innermost definition returns. A type that is written down wins over one that
    /// a `return` tells.
    fn set_result(&mut self, node: Node<'a>, is_declared: bool) {
        let Some(open) = self.reader.open.last().copied() else {
            return;
        };
        if open.kind.is_container() || self.lambdas > 0 {
            return;
        }
        if self.reader.symbols.definitions[open.id.0 as usize]
            .result
            .is_none()
        {
            let result = if is_declared {
                self.reader.instance_of(node)
            } else {
                self.reader.value_of(node)
            };
            self.reader.symbols.definitions[open.id.0 as usize].result = result;
        }
    }

    /// `static int f(void)` outside of functions.
    fn mark_as_local(&mut self, mark: Node<'a>) {
        if self.reader.text_of(mark) == LOCAL_MARK
            && let Some(open) = self.reader.open.last()
            && open.kind == SymbolKind::Function
            && open.name_start > mark.start_byte()
        {
            self.reader.symbols.definitions[open.id.0 as usize].is_file_local = true;
        }
    }

    fn add_bases(&mut self, node: Node<'a>) {
        let Some(open) = self.reader.open.last().copied() else {
            return;
        };
        let nodes = match self.reader.value_of(node) {
            Some(base) => {
                self.add_base(open.id, base);
                return;
            }
            None => named_children(node),
        };
        for node in nodes {
            if let Some(base) = self.reader.value_of(node) {
                self.add_base(open.id, base);
            }
        }
    }

    pub(super) fn add_base(&mut self, of: DefinitionId, base: ExpressionId) {
        let bases = &mut self.reader.symbols.definitions[of.0 as usize].bases;
        if !bases.contains(&base) {
            bases.push(base);
        }
    }

    fn convert(&mut self, definition: &'a Definition) -> SymbolDefinition {
        let text = self.reader.text;
        let at = definition.name_bytes.start.min(text.len());
        let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let scope = definition
            .path
            .strip_suffix(definition.name.as_str())
            .unwrap_or_default();
        let bytes = |range: &std::ops::Range<usize>| ByteRange {
            start: to_u32(range.start),
            end: to_u32(range.end),
        };
        SymbolDefinition {
            name: self.reader.intern(&definition.name),
            kind: match definition.kind {
                ChunkKind::Function => SymbolKind::Function,
                ChunkKind::Method => SymbolKind::Method,
                ChunkKind::Class => SymbolKind::Class,
                ChunkKind::Interface => SymbolKind::Interface,
                ChunkKind::Type => SymbolKind::Type,
                ChunkKind::Module | ChunkKind::Block => SymbolKind::Module,
            },
            scope: self.reader.intern(scope.trim_end_matches('.')),
            parent: definition.parent.map(|parent| DefinitionId(to_u32(parent))),
            first_line: to_u32(definition.lead + 1),
            last_line: to_u32(definition.end + 1),
            name_at: Position {
                line: to_u32(definition.name_row + 1),
                column: to_u32(at - line_start),
            },
            signature: bytes(&definition.signature_bytes),
            doc: bytes(&definition.doc_bytes),
            has_body: definition.has_body,
            is_file_local: false,
            result: None,
            bases: Vec::new(),
        }
    }

    /// The finished symbols, definitions in source order.
    fn finish(self) -> FileSymbols {
        let mut symbols = self.reader.symbols;
        spread_local_marks(&mut symbols.definitions);
        let mut order: Vec<usize> = (0..symbols.definitions.len()).collect();
        order.sort_by_key(|at| (self.starts[*at], *at));
        let mut moved = vec![0_u32; order.len()];
        for (new, old) in order.iter().enumerate() {
            moved[*old] = to_u32(new);
        }
        let moved = |id: DefinitionId| DefinitionId(moved.get(id.0 as usize).copied().unwrap_or(id.0));
        let mut definitions: Vec<Option<SymbolDefinition>> =
            symbols.definitions.into_iter().map(Some).collect();
        symbols.definitions = order.iter().filter_map(|at| definitions[*at].take()).collect();
        for definition in &mut symbols.definitions {
            definition.parent = definition.parent.map(moved);
        }
        for reference in &mut symbols.references {
            reference.within = reference.within.map(moved);
            if let Target::Definition(id) = &mut reference.target {
                *id = moved(*id);
            }
        }
        for expression in &mut symbols.expressions {
            if let Expression::Definition(id) | Expression::This(id) | Expression::Super(id) = expression {
                *id = moved(*id);
            }
        }
        symbols
    }
}

impl Context {
    /// The context of a child that means this for its parent.
    fn below(self, meaning: Option<ChildMeaning>) -> Self {
        match meaning {
            Some(ChildMeaning::Callee) => Self {
                is_callee: true,
                in_type: self.in_type,
                is_target: false,
            },
            Some(ChildMeaning::Type | ChildMeaning::Result | ChildMeaning::Base) => Self {
                in_type: true,
                ..Self::default()
            },
            Some(ChildMeaning::Target) => Self {
                is_target: true,
                ..Self::default()
            },
            Some(ChildMeaning::Value | ChildMeaning::Element | ChildMeaning::Return) => Self::default(),
            Some(ChildMeaning::Inner) => self,
            _ => Self {
                is_callee: false,
                ..self
            },
        }
    }

    fn role(self, otherwise: ReferenceRole) -> ReferenceRole {
        if self.is_callee {
            ReferenceRole::Call
        } else if self.in_type {
            ReferenceRole::Type
        } else {
            otherwise
        }
    }
}

/// A function that is declared `static` stays local where its definition does not repeat the word.
fn spread_local_marks(definitions: &mut [SymbolDefinition]) {
    let marked = definitions.iter().filter(|definition| definition.is_file_local);
    let marked: HashSet<(NameId, NameId)> = marked
        .map(|definition| (definition.scope, definition.name))
        .collect();
    if marked.is_empty() {
        return;
    }
    for definition in definitions {
        let is_function = definition.kind == SymbolKind::Function;
        definition.is_file_local |= is_function && marked.contains(&(definition.scope, definition.name));
    }
}

fn starts_with_capital(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}
