//! Imports: the names that a statement imports, and the files of the project behind them.
//!
//! Text in, values out. The caller parses the source and hands in one import statement at a time;
//! [`ProjectFiles`] answers what files there are. Left out on purpose: build systems. No macro is expanded,
//! no build file is run and no installed package is searched, so an import that needs one of these is
//! external.
//!
//! `languages/` has a file per language, `manifests/` the files that name packages and path aliases.
//!
//! Invariant: [`ImportTarget::Files`] names at least one file and at most `MAX_FILES_PER_IMPORT`, each of
//! which the project has, sorted, each once, and never the importing file itself. No text makes this module
//! panic or run long.

mod cached_project;
mod languages;
mod lexer;
mod manifests;
mod paths;

use std::collections::BTreeSet;

use cached_project::CachedProject;
use languages::LanguageResolvers;

use crate::language::Language;

/// Files that one import resolves to. A wildcard over a generated package would otherwise drown everything
/// else.
const MAX_FILES_PER_IMPORT: usize = 500;

/// Imports that are read from one statement.
const MAX_IMPORTS_PER_STATEMENT: usize = 500;

/// Bytes of a statement that are read. Longer statements are generated, and their imports come first.
const MAX_STATEMENT_BYTES: usize = 64 * 1024;

/// One thing a statement imports, as the language writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// For example `./auth/token`, `crate::store::Table`, `mod store`, `os.path`, `fmt` or `<vector>`.
    pub written: String,
    /// Line of the name, counted from 1.
    pub line: usize,
}

/// The project as the resolver sees it. Paths are relative to the root, normalised and separated by `/`,
/// without a leading `./`. The root itself is the empty path.
pub trait ProjectFiles {
    fn is_file(&self, path: &str) -> bool;
    /// The text of a file: mostly small manifests, sometimes the source that holds an import.
    fn read(&self, path: &str) -> Option<String>;
    /// Sorted names of the files in a directory and, with a trailing `/`, of its subdirectories.
    fn list(&self, directory: &str) -> Vec<String>;
}

/// The target of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Files of the project, at least one.
    Files(Vec<String>),
    /// Only the importing file itself.
    Itself,
    /// The standard library, a package, or a file that the project does not have.
    External,
}

/// Reads the imports of one statement. `statement` is the whole text of its syntax node and begins at `line`.
pub fn read_statement(language: Language, statement: &str, line: usize) -> Vec<Import> {
    let statement = &statement[..statement.floor_char_boundary(MAX_STATEMENT_BYTES)];
    let mut imports = languages::read_statement(language, statement, line);
    imports.truncate(MAX_IMPORTS_PER_STATEMENT);
    imports
}

/// Finds the files behind imports.
///
/// It caches every answer of the project, so a resolver serves one request: it does not notice later changes.
pub struct Resolver<'a> {
    project: CachedProject<'a>,
    languages: LanguageResolvers,
}

impl<'a> Resolver<'a> {
    pub fn new(project: &'a dyn ProjectFiles) -> Self {
        Self {
            project: CachedProject::new(project),
            languages: LanguageResolvers::default(),
        }
    }

    /// The files behind an import of the file `from`.
    pub fn resolve(&self, language: Language, from: &str, import: &Import) -> ImportTarget {
        let files = self
            .languages
            .resolve_import(&self.project, language, from, import);
        let mut files: BTreeSet<String> = files.into_iter().collect();
        let imports_itself = files.remove(from);
        if !files.is_empty() {
            ImportTarget::Files(files.into_iter().take(MAX_FILES_PER_IMPORT).collect())
        } else if imports_itself {
            ImportTarget::Itself
        } else {
            ImportTarget::External
        }
    }
}

#[cfg(test)]
mod sample_project;

#[cfg(test)]
mod tests {
    use super::sample_project::Sample;
    use super::*;

