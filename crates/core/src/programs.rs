//! The programs of a project: what its manifests say that can be run, and by which convention a file is a
//! program.
//!
//! Manifests of Cargo, Python and npm are read. A name like `index` or `app` alone makes no program. Targets
//! that a build system computes (of Bazel, Gradle and the like) are left out.
//!
//! Invariant: text that is no manifest has no programs.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toml::Table;

use crate::path::{RepoPath, normalise_path};

/// Something that can be run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// As one calls it: `docent`, `python -m http`, `npm run build`.
    pub name: String,
    /// The file that it begins in; the manifest if that names none that is there.
    pub path: String,
}

/// Scripts of npm that are listed, of one manifest.
const MAX_NPM_SCRIPTS: usize = 12;

/// Directories whose programs serve the work on the project: tests, samples, code of others.
const ASIDE_DIRECTORIES: [&str; 20] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "__tests__",
    "spec",
    "specs",
    "fixtures",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "benches",
    "fuzz",
    "fuzz_targets",
    "playground",
    "vendor",
    "third_party",
    "node_modules",
];

/// True for a file of tests, samples or of other projects, whose programs are not the project's own.
pub fn is_aside(path: &RepoPath) -> bool {
    let mut directories = path.components().rev().skip(1);
    directories.any(|directory| ASIDE_DIRECTORIES.contains(&directory.to_ascii_lowercase().as_str()))
}

/// True for a file that [`programs_of_manifest`] reads.
pub fn is_manifest(path: &RepoPath) -> bool {
    matches!(
        path.file_name(),
        "Cargo.toml" | "pyproject.toml" | "setup.cfg" | "package.json"
    )
}

/// The programs that a manifest names. `files` are the paths of the project.
pub fn programs_of_manifest(path: &RepoPath, text: &str, files: &BTreeSet<&str>) -> Vec<Program> {
    let manifest = Manifest { path, files };
    match path.file_name() {
        "Cargo.toml" => manifest.cargo(text),
        "pyproject.toml" => manifest.python(text),
        "setup.cfg" => manifest.console_scripts(text),
        "package.json" => manifest.npm(text),
        _ => Vec::new(),
    }
}

/// The program that a file is by its place: `python -m PACKAGE` for `PACKAGE/__main__.py`.
pub fn program_of_path(path: &RepoPath) -> Option<Program> {
    if path.file_name() != "__main__.py" {
        return None;
    }
    let mut directories: Vec<&str> = path.components().collect();
    directories.pop();
    let package: Vec<&str> = directories
        .into_iter()
        .skip_while(|directory| matches!(*directory, "src" | "lib" | "python"))
        .collect();
    let name = if package.is_empty() {
        "python .".to_owned()
    } else {
        format!("python -m {}", package.join("."))
    };
    Some(Program {
        name,
        path: path.as_str().to_owned(),
    })
}

/// The program of a file with a function `main`, by the directory that holds it.
pub fn program_with_main(path: &RepoPath) -> Program {
    let stem = path.file_name().split('.').next().unwrap_or_default();
    let mut above = path.components().rev().skip(1);
    let directory = above.find(|name| !matches!(*name, "src" | "main" | "java" | "kotlin"));
    let name = match directory {
        Some(directory) if stem.eq_ignore_ascii_case("main") => directory,
        _ => stem,
    };
    Program {
        name: name.to_owned(),
        path: path.as_str().to_owned(),
    }
}

struct Manifest<'a> {
    path: &'a RepoPath,
    files: &'a BTreeSet<&'a str>,
}

impl<'a> Manifest<'a> {
    fn directory(&self) -> &str {
        self.path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
    }

    /// A path of the manifest as one of the project.
    fn below(&self, path: &str) -> String {
        normalise_path(&format!("{}/{path}", self.directory()))
            .trim_start_matches('/')
            .to_owned()
    }

    /// A program that begins in the first of these files that is there, else in the manifest.
    fn program(&self, name: &str, candidates: &[String]) -> Program {
        let first = candidates.iter().find(|path| self.files.contains(path.as_str()));
        Program {
            name: name.to_owned(),
            path: first.map_or_else(|| self.path.as_str().to_owned(), Clone::clone),
        }
    }

