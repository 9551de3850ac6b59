//! Where a searched name is defined, for the first lines of an answer, and which names come near one that is
//! found nowhere.
//!
//! Definitions in the files with matches were parsed just now. All others come from the index as it lies on
//! disk; without one, the answer comes without them.
//!
//! Invariant: the index is neither built nor waited for, and a definition is one that its file has now.

use docent_core::shell::search::LineSearchRequest;
use docent_core::text::reveal::reveal_part;
use docent_engine::symbols::{FoundSymbol, StoredSymbols};

use super::files::MatchedFile;
use super::names::{SearchedName, searched_names};
use crate::compact::line_range;
use crate::markdown::{cut, length};
use crate::shell::ShellContext;

/// Lines for one name, and for all names of a pattern.
const MAX_LINES_OF_NAME: usize = 2;
const MAX_LINES: usize = 3;

/// Characters of a signature.
const MAX_SIGNATURE_CHARS: usize = 100;

/// Names that are mentioned where nothing matches.
const MAX_NEAR_NAMES: usize = 2;

/// Where the searched names are defined, a line each, in at most `room` characters. `is_printed` says whether
/// the answer has the line of a file in any case.
pub(super) fn name_definitions(
    request: &LineSearchRequest,
    files: &[MatchedFile<'_>],
    context: &ShellContext,
    room: usize,
    is_printed: impl Fn(&str, usize) -> bool,
) -> String {
    let names = searched_names(request);
    if names.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut others: Vec<&SearchedName> = Vec::new();
    for name in &names {
        let found = among_matches(name, files);
        if found.is_empty() {
            others.push(name);
        }
        let hidden = found
            .into_iter()
            .filter(|one| !is_printed(one.path, one.name_line));
        lines.extend(hidden.take(MAX_LINES_OF_NAME).map(|one| one.line));
    }
    if !others.is_empty()
        && lines.len() < MAX_LINES
        && let Some(stored) = context.project.stored_symbols()
    {
        let most = if names.len() == 1 { MAX_LINES_OF_NAME } else { 1 };
        for name in others {
            lines.extend(from_index(&stored, name, most));
        }
    }
    let mut left = room;
    let fitting = lines.iter().take(MAX_LINES).take_while(|line| {
        let fits = length(line) <= left;
        left = left.saturating_sub(length(line));
        fits
    });
    fitting.map(String::as_str).collect()
}

/// A definition among the matches.
struct MatchedDefinition<'a> {
    path: &'a str,
    name_line: usize,
    line: String,
}

fn among_matches<'a>(name: &SearchedName, files: &'a [MatchedFile<'_>]) -> Vec<MatchedDefinition<'a>> {
    let mut found = Vec::new();
    for file in files {
        for one in &file.definitions {
            let mut steps = one.name.rsplit('.');
            let is_named = steps.next() == Some(name.name.as_str())
                && name
                    .qualifier
                    .as_deref()
                    .is_none_or(|above| steps.next() == Some(above));
            if is_named && file.has_match_at(one.name_line) {
                let range = line_range(one.first, one.last);
                found.push(MatchedDefinition {
                    path: file.name,
                    name_line: one.name_line,
                    line: format!(
                        "defined: {}:{range} {}\n",
                        reveal_part(file.name),
                        reveal_part(&one.name)
                    ),
                });
            }
        }
    }
    found
}

fn from_index(stored: &StoredSymbols<'_>, name: &SearchedName, most: usize) -> Vec<String> {
    let found = stored.definitions(&name.name, MAX_LINES_OF_NAME + 1);
    let is_meant = |symbol: &&FoundSymbol| match &name.qualifier {
        None => true,
        Some(above) => {
            symbol.scope.rsplit('.').next() == Some(above)
                || symbol.path.as_str().split(['/', '.']).any(|step| step == above)
        }
    };
    let symbols: Vec<&FoundSymbol> = found.symbols.iter().filter(is_meant).take(most).collect();
    let others = found.total.saturating_sub(symbols.len());
    let last = symbols.len().saturating_sub(1);
    let mut lines = Vec::new();
    for (at, symbol) in symbols.into_iter().enumerate() {
        let more = if at == last && others > 0 && name.qualifier.is_none() {
            format!(" (and {others} more)")
        } else {
            String::new()
        };
        lines.push(format!("defined: {}{more}\n", describe(symbol)));
    }
    lines
}

/// Names that come near one that nothing matches: `Row.replace (src/grid.rs:412)`.
pub(super) fn near_names(request: &LineSearchRequest, context: &ShellContext) -> Option<String> {
    let names = searched_names(request);
    let [name] = names.as_slice() else {
        return None;
    };
    let stored = context.project.stored_symbols()?;
    let exact = stored.definitions(&name.name, 1).symbols;
    if let Some(symbol) = exact.first() {
        return Some(format!("no match; defined: {}\n", describe(symbol)));
    }
    let near = stored.near(&name.name, MAX_NEAR_NAMES);
    let near: Vec<String> = near.iter().map(describe).collect();
    (!near.is_empty()).then(|| format!("no match; near names: {}\n", near.join(", ")))
}

/// `src/grid.rs:412-447 Row.replace(&mut self, …)`
fn describe(symbol: &FoundSymbol) -> String {
    let range = line_range(symbol.first_line as usize, symbol.last_line as usize);
    let name = if symbol.scope.is_empty() {
        symbol.name.clone()
    } else {
        format!("{}.{}", symbol.scope, symbol.name)
    };
    // What follows the name in its signature: parameters and result.
    let behind = symbol
        .signature
        .find(&symbol.name)
        .map_or("", |at| &symbol.signature[at + symbol.name.len()..]);
    // Without parameters, only its kind and its bases are left.
    let behind = if symbol.signature.contains('(') {
        behind
    } else {
        ""
    };
    format!(
        "{}:{range} {}",
        reveal_part(symbol.path.as_str()),
        cut(
            &reveal_part(&format!("{name}{}", behind.trim_end_matches([' ', '{', ':']))),
            MAX_SIGNATURE_CHARS,
            "…"
        )
    )
}
