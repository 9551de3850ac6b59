//! tsconfig.json, jsconfig.json and tsconfig.base.json: the paths that a bare name may mean.
//!
//! Only `baseUrl`, `paths`, `extends` and `references` are read. `include` is not: every configuration above
//! a file is tried, nearest first, because only paths of existing files count in the end.
//!
//! Invariant: at most [`MAX_EXTENDED_FILES`] configurations are read for one, so that circular `extends` end.

use serde_json::Value;

use super::npm::Workspaces;
use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::paths::{ancestors, child_path, join, parent};

/// Configurations that are read for one, itself included.
const MAX_EXTENDED_FILES: usize = 40;
/// File names of configurations.
const FILE_NAMES: &[&str] = &["tsconfig.json", "jsconfig.json"];
/// The configuration that all others of a workspace extend. It governs only files with no other configuration
/// above them: the scripts, tests and libraries of an Nx workspace whose root has no `tsconfig.json`.
const SHARED_FILE_NAME: &str = "tsconfig.base.json";

/// The compiler options of one configuration, with everything it extends.
#[derive(Clone, Debug, Default)]
pub(in crate::imports) struct CompilerOptions {
    base: Option<String>,
    /// Patterns and their targets. A target with a leading `/` starts at the project root.
    paths: Vec<(String, Vec<String>)>,
    /// Directory of the configuration that `paths` come from.
    paths_from: String,
}

/// The paths that a bare name may mean in a directory, most likely first.
pub(in crate::imports) fn candidate_paths(
    project: &CachedProject<'_>,
    cache: &Memo<Vec<CompilerOptions>>,
    packages: &Workspaces,
    directory: &str,
    name: &str,
) -> Vec<String> {
    let find_above = |names: &[&str]| -> Vec<String> {
        ancestors(directory)
            .flat_map(|above| names.iter().map(move |name| child_path(above, name)))
            .filter(|path| project.is_file(path))
            .collect()
    };
    let mut configurations = find_above(FILE_NAMES);
    if configurations.is_empty() {
        configurations = find_above(&[SHARED_FILE_NAME]);
    }
    let mut candidates = Vec::new();
    for path in configurations {
        let all = cache.get_or_make(&path, || {
            let mut reader = ConfigurationReader {
                project,
                packages,
                config_dir: parent(&path),
                files_read: 0,
            };
            reader.read_with_references(&path)
        });
        candidates.extend(all.iter().flat_map(|options| options.candidate_paths(name)));
    }
    candidates
}

impl CompilerOptions {
    fn candidate_paths(&self, name: &str) -> Vec<String> {
        let start = self.base.as_deref().unwrap_or(&self.paths_from);
        let to_path = |target: &String| match target.strip_prefix('/') {
            Some(path) => join("", path),
            None => join(start, target),
        };
        let mut paths: Vec<String> = self.substitute(name).iter().filter_map(to_path).collect();
        paths.extend(self.base.as_deref().and_then(|base| join(base, name)));
        paths
    }

    /// Replaces a name by the targets of its closest pattern: the name itself, else the pattern with the
    /// longest text before its `*`.
    fn substitute(&self, name: &str) -> Vec<String> {
        if let Some((_, targets)) = self.paths.iter().find(|(pattern, _)| pattern == name) {
            return targets.clone();
        }
        let fitting = self.paths.iter().filter_map(|(pattern, targets)| {
            let (before, after) = pattern.split_once('*')?;
            let star = name.strip_prefix(before)?.strip_suffix(after)?;
            Some((before.len(), star, targets))
        });
        match fitting.max_by_key(|(length, ..)| *length) {
            Some((_, star, targets)) => targets
                .iter()
                .map(|target| target.replacen('*', star, 1))
                .collect(),
            None => Vec::new(),
        }
    }
}

/// Reads one configuration with everything it extends and references.
struct ConfigurationReader<'r, 'a> {
    project: &'r CachedProject<'a>,
    packages: &'r Workspaces,
    /// The value of `${configDir}`: the directory of the first configuration.
    config_dir: &'r str,
    /// Configurations read so far.
    files_read: usize,
}

