//! Haskell packages: `*.cabal` and hpack's `package.yaml`, with the directories of their modules and the
//! packages that they depend on.
//!
//! Only `hs-source-dirs` and `build-depends` are read, of all components together and under every condition.
//! A module that only some flags include still lies in the project.
//!
//! Invariant: packages are looked for in at most [`MAX_VISITED_DIRECTORIES`] directories, and only packages
//! that an import may lead to are read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use serde_json::Value;

use super::workspace_members::SKIPPED_DIRECTORIES;
use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::paths::{ancestors, child_path, extension, file_name, join, parent, stem};
use crate::yaml::bounded_options;

/// Directories that are searched for packages.
const MAX_VISITED_DIRECTORIES: usize = 5_000;
/// Depth of the packages of a repository.
const MAX_PACKAGE_DEPTH: usize = 5;
/// The manifest of hpack, from which a `.cabal` file is generated.
const HPACK_FILE: &str = "package.yaml";

/// A package: the directories of its modules, and its dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::imports) struct CabalPackage {
    /// Directories of its libraries, which other packages import from.
    pub(in crate::imports) library: Vec<String>,
    /// Directories of its programs, tests and benchmarks.
    pub(in crate::imports) programs: Vec<String>,
    /// Names of the packages that a component of it depends on.
    pub(in crate::imports) dependencies: BTreeSet<String>,
}

/// The packages of a project.
#[derive(Default)]
pub(in crate::imports) struct CabalPackages {
    by_directory: Memo<Option<CabalPackage>>,
    /// Manifests by the name of their package.
    by_name: Memo<BTreeMap<String, Vec<String>>>,
}

impl CabalPackages {
    /// The package that a file belongs to: the nearest one above it.
    pub(in crate::imports) fn owner(
        &self,
        project: &CachedProject<'_>,
        from: &str,
    ) -> Option<Rc<Option<CabalPackage>>> {
        ancestors(parent(from)).find_map(|directory| {
            let manifest = find_manifest(project, directory)?;
            Some(self.read(project, &manifest))
        })
    }

    /// The package of a name. If the repository has several, the nearest to `from` is meant.
    pub(in crate::imports) fn find(
        &self,
        project: &CachedProject<'_>,
        from: &str,
        name: &str,
    ) -> Option<Rc<Option<CabalPackage>>> {
        let all = self.by_name.get_or_make("", || list_packages(project));
        let shared = |manifest: &&String| {
            let pairs = manifest.split('/').zip(from.split('/'));
            pairs.take_while(|(one, other)| one == other).count()
        };
        // The first of equals, where `max_by_key` would take the last.
        let manifest = all.get(name)?.iter().rev().max_by_key(shared)?;
        Some(self.read(project, manifest))
    }

    fn read(&self, project: &CachedProject<'_>, manifest: &str) -> Rc<Option<CabalPackage>> {
        self.by_directory.get_or_make(manifest, || {
            let text = project.read(manifest);
            let text = text.as_deref()?;
            let directory = parent(manifest);
            if extension(manifest) == "cabal" {
                Some(read_cabal(directory, text))
            } else {
                read_hpack(directory, text)
            }
        })
    }
}

/// The manifest in a directory. A `.cabal` file says all that the `package.yaml` beside it does.
fn find_manifest(project: &CachedProject<'_>, directory: &str) -> Option<String> {
    let cabal = project.list_files(directory, |name| extension(name) == "cabal");
    let hpack = || project.list_files(directory, |name| name == HPACK_FILE);
    cabal.into_iter().next().or_else(|| hpack().into_iter().next())
}

