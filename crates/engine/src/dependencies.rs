//! The direct imports of a file: files of the project, and external packages.
//!
//! The rules of each language are in `core`; this module gives them access to the project.
//!
//! Invariant: a file that the access rules block does not exist for an import.

use std::collections::HashSet;

use docent_core::chunk::ImportStatement;
use docent_core::imports::{self, ImportTarget, ProjectFiles, Resolver};
use docent_core::language::Language;
use docent_core::path::RepoPath;

use crate::deadline::{Deadline, Expired};
use crate::files::Root;

/// The imports of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Files of the project, in the order of their first import.
    pub files: Vec<RepoPath>,
    /// Other imports by package, in the order of their first import.
    pub external: Vec<String>,
}

/// Why imports cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum DependencyError {
    #[error("Syntax error at line {0}")]
    Syntax(usize),
    #[error(transparent)]
    Expired(#[from] Expired),
}

/// Limit for files such as `tsconfig.json`, which say how imports are resolved.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

impl Dependencies {
    /// The imports in `text`, the content of the file at `path`.
    pub fn of(
        root: &Root,
        path: &RepoPath,
        language: Language,
        text: &str,
        deadline: &Deadline,
    ) -> Result<Self, DependencyError> {
        // A text that cannot be parsed at all counts as one without imports.
        let statements = ImportStatement::find_all(language, text, &|| deadline.check().is_err())
            .and_then(Result::ok)
            .unwrap_or_default();
        deadline.check()?;
        let project = RootFiles { root };
        let resolver = Resolver::new(&project);
        let mut dependencies = Self::default();
        let (mut seen, mut seen_external) = (HashSet::new(), HashSet::new());
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
                        dependencies
                            .files
                            .extend(new.filter_map(|file| RepoPath::parse(&file).ok()));
                    }
                    ImportTarget::Itself => {}
                    ImportTarget::External => {
                        let name = package_name(language, &import.written);
                        if !name.is_empty() && seen_external.insert(name.to_owned()) {
                            dependencies.external.push(name.to_owned());
                        }
                    }
                }
            }
        }
        Ok(dependencies)
    }
}

/// The crate or package of an external import. A relative import stays as it is. The result is empty for
/// modules of the crate itself whose file is missing.
fn package_name<'a>(language: Language, written: &'a str) -> &'a str {
    let before = |text: &'a str, mark: &str| text.split_once(mark).map_or(text, |(first, _)| first);
    match language {
        Language::Rust => match before(written, "::") {
            "super" | "self" => "",
            name if name.starts_with("mod ") => "",
            name => name,
        },
        Language::Python if !written.starts_with('.') => before(written, "."),
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
                None => before(written, "/"),
            }
        }
        _ => written,
    }
}

/// The project's files, as import resolution sees them.
pub(crate) struct RootFiles<'a> {
    pub(crate) root: &'a Root,
}

impl ProjectFiles for RootFiles<'_> {
    fn is_file(&self, path: &str) -> bool {
        RepoPath::parse(path).is_ok_and(|path| self.root.has_file(&path))
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = RepoPath::parse(path).ok()?;
        let content = self.root.read(&path, MAX_CONFIG_BYTES).ok()?;
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
    fn external_imports_are_listed_by_package() {
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
            assert_eq!(package_name(language, written), name, "{written}");
        }
    }
}
