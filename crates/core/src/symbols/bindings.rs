//! Bindings: names that a pattern, parameter or assignment binds, and the fields, constants and variables that
//! are defined by it.

use tree_sitter::Node;

use super::reader::{MAX_NAME_BYTES, to_u32};
use super::rules::{ChildMeaning, NodeMeaning, NodeRule};
use super::walk::{LOCAL_MARK, MAX_DEFINITIONS, PendingBind, SymbolWalk, named_children};
use super::{ByteRange, DefinitionId, Expression, ExpressionId, NameId, SymbolDefinition, SymbolKind};

/// Bytes of the signature of a field or constant.
const MAX_SIGNATURE_BYTES: usize = 300;

/// A bound name: its node, and what is known of its value.
type BoundName<'a> = (Node<'a>, NameId, Option<ExpressionId>);

impl<'a> SymbolWalk<'a> {
    /// Binds the names of a comprehension before its body is visited.
    pub(super) fn bind_ahead(&mut self, node: Node<'a>) {
        for child in named_children(node) {
            let rule = self.reader.rules.of(child);
            if rule.meaning == Some(NodeMeaning::Bind)
                && let Some(bind) = self.read_binding(child, rule, NodeMeaning::Bind)
            {
                for (name, value) in bind.names {
                    self.reader.scopes.bind(name, value);
                }
            }
        }
    }

    /// Reads a binding: local names to be bound, or definitions outside of functions.
    pub(super) fn read_binding(
        &mut self,
        node: Node<'a>,
        rule: &'static NodeRule,
        meaning: NodeMeaning,
    ) -> Option<PendingBind> {
        let written = rule
            .child(node, ChildMeaning::Type)
            .filter(|written| !matches!(self.reader.text_of(*written), "var" | "auto"));
        let value = rule.child(node, ChildMeaning::Value);
        let element = rule.child(node, ChildMeaning::Element);
        let mut known = written.and_then(|written| self.reader.instance_of(written));
        if known.is_none() {
            known = value.and_then(|value| self.reader.value_of(value));
        }
        if let (None, Some(element)) = (known, element) {
            let collection = self.reader.value_of(element);
            known = collection.and_then(|of| self.reader.keep(Expression::Element(of)));
        }
        let mut names = Vec::new();
        let mut after = 0;
        let mut has_target = false;
        for (target, is_target) in meaningful_children(node, rule) {
            after = after.max(target.end_byte());
            if is_target {
                has_target = true;
                self.collect_targets(target, known, value, &mut names);
            }
        }
        if names.is_empty() && !has_target && meaning == NodeMeaning::Field {
            // An embedded struct: its members are members of this one.
            if let (Some(written), Some(open)) = (written, self.reader.open.last().copied())
                && let Some(base) = self.reader.value_of(written)
            {
                self.add_base(open.id, base);
            }
            return None;
        }
        // A function that is declared without a body.
        if names.is_empty()
            && has_target
            && let Some(open) = self.reader.open.last().copied()
            && !open.kind.is_container()
            && node.byte_range().contains(&open.name_start)
        {
            let declared = &mut self.reader.symbols.definitions[open.id.0 as usize];
            declared.result = declared.result.or(known);
        }
        let is_parameter_field = rule.child(node, ChildMeaning::FieldMark).is_some();
        if is_parameter_field && let Some(class) = self.reader.enclosing_type() {
            for (target, name, known) in &names {
                self.define_field(*target, class, *name, *known);
            }
        }
        if meaning == NodeMeaning::Assign {
            return None;
        }
        let is_definition = meaning == NodeMeaning::Macro
            || meaning == NodeMeaning::Field
                && self
                    .reader
                    .open
                    .last()
                    .is_none_or(|open| open.kind.is_container());
        let is_parameter = meaning == NodeMeaning::Parameter;
        if is_parameter && !self.is_local() {
            names.retain(|(target, ..)| self.reader.rules.of(*target).meaning == Some(NodeMeaning::TypeName));
        }
        if is_parameter || !is_definition && self.is_local() {
            let names = names.into_iter().map(|(_, name, known)| (name, known)).collect();
            return Some(PendingBind { after, names });
        }
        for (target, name, known) in names {
            self.define(target, node, name, meaning, known);
        }
        None
    }

