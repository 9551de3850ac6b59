//! Import syntax, one file per language or family of languages that import alike.
//!
//! To add a language: a file here with `read_statement` and `resolve_import`, a [`Family`] for it, and its
//! rows in the three matches below. The statements themselves are found by the query of its grammar
//! (`chunk/queries/`, `@import`).
//!
//! Invariant: [`family_of`] is the only place that maps a [`Language`] to the code that reads it.

mod c;
mod go;
mod haskell;
mod javascript;
mod jvm;
mod lua;
mod module_names;
mod php;
mod python;
mod ruby;
mod rust;
mod shell;
mod zig;

use super::Import;
use super::cached_project::CachedProject;
use crate::language::Language;

/// Languages that import alike.
#[derive(Clone, Copy)]
enum Family {
    C,
    Go,
    Haskell,
    JavaScript,
    Jvm,
    Lua,
    ModuleNames,
    Php,
    Python,
    Ruby,
    Rust,
    Shell,
    Zig,
}

/// The family of a language; `None` if its imports are not read.
fn family_of(language: Language) -> Option<Family> {
    Some(match language {
        Language::C | Language::Cpp | Language::ObjectiveC | Language::ObjectiveCpp | Language::CudaCpp => {
            Family::C
        }
        Language::Go => Family::Go,
        Language::Haskell => Family::Haskell,
        Language::TypeScript
        | Language::TypeScriptReact
        | Language::JavaScript
        | Language::JavaScriptReact
        | Language::Vue
        | Language::Svelte
        | Language::Astro => Family::JavaScript,
        Language::Java | Language::Kotlin | Language::Scala | Language::Groovy => Family::Jvm,
        Language::Lua => Family::Lua,
        Language::Php => Family::Php,
        Language::CSharp | Language::Elixir | Language::Swift => Family::ModuleNames,
        Language::Python => Family::Python,
        Language::Ruby => Family::Ruby,
        Language::Rust => Family::Rust,
        Language::ShellScript => Family::Shell,
        Language::Zig => Family::Zig,
        _ => return None,
    })
}

/// Reads the imports of one statement that begins at `line`.
pub(super) fn read_statement(language: Language, statement: &str, line: usize) -> Vec<Import> {
    let Some(family) = family_of(language) else {
        return Vec::new();
    };
    match family {
        Family::C => c::read_statement(statement, line),
        Family::Go => go::read_statement(statement, line),
        Family::Haskell => haskell::read_statement(statement, line),
        Family::JavaScript => javascript::read_statement(statement, line),
        Family::Jvm => jvm::read_statement(statement, line),
        Family::Lua => lua::read_statement(statement, line),
        Family::ModuleNames => module_names::read_statement(language, statement, line),
        Family::Php => php::read_statement(statement, line),
        Family::Python => python::read_statement(statement, line),
        Family::Ruby => ruby::read_statement(statement, line),
        Family::Rust => rust::read_statement(statement, line),
        Family::Shell => shell::read_statement(statement, line),
        Family::Zig => zig::read_statement(statement, line),
    }
}

/// The resolvers that cache: modules of Go, packages of Haskell, settings of JavaScript, source roots of the
/// JVM, crates.
#[derive(Default)]
pub(super) struct LanguageResolvers {
    go: go::Modules,
    haskell: haskell::HaskellModules,
    javascript: javascript::ResolutionSettings,
    jvm: jvm::SourceRoots,
    rust: rust::Crates,
}

impl LanguageResolvers {
    /// The files behind an import of the file `from`, in any order. `from` itself may be among them.
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        language: Language,
        from: &str,
        import: &Import,
    ) -> Vec<String> {
        let Some(family) = family_of(language) else {
            return Vec::new();
        };
        let written = import.written.as_str();
        match family {
            Family::C => c::resolve_import(project, from, written),
            Family::Go => self.go.resolve_import(project, from, written),
            Family::Haskell => self.haskell.resolve_import(project, from, written),
            Family::JavaScript => self.javascript.resolve_import(project, language, from, written),
            Family::Jvm => self.jvm.resolve_import(project, from, written),
            Family::Lua => lua::resolve_import(project, from, written),
            Family::ModuleNames => Vec::new(),
            Family::Php => php::resolve_import(project, from, written),
            Family::Python => python::resolve_import(project, from, written),
            Family::Ruby => ruby::resolve_import(project, from, written),
            Family::Rust => self.rust.resolve_import(project, from, import),
            Family::Shell => shell::resolve_import(project, from, written),
            Family::Zig => zig::resolve_import(project, from, written),
        }
    }
}
