//! `find_symbol`: definitions by name, with their place, signature and documentation line.
//!
//! Promise: `docs/behaviour.md`, `find_symbol`.

use std::time::Duration;

use docent_core::symbols::SymbolKind;
use docent_core::text::reveal::reveal_part;
use docent_engine::sessions::SessionUse;
use docent_engine::symbols::{FoundSymbol, NameMatch, SymbolOutcome, SymbolQuery, find_symbols};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SymbolForm, choose_limit, describe_ground, narrow_path, refuse_symbols, symbol_context};
use crate::compact::file::shown_above;
use crate::compact::number_lines;
use crate::markdown::{cut, inline_to, length};
use crate::tools::budget::notice;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_compact::MIN_SKIPPED_CHARS;
use crate::tools::file_parts::byte_range;
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text};
use crate::tools::freshness::freshness_notices;
use crate::tools::symbol_entry::SymbolEntry;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Find definitions by name: place, kind, signature, doc line.";

/// Characters kept for the fields around the definitions, and for notices.
const FRAME_CHARS: usize = 1_000;

pub(crate) fn tool() -> Tool {
    Tool::new("find_symbol", Group::Symbols, ABOUT, run)
        .per_minute(100)
        .slow_after(Duration::from_secs(2))
        .choose_dialect(SymbolForm::choose_dialect)
        .cli("symbol", &["name"])
        .json_flag("format", "json")
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Name, Scope.name or prefix; several: a|b
    name: String,
    /// File or directory
    path: Option<String>,
    kind: Option<String>,
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    format: Option<SymbolForm>,
}

/// Definitions that are shown with their lines: at most so many, and each at most this long.
const MAX_BODIES: usize = 2;
const MAX_BODY_LINES: u32 = 30;
const MAX_BODY_CHARS: usize = 3_000;

/// Definitions that are listed if the caller does not say how many.
const DEFAULT_LIMIT: usize = 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    symbols: Vec<MatchedSymbol>,
    /// How many there are, before the cut at the limit.
    total: usize,
    files_searched: usize,
    files_not_parsed: usize,
    /// Why there is no definition, or none of some names.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize)]
struct MatchedSymbol {
    #[serde(flatten)]
    symbol: SymbolEntry,
    r#match: &'static str,
    /// Its numbered lines, or where they were shown, if the text has room for them.
    #[serde(skip)]
    body: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let path = narrow_path(args.path.as_deref())?;
    let form = args.format.unwrap_or_default();
    let kind = args.kind.as_deref().map(parse_kind).transpose()?;
    call.session.record_use(SessionUse::Search, &args.name);
    let query = SymbolQuery {
        name: &args.name,
        path: path.as_deref(),
        kind,
        limit: choose_limit(call, args.limit, DEFAULT_LIMIT),
    };
    let outcome = find_symbols(&symbol_context(call), &query).map_err(refuse_symbols)?;

    let mut notices = freshness_notices(&outcome.ground.freshness);
    notices.extend(call.project.settings_notice());
    let mut output = Output {
        symbols: outcome.symbols.iter().map(MatchedSymbol::new).collect(),
        total: outcome.total,
        files_searched: outcome.ground.files,
        files_not_parsed: outcome.ground.unparsed,
        message: explain_missing(&outcome, &query),
        notice: None,
    };
    if form == SymbolForm::Text && output.symbols.len() == output.total {
        add_bodies(call, &outcome.symbols, &mut output);
    }
    if call.audience == Audience::Client {
        cut_symbols(&mut output, form, call.budget);
    }
    if output.symbols.len() < output.total {
        let (shown, total) = (output.symbols.len(), output.total);
        notices.push(format!(
            "{shown} of {total} definitions are shown; narrow the question with path or kind, or raise limit"
        ));
    }
    output.notice = notice(&notices);
    Ok(match form {
        SymbolForm::Json => Reply::json(&output),
        SymbolForm::Text => Reply::Text(cut(&write_text(&output), call.budget, "\n…")),
    })
}

/// Adds the lines of a few short definitions, as far as they fit: the caller would read them next.
fn add_bodies(call: &Call<'_>, found: &[FoundSymbol], output: &mut Output) {
    let is_short = |one: &FoundSymbol| one.last_line + 1 - one.first_line <= MAX_BODY_LINES;
    if found.len() > MAX_BODIES || !found.iter().all(is_short) {
        return;
    }
    let texts = output.symbols.iter().map(|shown| length(&shown.text()));
    let mut left = output.room(call.budget).saturating_sub(texts.sum());
    for (one, shown) in found.iter().zip(&mut output.symbols) {
        shown.body = read_body(call, one, left.min(MAX_BODY_CHARS));
        left = left.saturating_sub(shown.body.as_deref().map_or(0, length));
    }
}

