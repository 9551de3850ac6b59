//! Ruby, Lua and shell scripts: languages that load a file by a name given at run time.
//!
//! Load paths that a program sets up are left out; the usual ones are tried. A name that is computed is followed only
//! where the written part of it is enough.
//!
//! Invariant: a name that says it is relative to its file is looked for there first.

use super::Import;
use super::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use super::place::{extension, inside, join, parent, upward};
use super::survey::ProjectSurvey;

static RUBY: LexicalStyle = LexicalStyle {
    line_comments: &["#"],
    block_comment: None,
    ..C_LIKE
};

static LUA: LexicalStyle = LexicalStyle {
    line_comments: &["--"],
    block_comment: Some(("--[[", "]]")),
    ..C_LIKE
};

/// Reads Ruby's `require`, `require_relative`, `load` and `autoload`. What begins at the file is written with `./`.
pub(super) fn read_ruby(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &RUBY).collect();
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
                computed(rest).map(|(name, line)| (name, line, true))
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

/// `File.expand_path("../x", __FILE__)` and `File.join(__dir__, "x")`, as seen from the file's directory.
fn computed(tokens: &[Token<'_>]) -> Option<(String, usize)> {
    let text = tokens.iter().find(|token| token.kind == TokenKind::Text)?;
    if tokens.iter().any(|token| token.is_word("__dir__")) {
        return Some((text.text.trim_start_matches('/').to_owned(), text.line));
    }
    // Seen from the file as if it were a directory, so the first step up is only out of the file.
    let is_file = tokens.iter().any(|token| token.is_word("__FILE__"));
    let name = text.text.strip_prefix("../").filter(|_| is_file)?;
    Some((name.to_owned(), text.line))
}

pub(super) fn resolve_ruby(survey: &ProjectSurvey<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    let name = match extension(written) {
        "rb" => written.to_owned(),
        _ => format!("{written}.rb"),
    };
    let at = |place: &str| survey.first(join(place, &name));
    let found = if written.starts_with('.') {
        // `require "./x"` counts from where the program starts, which is the project as a rule.
        at(directory).or_else(|| at(""))
    } else {
        let roots =
            upward(directory).flat_map(|above| ["lib", "spec", "test"].map(|name| inside(above, name)));
        // In a project of several gems, each has its own `lib`.
        let gems = survey.directories("").into_iter().map(|gem| inside(&gem, "lib"));
        roots.chain(gems).find_map(|root| at(&root))
    };
    found.into_iter().collect()
}

/// Reads Lua's `require`, `dofile` and `loadfile`.
pub(super) fn read_lua(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &LUA).collect();
    let mut imports = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !["require", "dofile", "loadfile"]
            .iter()
            .any(|word| token.is_word(word))
        {
            continue;
        }
        let name = match &tokens[at + 1..] {
            [open, name, ..] if open.is_sign("(") => name,
            [name, ..] => name,
            [] => continue,
        };
        if name.kind == TokenKind::Text && !name.text.is_empty() {
            imports.push(Import {
                written: name.text.to_owned(),
                line: name.line,
            });
        }
    }
    imports
}

pub(super) fn resolve_lua(survey: &ProjectSurvey<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    if extension(written) == "lua" {
        return survey
            .first(upward(directory).filter_map(|above| join(above, written)))
            .into_iter()
            .collect();
    }
    let is_path = written.contains('/');
    let name = if is_path {
        written.to_owned()
    } else {
        written.replace('.', "/")
    };
    let roots = upward(directory).flat_map(|above| ["", "lua", "src", "lib"].map(|name| inside(above, name)));
    let found = roots.into_iter().find_map(|root| {
        let place = join(&root, &name)?;
        survey.first([format!("{place}.lua"), inside(&place, "init.lua")])
    });
    found.into_iter().collect()
}

/// Reads `source x` and `. x`.
pub(super) fn read_shell(statement: &str, line: usize) -> Vec<Import> {
    let mut imports = Vec::new();
    for (at, text) in statement.lines().enumerate() {
        let text = text.trim_start();
        let rest = text.strip_prefix("source ").or_else(|| text.strip_prefix(". "));
        let written = rest.map(|rest| word(rest.trim_start())).unwrap_or_default();
        if !written.is_empty() {
            imports.push(Import {
                written,
                line: line.saturating_add(at),
            });
        }
    }
    imports
}

