//! Definitions by name: exact names first, then other case, prefixes and typing mistakes.
//!
//! The store names the files that define a name, and their stored symbols give candidates, which are ordered
//! without reading a file. Only those that are returned are read from their files.
//!
//! Invariant: a result is a definition that its file has now, and no result comes from a file that the access
//! rules block.

use std::collections::HashSet;

use docent_core::path::RepoPath;
use docent_core::symbols::{DefinitionId, FileSymbols, SymbolDefinition, SymbolKind, definition_at_line};

use super::candidate::{SymbolCandidate, read_candidates};
use super::current::{ShownText, SymbolFiles};
use super::location::SymbolLocation;
use super::name_query::{NameComparison, NameQuery, Place, parse_names};
use super::order::sort_candidates;
use super::{FoundSymbol, Ground, NameMatch, SymbolContext, SymbolError, SymbolOutcome, SymbolQuery};
use crate::index::{Corpus, Freshness};
use crate::store::{StoreError, SymbolStore};

/// Files that are read for one name. A name such as `init` is defined in thousands; the rest is counted.
const MAX_READ_FILES: usize = 400;

/// Names that are tried in place of one that is not defined.
const MAX_PREFIXED_NAMES: usize = 50;
const MAX_SIMILAR_NAMES: usize = 20;

/// Finds definitions by name.
pub fn find_symbols(
    context: &SymbolContext<'_>,
    query: &SymbolQuery<'_>,
) -> Result<SymbolOutcome, SymbolError> {
    let (found, ground) = answer_fresh(context, || find(context, query))?;
    Ok(SymbolOutcome { ground, ..found })
}

/// The answer to a question on an index that was brought up to date, and the files that it rests on.
pub(super) fn answer_fresh<T>(
    context: &SymbolContext<'_>,
    question: impl Fn() -> Result<T, SymbolError>,
) -> Result<(T, Ground), SymbolError> {
    let mut freshness = freshen(context);
    let answer = match question() {
        // The index has reported the damage to its worker, which rebuilds it while the second try waits.
        Err(SymbolError::Store(StoreError::Damaged(_))) => {
            freshness = freshen(context);
            question()
        }
        answer => answer,
    }?;
    Ok((answer, ground(context, freshness)?))
}

/// Brings the index up to date, as far as patience reaches.
pub(super) fn freshen(context: &SymbolContext<'_>) -> Freshness {
    let SymbolContext {
        index,
        patience,
        deadline,
        report,
        ..
    } = *context;
    index.freshen(Corpus::Code, patience, deadline, report)
}

/// The files that an answer rests on.
fn ground(context: &SymbolContext<'_>, freshness: Freshness) -> Result<Ground, SymbolError> {
    let files = context.symbols(|store| store.count_symbol_files())?;
    Ok(Ground {
        files: usize::try_from(files).unwrap_or(usize::MAX),
        unparsed: context.index.unparsed_files()?,
        freshness,
    })
}

fn find(context: &SymbolContext<'_>, query: &SymbolQuery<'_>) -> Result<SymbolOutcome, SymbolError> {
    let location = SymbolLocation::parse(context.root, query.path);
    let names = parse_names(query.name);
    let mut files = SymbolFiles::new(context);
    if names.is_empty() || location.line().is_some() {
        return list_file(context, &mut files, &location, &names, query);
    }
    let mut missing = Vec::new();
    let mut groups: Vec<Vec<SymbolCandidate>> = Vec::new();
    for name in &names {
        let mut candidates = find_candidates(context, name, &location, query.kind)?;
        sort_candidates(&mut candidates);
        if candidates.is_empty() {
            missing.push(name.written.clone());
        } else {
            groups.push(candidates);
        }
    }
    let (symbols, mut total) = show_best(context, &mut files, groups, query.limit)?;
    for name in names
        .iter()
        .filter(|_| matches!(location, SymbolLocation::Anywhere))
    {
        if name.qualifiers.is_empty() && query.kind.is_none() {
            let defined = context
                .symbols(|store| store.files_defining(&name.name, 0))?
                .total;
            total += defined.saturating_sub(MAX_READ_FILES);
        }
    }
    Ok(SymbolOutcome {
        symbols,
        total,
        missing,
        ground: Ground::default(),
    })
}

