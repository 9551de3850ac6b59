//! package.json: packages of the same workspace, and the files they export.
//!
//! Installed packages (`node_modules`) are left out. A package exports compiled files, which are seldom in
//! the project, so the source of each is tried first, by the usual directory names.
//!
//! Invariant: only packages listed in `workspaces` (or by pnpm) are found, and those above the importing
//! file.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::manifests::workspace_members::find_members;
use crate::imports::paths::{ancestors, child_path, join};

/// Output directories of compilers, which correspond to `src`.
const OUTPUT_DIRECTORIES: &[&str] = &["dist", "lib", "build", "out", "es", "esm", "cjs"];
/// Endings of compiled files.
const COMPILED_ENDINGS: &[&str] = &[".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs"];
/// Files that one entry of a manifest may name.
const MAX_TARGETS: usize = 40;

/// Packages by name, for each directory with a workspace or a package.
#[derive(Default)]
pub(in crate::imports) struct Workspaces {
    packages: Memo<BTreeMap<String, String>>,
}

impl Workspaces {
    /// The paths that a bare name may mean in a directory, most likely first.
    pub(in crate::imports) fn candidate_paths(
        &self,
        project: &CachedProject<'_>,
        directory: &str,
        name: &str,
    ) -> Vec<String> {
        if name.starts_with('#') {
            return internal_paths(project, directory, name);
        }
        let (package, rest) = split_package_name(name);
        let found = self.find_package(project, directory, package);
        found
            .map(|home| exported_paths(project, &home, rest))
            .unwrap_or_default()
    }

    /// The same for files that a manifest does not export, such as settings: the path below the package.
    pub(in crate::imports) fn unexported_paths(
        &self,
        project: &CachedProject<'_>,
        directory: &str,
        name: &str,
    ) -> Vec<String> {
        let (package, rest) = split_package_name(name);
        let found = self.find_package(project, directory, package);
        found.and_then(|home| join(&home, rest)).into_iter().collect()
    }

    fn find_package(&self, project: &CachedProject<'_>, directory: &str, name: &str) -> Option<String> {
        ancestors(directory).find_map(|above| self.packages_at(project, above).get(name).cloned())
    }

    /// The packages of the workspace at this directory, and the package of the directory itself.
    fn packages_at(&self, project: &CachedProject<'_>, directory: &str) -> Rc<BTreeMap<String, String>> {
        self.packages.get_or_make(directory, || {
            let manifest = project.read_json(&child_path(directory, "package.json"));
            let mut patterns = Vec::new();
            if let Some(manifest) = manifest.as_ref() {
                let list = &manifest["workspaces"];
                let list = list.as_array().or_else(|| list["packages"].as_array());
                patterns.extend(
                    list.into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .map(str::to_owned),
                );
            }
            if let Some(text) = project
                .read(&child_path(directory, "pnpm-workspace.yaml"))
                .as_ref()
            {
                patterns.extend(read_pnpm_patterns(text));
            }
            let mut homes = find_members(project, directory, &patterns, "package.json");
            homes.insert(directory.to_owned());
            let named = homes.into_iter().filter_map(|home| {
                let manifest = project.read_json(&child_path(&home, "package.json"));
                let name = manifest.as_ref().as_ref()?["name"].as_str()?.to_owned();
                Some((name, home))
            });
            named.collect()
        })
    }
}

/// The entry points in the manifest of a package, without its index file.
pub(in crate::imports) fn entry_points(project: &CachedProject<'_>, home: &str) -> Vec<String> {
    let manifest = project.read_json(&child_path(home, "package.json"));
    let Some(manifest) = manifest.as_ref() else {
        return Vec::new();
    };
    let mut targets = find_targets(&manifest["exports"], ".");
    let fields = ["source", "types", "typings", "module", "main"];
    targets.extend(
        fields
            .iter()
            .filter_map(|field| manifest[*field].as_str())
            .map(str::to_owned),
    );
    targets
        .iter()
        .flat_map(|target| source_paths(home, target))
        .collect()
}

