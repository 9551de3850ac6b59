//! Zig: `@import`, and the file it names relative to the importing one.
//!
//! Packages of a build (`@import("std")`) are external, because only the build knows where they are.
//!
//! Invariant: an import is a file of the project only with the extension `.zig` or `.zon`.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::paths::{extension, join, parent};

static STYLE: LexicalStyle = LexicalStyle {
    word_signs: &['@'],
    ..C_LIKE
};

/// Reads every `@import("x")` of a statement.
pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
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

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let is_file = matches!(extension(written), "zig" | "zon");
    let path = is_file.then(|| join(parent(from), written)).flatten();
    project.first_file(path).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::Sample;

    #[test]
    fn a_path_resolves_from_the_directory_of_the_file() {
        let sample = Sample::of(&["src/store.zig", "src/deep/x.zig", "std", "build.zig.zon"]);
        let check = |statement, expected| sample.check("zig", "src/main.zig", statement, expected);
        check("const store = @import(\"store.zig\");", "src/store.zig");
        check("const X = @import(\"deep/x.zig\").X;", "src/deep/x.zig");
        check("const zon = @import(\"../build.zig.zon\");", "build.zig.zon");
        check("const std = @import(\"std\");", "external");
        check("const up = @import(\"../../x.zig\");", "external");
    }
}