/// The manifests of a project by the names of their packages. Cabal demands that a `.cabal` file is named
/// after its package; hpack takes the directory's name unless it is told another.
fn list_packages(project: &CachedProject<'_>) -> BTreeMap<String, Vec<String>> {
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut waiting = VecDeque::from([(String::new(), 0)]);
    for _ in 0..MAX_VISITED_DIRECTORIES {
        let Some((directory, depth)) = waiting.pop_front() else {
            break;
        };
        if let Some(manifest) = find_manifest(project, &directory) {
            let name = if extension(&manifest) == "cabal" {
                stem(&manifest).to_owned()
            } else {
                let text = project.read(&manifest);
                let document = text.as_deref().and_then(parse_yaml).unwrap_or_default();
                let name = document["name"].as_str();
                name.unwrap_or(file_name(&directory)).to_owned()
            };
            packages.entry(name).or_default().push(manifest);
        }
        let inner = project.list_directories(&directory).into_iter();
        let inner =
            inner.filter(|name| !name.starts_with('.') && !SKIPPED_DIRECTORIES.contains(&name.as_str()));
        if depth < MAX_PACKAGE_DEPTH {
            waiting.extend(inner.map(|name| (child_path(&directory, &name), depth + 1)));
        }
    }
    packages
}

/// A part of a `.cabal` file: a component, or a `common` part that components import.
#[derive(Default)]
struct Stanza<'t> {
    /// In lower case; empty for the fields before any part.
    kind: String,
    name: &'t str,
    imports: Vec<&'t str>,
    directories: Vec<&'t str>,
    dependencies: Vec<&'t str>,
}

fn read_cabal(directory: &str, text: &str) -> CabalPackage {
    let stanzas = read_stanzas(text);
    let mut package = CabalPackage::default();
    for stanza in &stanzas {
        let dependencies = stanza.dependencies.iter().map(|name| (*name).to_owned());
        package.dependencies.extend(dependencies);
        let list = match stanza.kind.as_str() {
            "library" | "foreign-library" => &mut package.library,
            "executable" | "test-suite" | "benchmark" => &mut package.programs,
            _ => continue,
        };
        let common = stanzas
            .iter()
            .filter(|other| other.kind == "common" && stanza.imports.contains(&other.name));
        let written = common
            .flat_map(|common| &common.directories)
            .chain(&stanza.directories);
        let mut directories: Vec<String> = written.filter_map(|written| join(directory, written)).collect();
        if directories.is_empty() {
            directories.push(directory.to_owned());
        }
        list.extend(directories);
    }
    package.without_repeats()
}

/// Reads the parts of a `.cabal` file. The first, without a kind, has the fields before any part.
fn read_stanzas(text: &str) -> Vec<Stanza<'_>> {
    let mut stanzas = vec![Stanza::default()];
    // The field that a line with a deeper indentation continues.
    let mut field = (String::new(), 0);
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with("--") {
            continue;
        }
        let indentation = line.len() - line.trim_start().len();
        let mut value = content;
        if field.0.is_empty() || indentation <= field.1 {
            if let Some((name, rest)) = split_field(content) {
                field = (name, indentation);
                value = rest;
            } else {
                field = (String::new(), 0);
                let mut words = content.split_whitespace();
                if indentation == 0 {
                    stanzas.push(Stanza {
                        kind: words.next().unwrap_or_default().to_ascii_lowercase(),
                        name: words.next().unwrap_or_default(),
                        ..Stanza::default()
                    });
                }
                continue;
            }
        }
        let Some(stanza) = stanzas.last_mut() else { break };
        match field.0.as_str() {
            "hs-source-dirs" | "hs-source-dir" => stanza.directories.extend(list_words(value)),
            "import" => stanza.imports.extend(list_words(value)),
            "build-depends" => stanza
                .dependencies
                .extend(value.split(',').filter_map(package_name)),
            _ => {}
        }
    }
    stanzas
}

/// Splits `name: value`. Conditions such as `if os(windows)` and headers have no colon after one word.
fn split_field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    is_name.then(|| (name.to_ascii_lowercase(), value.trim()))
}

fn list_words(value: &str) -> impl Iterator<Item = &str> {
    value
        .split([',', ' ', '\t'])
        .map(|word| word.trim_matches('"'))
        .filter(|word| !word.is_empty())
}

/// The package of a dependency: `text` of `text >=1.2` and of `text:internal`.
fn package_name(dependency: &str) -> Option<&str> {
    let dependency = dependency.trim();
    let end = dependency.find(|c: char| !c.is_alphanumeric() && c != '-');
    let name = &dependency[..end.unwrap_or(dependency.len())];
    (!name.is_empty()).then_some(name)
}

