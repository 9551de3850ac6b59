//! Haskell: `import`, and the modules of the project behind it.
//!
//! `hs-source-dirs` of cabal files is not read; the usual source directories are tried in every directory
//! above the file.
//!
//! Invariant: a module resolves only to the file of its name.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, parent};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["--"],
    block_comment: Some(("{-", "-}")),
    quotes: &['"'],
    word_signs: &['.', '\''],
    ..C_LIKE
};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut expects_name = false;
    for token in tokens(statement, line, &STYLE).filter(|token| token.kind == TokenKind::Word) {
        if token.text == "import" {
            expects_name = true;
        } else if expects_name && token.text.starts_with(char::is_uppercase) {
            // `qualified` and `safe` may stand before the name.
            imports.push(Import {
                written: token.text.to_owned(),
                line: token.line,
            });
            expects_name = false;
        }
    }
    imports
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    if written.contains('/') {
        return Vec::new();
    }
    let name = written.replace('.', "/");
    let roots = ancestors(parent(from))
        .flat_map(|above| ["", "src", "app", "lib"].map(|name| child_path(above, name)));
    let files = roots
        .flat_map(|root| ["hs", "lhs"].map(|extension| format!("{}.{extension}", child_path(&root, &name))));
    project.first_file(files).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("import A.B", vec!["A.B"]),
            ("import qualified Data.Map as M", vec!["Data.Map"]),
            ("import Data.Map qualified as M", vec!["Data.Map"]),
            ("import safe \"pkg\" A.B (C, d) -- why", vec!["A.B"]),
            ("import {-# SOURCE #-} A", vec!["A"]),
            ("module A where", vec![]),
        ] {
            assert_eq!(written("haskell", statement), expected, "{statement}");
        }
    }

    #[test]
    fn modules_are_found_in_the_usual_directories() {
        let sample = Sample::of(&[
            "src/Shop/Cart.hs",
            "app/Options.lhs",
            "pkg/src/Inner.hs",
            "Top.hs",
        ]);
        let check =
            |from, name: &str, expected| sample.check("haskell", from, &format!("import {name}"), expected);
        check("src/Main.hs", "Shop.Cart", "src/Shop/Cart.hs");
        check("test/Spec.hs", "Shop.Cart", "src/Shop/Cart.hs");
        check("app/Main.hs", "Options", "app/Options.lhs");
        check("pkg/test/Spec.hs", "Inner", "pkg/src/Inner.hs");
        check("src/Main.hs", "Top", "Top.hs");
        check("src/Main.hs", "Data.Map", "external");
    }
}
