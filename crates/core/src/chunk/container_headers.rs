//! Chunks that say nothing by themselves: the line that opens a container, a list of imports, a list of
//! exports.
//!
//! They are told from their lines alone, without a grammar. A documentation comment says something, so a
//! chunk that has one is never a header; a licence and a mark for tools say nothing.
//!
//! Invariant: a chunk that holds a statement, a field or a body is no header.

use super::{Chunk, ChunkKind, Rows};

/// Words of a comment line that is a mark for tools, `# frozen_string_literal: true`, at most.
const MAX_MARK_WORDS: usize = 4;

/// True if the chunk is only the opening line of a container, only imports, or only exports.
pub(super) fn is_container_header(chunk: &Chunk, rows: &Rows<'_>) -> bool {
    let lines = chunk.lines.start() - 1..=chunk.lines.end() - 1;
    let mut reading = HeaderRows::default();
    match chunk.kind {
        ChunkKind::Function | ChunkKind::Method | ChunkKind::Interface | ChunkKind::Type => return false,
        ChunkKind::Class if !reopens(&chunk.signature) => return false,
        ChunkKind::Class | ChunkKind::Module | ChunkKind::Block => {}
    }
    if !chunk.name.is_empty() && !chunk.doc.is_empty() {
        return false;
    }
    // The opening line ends where the signature does.
    let mut unread = if chunk.name.is_empty() {
        ""
    } else {
        chunk.signature.as_str()
    };
    for row in lines {
        let text = rows.row(row).trim();
        if unread.is_empty() {
            if !reading.is_header_row(text) {
                return false;
            }
        } else if let Some(rest) = read_signature(unread, text) {
            unread = rest;
        } else if !reading.is_header_row(text) {
            return false;
        }
    }
    unread.is_empty() && reading.has_header_comments()
}

/// True for a signature that adds members to a type defined elsewhere: `impl X`, `extension X`.
pub(super) fn reopens(signature: &str) -> bool {
    let words = ["impl", "unsafe", "extension", "instance"];
    let first = signature.split(|c: char| !c.is_alphanumeric()).next();
    first.is_some_and(|first| words.contains(&first))
}

/// The rest of a signature, which is on one line, behind a row of the text. `None` if the row is no part of
/// it.
fn read_signature<'a>(unread: &'a str, row: &str) -> Option<&'a str> {
    let mut rest = unread;
    // They stand before the node that is the definition.
    let is_modifier = |word: &&str| matches!(*word, "export" | "declare" | "default");
    for word in row.split_whitespace().skip_while(is_modifier) {
        rest = match rest.trim_start() {
            // Behind the signature only the bracket of the body may stand.
            "" if word.chars().all(|c| "{}:(".contains(c)) => "",
            rest => rest.strip_prefix(word).or_else(|| {
                word.strip_prefix(rest)
                    .and_then(|more| more.chars().all(|c| "{}:;(".contains(c)).then_some(""))
            })?,
        };
    }
    (rest.len() < unread.len() || row.is_empty()).then_some(rest)
}

/// Reads rows of imports, exports and comments.
#[derive(Default)]
struct HeaderRows {
    /// Brackets of an import or export statement that are not closed.
    open: i32,
    is_export: bool,
    comment: CommentBlock,
    /// True after a comment that says something.
    has_prose: bool,
}

/// A comment as far as it was read.
#[derive(Default)]
struct CommentBlock {
    /// True inside `/* … */`.
    is_open: bool,
    is_licence: bool,
    words: usize,
}

impl HeaderRows {
    fn is_header_row(&mut self, row: &str) -> bool {
        if self.comment.is_open || is_comment(row) {
            self.comment.read(row);
            return true;
        }
        self.end_comment();
        if self.open > 0 {
            self.open += count_brackets(row);
            return !self.is_export || is_listed_name(row);
        }
        let is_attribute = row.starts_with("#[") || row.starts_with('@') && !row.starts_with("@import");
        if is_attribute || row.chars().all(|c| "{}[]();,".contains(c)) || matches!(row, "end" | "<?php") {
            return true;
        }
        self.is_export = is_export(row);
        if self.is_export || is_import(row) {
            self.open = count_brackets(row).max(0);
            return true;
        }
        false
    }

    fn end_comment(&mut self) {
        let comment = std::mem::take(&mut self.comment);
        self.has_prose |= comment.words > MAX_MARK_WORDS && !comment.is_licence;
    }

    fn has_header_comments(mut self) -> bool {
        self.end_comment();
        !self.has_prose
    }
}

impl CommentBlock {
    fn read(&mut self, row: &str) {
        self.is_open |= row.starts_with("/*") || row.starts_with("<!--");
        self.is_open &= !(row.contains("*/") || row.contains("-->"));
        self.is_licence |= is_licence(row);
        let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
        self.words += row.split_whitespace().filter(is_word).count();
    }
}

/// True for a line of a licence.
pub(super) fn is_licence(row: &str) -> bool {
    let lower = row.to_lowercase();
    ["copyright", "licen", "spdx", "rights reserved"]
        .iter()
        .any(|word| lower.contains(word))
}

fn is_comment(row: &str) -> bool {
    const DIRECTIVES: [&str; 7] = ["#include", "#import", "#pragma", "#if", "#endif", "#define", "#["];
    let starts_with = |marks: &[&str]| marks.iter().any(|mark| row.starts_with(mark));
    starts_with(&["//", "/*", "#", "--", ";;", "<!--"]) && !starts_with(&DIRECTIVES)
}

