//! Import bindings: the names that import statements bring into a file, and the names it hands on.
//!
//! Statements of TypeScript, Python and Go are read from the tree. For other languages the reader of
//! `crate::imports` says what a statement imports; the last part of that is the bound name.

use std::collections::{HashMap, VecDeque};

use tree_sitter::Node;

use super::reader::{MAX_NAME_BYTES, to_u32};
use super::rules::{ChildMeaning, NodeRule};
use super::walk::{SymbolWalk, named_children};
use super::{ImportBinding, ImportedName, NameId, ReferenceRole, Target};
use crate::imports::{Import, read_statement};
use crate::language::Language;

/// Imports that are kept of a file.
const MAX_IMPORTS: usize = 5_000;

/// The name under which a file hands on its default export.
const DEFAULT_EXPORT: &str = "default";

/// The parts of a statement, in source order.
#[derive(Default)]
struct StatementParts<'a> {
    module: Option<Node<'a>>,
    items: Vec<ImportItem<'a>>,
}

struct ImportItem<'a> {
    node: Node<'a>,
    meaning: ChildMeaning,
    alias: Option<Node<'a>>,
}

impl<'a> SymbolWalk<'a> {
    pub(super) fn read_import(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        if self.reader.symbols.imports.len() >= MAX_IMPORTS {
            return;
        }
        match self.language {
            Language::TypeScript
            | Language::TypeScriptReact
            | Language::JavaScript
            | Language::JavaScriptReact
            | Language::Vue
            | Language::Svelte => self.read_module_import(node, rule),
            Language::Python => self.read_python_import(node, rule),
            Language::Go => self.read_go_import(node, rule),
            Language::C | Language::Cpp | Language::CudaCpp | Language::ObjectiveC => self.read_include(node),
            _ => self.read_other_import(node, rule),
        }
    }

