//! The contract form of `read_file`: the file with its facts, and dependencies with their content, as JSON.

use std::borrow::Cow;

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_engine::clock::rfc3339_of;
use docent_engine::symbols::{FileOutline, outline_file};
use schemars::JsonSchema;
use serde::Serialize;

use super::dependencies::{Dependency, add_contents, cut_dependencies, list_dependencies};
use super::{Args, ReadFile, line_range, record_accesses};
use crate::tools::budget::{json_length, notice};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::file_compact::fold_content;
use crate::tools::file_parts::{
    FilePart, LineSpan, PartSource, cut_lines, parse_ranges, show_outline, show_outlines,
};

/// Characters kept for the longest notice.
const NOTICE_CHARS: usize = 700;

/// Characters of the fields of a directory's outline beside its content.
const DIRECTORY_FRAME_CHARS: usize = 5_000;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    file: ShownFile,
    /// The project files this one imports
    dependencies: Vec<Dependency>,
    metadata: Metadata,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownFile {
    path: String,
    content: String,
    /// Of the whole file, in bytes
    size: u64,
    /// Of the whole file
    lines: usize,
    language: String,
    /// The first and last line shown, if lines were asked for or some were left out
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    module: String,
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

/// The answer about a file.
pub(super) fn answer(
    call: &Call<'_>,
    args: &Args,
    part: FilePart<'_>,
    file: &ReadFile,
) -> Result<Reply, Failure> {
    let source = file.source(call);
    let lines = file.text.lines().count();
    let selected = select_part(args, part, &source, lines)?;
    let mut output = Output {
        file: ShownFile {
            path: file.path.to_string(),
            content: String::new(),
            size: file.size,
            lines,
            language: file.language.to_string(),
            start_line: None,
            end_line: None,
        },
        dependencies: list_dependencies(call, args, file)?,
        metadata: Metadata {
            module: module_of(&file.path).to_owned(),
            role: FileRole::of(&file.path).name().to_owned(),
            last_modified: rfc3339_of(file.modified),
        },
        notice: None,
    };

    let mut notices = cut_dependencies(&mut output.dependencies, call.budget / 2);
    let frame = serde_json::json!(output).to_string().chars().count() + NOTICE_CHARS;
    notices.extend(selected.show(&source, &mut output.file, call.budget.saturating_sub(frame)));
    let used = frame + json_length(&output.file.content);
    let (read, left_out) = add_contents(call, &mut output.dependencies, call.budget.saturating_sub(used));
    notices.extend(left_out);
    record_accesses(call, &file.path, &read);
    output.notice = notice(&notices);
    Ok(Reply::json(&output))
}

/// The part of a file that a caller has selected.
enum SelectedPart {
    Lines {
        first: usize,
        last: usize,
        /// The caller has asked for these lines, and not for the whole file.
        is_asked: bool,
    },
    Ranges(Vec<LineSpan>),
    Outline(FileOutline),
    /// Lines folded for a question.
    Folded {
        spans: Vec<LineSpan>,
        question: String,
    },
}

/// Selects a part, checked against the file.
fn select_part(
    args: &Args,
    part: FilePart<'_>,
    source: &PartSource<'_>,
    lines: usize,
) -> Result<SelectedPart, Failure> {
    if let (Some(question), false) = (&args.focus, part == FilePart::Outline) {
        let spans = match part {
            FilePart::Symbol(symbol) => vec![source.find_symbol(symbol)?],
            FilePart::Ranges(ranges) => parse_ranges(ranges, lines)?,
            FilePart::Lines | FilePart::Outline => vec![line_range(args, lines)?],
        };
        let question = question.clone();
        return Ok(SelectedPart::Folded { spans, question });
    }
    Ok(match part {
        FilePart::Lines => {
            let (first, last) = line_range(args, lines)?;
            let is_asked = args.start_line.is_some() || args.end_line.is_some();
            SelectedPart::Lines {
                first,
                last,
                is_asked,
            }
        }
        FilePart::Symbol(symbol) => {
            let (first, last) = source.find_symbol(symbol)?;
            SelectedPart::Lines {
                first,
                last,
                is_asked: true,
            }
        }
        FilePart::Ranges(ranges) => SelectedPart::Ranges(parse_ranges(ranges, lines)?),
        FilePart::Outline => SelectedPart::Outline(outline_file(source.root, source.path, source.text)),
    })
}

impl SelectedPart {
    /// Adds as much of the part to the file's answer as fits. Returns notices about the rest.
    fn show(&self, source: &PartSource<'_>, file: &mut ShownFile, budget: usize) -> Vec<String> {
        let mut notices = Vec::new();
        let is_revealed = match self {
            Self::Lines {
                first,
                last,
                is_asked,
            } => {
                let cut = cut_lines(source.text, *first, *last, budget);
                notices.extend(cut.notice(file.lines));
                if *is_asked || (*first, cut.shown_last) != (1, file.lines) && file.lines > 0 {
                    (file.start_line, file.end_line) = (Some(*first), Some(cut.shown_last));
                }
                let is_revealed = matches!(cut.shown, Cow::Owned(_));
                file.content = cut.shown.into_owned();
                is_revealed
            }
            Self::Ranges(spans) => {
                let shown = source.show_spans(spans, budget);
                notices.extend(shown.notices(file.lines));
                file.start_line = shown.spans.first().map(|(first, _)| *first);
                file.end_line = shown.spans.last().map(|(_, last)| *last);
                file.content = shown.content;
                shown.is_revealed
            }
            Self::Folded { spans, question } => {
                let folded = fold_content(source, spans, question, budget);
                file.start_line = spans.first().map(|(first, _)| *first);
                file.end_line = spans.last().map(|(_, last)| *last);
                file.content = folded.content;
                notices.push(folded.notice);
                folded.is_revealed
            }
            Self::Outline(outline) => {
                let (content, notice) = show_outline(outline, budget);
                file.content = content;
                notices.extend(notice);
                false
            }
        };
        if is_revealed {
            notices.push(
                "Invisible characters are written as \\u{…}; read_repo_file with encoding base64 has the exact bytes"
                    .into(),
            );
        }
        notices
    }
}

/// The outlines of the files below a directory, in the answer of a file. Its size and lines are 0.
pub(super) fn outline_project_directory(call: &Call<'_>, directory: &str, outlines: &[FileOutline]) -> Reply {
    let (content, cut) = show_outlines(
        outlines,
        call.budget.saturating_sub(NOTICE_CHARS + DIRECTORY_FRAME_CHARS),
    );
    let path = if directory.is_empty() { "." } else { directory };
    Reply::json(&Output {
        file: ShownFile {
            path: path.to_owned(),
            content,
            size: 0,
            lines: 0,
            language: "directory".to_owned(),
            start_line: None,
            end_line: None,
        },
        dependencies: Vec::new(),
        metadata: Metadata {
            module: RepoPath::parse(directory)
                .map_or_else(|_| "root".to_owned(), |path| module_of(&path).to_owned()),
            role: FileRole::Core.name().to_owned(),
            last_modified: None,
        },
        notice: notice(&Vec::from_iter(cut)),
    })
}