impl ConfigurationReader<'_, '_> {
    /// Reads a configuration and its references: many only list `tsconfig.app.json` and the like.
    fn read_with_references(&mut self, path: &str) -> Vec<CompilerOptions> {
        let mut all = vec![self.read_options(path)];
        let document = self.project.read_json(path);
        let references = document
            .as_ref()
            .as_ref()
            .and_then(|document| document["references"].as_array());
        for reference in references
            .into_iter()
            .flatten()
            .filter_map(|entry| entry["path"].as_str())
        {
            let target = join(parent(path), reference).unwrap_or_default();
            let file = self
                .project
                .first_file([target.clone(), child_path(&target, "tsconfig.json")]);
            // A reference in another directory governs that directory and is found from there.
            if let Some(file) = file.filter(|file| parent(file) == parent(path)) {
                all.push(self.read_options(&file));
            }
        }
        all
    }

    fn read_options(&mut self, path: &str) -> CompilerOptions {
        let mut options = CompilerOptions::default();
        self.files_read += 1;
        let document = self.project.read_json(path);
        let Some(document) = document
            .as_ref()
            .as_ref()
            .filter(|_| self.files_read <= MAX_EXTENDED_FILES)
        else {
            return options;
        };
        let directory = parent(path);
        for extended in strings(&document["extends"]) {
            if let Some(file) = self.find_extended(directory, extended) {
                let inherited = self.read_options(&file);
                options.base = inherited.base.or(options.base);
                if !inherited.paths.is_empty() {
                    (options.paths, options.paths_from) = (inherited.paths, inherited.paths_from);
                }
            }
        }
        let own = &document["compilerOptions"];
        if let Some(base) = own["baseUrl"].as_str() {
            options.base = self.resolve(directory, base);
        }
        if let Some(paths) = own["paths"].as_object() {
            let entry = |(pattern, targets): (&String, &Value)| {
                let targets = strings(targets)
                    .filter_map(|target| self.read_target(target))
                    .collect();
                (pattern.clone(), targets)
            };
            options.paths = paths.iter().map(entry).collect();
            directory.clone_into(&mut options.paths_from);
        }
        options
    }

    fn resolve(&self, directory: &str, written: &str) -> Option<String> {
        match written.strip_prefix("${configDir}") {
            Some(rest) => join(self.config_dir, &format!("./{rest}")),
            None => join(directory, written),
        }
    }

    /// Reads a target of `paths`. One with `${configDir}` does not depend on the directory of this file, so
    /// it gets a leading `/`.
    fn read_target(&self, written: &str) -> Option<String> {
        match written.strip_prefix("${configDir}") {
            Some(rest) => join(self.config_dir, &format!("./{rest}")).map(|path| format!("/{path}")),
            // A target with a leading `/` is an absolute path on someone's machine.
            None => (!written.starts_with('/')).then(|| written.to_owned()),
        }
    }

    /// The file that `extends` names: relative to this one, or in a package of the workspace.
    fn find_extended(&self, directory: &str, name: &str) -> Option<String> {
        let paths = if name.starts_with('.') {
            vec![join(directory, name)?]
        } else {
            self.packages.unexported_paths(self.project, directory, name)
        };
        paths.iter().find_map(|path| {
            let file = [
                path.clone(),
                format!("{path}.json"),
                child_path(path, "tsconfig.json"),
            ];
            self.project.first_file(file)
        })
    }
}

