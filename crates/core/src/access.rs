//! Access rules: paths of secrets and machinery, which no tool ever shows.
//!
//! Invariant: a rule matches whole path components, never parts of them, so `.gitignore`, `.github/` and
//! `environment.rs` stay readable while `.git` and `.env` do not. A name is checked as the most lenient file
//! system would look it up, on every system, because a directory of Windows or macOS can be mounted anywhere:
//! letter case and Unicode forms are folded, trailing dots and spaces, stream names after a colon and
//! invisible characters are ignored, and the short names that Windows gives to blocked names (`GIT~1`) are
//! blocked.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::glob::is_reasonable;
use crate::language::Language;
use crate::path::RepoPath;
use crate::path::windows::is_short_name;

/// The rules of one project: the built-in ones and those that its settings add.
#[derive(Clone, Debug)]
pub struct Access {
    components: GlobSet,
    paths: GlobSet,
    /// The patterns beside the built-in rules, as they were given.
    extra_patterns: Vec<String>,
}

/// Whether a name is the last component of a path or one above it. A directory that is named like a source
/// file may hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    File,
    Directory,
}

/// A pattern in the settings that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a pattern: {reason}")]
pub struct PatternError {
    pub pattern: String,
    pub reason: String,
}

/// A built-in rule: blocks one name, or names with a prefix or a suffix.
enum Rule {
    Is(&'static str),
    Begins(&'static str),
    /// Blocks names with the prefix, except those of source files.
    BeginsUnlessSource(&'static str),
    Ends(&'static str),
}

/// Components that are always blocked.
const BLOCKED: &[Rule] = &[
    Rule::Is(".env"),
    Rule::Begins(".env."),
    Rule::Is(".git"),
    Rule::Is("node_modules"),
    Rule::Is("__pycache__"),
    Rule::Is("secrets"),
    Rule::Ends(".key"),
    Rule::Ends(".pem"),
    Rule::Ends(".p12"),
    Rule::Ends(".pfx"),
    Rule::Begins("id_rsa"),
    Rule::Begins("id_ed25519"),
    Rule::BeginsUnlessSource("credentials"),
    Rule::Is(".netrc"),
    Rule::Is(".npmrc"),
    Rule::Is(".pypirc"),
];

/// Exceptions: names that a built-in rule would block although they are meant to be read.
const SHOWN: &[&str] = &[".env.example", ".env.sample", ".env.template"];

impl Access {
    /// The built-in rules and `extra` patterns. A pattern without `/` blocks components of that name
    /// anywhere; a pattern with `/` blocks the paths it matches from the root, and everything below them.
    pub fn new<'a>(extra: impl IntoIterator<Item = &'a str>) -> Result<Self, PatternError> {
        let mut components = GlobSetBuilder::new();
        let mut paths = GlobSetBuilder::new();
        let mut extra_patterns = Vec::new();
        for pattern in extra {
            extra_patterns.push(pattern.to_owned());
            let plain = pattern.replace('\\', "/");
            let plain = plain.strip_prefix("./").unwrap_or(&plain).trim_end_matches('/');
            if plain.contains('/') {
                let rooted = plain.trim_start_matches('/');
                paths.add(build_glob(rooted)?);
                paths.add(build_glob(&format!("{rooted}/**"))?);
            } else {
                components.add(build_glob(plain)?);
            }
        }
        let build = |set: GlobSetBuilder| {
            set.build().map_err(|error| PatternError {
                pattern: "the blocked paths".into(),
                reason: error.to_string(),
            })
        };
        Ok(Self {
            components: build(components)?,
            paths: build(paths)?,
            extra_patterns,
        })
    }

    /// The patterns beside the built-in rules, as they were given.
    pub fn extra_patterns(&self) -> &[String] {
        &self.extra_patterns
    }

    /// True if `path` may be shown.
    pub fn allows(&self, path: &RepoPath) -> bool {
        let name = path.file_name();
        self.allows_name(name, NameOf::File)
            && path
                .components()
                .rev()
                .skip(1)
                .all(|component| self.allows_name(component, NameOf::Directory))
            && self.allows_path(path)
    }

    /// True unless a rule about whole paths blocks `path`. Suffices for a walk that has checked each
    /// component with [`Access::allows_name`].
    pub fn allows_path(&self, path: &RepoPath) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let folded: Vec<Cow<'_, str>> = path.components().map(fold).collect();
        !self.paths.is_match(folded.join("/"))
    }

    /// True if a single component may be shown. Lets a walk skip whole directories.
    pub fn allows_name(&self, name: &str, of: NameOf) -> bool {
        let folded = fold(name);
        self.allows_folded(&folded, of)
            && match folded.split_once(':') {
                Some((before, _)) => self.allows_folded(trim_ignored_end(before), of),
                None => true,
            }
    }

    fn allows_folded(&self, name: &str, of: NameOf) -> bool {
        let blocked = BLOCKED.iter().any(|rule| match rule {
            Rule::Is(whole) => name == *whole,
            Rule::Begins(start) => name.starts_with(start),
            Rule::BeginsUnlessSource(start) => {
                name.starts_with(start) && !(of == NameOf::File && is_source_name(name))
            }
            Rule::Ends(end) => name.ends_with(end),
        }) || is_short_name_of_blocked(name);
        (!blocked || SHOWN.contains(&name)) && !self.components.is_match(name)
    }
}

/// True for the name of a source file, by its extension.
fn is_source_name(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, extension)| Language::is_source_code_extension(extension))
}

