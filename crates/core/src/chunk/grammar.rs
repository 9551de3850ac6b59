//! The tree-sitter grammars, each with its query in `queries/LANGUAGE.scm`.
//!
//! To add a grammar: a row in [`ROWS`] and a query file. Grammars are compiled into the binary; their queries
//! are compiled when the first file of the language is met. Five grammars make up half of the binary. Without
//! the feature `large-grammars` they are missing, and their languages are cut by lines.
//!
//! Invariant: a query that does not compile is a bug and panics; a test loads every one.

use std::sync::OnceLock;

use tree_sitter::{Language as SyntaxLanguage, Query};
use tree_sitter_language::LanguageFn;

use crate::language::Language;

/// A grammar with its compiled query.
pub(super) struct Grammar {
    pub(super) syntax: SyntaxLanguage,
    pub(super) query: Query,
    /// By node kind: true if a pattern of the query can begin at the node.
    pub(super) starts_pattern: Vec<bool>,
    /// By node kind: its role beside a definition.
    pub(super) roles: Vec<NodeRole>,
    /// By capture index of the query.
    pub(super) captures: Vec<Capture>,
}

/// The role of a node in front of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeRole {
    Other,
    Comment,
    /// An attribute, decorator or annotation.
    Attribute,
    /// Encloses the definition, as `export` does.
    Wrapper,
}

/// The meaning of a capture in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    Definition(super::ChunkKind),
    Name,
    Scope,
    Body,
    Doc,
    Import,
    /// Used by a predicate of the query only.
    PredicateOnly,
}

/// Every grammar: the languages it parses, and its query.
const ROWS: &[GrammarRow] = &[
    row(
        &[Language::Rust],
        tree_sitter_rust::LANGUAGE,
        include_str!("queries/rust.scm"),
    ),
    // Vue and Svelte have TypeScript in their scripts; see `embedded_scripts`.
    row(
        &[Language::TypeScript, Language::Vue, Language::Svelte],
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        concat!(
            include_str!("queries/ecmascript.scm"),
            include_str!("queries/typescript.scm")
        ),
    ),
    row(
        &[Language::TypeScriptReact],
        tree_sitter_typescript::LANGUAGE_TSX,
        concat!(
            include_str!("queries/ecmascript.scm"),
            include_str!("queries/typescript.scm")
        ),
    ),
    row(
        &[Language::JavaScript, Language::JavaScriptReact],
        tree_sitter_javascript::LANGUAGE,
        concat!(
            include_str!("queries/ecmascript.scm"),
            include_str!("queries/javascript.scm")
        ),
    ),
    row(
        &[Language::Python],
        tree_sitter_python::LANGUAGE,
        include_str!("queries/python.scm"),
    ),
    row(
        &[Language::Go],
        tree_sitter_go::LANGUAGE,
        include_str!("queries/go.scm"),
    ),
    row(
        &[Language::Java],
        tree_sitter_java::LANGUAGE,
        include_str!("queries/java.scm"),
    ),
    #[cfg(feature = "large-grammars")]
    row(
        &[Language::Kotlin],
        tree_sitter_kotlin_ng::LANGUAGE,
        include_str!("queries/kotlin.scm"),
    ),
    #[cfg(feature = "large-grammars")]
    row(
        &[Language::Scala],
        tree_sitter_scala::LANGUAGE,
        include_str!("queries/scala.scm"),
    ),
    row(
        &[Language::C],
        tree_sitter_c::LANGUAGE,
        include_str!("queries/c.scm"),
    ),
    row(
        &[Language::Cpp, Language::CudaCpp],
        tree_sitter_cpp::LANGUAGE,
        include_str!("queries/cpp.scm"),
    ),
    #[cfg(feature = "large-grammars")]
    row(
        &[Language::CSharp],
        tree_sitter_c_sharp::LANGUAGE,
        include_str!("queries/csharp.scm"),
    ),
    #[cfg(feature = "large-grammars")]
    row(
        &[Language::Swift],
        tree_sitter_swift::LANGUAGE,
        include_str!("queries/swift.scm"),
    ),
    row(
        &[Language::Ruby],
        tree_sitter_ruby::LANGUAGE,
        include_str!("queries/ruby.scm"),
    ),
    row(
        &[Language::Php],
        tree_sitter_php::LANGUAGE_PHP,
        include_str!("queries/php.scm"),
    ),
    row(
        &[Language::Lua],
        tree_sitter_lua::LANGUAGE,
        include_str!("queries/lua.scm"),
    ),
    row(
        &[Language::Elixir],
        tree_sitter_elixir::LANGUAGE,
        include_str!("queries/elixir.scm"),
    ),
    #[cfg(feature = "large-grammars")]
    row(
        &[Language::Haskell],
        tree_sitter_haskell::LANGUAGE,
        include_str!("queries/haskell.scm"),
    ),
    row(
        &[Language::Zig],
        tree_sitter_zig::LANGUAGE,
        include_str!("queries/zig.scm"),
    ),
    row(
        &[Language::ShellScript],
        tree_sitter_bash::LANGUAGE,
        include_str!("queries/shellscript.scm"),
    ),
];