/// True for a row that begins an import, or says which package the file belongs to.
fn is_import(row: &str) -> bool {
    const WORDS: [&str; 30] = [
        "import ",
        "import(",
        "import{",
        "from ",
        "use ",
        "pub use ",
        "pub(crate) use ",
        "pub(super) use ",
        "using ",
        "global using ",
        "package ",
        "namespace ",
        "module ",
        "mod ",
        "pub mod ",
        "pub(crate) mod ",
        "extern crate ",
        "require ",
        "require_relative ",
        "require(",
        "require_once ",
        "include ",
        "extend ",
        "alias ",
        "#include",
        "#import",
        "#pragma once",
        "@import",
        "declare(strict_types",
        "autoload ",
    ];
    if matches!(row.trim_end_matches(';'), "'use strict'" | "\"use strict\"") {
        return true;
    }
    // `var x = require('x')`
    let is_required = row.split_once('=').is_some_and(|(before, value)| {
        let words = before.split_whitespace().next();
        matches!(words, Some("var" | "const" | "let" | "local"))
            && (value.trim_start().starts_with("require(") || value.trim_start().starts_with("@import("))
    });
    is_required || WORDS.iter().any(|word| row.starts_with(word))
}

/// True for a row that begins an export of names.
fn is_export(row: &str) -> bool {
    let rest = row
        .strip_prefix("module.exports")
        .or_else(|| row.strip_prefix("exports."))
        .map(|rest| rest.split_once('=').map_or("", |(_, value)| value.trim()));
    let value = match rest {
        Some(value) => value.strip_prefix("module.exports =").unwrap_or(value).trim(),
        None => match row.strip_prefix("export ").map(str::trim) {
            Some(value) if value.starts_with('{') || value.starts_with('*') => return true,
            Some(value) => value.strip_prefix("default ").unwrap_or_default(),
            None => return row.starts_with("__all__"),
        },
    };
    let value = value.trim_end_matches(';').trim();
    let is_name = |value: &str| {
        !value.is_empty()
            && value
                .chars()
                .all(|c| c.is_alphanumeric() || "_$., {}:".contains(c))
    };
    value.starts_with("require(") || is_name(value)
}

/// True for a row inside an export: `name,`, `a, b`, `name: other,`.
fn is_listed_name(row: &str) -> bool {
    row.chars()
        .all(|c| c.is_alphanumeric() || "_$., {}[]()'\";:".contains(c))
        && !row.contains(": '")
        && !row.contains(": \"")
}

fn count_brackets(row: &str) -> i32 {
    row.bytes().fold(0, |open, byte| match byte {
        b'(' | b'{' | b'[' => open + 1,
        b')' | b'}' | b']' => open - 1,
        _ => open,
    })
}

#[cfg(test)]
mod tests {
    use crate::chunk::chunk;
    use crate::language::Language;

    /// The lines of the chunks that are headers.
    fn check(language: Language, text: &str, expected: &[(usize, usize)]) {
        let chunked = chunk(language, text);
        let headers = chunked.chunks.iter().filter(|chunk| chunk.is_container_header);
        let lines: Vec<(usize, usize)> = headers
            .map(|chunk| (*chunk.lines.start(), *chunk.lines.end()))
            .collect();
        assert_eq!(lines, expected, "{text}\n{:?}", chunked.chunks);
    }

    #[test]
    fn imports_and_licences_are_no_content() {
        check(
            Language::Java,
            "/*\n * Copyright A.\n * All of it is free, as the licence says.\n */\npackage a.b;\n\nimport x.Y;\n\nclass A {\n  int x;\n}\n",
            &[(1, 7)],
        );
        check(
            Language::Python,
            "from a import (\n    b,\n    c,\n)\nimport os\n\ndef f():\n    return 1\n",
            &[(1, 5)],
        );
        let said =
            "// Reads orders, and sends what is due to the desk.\nimport x from 'x'\n\nfunction f() {}\n";
        check(Language::JavaScript, said, &[]);
        check(
            Language::Python,
            "import os\nLIMIT = 3\n\ndef f():\n    return 1\n",
            &[],
        );
    }

    #[test]
    fn the_line_that_opens_a_container_is_no_content() {
        let method = "    def a\n      1\n    end\n";
        check(
            Language::Ruby,
            &format!("module A\n  class B\n{method}  end\nend\n"),
            &[(1, 1)],
        );
        check(
            Language::Ruby,
            &format!("# Keeps the loans of one desk together.\nmodule A\n  class B\n{method}  end\nend\n"),
            &[],
        );
        let rust = "    fn a() {\n        1;\n    }\n\n".repeat(12);
        check(
            Language::Rust,
            &format!("impl<T> A<T>\nwhere\n    T: Copy,\n{{\n{rust}}}\n"),
            &[(1, 4)],
        );
        check(
            Language::Rust,
            &format!("impl A {{\n    const X: u8 = 1;\n\n{rust}}}\n"),
            &[],
        );
        check(
            Language::CSharp,
            "using System;\n\nnamespace A.B\n{\n    class C\n    {\n        int x;\n    }\n}\n",
            &[(1, 1), (3, 4)],
        );
    }

    #[test]
    fn an_export_of_names_is_no_content() {
        let function = "function f() {\n  return 1\n}\n\n";
        check(
            Language::JavaScript,
            &format!("{function}module.exports = {{\n  f,\n  g: f,\n}};\n"),
            &[(5, 8)],
        );
        check(
            Language::TypeScript,
            &format!("{function}export {{ f as g }}\nexport default f\n"),
            &[(5, 6)],
        );
        check(
            Language::JavaScript,
            &format!("{function}module.exports = {{\n  mode: 'x',\n}};\n"),
            &[],
        );
    }
}