fn parse_yaml(text: &str) -> Option<Value> {
    serde_saphyr::from_str_with_options(text, bounded_options()).ok()
}

fn read_hpack(directory: &str, text: &str) -> Option<CabalPackage> {
    const PROGRAMS: [&str; 6] = [
        "executable",
        "executables",
        "tests",
        "benchmarks",
        "benchmark",
        "test",
    ];
    let document = parse_yaml(text)?;
    let mut package = CabalPackage::default();
    let shared = source_directories(directory, &document);
    let mut add = |section: &Value, is_library: bool| {
        let mut directories = shared.clone();
        directories.extend(source_directories(directory, section));
        if directories.is_empty() {
            directories.push(directory.to_owned());
        }
        let list = if is_library {
            &mut package.library
        } else {
            &mut package.programs
        };
        list.extend(directories);
        package.dependencies.extend(hpack_dependencies(section));
    };
    let components = |name: &str| document[name].as_object().into_iter().flatten();
    if document["library"].is_object() {
        add(&document["library"], true);
    }
    for (_, section) in components("internal-libraries") {
        add(section, true);
    }
    for kind in PROGRAMS {
        if document[kind]["main"].is_string() {
            add(&document[kind], false);
        } else {
            components(kind).for_each(|(_, section)| add(section, false));
        }
    }
    package.dependencies.extend(hpack_dependencies(&document));
    Some(package.without_repeats())
}

fn source_directories(directory: &str, section: &Value) -> Vec<String> {
    let written = &section["source-dirs"];
    let several = written.as_array().into_iter().flatten();
    let all = several.chain([written]).filter_map(Value::as_str);
    all.filter_map(|written| join(directory, written)).collect()
}

/// The dependencies of a section: a list, one text, or names with their versions.
fn hpack_dependencies(section: &Value) -> Vec<String> {
    let written = &section["dependencies"];
    let listed = written.as_array().into_iter().flatten().chain([written]);
    let listed = listed.filter_map(|one| one.as_str().or_else(|| one["name"].as_str()));
    let named = written
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());
    listed
        .chain(named)
        .filter_map(package_name)
        .map(str::to_owned)
        .collect()
}

impl CabalPackage {
    /// Each directory once, in the order of the file. A directory of a library is not one of a program.
    fn without_repeats(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.library.retain(|directory| seen.insert(directory.clone()));
        self.programs.retain(|directory| seen.insert(directory.clone()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(library: &[&str], programs: &[&str], dependencies: &[&str]) -> CabalPackage {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        CabalPackage {
            library: owned(library),
            programs: owned(programs),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn a_cabal_file_has_the_directories_and_dependencies_of_its_components() {
        let text = "\
name:          shop
-- hs-source-dirs: old
common shared
    hs-source-dirs: common-src
    build-depends: base >=4.9 && <5,
                   containers

Library
  import: shared
  hs-source-dirs:
      src, \"gen\"
  exposed-modules: Shop
  if os(windows)
    hs-source-dirs: win32
    build-depends: Win32:internal ^>= 2

executable shop
  main-is: Main.hs
  HS-Source-Dirs: app
  build-depends: shop
test-suite spec
  type: exitcode-stdio-1.0
";
        assert_eq!(
            read_cabal("pkg", text),
            package(
                &["pkg/common-src", "pkg/src", "pkg/gen", "pkg/win32"],
                &["pkg/app", "pkg"],
                &["Win32", "base", "containers", "shop"]
            )
        );
    }

    #[test]
    fn hpack_has_the_same_facts_in_yaml() {
        let text = "\
name: shop
dependencies:
- base >=4.9
- name: text
library:
  source-dirs: src
executables:
  shop:
    main: Main.hs
    source-dirs: [app, gen]
    dependencies: shop
tests:
  spec: {main: Spec.hs, source-dirs: test}
";
        assert_eq!(
            read_hpack("", text),
            Some(package(
                &["src"],
                &["app", "gen", "test"],
                &["base", "shop", "text"]
            ))
        );
        assert_eq!(read_hpack("", "a: [b"), None);
    }
}
