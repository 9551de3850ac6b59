//! Python: `import` and `from … import`, and the modules and packages behind them.
//!
//! `from a import b` is recorded as `a.b`, because only the project knows whether `b` is a module or a name
//! inside one. Paths that a program adds at run time are left out.
//!
//! Invariant: a relative import is looked for from the file's own package only.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, parent};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["#"],
    block_comment: None,
    ..C_LIKE
};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    // A backslash joins lines.
    let tokens = tokens(statement, line, &STYLE).filter(|token| !token.is_sign("\\"));
    let tokens: Vec<Token<'_>> = tokens.collect();
    let mut imports = Vec::new();
    for part in tokens.split(|token| token.is_sign(";")) {
        match part {
            [first, names @ ..] if first.is_word("import") => {
                imports.extend(
                    names
                        .split(|token| token.is_sign(","))
                        .filter_map(|name| read_name("", name)),
                );
            }
            [first, rest @ ..] if first.is_word("from") => {
                let Some(at) = rest.iter().position(|token| token.is_word("import")) else {
                    continue;
                };
                let module: String = rest[..at].iter().map(|token| token.text).collect();
                let names = rest[at + 1..].split(|token| token.is_sign(","));
                imports.extend(names.filter_map(|name| read_name(&module, name)));
            }
            _ => {}
        }
        if imports.len() >= crate::imports::MAX_IMPORTS_PER_STATEMENT {
            break;
        }
    }
    imports
}

