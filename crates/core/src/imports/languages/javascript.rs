//! JavaScript and TypeScript: `import`, `export … from`, `require` and `import()`, and the files behind their
//! names.
//!
//! Relative names, `paths` and `baseUrl` of tsconfig, and packages of the same workspace resolve. Names that
//! only a bundler knows (aliases in its settings, `/` for a served directory) are external.
//!
//! Invariant: a string is taken for a module name only after `from`, after `import`, or as the argument of
//! `import(` and `require(`.

use crate::imports::Import;
use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::manifests::{npm, tsconfig};
use crate::imports::paths::{child_path, join, parent};
use crate::language::Language;

static STYLE: LexicalStyle = LexicalStyle {
    quotes: &['"', '\'', '`'],
    long_quotes: &['`'],
    word_signs: &['$', '#'],
    ..C_LIKE
};

/// Extensions that a name may omit, in the order in which TypeScript and then bundlers try them.
const EXTENSIONS: &[&str] = &[
    "ts", "tsx", "d.ts", "js", "jsx", "mts", "cts", "mjs", "cjs", "d.mts", "d.cts", "json", "vue", "svelte",
];

/// Extension of a compiled file, as imports write it, and extensions of its source.
const SOURCE_EXTENSIONS: &[(&str, &[&str])] = &[
    (".js", &["ts", "tsx", "d.ts"]),
    (".jsx", &["tsx", "d.ts"]),
    (".mjs", &["mts", "d.mts"]),
    (".cjs", &["cts", "d.cts"]),
];

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    let mut imports = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let after = &tokens[at + 1..];
        // `loader.import('x')` and `Array.from('x')` import nothing.
        let is_member = at
            .checked_sub(1)
            .is_some_and(|before| tokens[before].is_sign("."));
        if token.kind != TokenKind::Word || is_member {
            continue;
        }
        let name = match (token.text, after) {
            ("from" | "import", [name, ..]) if name.kind == TokenKind::Text => name,
            ("import" | "require", [open, name, close, ..])
                if open.is_sign("(")
                    && name.kind == TokenKind::Text
                    && (close.is_sign(")") || close.is_sign(",")) =>
            {
                name
            }
            _ => continue,
        };
        if !name.text.is_empty() && !name.text.contains("${") {
            imports.push(Import {
                written: name.text.to_owned(),
                line: name.line,
            });
        }
    }
    imports
}

/// Cached settings of the project: compiler options and packages of workspaces.
#[derive(Default)]
pub(super) struct ResolutionSettings {
    options: Memo<Vec<tsconfig::CompilerOptions>>,
    packages: npm::Workspaces,
}

impl ResolutionSettings {
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        language: Language,
        from: &str,
        written: &str,
    ) -> Vec<String> {
        // Bundlers allow a query: `./icon.svg?raw`.
        let name = written.split('?').next().unwrap_or_default();
        let prefer = if matches!(language, Language::JavaScript | Language::JavaScriptReact) {
            Prefer::Written
        } else {
            Prefer::Source
        };
        let directory = parent(from);
        if matches!(name, "." | "..") || name.starts_with("./") || name.starts_with("../") {
            let path = join(directory, name);
            return path
                .and_then(|path| find_module(project, &path, prefer))
                .into_iter()
                .collect();
        }
        if name.is_empty() || name.starts_with('/') || name.contains(':') {
            return Vec::new();
        }
        let aliased = tsconfig::candidate_paths(project, &self.options, &self.packages, directory, name);
        let found = aliased.iter().find_map(|path| find_module(project, path, prefer));
        let found = found.or_else(|| {
            let paths = self.packages.candidate_paths(project, directory, name);
            paths
                .iter()
                .find_map(|path| find_module(project, path, Prefer::Source))
        });
        found.into_iter().collect()
    }
}

/// The file that `./x.js` means if both `x.ts` and `x.js` exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefer {
    Source,
    Written,
}

/// The file of the module at a path: the path itself, with an extension, or the index of the directory.
fn find_module(project: &CachedProject<'_>, path: &str, prefer: Prefer) -> Option<String> {
    find_file(project, path, prefer).or_else(|| {
        let entries = npm::entry_points(project, path).into_iter();
        entries
            .chain([child_path(path, "index")])
            .find_map(|entry| find_file(project, &entry, prefer))
    })
}

