//! Imports: what a statement says is imported, and which files of the project are behind it.
//!
//! Text in, values out. Whoever has the project answers through [`ProjectFiles`]; syntax trees are the caller's, who
//! hands in the text of one import statement at a time. Left out on purpose: build systems. No macro is expanded, no
//! build file is run and no installed package is looked into, so an import that needs one of these is external.
//!
//! Invariant: a [`ImportTarget::Files`] names at least one file and at most `MAX_FILES_PER_IMPORT`, each of which the project says
//! is there, sorted, each once, and never the importing file itself. No text makes this module panic or run long.

mod c;
mod cargo;
mod go;
mod haskell;
mod javascript;
mod jsonc;
mod jvm;
mod lexer;
mod members;
mod npm;
mod php;
mod place;
mod plain;
mod python;
mod rust;
mod scripts;
mod survey;
mod tsconfig;

use std::collections::BTreeSet;

use survey::ProjectSurvey;

/// No import lists more files than this: a wildcard over a generated package would drown everything else.
const MAX_FILES_PER_IMPORT: usize = 500;

/// No statement is read for more imports than this.
const MAX_IMPORTS_PER_STATEMENT: usize = 500;

/// No more of a statement is read than this many bytes: what is longer was generated, and its imports come first.
const MAX_STATEMENT_BYTES: usize = 64 * 1024;

/// One thing a statement imports, as the language writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// For example `./auth/token`, `crate::store::Table`, `mod store`, `os.path`, `fmt` or `<vector>`.
    pub written: String,
    /// Where it is written, counted from 1; in a statement of several lines, the line of the name.
    pub line: usize,
}

/// What the resolver may ask about the project. Paths are relative to the root, `/` separated and normalised, without
/// a leading `./`; the root itself is the empty path.
pub trait ProjectFiles {
    fn is_file(&self, path: &str) -> bool;
    /// The text of a file: mostly small configuration, and now and then the source that holds an import.
    fn read(&self, path: &str) -> Option<String>;
    /// Names of the files and, with a trailing `/`, of the directories in it; sorted.
    fn list(&self, directory: &str) -> Vec<String>;
}

/// What is behind an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Files of the project, at least one.
    Files(Vec<String>),
    /// Only the importing file itself.
    Itself,
    /// Something else: the standard library, a package, or nothing that is there.
    External,
}

/// Languages that import alike.
#[derive(Clone, Copy)]
enum Family {
    C,
    Go,
    Haskell,
    JavaScript,
    Jvm,
    Lua,
    Php,
    Plain,
    Python,
    Ruby,
    Rust,
    Shell,
    Zig,
}

/// Reads what one import statement says. `statement` is the whole text of its node and begins at `line`.
pub fn read(language: &str, statement: &str, line: usize) -> Vec<Import> {
    let statement = &statement[..statement.floor_char_boundary(MAX_STATEMENT_BYTES)];
    let mut imports = match family(language) {
        Some(Family::C) => c::read(statement, line),
        Some(Family::Go) => go::read(statement, line),
        Some(Family::Haskell) => haskell::read(statement, line),
        Some(Family::JavaScript) => javascript::read(statement, line),
        Some(Family::Jvm) => jvm::read(statement, line),
        Some(Family::Lua) => scripts::read_lua(statement, line),
        Some(Family::Php) => php::read(statement, line),
        Some(Family::Plain) => plain::read(language, statement, line),
        Some(Family::Python) => python::read(statement, line),
        Some(Family::Ruby) => scripts::read_ruby(statement, line),
        Some(Family::Rust) => rust::read(statement, line),
        Some(Family::Shell) => scripts::read_shell(statement, line),
        Some(Family::Zig) => plain::read_zig(statement, line),
        None => Vec::new(),
    };
    imports.truncate(MAX_IMPORTS_PER_STATEMENT);
    imports
}

/// Finds the files behind imports. It remembers what it learned about the project, so it is made for one answer and
/// thrown away: a project that changes meanwhile is not noticed.
pub struct Resolver<'a> {
    survey: ProjectSurvey<'a>,
    go: go::Modules,
    javascript: javascript::ResolutionSettings,
    jvm: jvm::Roots,
    rust: rust::Crates,
}