fn exported_paths(project: &CachedProject<'_>, home: &str, rest: &str) -> Vec<String> {
    if rest.is_empty() {
        let mut paths = entry_points(project, home);
        paths.extend([child_path(home, "src/index"), child_path(home, "index")]);
        return paths;
    }
    let manifest = project.read_json(&child_path(home, "package.json"));
    let exports = manifest
        .as_ref()
        .as_ref()
        .map(|manifest| find_targets(&manifest["exports"], &format!("./{rest}")));
    let exports = exports.unwrap_or_default();
    let mut paths: Vec<String> = exports
        .iter()
        .flat_map(|target| source_paths(home, target))
        .collect();
    paths.extend(join(home, rest));
    paths.extend(join(&child_path(home, "src"), rest));
    paths
}

/// The paths of a package-internal name such as `#internal/x`, by the nearest manifest.
fn internal_paths(project: &CachedProject<'_>, directory: &str, name: &str) -> Vec<String> {
    let home = ancestors(directory).find(|above| project.is_file(&child_path(above, "package.json")));
    let Some(home) = home else {
        return Vec::new();
    };
    let manifest = project.read_json(&child_path(home, "package.json"));
    let targets = manifest
        .as_ref()
        .as_ref()
        .map(|manifest| find_targets(&manifest["imports"], name));
    targets
        .unwrap_or_default()
        .iter()
        .flat_map(|target| source_paths(home, target))
        .collect()
}

/// Splits `@scope/name/rest` or `name/rest` into the package name and the rest.
fn split_package_name(name: &str) -> (&str, &str) {
    let words = if name.starts_with('@') { 2 } else { 1 };
    match name.match_indices('/').nth(words - 1) {
        Some((at, _)) => (&name[..at], &name[at + 1..]),
        None => (name, ""),
    }
}

/// The targets of a key in `exports` or `imports`, under any condition.
fn find_targets(exports: &Value, key: &str) -> Vec<String> {
    let table = exports
        .as_object()
        .filter(|table| table.keys().any(|key| key.starts_with(['.', '#'])));
    let Some(table) = table else {
        // Without keys, the whole value is about the package's own name.
        return if key == "." {
            collect_targets(exports, "")
        } else {
            Vec::new()
        };
    };
    if let Some(value) = table.get(key) {
        return collect_targets(value, "");
    }
    let fitting = table.iter().filter_map(|(pattern, value)| {
        let (before, after) = pattern.split_once('*')?;
        let star = key.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), star, value))
    });
    let closest = fitting.max_by_key(|(length, ..)| *length);
    closest
        .map(|(_, star, value)| collect_targets(value, star))
        .unwrap_or_default()
}

/// The paths in a value, through all conditions and lists, with `star` in place of `*`.
fn collect_targets(value: &Value, star: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(path) if found.len() < MAX_TARGETS => found.push(path.replacen('*', star, 1)),
            Value::Array(list) => waiting.extend(list.iter().rev()),
            Value::Object(table) => waiting.extend(table.values().rev()),
            _ => {}
        }
    }
    found
}

/// The paths where the source of an exported file may be, and the file itself.
fn source_paths(home: &str, target: &str) -> Vec<String> {
    let bare = COMPILED_ENDINGS
        .iter()
        .find_map(|end| target.strip_suffix(end))
        .unwrap_or(target);
    let names: Vec<&str> = bare
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    let compiled = names
        .iter()
        .take_while(|name| OUTPUT_DIRECTORIES.contains(name))
        .count();
    let mut relative = Vec::new();
    if compiled > 0 && compiled < names.len() {
        relative.push(format!("src/{}", names[compiled..].join("/")));
        relative.push(names[compiled..].join("/"));
    }
    relative.extend([target.to_owned(), bare.to_owned()]);
    relative.iter().filter_map(|path| join(home, path)).collect()
}

