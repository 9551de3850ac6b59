//! The language a file is written in, detected from its path and its text.
//!
//! The file name decides first, then the extension, then the shebang line of a script. A C header is C++ if
//! its text says so. Left out: detection by content for anything but headers.
//!
//! To add a language: a row in the table of [`Language`], and its file names, extensions or interpreters in
//! the three functions below. A grammar for it is a row in `chunk/grammar.rs`, its imports a file in
//! `imports/languages/`.
//!
//! Invariant: each language has one name, the identifier that editors use. Names are stored in indexes and
//! shown in answers, so a name never changes.

use std::fmt;

use crate::path::RepoPath;

/// Defines the enum and its names from one table, so that no language can lack a name.
macro_rules! languages {
    ($($variant:ident = $name:literal,)*) => {
        /// A programming, markup or data language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Language {
            $($variant,)*
        }

        impl Language {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The identifier that editors use: `typescript`, `cpp`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The language with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

languages! {
    AsciiDoc = "asciidoc",
    Assembly = "asm",
    Astro = "astro",
    Batch = "bat",
    C = "c",
    Clojure = "clojure",
    CMake = "cmake",
    Cpp = "cpp",
    CSharp = "csharp",
    Css = "css",
    CudaCpp = "cuda-cpp",
    Dart = "dart",
    Diff = "diff",
    Dockerfile = "dockerfile",
    Elixir = "elixir",
    Erlang = "erlang",
    Fish = "fish",
    FSharp = "fsharp",
    Glsl = "glsl",
    Go = "go",
    GoMod = "go.mod",
    GraphQl = "graphql",
    Groovy = "groovy",
    Haskell = "haskell",
    Html = "html",
    Ignore = "ignore",
    Ini = "ini",
    Java = "java",
    JavaScript = "javascript",
    JavaScriptReact = "javascriptreact",
    Json = "json",
    Jsonc = "jsonc",
    Julia = "julia",
    Kotlin = "kotlin",
    Latex = "latex",
    Less = "less",
    Lisp = "lisp",
    Lua = "lua",
    Makefile = "makefile",
    Markdown = "markdown",
    Mdx = "mdx",
    Nim = "nim",
    Nix = "nix",
    ObjectiveC = "objective-c",
    ObjectiveCpp = "objective-cpp",
    OCaml = "ocaml",
    Perl = "perl",
    Php = "php",
    PlainText = "plaintext",
    PowerShell = "powershell",
    ProtocolBuffers = "proto",
    Python = "python",
    R = "r",
    ReStructuredText = "restructuredtext",
    Ruby = "ruby",
    Rust = "rust",
    Scala = "scala",
    Scheme = "scheme",
    Scss = "scss",
    ShellScript = "shellscript",
    Solidity = "solidity",
    Sql = "sql",
    Starlark = "starlark",
    Svelte = "svelte",
    Swift = "swift",
    SystemVerilog = "systemverilog",
    Terraform = "terraform",
    Thrift = "thrift",
    Toml = "toml",
    TypeScript = "typescript",
    TypeScriptReact = "typescriptreact",
    VisualBasic = "vb",
    Vhdl = "vhdl",
    Vue = "vue",
    WebAssembly = "wat",
    Wgsl = "wgsl",
    Xml = "xml",
    Yaml = "yaml",
    Zig = "zig",
}

impl Language {
    /// Detects the language from a path and the first line of its file; [`Language::PlainText`] if neither
    /// tells.
    pub fn of_path(path: &RepoPath, first_line: &str) -> Self {
        from_file_name(path.file_name())
            .or_else(|| path.extension().and_then(from_extension))
            .or_else(|| from_shebang(first_line))
            .unwrap_or(Self::PlainText)
    }

    /// Detects the language of a file whose text is known. The text tells C headers from C++ headers.
    pub fn of_file(path: &RepoPath, text: &str) -> Self {
        match Self::of_path(path, text.lines().next().unwrap_or_default()) {
            Self::C if path.extension() == Some("h") && is_cpp_header(text) => Self::Cpp,
            language => language,
        }
    }

    /// True for the extension of a file of source code. Data, markup, configuration, shells, queries and
    /// build scripts are not source code here, because they hold values as often as logic: `json`, `html`,
    /// `tf`, `sh`, `sql`, `gradle`.
    pub fn is_source_code_extension(extension: &str) -> bool {
        // Written in a programming language by syntax, but used as data or as settings of a build.
        const USED_AS_DATA: [&str; 5] = ["edn", "gradle", "kts", "sbt", "zon"];
        let extension = extension.to_ascii_lowercase();
        !USED_AS_DATA.contains(&extension.as_str())
            && from_extension(&extension).is_some_and(Self::is_programming_language)
    }

    /// A language that is not listed counts as data, so that a new one blocks rather than shows.
    fn is_programming_language(self) -> bool {
        matches!(
            self,
            Self::Assembly
                | Self::Astro
                | Self::C
                | Self::Clojure
                | Self::Cpp
                | Self::CSharp
                | Self::CudaCpp
                | Self::Dart
                | Self::Elixir
                | Self::Erlang
                | Self::FSharp
                | Self::Glsl
                | Self::Go
                | Self::GraphQl
                | Self::Groovy
                | Self::Haskell
                | Self::Java
                | Self::JavaScript
                | Self::JavaScriptReact
                | Self::Julia
                | Self::Kotlin
                | Self::Lisp
                | Self::Lua
                | Self::Nim
                | Self::ObjectiveC
                | Self::ObjectiveCpp
                | Self::OCaml
                | Self::Perl
                | Self::Php
                | Self::ProtocolBuffers
                | Self::Python
                | Self::R
                | Self::Ruby
                | Self::Rust
                | Self::Scala
                | Self::Scheme
                | Self::Solidity
                | Self::Svelte
                | Self::Swift
                | Self::SystemVerilog
                | Self::Thrift
                | Self::TypeScript
                | Self::TypeScriptReact
                | Self::VisualBasic
                | Self::Vhdl
                | Self::Vue
                | Self::WebAssembly
                | Self::Wgsl
                | Self::Zig
        )
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Lines of a header that are searched for C++ syntax.
const MAX_HEADER_LINES: usize = 500;

/// True if one of the first lines of a header begins as only C++ does.
fn is_cpp_header(text: &str) -> bool {
    const CPP_LINE_STARTS: [&str; 10] = [
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
    text.lines().take(MAX_HEADER_LINES).any(|line| {
        let line = line.trim_start();
        CPP_LINE_STARTS.iter().any(|start| line.starts_with(start))
    })
}

fn from_file_name(name: &str) -> Option<Language> {
    Some(match name {
        "Dockerfile" | "Containerfile" => Language::Dockerfile,
        "Makefile" | "makefile" | "GNUmakefile" => Language::Makefile,
        "CMakeLists.txt" => Language::CMake,
        "Gemfile" | "Rakefile" | "Podfile" | "Vagrantfile" => Language::Ruby,
        "Jenkinsfile" => Language::Groovy,
        "BUILD" | "BUILD.bazel" | "WORKSPACE" => Language::Starlark,
        "go.mod" => Language::GoMod,
        "Cargo.lock" | "poetry.lock" | "uv.lock" => Language::Toml,
        ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" => Language::ShellScript,
        ".gitignore" | ".dockerignore" | ".ignore" => Language::Ignore,
        _ => return None,
    })
}

/// Defines the lookup by extension and the list of extensions from one table.
macro_rules! extensions {
    ($($($extension:literal)|+ => $variant:ident,)*) => {
        fn from_extension(extension: &str) -> Option<Language> {
            Some(match extension.to_ascii_lowercase().as_str() {
                $($($extension)|+ => Language::$variant,)*
                _ => return None,
            })
        }

        impl Language {
            /// Every extension, without its dot, and the language of such files.
            pub const EXTENSIONS: &[(&str, Self)] = &[$($(($extension, Self::$variant),)+)*];
        }
    };
}

extensions! {
    "rs" => Rust,
    "ts" | "mts" | "cts" => TypeScript,
    "tsx" => TypeScriptReact,
    "js" | "mjs" | "cjs" => JavaScript,
    "jsx" => JavaScriptReact,
    "py" | "pyi" | "pyw" => Python,
    "go" => Go,
    "java" => Java,
    "kt" | "kts" => Kotlin,
    "scala" | "sc" | "sbt" => Scala,
    "groovy" | "gradle" => Groovy,
    "c" | "h" => C,
    "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" => Cpp,
    "cs" | "csx" => CSharp,
    "fs" | "fsi" | "fsx" => FSharp,
    "vb" => VisualBasic,
    "swift" => Swift,
    "m" => ObjectiveC,
    "mm" => ObjectiveCpp,
    "rb" | "rake" | "gemspec" => Ruby,
    "php" | "phtml" => Php,
    "lua" => Lua,
    "ex" | "exs" => Elixir,
    "erl" | "hrl" => Erlang,
    "hs" | "lhs" => Haskell,
    "ml" | "mli" => OCaml,
    "clj" | "cljs" | "cljc" | "edn" => Clojure,
    "zig" | "zon" => Zig,
    "nim" => Nim,
    "dart" => Dart,
    "r" => R,
    "jl" => Julia,
    "pl" | "pm" => Perl,
    "sh" | "bash" | "zsh" | "ksh" => ShellScript,
    "fish" => Fish,
    "ps1" | "psm1" => PowerShell,
    "bat" | "cmd" => Batch,
    "html" | "htm" | "xhtml" => Html,
    "css" => Css,
    "scss" => Scss,
    "less" => Less,
    "vue" => Vue,
    "svelte" => Svelte,
    "astro" => Astro,
    "json" | "jsonl" | "ndjson" | "webmanifest" => Json,
    "jsonc" | "json5" => Jsonc,
    "yaml" | "yml" => Yaml,
    "toml" => Toml,
    "xml" | "xsd" | "xsl" | "plist" | "csproj" | "svg" => Xml,
    "ini" | "cfg" | "conf" | "properties" | "editorconfig" => Ini,
    "sql" => Sql,
    "graphql" | "gql" => GraphQl,
    "proto" => ProtocolBuffers,
    "thrift" => Thrift,
    "tf" | "tfvars" | "hcl" => Terraform,
    "nix" => Nix,
    "bzl" | "star" => Starlark,
    "cmake" => CMake,
    "mk" => Makefile,
    "dockerfile" => Dockerfile,
    "md" | "markdown" => Markdown,
    "mdx" => Mdx,
    "rst" => ReStructuredText,
    "adoc" | "asciidoc" => AsciiDoc,
    "tex" => Latex,
    "scm" | "ss" | "rkt" => Scheme,
    "lisp" | "el" => Lisp,
    "asm" | "s" => Assembly,
    "wat" | "wast" => WebAssembly,
    "sol" => Solidity,
    "v" | "sv" | "svh" => SystemVerilog,
    "vhd" | "vhdl" => Vhdl,
    "glsl" | "vert" | "frag" => Glsl,
    "wgsl" => Wgsl,
    "cu" | "cuh" => CudaCpp,
    "diff" | "patch" => Diff,
}

fn from_shebang(first_line: &str) -> Option<Language> {
    let command = first_line.strip_prefix("#!")?;
    let mut words = command.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        // `env -S deno run` and `env NAME=value python` have options before the program.
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => Language::ShellScript,
        "fish" => Language::Fish,
        "python" | "pypy" => Language::Python,
        "node" | "nodejs" => Language::JavaScript,
        "deno" | "bun" | "ts-node" | "tsx" => Language::TypeScript,
        "ruby" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "elixir" => Language::Elixir,
        "runghc" | "stack" => Language::Haskell,
        "Rscript" => Language::R,
        "julia" => Language::Julia,
        "swift" => Language::Swift,
        "pwsh" => Language::PowerShell,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, first_line: &str, expected: &str) {
        let language = Language::of_path(&RepoPath::parse(path).unwrap(), first_line);
        assert_eq!(language.name(), expected, "{path}");
    }

    #[test]
    fn file_names_and_extensions_tell_the_language() {
        check("src/server/auth/AuthService.ts", "", "typescript");
        check("App.TSX", "", "typescriptreact");
        check("a/b.rs", "", "rust");
        check("Dockerfile", "", "dockerfile");
        check("CMakeLists.txt", "", "cmake");
        check("notes.txt", "", "plaintext");
        check("LICENSE", "", "plaintext");
    }

    #[test]
    fn data_markup_shells_and_build_scripts_are_not_source_code() {
        for extension in ["rs", "KT", "rb", "tsx", "vue", "proto"] {
            assert!(Language::is_source_code_extension(extension), "{extension}");
        }
        for extension in [
            "json", "yml", "html", "sh", "sql", "tf", "gradle", "kts", "edn", "enc", "",
        ] {
            assert!(!Language::is_source_code_extension(extension), "{extension}");
        }
    }

    #[test]
    fn the_text_of_a_header_tells_c_from_cpp() {
        let check = |path: &str, text: &str, expected: &str| {
            let language = Language::of_file(&RepoPath::parse(path).unwrap(), text);
            assert_eq!(language.name(), expected, "{text}");
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
    fn a_name_leads_back_to_its_language() {
        for language in Language::ALL {
            assert_eq!(
                Language::from_name(language.name()),
                Some(*language),
                "{language}"
            );
        }
        assert_eq!(Language::from_name("klingon"), None);
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
