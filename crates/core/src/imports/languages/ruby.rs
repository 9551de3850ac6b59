//! Ruby: `require`, `require_relative`, `load` and `autoload`, and the files they load.
//!
//! Load paths that a program sets up at run time are left out; the usual ones are tried. A computed name is
//! followed only if the literal part of it is enough.
//!
//! Invariant: a name relative to its file is looked for there first.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, extension, join, parent};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["#"],
    block_comment: None,
    ..C_LIKE
};

/// Reads one statement. A name relative to the file gets a leading `./`.
pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    let mut imports = Vec::new();
    for (at, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == TokenKind::Word)
    {
        let after = match (token.text, &tokens[at + 1..]) {
            ("require" | "require_relative" | "load", [open, after @ ..]) if open.is_sign("(") => after,
            ("require" | "require_relative" | "load", after) => after,
            ("autoload", [.., name]) if name.kind != TokenKind::Text && !name.is_sign(")") => continue,
            ("autoload", after) => match after.iter().position(|token| token.kind == TokenKind::Text) {
                Some(at) => &after[at..],
                None => continue,
            },
            _ => continue,
        };
        let is_relative = token.text == "require_relative";
        let found = match after {
            [name, ..] if name.kind == TokenKind::Text => {
                Some((name.text.to_owned(), name.line, is_relative))
            }
            [file, rest @ ..] if file.is_word("File") => {
                read_computed_path(rest).map(|(name, line)| (name, line, true))
            }
            _ => None,
        };
        if let Some((name, line, is_relative)) =
            found.filter(|(name, ..)| !name.is_empty() && !name.contains("#{"))
        {
            let start = if is_relative && !name.starts_with('.') {
                "./"
            } else {
                ""
            };
            imports.push(Import {
                written: format!("{start}{name}"),
                line,
            });
        }
    }
    imports
}

/// Reads `File.expand_path("../x", __FILE__)` and `File.join(__dir__, "x")`, relative to the file's
/// directory.
fn read_computed_path(tokens: &[Token<'_>]) -> Option<(String, usize)> {
    let text = tokens.iter().find(|token| token.kind == TokenKind::Text)?;
    if tokens.iter().any(|token| token.is_word("__dir__")) {
        return Some((text.text.trim_start_matches('/').to_owned(), text.line));
    }
    // `__FILE__` counts as a directory here, so the first `..` only leads out of the file.
    let is_file = tokens.iter().any(|token| token.is_word("__FILE__"));
    let name = text.text.strip_prefix("../").filter(|_| is_file)?;
    Some((name.to_owned(), text.line))
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    let name = match extension(written) {
        "rb" => written.to_owned(),
        _ => format!("{written}.rb"),
    };
    let find_in = |directory: &str| project.first_file(join(directory, &name));
    let found = if written.starts_with('.') {
        // `require "./x"` starts from the working directory, which usually is the project root.
        find_in(directory).or_else(|| find_in(""))
    } else {
        let roots = ancestors(directory)
            .flat_map(|above| ["lib", "spec", "test"].map(|name| child_path(above, name)));
        // In a project of several gems, each gem has a `lib`.
        let gems = project
            .list_directories("")
            .into_iter()
            .map(|gem| child_path(&gem, "lib"));
        roots.chain(gems).find_map(|root| find_in(&root))
    };
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("require_relative \"a\"", vec!["./a"]),
            ("require_relative '../a/b'", vec!["../a/b"]),
            ("require 'a/b' # why", vec!["a/b"]),
            ("require('a')", vec!["a"]),
            ("load './x.rb'", vec!["./x.rb"]),
            ("autoload :Table, 'shop/table'", vec!["shop/table"]),
            ("require File.expand_path('../a', __FILE__)", vec!["./a"]),
            ("require File.join(__dir__, '../a')", vec!["../a"]),
            ("require \"a/#{b}\"", vec![]),
            ("require name", vec![]),
        ] {
            assert_eq!(written("ruby", statement), expected, "{statement}");
        }
    }

    #[test]
    fn files_are_found_beside_the_file_or_below_lib() {
        let sample = Sample::of(&[
            "lib/shop/table.rb",
            "lib/shop.rb",
            "spec/spec_helper.rb",
            "gem/lib/gem/x.rb",
            "bin/json",
        ]);
        let check = |from, statement, expected| sample.check("ruby", from, statement, expected);
        check(
            "lib/shop.rb",
            "require_relative 'shop/table'",
            "lib/shop/table.rb",
        );
        check("lib/shop.rb", "require 'shop/table'", "lib/shop/table.rb");
        check(
            "lib/shop/table.rb",
            "require_relative '../shop.rb'",
            "lib/shop.rb",
        );
        check("bin/run", "require 'shop'", "lib/shop.rb");
        check(
            "spec/shop/table_spec.rb",
            "require 'spec_helper'",
            "spec/spec_helper.rb",
        );
        check("bin/run", "require 'gem/x'", "gem/lib/gem/x.rb");
        check("bin/run", "require './lib/shop'", "lib/shop.rb");
        check("bin/run", "require 'json'", "external");
        check("lib/shop.rb", "require_relative '../../x'", "external");
    }
}
