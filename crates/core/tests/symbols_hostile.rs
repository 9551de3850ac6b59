//! Symbols of hostile texts: many definitions, long names, deep nesting, minified code. The result is
//! bounded, nothing panics, and a text twice as long gives at most twice as much.

use std::fmt::Write as _;

use docent_core::language::Language;
use docent_core::symbols::{FileSymbols, chunk_with_symbols, encode};

/// More definitions are left out of a file.
const MAX_DEFINITIONS: usize = 20_000;

/// Names are shorter than this, as are the paths of scopes.
const MAX_NAME_BYTES: usize = 2_000;

const ALL: [(Language, &str); 7] = [
    (Language::Python, "x{} = f{}(1)\n"),
    (Language::TypeScript, "let x{} = f{}(1);\n"),
    (Language::JavaScript, "var x{} = f{}(1);\n"),
    (Language::Go, "var x{} = f{}(1)\n"),
    (Language::Ruby, "X{} = f{}(1)\n"),
    (Language::Php, "const X{} = f{}(1);\n"),
    (Language::Lua, "x{} = f{}(1)\n"),
];

fn read(language: Language, text: &str) -> FileSymbols {
    chunk_with_symbols(language, text).1.expect("the text is parsed")
}

/// Everything that is kept of a file.
fn size(symbols: &FileSymbols) -> usize {
    symbols.names.iter().map(String::len).sum::<usize>()
        + symbols.definitions.len()
        + symbols.references.len()
        + symbols.expressions.len()
        + symbols.imports.len()
        + symbols
            .definitions
            .iter()
            .map(|definition| definition.bases.len())
            .sum::<usize>()
}

fn assert_bounded(symbols: &FileSymbols, text: &str) {
    assert!(symbols.definitions.len() <= MAX_DEFINITIONS);
    assert!(symbols.names.iter().all(|name| name.len() <= MAX_NAME_BYTES));
    assert!(
        size(symbols) <= 10 * text.len() + 1_000,
        "{} of {}",
        size(symbols),
        text.len()
    );
    assert!(encode(symbols).len() <= 20 * text.len() + 1_000);
}

/// A text with as many short lines behind it, so that it is not taken for minified code and left unparsed.
fn among_short_lines(text: &str) -> String {
    format!("{text}{}", "\n".repeat(text.len() + 10))
}

fn repeat(pattern: &str, count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        text += &pattern.replace("{}", &number.to_string());
    }
    text
}

#[test]
fn a_file_with_100_000_definitions_keeps_the_first_of_them() {
    let text = repeat("x{}=1\n", 100_000);
    let symbols = read(Language::Python, &text);
    assert_bounded(&symbols, &text);
    assert_eq!(symbols.definitions.len(), MAX_DEFINITIONS);
    assert_eq!(symbols.name(symbols.definitions[0].name), "x0");
}

#[test]
fn a_class_with_very_many_fields_methods_and_bases_is_bounded() {
    let fields = repeat("  // {}\n  a{}: B;\n", 30_000);
    let text = format!("class Wide {{\n{fields}}}\n");
    let symbols = read(Language::TypeScript, &text);
    assert_bounded(&symbols, &text);
    assert_eq!(symbols.definitions.len(), MAX_DEFINITIONS);
    let bases = repeat("B{}, ", 50_000);
    let text = among_short_lines(&format!("class Wide({bases}):\n    pass\n"));
    let symbols = read(Language::Python, &text);
    assert_bounded(&symbols, &text);
    assert_eq!(symbols.definitions.len(), 1);
    assert!(symbols.definitions[0].bases.len() <= 100);
}

#[test]
fn twice_the_text_gives_at_most_twice_as_much() {
    for (language, pattern) in ALL {
        let header = if language == Language::Php { "<?php\n" } else { "" };
        let of = |count| size(&read(language, &format!("{header}{}", repeat(pattern, count))));
        let (once, twice) = (of(4_000), of(8_000));
        // Numbers of more digits make longer names.
        assert!(twice <= once * 2 + once / 4, "{language:?}: {once}, {twice}");
    }
}

