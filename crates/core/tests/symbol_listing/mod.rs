//! Prints the symbols of a text for snapshots: a line for each definition, and one for each line with uses.

#![allow(dead_code, reason = "each test file uses some of these functions")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{
    DefinitionId, Expression, ExpressionId, FileSymbols, ImportedName, Target, chunk_with_symbols,
};

/// Prints the symbols of `tests/fixtures/symbols/NAME`.
pub(crate) fn list_fixture(name: &str) -> String {
    list_file("symbols", name)
}

/// Prints the symbols of a fixture with a syntax error.
pub(crate) fn list_broken_fixture(name: &str) -> String {
    list_file("chunk/broken", name)
}

fn list_file(directory: &str, name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = fs::read_to_string(fixtures.join(directory).join(name)).unwrap();
    list_symbols(&text, name)
}

/// Prints the symbols of a text. The file name determines the language.
pub(crate) fn list_symbols(text: &str, name: &str) -> String {
    let language = Language::of_file(&RepoPath::parse(name).unwrap(), text);
    let symbols = chunk_with_symbols(language, text).1.unwrap();
    let mut listing = String::new();
    if !symbols.package.is_empty() {
        writeln!(listing, "package {}", symbols.package).unwrap();
    }
    list_definitions(&symbols, &mut listing);
    list_imports(&symbols, &mut listing);
    list_uses(&symbols, &mut listing);
    listing
}

fn list_definitions(symbols: &FileSymbols, listing: &mut String) {
    for definition in &symbols.definitions {
        let line = definition.name_at.line;
        let path = match symbols.name(definition.scope) {
            "" => symbols.name(definition.name).to_owned(),
            scope => format!("{scope}.{}", symbols.name(definition.name)),
        };
        write!(listing, "def {line} {} {path}", definition.kind.name()).unwrap();
        if let Some(result) = definition.result {
            write!(listing, ": {}", show(symbols, result)).unwrap();
        }
        let bases: Vec<String> = definition.bases.iter().map(|base| show(symbols, *base)).collect();
        if !bases.is_empty() {
            write!(listing, " < {}", bases.join(", ")).unwrap();
        }
        if definition.is_file_local {
            listing.push_str(" (local)");
        }
        if !definition.has_body {
            listing.push_str(" (declared)");
        }
        listing.push('\n');
    }
}

fn list_imports(symbols: &FileSymbols, listing: &mut String) {
    for import in &symbols.imports {
        let written = symbols.name(import.written);
        let local = symbols.name(import.local);
        let is_reexport = if import.is_reexport { " (handed on)" } else { "" };
        let imported = match import.imported {
            ImportedName::Name(name) => symbols.name(name),
            ImportedName::Default => "default",
            ImportedName::Module => "module",
            ImportedName::Wildcard => "*",
        };
        writeln!(
            listing,
            "import {imported} of {written} as {local:?}{is_reexport}"
        )
        .unwrap();
    }
}

fn list_uses(symbols: &FileSymbols, listing: &mut String) {
    let mut references = symbols.references.clone();
    references.sort_by_key(|reference| reference.at);
    for line in references.chunk_by(|one, other| one.at.line == other.at.line) {
        let uses = line.iter().map(|reference| {
            let name = symbols.name(reference.name);
            let role = reference.role.name();
            match reference.target {
                Target::Scope => format!("{role} {name}"),
                Target::Definition(id) => format!("{role} {name} = {}", line_of(symbols, id)),
                Target::Member(of) => format!("{role} {name} of {}", show(symbols, of)),
                Target::UnknownMember => format!("{role} {name} of ?"),
            }
        });
        let uses: Vec<String> = uses.collect();
        writeln!(listing, "{}: {}", line[0].at.line, uses.join(", ")).unwrap();
    }
}

fn line_of(symbols: &FileSymbols, DefinitionId(id): DefinitionId) -> String {
    let definition = &symbols.definitions[id as usize];
    format!("{}@{}", symbols.name(definition.name), definition.name_at.line)
}

fn show(symbols: &FileSymbols, ExpressionId(id): ExpressionId) -> String {
    match symbols.expressions[id as usize] {
        Expression::Name(name) => symbols.name(name).to_owned(),
        Expression::Definition(id) => line_of(symbols, id),
        Expression::Member(of, name) => format!("{}.{}", show(symbols, of), symbols.name(name)),
        Expression::Call(of) => format!("{}()", show(symbols, of)),
        Expression::Instance(of) => format!("<{}>", show(symbols, of)),
        Expression::This(id) => format!("this({})", line_of(symbols, id)),
        Expression::Super(id) => format!("super({})", line_of(symbols, id)),
        Expression::Collection(of) => format!("[{}]", show(symbols, of)),
        Expression::Element(of) => format!("{}[]", show(symbols, of)),
        Expression::Builtin => "builtin".to_owned(),
    }
}
