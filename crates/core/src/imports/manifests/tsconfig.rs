//! tsconfig.json and jsconfig.json: which places a bare name may stand for.
//!
//! Only `baseUrl`, `paths`, `extends` and `references` are read. Which files a configuration includes is not: every
//! configuration above a file is tried, the nearest first, because a place counts only where a file is.
//!
//! Invariant: at most [`MAX_EXTENDED_FILES`] configurations are read for one, so `extends` may go in circles.

use serde_json::Value;

use super::npm::Workspaces;
use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::paths::{ancestors, child_path, join, parent};

const MAX_EXTENDED_FILES: usize = 40;
const NAMES: &[&str] = &["tsconfig.json", "jsconfig.json"];

/// What one configuration says, with all it extends.
#[derive(Clone, Debug, Default)]
pub(in crate::imports) struct CompilerOptions {
    base: Option<String>,
    /// Patterns and their targets; a target with a leading `/` begins at the project's root.
    paths: Vec<(String, Vec<String>)>,
    /// Where the configuration lies that `paths` come from.
    paths_from: String,
}

/// The places that a bare name may mean in a directory, the likeliest first.
pub(in crate::imports) fn places(
    project: &CachedProject<'_>,
    known: &Memo<Vec<CompilerOptions>>,
    packages: &Workspaces,
    directory: &str,
    name: &str,
) -> Vec<String> {
    let configurations =
        ancestors(directory).flat_map(|above| NAMES.iter().map(move |name| child_path(above, name)));
    let mut places = Vec::new();
    for path in configurations.filter(|path| project.is_file(path)) {
        let all = known.get(&path, || {
            let mut reading = Reading {
                project,
                packages,
                top: parent(&path),
                read: 0,
            };
            reading.with_references(&path)
        });
        places.extend(all.iter().flat_map(|options| options.places(name)));
    }
    places
}

impl CompilerOptions {
    fn places(&self, name: &str) -> Vec<String> {
        let start = self.base.as_deref().unwrap_or(&self.paths_from);
        let place = |target: &String| match target.strip_prefix('/') {
            Some(place) => join("", place),
            None => join(start, target),
        };
        let mut places: Vec<String> = self.substitutes(name).iter().filter_map(place).collect();
        places.extend(self.base.as_deref().and_then(|base| join(base, name)));
        places
    }

    /// What the closest pattern makes of a name: the very name, else the one with the longest text before its `*`.
    fn substitutes(&self, name: &str) -> Vec<String> {
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

/// One configuration being read, with all it leads to.
struct Reading<'r, 'a> {
    project: &'r CachedProject<'a>,
    packages: &'r Workspaces,
    /// What `${configDir}` means: where the configuration lies that was asked for.
    top: &'r str,
    read: usize,
}

impl Reading<'_, '_> {
    /// A configuration, and those it refers to: many only gather `tsconfig.app.json` and its like.
    fn with_references(&mut self, path: &str) -> Vec<CompilerOptions> {
        let mut all = vec![self.options(path)];
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
            let place = join(parent(path), reference).unwrap_or_default();
            let file = self
                .project
                .first_file([place.clone(), child_path(&place, "tsconfig.json")]);
            // A reference beside this file shares its directory; one elsewhere governs that directory and is found there.
            if let Some(file) = file.filter(|file| parent(file) == parent(path)) {
                all.push(self.options(&file));
            }
        }
        all
    }

    fn options(&mut self, path: &str) -> CompilerOptions {
        let mut options = CompilerOptions::default();
        self.read += 1;
        let document = self.project.read_json(path);
        let Some(document) = document
            .as_ref()
            .as_ref()
            .filter(|_| self.read <= MAX_EXTENDED_FILES)
        else {
            return options;
        };
        let directory = parent(path);
        for extended in strings(&document["extends"]) {
            if let Some(file) = self.extended(directory, extended) {
                let inherited = self.options(&file);
                options.base = inherited.base.or(options.base);
                if !inherited.paths.is_empty() {
                    (options.paths, options.paths_from) = (inherited.paths, inherited.paths_from);
                }
            }
        }
        let own = &document["compilerOptions"];
        if let Some(base) = own["baseUrl"].as_str() {
            options.base = self.place(directory, base);
        }
        if let Some(paths) = own["paths"].as_object() {
            let entry = |(pattern, targets): (&String, &Value)| {
                let targets = strings(targets)
                    .filter_map(|target| self.target(target))
                    .collect();
                (pattern.clone(), targets)
            };
            options.paths = paths.iter().map(entry).collect();
            directory.clone_into(&mut options.paths_from);
        }
        options
    }

    fn place(&self, directory: &str, written: &str) -> Option<String> {
        match written.strip_prefix("${configDir}") {
            Some(rest) => join(self.top, &format!("./{rest}")),
            None => join(directory, written),
        }
    }

    /// A target of `paths`. With `${configDir}` it does not depend on where this file lies; a leading `/` says so.
    fn target(&self, written: &str) -> Option<String> {
        match written.strip_prefix("${configDir}") {
            Some(rest) => join(self.top, &format!("./{rest}")).map(|place| format!("/{place}")),
            // What begins with `/` in the file is a path of somebody's machine.
            None => (!written.starts_with('/')).then(|| written.to_owned()),
        }
    }

    /// The file that `extends` names: beside this one, or in a package of the workspace.
    fn extended(&self, directory: &str, name: &str) -> Option<String> {
        let places = if name.starts_with('.') {
            vec![join(directory, name)?]
        } else {
            self.packages.directories(self.project, directory, name)
        };
        places.iter().find_map(|place| {
            let file = [
                place.clone(),
                format!("{place}.json"),
                child_path(place, "tsconfig.json"),
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
    fn paths_are_relative_to_their_configuration_or_to_the_base() {
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
    fn the_closest_pattern_decides_and_its_targets_are_tried_in_turn() {
        let sample = Sample::of(&["one/x.ts", "two/x.ts", "two/y.ts"]).with(
            "tsconfig.json",
            "{\"compilerOptions\": {\"paths\": {\"@a/*\": [\"two/*\"], \"@a/b/*\": [\"one/*\", \"two/*\"]}}}",
        );
        sample.check("typescript", FROM, "import '@a/b/x'", "one/x.ts");
        sample.check("typescript", FROM, "import '@a/b/y'", "two/y.ts");
        sample.check("typescript", FROM, "import '@a/x'", "two/x.ts");
    }

    #[test]
    fn what_is_extended_counts_until_it_is_said_again() {
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
    fn a_configuration_that_only_refers_to_others_has_their_paths() {
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
    fn circles_end_and_what_leaves_the_project_is_external() {
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