/// The definitions that one name means: by the first way of matching that finds any. Not yet sorted.
pub(super) fn find_candidates(
    context: &SymbolContext<'_>,
    name: &NameQuery,
    location: &SymbolLocation,
    kind: Option<SymbolKind>,
) -> Result<Vec<SymbolCandidate>, SymbolError> {
    let search = CandidateSearch {
        context,
        name,
        location,
        kind,
    };
    let store = |question: Names<'_>| -> Result<Vec<String>, SymbolError> {
        Ok(context.symbols(|store| match question {
            Names::InOtherCase(name) => store.names_in_other_case(name, MAX_SIMILAR_NAMES),
            Names::WithPrefix(prefix) => store.names_with_prefix(prefix, MAX_PREFIXED_NAMES),
            Names::Similar(name) => store.similar_names(name, 1, MAX_SIMILAR_NAMES),
        })?)
    };
    let asked = name.name.as_str();
    if name.is_prefix {
        return search.all(
            &store(Names::WithPrefix(asked))?,
            NameMatch::Prefix,
            NameComparison::Exact,
        );
    }
    let mut found = search.one(asked, NameMatch::Exact, NameComparison::Exact)?;
    if found.is_empty() {
        found = search.all(
            &store(Names::InOtherCase(asked))?,
            NameMatch::OtherCase,
            NameComparison::AnyCase,
        )?;
        if !name.qualifiers.is_empty() {
            found.extend(search.one(asked, NameMatch::OtherCase, NameComparison::AnyCase)?);
        }
    }
    if found.is_empty() {
        found = search.all(
            &store(Names::WithPrefix(asked))?,
            NameMatch::Prefix,
            NameComparison::Exact,
        )?;
    }
    if found.is_empty() {
        found = search.all(
            &store(Names::Similar(asked))?,
            NameMatch::Similar,
            NameComparison::AnyCase,
        )?;
        if !name.qualifiers.is_empty() {
            found.extend(search.one(asked, NameMatch::Similar, NameComparison::OneEdit)?);
        }
    }
    Ok(found)
}

/// Names to look up in the dictionary of the store.
enum Names<'a> {
    InOtherCase(&'a str),
    WithPrefix(&'a str),
    Similar(&'a str),
}

/// Looks for the definitions that one name of a question means.
struct CandidateSearch<'a> {
    context: &'a SymbolContext<'a>,
    name: &'a NameQuery,
    location: &'a SymbolLocation,
    kind: Option<SymbolKind>,
}

impl CandidateSearch<'_> {
    /// True if scopes or a directory say which of many definitions are meant.
    fn is_narrowed(&self) -> bool {
        !self.name.qualifiers.is_empty() || !matches!(self.location, SymbolLocation::Anywhere)
    }

    /// The definitions with any of these names.
    fn all(
        &self,
        names: &[String],
        matched: NameMatch,
        comparison: NameComparison,
    ) -> Result<Vec<SymbolCandidate>, SymbolError> {
        let mut found = Vec::new();
        for name in names {
            // A prefix that is a name itself.
            let matched = if *name == self.name.name {
                NameMatch::Exact
            } else {
                matched
            };
            found.extend(self.one(name, matched, comparison)?);
        }
        Ok(found)
    }

    /// The definitions with this name.
    fn one(
        &self,
        name: &str,
        matched: NameMatch,
        comparison: NameComparison,
    ) -> Result<Vec<SymbolCandidate>, SymbolError> {
        let found = self
            .context
            .symbols(|store| match self.read(store, name, matched, comparison) {
                Err(SymbolError::Store(error)) => Err(error),
                answer => Ok(Some(answer)),
            })?;
        found.unwrap_or_else(|| Ok(Vec::new()))
    }

    fn read(
        &self,
        store: &dyn SymbolStore,
        name: &str,
        matched: NameMatch,
        comparison: NameComparison,
    ) -> Result<Vec<SymbolCandidate>, SymbolError> {
        let files = if let Some(path) = self.location.file() {
            // A name such as `new` is defined in thousands of files.
            Vec::from_iter(store.find_file(path.as_str())?)
        } else {
            let limit = if self.is_narrowed() {
                usize::MAX
            } else {
                MAX_READ_FILES
            };
            store.files_defining(name, limit)?.files
        };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for file in files {
            self.context.deadline.check()?;
            let document = store.read_symbols(file)?;
            let Ok(path) = RepoPath::parse(&document.path) else {
                continue;
            };
            if !self.location.contains(&path) || !self.context.root.access().allows(&path) {
                continue;
            }
            let in_file = read_candidates(&document, &path, name)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
            for mut candidate in in_file.candidates {
                if self.kind.is_some_and(|kind| kind != candidate.definition.kind) {
                    continue;
                }
                candidate.matched = matched;
                let scope = candidate.full_scope();
                let scope: Vec<&str> = scope.split('.').filter(|part| !part.is_empty()).collect();
                let place = Place {
                    path: &path,
                    package: &in_file.package,
                };
                if self.name.matches_scope(&scope, &place, comparison) {
                    inside.push(candidate);
                } else if matched == NameMatch::Exact && self.name.may_match_scope(&scope, &place) {
                    outside.push(candidate);
                }
            }
        }
        Ok(if inside.is_empty() { outside } else { inside })
    }
}