/// Reads the list below `packages:`. Other YAML does not occur there.
fn read_pnpm_patterns(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("packages:"))
        .skip(1);
    let items = lines.map(|line| line.split(" #").next().unwrap_or_default().trim());
    let items = items
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map_while(|line| line.strip_prefix('-'));
    items
        .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sample_project::Sample;

    fn workspace(manifest: &str) -> Sample {
        Sample::of(&[
            "packages/core/src/index.ts",
            "packages/core/src/deep/x.ts",
            "packages/core/tool.js",
        ])
        .with(
            "package.json",
            "{\"private\": true, \"workspaces\": [\"packages/*\"]}",
        )
        .with("packages/core/package.json", manifest)
        .with("packages/app/package.json", "{\"name\": \"app\"}")
    }

    const FROM: &str = "packages/app/src/main.ts";

    #[test]
    fn a_package_of_the_workspace_is_found_by_its_name() {
        for manifest in [
            "{\"name\": \"@acme/core\"}",
            "{\"name\": \"@acme/core\", \"main\": \"dist/index.js\", \"types\": \"dist/index.d.ts\"}",
            "{\"name\": \"@acme/core\", \"exports\": \"./dist/index.js\"}",
            "{\"name\": \"@acme/core\", \"exports\": {\".\": {\"import\": [\"./dist/esm/index.mjs\"]}}}",
        ] {
            let sample = workspace(manifest);
            sample.check(
                "typescript",
                FROM,
                "import '@acme/core'",
                "packages/core/src/index.ts",
            );
            sample.check(
                "typescript",
                FROM,
                "import '@acme/core/tool'",
                "packages/core/tool.js",
            );
            sample.check(
                "typescript",
                FROM,
                "import '@acme/core/deep/x'",
                "packages/core/src/deep/x.ts",
            );
            sample.check("typescript", FROM, "import '@acme/other'", "external");
            sample.check(
                "typescript",
                FROM,
                "import '@acme/core/../../../../x'",
                "external",
            );
        }
    }

    #[test]
    fn a_workspace_may_list_its_packages_in_other_forms() {
        let sample = workspace("{\"name\": \"core\"}");
        let sample = sample.with(
            "package.json",
            "{\"workspaces\": {\"packages\": [\"packages/**\"]}}",
        );
        sample.check("typescript", FROM, "import 'core'", "packages/core/src/index.ts");
        let sample = sample.with("package.json", "{}").with(
            "pnpm-workspace.yaml",
            "# all\npackages:\n  # ours\n  - 'packages/*' # two\n\ncatalog:\n  - x\n",
        );
        sample.check("typescript", FROM, "import 'core'", "packages/core/src/index.ts");
        let sample = sample.with("pnpm-workspace.yaml", "packages: []");
        sample.check("typescript", FROM, "import 'core'", "external");
    }

    #[test]
    fn exports_may_have_patterns() {
        let sample = workspace(
            "{\"name\": \"core\", \"exports\": {\"./*\": \"./src/deep/*.ts\", \"./t\": \"./tool.js\"}}",
        );
        sample.check(
            "typescript",
            FROM,
            "import 'core/x'",
            "packages/core/src/deep/x.ts",
        );
        sample.check("typescript", FROM, "import 'core/t'", "packages/core/tool.js");
    }

    #[test]
    fn a_package_may_import_itself_and_its_internal_names() {
        let manifest = "{\"name\": \"core\", \"imports\": {\"#deep/*\": \"./src/deep/*\"}}";
        let sample = Sample::of(&["src/deep/x.ts", "src/index.ts"]).with("package.json", manifest);
        sample.check("typescript", "src/a.ts", "import '#deep/x'", "src/deep/x.ts");
        sample.check("typescript", "src/a.ts", "import '#deep/x.js'", "src/deep/x.ts");
        sample.check("typescript", "src/a.ts", "import 'core'", "src/index.ts");
        sample.check("typescript", "src/a.ts", "import '#other'", "external");
    }

    #[test]
    fn a_name_is_split_after_the_package() {
        assert_eq!(split_package_name("a"), ("a", ""));
        assert_eq!(split_package_name("a/b/c"), ("a", "b/c"));
        assert_eq!(split_package_name("@a/b/c"), ("@a/b", "c"));
        assert_eq!(split_package_name("@a"), ("@a", ""));
    }
}
