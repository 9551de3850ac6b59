//! The values that the compact answer of `context_search` is written from.

use docent_engine::search::HitSurroundings;

use super::arguments::Args;
use super::entry::{Output, SearchEntry};
use crate::compact::search::{FoundIn, FoundPart, FoundParts, part_of, write};

/// Characters of an answer whose caller asked for none.
const DEFAULT_CHARS: usize = 2_200;

/// Results that are ranked for an answer whose caller set no limit. Room decides how many are shown.
pub(super) const DEFAULT_LIMIT: usize = 60;

/// Multiplies each further chunk of a file. The contract form uses 0.5. Here a further function of a listed
/// file takes one line, so more of them are worth their room (`eval/agent`, functions on the screen).
pub(super) const SAME_FILE_PENALTY: f32 = 0.9;

/// Writes the answer.
pub(super) fn answer(output: &Output, notices: Vec<String>, args: &Args, budget: usize) -> String {
    let explain = args.explain == Some(true);
    let found = FoundParts {
        query: &output.summary,
        parts: output.results.iter().map(|one| part_from(one, explain)).collect(),
        total: output.total_found,
        message: output.message.clone(),
        notices,
    };
    write(&found, args.max_chars.unwrap_or(DEFAULT_CHARS).min(budget))
}

fn part_from(entry: &SearchEntry, explain: bool) -> FoundPart {
    let part = FoundPart {
        score: entry.ranking.r#final,
        ranking: explain.then(|| explain_ranking(entry)),
        text: entry.content.clone(),
        about: about(entry),
        project: if entry.is_linked {
            entry.project.clone()
        } else {
            String::new()
        },
        ..FoundPart::default()
    };
    match (&entry.lines, entry.is_discovery()) {
        (Some(lines), false) => FoundPart {
            source: FoundIn::Code {
                path: lines.path.clone(),
                first: lines.start_line as usize,
                last: lines.end_line as usize,
            },
            ..with_surroundings(part, entry.surroundings.as_ref())
        },
        _ => FoundPart {
            source: FoundIn::Discovery(entry.address()),
            ..part
        },
    }
}

fn with_surroundings(part: FoundPart, surroundings: Option<&HitSurroundings>) -> FoundPart {
    let Some(HitSurroundings {
        language,
        whole,
        inner,
    }) = surroundings
    else {
        return part;
    };
    FoundPart {
        language: Some(*language),
        head: whole
            .as_ref()
            .map(|whole| (whole.head, super::entry::reveal(&whole.head_text))),
        inner: inner.iter().map(|inner| inner.head..=inner.last).collect(),
        ..part
    }
}

/// Kind, name and what is special about a result.
fn about(entry: &SearchEntry) -> String {
    let mut words = vec![entry.kind.clone()];
    if entry.is_discovery() {
        words.extend(entry.origin.clone());
        words.extend(
            entry
                .date
                .as_deref()
                .map(|date| date.get(..10).unwrap_or(date).to_owned()),
        );
    } else if !entry.name.is_empty() {
        words.push(entry.name.clone());
    }
    let whole = entry
        .surroundings
        .as_ref()
        .and_then(|around| around.whole.as_ref());
    if let Some(whole) = whole.filter(|whole| whole.parts > 1) {
        words.push(part_of(whole.part, whole.parts, whole.first, whole.last));
    }
    if entry.generated {
        words.push("generated".to_owned());
    }
    words.join(" ")
}

fn explain_ranking(entry: &SearchEntry) -> String {
    let ranking = &entry.ranking;
    format!(
        "semantic {:.2} × recency {:.2} × module {:.2} × frequency {:.2} = {:.2}",
        ranking.semantic, ranking.recency, ranking.module, ranking.frequency, ranking.r#final
    )
}
