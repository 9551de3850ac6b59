//! The language a file is written in: by its name, for scripts without an extension by their first line, and for headers by
//! what they say.

use crate::path::RepoPath;

/// The language's identifier as editors spell it (`typescript`, `cpp`), or `plaintext`.
pub fn language_of(path: &RepoPath, first_line: &str) -> &'static str {
    by_file_name(path.file_name())
        .or_else(|| path.extension().and_then(by_extension))
        .or_else(|| by_shebang(first_line))
        .unwrap_or("plaintext")
}

/// The same where the text is at hand: a header may be of C or of C++.
pub fn language_in(path: &RepoPath, text: &str) -> &'static str {
    match language_of(path, text.lines().next().unwrap_or_default()) {
        "c" if path.extension() == Some("h") && speaks_cpp(text) => "cpp",
        language => language,
    }
}

/// True for text that only C++ would say, within its first lines.
fn speaks_cpp(text: &str) -> bool {
    const STARTS: [&str; 10] = [
        "class ",
        "namespace ",
        "template <",
        "template<",
        "public:",
        "private:",
        "protected:",
        "using namespace ",
        "constexpr ",
        "#include <string>",
    ];
    text.lines().take(500).any(|line| {
        let line = line.trim_start();
        STARTS.iter().any(|start| line.starts_with(start))
    })
}

fn by_file_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "Dockerfile" | "Containerfile" => "dockerfile",
        "Makefile" | "makefile" | "GNUmakefile" => "makefile",
        "CMakeLists.txt" => "cmake",
        "Gemfile" | "Rakefile" | "Podfile" | "Vagrantfile" => "ruby",
        "Jenkinsfile" => "groovy",
        "BUILD" | "BUILD.bazel" | "WORKSPACE" => "starlark",
        "go.mod" => "go.mod",
        "Cargo.lock" | "poetry.lock" | "uv.lock" => "toml",
        ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" => "shellscript",
        ".gitignore" | ".dockerignore" | ".ignore" => "ignore",
        _ => return None,
    })
}

fn by_extension(extension: &str) -> Option<&'static str> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "rs" => "rust",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "typescriptreact",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "javascriptreact",
        "py" | "pyi" | "pyw" => "python",
        "go" => "go",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "scala" | "sc" | "sbt" => "scala",
        "groovy" | "gradle" => "groovy",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" => "cpp",
        "cs" | "csx" => "csharp",
        "fs" | "fsi" | "fsx" => "fsharp",
        "vb" => "vb",
        "swift" => "swift",
        "m" => "objective-c",
        "mm" => "objective-cpp",
        "rb" | "rake" | "gemspec" => "ruby",
        "php" | "phtml" => "php",
        "lua" => "lua",
        "ex" | "exs" => "elixir",
        "erl" | "hrl" => "erlang",
        "hs" | "lhs" => "haskell",
        "ml" | "mli" => "ocaml",
        "clj" | "cljs" | "cljc" | "edn" => "clojure",
        "zig" | "zon" => "zig",
        "nim" => "nim",
        "dart" => "dart",
        "r" => "r",
        "jl" => "julia",
        "pl" | "pm" => "perl",
        "sh" | "bash" | "zsh" | "ksh" => "shellscript",
        "fish" => "fish",
        "ps1" | "psm1" => "powershell",
        "bat" | "cmd" => "bat",
        "html" | "htm" | "xhtml" => "html",
        "css" => "css",
        "scss" => "scss",
        "less" => "less",
        "vue" => "vue",
        "svelte" => "svelte",
        "astro" => "astro",
        "json" | "jsonl" | "ndjson" | "webmanifest" => "json",
        "jsonc" | "json5" => "jsonc",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "xml" | "xsd" | "xsl" | "plist" | "csproj" | "svg" => "xml",
        "ini" | "cfg" | "conf" | "properties" | "editorconfig" => "ini",
        "sql" => "sql",
        "graphql" | "gql" => "graphql",
        "proto" => "proto",
        "thrift" => "thrift",
        "tf" | "tfvars" | "hcl" => "terraform",
        "nix" => "nix",
        "bzl" | "star" => "starlark",
        "cmake" => "cmake",
        "mk" => "makefile",
        "dockerfile" => "dockerfile",
        "md" | "markdown" => "markdown",
        "mdx" => "mdx",
        "rst" => "restructuredtext",
        "adoc" | "asciidoc" => "asciidoc",
        "tex" => "latex",
        "scm" | "ss" | "rkt" => "scheme",
        "lisp" | "el" => "lisp",
        "asm" | "s" => "asm",
        "wat" | "wast" => "wat",
        "sol" => "solidity",
        "v" | "sv" | "svh" => "systemverilog",
        "vhd" | "vhdl" => "vhdl",
        "glsl" | "vert" | "frag" => "glsl",
        "wgsl" => "wgsl",
        "cu" | "cuh" => "cuda-cpp",
        "diff" | "patch" => "diff",
        _ => return None,
    })
}

fn by_shebang(first_line: &str) -> Option<&'static str> {
    let command = first_line.strip_prefix("#!")?;
    let mut words = command.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        // `env -S deno run` and `env NAME=value python` name the program after options.
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => "shellscript",
        "fish" => "fish",
        "python" | "pypy" => "python",
        "node" | "nodejs" => "javascript",
        "deno" | "bun" | "ts-node" | "tsx" => "typescript",
        "ruby" => "ruby",
        "perl" => "perl",
        "php" => "php",
        "lua" | "luajit" => "lua",
        "elixir" => "elixir",
        "runghc" | "stack" => "haskell",
        "Rscript" => "r",
        "julia" => "julia",
        "swift" => "swift",
        "pwsh" => "powershell",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, first_line: &str, expected: &str) {
        assert_eq!(
            language_of(&RepoPath::parse(path).unwrap(), first_line),
            expected,
            "{path}"
        );
    }

    #[test]
    fn names_and_extensions_tell_the_language() {
        check("src/server/auth/AuthService.ts", "", "typescript");
        check("App.TSX", "", "typescriptreact");
        check("a/b.rs", "", "rust");
        check("Dockerfile", "", "dockerfile");
        check("CMakeLists.txt", "", "cmake");
        check("notes.txt", "", "plaintext");
        check("LICENSE", "", "plaintext");
    }

    #[test]
    fn a_header_tells_which_of_two_languages_it_is() {
        let check = |path: &str, text: &str, expected: &str| {
            assert_eq!(
                language_in(&RepoPath::parse(path).unwrap(), text),
                expected,
                "{text}"
            );
        };
        check("a.h", "#pragma once\nnamespace x {\nclass A;\n}\n", "cpp");
        check(
            "a.h",
            "struct a { int b; };\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n/* a class of things */\n",
            "c",
        );
        check("a.c", "class A;\n", "c");
        check("bin/run", "#!/bin/sh\n", "shellscript");
    }

    #[test]
    fn a_shebang_tells_the_language_of_a_script() {
        check("bin/run", "#!/usr/bin/env bash", "shellscript");
        check("bin/tool", "#!/usr/bin/python3.11 -u", "python");
        check("bin/task", "#!/usr/bin/env -S deno run", "typescript");
        check("bin/odd", "#!", "plaintext");
        check("script.rb", "#!/bin/sh", "ruby");
    }
}
