//! The grammars there are, each with its query: `queries/LANGUAGE.scm`. A language is a row here and a file there.
//!
//! Grammars are compiled in and their queries prepared when a file of the language is first met. Five of them are half of the
//! binary; built without the feature `large-grammars`, their languages are cut by lines.

use std::sync::OnceLock;

use tree_sitter::{Language as SyntaxLanguage, Query};
use tree_sitter_language::LanguageFn;

use crate::language::Language;

/// A language that can be parsed.
pub(super) struct Grammar {
    pub(super) syntax: SyntaxLanguage,
    pub(super) query: Query,
    /// By kind of node: whether a pattern of the query begins there.
    pub(super) begins: Vec<bool>,
    /// By kind of node: what it is to a definition beside it.
    pub(super) beside: Vec<Beside>,
    /// By index of a capture.
    pub(super) captures: Vec<Capture>,
}

/// What a node can be to the definition that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    Comment,
    /// An attribute, decorator or annotation.
    Attribute,
    /// Holds the definition with what is said about it.
    Wrapper,
}

/// What a query says about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    Definition(super::ChunkKind),
    Name,
    Scope,
    Body,
    Doc,
    Import,
    /// What only a predicate looks at.
    Unseen,
}

/// Identifiers of languages, their grammar, and its query.
const ROWS: &[GrammarRow] = &[
    row(
        &[Language::Rust],
        tree_sitter_rust::LANGUAGE,
        include_str!("queries/rust.scm"),
    ),
    // Pages have it in their scripts; see `pages`.
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

/// Which patterns of a query are asked. Some queries of definitions take a fifth of a second to prepare, which nobody should wait
/// for who asks about imports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryPart {
    Definitions,
    Imports,
}

/// The grammar of a language with a part of its query; nothing for a language that has none here.
pub(super) fn load(language: Language, part: QueryPart) -> Option<&'static Grammar> {
    static READY: [[OnceLock<Grammar>; 2]; ROWS.len()] =
        [const { [const { OnceLock::new() }; 2] }; ROWS.len()];
    let at = row_index(language)?;
    Some(READY[at][part as usize].get_or_init(|| Grammar::new(&ROWS[at], part)))
}

/// Whether a language has a grammar.
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
        let of_part = |pattern: &&str| pattern.contains("@import") == (part == QueryPart::Imports);
        let asked: Vec<&str> = patterns(row.query).into_iter().filter(of_part).collect();
        let text = &asked.join("\n");
        let syntax = SyntaxLanguage::new(row.syntax);
        let query = Query::new(&syntax, text)
            .unwrap_or_else(|error| panic!("the query of {} is one of ours: {error}", row.languages[0]));
        let roots = roots(text);
        let kinds = || (0..syntax.node_kind_count()).map(|id| u16::try_from(id).unwrap_or(u16::MAX));
        let name = |id: u16| syntax.node_kind_for_id(id).unwrap_or_default();
        let begins = kinds().map(|id| roots.contains(&name(id))).collect();
        // Elixir says things about a function with operators: `@spec`, `@impl`.
        let says = |id: u16| row.languages == [Language::Elixir] && name(id) == "unary_operator";
        let beside = kinds()
            .map(|id| {
                if says(id) {
                    Beside::Attribute
                } else {
                    Beside::of(name(id))
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
            begins,
            beside,
            captures,
        }
    }
}

impl Beside {
    fn of(kind: &str) -> Self {
        match kind {
            "export_statement"
            | "decorated_definition"
            | "template_declaration"
            | "ambient_declaration"
            | "lexical_declaration"
            | "variable_declaration" => Self::Wrapper,
            // What belongs to the language itself, not to what is written about a definition.
            "attribute_declaration" | "attributed_statement" => Self::Nothing,
            "haddock" => Self::Comment,
            _ if kind.contains("comment") => Self::Comment,
            _ if ["attribute", "decorator", "annotation"]
                .iter()
                .any(|word| kind.contains(word)) =>
            {
                Self::Attribute
            }
            _ => Self::Nothing,
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
            _ if name.starts_with('_') => Self::Unseen,
            _ => return None,
        })
    }
}

/// The kinds of nodes at which the patterns of a query begin: `(kind …)` at the top, in an alternation or a group there.
fn roots(query: &str) -> Vec<&str> {
    let mut roots = Vec::new();
    // Whether each parenthesis that is open belongs to a node, or only groups.
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
                // A predicate, `(#eq? …)`, is no group of nodes.
                open.push(end > 0 || inner.starts_with('#'));
            }
            b')' => drop(open.pop()),
            _ => {}
        }
    }
    roots
}

/// The patterns of a query, each with what is captured and demanded of it.
fn patterns(query: &str) -> Vec<&str> {
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

/// The brackets of a query and where they are, without those in comments and strings.
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
    fn every_grammar_and_its_query_load() {
        for language in all_languages() {
            for part in [QueryPart::Definitions, QueryPart::Imports] {
                let grammar = load(language, part).unwrap();
                assert!(grammar.begins.iter().any(|begins| *begins), "{language}");
            }
        }
    }

    #[test]
    fn patterns_begin_at_the_top() {
        let query = "; (none)\n(a name: (b) @name) @function\n[(c) (d (e))] @type ((f) @x (#eq? @x \"(g)\"))";
        assert_eq!(roots(query), ["a", "c", "d", "f"]);
        assert_eq!(
            patterns(query),
            [
                "(a name: (b) @name) @function\n",
                "[(c) (d (e))] @type ",
                "((f) @x (#eq? @x \"(g)\"))"
            ]
        );
    }
}
