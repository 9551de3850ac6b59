//! The role of a file in its project, judged by its path alone: entry point, code, test, configuration,
//! documentation.

use crate::path::RepoPath;

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    Entry,
    Core,
    Test,
    Config,
    Docs,
}

impl FileRole {
    /// The first role that fits, in this order: build files by name, prose, tests (`tests/data.json` is test
    /// data, but `tests/README.md` is prose), configuration, entry points.
    pub fn of(path: &RepoPath) -> Self {
        let name = path.file_name().to_ascii_lowercase();
        let stem = name.split('.').next().unwrap_or(&name);
        let extension = path.extension().map(str::to_ascii_lowercase).unwrap_or_default();
        let top = path.components().next().unwrap_or_default();
        if is_build_file(&name) {
            Self::Config
        } else if matches!(
            extension.as_str(),
            "md" | "mdx" | "markdown" | "rst" | "adoc" | "txt"
        ) || matches!(top, "docs" | "doc")
        {
            Self::Docs
        } else if is_test(path, &name, stem) {
            Self::Test
        } else if is_config(&name, &extension) {
            Self::Config
        } else if matches!(
            stem,
            "main" | "index" | "__main__" | "app" | "server" | "lib" | "manage" | "cli"
        ) {
            Self::Entry
        } else {
            Self::Core
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Core => "core",
            Self::Test => "test",
            Self::Config => "config",
            Self::Docs => "docs",
        }
    }
}

fn is_test(path: &RepoPath, name: &str, stem: &str) -> bool {
    let in_tests = path.components().rev().skip(1).any(|directory| {
        matches!(
            directory.to_ascii_lowercase().as_str(),
            "test" | "tests" | "__tests__" | "spec" | "specs" | "testdata"
        )
    });
    in_tests
        || name.contains(".test.")
        || name.contains(".spec.")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || path
            .file_name()
            .split('.')
            .next()
            .is_some_and(|stem| stem.ends_with("Test") || stem.ends_with("Tests"))
}

fn is_config(name: &str, extension: &str) -> bool {
    matches!(
        extension,
        "toml" | "yaml" | "yml" | "json" | "jsonc" | "ini" | "cfg" | "conf" | "properties" | "lock"
    ) || name.starts_with('.')
        || name.contains(".config.")
}

/// True for build files whose extension would give them another role.
fn is_build_file(name: &str) -> bool {
    matches!(
        name,
        "makefile"
            | "dockerfile"
            | "justfile"
            | "go.mod"
            | "go.sum"
            | "gemfile"
            | "rakefile"
            | "cmakelists.txt"
    ) || matches!(name.split_once('.'), Some((stem, "txt")) if stem.starts_with("requirements"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        assert_eq!(
            FileRole::of(&RepoPath::parse(path).unwrap()).name(),
            expected,
            "{path}"
        );
    }

    #[test]
    fn a_path_tells_the_role() {
        check("src/main.rs", "entry");
        check("src/index.ts", "entry");
        check("src/server/auth/AuthService.ts", "core");
        check("src/auth.test.ts", "test");
        check("tests/it/main.rs", "test");
        check("pkg/server_test.go", "test");
        check("src/AuthServiceTest.java", "test");
        check("tests/data.json", "test");
        check("package.json", "config");
        check(".gitignore", "config");
        check("vite.config.ts", "config");
        check("Makefile", "config");
        check("CMakeLists.txt", "config");
        check("requirements-dev.txt", "config");
        check("README.md", "docs");
        check("tests/README.md", "docs");
        check("src/latest.rs", "core");
    }
}
