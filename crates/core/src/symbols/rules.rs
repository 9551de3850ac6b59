//! The rules of a language: which nodes of its syntax tree are uses, scopes, bindings and definitions.
//!
//! `queries/LANGUAGE.scm` is written in tree-sitter's query syntax, one level deep: a node, and those of its
//! children that mean something. Unlike in a query, every child is optional and is read on its own. A table
//! by node kind is made of it, because a query over the whole tree would cost a third of the parse.
//!
//! Invariant: a rule file that names an unknown capture, node or field is a bug and panics; a test loads every
//! one.

use std::sync::OnceLock;

use tree_sitter::{Language as SyntaxLanguage, Node};

use crate::chunk::syntax_of;
use crate::language::Language;

/// The rules of one grammar, by node kind.
pub(super) struct Rules {
    nodes: Vec<NodeRule>,
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
    field: Option<u16>,
    /// Empty for any kind.
    kinds: Vec<u16>,
    pub(super) meaning: ChildMeaning,
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
    /// The name of a member whose receiver is not next to it.
    MemberName,
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
    /// Binds a name inside a function, and defines nothing outside of one, such as in the type of a function
    /// pointer. A type parameter is bound in the type that has it, too.
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

/// What the rules cannot say of a language.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub(super) struct LanguageTraits {
    /// The first parameter of a method is the object itself: Python's `self`.
    pub(super) self_parameter: bool,
    /// A call with several results binds the first of them to the first name.
    pub(super) several_results: bool,
    /// Capitals make a constant of a variable.
    pub(super) constants_by_case: bool,
    /// A function inside a function is a mistake of the parser, which lost a bracket to the preprocessor.
    pub(super) flat_functions: bool,
    /// A name with a capital in a pattern is a constant or a type, and binds nothing.
    pub(super) constants_in_patterns: bool,
    /// Methods that return their object, or a part of it that has the same type here: `unwrap`.
    pub(super) transparent_calls: &'static str,
}

struct RuleRow {
    languages: &'static [Language],
    rules: &'static str,
    traits: LanguageTraits,
}

const PLAIN: LanguageTraits = LanguageTraits {
    self_parameter: false,
    several_results: false,
    constants_by_case: false,
    flat_functions: false,
    constants_in_patterns: false,
    transparent_calls: "",
};

const ROWS: &[RuleRow] = &[
    RuleRow {
        languages: &[
            Language::TypeScript,
            Language::Vue,
            Language::Svelte,
            Language::TypeScriptReact,
            Language::JavaScript,
            Language::JavaScriptReact,
        ],
        rules: include_str!("queries/typescript.scm"),
        traits: PLAIN,
    },
    RuleRow {
        languages: &[Language::Python],
        rules: include_str!("queries/python.scm"),
        traits: LanguageTraits {
            self_parameter: true,
            constants_by_case: true,
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Go],
        rules: include_str!("queries/go.scm"),
        traits: LanguageTraits {
            several_results: true,
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::C],
        rules: include_str!("queries/c.scm"),
        traits: LanguageTraits {
            flat_functions: true,
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Cpp, Language::CudaCpp],
        rules: include_str!("queries/cpp.scm"),
        traits: PLAIN,
    },
    RuleRow {
        languages: &[Language::Java],
        rules: include_str!("queries/java.scm"),
        traits: PLAIN,
    },
    RuleRow {
        languages: &[Language::Rust],
        rules: include_str!("queries/rust.scm"),
        traits: LanguageTraits {
            constants_in_patterns: true,
            transparent_calls: " unwrap expect unwrap_or_default clone cloned to_owned as_ref as_mut as_deref borrow \
                borrow_mut lock iter iter_mut into_iter ",
            ..PLAIN
        },
    },
];

const LANGUAGES: usize = Language::ALL.len();

/// Rules that find no uses, for a language without a rule file.
pub(super) static NO_RULES: Rules = Rules {
    nodes: Vec::new(),
    traits: PLAIN,
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
            Some(Rules {
                nodes: compile(row.rules, &syntax),
                traits: row.traits,
            })
        })
        .as_ref()
}

impl Rules {
    pub(super) fn of(&self, node: Node<'_>) -> &NodeRule {
        static NONE: NodeRule = NodeRule {
            meaning: None,
            scope: None,
            children: Vec::new(),
        };
        self.nodes.get(usize::from(node.kind_id())).unwrap_or(&NONE)
    }
}

