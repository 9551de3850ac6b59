//! Rule files: patterns in tree-sitter's query syntax, and the table by node kind that is made of them.
//!
//! Invariant: a rule file that names an unknown capture is a bug and panics; a test loads every one.

use tree_sitter::Language as SyntaxLanguage;

use super::rules::{ChildMeaning, ChildPlace, ChildRule, NodeMeaning, NodeRule, ScopeKind};

/// The rules by node kind. A pattern for nodes that this grammar lacks is left out, because grammars of one
/// family share their rules.
pub(super) fn compile(text: &str, syntax: &SyntaxLanguage) -> Vec<NodeRule> {
    let mut nodes = vec![NodeRule::default(); syntax.node_kind_count()];
    for pattern in read_patterns(text) {
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
        .filter(|id| {
            let is_named = syntax.node_kind_is_named(*id);
            match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
                Some(token) => !is_named && syntax.node_kind_for_id(*id) == Some(token),
                None => is_named && syntax.node_kind_for_id(*id) == Some(name),
            }
        })
        .collect()
}

/// The patterns of a rule file.
pub(super) fn read_patterns(text: &str) -> Vec<Pattern<'_>> {
    let mut tokens = tokens(text).into_iter().peekable();
    std::iter::from_fn(|| Pattern::read(&mut tokens)).collect()
}

/// A pattern as it is written.
#[derive(Debug, Default)]
pub(super) struct Pattern<'a> {
    pub(super) kinds: Vec<&'a str>,
    pub(super) children: Vec<PatternChild<'a>>,
    captures: Vec<&'a str>,
}

#[derive(Debug)]
pub(super) struct PatternChild<'a> {
    pub(super) field: Option<&'a str>,
    /// Empty for `(_)`.
    pub(super) kinds: Vec<&'a str>,
    pub(super) place: PatternPlace<'a>,
    capture: &'a str,
}

/// The anchors of a child as they are written.
#[derive(Debug)]
pub(super) enum PatternPlace<'a> {
    Any,
    First,
    Last,
    Behind(Vec<&'a str>),
}

type Tokens<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

impl<'a> Pattern<'a> {
    /// Reads a pattern: `(kind field: (kind) @capture …) @capture …`, `[(kind) (kind)] @capture` or
    /// `"token" @capture`.
    fn read(tokens: &mut Tokens<'a>) -> Option<Self> {
        let mut pattern = Self::default();
        match tokens.next()? {
            "[" => pattern.kinds = read_kinds(tokens),
            "(" => {
                pattern.kinds.push(tokens.next()?);
                let mut is_first = false;
                while tokens.peek() != Some(&")") {
                    if tokens.next_if_eq(&".").is_some() {
                        is_first = pattern.children.is_empty();
                        continue;
                    }
                    pattern.children.push(PatternChild::read(tokens, is_first)?);
                    is_first = false;
                }
                tokens.next();
            }
            token if token.starts_with('"') => pattern.kinds.push(token),
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
    fn read(tokens: &mut Tokens<'a>, is_first: bool) -> Option<Self> {
        let mut place = if is_first {
            PatternPlace::First
        } else {
            PatternPlace::Any
        };
        let mut field = tokens.next_if(|token| token.ends_with(':'));
        let mut kinds = read_child_kinds(tokens)?;
        // A child without a capture says where the next one stands.
        if tokens.next_if_eq(&".").is_some() {
            place = PatternPlace::Behind(kinds);
            field = tokens.next_if(|token| token.ends_with(':'));
            kinds = read_child_kinds(tokens)?;
        }
        let capture = tokens.next()?.trim_start_matches('@');
        if tokens.peek() == Some(&".") {
            let mut following = tokens.clone();
            following.next();
            if following.next() == Some(")") {
                place = PatternPlace::Last;
            }
        }
        Some(Self {
            field: field.map(|field| field.trim_end_matches(':')),
            kinds: kinds.into_iter().filter(|kind| *kind != "_").collect(),
            place,
            capture,
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
        let place = match &self.place {
            PatternPlace::Any => ChildPlace::Any,
            PatternPlace::First => ChildPlace::First,
            PatternPlace::Last => ChildPlace::Last,
            PatternPlace::Behind(names) => {
                ChildPlace::Behind(names.iter().flat_map(|name| kinds_named(syntax, name)).collect())
            }
        };
        (self.kinds.is_empty() || !kinds.is_empty()).then_some(ChildRule {
            field,
            kinds,
            place,
            meaning,
        })
    }
}

/// The kinds of a child: `(kind)`, `[(kind) (kind)]` or `"token"`.
fn read_child_kinds<'a>(tokens: &mut Tokens<'a>) -> Option<Vec<&'a str>> {
    Some(match tokens.next()? {
        "[" => read_kinds(tokens),
        "(" => {
            let kind = tokens.next()?;
            tokens.next();
            vec![kind]
        }
        token if token.starts_with('"') => vec![token],
        other => panic!("a child begins with a bracket, not {other}"),
    })
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
        "called_name" => NodeMeaning::CalledName,
        "constructor_name" => NodeMeaning::ConstructorName,
        "member_name" => NodeMeaning::MemberName,
        "own_member" => NodeMeaning::OwnMember,
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
