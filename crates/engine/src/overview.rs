//! The overview of a project: its languages, modules and what they are for, programs and key files.
//!
//! Paths, languages and functions named `main` come from the index. Manifests and the files that say what a
//! module is for are read from the disk, a bounded number of them.
//!
//! Invariant: lists are bounded and their order is total.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docent_core::language::Language;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::programs::{
    Program, is_aside, is_manifest, program_of_path, program_with_main, programs_of_manifest,
};
use docent_core::purpose::{order_of, purpose_of};
use docent_core::role::FileRole;
use docent_core::symbols::{SymbolKind, SymbolsReader};

use crate::store::{StoreError, SymbolStore, SymbolsDocument};

/// A project at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub files: usize,
    /// Languages with their number of files, the most frequent first.
    pub languages: Vec<(String, usize)>,
    /// Modules by name.
    pub modules: BTreeMap<String, Module>,
    /// What can be run, those nearest to the root first.
    pub programs: Vec<Program>,
    /// Files for a newcomer: the readme, guides, manifests.
    pub key_files: Vec<String>,
}

/// Sources of an overview, beside the table of files.
pub(crate) struct OverviewSources<'a> {
    /// The text of a file, `None` if it cannot be read.
    pub(crate) read: &'a dyn Fn(&RepoPath) -> Option<String>,
    /// Files with a function `main` that makes them a program.
    pub(crate) mains: Vec<RepoPath>,
}

/// A module of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub files: usize,
    /// How many of the files are tests.
    pub tests: usize,
    pub languages: Vec<(String, usize)>,
    /// The first sentence of its doc comment or README.
    pub purpose: Option<String>,
    /// Its first code files, without tests.
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

/// Longest list of paths, and of programs.
const MAX_LISTED_PATHS: usize = 20;

/// Manifests that are read, those nearest to the root first.
const MAX_MANIFESTS: usize = 200;

/// Modules whose purpose is looked for, the largest first, and files that are read for each.
const MAX_DESCRIBED_MODULES: usize = 100;
const MAX_READ_PER_MODULE: usize = 4;

/// Files with a function `main` that are considered.
const MAX_MAIN_FILES: usize = 500;

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
    pub(crate) fn of(files: &[(RepoPath, String)], sources: &OverviewSources<'_>) -> Self {
        let mut overview = Self::of_paths(files);
        overview.programs = find_programs(files, sources);
        overview.describe_modules(files, sources.read);
        overview
    }

    /// The parts that paths and languages tell.
    fn of_paths(files: &[(RepoPath, String)]) -> Self {
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
            match FileRole::of(path) {
                FileRole::Test | FileRole::Fixture => module.tests += 1,
                FileRole::Core | FileRole::Entry if !DATA_LANGUAGES.contains(&language.as_str()) => {
                    push_path(&mut module.code, path);
                }
                _ => {}
            }
            if let Some(order) = key_file_order(path) {
                keys.push((order, path.as_str().to_owned()));
            }
        }
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

    /// Looks for what the largest modules are for, in the files of each that usually say it.
    fn describe_modules(&mut self, files: &[(RepoPath, String)], read: &dyn Fn(&RepoPath) -> Option<String>) {
        let described: BTreeSet<String> = self
            .by_size()
            .into_iter()
            .take(MAX_DESCRIBED_MODULES)
            .map(|(name, _)| name.clone())
            // The files at the top belong to the whole project.
            .filter(|name| name != "root")
            .collect();
        let mut tops: BTreeMap<&str, &str> = BTreeMap::new();
        for (path, _) in files {
            let directory = directory_of(path.as_str());
            let top = tops.entry(module_of(path)).or_insert(directory);
            *top = common_directory(top, directory);
        }
        let mut speaking: BTreeMap<&str, Vec<(usize, usize, &RepoPath)>> = BTreeMap::new();
        for (path, _) in files {
            let depth = path.as_str().matches('/').count();
            let stem = path.as_str().strip_suffix(".rs").unwrap_or_default();
            // `src/auth.rs` speaks for the files in `src/auth/`, but stands outside of them.
            let sibling = stem
                .rsplit('/')
                .next()
                .filter(|name| tops.get(name) == Some(&stem));
            let own = Some(module_of(path)).filter(|name| {
                let top = tops.get(name).copied().unwrap_or_default();
                is_source_directory(top, name, directory_of(path.as_str()))
            });
            let order = if sibling.is_some() {
                Some(0)
            } else {
                order_of(path)
            };
            if let Some((name, order)) = sibling.or(own).zip(order)
                && described.contains(name)
            {
                speaking.entry(name).or_default().push((depth, order, path));
            }
        }
        for (name, mut candidates) in speaking {
            candidates.sort();
            let purpose = candidates
                .iter()
                .take(MAX_READ_PER_MODULE)
                .find_map(|(_, _, path)| purpose_of(path, &read(path)?));
            if let Some(module) = self.modules.get_mut(name) {
                module.purpose = purpose;
            }
        }
    }
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The longest directory that two directories are in.
fn common_directory<'a>(one: &'a str, other: &str) -> &'a str {
    let mut end = 0;
    for (part, other) in one.split('/').zip(other.split('/')) {
        if part != other {
            break;
        }
        end += part.len() + 1;
    }
    one.get(..end.saturating_sub(1)).unwrap_or_default()
}

