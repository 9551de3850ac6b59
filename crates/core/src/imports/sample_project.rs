//! A project in memory, for tests of import resolution.
//!
//! Invariant: all answers come from one map of paths, so they never disagree.

use std::collections::{BTreeMap, BTreeSet};

use super::{Import, ImportTarget, ProjectFiles, Resolver, read_statement};
use crate::language::Language;

#[derive(Default)]
pub(super) struct Sample {
    files: BTreeMap<String, String>,
}

impl Sample {
    /// A project of empty files.
    pub(super) fn of(paths: &[&str]) -> Self {
        let files = paths
            .iter()
            .map(|path| ((*path).to_owned(), String::new()))
            .collect();
        Self { files }
    }

    #[must_use]
    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Resolves each import of a statement to its files joined with a space, or to `external`.
    pub(super) fn resolve(&self, language: &str, from: &str, statement: &str) -> Vec<String> {
        let language = language_named(language);
        let resolver = Resolver::new(self);
        read_statement(language, statement, 1)
            .iter()
            .map(|import| match resolver.resolve(language, from, import) {
                ImportTarget::Files(files) => files.join(" "),
                ImportTarget::Itself => "itself".to_owned(),
                ImportTarget::External => "external".to_owned(),
            })
            .collect()
    }

    pub(super) fn target(&self, language: &str, from: &str, written: &str) -> ImportTarget {
        let import = Import {
            written: written.to_owned(),
            line: 1,
        };
        Resolver::new(self).resolve(language_named(language), from, &import)
    }

    /// Fails unless the one import of `statement` resolves to `expected`.
    #[track_caller]
    pub(super) fn check(&self, language: &str, from: &str, statement: &str, expected: &str) {
        assert_eq!(
            self.resolve(language, from, statement),
            [expected],
            "{statement} in {from}"
        );
    }
}

impl ProjectFiles for Sample {
    fn is_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let start = if directory.is_empty() {
            String::new()
        } else {
            format!("{directory}/")
        };
        let below = self.files.keys().filter_map(|path| path.strip_prefix(&start));
        let names: BTreeSet<String> = below
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => format!("{name}/"),
                None => rest.to_owned(),
            })
            .collect();
        names.into_iter().collect()
    }
}

/// The names that a statement imports, without their lines.
pub(super) fn written(language: &str, statement: &str) -> Vec<String> {
    read_statement(language_named(language), statement, 1)
        .into_iter()
        .map(|import| import.written)
        .collect()
}

/// The language that a test names.
fn language_named(language: &str) -> Language {
    Language::from_name(language).unwrap_or_else(|| panic!("no language is called {language}"))
}