impl NodeRule {
    /// The meaning of a child for this node.
    pub(super) fn meaning_of_child(&self, kind: u16, field: Option<u16>) -> Option<ChildMeaning> {
        let rule = self.children.iter().find(|rule| {
            (rule.field.is_none() || rule.field == field)
                && (rule.kinds.is_empty() || rule.kinds.contains(&kind))
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
        let is_kind = |child: &Node<'_>| self.kinds.is_empty() || self.kinds.contains(&child.kind_id());
        if let Some(field) = self.field {
            return node.child_by_field_id(field).filter(is_kind);
        }
        let mut cursor = node.walk();
        let mut children = node.named_children(&mut cursor).filter(is_kind);
        if self.meaning == ChildMeaning::Member {
            children.last()
        } else {
            children.next()
        }
    }
}

/// The rules by node kind. A pattern for nodes that this grammar lacks is left out, because grammars of one
/// family share their rules.
fn compile(text: &str, syntax: &SyntaxLanguage) -> Vec<NodeRule> {
    let mut nodes = vec![NodeRule::default(); syntax.node_kind_count()];
    let mut tokens = tokens(text).into_iter().peekable();
    while let Some(pattern) = Pattern::read(&mut tokens) {
        let children: Vec<ChildRule> = pattern
            .children
            .iter()
            .filter_map(|child| child.compile(syntax))
            .collect();
        for kind in pattern.kinds.iter().flat_map(|name| kinds_named(syntax, name)) {
            let rule = &mut nodes[usize::from(kind)];
            for capture in &pattern.captures {
                match scope_kind(capture) {
                    Some(scope) => rule.scope = Some(scope),
                    None => {
                        rule.meaning = Some(
                            node_meaning(capture).unwrap_or_else(|| panic!("an unknown capture: @{capture}")),
                        );
                    }
                }
            }
            rule.children.extend(children.iter().cloned());
        }
    }
    nodes
}

fn kinds_named(syntax: &SyntaxLanguage, name: &str) -> Vec<u16> {
    (0..syntax.node_kind_count())
        .filter_map(|id| u16::try_from(id).ok())
        .filter(|id| syntax.node_kind_is_named(*id) && syntax.node_kind_for_id(*id) == Some(name))
        .collect()
}

/// A pattern as it is written.
#[derive(Debug, Default)]
struct Pattern<'a> {
    kinds: Vec<&'a str>,
    children: Vec<PatternChild<'a>>,
    captures: Vec<&'a str>,
}

#[derive(Debug)]
struct PatternChild<'a> {
    field: Option<&'a str>,
    /// Empty for `(_)`.
    kinds: Vec<&'a str>,
    capture: &'a str,
}

type Tokens<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

impl<'a> Pattern<'a> {
    /// Reads a pattern: `(kind field: (kind) @capture …) @capture …` or `[(kind) (kind)] @capture`.
    fn read(tokens: &mut Tokens<'a>) -> Option<Self> {
        let mut pattern = Self::default();
        match tokens.next()? {
            "[" => pattern.kinds = read_kinds(tokens),
            "(" => {
                pattern.kinds.push(tokens.next()?);
                while tokens.peek() != Some(&")") {
                    pattern.children.push(PatternChild::read(tokens)?);
                }
                tokens.next();
            }
            other => panic!("a pattern begins with a bracket, not {other}"),
        }
        while let Some(capture) = tokens.peek().and_then(|token| token.strip_prefix('@')) {
            pattern.captures.push(capture);
            tokens.next();
        }
        Some(pattern)
    }
}

impl<'a> PatternChild<'a> {
    fn read(tokens: &mut Tokens<'a>) -> Option<Self> {
        let field = tokens.next_if(|token| token.ends_with(':'));
        let kinds = match tokens.next()? {
            "[" => read_kinds(tokens),
            "(" => {
                let kind = tokens.next()?;
                tokens.next();
                vec![kind]
            }
            other => panic!("a child begins with a bracket, not {other}"),
        };
        Some(Self {
            field: field.map(|field| field.trim_end_matches(':')),
            kinds: kinds.into_iter().filter(|kind| *kind != "_").collect(),
            capture: tokens.next()?.trim_start_matches('@'),
        })
    }