/// The first word, without its quotes. Spaces inside quotes and `$(…)` belong to it.
fn word(text: &str) -> String {
    let mut word = String::new();
    let mut quote = None;
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c {
            '"' | '\'' if depth == 0 => quote = if quote == Some(c) { None } else { quote.or(Some(c)) },
            c if depth == 0
                && quote.is_none()
                && (c.is_whitespace() || matches!(c, ';' | '&' | '|' | '#')) =>
            {
                break;
            }
            c => word.push(c),
        }
    }
    word
}

pub(super) fn resolve_shell(survey: &ProjectSurvey<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    let found = match after_variables(written) {
        None => survey.first(
            [directory, ""]
                .into_iter()
                .filter_map(|place| join(place, written)),
        ),
        // `$here/lib/x.sh`: whatever directory it is, the rest is below it, near the file as a rule.
        Some(rest) => {
            let rest = rest.strip_prefix('/').filter(|rest| !rest.is_empty());
            rest.and_then(|rest| survey.first(upward(directory).filter_map(|above| join(above, rest))))
        }
    };
    found.into_iter().collect()
}

/// What follows the last `$name`, `${…}` or `$(…)`; nothing where there is none.
fn after_variables(text: &str) -> Option<&str> {
    let mut rest = None;
    let mut depth = 0_usize;
    let mut is_name = false;
    for (at, c) in text.char_indices() {
        match c {
            '$' if depth == 0 => is_name = true,
            '(' | '{' => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            c if is_name && depth == 0 && (c.is_alphanumeric() || matches!(c, '_' | '@')) => {}
            _ if depth == 0 => {
                is_name = false;
                continue;
            }
            _ => {}
        }
        if is_name {
            rest = Some(&text[at + c.len_utf8()..]);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, written};

    #[test]
    fn every_form_of_ruby_is_read() {
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
    fn ruby_is_found_beside_the_file_or_below_lib() {
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

    #[test]
    fn every_form_of_lua_is_read() {
        for (statement, expected) in [
            ("local x = require \"a.b\"", vec!["a.b"]),
            ("require('a.b').setup()", vec!["a.b"]),
            ("dofile('x.lua') -- why", vec!["x.lua"]),
            ("--[[ require 'a' ]] local b = 1", vec![]),
            ("require(name)", vec![]),
        ] {
            assert_eq!(written("lua", statement), expected, "{statement}");
        }
    }

    #[test]
    fn lua_names_are_files_or_directories_with_init() {
        let sample = Sample::of(&[
            "a/b.lua",
            "a/c/init.lua",
            "lua/plugin/x.lua",
            "src/deep/y.lua",
            "z.lua",
        ]);
        let check = |from, statement, expected| sample.check("lua", from, statement, expected);
        check("main.lua", "require 'a.b'", "a/b.lua");
        check("main.lua", "require 'a.c'", "a/c/init.lua");
        check("lua/plugin/init.lua", "require 'plugin.x'", "lua/plugin/x.lua");
        check("src/deep/x.lua", "require 'deep.y'", "src/deep/y.lua");
        check("src/deep/x.lua", "dofile 'z.lua'", "z.lua");
        check("main.lua", "require 'socket'", "external");
        check("main.lua", "require '../x'", "external");
    }

    #[test]
    fn every_form_of_shell_is_read() {
        for (statement, expected) in [
            ("source ./x.sh", vec!["./x.sh"]),
            (". \"$here\"/lib/x.sh || exit 1", vec!["$here/lib/x.sh"]),
            (
                "source \"$(dirname \"$0\")/a b.sh\" # why",
                vec!["$(dirname \"$0\")/a b.sh"],
            ),
            ("source", vec![]),
            ("./run.sh", vec![]),
        ] {
            assert_eq!(written("shellscript", statement), expected, "{statement}");
        }
    }

    #[test]
    fn shell_files_are_beside_the_script_or_where_it_starts() {
        let sample = Sample::of(&["bin/x.sh", "lib/y.sh"]);
        let check = |statement, expected| sample.check("shellscript", "bin/run", statement, expected);
        check("source ./x.sh", "bin/x.sh");
        check("source x.sh", "bin/x.sh");
        check(". lib/y.sh", "lib/y.sh");
        check(". ../lib/y.sh", "lib/y.sh");
        check("source \"$(dirname \"$0\")/x.sh\"", "bin/x.sh");
        check("source \"${BASH_SOURCE%/*}/x.sh\"", "bin/x.sh");
        check(
            ". \"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)/x.sh\"",
            "bin/x.sh",
        );
        check(". \"$ROOT/lib/y.sh\"", "lib/y.sh");
        check(". \"$FILE\"", "external");
        check(". /etc/profile", "external");
        check(". ../../x.sh", "external");
    }
}