struct GrammarRow {
    languages: &'static [Language],
    syntax: LanguageFn,
    query: &'static str,
}

const fn row(languages: &'static [Language], syntax: LanguageFn, query: &'static str) -> GrammarRow {
    GrammarRow {
        languages,
        syntax,
        query,
    }
}

/// The part of a query that is compiled. Some queries for definitions take a fifth of a second to compile,
/// and a request for imports should not wait for that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryPart {
    Definitions,
    Imports,
}

/// The grammar of a language with one part of its query; `None` for a language without a grammar.
pub(super) fn load(language: Language, part: QueryPart) -> Option<&'static Grammar> {
    static LOADED: [[OnceLock<Grammar>; 2]; ROWS.len()] =
        [const { [const { OnceLock::new() }; 2] }; ROWS.len()];
    let at = row_index(language)?;
    Some(LOADED[at][part as usize].get_or_init(|| Grammar::new(&ROWS[at], part)))
}

/// The grammar of a language, without a query.
pub(super) fn syntax_of(language: Language) -> Option<SyntaxLanguage> {
    row_index(language).map(|at| SyntaxLanguage::new(ROWS[at].syntax))
}

/// True if a language has a grammar.
pub(super) fn has_grammar(language: Language) -> bool {
    row_index(language).is_some()
}

fn row_index(language: Language) -> Option<usize> {
    ROWS.iter().position(|row| row.languages.contains(&language))
}

/// Every language with a grammar.
#[cfg(test)]
pub(super) fn all_languages() -> impl Iterator<Item = Language> {
    ROWS.iter().flat_map(|row| row.languages.iter().copied())
}

impl Grammar {
    fn new(row: &GrammarRow, part: QueryPart) -> Self {
        let is_in_part = |pattern: &&str| pattern.contains("@import") == (part == QueryPart::Imports);
        let kept: Vec<&str> = split_patterns(row.query).into_iter().filter(is_in_part).collect();
        let text = &kept.join("\n");
        let syntax = SyntaxLanguage::new(row.syntax);
        let query = Query::new(&syntax, text)
            .unwrap_or_else(|error| panic!("the query of {} is one of ours: {error}", row.languages[0]));
        let roots = pattern_roots(text);
        let kinds = || (0..syntax.node_kind_count()).map(|id| u16::try_from(id).unwrap_or(u16::MAX));
        let name = |id: u16| syntax.node_kind_for_id(id).unwrap_or_default();
        let starts_pattern = kinds().map(|id| roots.contains(&name(id))).collect();
        // Elixir writes attributes of a function as operators: `@spec`, `@impl`.
        let is_elixir_attribute =
            |id: u16| row.languages == [Language::Elixir] && name(id) == "unary_operator";
        let roles = kinds()
            .map(|id| {
                if is_elixir_attribute(id) {
                    NodeRole::Attribute
                } else {
                    NodeRole::of(name(id))
                }
            })
            .collect();
        let captures = query
            .capture_names()
            .iter()
            .map(|name| Capture::of(name).unwrap_or_else(|| panic!("no capture is called {name}")))
            .collect();
        Self {
            syntax,
            query,
            starts_pattern,
            roles,
            captures,
        }
    }
}