    /// Files below a directory of the manifest.
    fn files_below(&self, directory: &str) -> Vec<&'a str> {
        let prefix = self.below(directory) + "/";
        let files: &'a BTreeSet<&'a str> = self.files;
        let below = files.iter().copied().skip_while(|path| *path < prefix.as_str());
        below.take_while(|path| path.starts_with(&prefix)).collect()
    }

    fn cargo(&self, text: &str) -> Vec<Program> {
        let Ok(manifest) = text.parse::<Table>() else {
            return Vec::new();
        };
        let package = manifest.get("package");
        let package_name = package.and_then(|package| package.get("name")?.as_str());
        let bins = manifest.get("bin").and_then(toml::Value::as_array);
        let mut programs: Vec<Program> = Vec::new();
        for bin in bins.into_iter().flatten() {
            let Some(name) = bin.get("name").and_then(toml::Value::as_str).or(package_name) else {
                continue;
            };
            let path = bin.get("path").and_then(toml::Value::as_str);
            let usual = [
                format!("src/bin/{name}.rs"),
                format!("src/bin/{name}/main.rs"),
                "src/main.rs".into(),
            ];
            let candidates: Vec<String> = path
                .into_iter()
                .chain(usual.iter().map(String::as_str))
                .map(|path| self.below(path))
                .collect();
            programs.push(self.program(name, &candidates));
        }
        let finds_itself = package.and_then(|package| package.get("autobins")?.as_bool()) != Some(false);
        if package.is_none() || !finds_itself {
            return programs;
        }
        let mut found: Vec<(&str, &str)> = Vec::new();
        let main = self.below("src/main.rs");
        if let (Some(name), Some(path)) = (package_name, self.files.get(main.as_str())) {
            found.push((name, path));
        }
        let directory = self.below("src/bin") + "/";
        for path in self.files_below("src/bin") {
            let name = path.strip_prefix(directory.as_str()).unwrap_or(path);
            match name.strip_suffix("/main.rs").or_else(|| name.strip_suffix(".rs")) {
                Some(name) if !name.contains('/') => found.push((name, path)),
                _ => {}
            }
        }
        for (name, path) in found {
            if !programs.iter().any(|program| program.path == path) {
                programs.push(self.program(name, &[path.to_owned()]));
            }
        }
        programs
    }

    fn python(&self, text: &str) -> Vec<Program> {
        let Ok(manifest) = text.parse::<Table>() else {
            return Vec::new();
        };
        let table = |names: &[&str]| {
            let mut at: Option<&Table> = Some(&manifest);
            for name in names {
                at = at.and_then(|table| table.get(*name)?.as_table());
            }
            at
        };
        let tables = [
            &["project", "scripts"][..],
            &["project", "gui-scripts"],
            &["tool", "poetry", "scripts"],
        ];
        let scripts = tables.into_iter().filter_map(table).flatten();
        scripts
            .filter_map(|(name, target)| Some(self.python_script(name, target.as_str()?)))
            .collect()
    }

    /// `[options.entry_points]` of setup.cfg: lines `NAME = module:function` below `console_scripts =`.
    fn console_scripts(&self, text: &str) -> Vec<Program> {
        let below = text.lines().skip_while(|line| {
            let key = line.split('=').next().unwrap_or_default().trim();
            key != "console_scripts"
        });
        below
            .skip(1)
            .take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty())
            .filter_map(|line| line.split_once('='))
            .map(|(name, target)| self.python_script(name.trim(), target.trim()))
            .collect()
    }

    /// The program that calls `package.module:function`.
    fn python_script(&self, name: &str, target: &str) -> Program {
        let module = target
            .split(':')
            .next()
            .unwrap_or_default()
            .trim()
            .replace('.', "/");
        let candidates: Vec<String> = ["", "src/", "lib/", "python/"]
            .into_iter()
            .flat_map(|source| {
                [
                    format!("{source}{module}.py"),
                    format!("{source}{module}/__init__.py"),
                ]
            })
            .map(|path| self.below(&path))
            .collect();
        self.program(name, &candidates)
    }

    fn npm(&self, text: &str) -> Vec<Program> {
        let manifest: Json = serde_json::from_str(text).unwrap_or_default();
        let name = manifest["name"].as_str().unwrap_or_default();
        let unscoped = name.rsplit('/').next().unwrap_or_default();
        let bins = match &manifest["bin"] {
            Json::String(path) if !unscoped.is_empty() => vec![(unscoped, path.as_str())],
            Json::Object(bins) => bins
                .iter()
                .filter_map(|(name, path)| Some((name.as_str(), path.as_str()?)))
                .collect(),
            _ => Vec::new(),
        };
        let mut programs: Vec<Program> = bins
            .into_iter()
            .map(|(name, path)| self.program(name, &[self.below(path)]))
            .collect();
        let scripts = manifest["scripts"].as_object().into_iter().flatten();
        // `preinstall` and the like are run by npm, not by people.
        let scripts = scripts.map(|(name, _)| name.as_str()).filter(|name| {
            !["pre", "post"].iter().any(|hook| {
                name.strip_prefix(hook).is_some_and(|rest| {
                    manifest["scripts"].get(rest).is_some()
                        || matches!(rest, "install" | "pare" | "publish" | "pack")
                })
            }) && *name != "prepare"
        });
        programs.extend(
            scripts
                .take(MAX_NPM_SCRIPTS)
                .map(|name| self.program(&format!("npm run {name}"), &[])),
        );
        programs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manifest: &str, text: &str, files: &[&str], expected: &[(&str, &str)]) {
        let files: BTreeSet<&str> = files.iter().copied().collect();
        let programs = programs_of_manifest(&RepoPath::parse(manifest).unwrap(), text, &files);
        let found: Vec<(&str, &str)> = programs
            .iter()
            .map(|program| (program.name.as_str(), program.path.as_str()))
            .collect();
        assert_eq!(found, expected, "{manifest}");
    }

    #[test]
    fn cargo_names_programs_by_bin_tables_and_by_places() {
        let files = [
            "app/src/main.rs",
            "app/src/bin/tool.rs",
            "app/src/bin/many/main.rs",
            "app/src/bin/many/part.rs",
        ];
        check(
            "app/Cargo.toml",
            "[package]\nname = \"zoo-app\"\n[[bin]]\nname = \"zoo\"\npath = \"src/main.rs\"\n",
            &files,
            &[
                ("zoo", "app/src/main.rs"),
                ("many", "app/src/bin/many/main.rs"),
                ("tool", "app/src/bin/tool.rs"),
            ],
        );
        check(
            "app/Cargo.toml",
            "[package]\nname = \"zoo\"\n",
            &files[..1],
            &[("zoo", "app/src/main.rs")],
        );
        check(
            "app/Cargo.toml",
            "[package]\nname = \"zoo\"\nautobins = false\n",
            &files,
            &[],
        );
        check(
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\"]\n",
            &["src/main.rs"],
            &[],
        );
        check("Cargo.toml", "[package\n", &["src/main.rs"], &[]);
    }

    #[test]
    fn python_names_programs_by_scripts() {
        check(
            "pyproject.toml",
            "[project.scripts]\nzoo = \"zoo.cli:main\"\n[tool.poetry.scripts]\nfeed = \"zoo.feed:run\"\n",
            &["src/zoo/cli.py", "zoo/feed.py"],
            &[("zoo", "src/zoo/cli.py"), ("feed", "zoo/feed.py")],
        );
        check(
            "setup.cfg",
            "[options.entry_points]\nconsole_scripts =\n    zoo = zoo:main\n\n[other]\na = b\n",
            &["zoo/__init__.py"],
            &[("zoo", "zoo/__init__.py")],
        );
        let main = |path: &str| program_of_path(&RepoPath::parse(path).unwrap()).map(|program| program.name);
        assert_eq!(main("src/zoo/__main__.py").as_deref(), Some("python -m zoo"));
        assert_eq!(main("__main__.py").as_deref(), Some("python ."));
        assert_eq!(main("src/zoo/main.py"), None);
    }

    #[test]
    fn npm_names_programs_by_bin_and_scripts() {
        check(
            "web/package.json",
            r#"{"name": "@zoo/web", "bin": "./bin/zoo.js", "scripts": {"build": "tsc", "prebuild": "x", "prepare": "husky"}}"#,
            &["web/bin/zoo.js"],
            &[("web", "web/bin/zoo.js"), ("npm run build", "web/package.json")],
        );
        check("package.json", "not JSON", &[], &[]);
    }

    #[test]
    fn a_program_with_main_is_named_by_its_directory_or_its_file() {
        let name = |path: &str| program_with_main(&RepoPath::parse(path).unwrap()).name;
        assert_eq!(name("cmd/hugo/main.go"), "hugo");
        assert_eq!(name("src/feed.c"), "feed");
        assert_eq!(name("zoo/src/main/java/Main.java"), "zoo");
        assert_eq!(name("main.c"), "main");
    }
}
