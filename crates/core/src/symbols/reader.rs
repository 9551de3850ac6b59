//! The state of the walk: names, expressions and scopes so far, and how expressions and types are read.

use foldhash::HashMap;
use tree_sitter::Node;

use super::rules::{ChildMeaning, NodeMeaning, NodeRule, Rules};
use super::scopes::Scopes;
use super::{DefinitionId, Expression, ExpressionId, FileSymbols, NameId, SymbolKind};

/// Longer names are left out. Nobody asks for them, and a hostile text may have one of a megabyte.
pub(super) const MAX_NAME_BYTES: usize = 200;

/// The type around the current node, in Rust and Swift and as an annotation of Python.
pub(super) const THIS_TYPE: &str = "Self";

/// How deep an expression is read. A chain of calls that is longer says nothing about its type.
const MAX_EXPRESSION_DEPTH: u8 = 12;

/// Expressions that are kept of a file.
const MAX_EXPRESSIONS: usize = 50_000;

/// Types that stand for their argument: a call on them is a call on what they hold.
const TRANSPARENT_TYPES: &str = " Promise PromiseLike Awaitable Optional Annotated Final ClassVar Type Readonly Partial Required \
    NonNullable Awaited Box Rc Arc Option Result Ref RefMut Cow Mutex RwLock Pin Coroutine unique_ptr shared_ptr \
    weak_ptr optional reference_wrapper Task ValueTask Future Deferred Lazy Nullable ";

/// Types that hold many values.
const COLLECTION_TYPES: &str = " Array ReadonlyArray List list Sequence Iterable Iterator AsyncIterator AsyncIterable Generator Set \
    set frozenset FrozenSet Deque deque Vec VecDeque HashSet BTreeSet HashMap BTreeMap Map ReadonlyMap WeakMap Record Dict dict \
    DefaultDict defaultdict OrderedDict Mapping MutableMapping Tuple tuple Collection ArrayList LinkedList Stream IEnumerable vector \
    array map unordered_map unordered_set multimap multiset span initializer_list MutableList MutableSet MutableMap IList \
    ICollection IReadOnlyList IReadOnlyCollection Dictionary IDictionary Seq Vector IndexedSeq ";

pub(super) struct SymbolReader<'a> {
    pub(super) text: &'a str,
    pub(super) rules: &'static Rules,
    pub(super) scopes: Scopes,
    pub(super) symbols: FileSymbols,
    names: HashMap<&'a str, NameId>,
    /// Names that are made up from parts, and do not stand in the text as they are.
    made_names: HashMap<String, NameId>,
    expressions: HashMap<Expression, ExpressionId>,
    /// The definitions around the current node, the innermost last.
    pub(super) open: Vec<OpenDefinition>,
}

/// A definition around the current node.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDefinition {
    pub(super) id: DefinitionId,
    pub(super) kind: SymbolKind,
    pub(super) end: usize,
    /// The start of its name, so that the name is not taken for a use.
    pub(super) name_start: usize,
    /// Scopes that were open before its own.
    pub(super) depth: usize,
}

impl<'a> SymbolReader<'a> {
    pub(super) fn new(text: &'a str, rules: &'static Rules) -> Self {
        Self {
            text,
            rules,
            scopes: Scopes::default(),
            symbols: FileSymbols::default(),
            names: HashMap::default(),
            made_names: HashMap::default(),
            expressions: HashMap::default(),
            open: Vec::new(),
        }
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The id of a name that stands in the text.
    pub(super) fn intern(&mut self, name: &'a str) -> NameId {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = match self.made_names.get(name) {
            Some(id) => *id,
            None => self.add_name(name.to_owned()),
        };
        self.names.insert(name, id);
        id
    }

    /// The id of a name that was made up from parts.
    pub(super) fn intern_owned(&mut self, name: String) -> NameId {
        if let Some(id) = self
            .names
            .get(name.as_str())
            .or_else(|| self.made_names.get(&name))
        {
            return *id;
        }
        let id = self.add_name(name.clone());
        self.made_names.insert(name, id);
        id
    }

    fn add_name(&mut self, name: String) -> NameId {
        self.symbols.names.push(name);
        NameId(to_u32(self.symbols.names.len() - 1))
    }

    /// The id of an expression, which is kept once.
    pub(super) fn keep(&mut self, expression: Expression) -> Option<ExpressionId> {
        if let Some(id) = self.expressions.get(&expression) {
            return Some(*id);
        }
        if self.symbols.expressions.len() >= MAX_EXPRESSIONS {
            return None;
        }
        let id = ExpressionId(to_u32(self.symbols.expressions.len()));
        self.symbols.expressions.push(expression);
        self.expressions.insert(expression, id);
        Some(id)
    }

