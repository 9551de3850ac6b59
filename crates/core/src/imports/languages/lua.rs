//! Lua: `require`, `dofile` and `loadfile`, and the files they load.
//!
//! `package.path` is left out, because programs set it at run time; the usual directories are tried.
//!
//! Invariant: a name with the extension `.lua` is a path, any other is a module.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, extension, join, parent};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["--"],
    block_comment: Some(("--[[", "]]")),
    ..C_LIKE
};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
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

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    if extension(written) == "lua" {
        return project
            .first_file(ancestors(directory).filter_map(|above| join(above, written)))
            .into_iter()
            .collect();
    }
    let is_path = written.contains('/');
    let name = if is_path {
        written.to_owned()
    } else {
        written.replace('.', "/")
    };
    let roots =
        ancestors(directory).flat_map(|above| ["", "lua", "src", "lib"].map(|name| child_path(above, name)));
    let found = roots.into_iter().find_map(|root| {
        let path = join(&root, &name)?;
        project.first_file([format!("{path}.lua"), child_path(&path, "init.lua")])
    });
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
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
    fn names_resolve_to_files_or_directories_with_init() {
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
}
