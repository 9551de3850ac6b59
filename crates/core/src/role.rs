//! The role of a file in its project, judged by its path alone: entry point, code, test, configuration,
//! documentation, and files that repeat the words of others: changelogs, translations, lock files, fixtures.
//!
//! A name tells what a file is, whatever its extension, unless it is source code: `history.rs` is code.

use crate::language::Language;
use crate::path::RepoPath;

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    Entry,
    Core,
    Test,
    Config,
    Docs,
    /// What changed from release to release.
    Changelog,
    /// Texts of the program in other languages: `.po`, `locales/de.json`.
    Translation,
    /// A form for issues and pull requests.
    IssueTemplate,
    /// Versions that a package manager has written down.
    Lock,
    /// Data that tests read or compare with.
    Fixture,
}

impl FileRole {
    /// The first role that fits, in this order: lock files and build files by name, templates of issues,
    /// fixtures, changelogs, translations, prose, tests (`tests/data.json` is test data, but
    /// `tests/README.md` is prose), configuration, entry points.
    pub fn of(path: &RepoPath) -> Self {
        let name = path.file_name().to_ascii_lowercase();
        let stem = name.split('.').next().unwrap_or(&name);
        let extension = path.extension().map(str::to_ascii_lowercase).unwrap_or_default();
        let top = path.components().next().unwrap_or_default();
        let is_code = Language::is_source_code_extension(&extension);
        if is_lock(&name, &extension) {
            Self::Lock
        } else if is_build_file(&name) {
            Self::Config
        } else if !is_code && is_issue_template(path, stem) {
            Self::IssueTemplate
        } else if !is_code && (extension == "snap" || is_below(path, &FIXTURE_DIRECTORIES)) {
            Self::Fixture
        } else if !is_code && is_changelog(path, stem, &extension) {
            Self::Changelog
        } else if is_translation(path, stem, &extension) {
            Self::Translation
        } else if is_prose(&extension) || matches!(top, "docs" | "doc") {
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

    /// The name of the role in answers, which know five of them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Core => "core",
            Self::Test | Self::Fixture => "test",
            Self::Config | Self::Lock | Self::Translation => "config",
            Self::Docs | Self::Changelog | Self::IssueTemplate => "docs",
        }
    }
}

/// Directories with data of tests.
const FIXTURE_DIRECTORIES: [&str; 9] = [
    "fixture",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test_data",
    "test-data",
    "__snapshots__",
    "snapshots",
    "cassettes",
];

/// Directories in which every file tells changes.
const CHANGELOG_DIRECTORIES: [&str; 12] = [
    "changelog",
    "changelogs",
    "changelog.d",
    ".changelog",
    "changes",
    ".changes",
    ".changeset",
    "newsfragments",
    "release-notes",
    "release_notes",
    "releasenotes",
    "whatsnew",
];

/// Directories with texts of the program, one file or directory for each language.
const TRANSLATION_DIRECTORIES: [&str; 10] = [
    "locale",
    "locales",
    "_locales",
    "lang",
    "langs",
    "languages",
    "i18n",
    "l10n",
    "translation",
    "translations",
];

/// True if a directory of the path has one of these names, which are in lower case.
fn is_below(path: &RepoPath, names: &[&str]) -> bool {
    let mut directories = path.components().rev().skip(1);
    directories.any(|directory| names.contains(&directory.to_ascii_lowercase().as_str()))
}

fn is_prose(extension: &str) -> bool {
    matches!(
        extension,
        "md" | "mdx" | "markdown" | "rst" | "adoc" | "asciidoc" | "txt"
    )
}

fn is_lock(name: &str, extension: &str) -> bool {
    extension == "lock"
        || matches!(
            name,
            "package-lock.json"
                | "npm-shrinkwrap.json"
                | "pnpm-lock.yaml"
                | "packages.lock.json"
                | "go.sum"
                | "go.work.sum"
                | "bun.lockb"
                | "gradle.lockfile"
                | "package.resolved"
                | "cartfile.resolved"
                | ".terraform.lock.hcl"
        )
}