    /// The innermost type around the current node.
    pub(super) fn enclosing_type(&self) -> Option<DefinitionId> {
        let is_type = |open: &&OpenDefinition| open.kind.is_container() && open.kind != SymbolKind::Module;
        self.open.iter().rev().find(is_type).map(|open| open.id)
    }

    /// The innermost type or module around the current node.
    pub(super) fn enclosing_container(&self) -> Option<DefinitionId> {
        let is_container = |open: &&OpenDefinition| open.kind.is_container();
        self.open.iter().rev().find(is_container).map(|open| open.id)
    }

    /// The value of an expression, as far as the text describes it.
    pub(super) fn value_of(&mut self, node: Node<'_>) -> Option<ExpressionId> {
        self.read_value(node, MAX_EXPRESSION_DEPTH)
    }

    fn read_value(&mut self, node: Node<'_>, depth: u8) -> Option<ExpressionId> {
        let depth = depth.checked_sub(1)?;
        let rule = self.rules.of(node);
        match rule.meaning? {
            NodeMeaning::Name
            | NodeMeaning::TypeName
            | NodeMeaning::CalledName
            | NodeMeaning::ConstructorName => self.name_expression(node),
            NodeMeaning::OwnMember => {
                let name = self.name_of_member(node)?;
                let object = self.this()?;
                self.keep(Expression::Member(object, name))
            }
            // `library::people::find` has its last two parts in one node.
            NodeMeaning::Access if rule.child(node, ChildMeaning::Member).is_none() => {
                let inner = rule.child(node, ChildMeaning::Inner)?;
                self.read_value(inner, depth)
            }
            NodeMeaning::Access => {
                let receiver = rule.child(node, ChildMeaning::Receiver)?;
                let member = self.member_name(node, rule)?;
                let receiver = self.read_receiver(receiver, depth)?;
                self.keep(Expression::Member(receiver, member))
            }
            NodeMeaning::Call => self.read_call(node, rule, depth),
            NodeMeaning::Construct => {
                let of = rule
                    .child(node, ChildMeaning::Type)
                    .or_else(|| rule.child(node, ChildMeaning::Callee))?;
                self.instance_of(of)
            }
            NodeMeaning::Same => {
                let inner = inner_child(node, rule)?;
                self.read_value(inner, depth)
            }
            NodeMeaning::Index => {
                let receiver = rule.child(node, ChildMeaning::Receiver)?;
                let receiver = self.read_value(receiver, depth)?;
                self.keep(Expression::Element(receiver))
            }
            NodeMeaning::PathRoot => {
                // `super` of a module inside of the file is the file.
                let in_module = self.open.iter().any(|open| open.kind == SymbolKind::Module);
                let text = self.text_of(node);
                let name = self.intern(if text == "super" && in_module {
                    "self"
                } else {
                    text
                });
                self.keep(Expression::Name(name))
            }
            NodeMeaning::Builtin => self.keep(Expression::Builtin),
            meaning @ (NodeMeaning::This | NodeMeaning::Super | NodeMeaning::ThisType) => {
                self.read_special(meaning)
            }
            // A type can be used as a value: `Vec<Row>::new()`.
            NodeMeaning::Generic => {
                let base = rule.child(node, ChildMeaning::Inner)?;
                self.read_value(base, depth)
            }
            _ => None,
        }
    }

    /// The result of a call.
    fn read_call(&mut self, node: Node<'_>, rule: &NodeRule, depth: u8) -> Option<ExpressionId> {
        let callee = rule
            .child(node, ChildMeaning::Callee)
            .or_else(|| rule.child(node, ChildMeaning::Member))?;
        if let Some(object) = self.transparent_object(callee) {
            return self.read_value(object, depth);
        }
        if self.rules.traits.self_parameter && self.text_of(callee) == "super" {
            let class = self.enclosing_type()?;
            return self.keep(Expression::Super(class));
        }
        // Members of a call without a receiver of its own: `row.first("x")` in one node.
        let value = match rule.child(node, ChildMeaning::Receiver) {
            Some(receiver) => {
                let receiver = self.read_value(receiver, depth)?;
                let name = self.name_of_member(callee)?;
                match self.rules.traits.constructor {
                    Some(constructor) if self.symbols.name(name) == constructor => receiver,
                    _ => self.keep(Expression::Member(receiver, name))?,
                }
            }
            None => self.read_value(callee, depth)?,
        };
        self.keep(Expression::Call(value))
    }