    /// `None` if the grammar has no such field or kind.
    fn compile(&self, syntax: &SyntaxLanguage) -> Option<ChildRule> {
        let meaning =
            child_meaning(self.capture).unwrap_or_else(|| panic!("an unknown capture: @{}", self.capture));
        let field = match self.field {
            Some(name) => Some(syntax.field_id_for_name(name)?.get()),
            None => None,
        };
        let kinds: Vec<u16> = self
            .kinds
            .iter()
            .flat_map(|name| kinds_named(syntax, name))
            .collect();
        (self.kinds.is_empty() || !kinds.is_empty()).then_some(ChildRule {
            field,
            kinds,
            meaning,
        })
    }
}

/// The kinds of an alternation, up to its closing bracket.
fn read_kinds<'a>(tokens: &mut Tokens<'a>) -> Vec<&'a str> {
    tokens
        .by_ref()
        .take_while(|token| *token != "]")
        .filter(|token| !matches!(*token, "(" | ")"))
        .collect()
}

/// Brackets, names, fields and captures of a rule file, without comments.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split(';').next().unwrap_or_default().trim_start();
        while !rest.is_empty() {
            let length = match rest.find(['(', ')', '[', ']', ' ']) {
                Some(0) => 1,
                Some(end) => end,
                None => rest.len(),
            };
            tokens.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

fn scope_kind(capture: &str) -> Option<ScopeKind> {
    Some(match capture {
        "scope" => ScopeKind::Block,
        "lambda" => ScopeKind::Lambda,
        "comprehension" => ScopeKind::Comprehension,
        _ => return None,
    })
}

fn node_meaning(capture: &str) -> Option<NodeMeaning> {
    Some(match capture {
        "name" => NodeMeaning::Name,
        "type_name" => NodeMeaning::TypeName,
        "member_name" => NodeMeaning::MemberName,
        "access" => NodeMeaning::Access,
        "call" => NodeMeaning::Call,
        "construct" => NodeMeaning::Construct,
        "same" => NodeMeaning::Same,
        "index" => NodeMeaning::Index,
        "collection" => NodeMeaning::Collection,
        "generic" => NodeMeaning::Generic,
        "union" => NodeMeaning::Union,
        "builtin" => NodeMeaning::Builtin,
        "this" => NodeMeaning::This,
        "super" => NodeMeaning::Super,
        "this_type" => NodeMeaning::ThisType,
        "path_root" => NodeMeaning::PathRoot,
        "bind" => NodeMeaning::Bind,
        "parameter" => NodeMeaning::Parameter,
        "assign" => NodeMeaning::Assign,
        "constant" => NodeMeaning::Constant,
        "field" => NodeMeaning::Field,
        "variable" => NodeMeaning::Variable,
        "macro" => NodeMeaning::Macro,
        "macro_text" => NodeMeaning::MacroText,
        "import" => NodeMeaning::Import,
        "export" => NodeMeaning::Export,
        "package" => NodeMeaning::Package,
        "skip" => NodeMeaning::Skip,
        _ => return None,
    })
}

fn child_meaning(capture: &str) -> Option<ChildMeaning> {
    Some(match capture {
        "callee" => ChildMeaning::Callee,
        "receiver" => ChildMeaning::Receiver,
        "member" => ChildMeaning::Member,
        "target" => ChildMeaning::Target,
        "type" => ChildMeaning::Type,
        "value" => ChildMeaning::Value,
        "element" => ChildMeaning::Element,
        "inner" => ChildMeaning::Inner,
        "argument" => ChildMeaning::Argument,
        "result" => ChildMeaning::Result,
        "return" => ChildMeaning::Return,
        "base" => ChildMeaning::Base,
        "module" => ChildMeaning::Module,
        "imported" => ChildMeaning::Imported,
        "alias" => ChildMeaning::Alias,
        "namespace" => ChildMeaning::Namespace,
        "default" => ChildMeaning::Default,
        "wildcard" => ChildMeaning::Wildcard,
        "field_mark" => ChildMeaning::FieldMark,
        "key" => ChildMeaning::Key,
        "local_mark" => ChildMeaning::LocalMark,
        "exported" => ChildMeaning::Exported,
        "ignore" => ChildMeaning::Ignore,
        _ => return None,
    })
}