impl NodeRole {
    fn of(kind: &str) -> Self {
        match kind {
            "export_statement"
            | "decorated_definition"
            | "template_declaration"
            | "ambient_declaration"
            | "lexical_declaration"
            | "variable_declaration" => Self::Wrapper,
            // Declares an attribute or applies to a statement, not to a definition.
            "attribute_declaration" | "attributed_statement" => Self::Other,
            "haddock" => Self::Comment,
            _ if kind.contains("comment") => Self::Comment,
            _ if ["attribute", "decorator", "annotation"]
                .iter()
                .any(|word| kind.contains(word)) =>
            {
                Self::Attribute
            }
            _ => Self::Other,
        }
    }
}

impl Capture {
    fn of(name: &str) -> Option<Self> {
        use super::ChunkKind;
        Some(match name {
            "function" => Self::Definition(ChunkKind::Function),
            "class" => Self::Definition(ChunkKind::Class),
            "interface" => Self::Definition(ChunkKind::Interface),
            "type" => Self::Definition(ChunkKind::Type),
            "module" => Self::Definition(ChunkKind::Module),
            "name" => Self::Name,
            "scope" => Self::Scope,
            "body" => Self::Body,
            "doc" => Self::Doc,
            "import" => Self::Import,
            _ if name.starts_with('_') => Self::PredicateOnly,
            _ => return None,
        })
    }
}

/// The node kinds at which the patterns of a query begin: `(kind …)` at the top level, in an alternation or
/// in a group.
fn pattern_roots(query: &str) -> Vec<&str> {
    let mut roots = Vec::new();
    // For each open parenthesis, whether it belongs to a node or only groups.
    let mut open: Vec<bool> = Vec::new();
    for (at, bracket) in brackets(query) {
        match bracket {
            b'(' => {
                let inner = query[at + 1..].trim_start();
                let end = inner
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(inner.len());
                if end > 0 && !open.contains(&true) {
                    roots.push(&inner[..end]);
                }
                // A predicate such as `(#eq? …)` is no group of nodes.
                open.push(end > 0 || inner.starts_with('#'));
            }
            b')' => drop(open.pop()),
            _ => {}
        }
    }
    roots
}

/// The patterns of a query, each with its captures and predicates.
fn split_patterns(query: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut depth = 0_usize;
    for (at, bracket) in brackets(query) {
        if matches!(bracket, b'(' | b'[') {
            if depth == 0 {
                starts.push(at);
            }
            depth += 1;
        } else {
            depth = depth.saturating_sub(1);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([query.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &query[*start..end])
        .collect()
}

/// The brackets of a query with their positions, without those in comments and strings.
fn brackets(query: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + query[from..].find(['(', ')', '[', ']', ';', '"'])?;
            from = at + 1;
            match query.as_bytes()[at] {
                b';' => from = query[at..].find('\n').map_or(query.len(), |end| at + end),
                b'"' => from = query.len() - after_string(&query[from..]).len(),
                bracket => return Some((at, bracket)),
            }
        }
    })
}

fn after_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grammar_and_every_query_loads() {
        for language in all_languages() {
            for part in [QueryPart::Definitions, QueryPart::Imports] {
                let grammar = load(language, part).unwrap();
                assert!(grammar.starts_pattern.iter().any(|starts| *starts), "{language}");
            }
        }
    }

    #[test]
    fn a_query_is_split_into_its_top_level_patterns() {
        let query = "; (none)\n(a name: (b) @name) @function\n[(c) (d (e))] @type ((f) @x (#eq? @x \"(g)\"))";
        assert_eq!(pattern_roots(query), ["a", "c", "d", "f"]);
        assert_eq!(
            split_patterns(query),
            [
                "(a name: (b) @name) @function\n",
                "[(c) (d (e))] @type ",
                "((f) @x (#eq? @x \"(g)\"))"
            ]
        );
    }
}