/// Whether a directory holds a module's first files: the directory of the module, or of its sources.
fn is_source_directory(top: &str, module: &str, directory: &str) -> bool {
    match directory
        .strip_prefix(top)
        .map(|below| below.trim_start_matches('/'))
    {
        Some("" | "src" | "lib") => true,
        Some(below) => below == module || below.strip_prefix("src/") == Some(module),
        None => false,
    }
}

/// The programs that manifests name, that files are by their place, and those with a function `main`.
fn find_programs(files: &[(RepoPath, String)], sources: &OverviewSources<'_>) -> Vec<Program> {
    let depth = |path: &str| path.matches('/').count();
    let own = files.iter().map(|(path, _)| path).filter(|path| !is_aside(path));
    let paths: BTreeSet<&str> = own.clone().map(RepoPath::as_str).collect();
    let mut manifests: Vec<&RepoPath> = own.clone().filter(|path| is_manifest(path)).collect();
    manifests.sort_by_key(|path| (depth(path.as_str()), path.as_str()));
    let has_cargo = manifests.iter().any(|path| path.file_name() == "Cargo.toml");
    let mut programs: Vec<Program> = manifests
        .into_iter()
        .take(MAX_MANIFESTS)
        .filter_map(|path| Some(programs_of_manifest(path, &(sources.read)(path)?, &paths)))
        .flatten()
        .collect();
    programs.extend(own.filter_map(program_of_path));
    for path in &sources.mains {
        let is_known = programs.iter().any(|program| program.path == path.as_str());
        // Cargo decides which files of Rust are programs; others with a `main` are examples and build
        // scripts.
        let is_rust = path.extension() == Some("rs");
        if is_known || is_aside(path) || (is_rust && has_cargo) {
            continue;
        }
        programs.push(program_with_main(path));
    }
    let is_script = |program: &Program| program.name.starts_with("npm run ");
    programs.sort_by_key(|program| (is_script(program), depth(&program.path)));
    programs.dedup();
    programs.truncate(MAX_LISTED_PATHS);
    programs
}

