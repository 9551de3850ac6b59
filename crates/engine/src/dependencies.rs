//! The files a file imports, one step far.
//!
//! What an import means is `core`'s to say; this module answers its questions about the project, under the same
//! rules as every reader: what is blocked is not there.

use std::collections::HashSet;

use docent_core::chunk::ImportStatement;
use docent_core::imports::{self, ImportTarget, ProjectFiles, Resolver};
use docent_core::language::Language;
use docent_core::path::RepoPath;

use crate::deadline::{Deadline, Expired};
use crate::files::Root;

/// What a file imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Files of the project, in the order they are first imported.
    pub files: Vec<RepoPath>,
    /// Imports of something else, as the file writes them.
    pub external: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum DependencyError {
    #[error("Syntax error at line {0}")]
    Syntax(usize),
    #[error(transparent)]
    Expired(#[from] Expired),
}

/// Bytes of a file that an import leads to settings in.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

impl Dependencies {
    /// What `text`, the content of the file at `path`, imports.
    pub fn of(
        root: &Root,
        path: &RepoPath,
        language: Language,
        text: &str,
        deadline: &Deadline,
    ) -> Result<Self, DependencyError> {
        // A text that cannot be parsed at all has no imports to speak of.
        let statements = ImportStatement::find_all(language, text, &|| deadline.check().is_err())
            .and_then(Result::ok)
            .unwrap_or_default();
        deadline.check()?;
        let project = Files { root };
        let resolver = Resolver::new(&project);
        let mut found = Self::default();
        let (mut seen, mut seen_outside) = (HashSet::new(), HashSet::new());
        for statement in &statements {
            let imports = imports::read_statement(language, &statement.text, statement.line);
            if statement.is_broken && imports.is_empty() {
                return Err(DependencyError::Syntax(statement.line));
            }
            for import in imports {
                deadline.check()?;
                match resolver.resolve(language, path.as_str(), &import) {
                    ImportTarget::Files(files) => {
                        let new = files.into_iter().filter(|file| seen.insert(file.clone()));
                        found
                            .files
                            .extend(new.filter_map(|file| RepoPath::parse(&file).ok()));
                    }
                    ImportTarget::Itself => {}
                    ImportTarget::External => {
                        let name = package(language, &import.written);
                        if !name.is_empty() && seen_outside.insert(name.to_owned()) {
                            found.external.push(name.to_owned());
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

/// What an external import takes something from: a crate, a package. What is relative stays as it is. Nothing is left of
/// modules of the crate itself whose file is not found.
fn package<'a>(language: Language, written: &'a str) -> &'a str {
    let until = |text: &'a str, mark: &str| text.split_once(mark).map_or(text, |(first, _)| first);
    match language {
        Language::Rust => match until(written, "::") {
            "super" | "self" => "",
            name if name.starts_with("mod ") => "",
            name => name,
        },
        Language::Python if !written.starts_with('.') => until(written, "."),
        Language::JavaScript
        | Language::JavaScriptReact
        | Language::TypeScript
        | Language::TypeScriptReact
        | Language::Vue
        | Language::Svelte
            if !written.starts_with(['.', '/']) =>
        {
            match written
                .strip_prefix('@')
                .and_then(|rest| rest.match_indices('/').nth(1))
            {
                Some((end, _)) => &written[..=end],
                None if written.starts_with('@') => written,
                None => until(written, "/"),
            }
        }
        _ => written,
    }
}

/// The project as imports see it.
struct Files<'a> {
    root: &'a Root,
}

impl ProjectFiles for Files<'_> {
    fn is_file(&self, path: &str) -> bool {
        RepoPath::parse(path).is_ok_and(|path| self.root.has_file(&path))
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = RepoPath::parse(path).ok()?;
        let content = self.root.read(&path, MAX_SETTINGS_BYTES).ok()?;
        String::from_utf8(content.bytes).ok()
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.root.names_in(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_imports_are_called_by_their_package() {
        for (language, written, name) in [
            (Language::Rust, "std::io::Read", "std"),
            (Language::Rust, "super::*", ""),
            (Language::Python, "os.path.join", "os"),
            (Language::Python, ".absent.x", ".absent.x"),
            (Language::TypeScript, "@nestjs/common/utils", "@nestjs/common"),
            (Language::TypeScript, "@nestjs/common", "@nestjs/common"),
            (Language::JavaScript, "lodash/fp/map", "lodash"),
            (Language::JavaScript, "./absent", "./absent"),
            (Language::Go, "k8s.io/klog/v2", "k8s.io/klog/v2"),
        ] {
            assert_eq!(package(language, written), name, "{written}");
        }
    }
}
