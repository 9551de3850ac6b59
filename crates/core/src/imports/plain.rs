//! Languages whose imports say all there is: a file beside this one in Zig; a name no file is called by in C#,
//! Elixir and Swift.
//!
//! C#'s namespaces, Elixir's and Swift's modules may be in any file of the project, so they are read and always
//! external.
//!
//! Invariant: an import in Zig is a file of the project only with the ending `.zig` or `.zon`.

use super::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use super::place::{extension, join, parent};
use super::survey::ProjectSurvey;
use super::{Import, MAX_IMPORTS_PER_STATEMENT};

static STYLE: LexicalStyle = LexicalStyle {
    word_signs: &['@'],
    ..C_LIKE
};

static DOTTED: LexicalStyle = LexicalStyle {
    line_comments: &["//", "#"],
    word_signs: &['.'],
    ..C_LIKE
};

/// Reads every `@import("x")` of a statement.
pub(super) fn read_zig(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    let windows = tokens.windows(3);
    windows
        .filter_map(|window| match window {
            [word, open, name]
                if word.is_word("@import") && open.is_sign("(") && name.kind == TokenKind::Text =>
            {
                Some(Import {
                    written: name.text.to_owned(),
                    line: name.line,
                })
            }
            _ => None,
        })
        .collect()
}

pub(super) fn resolve_zig(survey: &ProjectSurvey<'_>, from: &str, written: &str) -> Vec<String> {
    let is_file = matches!(extension(written), "zig" | "zon");
    let place = is_file.then(|| join(parent(from), written)).flatten();
    survey.first(place).into_iter().collect()
}

/// Reads the names of `using`, `alias` and the like.
pub(super) fn read(language: &str, statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &DOTTED).collect();
    let keywords: &[&str] = match language {
        "csharp" => &["using"],
        "elixir" => &["alias", "import", "require", "use"],
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
        "csharp" => using(after),
        "elixir" => modules(after),
        // `import struct Kit.View`: the name is the last.
        _ => after
            .iter()
            .rfind(|token| token.kind == TokenKind::Word)
            .map(import)
            .into_iter()
            .collect(),
    }
}

fn import(token: &Token<'_>) -> Import {
    Import {
        written: token.text.to_owned(),
        line: token.line,
    }
}

/// `using A.B`, `using static A.B` and `using X = A.B`, but not the statement of the same word.
fn using(tokens: &[Token<'_>]) -> Vec<Import> {
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
    name.filter(|_| !is_statement).map(import).into_iter().collect()
}

/// `A.B`, and `A.{B, C}` as two. Options after the name are the importing file's business.
fn modules(tokens: &[Token<'_>]) -> Vec<Import> {
    let Some((first, rest)) = tokens
        .split_first()
        .filter(|(first, _)| first.kind == TokenKind::Word)
    else {
        return Vec::new();
    };
    if !first.text.ends_with('.') {
        return vec![import(first)];
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
    use super::super::sample::{Sample, written};

    #[test]
    fn zig_imports_files_beside_it() {
        let sample = Sample::of(&["src/store.zig", "src/deep/x.zig", "std", "build.zig.zon"]);
        let check = |statement, expected| sample.check("zig", "src/main.zig", statement, expected);
        check("const store = @import(\"store.zig\");", "src/store.zig");
        check("const X = @import(\"deep/x.zig\").X;", "src/deep/x.zig");
        check("const zon = @import(\"../build.zig.zon\");", "build.zig.zon");
        check("const std = @import(\"std\");", "external");
        check("const up = @import(\"../../x.zig\");", "external");
    }

    #[test]
    fn names_without_files_are_read_and_external() {
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
