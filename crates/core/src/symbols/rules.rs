//! The rules of a language: which nodes of its syntax tree are uses, scopes, bindings and definitions.
//!
//! `queries/LANGUAGE.scm` is written in tree-sitter's query syntax, one level deep: a node, and those of its
//! children that mean something. Unlike in a query, every child is optional and is read on its own. A table
//! by node kind is made of it, because a query over the whole tree would cost a third of the parse.
//!
//! `rule_patterns` reads the files, `rule_rows` says which languages have one.

use std::sync::OnceLock;

use tree_sitter::{Language as SyntaxLanguage, Node};

use super::rule_patterns::compile;
pub(super) use super::rule_rows::LanguageTraits;
use super::rule_rows::ROWS;
use crate::chunk::syntax_of;
use crate::language::Language;

/// The rules of one grammar, by node kind.
pub(super) struct Rules {
    nodes: Vec<NodeRule>,
    /// By node kind: true for signs and keywords.
    tokens: Vec<bool>,
    pub(super) traits: LanguageTraits,
}

/// The meaning of a node and of its children.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeRule {
    pub(super) meaning: Option<NodeMeaning>,
    pub(super) scope: Option<ScopeKind>,
    pub(super) children: Vec<ChildRule>,
}

/// A child that means something.
#[derive(Clone, Debug)]
pub(super) struct ChildRule {
    pub(super) field: Option<u16>,
    /// Empty for any kind.
    pub(super) kinds: Vec<u16>,
    pub(super) place: ChildPlace,
    pub(super) meaning: ChildMeaning,
}

/// The place of a child among its siblings, as anchors say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChildPlace {
    Any,
    /// `. (kind) @capture`
    First,
    /// `(kind) @capture .`
    Last,
    /// `(before) . (kind) @capture`: directly behind a node of one of these kinds.
    Behind(Vec<u16>),
}

/// A scope for local names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Block,
    /// A function without a name: its `return` is not that of the definition around it.
    Lambda,
    /// A scope whose names are bound behind their uses: `[x.name for x in rows]`.
    Comprehension,
}

/// The meaning of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeMeaning {
    /// An identifier.
    Name,
    /// An identifier in a type.
    TypeName,
    /// An identifier that names a definition only if it is called: a word of a shell script.
    CalledName,
    /// The name of a constructor, which a pattern uses and does not bind.
    ConstructorName,
    /// The name of a member whose receiver is not next to it.
    MemberName,
    /// A member of the object itself, written without a receiver: `@rows`.
    OwnMember,
    /// `a.b`
    Access,
    /// `f()`, `new C()`
    Call,
    /// A value of a type that is written beside it: `C { … }`, `x as C`.
    Construct,
    /// A node that means the same as its child: parentheses, `await`, pointers.
    Same,
    /// `a[0]`
    Index,
    /// The type of a collection: `[]C`.
    Collection,
    /// A type with arguments: `List<C>`.
    Generic,
    /// One of several types: `C | null`.
    Union,
    /// A literal.
    Builtin,
    /// `this`, `self`
    This,
    /// `super`, `parent`
    Super,
    /// `Self` and `static` as types.
    ThisType,
    /// The first name of a path that is no definition: `crate`, `super`.
    PathRoot,
    /// Binds a name in its scope, or defines a variable or field.
    Bind,
    /// Binds a name inside a function, and defines nothing but a marked field outside of one, such as in the
    /// type of a function pointer. A type parameter is bound in the type that has it, too.
    Parameter,
    /// Assigns to a name that exists; `this.x = …` defines a field.
    Assign,
    Constant,
    Field,
    Variable,
    Macro,
    /// Text of a macro that the grammar does not parse.
    MacroText,
    Import,
    /// An export statement, which may import too.
    Export,
    /// The package clause.
    Package,
    /// Comments and other nodes without uses.
    Skip,
}

/// The meaning of a child for its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildMeaning {
    Callee,
    Receiver,
    Member,
    /// The name that is bound.
    Target,
    Type,
    Value,
    /// A collection whose elements are bound.
    Element,
    Inner,
    Argument,
    /// The type that a function returns.
    Result,
    /// A value that a function returns.
    Return,
    Base,
    Module,
    Imported,
    Alias,
    /// The name by which an imported module is bound.
    Namespace,
    Default,
    Wildcard,
    /// Marks a parameter that is a field too: `constructor(private rows: Row[])`.
    FieldMark,
    /// A name that other files can import: `export default f`.
    Exported,
    /// The name of a field in a literal.
    Key,
    /// Marks a definition that only its own file can use, if it says `static`.
    LocalMark,
    Ignore,
}

const LANGUAGES: usize = Language::ALL.len();