fn build_glob(pattern: &str) -> Result<globset::Glob, PatternError> {
    if !is_reasonable(pattern) {
        let shown: String = pattern.chars().take(40).collect();
        return Err(PatternError {
            pattern: shown + "…",
            reason: "it is too long or too deep".into(),
        });
    }
    GlobBuilder::new(&fold_letters(pattern))
        .literal_separator(true)
        .build()
        .map_err(|error| PatternError {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        })
}

/// A name as the most lenient file system would look it up.
fn fold(name: &str) -> Cow<'_, str> {
    let name = trim_ignored_end(name);
    if name.is_ascii() {
        return if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
    }
    let seen: String = name.chars().filter(|c| !is_invisible(*c)).collect();
    Cow::Owned(trim_ignored_end(&fold_letters(&seen)).to_owned())
}

/// Without differences of letter case, and with one form for every letter. HFS+ and APFS find `é` by either
/// of its two forms. Wide and small forms of ASCII (`．ｅｎｖ`) become ASCII, which some conversions to other
/// encodings do.
fn fold_letters(text: &str) -> String {
    let folded = text
        .nfkc()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    folded.nfkc().collect()
}

/// True for characters that HFS+ ignores in names, and for others that no reader sees.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// True for a short name that Windows may have given to a blocked name: its first six letters and a number,
/// or two letters, four digits of a hash and a number. Short names have no dots at the beginning.
fn is_short_name_of_blocked(name: &str) -> bool {
    if !is_short_name(name) {
        return false;
    }
    let start = name.split('~').next().unwrap_or_default();
    let is_hash = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    BLOCKED.iter().any(|rule| match rule {
        Rule::Is(blocked) | Rule::Begins(blocked) | Rule::BeginsUnlessSource(blocked) => {
            let letters: String = blocked.chars().filter(|&c| c != '.').take(6).collect();
            start == letters || (start.get(..2) == letters.get(..2) && start.get(2..).is_some_and(is_hash))
        }
        // The extension of a short name is that of the long one.
        Rule::Ends(_) => false,
    })
}