    /// Collects the names that a pattern binds, each with what is known of its value.
    fn collect_targets(
        &mut self,
        target: Node<'a>,
        known: Option<ExpressionId>,
        value: Option<Node<'a>>,
        names: &mut Vec<BoundName<'a>>,
    ) {
        const MAX_TARGETS: usize = 1_000;
        let rule = self.reader.rules.of(target);
        if names.len() >= MAX_TARGETS {
            return;
        }
        if matches!(
            rule.meaning,
            Some(NodeMeaning::Name | NodeMeaning::TypeName | NodeMeaning::MemberName)
        ) {
            let text = self.reader.text_of(target);
            let is_constant = rule.meaning == Some(NodeMeaning::Name) && self.is_constant_pattern(text);
            if !is_constant && !text.is_empty() && text.len() <= MAX_NAME_BYTES {
                let name = self.reader.intern(text);
                let known = known.or_else(|| self.self_parameter(text));
                names.push((target, name, known));
            }
            return;
        }
        match (rule.meaning, target.kind()) {
            (Some(NodeMeaning::Access), _) => self.define_assigned_field(target, rule, known),
            (Some(NodeMeaning::Index | NodeMeaning::Call), _) => {}
            (_, "object_pattern") => self.collect_object_pattern(target, known, names),
            (_, kind)
                if kind.ends_with("_list") || kind.ends_with("tuple") || kind.ends_with("tuple_pattern") =>
            {
                self.collect_list(target, known, value, names);
            }
            _ if rule.names(ChildMeaning::Target) => {
                let value = rule.child(target, ChildMeaning::Value);
                let known = known.or_else(|| self.reader.value_of(value?));
                if let Some(child) = rule.child(target, ChildMeaning::Target) {
                    self.collect_targets(child, known, value, names);
                }
            }
            // `Some(row)` has the type of its content.
            (_, "tuple_struct_pattern")
                if target.named_child_count() == 2
                    && matches!(self.reader.text_of(target).split('(').next(), Some("Some" | "Ok")) =>
            {
                if let Some(content) = target.named_child(1) {
                    self.collect_targets(content, known, value, names);
                }
            }
            _ => {
                let children = named_children(target);
                let is_wrapper = children.len() == 1 || target.kind().ends_with("declarator");
                for child in children {
                    if is_wrapper || self.is_pattern_child(rule, target, child) {
                        self.collect_targets(child, known.filter(|_| is_wrapper), value, names);
                    }
                    if is_wrapper {
                        break;
                    }
                }
            }
        }
    }

    /// `a, b = x, y`
    fn collect_list(
        &mut self,
        list: Node<'a>,
        known: Option<ExpressionId>,
        value: Option<Node<'a>>,
        names: &mut Vec<BoundName<'a>>,
    ) {
        let targets = named_children(list);
        let is_last = |at: usize| at + 1 == targets.len();
        let values = value.map(named_children).unwrap_or_default();
        let is_pairwise = values.len() == targets.len();
        let several_results = self.reader.rules.traits.several_results;
        for (at, target) in targets.iter().enumerate() {
            let value = values
                .get(at)
                .copied()
                .filter(|_| is_pairwise || several_results && at == 0);
            let known = match value {
                Some(value) => self.reader.value_of(value),
                // `for index, row := range rows`
                None => known.filter(|_| several_results && values.is_empty() && is_last(at)),
            };
            self.collect_targets(*target, known, value, names);
        }
    }

    /// True if a part of a pattern binds names: not a type, a default value or an ignored key.
    fn is_pattern_child(&self, rule: &NodeRule, parent: Node<'a>, child: Node<'a>) -> bool {
        let mut cursor = parent.walk();
        if !cursor.goto_first_child() {
            return true;
        }
        loop {
            if cursor.node() == child {
                let field = cursor.field_id().map(std::num::NonZero::get);
                let meaning = rule.meaning_of_child(child.kind_id(), field);
                return matches!(meaning, None | Some(ChildMeaning::Target | ChildMeaning::Inner));
            }
            if !cursor.goto_next_sibling() {
                return true;
            }
        }
    }

