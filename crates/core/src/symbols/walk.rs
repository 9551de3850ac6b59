//! The walk over a syntax tree that collects the symbols of a file.
//!
//! Functions, types and modules were found when the file was cut into chunks; the walk adds fields, constants
//! and variables, and every use of a name that is not local. Each node is visited once.
//!
//! Invariant: the stack of the walk is on the heap, so deeply nested text does not overflow it.

use std::collections::HashMap;

use tree_sitter::{Node, Tree, TreeCursor};

use super::context::NodeContext;
use super::reader::{MAX_NAME_BYTES, OpenDefinition, SymbolReader, THIS_TYPE, to_u32};
use super::rules::{self, ChildMeaning, NodeMeaning, NodeRule, ScopeKind};
use super::{
    DefinitionId, Expression, ExpressionId, FileSymbols, NameId, Reference, ReferenceRole, SourcePosition,
    Target,
};
use crate::chunk::{Definition, FileSyntax};
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
    pub(super) outline: Vec<&'a Definition>,
    /// The next of them that the walk comes to.
    pub(super) next: usize,
    /// The start of each definition, which gives the order of the finished list.
    pub(super) starts: Vec<usize>,
    /// Fields that were defined by an assignment: `self.rows = []`.
    pub(super) fields: HashMap<(DefinitionId, NameId), DefinitionId>,
    /// The row of the last definition of the outline, and where the row begins.
    pub(super) last_line: (usize, usize),
    /// The last comment that was passed.
    pub(super) last_comment: Option<Node<'a>>,
    /// How deep the pattern is nested that is being read.
    pub(super) pattern_depth: usize,
    /// The end of the last import by a call, so that the call is not read twice.
    pub(super) import_end: usize,
    /// How many functions without a name are open inside the innermost definition.
    pub(super) lambdas: usize,
}

/// A node whose children are being visited.
struct Frame {
    rule: &'static NodeRule,
    context: NodeContext,
    /// Scopes that were open before the node.
    depth: usize,
    is_lambda: bool,
    bind: Option<PendingBind>,
}

/// Names that are bound once the value has been visited: in `row = row.next()` the value is still the old
/// row.
pub(super) struct PendingBind {
    pub(super) after: usize,
    pub(super) names: Vec<(NameId, Option<ExpressionId>)>,
}

impl<'a> SymbolWalk<'a> {
    fn new(language: Language, text: &'a str, syntax: &'a FileSyntax, rules: &'static rules::Rules) -> Self {
        let outline = &syntax.outline.definitions;
        let mut walk = Self {
            reader: SymbolReader::new(text, rules),
            language,
            outline: Vec::new(),
            next: 0,
            starts: Vec::new(),
            fields: HashMap::new(),
            last_line: (usize::MAX, 0),
            last_comment: None,
            pattern_depth: 0,
            import_end: 0,
            lambdas: 0,
        };
        walk.add_outline(&outline[..outline.len().min(MAX_DEFINITIONS)]);
        walk
    }

    fn walk_tree(&mut self, tree: &'a Tree) {
        let mut cursor = tree.walk();
        let mut frames: Vec<Frame> = Vec::new();
        loop {
            let node = cursor.node();
            // Half of all nodes are signs and keywords, which no rule is about.
            if self.reader.rules.is_token(node) {
                self.leave(&mut cursor, &mut frames, node);
                if frames.is_empty() {
                    return;
                }
                continue;
            }
            let (meaning, context) = match frames.last() {
                Some(frame) if frame.rule.children.is_empty() => (None, frame.context.below(None)),
                Some(frame) => {
                    let field = cursor.field_id().map(std::num::NonZero::get);
                    let mut meaning = frame.rule.meaning_of_child(node, field);
                    // `Shelf::sort` of Java has no fields: the last child is the member.
                    if meaning == Some(ChildMeaning::Receiver)
                        && frame.rule.has_member_last()
                        && node.next_named_sibling().is_none()
                    {
                        meaning = Some(ChildMeaning::Member);
                    }
                    (meaning, frame.context.below(meaning))
                }
                None => (None, NodeContext::default()),
            };
            self.open_definitions_until(node.start_byte());
            if let Some(frame) = self.enter(node, meaning, context)
                && cursor.goto_first_child()
            {
                frames.push(frame);
                continue;
            }
            self.leave(&mut cursor, &mut frames, node);
            if frames.is_empty() {
                return;
            }
        }
    }