    #[test]
    fn a_file_is_not_its_own_dependency() {
        let sample = Sample::of(&["a/x.py"]);
        assert_eq!(sample.resolve("python", "a/x.py", "from . import x"), ["itself"]);
        let sample = Sample::of(&["c/a.go", "c/b.go"]).with("go.mod", "module m");
        assert_eq!(sample.resolve("go", "c/a.go", "import \"m/c\""), ["c/b.go"]);
    }

    #[test]
    fn a_language_whose_imports_are_not_read_has_none() {
        assert_eq!(read_statement(Language::Markdown, "import x", 1), []);
        assert_eq!(
            Sample::of(&["x.md"]).target("markdown", "a.md", "x.md"),
            ImportTarget::External
        );
    }

    #[test]
    fn an_import_of_thousands_of_files_is_cut() {
        let names: Vec<String> = (0..3_000).map(|n| format!("p/f{n}.go")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sample = Sample::of(&names).with("go.mod", "module m");
        match sample.target("go", "main.go", "m/p") {
            ImportTarget::Files(files) => assert_eq!(files.len(), MAX_FILES_PER_IMPORT),
            other => panic!("the package is in the project: {other:?}"),
        }
        let statement = format!("import {}", vec!["a"; 3_000].join(", "));
        assert_eq!(
            read_statement(Language::Python, &statement, 1).len(),
            MAX_IMPORTS_PER_STATEMENT
        );
    }

    const LANGUAGES: [Language; 22] = [
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Elixir,
        Language::Go,
        Language::Haskell,
        Language::Java,
        Language::JavaScript,
        Language::Kotlin,
        Language::Lua,
        Language::ObjectiveC,
        Language::Php,
        Language::Python,
        Language::Ruby,
        Language::Rust,
        Language::Scala,
        Language::ShellScript,
        Language::Svelte,
        Language::Swift,
        Language::TypeScript,
        Language::Vue,
        Language::Zig,
    ];

    /// Fragments of statements and manifests, separated by `·`.
    const FRAGMENTS: &str = "import ·from ·use ·mod ·require·#include ·source ·@import·export ·static · as ·crate·super·\
                          self·__DIR__·dirname·../../../etc/passwd·\"·'·`·{·}·(·)·<·>·::·.·..·/·\\·*·_·a·B·é·9·\n·;·,·\
                          $·#·//·/*·*/·=>·r#·-·~·\0·\u{feff}·%·?·!·@·--·[[·{-·[package]\n·name = ·module ·replace ·\
                          {\"paths\": ·\"extends\": ·[·]·:·packages:\n- ·**";

    /// A random number generator with a fixed seed, so that a failure can be reproduced.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = next.wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % end
        }

        fn text(&mut self) -> String {
            let fragments: Vec<&str> = FRAGMENTS.split('·').collect();
            (0..=self.below(12))
                .map(|_| fragments[self.below(fragments.len())])
                .collect()
        }
    }

    #[track_caller]
    fn check_random_statements(sample: &Sample, random: &mut Random, rounds: usize) {
        let resolver = Resolver::new(sample);
        for _ in 0..rounds {
            let statement = random.text();
            let language = LANGUAGES[random.below(LANGUAGES.len())];
            let mut imports = read_statement(language, &statement, usize::MAX);
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
    fn random_statements_never_panic_or_leave_the_project() {
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
        check_random_statements(&sample, &mut Random(7), 40_000);
    }

    #[test]
    fn random_manifests_never_panic_or_leave_the_project() {
        let mut random = Random(11);
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
                sample = sample.with(name, &random.text());
            }
            sample = sample.with("src/deep/x.rs", &random.text());
            check_random_statements(&sample, &mut random, 10);
        }
    }

    #[test]
    fn long_statements_are_cut() {
        let deep = format!("use {};", "a::{b, ".repeat(50_000));
        assert!(read_statement(Language::Rust, &deep, 1).len() <= MAX_IMPORTS_PER_STATEMENT);
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