    /// `const { rows, cells: c } = table`
    fn collect_object_pattern(
        &mut self,
        pattern: Node<'a>,
        known: Option<ExpressionId>,
        names: &mut Vec<BoundName<'a>>,
    ) {
        for part in named_children(pattern) {
            let (key, target) = match part.kind() {
                "shorthand_property_identifier_pattern" => (part, part),
                "pair_pattern" => {
                    match (part.child_by_field_name("key"), part.child_by_field_name("value")) {
                        (Some(key), Some(value)) => (key, value),
                        _ => continue,
                    }
                }
                "object_assignment_pattern" => match part.child_by_field_name("left") {
                    Some(left) => (left, left),
                    None => continue,
                },
                _ => (part, part),
            };
            let key = self.reader.text_of(key);
            let mut value = None;
            if let Some(known) = known
                && key.len() <= MAX_NAME_BYTES
            {
                let key = self.reader.intern(key);
                value = self.reader.keep(Expression::Member(known, key));
            }
            if target.kind() == "shorthand_property_identifier_pattern" {
                let name = self.reader.intern(self.reader.text_of(target));
                names.push((target, name, value));
            } else {
                self.collect_targets(target, value, None, names);
            }
        }
    }

    /// The object of a method, in languages where it is a parameter like others.
    fn self_parameter(&mut self, name: &str) -> Option<ExpressionId> {
        if !self.reader.rules.traits.self_parameter {
            return None;
        }
        let is_method = self
            .reader
            .open
            .last()
            .is_some_and(|open| open.kind == SymbolKind::Method);
        let class = self.reader.enclosing_type().filter(|_| is_method)?;
        match name {
            "self" => self.reader.keep(Expression::This(class)),
            "cls" => self.reader.keep(Expression::Definition(class)),
            _ => None,
        }
    }

    /// `self.rows = []` defines a field of the class.
    fn define_assigned_field(
        &mut self,
        target: Node<'a>,
        rule: &'static NodeRule,
        known: Option<ExpressionId>,
    ) {
        let Some(receiver) = rule.child(target, ChildMeaning::Receiver) else {
            return;
        };
        let Some(receiver) = self.reader.value_of(receiver) else {
            return;
        };
        if let Some(Expression::This(class)) =
            self.reader.symbols.expressions.get(receiver.0 as usize).copied()
            && let Some(member) = rule.child(target, ChildMeaning::Member)
            && let Some(name) = self.reader.member_name(target, rule)
        {
            self.define_field(member, class, name, known);
        }
    }

    fn define_field(&mut self, at: Node<'a>, class: DefinitionId, name: NameId, known: Option<ExpressionId>) {
        if !self.fields.insert((class, name)) {
            return;
        }
        let scope = self.path_of(class);
        self.push_definition(at, at, name, SymbolKind::Field, (Some(class), scope), known);
    }

    /// Records a variable, constant or field.
    fn define(
        &mut self,
        target: Node<'a>,
        node: Node<'a>,
        name: NameId,
        meaning: NodeMeaning,
        known: Option<ExpressionId>,
    ) {
        let mut parent = self.reader.open.last().copied();
        // The outline has it already: a function that is bound to a name, a macro with parameters.
        if let Some(open) = parent
            && open.name_start == target.start_byte()
        {
            if meaning == NodeMeaning::Macro {
                self.reader.symbols.definitions[open.id.0 as usize].kind = SymbolKind::Macro;
            }
            return;
        }
        if self.is_next_in_outline(target.start_byte()) {
            return;
        }
        // A macro belongs to no function or type, wherever it is defined.
        if meaning == NodeMeaning::Macro {
            parent = None;
        }
        let in_type = parent.is_some_and(|open| open.kind.is_container() && open.kind != SymbolKind::Module);
        let is_upper =
            |name: &str| name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
        let kind = match meaning {
            NodeMeaning::Macro => SymbolKind::Macro,
            NodeMeaning::Constant => SymbolKind::Constant,
            NodeMeaning::Field => SymbolKind::Field,
            _ if in_type => SymbolKind::Field,
            _ if self.reader.rules.traits.constants_by_case && is_upper(self.reader.symbols.name(name)) => {
                SymbolKind::Constant
            }
            _ => SymbolKind::Variable,
        };
        if let Some(open) = parent.filter(|_| in_type)
            && !self.fields.insert((open.id, name))
        {
            return;
        }
        if parent.is_none()
            && meaning != NodeMeaning::Macro
            && !self.fields.insert((DefinitionId(u32::MAX), name))
        {
            return;
        }
        let scope = match parent {
            Some(open) => self.path_of(open.id),
            None => self.reader.intern_owned(String::new()),
        };
        self.push_definition(
            target,
            node,
            name,
            kind,
            (parent.map(|open| open.id), scope),
            known,
        );
        let rule = self.reader.rules.of(node);
        let mark = rule.child(node, ChildMeaning::LocalMark);
        if !in_type
            && mark.is_some_and(|mark| self.reader.text_of(mark) == LOCAL_MARK)
            && let Some(defined) = self.reader.symbols.definitions.last_mut()
        {
            defined.is_file_local = true;
        }
    }