/// The numbered lines of a definition in at most `room` characters. `None` if they do not fit, or if the file
/// has changed since it was searched.
fn read_body(call: &Call<'_>, one: &FoundSymbol, room: usize) -> Option<String> {
    let content = call.project.root.read(&one.path, MAX_FILE_BYTES).ok()?;
    let text = decode_text(content.bytes)?;
    let (first, last) = (one.first_line as usize, one.last_line as usize);
    let lines = &text[byte_range(&text, first, last)];
    let name_line = lines
        .lines()
        .nth(one.line.checked_sub(one.first_line)? as usize)?;
    if !name_line.contains(&one.name) {
        return None;
    }
    let path = inline_to(one.path.as_str(), 4_096);
    if length(lines) >= MIN_SKIPPED_CHARS && call.is_shown(&path, first, lines) {
        let reference = shown_above(&path, first, last, "read_file with again: true");
        return Some(format!("{reference}\n"));
    }
    let body = number_lines(first, &reveal_part(lines), |_| false);
    if length(&body) > room {
        return None;
    }
    // Lines that are cut from the answer later must not count as shown, so only those that fit get here.
    call.record_shown(&path, first, lines);
    Some(body)
}

/// Parses the name of a kind.
fn parse_kind(name: &str) -> Result<SymbolKind, Failure> {
    let known = SymbolKind::ALL
        .into_iter()
        .find(|kind| kind.name().eq_ignore_ascii_case(name));
    known.ok_or_else(|| {
        let names = SymbolKind::ALL.map(SymbolKind::name).join(", ");
        Failure::new(FailureKind::Invalid, format!("kind must be one of: {names}"))
    })
}

/// Says which names have no definition, and on what ground.
fn explain_missing(outcome: &SymbolOutcome, query: &SymbolQuery<'_>) -> Option<String> {
    if outcome.missing.is_empty() {
        return None;
    }
    let names: Vec<String> = outcome
        .missing
        .iter()
        .map(|name| format!("'{}'", inline_to(name, 100)))
        .collect();
    let mut message = format!("No definition of {}", names.join(", "));
    let kind = query.kind.map(|kind| format!("kind {}", kind.name()));
    let path = query.path.map(|path| format!("path {}", inline_to(path, 200)));
    let filters: Vec<String> = kind.into_iter().chain(path).collect();
    if !filters.is_empty() {
        message += &format!(" ({})", filters.join(", "));
    }
    message += &format!(" {}", describe_ground(&outcome.ground, 0));
    Some(message)
}

/// Keeps as many definitions as fit into the budget.
fn cut_symbols(output: &mut Output, form: SymbolForm, budget: usize) {
    let mut left = output.room(budget);
    let fitting = output
        .symbols
        .iter()
        .take_while(|found| {
            let cost = match form {
                SymbolForm::Text => length(&found.text()),
                SymbolForm::Json => length(&serde_json::json!(found).to_string()) + 1,
            };
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        })
        .count();
    output.symbols.truncate(fitting);
}

/// The answer for models.
fn write_text(output: &Output) -> String {
    let mut text: String = output.symbols.iter().map(MatchedSymbol::text).collect();
    if let Some(message) = &output.message {
        text += &format!("{message}\n");
    }
    if let Some(notice) = &output.notice {
        text += &format!("… {notice}\n");
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

impl Output {
    /// Characters that the definitions may have.
    fn room(&self, budget: usize) -> usize {
        let message = self.message.as_deref().map_or(0, length);
        budget.saturating_sub(FRAME_CHARS + message)
    }
}

impl MatchedSymbol {
    fn new(found: &FoundSymbol) -> Self {
        Self {
            symbol: SymbolEntry::new(found),
            r#match: match found.matched {
                NameMatch::Exact => "exact",
                NameMatch::OtherCase => "other case",
                NameMatch::Prefix => "prefix",
                NameMatch::Similar => "similar",
            },
            body: None,
        }
    }

    /// Its lines in the answer for models.
    fn text(&self) -> String {
        let Self {
            symbol,
            r#match,
            body,
        } = self;
        let mut text = symbol.headline();
        if *r#match != "exact" {
            text += &format!(" ({match})");
        }
        text.push('\n');
        if let Some(body) = body {
            return text + body;
        }
        for line in [&symbol.signature, &symbol.doc] {
            if !line.is_empty() {
                text += &format!("  {line}\n");
            }
        }
        text
    }
}
