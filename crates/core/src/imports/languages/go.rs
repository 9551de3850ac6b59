//! Go: import declarations, and the packages of the file's own module behind them.
//!
//! A package is a directory, so an import resolves to all its files but the tests. Another module counts if
//! go.mod replaces it by a directory. Workspaces (go.work) and vendored packages are left out.
//!
//! Invariant: the nearest go.mod above a file decides.

use std::rc::Rc;

use crate::imports::Import;
use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::lexer::{C_LIKE, LexicalStyle, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, extension, join, parent};

static STYLE: LexicalStyle = LexicalStyle {
    quotes: &['"', '`'],
    ..C_LIKE
};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let words = tokens(statement, line, &STYLE).skip_while(|token| !token.is_word("import"));
    words
        .filter(|token| token.kind == TokenKind::Text && !token.text.is_empty())
        .map(|token| Import {
            written: token.text.to_owned(),
            line: token.line,
        })
        .collect()
}

/// The modules that each go.mod makes available: module path and directory.
#[derive(Default)]
pub(super) struct Modules {
    by_directory: Memo<Vec<(String, String)>>,
}

impl Modules {
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        from: &str,
        written: &str,
    ) -> Vec<String> {
        let home = ancestors(parent(from)).find(|above| project.is_file(&child_path(above, "go.mod")));
        let Some(home) = home else {
            return Vec::new();
        };
        let modules = self.read_go_mod(project, home);
        let fitting = modules.iter().filter_map(|(path, directory)| {
            let rest = written.strip_prefix(path.as_str())?;
            let rest = if rest.is_empty() {
                rest
            } else {
                rest.strip_prefix('/')?
            };
            Some((path.len(), join(directory, rest)?))
        });
        let package = fitting.max_by_key(|(length, _)| *length);
        package
            .map(|(_, package)| list_package_files(project, &package))
            .unwrap_or_default()
    }

    fn read_go_mod(&self, project: &CachedProject<'_>, home: &str) -> Rc<Vec<(String, String)>> {
        self.by_directory.get_or_make(home, || {
            let text = project.read(&child_path(home, "go.mod"));
            text.as_deref()
                .map(|text| parse_go_mod(home, text))
                .unwrap_or_default()
        })
    }
}

/// The files of a package, for all platforms.
fn list_package_files(project: &CachedProject<'_>, package: &str) -> Vec<String> {
    project.list_files(package, |name| {
        extension(name) == "go" && !name.ends_with("_test.go") && !name.starts_with(['_', '.'])
    })
}

fn parse_go_mod(home: &str, text: &str) -> Vec<(String, String)> {
    let mut modules = Vec::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut words: Vec<&str> = line
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '`']))
            .collect();
        match words.as_slice() {
            [")", ..] => block = "",
            [directive, "("] => block = directive,
            _ if !block.is_empty() => words.insert(0, block),
            _ => {}
        }
        match words.as_slice() {
            ["module", path] => modules.push(((*path).to_owned(), home.to_owned())),
            ["replace", path, .., "=>", target] if target.starts_with('.') => {
                modules.extend(join(home, target).map(|directory| ((*path).to_owned(), directory)));
            }
            _ => {}
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("import \"fmt\"", vec!["fmt"]),
            (
                "import (\n\t\"fmt\"\n\n\t// \"no\"\n\tx \"a/b\"\n\t_ `c`\n\t. \"d\"\n)",
                vec!["fmt", "a/b", "c", "d"],
            ),
            ("var x = \"no\"", vec![]),
        ] {
            assert_eq!(written("go", statement), expected, "{statement}");
        }
        assert_eq!(read_statement("import (\n\"a\"\n\"b\")", 3)[1].line, 5);
    }

    #[test]
    fn an_import_resolves_to_all_files_of_the_package_but_tests() {
        let sample = Sample::of(&[
            "go.sum",
            "store/table.go",
            "store/table_linux.go",
            "store/table_test.go",
            "store/doc.md",
            "store/deep/x.go",
            "root.go",
            "cmd/main.go",
        ])
        .with(
            "go.mod",
            "// The module.\nmodule example.com/shop/v2 // ours\n\ngo 1.22\n",
        );
        let check =
            |name: &str, expected| sample.check("go", "cmd/main.go", &format!("import {name:?}"), expected);
        check("example.com/shop/v2/store", "store/table.go store/table_linux.go");
        check("example.com/shop/v2", "root.go");
        check("example.com/shop/v2/absent", "external");
        check("example.com/shop/v20/store", "external");
        check("example.com/shop/v2/../../x", "external");
        check("fmt", "external");
        check("github.com/other/thing", "external");
    }

    #[test]
    fn the_nearest_module_decides_and_may_replace_others() {
        let sample = Sample::of(&["a/x.go", "tools/x.go", "tools/deep/y.go"])
            .with("go.mod", "module m")
            .with(
                "tools/go.mod",
                "module \"m/tools\"\nreplace (\n\tm v1.0.0 => ../\n\tother => github.com/fork/other v1\n)",
            );
        sample.check(
            "go",
            "tools/main.go",
            "import \"m/tools/deep\"",
            "tools/deep/y.go",
        );
        sample.check("go", "tools/main.go", "import \"m/a\"", "a/x.go");
        sample.check("go", "tools/main.go", "import \"other\"", "external");
        sample.check("go", "main.go", "import \"m/a\"", "a/x.go");
    }

    #[test]
    fn vendored_packages_and_workspaces_are_external() {
        let sample = Sample::of(&["vendor/x.org/y/y.go", "other/z.go"])
            .with("go.mod", "module m")
            .with("other/go.mod", "module x.org/other")
            .with("go.work", "use ./other");
        sample.check("go", "main.go", "import \"x.org/y\"", "external");
        sample.check("go", "main.go", "import \"x.org/other\"", "external");
    }

    #[test]
    fn every_import_is_external_without_go_mod() {
        Sample::of(&["a/x.go"]).check("go", "main.go", "import \"a\"", "external");
    }
}