    fn is_next_in_outline(&self, name_start: usize) -> bool {
        let following = self.outline.iter().skip(self.next).take(4);
        following
            .into_iter()
            .any(|definition| definition.name_bytes.start == name_start)
    }

    /// The path of a definition, which is the scope of those inside it.
    fn path_of(&mut self, id: DefinitionId) -> NameId {
        let definition = &self.reader.symbols.definitions[id.0 as usize];
        let (scope, name) = (definition.scope, definition.name);
        let path = match self.reader.symbols.name(scope) {
            "" => return name,
            scope => format!("{scope}.{}", self.reader.symbols.name(name)),
        };
        self.reader.intern_owned(path)
    }

    fn push_definition(
        &mut self,
        name_node: Node<'a>,
        node: Node<'a>,
        name: NameId,
        kind: SymbolKind,
        (parent, scope): (Option<DefinitionId>, NameId),
        known: Option<ExpressionId>,
    ) {
        if self.reader.symbols.definitions.len() >= MAX_DEFINITIONS {
            return;
        }
        let start = node.start_byte();
        let head = &self.reader.text[node.byte_range()];
        let head = head.lines().next().unwrap_or_default();
        let end = start + head.floor_char_boundary(MAX_SIGNATURE_BYTES);
        let doc = comment_above(node);
        self.starts.push(start);
        self.reader.symbols.definitions.push(SymbolDefinition {
            name,
            kind,
            scope,
            parent,
            first_line: to_u32(doc.map_or(node.start_position().row, |doc| doc.start_position().row) + 1),
            last_line: to_u32(last_row(node) + 1),
            name_at: Self::position(name_node),
            signature: ByteRange {
                start: to_u32(start),
                end: to_u32(end),
            },
            doc: doc.map_or(ByteRange::default(), |doc| ByteRange {
                start: to_u32(doc.start_byte()),
                end: to_u32(doc.end_byte()),
            }),
            has_body: true,
            is_file_local: false,
            result: known,
            bases: Vec::new(),
        });
    }
}

/// The children of a binding that its rule names, and whether each is a target.
fn meaningful_children<'a>(node: Node<'a>, rule: &NodeRule) -> Vec<(Node<'a>, bool)> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    let mut has_more = cursor.goto_first_child();
    while has_more {
        let child = cursor.node();
        let field = cursor.field_id().map(std::num::NonZero::get);
        match rule.meaning_of_child(child.kind_id(), field) {
            Some(ChildMeaning::Target) => children.push((child, true)),
            Some(ChildMeaning::Type | ChildMeaning::Value | ChildMeaning::Element) => {
                children.push((child, false))
            }
            _ => {}
        }
        has_more = cursor.goto_next_sibling();
    }
    children
}

/// The last row of a node, without the line break that ends a directive.
fn last_row(node: Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row {
        end.row - 1
    } else {
        end.row
    }
}

/// The comment directly above a node.
fn comment_above(node: Node<'_>) -> Option<Node<'_>> {
    let above = node.prev_named_sibling()?;
    let is_comment = above.kind().contains("comment");
    (is_comment && above.end_position().row + 1 == node.start_position().row).then_some(above)
}