/// The best candidates of each name as their files have them now, at most `limit`, and how many there are in
/// all. Each name gets its share of the limit.
fn show_best(
    context: &SymbolContext<'_>,
    files: &mut SymbolFiles<'_>,
    groups: Vec<Vec<SymbolCandidate>>,
    limit: usize,
) -> Result<(Vec<FoundSymbol>, usize), SymbolError> {
    // `Row|Row.replace` names one definition twice.
    let mut seen = HashSet::new();
    let mut groups: Vec<Vec<SymbolCandidate>> = groups;
    for group in &mut groups {
        group.retain(|candidate| seen.insert((candidate.path.clone(), candidate.id)));
    }
    let mut total: usize = groups.iter().map(Vec::len).sum();
    let longest = groups.iter().map(Vec::len).max().unwrap_or_default();
    let mut shown: Vec<(usize, FoundSymbol)> = Vec::new();
    'rounds: for rank in 0..longest {
        for (number, group) in groups.iter().enumerate() {
            let Some(candidate) = group.get(rank) else {
                continue;
            };
            if shown.len() >= limit {
                break 'rounds;
            }
            context.deadline.check()?;
            match candidate.show(files) {
                Some(symbol) => shown.push((number, symbol)),
                None => total -= 1,
            }
        }
    }
    // Stable, so that the order inside a group stays.
    shown.sort_by_key(|(number, _)| *number);
    Ok((shown.into_iter().map(|(_, symbol)| symbol).collect(), total))
}

/// The definitions of one file as it is now: that at a line, those with the names, or all.
fn list_file(
    context: &SymbolContext<'_>,
    files: &mut SymbolFiles<'_>,
    location: &SymbolLocation,
    names: &[NameQuery],
    query: &SymbolQuery<'_>,
) -> Result<SymbolOutcome, SymbolError> {
    let missing = || SymbolOutcome {
        missing: names.iter().map(|name| name.written.clone()).collect(),
        ..SymbolOutcome::default()
    };
    let Some(file) = location.file().and_then(|path| files.load(path)) else {
        return Ok(missing());
    };
    let stored = context.symbols(|store| store.symbols_of(file.path.as_str()))?;
    let symbols = file.present_symbols(context.index, stored.as_ref())?;
    let place = Place {
        path: &file.path,
        package: &symbols.package,
    };
    let is_asked = |definition: &&SymbolDefinition| {
        query.kind.is_none_or(|kind| kind == definition.kind)
            && (names.is_empty() || names.iter().any(|name| name.means(&symbols, definition, &place)))
    };
    let mut definitions: Vec<SymbolDefinition> =
        symbols.definitions.iter().filter(is_asked).cloned().collect();
    if let Some(line) = location.line() {
        let at_line = definition_at_line(&definitions, line);
        let at_line = at_line.map(|DefinitionId(id)| definitions.swap_remove(id as usize));
        definitions = Vec::from_iter(at_line);
    }
    if definitions.is_empty() {
        return Ok(missing());
    }
    let shown = ShownText::of(&file.path, &file.text);
    let total = definitions.len();
    let shown = definitions
        .iter()
        .take(query.limit)
        .map(|definition| shown.symbol_of(&symbols, definition, NameMatch::Exact));
    Ok(SymbolOutcome {
        symbols: shown.collect(),
        total,
        ..SymbolOutcome::default()
    })
}

impl NameQuery {
    /// Whether a definition of a file has this name, in this scope.
    fn means(&self, symbols: &FileSymbols, definition: &SymbolDefinition, place: &Place<'_>) -> bool {
        let full_name = format!(
            "{}.{}",
            symbols.name(definition.scope),
            symbols.name(definition.name)
        );
        let mut parts: Vec<&str> = full_name.split('.').filter(|part| !part.is_empty()).collect();
        let name = parts.pop().unwrap_or_default();
        let is_name = symbols.name(definition.name) == self.name
            || if self.is_prefix {
                name.starts_with(&self.name)
            } else {
                name == self.name
            };
        is_name && self.matches_scope(&parts, place, NameComparison::Exact)
    }
}
