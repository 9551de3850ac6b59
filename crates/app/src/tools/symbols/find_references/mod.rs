//! `find_references`: the uses of a definition by file and enclosing function, callers of callers as a tree,
//! the definitions that it uses, and the implementations of an interface.
//!
//! Promise: `docs/behaviour.md`, `find_references`. The search itself is `docent_engine::symbols`; here are
//! its arguments and the two forms of its answer: text and JSON.

mod answer;
mod text;

use std::time::Duration;

use docent_engine::sessions::SessionUse;
use docent_engine::symbols::{Direction, FoundSymbol, ReferenceOutcome, ReferenceQuery, find_references};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{SymbolForm, choose_limit, describe_ground, narrow_path, refuse_symbols, symbol_context};
use crate::markdown::{count, inline_to};
use crate::tools::budget::notice;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::freshness::freshness_notices;
use crate::tools::symbol_entry::SymbolEntry;
use crate::tools::tool::{Group, Tool};
use answer::{References, Relation};

const ABOUT: &str = "Find the uses of a definition, callers first, with the function around each.";

pub(crate) fn tool() -> Tool {
    Tool::new("find_references", Group::Symbols, ABOUT, run)
        .per_minute(100)
        .slow_after(Duration::from_secs(2))
        .choose_dialect(SymbolForm::choose_dialect)
        .cli("references", &["symbol"])
        .json_flag("format", "json")
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Name or Scope.name
    symbol: String,
    /// Of the definition: file, `FILE:LINE` or directory
    path: Option<String>,
    #[schemars(range(min = 1, max = 3))]
    depth: Option<u8>,
    direction: Option<Relation>,
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    format: Option<SymbolForm>,
}

/// Uses that are listed if the caller does not say how many.
const DEFAULT_LIMIT: usize = 200;

/// Characters of the text if the caller gives no limit.
const DEFAULT_TEXT_CHARS: usize = 10_000;

/// Near names that an answer suggests.
const MAX_SUGGESTIONS: usize = 5;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let path = narrow_path(args.path.as_deref())?;
    call.session.record_use(SessionUse::Search, &args.symbol);
    let (relation, depth) = (args.direction.unwrap_or_default(), args.depth.unwrap_or(1));
    let query = ReferenceQuery {
        symbol: &args.symbol,
        path: path.as_deref(),
        depth,
        direction: relation.direction(),
        limit: choose_limit(call, args.limit, DEFAULT_LIMIT),
    };
    let outcome = find_references(&symbol_context(call), &query).map_err(refuse_symbols)?;

    let mut references = References::new(&outcome, relation, depth);
    references.symbol = inline_to(&args.symbol, 200);
    references.message = explain_absence(&outcome, &query);
    let mut notices = Vec::from_iter(explain_ambiguity(&references.targets));
    if outcome.unfollowed > 0 {
        notices.push(format!(
            "{} more files use a definition of this name; only files that also name its type or package were followed",
            count(outcome.unfollowed as u64)
        ));
    }
    notices.extend(freshness_notices(&outcome.ground.freshness));
    notices.extend(call.project.settings_notice());
    let room = match (call.audience, args.limit) {
        (Audience::Client, None) => call.budget.min(DEFAULT_TEXT_CHARS),
        _ => call.budget,
    };
    Ok(match args.format.unwrap_or_default() {
        SymbolForm::Json => {
            references.cut(call.budget);
            notices.extend(references.explain_cut());
            references.notice = notice(&notices);
            Reply::json(&references)
        }
        SymbolForm::Text => Reply::Text(text::write(&references, notices, room)),
    })
}

/// Says that there is no definition or no use, and on what ground.
fn explain_absence(outcome: &ReferenceOutcome, query: &ReferenceQuery<'_>) -> Option<String> {
    if outcome.targets.is_empty() {
        let place = query
            .path
            .map_or_else(String::new, |path| format!(" (path {})", inline_to(path, 200)));
        let mut message = format!(
            "No definition of '{}'{place} {}",
            inline_to(query.symbol, 200),
            describe_ground(&outcome.ground, outcome.by_name)
        );
        if !outcome.suggestions.is_empty() {
            let names: Vec<String> = outcome
                .suggestions
                .iter()
                .take(MAX_SUGGESTIONS)
                .map(suggest)
                .collect();
            message += &format!(". Similar: {}", names.join(", "));
        }
        return Some(message);
    }
    let is_empty = match query.direction {
        Direction::Callers => outcome.exact == 0,
        Direction::Callees | Direction::Implementations => outcome.tree.is_empty(),
    };
    let subject = match query.direction {
        Direction::Callers => "No use",
        Direction::Callees => "It uses no definition of the project; looked",
        Direction::Implementations => "No implementation",
    };
    is_empty.then(|| format!("{subject} {}", describe_ground(&outcome.ground, outcome.by_name)))
}

/// A near name with its place.
fn suggest(found: &FoundSymbol) -> String {
    let symbol = SymbolEntry::new(found);
    format!("{} ({}:{})", symbol.qualified_name(), symbol.path, symbol.line)
}

/// Says how to choose among several definitions.
fn explain_ambiguity(targets: &[SymbolEntry]) -> Option<String> {
    let [first, .., last] = targets else { return None };
    let example = if first.path == last.path {
        format!("{}:{}", last.path, last.line)
    } else {
        last.path.clone()
    };
    Some(format!(
        "{} definitions have this name, and their uses are shown together; choose one with its scope or with path, \
         e.g. {example}",
        count(targets.len() as u64)
    ))
}