fn is_issue_template(path: &RepoPath, stem: &str) -> bool {
    const DIRECTORIES: [&str; 5] = [
        "issue_template",
        "issue_templates",
        "pull_request_template",
        "merge_request_templates",
        "discussion_template",
    ];
    matches!(stem, "issue_template" | "pull_request_template") || is_below(path, &DIRECTORIES)
}

/// True for a file that tells changes, of any extension that is not source code.
fn is_changelog(path: &RepoPath, stem: &str, extension: &str) -> bool {
    let is_text = is_prose(extension) || path.extension().is_none();
    let is_clear = [
        "changelog",
        "change_log",
        "release_notes",
        "release-notes",
        "releasenotes",
        "relnotes",
    ]
    .iter()
    .any(|name| stem.starts_with(name));
    // In lower case these may be words of a topic: `guides/history.md`.
    let is_word = matches!(stem, "changes" | "history" | "news" | "releases" | "whatsnew");
    let is_top =
        !path.as_str().contains('/') || path.file_name().starts_with(|c: char| c.is_ascii_uppercase());
    is_clear
        || (is_word && is_text && is_top)
        || is_below(path, &CHANGELOG_DIRECTORIES)
        || (is_text && is_below(path, &["releases"]))
}

fn is_translation(path: &RepoPath, stem: &str, extension: &str) -> bool {
    match extension {
        "po" | "pot" | "xlf" | "xliff" | "arb" | "ftl" | "strings" | "stringsdict" => true,
        "json" | "jsonc" | "json5" | "yaml" | "yml" | "toml" | "ini" | "properties" | "xml" => {
            is_below(path, &TRANSLATION_DIRECTORIES)
                || (extension == "properties" && stem.starts_with("messages"))
        }
        _ => false,
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

    fn check_role(path: &str, expected: FileRole) {
        assert_eq!(FileRole::of(&RepoPath::parse(path).unwrap()), expected, "{path}");
    }

    #[test]
    fn a_changelog_is_one_whatever_its_extension() {
        for path in [
            "CHANGELOG.md",
            "CHANGELOG-1.20.md",
            "CHANGES",
            "CHANGES.rst",
            "History.md",
            "HISTORY",
            "NEWS.txt",
            "changelog/123.bugfix.rst",
            "doc/changes/8.0.rst",
            "docs/releases/5.1.txt",
            "packages/a/changelog.yaml",
        ] {
            check_role(path, FileRole::Changelog);
        }
        check_role("src/history.rs", FileRole::Core);
        check_role("src/changelog/parse.ts", FileRole::Core);
        check_role("docs/guides/history.md", FileRole::Docs);
        check_role("src/changes.py", FileRole::Core);
    }

    #[test]
    fn translations_are_told_by_extension_or_directory() {
        check_role(
            "django/conf/locale/de/LC_MESSAGES/django.po",
            FileRole::Translation,
        );
        check_role("sphinx/locale/sphinx.pot", FileRole::Translation);
        check_role("config/locales/de.yml", FileRole::Translation);
        check_role("options/locale/locale_de-DE.ini", FileRole::Translation);
        check_role("src/i18n/de.json", FileRole::Translation);
        check_role("django/conf/locale/de/formats.py", FileRole::Core);
        check_role("src/language/index.ts", FileRole::Entry);
    }

    #[test]
    fn templates_locks_and_fixtures_are_no_documents() {
        check_role(".github/ISSUE_TEMPLATE/bug.md", FileRole::IssueTemplate);
        check_role(".github/PULL_REQUEST_TEMPLATE.md", FileRole::IssueTemplate);
        check_role("Cargo.lock", FileRole::Lock);
        check_role("web/package-lock.json", FileRole::Lock);
        check_role("go.sum", FileRole::Lock);
        check_role("src/lock.rs", FileRole::Core);
        check_role("tests/fixtures/page.md", FileRole::Fixture);
        check_role("app/__snapshots__/a.test.ts.snap", FileRole::Fixture);
        check_role("tests/fixtures/module.py", FileRole::Test);
        check_role("src/fixtures/loader.py", FileRole::Core);
    }

    #[test]
    fn answers_know_five_roles() {
        check("CHANGES.rst", "docs");
        check("locale/de.po", "config");
        check("yarn.lock", "config");
        check("tests/fixtures/a.json", "test");
    }
}