impl<'a> Resolver<'a> {
    pub fn new(project: &'a dyn ProjectFiles) -> Self {
        Self {
            survey: ProjectSurvey::new(project),
            go: go::Modules::default(),
            javascript: javascript::ResolutionSettings::default(),
            jvm: jvm::Roots::default(),
            rust: rust::Crates::default(),
        }
    }

    /// The files behind an import of the file `from`.
    pub fn resolve(&mut self, language: &str, from: &str, import: &Import) -> ImportTarget {
        let (survey, written) = (&self.survey, import.written.as_str());
        let found = match family(language) {
            Some(Family::C) => c::resolve(survey, from, written),
            Some(Family::Go) => self.go.resolve(survey, from, written),
            Some(Family::Haskell) => haskell::resolve(survey, from, written),
            Some(Family::JavaScript) => self.javascript.resolve(survey, language, from, written),
            Some(Family::Jvm) => self.jvm.resolve(survey, from, written),
            Some(Family::Lua) => scripts::resolve_lua(survey, from, written),
            Some(Family::Php) => php::resolve(survey, from, written),
            Some(Family::Python) => python::resolve(survey, from, written),
            Some(Family::Ruby) => scripts::resolve_ruby(survey, from, written),
            Some(Family::Rust) => self.rust.resolve(survey, from, import),
            Some(Family::Shell) => scripts::resolve_shell(survey, from, written),
            Some(Family::Zig) => plain::resolve_zig(survey, from, written),
            Some(Family::Plain) | None => Vec::new(),
        };
        let mut files: BTreeSet<String> = found.into_iter().collect();
        let was_found = files.remove(from);
        if files.is_empty() {
            return if was_found {
                ImportTarget::Itself
            } else {
                ImportTarget::External
            };
        }
        ImportTarget::Files(files.into_iter().take(MAX_FILES_PER_IMPORT).collect())
    }
}