    /// A receiver that would be a definition only if it were called is a local variable.
    fn read_receiver(&mut self, node: Node<'_>, depth: u8) -> Option<ExpressionId> {
        let is_called_name = self.rules.of(node).meaning == Some(NodeMeaning::CalledName);
        if is_called_name && self.special_meaning(self.text_of(node)).is_none() {
            return None;
        }
        self.read_value(node, depth)
    }

    /// The object that a member is taken of, as far as the text describes it.
    pub(super) fn receiver_of(&mut self, node: Node<'_>) -> Option<ExpressionId> {
        self.read_receiver(node, MAX_EXPRESSION_DEPTH)
    }

    /// The value of `this`, `super` and the like.
    fn read_special(&mut self, meaning: NodeMeaning) -> Option<ExpressionId> {
        match meaning {
            NodeMeaning::This => self.this(),
            NodeMeaning::Super => {
                let class = self.enclosing_type()?;
                self.keep(Expression::Super(class))
            }
            NodeMeaning::ThisType => {
                let class = self.enclosing_type()?;
                self.keep(Expression::Definition(class))
            }
            NodeMeaning::Builtin => self.keep(Expression::Builtin),
            _ => None,
        }
    }

    /// The meaning of an identifier that is a word of the language.
    pub(super) fn special_meaning(&self, name: &str) -> Option<NodeMeaning> {
        let names = self.rules.traits.special_names;
        Some(names.iter().find(|(special, _)| *special == name)?.1)
    }