/// One string, or several in a list.
fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let several = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    value.as_str().into_iter().chain(several)
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::Sample;

    const FROM: &str = "app/src/main.ts";

    #[test]
    fn paths_are_relative_to_their_configuration_or_to_base_url() {
        let sample = Sample::of(&["app/src/store/table.ts", "app/lib/x.ts"]);
        let sample = sample.with(
            "app/tsconfig.json",
            "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"]}}}",
        );
        sample.check(
            "typescript",
            FROM,
            "import '@/store/table'",
            "app/src/store/table.ts",
        );
        sample.check("typescript", FROM, "import '@/absent'", "external");
        let sample = sample.with(
            "app/tsconfig.json",
            "{\"compilerOptions\": {\"baseUrl\": \"src\", \"paths\": {\"lib\": [\"../lib/x\"], \"*\": [\"none/*\"]}}}",
        );
        sample.check("typescript", FROM, "import 'lib'", "app/lib/x.ts");
        sample.check(
            "typescript",
            FROM,
            "import 'store/table'",
            "app/src/store/table.ts",
        );
    }

    #[test]
    fn the_targets_of_the_closest_pattern_are_tried_in_order() {
        let sample = Sample::of(&["one/x.ts", "two/x.ts", "two/y.ts"]).with(
            "tsconfig.json",
            "{\"compilerOptions\": {\"paths\": {\"@a/*\": [\"two/*\"], \"@a/b/*\": [\"one/*\", \"two/*\"]}}}",
        );
        sample.check("typescript", FROM, "import '@a/b/x'", "one/x.ts");
        sample.check("typescript", FROM, "import '@a/b/y'", "two/y.ts");
        sample.check("typescript", FROM, "import '@a/x'", "two/x.ts");
    }

    #[test]
    fn options_override_those_of_the_extended_configuration() {
        let sample = Sample::of(&["shared/x.ts", "app/own/x.ts"])
            .with(
                "tsconfig.base.json",
                "{ // all packages\n \"compilerOptions\": {\"paths\": {\"~/*\": [\"shared/*\",],},},}",
            )
            .with("app/tsconfig.json", "{\"extends\": \"../tsconfig.base\"}");
        sample.check("typescript", FROM, "import '~/x'", "shared/x.ts");
        let sample = sample.with(
            "app/tsconfig.json",
            "{\"extends\": [\"../tsconfig.base.json\"], \"compilerOptions\": {\"paths\": {\"~/*\": [\"own/*\"]}}}",
        );
        sample.check("typescript", FROM, "import '~/x'", "app/own/x.ts");
    }

    #[test]
    fn the_base_of_a_workspace_counts_for_files_without_a_configuration() {
        let sample = Sample::of(&["libs/cart/src/index.ts", "libs/cart/src/own.ts", "other/cart.ts"]).with(
            "tsconfig.base.json",
            "{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@shop/cart\": [\"libs/cart/src/index.ts\"]}}}",
        );
        let index = "libs/cart/src/index.ts";
        sample.check("typescript", "tools/seed.ts", "import '@shop/cart'", index);
        sample.check("typescript", "apps/web/src/main.ts", "import '@shop/cart'", index);
        // A configuration that does not extend the base does not have its paths.
        let sample = sample.with("apps/web/tsconfig.json", "{\"compilerOptions\": {}}");
        sample.check(
            "typescript",
            "apps/web/src/main.ts",
            "import '@shop/cart'",
            "external",
        );
        sample.check("typescript", "tools/seed.ts", "import '@shop/cart'", index);
    }

    #[test]
    fn a_package_of_the_workspace_may_be_extended() {
        let sample = Sample::of(&["app/src/x.ts"])
            .with("package.json", "{\"workspaces\": [\"settings\"]}")
            .with("settings/package.json", "{\"name\": \"@acme/settings\"}")
            .with(
                "settings/base.json",
                "{\"compilerOptions\": {\"paths\": {\"~/*\": [\"${configDir}/src/*\"]}}}",
            )
            .with("app/tsconfig.json", "{\"extends\": \"@acme/settings/base.json\"}");
        sample.check("typescript", FROM, "import '~/x'", "app/src/x.ts");
    }

    #[test]
    fn a_configuration_has_the_paths_of_its_references() {
        let sample = Sample::of(&["app/src/x.ts"])
            .with(
                "app/tsconfig.json",
                "{\"files\": [], \"references\": [{\"path\": \"./tsconfig.app.json\"}]}",
            )
            .with(
                "app/tsconfig.app.json",
                "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"]}}}",
            );
        sample.check("vue", "app/src/App.vue", "import '@/x'", "app/src/x.ts");
    }

    #[test]
    fn circular_extends_end_and_paths_outside_the_project_are_external() {
        let other =
            r#"{"extends": ["./tsconfig.json", "./other.json"], "compilerOptions": {"baseUrl": "../.."}}"#;
        let sample = Sample::of(&["x.ts"])
            .with(
                "tsconfig.json",
                r#"{"extends": ["./other.json", "./other.json"]}"#,
            )
            .with("other.json", other);
        sample.check("typescript", FROM, "import 'x'", "external");
    }

    #[test]
    fn javascript_projects_have_a_configuration_too() {
        let sample =
            Sample::of(&["src/x.js"]).with("jsconfig.json", "{\"compilerOptions\": {\"baseUrl\": \"src\"}}");
        sample.check("javascript", "src/a.js", "import 'x'", "src/x.js");
    }
}
