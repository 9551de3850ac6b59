//! The overview of a project: its languages, modules, entry points and key files.
//!
//! It is computed from paths and languages alone; no file is read.
//!
//! Invariant: lists are bounded and their order is total.

use std::collections::{BTreeMap, HashMap};

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;

/// A project at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub files: usize,
    /// Languages with their number of files, the most frequent first.
    pub languages: Vec<(String, usize)>,
    /// Modules by name.
    pub modules: BTreeMap<String, Module>,
    /// Entry points of programs, those nearest to the root first.
    pub entries: Vec<String>,
    /// Files for a newcomer: the readme, guides, manifests.
    pub key_files: Vec<String>,
}

/// A module of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub files: usize,
    /// How many of the files are tests.
    pub tests: usize,
    pub languages: Vec<(String, usize)>,
    pub entries: Vec<String>,
    /// Its first code files, without tests and entry points.
    pub code: Vec<String>,
}

/// Languages that are not code.
const DATA_LANGUAGES: [&str; 8] = [
    "plaintext",
    "markdown",
    "ignore",
    "json",
    "yaml",
    "toml",
    "xml",
    "csv",
];

/// Languages that have no entry points.
const MARKUP_LANGUAGES: [&str; 5] = ["css", "scss", "less", "html", "json"];

/// Longest list of paths.
const MAX_LISTED_PATHS: usize = 20;

/// Key files in the root directory, by name or stem, in the order in which they are listed.
const KEY_FILES: [&str; 22] = [
    "readme",
    "agents.md",
    "claude.md",
    "contributing",
    "cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "cmakelists.txt",
    "makefile",
    "justfile",
    "gemfile",
    "composer.json",
    "mix.exs",
    "build.sbt",
    "dockerfile",
    "docker-compose.yml",
    "changelog",
];

impl Overview {
    /// The modules with the most files first.
    pub fn by_size(&self) -> Vec<(&String, &Module)> {
        let mut modules: Vec<(&String, &Module)> = self.modules.iter().collect();
        modules.sort_by(|(a, one), (b, other)| other.files.cmp(&one.files).then_with(|| a.cmp(b)));
        modules
    }

    /// Computes the overview of files with their languages, in the order of their paths.
    pub(crate) fn of(files: &[(RepoPath, String)]) -> Self {
        let mut overview = Self {
            files: files.len(),
            ..Self::default()
        };
        let mut languages: HashMap<&str, usize> = HashMap::new();
        let mut module_languages: HashMap<(&str, &str), usize> = HashMap::new();
        let mut keys: Vec<(usize, String)> = Vec::new();
        for (path, language) in files {
            let name = module_of(path);
            let module = match overview.modules.get_mut(name) {
                Some(module) => module,
                None => overview.modules.entry(name.to_owned()).or_default(),
            };
            module.files += 1;
            if language.is_empty() {
                continue;
            }
            *languages.entry(language).or_default() += 1;
            *module_languages.entry((name, language)).or_default() += 1;
            let role = FileRole::of(path);
            match role {
                FileRole::Entry if !MARKUP_LANGUAGES.contains(&language.as_str()) => {
                    push_path(&mut module.entries, path);
                    overview.entries.push(path.as_str().to_owned());
                }
                FileRole::Test | FileRole::Fixture => module.tests += 1,
                FileRole::Core if !DATA_LANGUAGES.contains(&language.as_str()) => {
                    push_path(&mut module.code, path);
                }
                _ => {}
            }
            if let Some(order) = key_file_order(path) {
                keys.push((order, path.as_str().to_owned()));
            }
        }
        overview
            .entries
            .sort_by_key(|path| (path.matches('/').count(), path.clone()));
        overview.entries.truncate(MAX_LISTED_PATHS);
        keys.sort();
        overview.key_files = keys
            .into_iter()
            .take(MAX_LISTED_PATHS)
            .map(|(_, path)| path)
            .collect();
        overview.languages = sort_counts_of(languages.into_iter());
        for ((module, language), count) in module_languages {
            if let Some(module) = overview.modules.get_mut(module) {
                module.languages.push((language.to_owned(), count));
            }
        }
        for module in overview.modules.values_mut() {
            sort_counts(&mut module.languages);
        }
        overview
    }
}

fn push_path(list: &mut Vec<String>, path: &RepoPath) {
    if list.len() < MAX_LISTED_PATHS {
        list.push(path.as_str().to_owned());
    }
}

fn sort_counts_of<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = counts.map(|(name, count)| (name.to_owned(), count)).collect();
    sort_counts(&mut counts);
    counts
}

/// Sorts by count, the highest first, then by name.
fn sort_counts(counts: &mut [(String, usize)]) {
    counts.sort_by(|(a, one), (b, other)| other.cmp(one).then_with(|| a.cmp(b)));
}

/// The position of a file among the key files. `None` for other files.
fn key_file_order(path: &RepoPath) -> Option<usize> {
    let name = path.as_str();
    if name.contains('/') {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    KEY_FILES.iter().position(|key| *key == name || *key == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overview_has_languages_modules_and_entry_points() {
        let files: Vec<(RepoPath, String)> = [
            ("Cargo.toml", "toml"),
            ("README.md", "markdown"),
            ("assets/logo.png", ""),
            ("src/auth/mod.rs", "rust"),
            ("src/auth/token.rs", "rust"),
            ("src/main.rs", "rust"),
            ("tests/auth.rs", "rust"),
        ]
        .into_iter()
        .map(|(path, language)| (RepoPath::parse(path).unwrap(), language.to_owned()))
        .collect();
        let overview = Overview::of(&files);
        assert_eq!(overview.files, 7);
        assert_eq!(overview.languages[0], ("rust".into(), 4));
        assert_eq!(overview.entries, ["src/main.rs"]);
        assert_eq!(overview.key_files, ["README.md", "Cargo.toml"]);
        let names: Vec<&str> = overview.modules.keys().map(String::as_str).collect();
        assert_eq!(names, ["assets", "auth", "root", "tests"]);
        let auth = &overview.modules["auth"];
        assert_eq!((auth.files, auth.tests), (2, 0));
        assert!(auth.code.contains(&"src/auth/token.rs".to_owned()));
    }
}
