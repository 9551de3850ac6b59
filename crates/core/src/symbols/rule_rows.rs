//! The languages with rules: the rule file of each, and the traits that rules cannot say.
//!
//! To add a language: a row in [`ROWS`] and a rule file.

use super::rules::NodeMeaning;
use crate::language::Language;

/// Properties of a language that rules cannot express.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a language can have any of them without the others"
)]
pub(super) struct LanguageTraits {
    /// The first parameter of a method is the object itself: Python's `self`.
    pub(super) self_parameter: bool,
    /// A call with several results binds the first of them to the first name.
    pub(super) several_results: bool,
    /// Capitals make a constant of a variable.
    pub(super) constants_by_case: bool,
    /// A function inside a function is a mistake of the parser, which lost a bracket to the preprocessor.
    pub(super) flat_functions: bool,
    /// A name with a capital in a pattern is a constant or a type, and binds nothing.
    pub(super) constants_in_patterns: bool,
    /// Methods that return their object, or a part of it that has the same type here: `unwrap`.
    pub(super) transparent_calls: &'static str,
    /// Fields are declared, so that `this.x = …` defines none.
    pub(super) declared_fields: bool,
    /// Identifiers that the grammar has no nodes of their own for: `$this`, `true`.
    pub(super) special_names: &'static [(&'static str, NodeMeaning)],
    /// Marks in front of names that are not part of them: `$rows`, `@rows`.
    pub(super) sigils: &'static [char],
    /// The method of a class that makes an object of it: Ruby's `new`.
    pub(super) constructor: Option<&'static str>,
    /// Functions whose arguments are names of definitions: `attr_reader :rows`.
    pub(super) defining_calls: &'static [(&'static str, DefiningArguments)],
    /// Names of the language itself. A use of one is left out, unless the file defines or imports the name.
    pub(super) language_names: &'static str,
    /// Functions that import: `require("zoo.animal")`.
    pub(super) importing_calls: &'static [&'static str],
}

/// The arguments of a function that are names of definitions or of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefiningArguments {
    First,
    All,
    /// They name types whose members the class around the call gets: `include Enumerable`.
    Bases,
}

/// The rules of a family of grammars.
pub(super) struct RuleRow {
    pub(super) languages: &'static [Language],
    pub(super) rules: &'static str,
    pub(super) traits: LanguageTraits,
}

impl LanguageTraits {
    /// Of a language that needs none of them.
    pub(super) const PLAIN: Self = Self {
        self_parameter: false,
        several_results: false,
        constants_by_case: false,
        flat_functions: false,
        constants_in_patterns: false,
        transparent_calls: "",
        declared_fields: false,
        special_names: &[],
        sigils: &[],
        constructor: None,
        defining_calls: &[],
        language_names: "",
        importing_calls: &[],
    };
}

const PLAIN: LanguageTraits = LanguageTraits::PLAIN;

/// Words that look like calls: keywords of Ruby that are methods.
const RUBY_NAMES: &[(&str, NodeMeaning)] = &[
    ("private", NodeMeaning::Skip),
    ("protected", NodeMeaning::Skip),
    ("public", NodeMeaning::Skip),
    ("require", NodeMeaning::Skip),
    ("require_relative", NodeMeaning::Skip),
];

/// Macros of Elixir that define and import.
const ELIXIR_NAMES: &[(&str, NodeMeaning)] = &[
    ("__MODULE__", NodeMeaning::ThisType),
    ("def", NodeMeaning::Skip),
    ("defp", NodeMeaning::Skip),
    ("defmodule", NodeMeaning::Skip),
    ("defmacro", NodeMeaning::Skip),
    ("defmacrop", NodeMeaning::Skip),
    ("defguard", NodeMeaning::Skip),
    ("defguardp", NodeMeaning::Skip),
    ("defdelegate", NodeMeaning::Skip),
    ("defprotocol", NodeMeaning::Skip),
    ("defimpl", NodeMeaning::Skip),
    ("defstruct", NodeMeaning::Skip),
    ("defexception", NodeMeaning::Skip),
];

