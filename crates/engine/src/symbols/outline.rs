//! Outlines: the definitions of a file, or of the files of a directory.
//!
//! The outline of a file is read from its text as it is now and needs no index. That of a directory names
//! only files whose symbols are indexed, so that ignored and generated files are left out.

use docent_core::chunk::has_grammar;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{DefinitionId, FileSymbols, SymbolDefinition, SymbolKind, chunk_with_symbols};

use super::current::{ShownText, SymbolFiles};
use super::find::freshen;
use super::{FileOutline, NameMatch, SymbolContext, SymbolError};
use crate::files::Root;

/// Shown in place of definitions for a language without a grammar.
const NO_GRAMMAR: &str = "no grammar";

/// Shown in place of definitions for a file that the access rules block.
const BLOCKED: &str = "blocked";

/// Files of a directory that are outlined.
pub const MAX_OUTLINED_FILES: usize = 500;

/// The definitions of a file, from its text as it is now.
pub fn outline_file(root: &Root, path: &RepoPath, text: &str) -> FileOutline {
    if !root.access().allows(path) {
        return FileOutline {
            path: path.as_str().to_owned(),
            unparsed: Some(BLOCKED),
            ..FileOutline::default()
        };
    }
    let language = Language::of_file(path, text);
    let (chunked, symbols) = chunk_with_symbols(language, text);
    let unparsed = match (&symbols, chunked.unparsed) {
        (Some(_), _) => None,
        (None, Some(reason)) => Some(reason.name()),
        (None, None) => Some(NO_GRAMMAR),
    };
    let symbols = symbols.unwrap_or_default();
    outline(path, text, language, &symbols, unparsed, |_| true)
}

/// The top-level definitions of the files in a directory and in its direct subdirectories. The empty path is
/// the root.
pub fn outline_directory(
    context: &SymbolContext<'_>,
    directory: &str,
) -> Result<Vec<FileOutline>, SymbolError> {
    freshen(context);
    let mut outlines = Vec::new();
    let mut files = SymbolFiles::new(context);
    for path in list_paths(context.root, directory) {
        context.deadline.check()?;
        if outlines.len() == MAX_OUTLINED_FILES {
            break;
        }
        let Some(stored) = context.symbols(|store| store.symbols_of(path.as_str()))? else {
            continue;
        };
        let Some(file) = files.load(&path) else {
            continue;
        };
        let symbols = file.present_symbols(context.index, Some(&stored))?;
        let language = Language::of_file(&path, &file.text);
        let is_shown = |id: DefinitionId| is_top_level(&symbols, id);
        outlines.push(outline(&path, &file.text, language, &symbols, None, is_shown));
    }
    Ok(outlines)
}

fn outline(
    path: &RepoPath,
    text: &str,
    language: Language,
    symbols: &FileSymbols,
    unparsed: Option<&'static str>,
    is_shown: impl Fn(DefinitionId) -> bool,
) -> FileOutline {
    debug_assert!(
        unparsed.is_some() || has_grammar(language),
        "{language} was parsed"
    );
    let shown = ShownText::of(path, text);
    let definitions = (0..).map(DefinitionId).zip(&symbols.definitions);
    FileOutline {
        path: path.as_str().to_owned(),
        language: language.to_string(),
        definitions: definitions
            .filter(|(id, _)| is_shown(*id))
            .map(|(_, definition)| shown.symbol_of(symbols, definition, NameMatch::Exact))
            .collect(),
        unparsed,
    }
}

/// The files of a directory and of its direct subdirectories, in the order of their paths.
fn list_paths(root: &Root, directory: &str) -> Vec<RepoPath> {
    let directory =
        RepoPath::parse(directory).map_or_else(|_| String::new(), |path| path.as_str().to_owned());
    let join = |above: &str, name: &str| {
        if above.is_empty() {
            name.to_owned()
        } else {
            format!("{above}/{name}")
        }
    };
    let mut paths = Vec::new();
    for name in root.names_in(&directory) {
        match name.strip_suffix('/') {
            None => paths.push(join(&directory, &name)),
            Some(name) => {
                let inner = join(&directory, name);
                let names = root.names_in(&inner).into_iter();
                let files = names.filter(|name| !name.ends_with('/'));
                paths.extend(files.map(|name| join(&inner, &name)));
            }
        }
    }
    let mut paths: Vec<RepoPath> = paths
        .iter()
        .filter_map(|path| RepoPath::parse(path).ok())
        .collect();
    paths.sort_unstable();
    paths
}

/// Whether a definition is at the top level of its file, or of a namespace in it. Members of types and local
/// functions are not.
fn is_top_level(symbols: &FileSymbols, DefinitionId(id): DefinitionId) -> bool {
    let Some(definition) = symbols.definitions.get(id as usize) else {
        return false;
    };
    if matches!(definition.kind, SymbolKind::Method | SymbolKind::Field) {
        return false;
    }
    let parent = |definition: &SymbolDefinition| -> Option<&SymbolDefinition> {
        symbols.definitions.get(definition.parent?.0 as usize)
    };
    // Damaged symbols might have a definition around itself.
    let parents = std::iter::successors(parent(definition), |above| parent(above));
    parents
        .take(symbols.definitions.len())
        .all(|above| above.kind == SymbolKind::Module)
}
