//! Cargo.toml: names of crates, paths of their root files, and members of a workspace.
//!
//! Only the TOML that occurs in such files is read: tables, strings, lists of strings and inline tables.
//! Features, versions and platforms are skipped.
//!
//! Invariant: text that is no manifest gives an empty one.

use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["#"],
    block_comment: None,
    word_signs: &['-'],
    ..C_LIKE
};

/// The parts of a manifest that imports depend on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::imports) struct CargoManifest {
    /// Name of the package; `None` for a manifest without one.
    pub(in crate::imports) package: Option<String>,
    /// True for edition 2015, in which every path starts at the crate root.
    pub(in crate::imports) paths_from_root: bool,
    pub(in crate::imports) library_name: Option<String>,
    pub(in crate::imports) library_path: Option<String>,
    /// Explicit root files of programs, tests, examples and benchmarks.
    pub(in crate::imports) targets: Vec<String>,
    pub(in crate::imports) is_workspace: bool,
    pub(in crate::imports) members: Vec<String>,
    /// Path dependencies: the name in code, and the path.
    pub(in crate::imports) dependencies: Vec<(String, String)>,
}

impl CargoManifest {
    pub(in crate::imports) fn read(text: &str) -> Self {
        let mut manifest = Self {
            paths_from_root: true,
            ..Self::default()
        };
        let tokens: Vec<Token<'_>> = tokens(text, 1, &STYLE).collect();
        let mut table: Vec<&str> = Vec::new();
        let mut rest = tokens.as_slice();
        while let [first, after @ ..] = rest {
            if first.is_sign("[") {
                let end = after
                    .iter()
                    .position(|token| token.is_sign("]"))
                    .unwrap_or(after.len());
                table = key_parts(&after[..end]);
                manifest.is_workspace |= matches!(table.as_slice(), ["workspace", ..]);
                rest = &after[end..];
                while let [close, after @ ..] = rest
                    && close.is_sign("]")
                {
                    rest = after;
                }
                continue;
            }
            let Some(equals) = rest.iter().position(|token| token.is_sign("=")) else {
                break;
            };
            let (key, value) = (key_parts(&rest[..equals]), &rest[equals + 1..]);
            let length = value_length(value);
            let path: Vec<&str> = table.iter().copied().chain(key).collect();
            manifest.set_entry(&path, &value[..length]);
            rest = &value[length..];
        }
        manifest
    }

    fn set_entry(&mut self, path: &[&str], value: &[Token<'_>]) {
        let text = value
            .first()
            .filter(|token| token.kind == TokenKind::Text)
            .map(|token| token.text.to_owned());
        match path {
            ["package", "name"] => self.package = text,
            // An inherited edition is never 2015, which has no workspace inheritance.
            ["package", "edition", ..] => self.paths_from_root = text.as_deref() == Some("2015"),
            ["lib", "name"] => self.library_name = text,
            ["lib", "path"] => self.library_path = text,
            ["bin" | "test" | "example" | "bench", "path"] => self.targets.extend(text),
            ["workspace", "members"] => {
                let texts = value.iter().filter(|token| token.kind == TokenKind::Text);
                self.members.extend(texts.map(|token| token.text.to_owned()));
            }
            [
                ..,
                "dependencies" | "dev-dependencies" | "build-dependencies",
                name,
            ] => {
                if let Some(path) = inline_value(value, "path") {
                    self.dependencies.push(((*name).to_owned(), path));
                }
            }
            [
                ..,
                "dependencies" | "dev-dependencies" | "build-dependencies",
                name,
                "path",
            ] => {
                self.dependencies
                    .extend(text.map(|path| ((*name).to_owned(), path)));
            }
            _ => {}
        }
    }

    /// The name of this package's library in code of other crates.
    pub(in crate::imports) fn crate_name(&self) -> Option<String> {
        let name = self.library_name.as_ref().or(self.package.as_ref())?;
        Some(name.replace('-', "_"))
    }
}

/// The parts of a dotted key.
fn key_parts<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    tokens
        .iter()
        .filter(|token| token.kind != TokenKind::Sign)
        .map(|token| token.text)
        .collect()
}

/// Number of tokens of a value. A list or inline table ends with its last bracket, any other value with its
/// line.
fn value_length(tokens: &[Token<'_>]) -> usize {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "[" | "{" if token.kind == TokenKind::Sign => open += 1,
            "]" | "}" if token.kind == TokenKind::Sign => open = open.saturating_sub(1),
            _ => {}
        }
        let line_ends = tokens.get(at + 1).is_none_or(|next| next.line != token.line);
        if open == 0 && line_ends {
            return at + 1;
        }
    }
    tokens.len()
}

/// The string value of a key in an inline table.
fn inline_value(value: &[Token<'_>], key: &str) -> Option<String> {
    value.windows(3).find_map(|window| match window {
        [name, equals, text] if name.is_word(key) && equals.is_sign("=") && text.kind == TokenKind::Text => {
            Some(text.text.to_owned())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_names_root_files_and_path_dependencies() {
        let manifest = CargoManifest::read(
            "# ours\n[package]\nname = \"my-shop\" # here\nedition = \"2024\"\nkeywords = [\"a\", \"name = 'x'\"]\n\
             [lib]\nname = 'shop'\npath = \"lib.rs\"\n[[bin]]\nname = \"run\"\npath = \"run/main.rs\"\n[[test]]\npath = 't.rs'\n\
             [dependencies]\nserde = { version = \"1\", features = [\n  \"derive\",\n] }\nstore = { path = \"../store\" }\n\
             cart.path = \"../cart\"\n[target.'cfg(unix)'.dependencies]\nunix = { path = \"../unix\" }\n\
             [dev-dependencies.kit]\npath = \"../kit\"\n",
        );
        let pairs = [
            ("store", "../store"),
            ("cart", "../cart"),
            ("unix", "../unix"),
            ("kit", "../kit"),
        ];
        assert_eq!(
            manifest,
            CargoManifest {
                package: Some("my-shop".to_owned()),
                paths_from_root: false,
                library_name: Some("shop".to_owned()),
                library_path: Some("lib.rs".to_owned()),
                targets: vec!["run/main.rs".to_owned(), "t.rs".to_owned()],
                dependencies: pairs
                    .map(|(name, path)| (name.to_owned(), path.to_owned()))
                    .to_vec(),
                ..CargoManifest::default()
            }
        );
        assert_eq!(manifest.crate_name().as_deref(), Some("shop"));
    }

    #[test]
    fn a_workspace_has_members_and_dependencies() {
        let manifest = CargoManifest::read(
            "[workspace]\nmembers = [\n  \"crates/*\", # most\n  'tool',\n]\n[workspace.dependencies]\nx = { path = \"x\" }",
        );
        assert!(manifest.is_workspace);
        assert_eq!(manifest.members, ["crates/*", "tool"]);
        assert_eq!(manifest.dependencies, [("x".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn only_edition_2015_has_paths_from_the_root() {
        assert!(CargoManifest::read("[package]\nname = \"a\"").paths_from_root);
        assert!(CargoManifest::read("[package]\nedition = \"2015\"").paths_from_root);
        assert!(!CargoManifest::read("[package]\nedition.workspace = true").paths_from_root);
    }

    #[test]
    fn other_text_gives_an_empty_manifest() {
        for text in [
            "",
            "[",
            "]]]",
            "[package",
            "name = ",
            "= = =",
            "[package]\nname",
            "\"\"\"",
            "a = [[[{",
        ] {
            assert_eq!(CargoManifest::read(text).package, None, "{text}");
        }
    }
}