#[test]
fn long_names_are_left_out() {
    let megabyte = "n".repeat(1 << 20);
    assert!(
        chunk_with_symbols(Language::Python, &format!("{megabyte} = 1\n"))
            .1
            .is_none()
    );
    let name = "n".repeat(100_000);
    for (language, text) in [
        (
            Language::Python,
            format!("{name} = 1\nrest = 2\nprint({name}, a.{name})\n"),
        ),
        (Language::Python, format!("def {name}():\n    pass\nrest = 2\n")),
        (
            Language::TypeScript,
            format!("class {name} {{}}\nconst rest = 2;\n"),
        ),
        (
            Language::TypeScript,
            format!("import {{ {name} }} from \"./x\";\nconst rest = 2;\n"),
        ),
        (
            Language::Go,
            format!("package p\n\nimport \"{name}\"\n\nvar rest = 2\n"),
        ),
        (
            Language::Ruby,
            format!("REST = 2\n@{name} = 1\nclass C\n  attr_reader :{name}\nend\n"),
        ),
        (
            Language::Php,
            format!("<?php\nconst rest = 2;\n${name} = 1;\ndefine('{name}', 1);\n"),
        ),
        (
            Language::Lua,
            format!("rest = 2\nlocal {name} = require(\"{name}\")\n"),
        ),
    ] {
        let text = among_short_lines(&text);
        let symbols = read(language, &text);
        assert_bounded(&symbols, &text);
        let names = symbols
            .definitions
            .iter()
            .map(|definition| symbols.name(definition.name));
        let names: Vec<&str> = names.collect();
        assert!(
            names.iter().any(|name| name.eq_ignore_ascii_case("rest")),
            "{language:?}: {}",
            names.len()
        );
    }
}

/// Texts that are nested as deep as asked for, each in its own way.
fn nested_texts(deep: usize) -> Vec<(Language, String)> {
    let nest =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(deep), close.repeat(deep));
    vec![
        (Language::Python, format!("{} = 1\n", nest("(", "x", ",)"))),
        (Language::Python, format!("y = {}\n", nest("f(", "x", ")"))),
        (Language::Python, format!("y: {}\n", nest("list[", "Row", "]"))),
        (Language::Python, format!("y = x{}\n", ".m()".repeat(deep))),
        (
            Language::TypeScript,
            format!("const {} = x;\n", nest("[", "a", "]")),
        ),
        (
            Language::TypeScript,
            format!("const {} = x;\n", nest("{ a: ", "b", " }")),
        ),
        (Language::TypeScript, nest("class A { m() { ", "f()", " } }")),
        (
            Language::TypeScript,
            format!("type T = {};\n", nest("Promise<", "Row", ">")),
        ),
        (Language::JavaScript, nest("() => ", "f()", "")),
        (
            Language::Go,
            format!("package p\n\nvar x = {}\n", nest("f(", "y", ")")),
        ),
        (Language::Ruby, nest("module M\n", "X = 1\n", "end\n")),
        (Language::Ruby, format!("{} = x\n", nest("(", "a, b", ")"))),
        (Language::Php, format!("<?php\n$x = {};\n", nest("f(", "$y", ")"))),
        (Language::Lua, format!("x = {}\n", nest("{ a = ", "b", " }"))),
        (
            Language::Elixir,
            nest("defmodule M do\n", "def f, do: g()\n", "end\n"),
        ),
        (Language::ShellScript, nest("f() { ", "g", "; }")),
        (Language::Zig, format!("const x = {};\n", nest("f(", "y", ")"))),
    ]
}

#[test]
fn deep_nesting_neither_overflows_the_stack_nor_grows_faster_than_the_text() {
    let mut parsed = 0;
    // The parser refuses more than 5,000 open brackets. Nesting without brackets gets through.
    for (language, text) in nested_texts(2_000).into_iter().chain(nested_texts(10_000)) {
        let text = among_short_lines(&text);
        if let Some(symbols) = chunk_with_symbols(language, &text).1 {
            assert_bounded(&symbols, &text);
            parsed += 1;
        }
    }
    assert!(parsed >= 15, "{parsed} texts were parsed");
}

#[test]
fn a_minified_line_is_read_like_many_lines() {
    let mut text = String::new();
    for number in 0..9_000 {
        write!(text, "function a{number}(b){{return c{number}.d(b)}}").expect("a text can be written to");
    }
    let text = among_short_lines(&text);
    let symbols = read(Language::JavaScript, &text);
    assert_bounded(&symbols, &text);
    assert_eq!(symbols.definitions.len(), 9_000);
    assert_eq!(symbols.references.len(), 18_000);
    let last = symbols.definitions.last().expect("a definition");
    assert_eq!(last.name_at.line, 1);
    assert_eq!(
        last.name_at.column as usize,
        text.rfind("a8999").expect("the last function")
    );
}