/// Reads a name up to `as`, below the module that it is imported from.
fn read_name(module: &str, name: &[Token<'_>]) -> Option<Import> {
    let name = name
        .iter()
        .filter(|token| !token.is_sign("(") && !token.is_sign(")"));
    let name: Vec<&Token<'_>> = name.take_while(|token| !token.is_word("as")).collect();
    let line = name.first()?.line;
    if name.iter().any(|token| token.kind == TokenKind::Text) {
        return None;
    }
    let dot = if module.is_empty() || module.ends_with('.') {
        ""
    } else {
        "."
    };
    let name: String = name.iter().map(|token| token.text).collect();
    Some(Import {
        written: format!("{module}{dot}{name}"),
        line,
    })
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let name = written.trim_start_matches('.');
    let dots = written.len() - name.len();
    let components: Vec<&str> = name
        .split('.')
        .filter(|part| !matches!(*part, "" | "*"))
        .collect();
    if components.iter().any(|part| part.contains(['/', '\\'])) {
        return Vec::new();
    }
    let directory = parent(from);
    let found = if dots > 0 {
        // One dot means the file's own package.
        let package = ancestors(directory).nth(dots - 1);
        package.and_then(|package| {
            find_module(project, package, &components).or_else(|| match components.as_slice() {
                // In `from . import name`, the name may be inside the package.
                [] | [_] => find_init(project, package),
                _ => None,
            })
        })
    } else if components.is_empty() {
        None
    } else {
        import_roots(project, directory)
            .iter()
            .find_map(|root| find_module(project, root, &components))
    };
    found.into_iter().collect()
}

/// Directories that absolute names may start from: those above the file that are no packages, nearest first,
/// each with its `src`, and the project root.
fn import_roots(project: &CachedProject<'_>, directory: &str) -> Vec<String> {
    let mut roots = Vec::new();
    for above in ancestors(directory) {
        if above.is_empty() || find_init(project, above).is_none() {
            roots.extend([above.to_owned(), child_path(above, "src")]);
        }
    }
    roots
}

/// The module of that name below a directory. If there is none, the last part is a name inside the module
/// before it.
fn find_module(project: &CachedProject<'_>, directory: &str, components: &[&str]) -> Option<String> {
    let at = |names: &[&str]| match names {
        [] => None,
        _ => find_file(project, &child_path(directory, &names.join("/"))),
    };
    let (_, before) = components.split_last()?;
    at(components).or_else(|| at(before))
}

fn find_file(project: &CachedProject<'_>, path: &str) -> Option<String> {
    let module = project.first_file(["py", "pyi"].map(|extension| format!("{path}.{extension}")));
    module.or_else(|| find_init(project, path))
}

fn find_init(project: &CachedProject<'_>, package: &str) -> Option<String> {
    project.first_file(["__init__.py", "__init__.pyi"].map(|name| child_path(package, name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("import os.path", vec!["os.path"]),
            ("import a.b as c, d", vec!["a.b", "d"]),
            ("from .a import b, c as d", vec![".a.b", ".a.c"]),
            ("from . import x", vec![".x"]),
            (
                "from ...a.b import (\n  c,  # why\n  d,\n)",
                vec!["...a.b.c", "...a.b.d"],
            ),
            ("from a import *", vec!["a.*"]),
            ("from a import \\\n    b", vec!["a.b"]),
            ("import a; import b", vec!["a", "b"]),
            ("from a", vec![]),
            ("print('import a')", vec![]),
        ] {
            assert_eq!(written("python", statement), expected, "{statement}");
        }
        assert_eq!(read_statement("from a import (\n  b,\n  c)", 7)[1].line, 9);
    }

    #[test]
    fn a_name_is_the_deepest_module_that_is_there() {
        let sample = Sample::of(&[
            "a/__init__.py",
            "a/b/__init__.py",
            "a/b/c.py",
            "a/b/d/__init__.py",
            "a/m.py",
            "a/s.pyi",
        ]);
        let check = |statement, expected| sample.check("python", "main.py", statement, expected);
        check("from a.b import c", "a/b/c.py");
        check("from a.b import d", "a/b/d/__init__.py");
        check("from a.b import Name", "a/b/__init__.py");
        check("from a.m import Name", "a/m.py");
        check("from a.m import *", "a/m.py");
        check("import a.b.c", "a/b/c.py");
        check("import a", "a/__init__.py");
        check("from a import s", "a/s.pyi");
        check("from a.absent.far import x", "external");
        check("import os.path", "external");
        check("from __future__ import annotations", "external");
    }

    #[test]
    fn relative_imports_resolve_from_the_package_of_the_file() {
        let sample = Sample::of(&[
            "a/__init__.py",
            "a/x.py",
            "a/b/__init__.py",
            "a/b/y.py",
            "a/b/x.py",
        ]);
        let check = |statement, expected| sample.check("python", "a/b/y.py", statement, expected);
        check("from . import x", "a/b/x.py");
        check("from .x import Name", "a/b/x.py");
        check("from . import Name", "a/b/__init__.py");
        check("from .. import x", "a/x.py");
        check("from ..x import Name", "a/x.py");
        check("from .. import *", "a/__init__.py");
        check("from ... import Name", "external");
        check("from .... import x", "external");
        check("from .absent import Name", "external");
        sample.check("python", "a/b/__init__.py", "from .y import Name", "a/b/y.py");
    }

    #[test]
    fn absolute_names_resolve_from_directories_that_are_no_packages() {
        let sample = Sample::of(&[
            "src/pkg/__init__.py",
            "src/pkg/a.py",
            "services/api/app/__init__.py",
            "services/api/app/a.py",
            "services/api/app/db/__init__.py",
            "tool/one.py",
            "tool/two.py",
            "tests/x.py",
        ]);
        let check = |from, statement, expected| sample.check("python", from, statement, expected);
        check("tests/x.py", "from pkg import a", "src/pkg/a.py");
        check("src/pkg/b.py", "from pkg import a", "src/pkg/a.py");
        check(
            "services/api/app/db/x.py",
            "from app.a import A",
            "services/api/app/a.py",
        );
        check("tool/one.py", "import two", "tool/two.py");
        check("src/pkg/b.py", "import a", "external");
        let sample = Sample::of(&["__init__.py", "src/__init__.py", "x.py"]);
        sample.check("python", "x.py", "import os", "external");
    }

    #[test]
    fn directories_with_modules_are_packages_without_init() {
        let sample = Sample::of(&["scripts/jobs/clean.py"]);
        sample.check(
            "python",
            "main.py",
            "from scripts.jobs import clean",
            "scripts/jobs/clean.py",
        );
        sample.check("python", "main.py", "from scripts import jobs", "external");
    }
}