fn family(language: &str) -> Option<Family> {
    Some(match language {
        "c" | "cpp" | "objective-c" | "objective-cpp" | "cuda-cpp" => Family::C,
        "go" => Family::Go,
        "haskell" => Family::Haskell,
        "typescript" | "typescriptreact" | "javascript" | "javascriptreact" | "vue" | "svelte" | "astro" => {
            Family::JavaScript
        }
        "java" | "kotlin" | "scala" | "groovy" => Family::Jvm,
        "lua" => Family::Lua,
        "php" => Family::Php,
        "csharp" | "elixir" | "swift" => Family::Plain,
        "python" => Family::Python,
        "ruby" => Family::Ruby,
        "rust" => Family::Rust,
        "shellscript" => Family::Shell,
        "zig" => Family::Zig,
        _ => return None,
    })
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::sample::Sample;
    use super::*;

    #[test]
    fn a_file_is_not_its_own_dependency() {
        let sample = Sample::of(&["a/x.py"]);
        assert_eq!(sample.resolve("python", "a/x.py", "from . import x"), ["itself"]);
        let sample = Sample::of(&["c/a.go", "c/b.go"]).with("go.mod", "module m");
        assert_eq!(sample.resolve("go", "c/a.go", "import \"m/c\""), ["c/b.go"]);
    }

    #[test]
    fn a_language_without_imports_here_has_none() {
        assert_eq!(read("markdown", "import x", 1), []);
        assert_eq!(
            Sample::of(&["x.md"]).target("markdown", "a.md", "x.md"),
            ImportTarget::External
        );
    }

    #[test]
    fn a_package_of_thousands_is_cut() {
        let names: Vec<String> = (0..3_000).map(|n| format!("p/f{n}.go")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sample = Sample::of(&names).with("go.mod", "module m");
        match sample.target("go", "main.go", "m/p") {
            ImportTarget::Files(files) => assert_eq!(files.len(), MAX_FILES_PER_IMPORT),
            other => panic!("the package is in the project: {other:?}"),
        }
        let statement = format!("import {}", vec!["a"; 3_000].join(", "));
        assert_eq!(read("python", &statement, 1).len(), MAX_IMPORTS_PER_STATEMENT);
    }

    const LANGUAGES: &str = "c cpp csharp elixir go haskell java javascript kotlin lua objective-c php python ruby rust \
                             scala shellscript svelte swift typescript vue zig";

    /// Pieces that statements and settings are made of, with a `·` between them.
    const PIECES: &str = "import ·from ·use ·mod ·require·#include ·source ·@import·export ·static · as ·crate·super·\
                          self·__DIR__·dirname·../../../etc/passwd·\"·'·`·{·}·(·)·<·>·::·.·..·/·\\·*·_·a·B·é·9·\n·;·,·\
                          $·#·//·/*·*/·=>·r#·-·~·\0·\u{feff}·%·?·!·@·--·[[·{-·[package]\n·name = ·module ·replace ·\
                          {\"paths\": ·\"extends\": ·[·]·:·packages:\n- ·**";

    /// Text put together by chance, the same every time, so that a failure can be seen again.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, end: usize) -> usize {
            let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = next.wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % end
        }

        fn text(&mut self) -> String {
            let pieces: Vec<&str> = PIECES.split('·').collect();
            (0..=self.below(12))
                .map(|_| pieces[self.below(pieces.len())])
                .collect()
        }
    }

    #[track_caller]
    fn check_chance(sample: &Sample, chance: &mut Chance, rounds: usize) {
        let languages: Vec<&str> = LANGUAGES.split_whitespace().collect();
        let mut resolver = Resolver::new(sample);
        for _ in 0..rounds {
            let statement = chance.text();
            let language = languages[chance.below(languages.len())];
            let mut imports = read(language, &statement, usize::MAX);
            imports.push(Import {
                written: statement,
                line: 0,
            });
            for import in imports {
                if let ImportTarget::Files(files) = resolver.resolve(language, "src/deep/x.rs", &import) {
                    assert!(files.iter().all(|file| sample.is_file(file)), "{files:?}");
                }
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic_or_leave_the_project() {
        let tsconfig = "{\"extends\": \"./tsconfig\", \"compilerOptions\": {\"paths\": {\"*\": [\"../*\"]}}}";
        let sample = Sample::of(&[
            "a.py",
            "a.rs",
            "src/lib.rs",
            "src/a.ts",
            "a/B.java",
            "B.hs",
            "a.h",
        ])
        .with(
            "Cargo.toml",
            "[package]\nname = \"a\"\n[workspace]\nmembers = [\"*\"",
        )
        .with("package.json", "{\"name\": \"a\", \"workspaces\": [\"**\"]}")
        .with("tsconfig.json", tsconfig)
        .with("composer.json", "{\"autoload\": {\"psr-4\": {\"\": \"..\"}}}")
        .with("go.mod", "module a\nreplace b => ../..");
        check_chance(&sample, &mut Chance(7), 40_000);
    }

    #[test]
    fn no_settings_make_it_panic_or_leave_the_project() {
        let mut chance = Chance(11);
        for _ in 0..2_000 {
            let mut sample = Sample::of(&["a.py", "a.rs", "src/lib.rs", "src/a.ts", "a/package.json"]);
            for name in [
                "Cargo.toml",
                "package.json",
                "pnpm-workspace.yaml",
                "tsconfig.json",
                "composer.json",
                "go.mod",
            ] {
                sample = sample.with(name, &chance.text());
            }
            sample = sample.with("src/deep/x.rs", &chance.text());
            check_chance(&sample, &mut chance, 10);
        }
    }

    #[test]
    fn long_statements_end_soon() {
        let deep = format!("use {};", "a::{b, ".repeat(50_000));
        assert!(read("rust", &deep, 1).len() <= MAX_IMPORTS_PER_STATEMENT);
        let sample = Sample::of(&["src/lib.rs"]).with("Cargo.toml", "[package]\nname = \"a\"");
        for (language, separator) in [
            ("rust", "::"),
            ("python", "."),
            ("java", "."),
            ("javascript", "/"),
            ("php", "\\"),
        ] {
            let written = vec!["a"; 50_000].join(separator);
            assert!(!matches!(
                sample.target(language, "src/lib.rs", &written),
                ImportTarget::Files(_)
            ));
        }
    }
}
