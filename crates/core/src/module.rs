//! The module of a file: the part of the project that a developer would say they work on, by its directories.

use crate::path::RepoPath;

/// Directories whose children are always modules.
const CONTAINERS: &[&str] = &[
    "crates", "packages", "apps", "pkg", "internal", "cmd", "services", "libs", "plugins",
];

/// Directories that hold sources and are no modules themselves.
const SOURCE_ROOTS: &[&str] = &["src", "lib", "app", "source", "sources"];

/// Layers below a source root that hold modules and are none themselves, as in
/// `src/server/auth/AuthService.ts`.
const LAYERS: &[&str] = &["server", "client", "main", "java", "kotlin", "scala", "python"];

/// The first directory under the source root, or `root` for files at the top.
pub fn module_of(path: &RepoPath) -> &str {
    let mut directories: Vec<&str> = path.components().collect();
    directories.pop();
    match directories.as_slice() {
        [container, module, ..] if CONTAINERS.contains(container) => module,
        [source, below @ ..] if SOURCE_ROOTS.contains(source) => {
            let layers = below.iter().take_while(|name| LAYERS.contains(name)).count();
            // A layer without directories below it is the module.
            below.get(layers).or(below.last()).copied().unwrap_or("root")
        }
        [container] if CONTAINERS.contains(container) => "root",
        [first, ..] => first,
        [] => "root",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        assert_eq!(module_of(&RepoPath::parse(path).unwrap()), expected, "{path}");
    }

    #[test]
    fn the_first_directory_under_the_source_root_is_the_module() {
        check("src/auth/x.ts", "auth");
        check("crates/auth/src/x.rs", "auth");
        check("packages/auth/index.js", "auth");
        check("app/auth/views.py", "auth");
        check("src/server/auth/AuthService.ts", "auth");
        check("src/auth/deep/er/x.ts", "auth");
        check("docs/guide/intro.md", "docs");
    }

    #[test]
    fn every_directory_in_a_container_is_a_module() {
        check("crates/app/src/mcp.rs", "app");
        check("packages/server/src/x.ts", "server");
        check("apps/app/src/index.ts", "app");
    }

    #[test]
    fn files_at_the_top_belong_to_module_root() {
        check("README.md", "root");
        check("src/main.rs", "root");
        check("lib/index.js", "root");
        check("packages/README.md", "root");
    }

    #[test]
    fn a_layer_without_modules_is_the_module() {
        check("src/server/index.ts", "server");
        check("server/index.ts", "server");
    }
}
