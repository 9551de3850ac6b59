//! Bindings: names that a pattern, parameter or assignment binds, and the fields, constants and variables
//! that are defined by it.

use tree_sitter::Node;

use super::reader::{MAX_NAME_BYTES, to_u32};
use super::rules::{ChildMeaning, NodeMeaning, NodeRule};
use super::walk::{LOCAL_MARK, MAX_DEFINITIONS, PendingBind, SymbolWalk, named_children};
use super::{ByteRange, DefinitionId, Expression, ExpressionId, NameId, SymbolDefinition, SymbolKind};

/// Bytes of the signature of a field or constant.
const MAX_SIGNATURE_BYTES: usize = 300;

/// A bound name: its node, and what is known of its value.
type BoundName<'a> = (Node<'a>, NameId, Option<ExpressionId>);

/// Names of a binding, and the byte behind which they are bound.
struct PendingNames<'a> {
    after: usize,
    names: Vec<BoundName<'a>>,
}

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
            has_target |= is_target;
            // `if let row = rows.first, let cell = row.first`
            let known = known.filter(|_| names.is_empty() || value.is_none());
            if is_target && self.reader.rules.of(target).meaning == Some(NodeMeaning::ConstructorName) {
                let text = self.reader.text_of(target);
                let name = self
                    .reader
                    .intern(&text[..text.floor_char_boundary(MAX_NAME_BYTES)]);
                names.push((target, name, known));
            } else if is_target {
                self.collect_targets(target, known, value, &mut names);
            }
        }
        if names.is_empty() && !has_target && meaning == NodeMeaning::Field {
            self.embed(written);
            return None;
        }
        if names.is_empty() && has_target {
            self.set_declared_result(node, known);
        }
        let is_parameter_field = rule.child(node, ChildMeaning::FieldMark).is_some();
        if is_parameter_field && let Some(class) = self.reader.enclosing_type() {
            for (target, name, known) in &names {
                self.define_field(*target, class, *name, *known);
            }
        }
        let is_bound = meaning != NodeMeaning::Assign
            && !(is_parameter_field && meaning == NodeMeaning::Parameter)
            && !self.import_called(node, value, &names);
        if !is_bound {
            return None;
        }
        if written.is_some() {
            self.set_types(&names);
        }
        self.bind_or_define(node, rule, meaning, PendingNames { after, names })
    }

    /// Binds names inside a function, and defines them outside of one.
    fn bind_or_define(
        &mut self,
        node: Node<'a>,
        rule: &'static NodeRule,
        meaning: NodeMeaning,
        PendingNames { after, mut names }: PendingNames<'a>,
    ) -> Option<PendingBind> {
        let is_definition = meaning == NodeMeaning::Macro
            || meaning == NodeMeaning::Field
                && self
                    .reader
                    .open
                    .last()
                    .is_none_or(|open| open.kind.is_container());
        let is_parameter = meaning == NodeMeaning::Parameter;
        let is_constructor = rule.names(ChildMeaning::FieldMark);
        if is_parameter && !is_constructor && !self.is_local() {
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

    /// An embedded struct: its members are members of this one.
    fn embed(&mut self, written: Option<Node<'a>>) {
        if let (Some(written), Some(open)) = (written, self.reader.open.last().copied())
            && let Some(base) = self.reader.value_of(written)
        {
            self.add_base(open.id, base);
        }
    }

    /// The result of a function that is declared without a body.
    fn set_declared_result(&mut self, node: Node<'a>, known: Option<ExpressionId>) {
        if let Some(open) = self.reader.open.last().copied()
            && !open.kind.is_container()
            && node.byte_range().contains(&open.name_start)
        {
            let declared = &mut self.reader.symbols.definitions[open.id.0 as usize];
            declared.result = declared.result.or(known);
        }
    }

    /// A property with code is a definition of the outline. Its type is written here.
    fn set_types(&mut self, names: &[BoundName<'a>]) {
        for (target, _, known) in names {
            if let Some(id) = self.find_in_outline(target.start_byte()) {
                let definition = &mut self.reader.symbols.definitions[id.0 as usize];
                if !definition.kind.is_container() {
                    definition.result = definition.result.or(*known);
                }
            }
        }
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
        // A pattern that is nested deeper than any person writes would overflow the stack.
        const MAX_PATTERN_DEPTH: usize = 50;
        let rule = self.reader.rules.of(target);
        if names.len() >= MAX_TARGETS || self.pattern_depth >= MAX_PATTERN_DEPTH {
            return;
        }
        self.pattern_depth += 1;
        self.collect_pattern(target, rule, known, value, names);
        self.pattern_depth -= 1;
    }

    fn collect_pattern(
        &mut self,
        target: Node<'a>,
        rule: &'static NodeRule,
        known: Option<ExpressionId>,
        value: Option<Node<'a>>,
        names: &mut Vec<BoundName<'a>>,
    ) {
        if matches!(
            rule.meaning,
            Some(
                NodeMeaning::Name | NodeMeaning::TypeName | NodeMeaning::CalledName | NodeMeaning::MemberName
            )
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
            (Some(NodeMeaning::OwnMember), _) => self.define_own_member(target, known),
            (Some(NodeMeaning::ConstructorName | NodeMeaning::Index | NodeMeaning::Call), _) => {}
            (_, "object_pattern") => self.collect_object_pattern(target, known, names),
            (_, kind)
                if kind.ends_with("_list") || kind.ends_with("tuple") || kind.ends_with("tuple_pattern") =>
            {
                self.collect_list(target, known, value, names);
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
                let children = Self::pattern_children(rule, target);
                let is_wrapper = children.len() == 1 || target.kind().ends_with("declarator");
                // Of a pattern such as `Some(row)`, the type is that of the whole.
                let is_declarator = rule.names(ChildMeaning::Target);
                let written = rule.child(target, ChildMeaning::Type).filter(|_| is_declarator);
                let written = written.and_then(|written| self.reader.instance_of(written));
                let known = written.or(known).or_else(|| {
                    let value = rule.child(target, ChildMeaning::Value)?;
                    self.reader.value_of(value)
                });
                for child in children {
                    self.collect_targets(child, known.filter(|_| is_wrapper), value, names);
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

    /// The parts of a pattern that bind names: not a type, a default value or an ignored key.
    fn pattern_children(rule: &NodeRule, pattern: Node<'a>) -> Vec<Node<'a>> {
        let has_targets = rule.names(ChildMeaning::Target);
        let mut cursor = pattern.walk();
        let mut children = Vec::new();
        let mut has_more = cursor.goto_first_child();
        while has_more {
            let child = cursor.node();
            let field = cursor.field_id().map(std::num::NonZero::get);
            let is_part = match rule.meaning_of_child(child, field) {
                Some(ChildMeaning::Target) => true,
                None | Some(ChildMeaning::Inner) => !has_targets,
                _ => false,
            };
            if child.is_named() && is_part {
                children.push(child);
            }
            has_more = cursor.goto_next_sibling();
        }
        children
    }

    /// `@rows = []` defines a field of the class around it.
    fn define_own_member(&mut self, target: Node<'a>, known: Option<ExpressionId>) {
        if let Some(class) = self.reader.enclosing_type()
            && let Some(name) = self.reader.name_of_member(target)
        {
            self.define_field(target, class, name, known);
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
        if self.reader.rules.traits.declared_fields {
            return;
        }
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

    pub(super) fn define_field(
        &mut self,
        at: Node<'a>,
        class: DefinitionId,
        name: NameId,
        known: Option<ExpressionId>,
    ) {
        let name = self.bare_name(at, name);
        if self.is_known_field(class, name, known) {
            return;
        }
        let scope = self.path_of(class);
        self.push_definition(at, at, name, SymbolKind::Field, (Some(class), scope), known);
    }

    /// A constant whose name is an argument: `define('MAX_ROWS', 12)`.
    pub(super) fn define_constant(&mut self, at: Node<'a>, name: NameId) {
        let nothing = self.reader.intern_owned(String::new());
        self.push_definition(at, at, name, SymbolKind::Constant, (None, nothing), None);
    }

    /// The name of a definition: a variable `$rows` of PHP is the field `rows`.
    fn bare_name(&mut self, at: Node<'a>, name: NameId) -> NameId {
        let text = self.reader.text_of(at);
        let bare = self.reader.without_sigil(text);
        if bare.is_empty() || bare.len() == text.len() || bare.len() > MAX_NAME_BYTES {
            return name;
        }
        self.reader.intern(bare)
    }

    /// True if a class has a field of that name already. Its type may be said only now.
    fn is_known_field(&mut self, class: DefinitionId, name: NameId, known: Option<ExpressionId>) -> bool {
        let next = DefinitionId(to_u32(self.reader.symbols.definitions.len()));
        let field = *self.fields.entry((class, name)).or_insert(next);
        if let Some(field) = self.reader.symbols.definitions.get_mut(field.0 as usize) {
            field.result = field.result.or(known);
            return true;
        }
        false
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
        if let Some(id) = self.find_in_outline(target.start_byte()) {
            if meaning == NodeMeaning::Macro {
                self.reader.symbols.definitions[id.0 as usize].kind = SymbolKind::Macro;
            }
            return;
        }
        let name = self.bare_name(target, name);
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
            _ if target.kind() == "constant" => SymbolKind::Constant,
            NodeMeaning::Field => SymbolKind::Field,
            _ if in_type => SymbolKind::Field,
            _ if self.reader.rules.traits.constants_by_case && is_upper(self.reader.symbols.name(name)) => {
                SymbolKind::Constant
            }
            _ => SymbolKind::Variable,
        };
        if let Some(open) = parent.filter(|_| in_type)
            && self.is_known_field(open.id, name, known)
        {
            return;
        }
        if parent.is_none()
            && meaning != NodeMeaning::Macro
            && self.is_known_field(DefinitionId(u32::MAX), name, known)
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

    /// The definition of the outline whose name begins here: the innermost that is open, or one of the next.
    fn find_in_outline(&self, name_start: usize) -> Option<DefinitionId> {
        let open = self.reader.open.last();
        if let Some(open) = open.filter(|open| open.name_start == name_start) {
            return Some(open.id);
        }
        let mut following = self.outline.iter().skip(self.next).take(4);
        let at = following.position(|definition| definition.name_bytes.start == name_start)?;
        Some(DefinitionId(to_u32(self.next + at)))
    }

    /// The comment directly above a node. The walk has passed it: to ask the tree for the sibling before a
    /// node would take quadratic time in a list of many fields.
    fn comment_above(&self, node: Node<'a>) -> Option<Node<'a>> {
        let comment = self.last_comment?;
        let line_start = comment.start_byte() - comment.start_position().column;
        let before = self.reader.text.get(line_start..comment.start_byte())?;
        let is_above = comment.end_position().row + 1 == node.start_position().row;
        (is_above && before.trim().is_empty()).then_some(comment)
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
        let doc = self.comment_above(node);
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
        match rule.meaning_of_child(child, field) {
            Some(ChildMeaning::Target) => children.push((child, true)),
            Some(ChildMeaning::Type | ChildMeaning::Value | ChildMeaning::Element) => {
                children.push((child, false));
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
