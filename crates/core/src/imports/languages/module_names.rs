//! C#, Elixir and Swift: imports that name a namespace or a module.
//!
//! Any file of the project may declare a namespace or module, so these imports are read and are always
//! external.
//!
//! Invariant: no import of these languages resolves to a file.

use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::{Import, MAX_IMPORTS_PER_STATEMENT};
use crate::language::Language;

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["//", "#"],
    word_signs: &['.'],
    ..C_LIKE
};

pub(super) fn read_statement(language: Language, statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    let keywords: &[&str] = match language {
        Language::CSharp => &["using"],
        Language::Elixir => &["alias", "import", "require", "use"],
        _ => &["import"],
    };
    let Some(at) = tokens
        .iter()
        .position(|token| keywords.iter().any(|word| token.is_word(word)))
    else {
        return Vec::new();
    };
    let after = &tokens[at + 1..];
    match language {
        Language::CSharp => read_using(after),
        Language::Elixir => read_modules(after),
        // The name is the last word of `import struct Kit.View`.
        _ => after
            .iter()
            .rfind(|token| token.kind == TokenKind::Word)
            .map(import_at)
            .into_iter()
            .collect(),
    }
}

fn import_at(token: &Token<'_>) -> Import {
    Import {
        written: token.text.to_owned(),
        line: token.line,
    }
}

/// Reads `using A.B`, `using static A.B` and `using X = A.B`, but not the `using` statement.
fn read_using(tokens: &[Token<'_>]) -> Vec<Import> {
    let is_statement = tokens
        .first()
        .is_none_or(|first| first.is_sign("(") || first.is_word("var"));
    let start = tokens
        .iter()
        .position(|token| token.is_sign("="))
        .map_or(0, |at| at + 1);
    let name = tokens[start..]
        .iter()
        .find(|token| token.kind == TokenKind::Word && !token.is_word("static"));
    name.filter(|_| !is_statement)
        .map(import_at)
        .into_iter()
        .collect()
}

/// Reads `A.B`, and `A.{B, C}` as two imports. Options after the name are ignored.
fn read_modules(tokens: &[Token<'_>]) -> Vec<Import> {
    let Some((first, rest)) = tokens
        .split_first()
        .filter(|(first, _)| first.kind == TokenKind::Word)
    else {
        return Vec::new();
    };
    if !first.text.ends_with('.') {
        return vec![import_at(first)];
    }
    let inner = rest
        .iter()
        .take_while(|token| !token.is_sign("}"))
        .filter(|token| token.kind == TokenKind::Word);
    inner
        .take(MAX_IMPORTS_PER_STATEMENT)
        .map(|token| Import {
            written: format!("{}{}", first.text, token.text),
            line: token.line,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn module_names_are_read_and_external() {
        for (language, statement, expected) in [
            ("csharp", "using System.Text;", vec!["System.Text"]),
            ("csharp", "global using static System.Math;", vec!["System.Math"]),
            (
                "csharp",
                "using Json = System.Text.Json;",
                vec!["System.Text.Json"],
            ),
            ("csharp", "using (var x = Open()) {}", vec![]),
            ("csharp", "using var x = Open();", vec![]),
            (
                "elixir",
                "alias Shop.{Cart, Item}",
                vec!["Shop.Cart", "Shop.Item"],
            ),
            ("elixir", "use GenServer, restart: :temporary", vec!["GenServer"]),
            ("swift", "@testable import Shop", vec!["Shop"]),
            ("swift", "import struct Kit.View", vec!["Kit.View"]),
            ("swift", "let x = 1", vec![]),
        ] {
            assert_eq!(written(language, statement), expected, "{statement}");
            for target in Sample::of(&["Shop.swift", "System/Text.cs"]).resolve(language, "x", statement) {
                assert_eq!(target, "external", "{statement}");
            }
        }
    }
}