/// A name without the trailing dots and spaces that some file systems drop.
fn trim_ignored_end(name: &str) -> &str {
    name.trim_end_matches(['.', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(extra: &[&str], path: &str, allowed: bool) {
        let access = Access::new(extra.iter().copied()).unwrap();
        assert_eq!(access.allows(&RepoPath::parse(path).unwrap()), allowed, "{path}");
    }

    #[test]
    fn secrets_and_machinery_are_blocked_at_any_depth() {
        for path in [
            ".env",
            ".env.local",
            ".env.production",
            "app/.env",
            ".git/config",
            "x/.git/config",
            "node_modules/a/index.js",
            "pkg/__pycache__/m.pyc",
            "secrets/token.txt",
            "deploy/secrets/a/b.txt",
            "server.key",
            "certs/ca.pem",
            "a.p12",
            "a.pfx",
            "id_rsa",
            "id_rsa.pub",
            "keys/id_ed25519",
            "credentials",
            "credentials.json",
            ".netrc",
            ".npmrc",
            ".pypirc",
        ] {
            check(&[], path, false);
        }
    }

    #[test]
    fn names_that_only_look_alike_are_readable() {
        for path in [
            ".gitignore",
            ".github/workflows/ci.yml",
            ".gitattributes",
            "environment.ts",
            "src/env.rs",
            ".env.example",
            ".env.sample",
            ".env.template",
            ".envrc",
            "docs/secrets.md",
            "src/keys.rs",
            "monkey",
            "my_credentials.md",
            "node_modules.md",
            "a:b.txt",
        ] {
            check(&[], path, true);
        }
    }

    #[test]
    fn source_files_named_credentials_are_readable_and_data_is_not() {
        for path in [
            "okhttp/Credentials.kt",
            "app/controllers/credentials_controller.rb",
            "credentials.py",
            "CREDENTIALS.PY",
            "Credentials.test.tsx",
            "ui/CredentialsForm.vue",
            "credentials.proto",
        ] {
            check(&[], path, true);
        }
        for path in [
            "credentials",
            "credentials.json",
            "credentials.yml",
            "config/credentials.yml.enc",
            "credentials.ini",
            "credentials.csv",
            "credentials.xml",
            "credentials.toml",
            "credentials.properties",
            "credentials.txt",
            "credentials.md",
            "credentials.sh",
            "credentials.ps1",
            "credentials.sql",
            "credentials.tf",
            "credentials.gradle",
            "credentials.gradle.kts",
            "credentials.sbt",
            "credentials.edn",
            "credentials.rb.bak",
            "credentials.rb~",
            "credentials.rb.enc",
            "credentials_rb",
            "credentials.json:x.rb",
            "credentials:x.rb",
            "credentials.rb:x.json",
            "credentials/provider.go",
            "credentials.go/token.txt",
            "credentials.go/main.go",
            "secrets/credentials.go",
        ] {
            check(&[], path, false);
        }
        check(&["credentials.py"], "credentials.py", false);
    }

    #[test]
    fn spellings_that_a_file_system_may_fold_are_blocked() {
        for path in [
            ".ENV",
            ".Env.Local",
            "SECRETS/a",
            "x/.GIT/config",
            "CA.PEM",
            ".env.",
            ".env ",
            ".env::$DATA",
            ".env :x",
            "localhost:8443.pem",
            "db:prod.key",
            ".g\u{200c}it/config",
            ".\u{feff}env",
            ".e\u{ad}nv",
            ".git\u{fe0f}/config",
            ".e\u{e0041}nv",
            "\u{17f}ecrets/a",
            "id_rsa.\u{212a}EY",
            "ca.\u{212a}ey",
            "．ｅｎｖ",
            "\u{2024}env",
            "\u{fe52}git/config",
        ] {
            check(&[], path, false);
        }
    }

    #[test]
    fn short_names_of_blocked_names_are_blocked() {
        for path in [
            "GIT~1/config",
            "git~2/HEAD",
            "ENV~1",
            "ENV~1.LOC",
            "app/ENV~12.PRO",
            "GI7EBA~1/config",
            "EN12AF~3",
            "NODE_M~1/a/index.js",
            "__PYCA~1/m.pyc",
            "CREDEN~1.JSO",
            "ID_ED2~1",
            "ID_RSA~1.PUB",
            "NETRC~1",
            "PYPIRC~1",
            "SERVER~1.PEM",
            "SERVER~1.KEY",
        ] {
            check(&[], path, false);
        }
        for path in [
            "PROGRA~1/a.txt",
            "GITHUB~1/x.yml",
            "git~",
            "git~1~",
            "gitlab~1",
            "environ~1",
            "README~1.MD",
        ] {
            check(&[], path, true);
        }
    }

    #[test]
    fn both_forms_of_a_letter_match_a_pattern() {
        check(&["g\u{e9}heim"], "ge\u{301}heim/a.txt", false);
        check(&["ge\u{301}heim"], "G\u{c9}HEIM/a.txt", false);
        check(&["privat/\u{fc}"], "privat/u\u{308}", false);
        check(&["g\u{e9}heim"], "geheim/a.txt", true);
    }

    #[test]
    fn settings_add_names_and_rooted_paths() {
        check(&["*.sqlite"], "data/users.SQLITE", false);
        check(&["private/"], "a/private/b.txt", false);
        check(&["infra/prod"], "infra/prod/main.tf", false);
        check(&["./infra/prod"], "infra/Prod/main.tf", false);
        check(&[r"infra\prod"], "infra/prod/main.tf", false);
        check(&["infra/prod"], "other/infra/prod/main.tf", true);
        check(&["infra/*.tfvars"], "infra/a.tfvars", false);
        check(&["infra/*.tfvars"], "infra/a:b.tfvars", false);
        check(&["infra/*.tfvars"], "infra/a/b.tfvars", true);
        check(&[".env.example"], ".env.example", false);
        check(&["*:*"], "plain.txt", true);
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_named() {
        let error = Access::new(["ok", "{a"]).unwrap_err();
        assert_eq!(error.pattern, "{a");
        let bomb = "{".repeat(30_000) + "a" + &"}".repeat(30_000);
        assert_eq!(
            Access::new([bomb.as_str()]).unwrap_err().reason,
            "it is too long or too deep"
        );
    }
}
