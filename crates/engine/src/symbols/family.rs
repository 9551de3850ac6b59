//! Families of languages: which files see each other's names without an import, and where members may stand.

use docent_core::language::Language;

/// The rules of a language that matter across files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a family can have any of them without the others"
)]
pub(super) struct LanguageFamily {
    /// Languages of one family use each other's definitions.
    pub(super) id: FamilyId,
    pub(super) visibility: Visibility,
    /// Members of the class around it can be used without a receiver.
    pub(super) has_implicit_members: bool,
    /// Methods may stand outside of the file that defines their type.
    pub(super) has_split_types: bool,
    /// A definition may be declared in other files.
    pub(super) has_declarations: bool,
    /// A type implements an interface by having its methods.
    pub(super) has_structural_types: bool,
    /// Functions are used as members of a module: `module.function()`.
    pub(super) has_module_members: bool,
    /// Members of an enumeration are used without its name.
    pub(super) has_loose_constants: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FamilyId {
    EcmaScript,
    C,
    Jvm,
    Other(Language),
}

/// The files whose definitions are visible without an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visibility {
    /// Only the file itself.
    File,
    Directory,
    /// Files with the same package clause.
    Package,
    Program,
}

impl LanguageFamily {
    pub(super) fn of(language: Language) -> Self {
        let plain = Self {
            id: FamilyId::Other(language),
            visibility: Visibility::File,
            has_implicit_members: false,
            has_split_types: false,
            has_declarations: false,
            has_structural_types: false,
            has_module_members: true,
            has_loose_constants: false,
        };
        match language {
            Language::TypeScript
            | Language::TypeScriptReact
            | Language::JavaScript
            | Language::JavaScriptReact
            | Language::Vue
            | Language::Svelte => Self {
                id: FamilyId::EcmaScript,
                ..plain
            },
            Language::Go => Self {
                visibility: Visibility::Directory,
                has_split_types: true,
                has_structural_types: true,
                has_module_members: false,
                ..plain
            },
            Language::C | Language::Cpp | Language::CudaCpp | Language::ObjectiveC => Self {
                id: FamilyId::C,
                visibility: Visibility::Program,
                has_implicit_members: language != Language::C,
                has_split_types: true,
                has_declarations: true,
                has_module_members: false,
                has_loose_constants: true,
                ..plain
            },
            Language::Java | Language::Kotlin | Language::Scala => Self {
                id: FamilyId::Jvm,
                visibility: Visibility::Package,
                has_implicit_members: true,
                ..plain
            },
            Language::CSharp | Language::Swift | Language::Ruby | Language::Php => Self {
                visibility: Visibility::Program,
                has_implicit_members: language != Language::Php,
                has_split_types: true,
                ..plain
            },
            Language::Rust => Self {
                has_split_types: true,
                ..plain
            },
            Language::Elixir | Language::Haskell | Language::ShellScript => Self {
                visibility: Visibility::Program,
                ..plain
            },
            _ => plain,
        }
    }
}