/// Rules that find no uses, for a language without a rule file.
pub(super) static NO_RULES: Rules = Rules {
    nodes: Vec::new(),
    tokens: Vec::new(),
    traits: LanguageTraits::PLAIN,
};

/// The rules of a language. `None` for one whose uses are not read.
pub(super) fn load(language: Language) -> Option<&'static Rules> {
    // By language and not by row: TypeScript, TSX and JavaScript share rules, but number their nodes each in
    // their own way.
    static LOADED: [OnceLock<Option<Rules>>; LANGUAGES] = [const { OnceLock::new() }; LANGUAGES];
    let row = ROWS.iter().find(|row| row.languages.contains(&language))?;
    LOADED[language as usize]
        .get_or_init(|| {
            let syntax = syntax_of(language)?;
            let nodes = compile(row.rules, &syntax);
            Some(Rules {
                tokens: find_tokens(&syntax, &nodes),
                nodes,
                traits: row.traits,
            })
        })
        .as_ref()
}

/// By node kind: true for signs and keywords, unless a rule names them.
fn find_tokens(syntax: &SyntaxLanguage, nodes: &[NodeRule]) -> Vec<bool> {
    let is_plain =
        |rule: &NodeRule| rule.meaning.is_none() && rule.scope.is_none() && rule.children.is_empty();
    let kinds = (0_u16..).zip(nodes);
    kinds
        .map(|(kind, rule)| is_plain(rule) && !syntax.node_kind_is_named(kind))
        .collect()
}

impl Rules {
    /// True for a sign or keyword that no rule is about.
    pub(super) fn is_token(&self, node: Node<'_>) -> bool {
        let kind = usize::from(node.kind_id());
        self.tokens.get(kind).copied().unwrap_or_default()
    }

    pub(super) fn of(&self, node: Node<'_>) -> &NodeRule {
        static NONE: NodeRule = NodeRule {
            meaning: None,
            scope: None,
            children: Vec::new(),
        };
        self.nodes.get(usize::from(node.kind_id())).unwrap_or(&NONE)
    }
}

impl NodeMeaning {
    /// True for names of definitions and of members, which have no parts.
    pub(super) fn is_identifier(self) -> bool {
        matches!(
            self,
            Self::Name
                | Self::TypeName
                | Self::CalledName
                | Self::ConstructorName
                | Self::MemberName
                | Self::OwnMember
        )
    }
}

impl NodeRule {
    /// The meaning of a child for this node.
    pub(super) fn meaning_of_child(&self, child: Node<'_>, field: Option<u16>) -> Option<ChildMeaning> {
        let kind = child.kind_id();
        let rule = self.children.iter().find(|rule| {
            (rule.field.is_none() || rule.field == field)
                && (rule.kinds.is_empty() || rule.kinds.contains(&kind))
                && rule.place.holds(child)
        })?;
        Some(rule.meaning)
    }

    /// Whether a child can have this meaning.
    pub(super) fn names(&self, meaning: ChildMeaning) -> bool {
        self.children.iter().any(|rule| rule.meaning == meaning)
    }

    /// Whether the member is the last child, in a grammar without a field for it.
    pub(super) fn has_member_last(&self) -> bool {
        let is_last = |rule: &ChildRule| rule.meaning == ChildMeaning::Member && rule.field.is_none();
        self.children.iter().any(is_last)
    }

    /// The first child of `node` with a meaning.
    pub(super) fn child<'a>(&self, node: Node<'a>, meaning: ChildMeaning) -> Option<Node<'a>> {
        self.children
            .iter()
            .filter(|rule| rule.meaning == meaning)
            .find_map(|rule| rule.find(node))
    }
}

impl ChildRule {
    fn find<'a>(&self, node: Node<'a>) -> Option<Node<'a>> {
        let is_kind = |child: &Node<'_>| {
            let is_kind = if self.kinds.is_empty() {
                self.field.is_some() || child.is_named()
            } else {
                self.kinds.contains(&child.kind_id())
            };
            is_kind && self.place.holds(*child)
        };
        let mut cursor = node.walk();
        match self.field.and_then(std::num::NonZero::new) {
            Some(field) => node.children_by_field_id(field, &mut cursor).find(is_kind),
            None if self.meaning == ChildMeaning::Member => node.children(&mut cursor).filter(is_kind).last(),
            None => node.children(&mut cursor).find(is_kind),
        }
    }
}

impl ChildPlace {
    fn holds(&self, child: Node<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::First => child.is_named() && child.prev_named_sibling().is_none(),
            Self::Last => child.is_named() && child.next_named_sibling().is_none(),
            Self::Behind(kinds) => {
                let is_before =
                    |before: Option<Node<'_>>| before.is_some_and(|before| kinds.contains(&before.kind_id()));
                is_before(child.prev_sibling()) || is_before(child.prev_named_sibling())
            }
        }
    }
}