    /// Moves on from a node that is done: to its next sibling, or to that of the nearest node around it. No
    /// frame is left at the end of the tree.
    fn leave(&mut self, cursor: &mut TreeCursor<'a>, frames: &mut Vec<Frame>, mut node: Node<'a>) {
        loop {
            if let Some(frame) = frames.last_mut()
                && frame
                    .bind
                    .as_ref()
                    .is_some_and(|bind| bind.after <= node.end_byte())
            {
                let bind = frame.bind.take();
                for (name, value) in bind.into_iter().flat_map(|bind| bind.names) {
                    self.reader.scopes.bind(name, value);
                }
            }
            if cursor.goto_next_sibling() {
                return;
            }
            let Some(frame) = frames.pop() else { return };
            cursor.goto_parent();
            node = cursor.node();
            if frame.rule.scope.is_some() {
                self.reader.scopes.close_to(frame.depth);
            }
            self.lambdas = self.lambdas.saturating_sub(usize::from(frame.is_lambda));
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
        while let Some(definition) = self.outline.get(self.next).copied()
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
        mut context: NodeContext,
    ) -> Option<Frame> {
        let rule = self.reader.rules.of(node);
        match meaning {
            // The arguments of a type are uses: `row.first<Cell>()`.
            Some(ChildMeaning::Member) if rule.meaning == Some(NodeMeaning::Generic) => {
                context.is_target = true;
            }
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
        self.open_scope(node, &mut frame);
        let is_visited = match rule.meaning {
            Some(own) => self.record(node, own, meaning, &mut frame),
            None => true,
        };
        if !is_visited || node.child_count() == 0 {
            return self.leave_early(&frame);
        }
        Some(frame)
    }

    /// Records a node by its own meaning. True if its children are worth a visit.
    fn record(
        &mut self,
        node: Node<'a>,
        own: NodeMeaning,
        meaning: Option<ChildMeaning>,
        frame: &mut Frame,
    ) -> bool {
        let (rule, context) = (frame.rule, frame.context);
        match own {
            identifier if identifier.is_identifier() => {
                self.use_identifier(node, identifier, meaning, context);
                return false;
            }
            NodeMeaning::Skip => {
                if node.kind().contains("comment") {
                    self.last_comment = Some(node);
                }
                return false;
            }
            NodeMeaning::This | NodeMeaning::Super | NodeMeaning::ThisType | NodeMeaning::PathRoot => {
                return false;
            }
            // Only a text with brackets can have code inside.
            NodeMeaning::Builtin => return self.reader.text_of(node).contains('{'),
            NodeMeaning::MacroText => {
                self.read_macro_imports(node);
                self.use_macro_text(node);
                return false;
            }
            // A module with its body in the file is no import.
            NodeMeaning::Import if node.child_by_field_name("body").is_none() => {
                self.read_import(node, rule);
                return false;
            }
            NodeMeaning::Export => return !self.read_export(node, rule),
            NodeMeaning::Package => {
                self.read_package(node);
                return node.named_child_count() >= 2;
            }
            // Without a member here, the part that has it is below: `library::people::find()`.
            NodeMeaning::Access if rule.child(node, ChildMeaning::Member).is_some() => {
                self.use_access(node, rule, context);
                frame.context = NodeContext {
                    in_type: context.in_type,
                    ..NodeContext::default()
                };
            }
            NodeMeaning::Call => {
                if self.read_special_call(node, rule) {
                    return false;
                }
                self.use_called_member(node, rule);
                frame.context = NodeContext::default();
            }
            NodeMeaning::Index => frame.context.is_target = false,
            NodeMeaning::Generic => frame.context.in_type = true,
            // A name in a type is that of a parameter: `run func(rows []Row)`.
            NodeMeaning::Bind if context.in_type => {
                frame.bind = self.read_binding(node, rule, NodeMeaning::Parameter);
            }
            NodeMeaning::Bind
            | NodeMeaning::Parameter
            | NodeMeaning::Assign
            | NodeMeaning::Constant
            | NodeMeaning::Field
            | NodeMeaning::Variable
            | NodeMeaning::Macro => frame.bind = self.read_binding(node, rule, own),
            _ => {}
        }
        true
    }

    fn open_scope(&mut self, node: Node<'a>, frame: &mut Frame) {
        let Some(scope) = frame.rule.scope else {
            return;
        };
        self.reader.scopes.open();
        frame.is_lambda = scope == ScopeKind::Lambda && !self.is_own_function(node);
        self.lambdas += usize::from(frame.is_lambda);
        if scope == ScopeKind::Comprehension {
            self.bind_ahead(node);
        }
    }

    fn use_identifier(
        &mut self,
        node: Node<'a>,
        identifier: NodeMeaning,
        meaning: Option<ChildMeaning>,
        mut context: NodeContext,
    ) {
        match identifier {
            NodeMeaning::TypeName => self.use_name(node, context, ReferenceRole::Type),
            NodeMeaning::CalledName if !context.is_callee => {}
            NodeMeaning::ConstructorName => {
                context.is_target = meaning == Some(ChildMeaning::Target);
                self.use_name(node, context, ReferenceRole::Name);
            }
            NodeMeaning::OwnMember if meaning == Some(ChildMeaning::Target) => {}
            NodeMeaning::OwnMember => {
                let object = self.reader.this();
                self.use_member(node, object, context);
            }
            NodeMeaning::MemberName if context.is_target => {}
            NodeMeaning::MemberName => self.use_member(node, None, context),
            _ => self.use_name(node, context, ReferenceRole::Name),
        }
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

    pub(super) fn position(node: Node<'_>) -> SourcePosition {
        let at = node.start_position();
        SourcePosition {
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
        at: SourcePosition,
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

    fn use_name(&mut self, node: Node<'a>, context: NodeContext, role: ReferenceRole) {
        let text = self.reader.text_of(node);
        let is_name_of_definition = self
            .reader
            .open
            .last()
            .is_some_and(|open| open.name_start == node.start_byte());
        let is_bound = context.is_target && !(role == ReferenceRole::Name && self.is_constant_pattern(text));
        let is_this_type = text == THIS_TYPE && self.reader.enclosing_type().is_some();
        let is_number = text.starts_with(|c: char| c.is_ascii_digit()) || !text.contains(char::is_alphabetic);
        // A variable of PHP is another name than a function: `$first` and `first()`.
        let bare = self.reader.without_sigil(text);
        let is_local_variable = bare.len() < text.len() && self.is_local();
        if is_bound
            || is_this_type
            || is_name_of_definition
            || is_number
            || is_local_variable
            || text.len() > MAX_NAME_BYTES
            || self.reader.special_meaning(text).is_some()
        {
            return;
        }
        let name = self.reader.intern(text);
        // The names of structs are no names of variables in C.
        let is_tag = role == ReferenceRole::Type && self.reader.rules.traits.flat_functions;
        let target = match self.reader.scopes.find(name).filter(|_| !is_tag) {
            None => Target::Scope,
            Some(local) => {
                let value = local
                    .value
                    .and_then(|value| self.reader.symbols.expressions.get(value.0 as usize));
                match value {
                    Some(Expression::Definition(id)) if self.is_name_of(*id, name) => Target::Definition(*id),
                    _ => return,
                }
            }
        };
        let name = self.reader.intern(bare);
        self.add_reference(node, name, context.role(role), target);
    }

    /// Whether a name in a pattern is a constant or a type, and not a new variable.
    pub(super) fn is_constant_pattern(&self, name: &str) -> bool {
        self.reader.rules.traits.constants_in_patterns && starts_with_capital(name) && self.is_local()
    }

    pub(super) fn is_name_of(&self, id: DefinitionId, name: NameId) -> bool {
        let definition = self.reader.symbols.definitions.get(id.0 as usize);
        definition.is_some_and(|definition| definition.name == name)
    }

    fn use_access(&mut self, node: Node<'a>, rule: &'static NodeRule, context: NodeContext) {
        let Some(member) = rule.child(node, ChildMeaning::Member) else {
            return;
        };
        let receiver = rule.child(node, ChildMeaning::Receiver);
        // `::sweep()`
        if receiver.is_none() && node.kind() == "qualified_identifier" {
            self.use_name(member, context, ReferenceRole::Name);
            return;
        }
        let receiver = receiver.and_then(|receiver| self.reader.receiver_of(receiver));
        self.use_member(self.reader.bare_member(member), receiver, context);
    }

    /// The name of a field in `Row { cells: … }`.
    fn use_key(&mut self, node: Node<'a>) {
        let key = if node.named_child_count() == 1 {
            node.named_child(0).unwrap_or(node)
        } else {
            node
        };
        if key.named_child_count() == 0 && self.reader.rules.of(key).meaning != Some(NodeMeaning::Builtin) {
            self.use_member(key, None, NodeContext::default());
        }
    }

    /// Grammars such as Java's and Ruby's have the receiver of a call beside its name.
    fn use_called_member(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let Some(member) = rule.child(node, ChildMeaning::Member) else {
            return;
        };
        let context = NodeContext {
            is_callee: true,
            ..NodeContext::default()
        };
        match rule.child(node, ChildMeaning::Receiver) {
            Some(receiver) => {
                let receiver = self.reader.value_of(receiver);
                self.use_member(self.reader.bare_member(member), receiver, context);
            }
            None => self.use_name(member, context, ReferenceRole::Call),
        }
    }

    fn use_member(&mut self, node: Node<'a>, receiver: Option<ExpressionId>, context: NodeContext) {
        let text = self.reader.without_sigil(self.reader.text_of(node));
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
}

fn starts_with_capital(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}
