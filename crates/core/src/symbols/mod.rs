//! Symbols of a file: its definitions, the places where names are used, and what the text alone says about
//! their types.
//!
//! Text in, values out, from the parse that chunks are cut from. A file is read on its own here: names stay
//! names, and [`Expression`] says how a receiver was written. The engine follows them through imports to
//! definitions in other files when a question is asked, so that no stored answer goes stale when another file
//! changes.
//!
//! `encoding` is the form in which the index stores them, and reads the part of them that a question needs.
//!
//! `queries/LANGUAGE.scm` says which nodes of a grammar are uses, scopes and bindings (`rules`), and `walk`
//! visits the tree once. Left out on purpose: types that need a type checker, the expansion of macros and
//! code that is run.
//!
//! Invariant: the size of [`FileSymbols`] grows with the text, and no text makes this module panic.

mod bindings;
mod context;
mod definition_facts;
mod encoding;
mod finish;
mod folding;
mod import_bindings;
mod macro_text;
mod outline_symbols;
mod question;
mod reader;
mod rule_patterns;
mod rule_rows;
mod rules;
mod scopes;
mod shown;
mod special_calls;
#[cfg(test)]
mod tests;
mod walk;

pub use encoding::{DecodeError, NameTable, SymbolsReader, encode};
pub use folding::{FoldKind, FoldableLines, find_folds};
pub use question::{AskedUses, SymbolQuestion, parse_question};
pub use shown::definition_at_line;

use crate::chunk::{Chunked, Unparsed, chunk_and_keep_syntax, parse_syntax};
use crate::language::Language;

/// Longer generated files have no symbols: parsing them would take a tenth of the time of an index.
const MAX_GENERATED_BYTES: usize = 16 << 10;

/// Cuts a file into chunks and reads its symbols, from one parse. A file that was not parsed has no symbols.
pub fn chunk_with_symbols(language: Language, text: &str) -> (Chunked, Option<FileSymbols>) {
    let (chunked, mut syntax) = chunk_and_keep_syntax(language, text);
    if chunked.unparsed == Some(Unparsed::Generated) && text.len() <= MAX_GENERATED_BYTES {
        // Nobody reads generated code for its text, but people call it, and it calls what they wrote.
        syntax = parse_syntax(language, text);
    }
    let symbols = syntax.map(|syntax| walk::read_symbols(language, text, &syntax));
    (chunked, symbols)
}

/// Reads the symbols of a text as [`chunk_with_symbols`] does, without cutting it.
pub fn read_symbols(language: Language, text: &str) -> Option<FileSymbols> {
    let syntax = match Unparsed::without_parsing(text) {
        Some(Unparsed::Generated) if text.len() > MAX_GENERATED_BYTES => None,
        None | Some(Unparsed::Generated) => parse_syntax(language, text),
        Some(_) => None,
    }?;
    Some(walk::read_symbols(language, text, &syntax))
}

/// The symbols of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Every name that occurs below, each once.
    pub names: Vec<String>,
    /// In source order, so an enclosing definition comes before those inside it.
    pub definitions: Vec<SymbolDefinition>,
    /// In source order. Uses of local variables and parameters are left out.
    pub references: Vec<Reference>,
    pub imports: Vec<ImportBinding>,
    /// An expression refers only to expressions before it.
    pub expressions: Vec<Expression>,
    /// The package that the file says it belongs to (Go, Java, PHP), empty if it says none.
    pub package: String,
}

/// Index into [`FileSymbols::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Index into [`FileSymbols::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// Index into [`FileSymbols::expressions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpressionId(pub u32);

/// A named function, type, field, constant or other item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolDefinition {
    pub name: NameId,
    pub kind: SymbolKind,
    /// Names of the definitions around it, joined by `.`: `Library` for `Library.lend`. Also the receiver of
    /// a Go method and the `Foo` of `Foo::bar`, which are not around it in the text. Empty at the top level.
    pub scope: NameId,
    /// The definition around it in the text.
    pub parent: Option<DefinitionId>,
    /// First line, comments and attributes above it included. Lines count from 1.
    pub first_line: u32,
    pub last_line: u32,
    /// Position of the name.
    pub name_at: SourcePosition,
    /// Bytes of the text from the beginning of the definition to its body.
    pub signature: ByteRange,
    /// Bytes of the documentation comment or docstring, marks included. Empty without one.
    pub doc: ByteRange,
    /// False for declarations: C prototypes, overload signatures, methods of an interface.
    pub has_body: bool,
    /// True if only its own file can use it, such as a `static` function of C.
    pub is_file_local: bool,
    /// The result of a call of the function, or the type of the variable or field.
    pub result: Option<ExpressionId>,
    /// Base classes, implemented interfaces, embedded structs; for a type alias the type it stands for.
    pub bases: Vec<ExpressionId>,
}