/// The files whose function `main` makes them a program, by the rules of their language, in the order of
/// their paths.
pub(crate) fn files_with_main(store: &dyn SymbolStore) -> Result<Vec<RepoPath>, StoreError> {
    let mut found = Vec::new();
    for name in ["main", "Main"] {
        for file in store.files_defining(name, MAX_MAIN_FILES)?.files {
            let document = store.read_symbols(file)?;
            if let Ok(path) = RepoPath::parse(&document.path)
                && is_program(&path, name, &document)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn is_program(path: &RepoPath, name: &str, document: &SymbolsDocument) -> bool {
    let language = Language::of_path(path, "");
    let is_method = match language {
        Language::C | Language::Cpp | Language::Go | Language::Rust | Language::Zig | Language::Haskell => {
            false
        }
        Language::Java | Language::CSharp => true,
        // `fun main()`, or `main` of an object.
        Language::Kotlin | Language::Scala | Language::Swift => return has_definition(document, name, None),
        _ => return false,
    };
    // Java and most others begin at `main`, C# at `Main`.
    let expected = if language == Language::CSharp {
        "Main"
    } else {
        "main"
    };
    name == expected
        && path.file_name() != "build.zig"
        && (language != Language::Go || package_of(document) == "main")
        && has_definition(document, name, Some(is_method))
}

fn package_of(document: &SymbolsDocument) -> &str {
    SymbolsReader::new(&document.bytes).map_or("", |symbols| symbols.package())
}

/// Whether a file defines a function of this name with a body: a method or not, or either if that is `None`.
fn has_definition(document: &SymbolsDocument, name: &str, is_method: Option<bool>) -> bool {
    let read = || {
        let symbols = SymbolsReader::new(&document.bytes)?;
        let id = symbols.find_name(name)?;
        let definitions = symbols.definitions()?;
        Ok::<_, docent_core::symbols::DecodeError>(definitions.iter().any(|definition| {
            Some(definition.name) == id
                && definition.has_body
                && matches!(definition.kind, SymbolKind::Function | SymbolKind::Method)
                && is_method.is_none_or(|is_method| definition.parent.is_some() == is_method)
        }))
    };
    read().unwrap_or(false)
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

    /// The overview of files by path and text, where those in `mains` have a function `main`.
    fn overview_of(files: &[(&str, &str)], mains: &[&str]) -> Overview {
        let path = |path: &str| RepoPath::parse(path).unwrap();
        let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
        let mut listed: Vec<(RepoPath, String)> = files
            .iter()
            .map(|(name, _)| {
                let language = Language::of_path(&path(name), "").to_string();
                (path(name), language)
            })
            .collect();
        listed.sort();
        let sources = OverviewSources {
            read: &|path| texts.get(path.as_str()).map(|text| (*text).to_owned()),
            mains: mains.iter().map(|name| path(name)).collect(),
        };
        Overview::of(&listed, &sources)
    }

    #[test]
    fn an_overview_has_languages_modules_and_key_files() {
        let overview = overview_of(
            &[
                ("Cargo.toml", ""),
                ("README.md", "# Zoo\n"),
                ("src/auth/mod.rs", "//! Tokens of visitors.\n"),
                ("src/auth/token.rs", ""),
                ("src/feed.rs", "//! When animals eat, and what.\n"),
                ("src/feed/times.rs", ""),
                ("src/main.rs", ""),
                ("tests/auth.rs", ""),
                ("tests/old/README.md", "Tests that are no longer run.\n"),
            ],
            &[],
        );
        assert_eq!(overview.files, 9);
        assert_eq!(overview.languages[0], ("rust".into(), 6));
        assert_eq!(overview.key_files, ["README.md", "Cargo.toml"]);
        let names: Vec<&str> = overview.modules.keys().map(String::as_str).collect();
        assert_eq!(names, ["auth", "feed", "root", "tests"]);
        let auth = &overview.modules["auth"];
        assert_eq!((auth.files, auth.tests), (2, 0));
        assert_eq!(auth.purpose.as_deref(), Some("Tokens of visitors"));
        let feed = overview.modules["feed"].purpose.as_deref();
        assert_eq!(feed, Some("When animals eat, and what"));
        assert_eq!(overview.modules["tests"].purpose, None);
        assert!(auth.code.contains(&"src/auth/token.rs".to_owned()));
    }

    #[test]
    fn programs_are_named_by_manifests_places_and_main_functions_not_by_file_names() {
        let overview = overview_of(
            &[
                ("Cargo.toml", "[package]\nname = \"zoo\"\n"),
                ("build.rs", ""),
                ("src/main.rs", ""),
                ("assets/index.svg", ""),
                ("scripts/server.sh", ""),
                ("tools/cli.py", ""),
                ("zoo/__main__.py", ""),
                ("cmd/feed/main.go", ""),
                ("examples/main.c", ""),
                ("web/package.json", "{\"scripts\": {\"build\": \"tsc\"}}"),
            ],
            &["build.rs", "src/main.rs", "cmd/feed/main.go", "examples/main.c"],
        );
        let programs: Vec<(&str, &str)> = overview
            .programs
            .iter()
            .map(|program| (program.name.as_str(), program.path.as_str()))
            .collect();
        assert_eq!(
            programs,
            [
                ("zoo", "src/main.rs"),
                ("python -m zoo", "zoo/__main__.py"),
                ("feed", "cmd/feed/main.go"),
                ("npm run build", "web/package.json"),
            ]
        );
    }
}
