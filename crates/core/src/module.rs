//! The module a file belongs to: the part of the project a person would name when asked where they work.

use crate::path::RepoPath;

/// Directories that hold source and are not modules themselves.
const SOURCE_ROOTS: &[&str] = &[
    "src", "lib", "app", "apps", "crates", "packages", "pkg", "internal", "cmd", "source", "sources",
];

/// Layers inside `src` that hold modules rather than being one, as in `src/server/auth/AuthService.ts`.
const LAYERS: &[&str] = &["server", "client", "main", "java", "kotlin", "scala", "python"];

/// The first directory under the source root, or `root` for files at the top.
pub fn module_of(path: &RepoPath) -> &str {
    let mut directories: Vec<&str> = path.components().collect();
    directories.pop();
    let mut rest = directories.as_slice();
    while let [first, below @ ..] = rest {
        let layer = LAYERS.contains(first) && !below.is_empty() && rest.len() < directories.len();
        if !SOURCE_ROOTS.contains(first) && !layer {
            return first;
        }
        rest = below;
    }
    "root"
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
        check("docs/guide/intro.md", "docs");
        check("src/auth/deep/er/x.ts", "auth");
    }

    #[test]
    fn files_at_the_top_are_module_root() {
        check("README.md", "root");
        check("src/main.rs", "root");
        check("lib/index.js", "root");
    }

    #[test]
    fn a_layer_without_modules_is_the_module() {
        check("src/server/index.ts", "server");
        check("server/index.ts", "server");
    }
}