fn find_file(project: &CachedProject<'_>, path: &str, prefer: Prefer) -> Option<String> {
    if path.is_empty() {
        return None;
    }
    let sources = SOURCE_EXTENSIONS.iter().flat_map(|(compiled, sources)| {
        let stem = path.strip_suffix(compiled).filter(|stem| !stem.is_empty());
        let named = move |stem: &str| {
            sources
                .iter()
                .map(|source| format!("{stem}.{source}"))
                .collect::<Vec<_>>()
        };
        stem.map(named).unwrap_or_default()
    });
    if prefer == Prefer::Written && project.is_file(path) {
        return Some(path.to_owned());
    }
    let exact = [path.to_owned()];
    let extended = EXTENSIONS.iter().map(|extension| format!("{path}.{extension}"));
    project.first_file(sources.chain(exact).chain(extended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("import a, { b as c } from './y'", vec!["./y"]),
            ("import './side-effect';", vec!["./side-effect"]),
            ("import type { A } from \"../a.js\";", vec!["../a.js"]),
            ("import * as x from '@scope/pkg/sub'", vec!["@scope/pkg/sub"]),
            ("import x = require('./y');", vec!["./y"]),
            ("export * from './z'", vec!["./z"]),
            ("export { a } from /* why */ './z'", vec!["./z"]),
            ("const a = require('a'), b = require(\"./b\").c", vec!["a", "./b"]),
            ("const page = await import(`./page`)", vec!["./page"]),
            (
                "const page = import(/* chunk */ './page', { with: {} })",
                vec!["./page"],
            ),
            (
                "import data from './d.json' with { type: 'json' }",
                vec!["./d.json"],
            ),
            ("export const from = 'x'", vec![]),
            ("const a = import(`./${name}`)", vec![]),
            ("loader.require('x'); Array.from('abc')", vec![]),
            ("import.meta.url", vec![]),
        ] {
            assert_eq!(written("typescript", statement), expected, "{statement}");
        }
    }

    #[test]
    fn an_import_has_the_line_of_its_name() {
        let imports = read_statement("import {\n  a,\n} from './y';", 10);
        assert_eq!(
            imports,
            [Import {
                written: "./y".to_owned(),
                line: 12
            }]
        );
    }

    #[test]
    fn relative_names_resolve_to_files_or_indexes() {
        let sample = Sample::of(&[
            "src/a.ts",
            "src/b.tsx",
            "src/c/index.ts",
            "src/d.json",
            "src/e.vue",
            "src/f.d.ts",
            "src/g.js",
            "index.js",
            "src/c/deep/x.ts",
        ]);
        let check = |from, name: &str, expected| {
            sample.check("typescript", from, &format!("import '{name}'"), expected);
        };
        check("src/main.ts", "./a", "src/a.ts");
        check("src/main.ts", "./b", "src/b.tsx");
        check("src/main.ts", "./c", "src/c/index.ts");
        check("src/main.ts", "./c/", "src/c/index.ts");
        check("src/main.ts", "./d.json", "src/d.json");
        check("src/main.ts", "./d.json?raw", "src/d.json");
        check("src/main.ts", "./e.vue", "src/e.vue");
        check("src/main.ts", "./f", "src/f.d.ts");
        check("src/main.ts", "..", "index.js");
        check("src/c/deep/x.ts", "..", "src/c/index.ts");
        check("src/c/deep/x.ts", "../../a", "src/a.ts");
        check("src/main.ts", "../../a", "external");
        check("src/main.ts", "./absent", "external");
        check("src/main.ts", "react", "external");
        check("src/main.ts", "node:fs", "external");
        check("src/main.ts", "/src/a.ts", "external");
        sample.check("vue", "src/e.vue", "import a from './a'", "src/a.ts");
    }

    #[test]
    fn the_name_of_a_compiled_file_resolves_to_its_source() {
        let sample = Sample::of(&["a.ts", "b.tsx", "c.mts", "d.js", "d.ts"]);
        sample.check("typescript", "x.ts", "import './a.js'", "a.ts");
        sample.check("javascript", "x.js", "import './a.js'", "a.ts");
        sample.check("typescript", "x.ts", "import './b.js'", "b.tsx");
        sample.check("typescript", "x.ts", "import './b.jsx'", "b.tsx");
        sample.check("typescript", "x.ts", "import './c.mjs'", "c.mts");
        sample.check("typescript", "x.ts", "import './d.js'", "d.ts");
        sample.check("javascript", "x.js", "require('./d.js')", "d.js");
    }

    #[test]
    fn a_directory_with_a_manifest_resolves_to_its_main_file() {
        let sample =
            Sample::of(&["lib/start.js", "lib/index.js"]).with("lib/package.json", "{\"main\": \"start\"}");
        sample.check("javascript", "x.js", "require('./lib')", "lib/start.js");
    }
}