/// A place in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePosition {
    /// Counted from 1.
    pub line: u32,
    /// Bytes from the start of the line, counted from 0.
    pub column: u32,
}

/// A part of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    pub start: u32,
    pub end: u32,
}

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Interface,
    Type,
    Module,
    /// A field of a struct or class, or a property.
    Field,
    /// A constant, or a member of an enumeration.
    Constant,
    Variable,
    Macro,
}

/// A use of a name that may be defined in this file or in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    pub name: NameId,
    pub role: ReferenceRole,
    pub at: SourcePosition,
    /// The innermost function, type or other definition around it.
    pub within: Option<DefinitionId>,
    pub target: Target,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceRole {
    Call,
    Type,
    Import,
    /// A member that is read or written without a call: `row.cells`.
    Member,
    /// Any other use, such as a function handed on as a value.
    Name,
}

/// The place to look for the definition of a used name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// In the scopes of the file: its own definitions, its imports, its package.
    Scope,
    /// In a definition of this file, which encloses the use or is bound to the name there.
    Definition(DefinitionId),
    /// Among the members of the receiver.
    Member(ExpressionId),
    /// Among the members of a receiver about which the text says nothing.
    UnknownMember,
}

/// A value or a type, as far as the text describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A name of the file's scopes: a class, function, variable, module or import.
    Name(NameId),
    /// A definition of this file.
    Definition(DefinitionId),
    /// A member of a value, type, module or package: `a.b`.
    Member(ExpressionId, NameId),
    /// The result of a call or of a constructor: `f()`, `new C()`.
    Call(ExpressionId),
    /// A value of the type that the inner expression names: `x: C`, `C { … }`.
    Instance(ExpressionId),
    /// The object that a method of this type runs on: `self`, `this`.
    This(DefinitionId),
    /// The same object as its base classes see it: `super`.
    Super(DefinitionId),
    /// A collection of values like the inner expression: `[]C`, `List[C]`.
    Collection(ExpressionId),
    /// A value out of a collection: `xs[0]`, the variable of a loop.
    Element(ExpressionId),
    /// A value of a type that is built into the language: a text, a number.
    Builtin,
}

/// A name that an import statement brings into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportBinding {
    /// The name in this file. Empty for a wildcard.
    pub local: NameId,
    /// The import as the resolver of `imports` reads it: `./auth/token`, `pkg.module`, `crate::store::Table`.
    pub written: NameId,
    pub imported: ImportedName,
    /// True if other files can import the name from this file: `export { a } from "./b"`, `pub use`.
    pub is_reexport: bool,
    /// Counted from 1.
    pub line: u32,
}

/// The thing that an import binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedName {
    /// The definition with this name in the imported file.
    Name(NameId),
    /// The default export of the imported file.
    Default,
    /// The module or package itself.
    Module,
    /// Every name of the imported file.
    Wildcard,
}

impl FileSymbols {
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// The names of its definitions, each once. Of `Zoo.Row`, also `Row`.
    pub fn defined_names(&self) -> Vec<&str> {
        let mut names = self.select_names(self.definitions.iter().map(|definition| definition.name));
        let last_parts = names.iter().filter_map(|name| Some(name.rsplit_once('.')?.1));
        let last_parts: Vec<&str> = last_parts.filter(|part| !part.is_empty()).collect();
        if !last_parts.is_empty() {
            names.extend(last_parts);
            names.sort_unstable();
            names.dedup();
        }
        names
    }

    /// The names that it uses or imports, each once.
    pub fn used_names(&self) -> Vec<&str> {
        let references = self.references.iter().map(|reference| reference.name);
        let imports = self.imports.iter().flat_map(|import| match import.imported {
            ImportedName::Name(name) => [import.local, name],
            _ => [import.local; 2],
        });
        self.select_names(references.chain(imports))
    }

    fn select_names(&self, ids: impl Iterator<Item = NameId>) -> Vec<&str> {
        let mut is_selected = vec![false; self.names.len()];
        for NameId(id) in ids {
            if let Some(is_selected) = is_selected.get_mut(id as usize) {
                *is_selected = true;
            }
        }
        let names = self.names.iter().zip(is_selected);
        names
            .filter(|(name, is_selected)| *is_selected && !name.is_empty())
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

impl SymbolKind {
    pub const ALL: [Self; 10] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Interface,
        Self::Type,
        Self::Module,
        Self::Field,
        Self::Constant,
        Self::Variable,
        Self::Macro,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Module => "module",
            Self::Field => "field",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Macro => "macro",
        }
    }

    /// True for definitions that have members.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Class | Self::Interface | Self::Type | Self::Module)
    }
}

impl ReferenceRole {
    pub const ALL: [Self; 5] = [Self::Call, Self::Type, Self::Import, Self::Member, Self::Name];

    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Type => "type",
            Self::Import => "import",
            Self::Member => "member",
            Self::Name => "name",
        }
    }
}