pub(super) const ROWS: &[RuleRow] = &[
    RuleRow {
        languages: &[
            Language::TypeScript,
            Language::Vue,
            Language::Svelte,
            Language::TypeScriptReact,
            Language::JavaScript,
            Language::JavaScriptReact,
        ],
        rules: include_str!("queries/typescript.scm"),
        traits: LanguageTraits {
            language_names: " undefined console Object Array Promise String Number Boolean Error JSON Math Date Map Set Record \
                Partial Readonly window document process globalThis ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Python],
        rules: include_str!("queries/python.scm"),
        traits: LanguageTraits {
            self_parameter: true,
            constants_by_case: true,
            language_names: " None str int bool float list dict tuple set object bytes type len isinstance super range print \
                getattr setattr hasattr property staticmethod classmethod ValueError TypeError KeyError Exception ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Go],
        rules: include_str!("queries/go.scm"),
        traits: LanguageTraits {
            several_results: true,
            language_names: " nil string bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 byte rune error any \
                float32 float64 iota len cap append make new panic delete copy comparable ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::C],
        rules: include_str!("queries/c.scm"),
        traits: LanguageTraits {
            flat_functions: true,
            language_names: " NULL size_t ssize_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Cpp, Language::CudaCpp],
        rules: include_str!("queries/cpp.scm"),
        traits: PLAIN,
    },
    RuleRow {
        languages: &[Language::Java],
        rules: include_str!("queries/java.scm"),
        traits: LanguageTraits {
            language_names: " String Object Integer Long Boolean Double Override List Map Set Exception ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Rust],
        rules: include_str!("queries/rust.scm"),
        traits: LanguageTraits {
            constants_in_patterns: true,
            language_names: " Some None Ok Err String Vec Option Result Box Arc Rc usize u8 u16 u32 u64 i32 i64 bool str char \
                Default Debug Clone Copy PartialEq Eq Hash ",
            transparent_calls: " unwrap expect unwrap_or_default clone cloned to_owned as_ref as_mut as_deref borrow \
                borrow_mut lock iter iter_mut into_iter ",
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Kotlin],
        rules: include_str!("queries/kotlin.scm"),
        traits: LanguageTraits {
            constants_by_case: true,
            declared_fields: true,
            special_names: &[
                ("true", NodeMeaning::Builtin),
                ("false", NodeMeaning::Builtin),
                ("null", NodeMeaning::Skip),
                ("it", NodeMeaning::Skip),
            ],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::CSharp],
        rules: include_str!("queries/csharp.scm"),
        traits: LanguageTraits {
            declared_fields: true,
            special_names: &[("var", NodeMeaning::Skip), ("_", NodeMeaning::Skip)],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Ruby],
        rules: include_str!("queries/ruby.scm"),
        traits: LanguageTraits {
            constants_by_case: true,
            special_names: RUBY_NAMES,
            sigils: &['@'],
            constructor: Some("new"),
            defining_calls: &[
                ("attr_reader", DefiningArguments::All),
                ("attr_writer", DefiningArguments::All),
                ("attr_accessor", DefiningArguments::All),
                ("alias_method", DefiningArguments::First),
                ("include", DefiningArguments::Bases),
                ("prepend", DefiningArguments::Bases),
                ("extend", DefiningArguments::Bases),
            ],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Php],
        rules: include_str!("queries/php.scm"),
        traits: LanguageTraits {
            declared_fields: true,
            special_names: &[
                ("$this", NodeMeaning::This),
                ("self", NodeMeaning::ThisType),
                ("static", NodeMeaning::ThisType),
                ("parent", NodeMeaning::Super),
            ],
            sigils: &['$'],
            defining_calls: &[("define", DefiningArguments::First)],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Scala],
        rules: include_str!("queries/scala.scm"),
        traits: LanguageTraits {
            declared_fields: true,
            special_names: &[
                ("this", NodeMeaning::This),
                ("super", NodeMeaning::Super),
                ("_", NodeMeaning::Skip),
            ],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Swift],
        rules: include_str!("queries/swift.scm"),
        traits: LanguageTraits {
            declared_fields: true,
            special_names: &[
                ("Self", NodeMeaning::ThisType),
                ("init", NodeMeaning::Skip),
                ("_", NodeMeaning::Skip),
            ],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Lua],
        rules: include_str!("queries/lua.scm"),
        traits: LanguageTraits {
            special_names: &[("self", NodeMeaning::This), ("_", NodeMeaning::Skip)],
            importing_calls: &["require"],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Elixir],
        rules: include_str!("queries/elixir.scm"),
        traits: LanguageTraits {
            special_names: ELIXIR_NAMES,
            defining_calls: &[("defstruct", DefiningArguments::All)],
            importing_calls: &["alias", "import", "require", "use"],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::Haskell],
        rules: include_str!("queries/haskell.scm"),
        traits: PLAIN,
    },
    RuleRow {
        languages: &[Language::Zig],
        rules: include_str!("queries/zig.scm"),
        traits: LanguageTraits {
            declared_fields: true,
            special_names: &[
                ("_", NodeMeaning::Skip),
                ("Self", NodeMeaning::ThisType),
                ("null", NodeMeaning::Skip),
                ("undefined", NodeMeaning::Skip),
            ],
            importing_calls: &["@import"],
            ..PLAIN
        },
    },
    RuleRow {
        languages: &[Language::ShellScript],
        rules: include_str!("queries/shellscript.scm"),
        traits: PLAIN,
    },
];
