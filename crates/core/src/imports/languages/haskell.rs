//! Haskell: `import`, and the modules of the project behind it.
//!
//! A module is looked for in the `hs-source-dirs` of the package that the file belongs to, then in the
//! libraries of the packages that it depends on and that are in the repository, then in the usual source
//! directories above the file, which serve scripts without a package.
//!
//! Invariant: a module resolves only to the file of its name.

use std::cmp::Reverse;

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, TokenKind, tokens};
use crate::imports::manifests::cabal::CabalPackages;
use crate::imports::paths::{ancestors, child_path, parent, strip_directory};

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

/// The modules of the packages in a project.
#[derive(Default)]
pub(super) struct HaskellModules {
    packages: CabalPackages,
}

impl HaskellModules {
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        from: &str,
        written: &str,
    ) -> Vec<String> {
        if written.contains('/') {
            return Vec::new();
        }
        let name = written.replace('.', "/");
        let find = |roots: &mut dyn Iterator<Item = String>| {
            project.first_file(roots.flat_map(|root| {
                ["hs", "lhs"].map(|extension| format!("{}.{extension}", child_path(&root, &name)))
            }))
        };
        let find_in_packages = || {
            let package = self.packages.owner(project, from)?;
            let package = package.as_ref().as_ref()?;
            let mut own: Vec<&String> = package.library.iter().chain(&package.programs).collect();
            // Programs may have modules of the same name; a file means those beside it.
            own.sort_by_key(|root| match strip_directory(from, root) {
                Some(_) => (false, Reverse(root.len())),
                None => (true, Reverse(0)),
            });
            find(&mut own.into_iter().cloned()).or_else(|| {
                package.dependencies.iter().find_map(|dependency| {
                    let other = self.packages.find(project, from, dependency)?;
                    let other = other.as_ref().as_ref()?;
                    find(&mut other.library.iter().cloned())
                })
            })
        };
        let find_above = || {
            find(
                &mut ancestors(parent(from))
                    .flat_map(|above| ["", "src", "app", "lib"].map(|name| child_path(above, name))),
            )
        };
        find_in_packages().or_else(find_above).into_iter().collect()
    }
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

    #[test]
    fn modules_are_found_in_the_source_directories_of_the_package() {
        let sample = Sample::of(&[
            "source/library/Shop.hs",
            "source/test/Options.hs",
            "source/tool/Options.hs",
        ])
        .with(
            "shop.cabal",
            "library\n  hs-source-dirs: source/library\nexecutable tool\n  hs-source-dirs: source/tool\n\
             test-suite spec\n  hs-source-dirs:\n    source/test\n",
        );
        let check =
            |from, name: &str, expected| sample.check("haskell", from, &format!("import {name}"), expected);
        check("source/test/Main.hs", "Shop", "source/library/Shop.hs");
        check("source/test/Main.hs", "Options", "source/test/Options.hs");
        check("source/tool/Main.hs", "Options", "source/tool/Options.hs");
        check("source/tool/Main.hs", "Data.Map", "external");
    }

    #[test]
    fn modules_of_another_package_are_found_if_it_is_a_dependency() {
        let sample = Sample::of(&[
            "shop-lib/src/Shop/Cart.hs",
            "shop-lib/test/Fake.hs",
            "unrelated/src/Shop/Other.hs",
            "old/shop-lib/src/Shop/Cart.hs",
            "plain/src/Plain.hs",
        ])
        .with(
            "shop-lib/shop-lib.cabal",
            "library\n  hs-source-dirs: src\ntest-suite t\n  hs-source-dirs: test\n",
        )
        .with("old/shop-lib/shop-lib.cabal", "library\n  hs-source-dirs: src\n")
        .with("unrelated/unrelated.cabal", "library\n  hs-source-dirs: src\n")
        .with("plain/package.yaml", "library:\n  source-dirs: src\n")
        .with(
            "shop-web/shop-web.cabal",
            "library\n  build-depends:\n      base >=4\n    , shop-lib ==1.2.*\n    , plain\n",
        );
        let check = |name: &str, expected| {
            sample.check(
                "haskell",
                "shop-web/Web/Main.hs",
                &format!("import {name}"),
                expected,
            );
        };
        check("Shop.Cart", "shop-lib/src/Shop/Cart.hs");
        check("Plain", "plain/src/Plain.hs");
        check("Fake", "external");
        check("Shop.Other", "external");
    }
}
