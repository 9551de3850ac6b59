//! What a project consists of: its languages, its modules, where it begins, and the files that say what it is.

use std::collections::{BTreeMap, HashMap};

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;

/// A project at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub files: usize,
    /// Each with how many files, the most first.
    pub languages: Vec<(String, usize)>,
    /// In the order of their names.
    pub modules: BTreeMap<String, Module>,
    /// Where programs begin, those nearest to the top first.
    pub entries: Vec<String>,
    /// What a newcomer reads: the readme, guides, manifests.
    pub key_files: Vec<String>,
}

/// A part of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub files: usize,
    /// Those of them that are code, by what they are for.
    pub tests: usize,
    pub languages: Vec<(String, usize)>,
    pub entries: Vec<String>,
    /// The first of its files that are code, tests left out.
    pub code: Vec<String>,
}

/// Languages of what is no code, wherever it lies.
const DATA: [&str; 8] = [
    "plaintext",
    "markdown",
    "ignore",
    "json",
    "yaml",
    "toml",
    "xml",
    "csv",
];

/// Languages in which nothing begins.
const MARKUP: [&str; 5] = ["css", "scss", "less", "html", "json"];

/// Paths of each list that are kept.
const MAX_PATHS: usize = 20;

/// Files at the top that say what a project is, in the order in which they are read.
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

    /// Of files with their languages, in order.
    pub(crate) fn of(files: &[(RepoPath, String)]) -> Self {
        let mut overview = Self {
            files: files.len(),
            ..Self::default()
        };
        let mut languages: HashMap<&str, usize> = HashMap::new();
        let mut of_modules: HashMap<(&str, &str), usize> = HashMap::new();
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
            *of_modules.entry((name, language)).or_default() += 1;
            let role = FileRole::of(path);
            match role {
                FileRole::Entry if !MARKUP.contains(&language.as_str()) => {
                    push(&mut module.entries, path);
                    overview.entries.push(path.as_str().to_owned());
                }
                FileRole::Test => module.tests += 1,
                FileRole::Core if !DATA.contains(&language.as_str()) => push(&mut module.code, path),
                FileRole::Entry | FileRole::Core | FileRole::Config | FileRole::Docs => {}
            }
            if let Some(order) = key_file(path) {
                keys.push((order, path.as_str().to_owned()));
            }
        }
        overview
            .entries
            .sort_by_key(|path| (path.matches('/').count(), path.clone()));
        overview.entries.truncate(MAX_PATHS);
        keys.sort();
        overview.key_files = keys.into_iter().take(MAX_PATHS).map(|(_, path)| path).collect();
        overview.languages = sorted(languages.into_iter());
        for ((module, language), count) in of_modules {
            if let Some(module) = overview.modules.get_mut(module) {
                module.languages.push((language.to_owned(), count));
            }
        }
        for module in overview.modules.values_mut() {
            sort(&mut module.languages);
        }
        overview
    }
}

fn push(list: &mut Vec<String>, path: &RepoPath) {
    if list.len() < MAX_PATHS {
        list.push(path.as_str().to_owned());
    }
}

fn sorted<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = counts.map(|(name, count)| (name.to_owned(), count)).collect();
    sort(&mut counts);
    counts
}

/// The most first.
fn sort(counts: &mut [(String, usize)]) {
    counts.sort_by(|(a, one), (b, other)| other.cmp(one).then_with(|| a.cmp(b)));
}

/// How early a file at the top is read; nothing for one that need not be.
fn key_file(path: &RepoPath) -> Option<usize> {
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
    fn a_project_is_its_languages_modules_and_beginnings() {
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
