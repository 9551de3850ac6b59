//! `git_diff`: what differs between two commits, between one and the working directory, or in the index.
//!
//! Promise: `docs/behaviour.md`, `git_diff`.

mod contract;

use std::time::Duration;

use docent_core::path::RepoPath;
use docent_engine::git::{DiffSides, PatchLimit, PendingFiles};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cut_compact, non_empty, parse_path, refuse_git};
use crate::compact::git_diff::{DiffView, show_diff, show_no_difference};
use crate::markdown::{inline, inline_to};
use crate::settings::AnswerForm;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Compare two git references, one with the working directory, or show unstaged changes.";

pub(crate) fn tool() -> Tool {
    Tool::new("git_diff", Group::Git, ABOUT, run)
        .heavy()
        .slow_after(Duration::from_secs(1))
        .cli("diff", &["ref1", "ref2"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// First reference (commit, branch, tag). Leave empty for working directory.
    ref1: Option<String>,
    /// Second reference. If omitted, compares ref1 to working directory.
    ref2: Option<String>,
    /// File or directory
    file_path: Option<String>,
    /// Summary only (no line-by-line diff)
    #[serde(default)]
    summary: bool,
    /// Diff lines to skip, to read on
    #[serde(default)]
    #[schemars(range(max = 10_000_000))]
    offset: usize,
    /// Index against HEAD
    staged: Option<bool>,
}

/// Characters of a compact answer about more than one file.
const COMPACT_CHARS: usize = 8_000;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let path = parse_path(args.file_path.as_deref())?;
    let (from, to) = (non_empty(args.ref1.as_deref()), non_empty(args.ref2.as_deref()));
    let staged = args.staged == Some(true);
    if staged && (from.is_some() || to.is_some()) {
        return Err(
            Failure::new(FailureKind::Invalid, "staged goes without ref1 and ref2")
                .details("it compares the last commit with the index")
                .hint("Leave out the references, or leave out staged"),
        );
    }
    let sides = DiffSides {
        from,
        to,
        path: path.as_ref(),
        patches: match call.form {
            _ if args.summary => PatchLimit::Numbers,
            AnswerForm::Contract => PatchLimit::AllOrNone,
            AnswerForm::Compact => PatchLimit::PerFile,
        },
        staged,
    };
    let diff = call
        .project
        .git
        .diff(sides, call.deadline)
        .map_err(|error| refuse_git(error, "git reference"))?;
    let title = title(from, to, staged);
    let text = match (call.form, diff.files.is_empty()) {
        (AnswerForm::Contract, true) => {
            contract::show_no_difference(&title, &explain_no_differences(call, sides)?, call.budget)
        }
        (AnswerForm::Contract, false) => contract::show(
            &title,
            &diff,
            path.as_ref(),
            (args.summary, args.offset),
            call.budget,
        ),
        (AnswerForm::Compact, true) => explain_compactly(call, &title, sides)?,
        (AnswerForm::Compact, false) => {
            let is_named =
                |path: &&RepoPath| matches!(&*diff.files, [one] if one.change.path == path.as_str());
            let named = path.as_ref().filter(is_named).map(RepoPath::as_str);
            if args.offset > 0 && diff.files.len() > 1 {
                return Err(Failure::new(FailureKind::Invalid, "offset goes with one file")
                    .details(format!("{} files differ", diff.files.len()))
                    .hint("Name the file with filePath"));
            }
            let room = match (call.audience, named) {
                (Audience::Client, None) => COMPACT_CHARS.min(call.budget),
                _ => call.budget,
            };
            let view = DiffView {
                title: &title,
                diff: &diff,
                named,
                summary: args.summary,
                offset: args.offset,
            };
            show_diff(&view, room)
        }
    };
    Ok(Reply::Text(match call.form {
        AnswerForm::Contract => text,
        AnswerForm::Compact => cut_compact(&text, call.budget),
    }))
}

/// Explains an empty diff, which may come from a path that neither side has.
fn explain_no_differences(call: &Call<'_>, sides: DiffSides<'_>) -> Result<String, Failure> {
    let Some(path) = sides.path else {
        return Ok("No differences.".into());
    };
    let shown_path = inline(path.as_str());
    Ok(if is_known(call, path, sides)? {
        format!("No differences in {shown_path}.")
    } else {
        format!("No differences: git does not track {shown_path}; check the spelling.")
    })
}

fn is_known(call: &Call<'_>, path: &RepoPath, sides: DiffSides<'_>) -> Result<bool, Failure> {
    call.project
        .git
        .knows(path, sides, call.deadline)
        .map_err(|error| refuse_git(error, "git reference"))
}

/// Explains an empty diff in the compact form, and names staged and untracked files, which it does not show.
fn explain_compactly(call: &Call<'_>, title: &str, sides: DiffSides<'_>) -> Result<String, Failure> {
    let is_about_work_tree = sides.from.is_none() || sides.to.is_none();
    let mut pending = PendingFiles::default();
    if is_about_work_tree {
        pending = call
            .project
            .git
            .pending(sides.path, call.deadline)
            .map_err(|error| refuse_git(error, "git reference"))?;
    }
    // A commit was compared with the working directory, which has the staged changes too.
    if sides.staged || sides.from.is_some() || sides.to.is_some() {
        pending.staged.clear();
    }
    let mut reason = None;
    if let Some(path) = sides.path
        && pending == PendingFiles::default()
        && !is_known(call, path, sides)?
    {
        reason = Some(format!("git does not track {}", inline(path.as_str())));
    }
    Ok(show_no_difference(title, reason.as_deref(), &pending))
}

/// The two sides, as the caller named them.
fn title(from: Option<&str>, to: Option<&str>, staged: bool) -> String {
    const HERE: &str = "working directory";
    match (from, to) {
        (None, None) if staged => "staged changes".into(),
        (None, None) => "unstaged changes".into(),
        (from, to) => format!(
            "{}...{}",
            inline_to(from.unwrap_or(HERE), 100),
            inline_to(to.unwrap_or(HERE), 100)
        ),
    }
}
