//! `grep_codebase`: lines that match a regular expression, and the definitions around them.
//!
//! Promise: `docs/behaviour.md`, `grep_codebase`.

mod contract;

use std::time::Duration;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::SymbolKind;
use docent_core::text::reveal::reveal_part;
use docent_engine::files::Root;
use docent_engine::grep::{self, Case, FileKind, Grep, GrepCounts, GrepError, GrepQuery, MatchingFile};
use docent_engine::symbols::outline_file;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::compact::grep::{EnclosingDefinition, GrepAnswer, GrepFile, GrepMatch, write, write_files};
use crate::settings::AnswerForm;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text};
use crate::tools::tool::{Group, Tool};
use contract::Output;

const ABOUT: &str =
    "Search all files by regular expression (ripgrep's dialect), for exact text. Respects .gitignore.";

/// Lines of context on each side of a match in the contract form, unless given.
const CONTRACT_CONTEXT_LINES: usize = 2;

/// Matches in the contract form, unless given.
const CONTRACT_LIMIT: usize = 50;

/// Files that are read for a compact answer. The others are counted.
const MAX_READ_FILES: usize = 24;

/// Matches that are read of one file for a compact answer.
const MAX_FILE_MATCHES: usize = 200;

pub(crate) fn tool() -> Tool {
    Tool::new("grep_codebase", Group::Context, ABOUT, run)
        .answers::<Output>()
        .per_minute(60)
        .heavy()
        .slow_after(Duration::from_secs(3))
        .cli("grep", &["pattern"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// Regex pattern to search for
    #[schemars(length(min = 1, max = 200))]
    pattern: String,
    /// Glob pattern to filter files (e.g., "**/*.ts")
    file_pattern: Option<String>,
    /// Case-sensitive search
    #[serde(default)]
    case_sensitive: bool,
    /// Maximum number of matches to return
    // The default stands only in the schema: in the compact form, the room decides.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<usize>,
    /// Lines around a match
    #[schemars(range(max = 10))]
    context_lines: Option<usize>,
    /// Files, directories or globs
    paths: Option<Vec<String>>,
    /// Only such files
    kinds: Option<Vec<Kind>>,
    /// What to list
    output: Option<OutputKind>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Code,
    Tests,
    Docs,
    Config,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum OutputKind {
    #[default]
    Lines,
    Files,
    Counts,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.project.clock.stopwatch();
    let kinds: Vec<FileKind> = args.kinds.iter().flatten().map(|kind| kind.file_kind()).collect();
    let query = GrepQuery {
        pattern: &args.pattern,
        file_pattern: args.file_pattern.as_deref(),
        paths: args.paths.as_deref().unwrap_or_default(),
        kinds: &kinds,
        case: if args.case_sensitive {
            Case::Sensitive
        } else {
            Case::Insensitive
        },
        context_lines: args.context_lines.unwrap_or(CONTRACT_CONTEXT_LINES),
    };
    let refuse = |error| refuse_grep(error, args);
    let search = Grep::new(&call.project.root, &query, call.deadline).map_err(refuse)?;
    let counts = search.count().map_err(refuse)?;
    let notices = explain_gaps(args, &counts);
    let output = args.output.unwrap_or_default();
    if call.form == AnswerForm::Contract {
        let answer = if output == OutputKind::Lines {
            let limit = args.limit.unwrap_or(CONTRACT_LIMIT);
            let matches = search.read(&counts.files, limit).map_err(refuse)?;
            Output::of_matches(args, &counts, matches, call.budget, notices)
        } else {
            Output::of_files(args, &counts, call.budget, notices)
        };
        return Ok(Reply::json(&answer.took(watch.milliseconds())));
    }
    let mut answer = GrepAnswer {
        pattern: &args.pattern,
        total: counts.total,
        files_searched: counts.files_searched,
        context_lines: args.context_lines.unwrap_or_default(),
        files: Vec::new(),
        unread: Vec::new(),
        notices: &notices,
        budget: call.budget,
    };
    if output == OutputKind::Lines {
        read_files(call, args, &search, &counts, &mut answer).map_err(refuse)?;
        Ok(Reply::Text(write(&answer)))
    } else {
        answer.unread = order_files(&counts.files).map(count_of_file).collect();
        Ok(Reply::Text(write_files(&answer, output == OutputKind::Counts)))
    }
}

/// Code before tests before configuration and prose, each in the order of paths.
fn order_files(files: &[MatchingFile]) -> impl Iterator<Item = &MatchingFile> {
    let mut ordered: Vec<&MatchingFile> = files.iter().collect();
    ordered.sort_by_key(|file| match FileKind::of(file.path()) {
        FileKind::Code => 0,
        FileKind::Tests => 1,
        FileKind::Config => 2,
        FileKind::Docs => 3,
    });
    ordered.into_iter()
}

fn count_of_file(file: &MatchingFile) -> (&str, u64) {
    (file.path().as_str(), file.lines)
}

/// Reads the best files of a compact answer: their matches, and the definitions around them.
fn read_files<'a>(
    call: &Call<'_>,
    args: &Args,
    search: &Grep<'_>,
    counts: &'a GrepCounts,
    answer: &mut GrepAnswer<'a>,
) -> Result<(), GrepError> {
    let mut left = args.limit.unwrap_or(usize::MAX);
    for file in order_files(&counts.files) {
        if answer.files.len() == MAX_READ_FILES || left == 0 {
            answer.unread.push(count_of_file(file));
            continue;
        }
        let lines = search.read([file], left.min(MAX_FILE_MATCHES))?;
        left = left.saturating_sub(lines.len());
        let content = call.project.root.read(file.path(), MAX_FILE_BYTES).ok();
        let text = content
            .and_then(|content| decode_text(content.bytes))
            .unwrap_or_default();
        let matches = lines.into_iter().map(|line| GrepMatch {
            line: usize::try_from(line.line).unwrap_or(usize::MAX),
            text: line.text,
        });
        answer.files.push(GrepFile {
            path: file.path().as_str(),
            total: file.lines,
            language: Language::of_file(file.path(), &text),
            matches: matches.collect(),
            definitions: enclosing_definitions(&call.project.root, file.path(), &text),
            text,
        });
    }
    Ok(())
}

/// The definitions of a file that have a body.
pub(crate) fn enclosing_definitions(root: &Root, path: &RepoPath, text: &str) -> Vec<EnclosingDefinition> {
    let outline = outline_file(root, path, text);
    let with_body = outline.definitions.into_iter().filter(|one| {
        !matches!(
            one.kind,
            SymbolKind::Module | SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable
        )
    });
    with_body
        .map(|one| EnclosingDefinition {
            first: one.first_line as usize,
            last: one.last_line as usize,
            name_line: one.line as usize,
            name: if one.scope.is_empty() {
                one.name
            } else {
                format!("{}.{}", one.scope, one.name)
            },
        })
        .collect()
}

/// What the answer may miss, a sentence each.
fn explain_gaps(args: &Args, counts: &GrepCounts) -> Vec<String> {
    let mut notices = Vec::new();
    let missed = &counts.missed;
    if missed.count > 0 {
        let names: Vec<String> = missed
            .first
            .iter()
            .map(|name| reveal_part(name).into_owned())
            .collect();
        let more = if missed.count > names.len() as u64 {
            ", …"
        } else {
            ""
        };
        notices.push(format!(
            "{} could not be searched: {}{more}",
            missed.count,
            names.join(", ")
        ));
    }
    let filters = [
        args.file_pattern
            .as_ref()
            .map(|pattern| format!("filePattern {pattern}")),
        args.paths
            .as_ref()
            .map(|paths| format!("paths {}", paths.join(", "))),
        args.kinds.as_ref().map(|_| "kinds".to_owned()),
    ];
    let given: Vec<String> = filters.into_iter().flatten().collect();
    if counts.files_searched == 0 && !given.is_empty() {
        let excluded = grep::EXCLUDED.join(", ");
        notices.push(format!(
            "no file matches {}; ignored files, blocked files and {excluded} are never searched",
            given.join(" and ")
        ));
    }
    notices
}

fn refuse_grep(error: GrepError, args: &Args) -> Failure {
    match error {
        GrepError::Pattern(reason) => Failure::new(FailureKind::Invalid, "Invalid regex pattern")
            .about("pattern", &args.pattern)
            .details(reason),
        GrepError::FilePattern(reason) => Failure::new(FailureKind::Invalid, "Invalid file pattern")
            .about("filePattern", args.file_pattern.as_deref().unwrap_or_default())
            .details(reason),
        GrepError::Expired(expired) => expired.into(),
    }
}

impl Kind {
    fn file_kind(self) -> FileKind {
        match self {
            Self::Code => FileKind::Code,
            Self::Tests => FileKind::Tests,
            Self::Docs => FileKind::Docs,
            Self::Config => FileKind::Config,
        }
    }
}
