//! The contract form of `grep_codebase`: JSON with every match and its context.

use std::borrow::Cow;

use docent_core::text::reveal::reveal_part;
use docent_engine::grep::{GrepCounts, MatchedLine};
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use crate::tools::budget::{json_length, notice};

/// Characters of the answer around the matches, at most.
const FRAME_CHARS: usize = 4_000;

/// Characters of a match's names and quotes, and of a counted file's.
const FIELD_CHARS: usize = 100;
const FILE_FIELD_CHARS: usize = 30;

/// Characters around a line of context.
const LINE_FRAME_CHARS: usize = 3;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    matches: Vec<Match>,
    pattern: String,
    total_matches: u64,
    files_searched: u64,
    /// In milliseconds
    search_time: u64,
    /// With output "files" or "counts"
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<CountedFile>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    file: String,
    line: u64,
    column: usize,
    text: String,
    context: Context,
    /// True if an invisible character was written out.
    #[serde(skip)]
    is_revealed: bool,
}

#[derive(Serialize, JsonSchema)]
struct Context {
    before: Vec<String>,
    after: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct CountedFile {
    file: String,
    count: u64,
}

impl Output {
    /// The matches that fit. `notices` are added to what is said about them.
    pub(super) fn of_matches(
        args: &Args,
        counts: &GrepCounts,
        matches: Vec<MatchedLine>,
        budget: usize,
        notices: Vec<String>,
    ) -> Self {
        let all = matches.len();
        let matches = cut_matches(matches, budget);
        let shown = matches.len();
        let mut sentences = Vec::new();
        if shown < all {
            sentences.push(format!(
                "{shown} of {all} matches fit into this answer; narrow pattern or filePattern, or read the file"
            ));
        }
        if matches.iter().any(|shown| shown.is_revealed) {
            sentences.push("Invisible characters are written as \\u{…}".to_owned());
        }
        sentences.extend(notices);
        Self {
            matches,
            notice: notice(&sentences),
            ..Self::frame(args, counts)
        }
    }

    /// The files that fit, with their counts.
    pub(super) fn of_files(
        args: &Args,
        counts: &GrepCounts,
        budget: usize,
        mut notices: Vec<String>,
    ) -> Self {
        let mut left = budget.saturating_sub(FRAME_CHARS);
        let files: Vec<CountedFile> = counts
            .files
            .iter()
            .map(|file| CountedFile {
                file: reveal_part(file.path().as_str()).into_owned(),
                count: file.lines,
            })
            .map_while(|file| {
                left = left.checked_sub(json_length(&file.file) + FILE_FIELD_CHARS)?;
                Some(file)
            })
            .collect();
        if files.len() < counts.files.len() {
            let (shown, all) = (files.len(), counts.files.len());
            notices.push(format!(
                "{shown} of {all} files fit into this answer; narrow it by paths"
            ));
        }
        Self {
            files: Some(files),
            notice: notice(&notices),
            ..Self::frame(args, counts)
        }
    }

    fn frame(args: &Args, counts: &GrepCounts) -> Self {
        Self {
            matches: Vec::new(),
            pattern: args.pattern.clone(),
            total_matches: counts.total,
            files_searched: counts.files_searched,
            search_time: 0,
            files: None,
            message: (counts.total == 0).then(|| format!("No matches found for pattern '{}'", args.pattern)),
            notice: None,
        }
    }

    pub(super) fn took(mut self, milliseconds: u64) -> Self {
        self.search_time = milliseconds;
        self
    }
}

/// As many of the first matches as fit.
fn cut_matches(matches: Vec<MatchedLine>, budget: usize) -> Vec<Match> {
    let mut left = budget.saturating_sub(FRAME_CHARS);
    matches
        .into_iter()
        .map(Match::from)
        .map_while(|shown| {
            left = left.checked_sub(shown.json_length())?;
            Some(shown)
        })
        .collect()
}

impl From<MatchedLine> for Match {
    fn from(matched: MatchedLine) -> Self {
        let mut is_revealed = false;
        let mut plain = |text: &str| {
            let shown = reveal_part(text);
            is_revealed |= matches!(shown, Cow::Owned(_));
            shown.into_owned()
        };
        Self {
            file: plain(matched.path.as_str()),
            line: matched.line,
            column: matched.column,
            text: plain(&matched.text),
            context: Context {
                before: matched.before.iter().map(|line| plain(line)).collect(),
                after: matched.after.iter().map(|line| plain(line)).collect(),
            },
            is_revealed,
        }
    }
}

impl Match {
    /// The characters this match takes in the answer.
    fn json_length(&self) -> usize {
        let lines = self.context.before.iter().chain(&self.context.after);
        FIELD_CHARS
            + json_length(&self.file)
            + json_length(&self.text)
            + lines
                .map(|line| LINE_FRAME_CHARS + json_length(line))
                .sum::<usize>()
    }
}