    fn parts(&self, node: Node<'a>, rule: &'static NodeRule) -> StatementParts<'a> {
        let mut parts = StatementParts::default();
        self.collect_parts(node, rule, &mut parts, 4);
        parts
    }

    fn collect_parts(
        &self,
        node: Node<'a>,
        rule: &'static NodeRule,
        parts: &mut StatementParts<'a>,
        depth: u8,
    ) {
        let mut cursor = node.walk();
        let mut has_more = cursor.goto_first_child();
        while has_more {
            let child = cursor.node();
            let field = cursor.field_id().map(std::num::NonZero::get);
            match rule.meaning_of_child(child, field) {
                Some(ChildMeaning::Module) => parts.module = Some(child),
                Some(ChildMeaning::Alias) => {
                    if let Some(item) = parts.items.last_mut() {
                        item.alias = Some(child);
                    }
                }
                Some(
                    meaning @ (ChildMeaning::Imported
                    | ChildMeaning::Namespace
                    | ChildMeaning::Default
                    | ChildMeaning::Wildcard),
                ) => parts.items.push(ImportItem {
                    node: child,
                    meaning,
                    alias: None,
                }),
                _ if depth > 0 => self.collect_parts(child, self.reader.rules.of(child), parts, depth - 1),
                _ => {}
            }
            has_more = cursor.goto_next_sibling();
        }
    }

    pub(super) fn add_import(
        &mut self,
        node: Node<'a>,
        local: NameId,
        written: NameId,
        imported: ImportedName,
        is_reexport: bool,
    ) {
        self.reader.symbols.imports.push(ImportBinding {
            local,
            written,
            imported,
            is_reexport,
            line: to_u32(node.start_position().row + 1),
        });
    }

    /// `import a, { b as c } from "./d"`, `export { e } from "./f"`, `export { g as h }`.
    fn read_module_import(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let parts = self.parts(node, rule);
        let is_reexport = node.kind() == "export_statement";
        let module = parts.module.map(|module| self.reader.text_of(module));
        let module = module.unwrap_or_default().trim_matches(['"', '\'', '`']);
        if module.len() > MAX_NAME_BYTES {
            return;
        }
        let written = self.reader.intern(module);
        if is_reexport && parts.items.is_empty() && !module.is_empty() {
            let nothing = self.reader.intern("");
            self.add_import(node, nothing, written, ImportedName::Wildcard, true);
        }
        for item in parts.items {
            let text = self.reader.text_of(item.node);
            let local = item.alias.map_or(text, |alias| self.reader.text_of(alias));
            if text.len() > MAX_NAME_BYTES || local.len() > MAX_NAME_BYTES {
                continue;
            }
            let local = self.reader.intern(local);
            let name = self.reader.intern(text);
            let imported = match item.meaning {
                ChildMeaning::Default => ImportedName::Default,
                ChildMeaning::Namespace => ImportedName::Module,
                _ if text == DEFAULT_EXPORT => ImportedName::Default,
                _ => ImportedName::Name(name),
            };
            self.add_import(item.node, local, written, imported, is_reexport);
            if imported != ImportedName::Module {
                self.add_reference(item.node, name, ReferenceRole::Import, Target::Scope);
            }
        }
    }

    /// `export { a } from "./b"`, `export { c as d }`, `export default f`. True if nothing else is in the
    /// statement.
    pub(super) fn read_export(&mut self, node: Node<'a>, rule: &'static NodeRule) -> bool {
        let has_list = named_children(node)
            .iter()
            .any(|child| child.kind() == "export_clause");
        if has_list || rule.child(node, ChildMeaning::Module).is_some() {
            self.read_module_import(node, rule);
            return true;
        }
        let mut cursor = node.walk();
        let is_default = node
            .children(&mut cursor)
            .any(|child| child.kind() == DEFAULT_EXPORT);
        let Some(exported) = rule.child(node, ChildMeaning::Exported).filter(|_| is_default) else {
            return false;
        };
        let name = exported.child_by_field_name("name").unwrap_or(exported);
        let name = self.reader.text_of(name);
        let is_name = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
        if is_name {
            let name = self.reader.intern(name);
            let (local, nowhere) = (self.reader.intern(DEFAULT_EXPORT), self.reader.intern(""));
            self.add_import(node, local, nowhere, ImportedName::Name(name), true);
        }
        false
    }

    /// `import a.b as c`, `from a import b`. Every imported name can be imported from this module in turn.
    fn read_python_import(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let parts = self.parts(node, rule);
        let module = parts.module.map(|module| self.reader.text_of(module));
        for item in parts.items {
            let text = self.reader.text_of(item.node);
            let alias = item.alias.map(|alias| self.reader.text_of(alias));
            if text.len() > MAX_NAME_BYTES {
                continue;
            }
            let Some(module) = module else {
                // `import a.b` binds `a`; with an alias, the module itself.
                let written = match alias {
                    Some(_) => text,
                    None => text.split('.').next().unwrap_or_default(),
                };
                let local = self.reader.intern(alias.unwrap_or(written));
                let written = self.reader.intern(written);
                self.add_import(item.node, local, written, ImportedName::Module, true);
                continue;
            };
            let module = module.replace(char::is_whitespace, "");
            let dot = if module.ends_with('.') { "" } else { "." };
            if item.meaning == ChildMeaning::Wildcard {
                let (nothing, written) = (self.reader.intern(""), self.reader.intern_owned(module));
                self.add_import(item.node, nothing, written, ImportedName::Wildcard, true);
                continue;
            }
            let name = self.reader.intern(text);
            let local = self.reader.intern(alias.unwrap_or(text));
            let written = self.reader.intern_owned(format!("{module}{dot}{text}"));
            self.add_import(item.node, local, written, ImportedName::Name(name), true);
            self.add_reference(item.node, name, ReferenceRole::Import, Target::Scope);
        }
    }

    /// `import name "path"`
    fn read_go_import(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let Some(module) = rule.child(node, ChildMeaning::Module) else {
            return;
        };
        let path = self.reader.text_of(module).trim_matches(['"', '`']);
        let alias = rule
            .child(node, ChildMeaning::Alias)
            .map(|alias| self.reader.text_of(alias));
        if path.len() > MAX_NAME_BYTES || alias == Some("_") {
            return;
        }
        let written = self.reader.intern(path);
        let (local, imported) = match alias {
            Some(".") => ("", ImportedName::Wildcard),
            Some(alias) => (alias, ImportedName::Module),
            None => (go_package_name(path), ImportedName::Module),
        };
        let local = self.reader.intern(local);
        self.add_import(node, local, written, imported, false);
    }

    /// `#include "row.h"` brings every name of a file, and hands them on.
    fn read_include(&mut self, node: Node<'a>) {
        let statement = self.reader.text_of(node);
        let line = node.start_position().row + 1;
        let nothing = self.reader.intern("");
        for Import { written, .. } in read_statement(self.language, statement, line) {
            if written.len() <= MAX_NAME_BYTES {
                let written = self.reader.intern_owned(written);
                self.add_import(node, nothing, written, ImportedName::Wildcard, true);
            }
        }
    }

    fn read_other_import(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let statement = self.reader.text_of(node);
        let line = node.start_position().row + 1;
        self.bind_imports(statement, line);
        self.use_imported_names(node, 6);
        self.read_listed_names(node, rule);
    }

    /// `cfg_fs! { pub mod fs; }`
    pub(super) fn read_macro_imports(&mut self, node: Node<'a>) {
        let text = self.reader.text_of(node);
        let has_items = text.starts_with('{') && (text.contains("mod ") || text.contains("use "));
        if self.language == Language::Rust
            && has_items
            && let Some(call) = node.parent().filter(|call| call.kind() == "macro_invocation")
            && self.reader.symbols.imports.len() < MAX_IMPORTS
        {
            self.bind_imports(self.reader.text_of(call), call.start_position().row + 1);
        }
    }

    fn bind_imports(&mut self, statement: &'a str, line: usize) {
        // `using Rows = Zoo.Cages.Rows;`
        let renamed = (self.language == Language::CSharp)
            .then(|| statement.split_once('='))
            .flatten()
            .and_then(|(before, _)| before.split_whitespace().next_back());
        // A private import of Rust is visible in the modules below.
        let is_reexport = self.language == Language::Rust || statement.starts_with("export");
        let mut aliases = read_aliases(statement);
        for Import { written, line } in read_statement(self.language, statement, line) {
            let separators: &[char] = &['.', ':', '\\', '/', ' '];
            let last = written.rsplit(separators).next().unwrap_or_default();
            if written.len() > MAX_NAME_BYTES || last.is_empty() {
                continue;
            }
            let is_wildcard = matches!(last, "*" | "_");
            let parent = written.trim_end_matches(last).trim_end_matches(separators);
            let alias = aliases.get_mut(last).and_then(VecDeque::pop_front).flatten();
            let local = match renamed.or(alias) {
                _ if is_wildcard => "",
                Some(alias) => alias,
                None => last,
            };
            let imported = if is_wildcard {
                ImportedName::Wildcard
            } else if written.starts_with("mod ") {
                ImportedName::Module
            } else {
                ImportedName::Name(self.reader.intern_owned(last.to_owned()))
            };
            let written = if is_wildcard && !matches!(self.language, Language::Rust | Language::Java) {
                parent
            } else {
                &written
            };
            let binding = ImportBinding {
                local: self.reader.intern_owned(local.to_owned()),
                written: self.reader.intern_owned(written.to_owned()),
                imported,
                is_reexport,
                line: to_u32(line),
            };
            self.reader.symbols.imports.push(binding);
        }
    }

    /// The names in `import Zoo.Animal (Animal, wake)`.
    fn read_listed_names(&mut self, node: Node<'a>, rule: &'static NodeRule) {
        let parts = self.parts(node, rule);
        let Some(module) = parts.module.map(|module| self.reader.text_of(module)) else {
            return;
        };
        for item in parts.items {
            let text = self.reader.text_of(item.node);
            if text.len() > MAX_NAME_BYTES || module.len() > MAX_NAME_BYTES {
                continue;
            }
            let (name, written) = (self.reader.intern(text), self.reader.intern(module));
            self.add_import(item.node, name, written, ImportedName::Name(name), false);
            self.add_reference(item.node, name, ReferenceRole::Import, Target::Scope);
        }
    }

    /// Every identifier of the statement that an import binds is a use of it.
    fn use_imported_names(&mut self, node: Node<'a>, depth: u8) {
        for child in named_children(node) {
            if child.named_child_count() == 0 {
                let text = self.reader.text_of(child);
                if text.is_empty() || text.len() > MAX_NAME_BYTES {
                    continue;
                }
                let name = self.reader.intern(text);
                let line = to_u32(child.start_position().row + 1);
                let is_bound = self
                    .reader
                    .symbols
                    .imports
                    .iter()
                    .rev()
                    .take(100)
                    .any(|import| import.imported == ImportedName::Name(name) && import.line <= line);
                if is_bound {
                    self.add_reference(child, name, ReferenceRole::Import, Target::Scope);
                }
            } else if depth > 0 {
                self.use_imported_names(child, depth - 1);
            }
        }
    }

    pub(super) fn read_package(&mut self, node: Node<'a>) {
        if let Some(name) = node.named_child(0) {
            let name = self.reader.text_of(name);
            name[..name.floor_char_boundary(MAX_NAME_BYTES)].clone_into(&mut self.reader.symbols.package);
        }
    }
}

