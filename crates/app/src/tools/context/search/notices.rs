//! The wording of `context_search`: what the results may miss, and why there are none.

use docent_core::symbols::AskedUses;
use docent_core::text::tokens::ParsedQuery;
use docent_engine::search::{Correction, SearchNotice, SearchOutcome, UseCounts};

use super::arguments::{Args, SearchFormat, Type};
use crate::markdown::{count, inline_to};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::freshness::{freshness_notices, history_notices};

/// The notices of a search in sentences.
pub(super) fn word(outcome: &SearchOutcome, args: &Args) -> Vec<String> {
    let word = |notice: &SearchNotice| match notice {
        SearchNotice::UsesOf(counts) => vec![word_uses(counts)],
        SearchNotice::NearestDiscoveries(count) => vec![word_nearest(*count, args)],
        SearchNotice::Corrected(corrections) => vec![word_corrections(corrections)],
        SearchNotice::WeakMatch => {
            vec!["weak match: no result has more than a few of the query's words; name things as the code does".to_owned()]
        }
        SearchNotice::StaleCode | SearchNotice::PartialCode => freshness_notices(&outcome.code),
        SearchNotice::HistoryIncomplete => {
            history_notices(&outcome.history, args.wants_discoveries() && !args.wants_chunks())
        }
        SearchNotice::RerankSkipped(why) => vec![why.to_string()],
        SearchNotice::ChangedSinceIndexing(count) => vec![format!(
            "{count} {} changed after the index was written and {} left out",
            if *count == 1 { "result" } else { "results" },
            if *count == 1 { "was" } else { "were" },
        )],
    };
    outcome.notices.iter().flat_map(word).collect()
}

/// What is shown in place of discoveries that match.
fn word_nearest(found: usize, args: &Args) -> String {
    let kind = match args.r#type.map(Type::kinds) {
        Some([kind]) => kind.name(),
        _ => "discovery",
    };
    let place = match &args.module {
        Some(module) => format!("Module '{}'", inline_to(module, 100)),
        None if args.path().is_some() => "The path".to_owned(),
        None => "The project".to_owned(),
    };
    let all = match found {
        1 => format!("1 {kind}, which is shown"),
        _ => format!("{} {kind}s, of which the nearest are shown", count(found as u64)),
    };
    format!("No {kind} has these words. {place} has {all}; remove type to search everything")
}

/// The words that nothing has, and those searched for instead.
fn word_corrections(corrections: &[Correction]) -> String {
    /// Corrections that are worth a place in the answer.
    const MAX_SHOWN: usize = 5;
    let shown = corrections.iter().take(MAX_SHOWN).map(|one| {
        let instead: Vec<String> = one.instead.iter().map(|word| format!("'{word}'")).collect();
        format!("'{}' as {}", inline_to(&one.written, 60), instead.join(" or "))
    });
    format!(
        "no match for some words; searched {}",
        shown.collect::<Vec<_>>().join(", ")
    )
}

/// The uses of the symbol that the query asked for.
fn word_uses(counts: &UseCounts) -> String {
    let symbol = inline_to(&counts.symbol, 100);
    let (one, several) = match counts.asked {
        AskedUses::Implementations => ("implementation", "implementations"),
        AskedUses::Callers | AskedUses::Everywhere | AskedUses::Tests => ("use", "uses"),
    };
    let found = match counts.exact {
        0 => format!("no exact {one}"),
        1 => format!("1 exact {one}"),
        exact => format!("{} exact {several}", count(exact as u64)),
    };
    let by_name = match counts.by_name {
        0 => String::new(),
        by_name => format!(" and {} by name", count(by_name as u64)),
    };
    format!("{symbol} has {found}{by_name}; find_references lists them")
}

/// Whether it is known that there is nothing to search.
pub(super) fn is_empty_project(outcome: &SearchOutcome) -> bool {
    outcome.code.files == 0 && outcome.history.files == 0 && !outcome.code.unknown
}

/// Says why there is no result: absent, not indexed yet, or filtered away.
pub(super) fn explain_no_results(args: &Args, outcome: &SearchOutcome) -> String {
    let SearchOutcome { code, history, .. } = outcome;
    let is_complete = code.pending == 0 && !code.unknown && history.pending == 0 && !history.unknown;
    let mut filters = Vec::new();
    if let Some([kind]) = args.r#type.map(Type::kinds) {
        filters.push(format!("type '{}'", kind.name()));
    }
    if let Some(module) = &args.module {
        filters.push(format!("module '{}'", inline_to(module, 100)));
    }
    if let Some(path) = args.path() {
        filters.push(format!("path '{}'", inline_to(path, 100)));
    }
    if args.chunk_type.is_some() {
        filters.push("chunkType".to_owned());
    }
    if args.r#type == Some(Type::Pattern) && args.module.is_none() {
        return "No pattern matches. Patterns come from .context/memory/best_practices.md".to_owned();
    }
    match filters.as_slice() {
        [] if ParsedQuery::of(&args.query).words.is_empty() => "The query has no word to look for".to_owned(),
        _ if !is_complete => "Nothing was found in what is indexed so far".to_owned(),
        [] => "No match for any of these words. Use grep_codebase to search inside words".to_owned(),
        filters => format!(
            "Nothing matches with {}; search again without",
            filters.join(" and ")
        ),
    }
}

/// The failure of a search in a project without any file to index.
pub(super) fn no_index(form: SearchFormat) -> Failure {
    const ALTERNATIVE: &str = "Use grep_codebase for text search";
    let failure = Failure::new(
        FailureKind::Missing,
        "No embeddings found. Run initial session to generate context.",
    );
    match form {
        SearchFormat::Json => failure.about("fallback", ALTERNATIVE),
        SearchFormat::Markdown => failure.hint(ALTERNATIVE),
    }
}

/// The notice that not all results fit into the answer.
pub(super) fn explain_hidden(shown: usize, all: usize) -> Option<String> {
    (shown < all).then(|| {
        format!("{shown} of {all} results fit into this answer; ask for fewer, or raise answer.max_chars")
    })
}
