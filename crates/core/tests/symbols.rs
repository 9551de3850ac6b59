//! Symbols of one fixture per language: definitions, imports, and uses with what is known of their receivers.
//!
//! `tests/fixtures/symbols` has the sources, `tests/snapshots` the listings. Uses stand by line:
//! `29: call carry of keeper` is a call of the member `carry` of whatever `keeper` is.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

use std::fmt::Write as _;

use docent_core::chunk::has_grammar;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{
    DefinitionId, Expression, ExpressionId, FileSymbols, ImportedName, Target, chunk_with_symbols,
};
use insta::assert_snapshot;

fn read_fixture(directory: &str, file: &str) -> (String, Option<FileSymbols>) {
    let path = format!("{}/tests/fixtures/{directory}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a fixture");
    let language = Language::of_file(&RepoPath::parse(file).expect("a file name"), &text);
    let symbols = chunk_with_symbols(language, &text).1;
    (text, symbols)
}

fn show(file: &str) -> String {
    let (_, symbols) = read_fixture("symbols", file);
    show_symbols(&symbols.expect("a language with a grammar"))
}

/// Prints symbols: a line for each definition and import, then a line for each line with uses.
fn show_symbols(symbols: &FileSymbols) -> String {
    let mut shown = String::new();
    if !symbols.package.is_empty() {
        writeln!(shown, "package {}", symbols.package).expect("a text can be written to");
    }
    for definition in &symbols.definitions {
        let at = definition.name_at;
        let scope = match symbols.name(definition.scope) {
            "" => String::new(),
            scope => format!("{scope}."),
        };
        let name = symbols.name(definition.name);
        let mut line = format!(
            "{}:{} {} {scope}{name}",
            at.line,
            at.column,
            definition.kind.name()
        );
        if let Some(result) = definition.result {
            line += &format!(" -> {}", show_expression(symbols, result));
        }
        for base in &definition.bases {
            line += &format!(" < {}", show_expression(symbols, *base));
        }
        shown += &format!("{line}\n");
    }
    for import in &symbols.imports {
        let imported = match import.imported {
            ImportedName::Name(name) => symbols.name(name),
            ImportedName::Default => "default",
            ImportedName::Module => "the module",
            ImportedName::Wildcard => "everything",
        };
        let (local, written) = (symbols.name(import.local), symbols.name(import.written));
        let again = if import.is_reexport { ", handed on" } else { "" };
        shown += &format!(
            "{}: import {local} = {imported} of {written}{again}\n",
            import.line
        );
    }
    let mut line = 0;
    for reference in &symbols.references {
        let of = match reference.target {
            Target::Scope => String::new(),
            Target::Definition(id) => format!(" = {}", name_of(symbols, id)),
            Target::Member(of) => format!(" of {}", show_expression(symbols, of)),
            Target::UnknownMember => " of ?".to_owned(),
        };
        let separator = if reference.at.line == line {
            ", ".to_owned()
        } else {
            format!("\n{}: ", reference.at.line)
        };
        line = reference.at.line;
        let (role, name) = (reference.role.name(), symbols.name(reference.name));
        shown += &format!("{separator}{role} {name}{of}");
    }
    shown
}

fn name_of(symbols: &FileSymbols, id: DefinitionId) -> &str {
    symbols.name(symbols.definitions[id.0 as usize].name)
}

fn show_expression(symbols: &FileSymbols, id: ExpressionId) -> String {
    let show = |id| show_expression(symbols, id);
    match symbols.expressions[id.0 as usize] {
        Expression::Name(name) => symbols.name(name).to_owned(),
        Expression::Definition(id) => format!("the {}", name_of(symbols, id)),
        Expression::Member(of, name) => format!("{}.{}", show(of), symbols.name(name)),
        Expression::Call(of) => format!("{}()", show(of)),
        Expression::Instance(of) => format!("a {}", show(of)),
        Expression::This(id) => format!("this {}", name_of(symbols, id)),
        Expression::Super(id) => format!("super of {}", name_of(symbols, id)),
        Expression::Collection(of) => format!("[{}]", show(of)),
        Expression::Element(of) => format!("{}[]", show(of)),
        Expression::Builtin => "builtin".to_owned(),
    }
}

/// A test per language: the symbols of its fixture.
macro_rules! languages {
    ($($name:ident: $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                assert_snapshot!(show($file));
            }
        )*
    };
}

languages! {
    typescript: "typescript.ts";
    javascript: "javascript.js";
    jsx: "jsx.jsx";
    python: "python.py";
    go: "go.go";
    ruby: "ruby.rb";
    php: "php.php";
    lua: "lua.lua";
    elixir: "elixir.ex";
    zig: "zig.zig";
    shellscript: "shellscript.sh";
}

#[cfg(feature = "large-grammars")]
languages! {
    kotlin: "kotlin.kt";
    csharp: "csharp.cs";
    scala: "scala.scala";
    swift: "swift.swift";
    haskell: "haskell.hs";
}

/// A syntax error costs the definition that it is in, not those around it.
#[test]
fn broken_code_keeps_the_definitions_around_the_broken_part() {
    let directory = format!("{}/tests/fixtures/chunk/broken", env!("CARGO_MANIFEST_DIR"));
    let mut files = 0;
    for entry in std::fs::read_dir(directory).expect("fixtures of broken code") {
        let file = entry
            .expect("a fixture")
            .file_name()
            .into_string()
            .expect("a file name");
        let (text, symbols) = read_fixture("chunk/broken", &file);
        let language = Language::of_file(&RepoPath::parse(&file).expect("a file name"), &text);
        if !has_grammar(language) {
            continue;
        }
        files += 1;
        let symbols = symbols.expect("broken code is parsed");
        let defined: Vec<&str> = symbols
            .definitions
            .iter()
            .map(|definition| symbols.name(definition.name))
            .collect();
        let chunked = chunk_with_symbols(language, &text).0;
        let named: Vec<&str> = chunked
            .chunks
            .iter()
            .filter(|chunk| !chunk.path.is_empty())
            .map(|chunk| chunk.path.as_str())
            .collect();
        assert!(named.len() >= 2, "{file}: {named:?}");
        for path in named {
            let is_defined = defined
                .iter()
                .any(|name| path == *name || path.ends_with(&format!(".{name}")));
            assert!(is_defined, "{file}: {path} is not among {defined:?}");
        }
        assert!(!symbols.references.is_empty(), "{file} has no uses");
    }
    assert!(files >= 14, "{files} files");
}