/// The names of a statement in source order, each with its alias. A part of a path is no imported name. The
/// statement is read once, because one that imports many names would take quadratic time otherwise.
fn read_aliases(statement: &str) -> HashMap<&str, VecDeque<Option<&str>>> {
    let mut aliases: HashMap<&str, VecDeque<Option<&str>>> = HashMap::new();
    let mut rest = statement;
    while let Some(start) = rest.find(is_word) {
        let (name, after) = split_word(&rest[start..]);
        rest = after;
        let behind = after.trim_start();
        if behind.starts_with("::") || behind.starts_with(['.', '\\']) {
            continue;
        }
        let alias = read_alias(behind);
        if let Some((_, after)) = alias {
            rest = after;
        }
        aliases
            .entry(name)
            .or_default()
            .push_back(alias.map(|(alias, _)| alias));
    }
    aliases
}

/// The alias behind a name, and the text behind it: ` as alias`, ` => alias` and `, as: alias`.
fn read_alias(behind: &str) -> Option<(&str, &str)> {
    let after = match (behind.strip_prefix("=>"), behind.strip_prefix(',')) {
        (Some(after), _) => after,
        (None, Some(after)) => after.trim_start().strip_prefix("as:")?,
        (None, None) => behind
            .strip_prefix("as")
            .filter(|after| !after.starts_with(is_word))?,
    };
    Some(split_word(after.trim_start())).filter(|(alias, _)| !alias.is_empty())
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name of a Go package as its path suggests: without a version, `go-` in front or an extension.
fn go_package_name(path: &str) -> &str {
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let mut last = parts.next().unwrap_or_default();
    if is_version(last) {
        last = parts.next().unwrap_or(last);
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && (is_version(version) || version == "go")
    {
        last = name;
    }
    last.strip_prefix("go-").unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_of_a_name_has_its_own_alias() {
        let aliases = read_aliases("use crate::row::{row as r, cells::row, self as c, c as d};");
        assert_eq!(aliases["row"], [Some("r"), None]);
        assert_eq!(aliases["c"], [Some("d")]);
        assert!(!aliases.contains_key("crate") && !aliases.contains_key("cells"));
    }

    #[test]
    fn aliases_are_read_in_every_notation() {
        assert_eq!(read_aliases("import zoo.{Meal => Dish}")["Meal"], [Some("Dish")]);
        assert_eq!(read_aliases("use Zoo\\Meal as Dish;")["Meal"], [Some("Dish")]);
        assert_eq!(read_aliases("alias Zoo.Meal, as: Dish")["Meal"], [Some("Dish")]);
        assert_eq!(read_aliases("use zoo::{Meal, as_dish};")["Meal"], [None]);
    }
}