    pub(super) fn without_sigil(&self, name: &'a str) -> &'a str {
        name.trim_start_matches(self.rules.traits.sigils)
    }

    /// The object of a call that returns it: `row` in `row.clone()`.
    fn transparent_object<'t>(&self, callee: Node<'t>) -> Option<Node<'t>> {
        let calls = self.rules.traits.transparent_calls;
        let rule = self.rules.of(callee);
        if calls.is_empty() || rule.meaning != Some(NodeMeaning::Access) {
            return None;
        }
        let member = self.text_of(rule.child(callee, ChildMeaning::Member)?);
        let is_transparent = calls.split(' ').any(|call| call == member);
        rule.child(callee, ChildMeaning::Receiver)
            .filter(|_| is_transparent)
    }

    /// The object that the current method runs on.
    pub(super) fn this(&mut self) -> Option<ExpressionId> {
        if let Some(class) = self.enclosing_type() {
            return self.keep(Expression::This(class));
        }
        // `void Row::render() { this->… }` stands outside of its class.
        let scope = self
            .open
            .iter()
            .rev()
            .map(|open| self.symbols.definitions[open.id.0 as usize].scope);
        let scope = scope
            .into_iter()
            .find(|scope| !self.symbols.name(*scope).is_empty())?;
        let name = self.symbols.name(scope);
        let last = name.rsplit('.').next().unwrap_or_default().to_owned();
        let name = self.intern_owned(last);
        let class = self.keep(Expression::Name(name))?;
        self.keep(Expression::Instance(class))
    }

    fn name_expression(&mut self, node: Node<'_>) -> Option<ExpressionId> {
        let text = self.text_of(node);
        if text.is_empty() || text.len() > MAX_NAME_BYTES {
            return None;
        }
        let name = self.intern(text);
        match self.scopes.find(name) {
            Some(local) => local.value,
            None if text == THIS_TYPE && self.enclosing_type().is_some() => {
                self.read_special(NodeMeaning::ThisType)
            }
            None => {
                if let Some(meaning) = self.special_meaning(text) {
                    return self.read_special(meaning);
                }
                let name = self.intern(self.without_sigil(text));
                self.keep(Expression::Name(name))
            }
        }
    }

    /// The name behind the dot of an access.
    pub(super) fn member_name(&mut self, node: Node<'_>, rule: &NodeRule) -> Option<NameId> {
        self.name_of_member(rule.child(node, ChildMeaning::Member)?)
    }

    pub(super) fn name_of_member(&mut self, member: Node<'_>) -> Option<NameId> {
        let text = self.without_sigil(self.text_of(self.bare_member(member)));
        (!text.is_empty() && text.len() <= MAX_NAME_BYTES).then(|| self.intern(text))
    }

    /// The identifier in a member that is more than that: `Empty<T>`, `.open`.
    pub(super) fn bare_member<'t>(&self, member: Node<'t>) -> Node<'t> {
        let rule = self.rules.of(member);
        match rule.meaning {
            Some(NodeMeaning::Same | NodeMeaning::Generic) => inner_child(member, rule).unwrap_or(member),
            _ => member,
        }
    }

    /// A value of the type that a node names.
    pub(super) fn instance_of(&mut self, node: Node<'_>) -> Option<ExpressionId> {
        self.read_instance(node, MAX_EXPRESSION_DEPTH)
    }

    fn read_instance(&mut self, node: Node<'_>, depth: u8) -> Option<ExpressionId> {
        let depth = depth.checked_sub(1)?;
        let rule = self.rules.of(node);
        match rule.meaning? {
            // `std::vector<Row>`
            NodeMeaning::Access if rule.child(node, ChildMeaning::Member).is_none() => {
                let inner = rule.child(node, ChildMeaning::Inner)?;
                self.read_instance(inner, depth)
            }
            NodeMeaning::Same => {
                let inner = inner_child(node, rule)?;
                self.read_instance(inner, depth)
            }
            NodeMeaning::Collection => {
                let inner = inner_child(node, rule)?;
                let inner = self.read_instance(inner, depth)?;
                self.keep(Expression::Collection(inner))
            }
            NodeMeaning::Union => {
                let mut cursor = node.walk();
                let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                let text = self.text;
                let is_something =
                    |part: &Node<'_>| !is_nothing(text.get(part.byte_range()).unwrap_or_default());
                parts
                    .into_iter()
                    .filter(is_something)
                    .find_map(|part| self.read_instance(part, depth))
            }
            NodeMeaning::Generic => self.read_generic(node, rule, depth),
            // A type that is written as a text is a name that is defined later.
            NodeMeaning::Builtin => {
                let text = self.text_of(node);
                let name = text.trim_matches(['"', '\'']);
                let is_name = name.len() < text.len()
                    && !name.is_empty()
                    && name.len() <= MAX_NAME_BYTES
                    && name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if !is_name {
                    return self.keep(Expression::Builtin);
                }
                let name = self.intern(name);
                let of = self.keep(Expression::Name(name))?;
                self.keep(Expression::Instance(of))
            }
            NodeMeaning::ThisType => {
                let class = self.enclosing_type()?;
                self.keep(Expression::This(class))
            }
            // The first of several results: `(row *Row, err error)`.
            NodeMeaning::Bind => {
                let written = rule.child(node, ChildMeaning::Type)?;
                self.read_instance(written, depth)
            }
            _ => {
                let of = self.read_value(node, depth)?;
                self.keep(Expression::Instance(of))
            }
        }
    }

    /// `Promise<Row>` is a row, `List<Row>` is a collection of rows, and `Page<Row>` is a page.
    fn read_generic(&mut self, node: Node<'_>, rule: &NodeRule, depth: u8) -> Option<ExpressionId> {
        let base = rule.child(node, ChildMeaning::Inner)?;
        let name = self.text_of(base);
        let name = name.rsplit(['.', ':']).next().unwrap_or_default();
        let is_in = |list: &str| list.split(' ').any(|entry| !entry.is_empty() && entry == name);
        let argument = rule.child(node, ChildMeaning::Argument);
        let last_argument =
            |node: Node<'_>| -> Option<usize> { Some(node.named_child_count()).filter(|count| *count > 0) };
        if is_in(TRANSPARENT_TYPES) {
            let argument = argument?;
            let first = if is_list(argument) {
                argument.named_child(0)?
            } else {
                argument
            };
            return self.read_instance(first, depth);
        }
        if is_in(COLLECTION_TYPES) {
            let argument = argument?;
            // The values of a map are its last argument.
            let last = match last_argument(argument) {
                Some(count) if is_list(argument) => argument.named_child(to_u32(count - 1))?,
                _ => argument,
            };
            let inner = self.read_instance(last, depth)?;
            return self.keep(Expression::Collection(inner));
        }
        self.read_instance(base, depth)
    }
}

fn is_list(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("arguments")
        || kind.ends_with("parameter")
        || kind.ends_with("list")
        || kind == "type_parameter"
}

/// The child that a node stands for: the one that its rule names, or the first.
pub(super) fn inner_child<'t>(node: Node<'t>, rule: &NodeRule) -> Option<Node<'t>> {
    rule.child(node, ChildMeaning::Inner)
        .or_else(|| node.named_child(0))
}

fn is_nothing(type_text: &str) -> bool {
    matches!(
        type_text,
        "null" | "undefined" | "None" | "nil" | "void" | "NoneType"
    )
}

pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
