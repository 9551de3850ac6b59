//! `git_diff` in the compact form: a row for each file, below it its changed lines as far as they fit.
//!
//! Long patches are cut so that every file shows some of its lines. Content that is rarely read (lock files,
//! generated code, deleted files) is left out unless the caller names the file.

use docent_engine::git::{ChangeStatus, Diff, DiffDetail, FileDiff, PendingFiles};

use super::git_patch::{PatchView, show_patch, split_patch};
use super::{count_of, fair_share};
use crate::markdown::{count, inline, inline_to, length};

/// A diff, and how much of it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiffView<'a> {
    pub(crate) title: &'a str,
    pub(crate) diff: &'a Diff,
    /// The file that the caller named, which is shown as it is.
    pub(crate) named: Option<&'a str>,
    pub(crate) summary: bool,
    /// Lines of the named file's patch to skip.
    pub(crate) offset: usize,
}

/// Rows of files in one answer.
const MAX_ROWS: usize = 200;

/// Characters kept for the first line and for notices.
const FRAME_CHARS: usize = 500;

/// No patch is cut to fewer characters than this, because so short a part says too little. Some patches are
/// left out instead.
const MIN_PATCH_CHARS: usize = 400;

/// Characters kept for the notice below a patch that is cut.
const NOTICE_CHARS: usize = 100;

/// Names that a notice lists.
const MAX_LISTED_NAMES: usize = 5;

/// Why the lines of a file are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    LockFile,
    Generated,
    Minified,
    Deleted,
}

impl LeftOut {
    fn name(self) -> &'static str {
        match self {
            Self::LockFile => "lock file",
            Self::Generated => "generated",
            Self::Minified => "minified",
            Self::Deleted => "deleted",
        }
    }
}

/// The diff in at most `room` characters.
pub(crate) fn show_diff(view: &DiffView<'_>, room: usize) -> String {
    let files = &view.diff.files;
    let mut text = format!("{}: {}\n", view.title, totals(view.diff));
    let rows: Vec<String> = files.iter().map(show_row).collect();
    let is_unlimited = room > usize::MAX / 2;
    let max_rows = if is_unlimited { usize::MAX } else { MAX_ROWS };
    let mut listed = 0;
    let mut used = FRAME_CHARS;
    for row in rows.iter().take(max_rows) {
        used += length(row) + 1;
        if used > room && listed > 0 {
            break;
        }
        listed += 1;
    }
    let left_out: Vec<Option<LeftOut>> = files
        .iter()
        .map(|file| classify(file).filter(|_| view.named != Some(file.change.path.as_str())))
        .collect();
    let has_lines = |at: usize| {
        !view.summary && left_out[at].is_none() && !files[at].withheld && !files[at].patch.is_empty()
    };
    let patched: Vec<usize> = (0..listed).filter(|at| has_lines(*at)).collect();
    let plan = plan_patches(view, &patched, room.saturating_sub(used));
    for (at, file) in files.iter().take(listed).enumerate() {
        text += &rows[at];
        if let Some(why) = left_out[at].filter(|why| *why != LeftOut::Deleted) {
            text += &format!(" ({})", why.name());
        }
        text.push('\n');
        if plan.shown.contains(&at) {
            let view = PatchView {
                context: plan.context,
                offset: view.offset,
                max_chars: plan.max_chars,
            };
            text += &show_lines(file, view, files.len() == 1);
        }
    }
    let unshown = patched.len() - plan.shown.len();
    if unshown > 0 {
        let more = count_of(unshown, "more file", "more files");
        text += &format!("… lines of {more} do not fit: narrow with filePath\n");
    }
    text + &show_notices(view, listed, &left_out)
}

/// Which patches are shown, and how much of each.
struct PatchPlan {
    shown: Vec<usize>,
    /// Unchanged lines around changes.
    context: usize,
    max_chars: usize,
}

/// Plans which patches are shown. If not all fit, context is dropped before changed lines are. If so many
/// files differ that little of each would fit, the small patches are shown whole and the others not at all.
fn plan_patches(view: &DiffView<'_>, patched: &[usize], room: usize) -> PatchPlan {
    let lengths_with = |context: usize| -> Vec<usize> {
        let patch_view = PatchView {
            context,
            offset: view.offset,
            max_chars: usize::MAX,
        };
        let files = patched.iter().map(|at| &view.diff.files[*at]);
        files
            .map(|file| length(&show_patch(&file.patch, patch_view).text) + NOTICE_CHARS)
            .collect()
    };
    let plan = |context, max_chars: usize| PatchPlan {
        shown: patched.to_vec(),
        context,
        max_chars: max_chars.saturating_sub(NOTICE_CHARS),
    };
    // The lines of a file that is read on by offset must not depend on what fits.
    if view.named.is_some() {
        return plan(usize::MAX, room);
    }
    if fair_share(lengths_with(3).into_iter(), room) == usize::MAX {
        return plan(3, usize::MAX);
    }
    let lengths = lengths_with(1);
    let share = fair_share(lengths.iter().copied(), room);
    if share >= MIN_PATCH_CHARS {
        return plan(1, share);
    }
    let mut by_length: Vec<(usize, usize)> = lengths.into_iter().zip(patched.iter().copied()).collect();
    by_length.sort_unstable();
    let mut left = room;
    let mut shown = Vec::new();
    for (length, at) in by_length {
        if length > left {
            break;
        }
        left -= length;
        shown.push(at);
    }
    PatchPlan {
        shown,
        context: 1,
        max_chars: usize::MAX,
    }
}

/// The lines of a file's patch, and how to see the others.
fn show_lines(file: &FileDiff, view: PatchView, is_single: bool) -> String {
    let shown = show_patch(&file.patch, view);
    let mut text = shown.text;
    if let Some(next) = shown.next.filter(|_| shown.left_out > 0) {
        let lines = count_of(shown.left_out, "more changed line", "more changed lines");
        text += &if is_single && view.context == usize::MAX {
            format!("… {lines}: offset {next}\n")
        } else {
            format!("… {lines}: filePath {}\n", inline(&file.change.path))
        };
    } else if file.is_cut {
        text += "… the patch is longer than docent keeps\n";
    } else if text.is_empty() && view.offset > 0 {
        let lines = count_of(split_patch(&file.patch).len(), "line", "lines");
        text += &format!("… the patch has only {lines}\n");
    }
    text
}

/// `3 files, +45 −12`
pub(crate) fn totals(diff: &Diff) -> String {
    format!(
        "{}, +{} −{}",
        count_of(diff.files.len(), "file", "files"),
        count(diff.insertions),
        count(diff.deletions)
    )
}

/// `src/auth/jwt.ts +25 −5`, with what else changed about the file.
pub(crate) fn show_row(file: &FileDiff) -> String {
    let change = &file.change;
    let mut row = inline(&change.path);
    match (&change.from, change.status) {
        (Some(from), status) => row += &format!(" {} from {}", status.name(), inline(from)),
        (None, ChangeStatus::Modified) => {}
        (None, status) => row += &format!(" {}", status.name()),
    }
    if file.binary {
        row += " binary";
    } else {
        if file.insertions > 0 || (file.deletions == 0 && change.from.is_none()) {
            row += &format!(" +{}", count(file.insertions));
        }
        if file.deletions > 0 {
            row += &format!(" −{}", count(file.deletions));
        }
    }
    let is_both = !matches!(change.status, ChangeStatus::Added | ChangeStatus::Deleted);
    if is_both && change.old_mode != change.new_mode {
        row += &format!(" mode {} to {}", change.old_mode, change.new_mode);
    }
    if file.withheld {
        row += " (blocked, lines not shown)";
    }
    row
}

fn show_notices(view: &DiffView<'_>, listed: usize, left_out: &[Option<LeftOut>]) -> String {
    let mut text = String::new();
    let files = &view.diff.files;
    let rest = &files[listed..];
    if !rest.is_empty() {
        let added: u64 = rest.iter().map(|file| file.insertions).sum();
        let deleted: u64 = rest.iter().map(|file| file.deletions).sum();
        let more = count_of(rest.len(), "more file", "more files");
        text += &format!(
            "… {more}, +{} −{}: narrow with filePath\n",
            count(added),
            count(deleted)
        );
    }
    if view.summary {
        return text;
    }
    if view.diff.detail == DiffDetail::LineEndInName {
        text += "note: a file's name has a line end in it, so no lines are shown\n";
    }
    let mut kinds: Vec<&str> = Vec::new();
    for why in left_out[..listed].iter().flatten() {
        let kind = match why {
            LeftOut::LockFile => "lock files",
            LeftOut::Generated => "generated files",
            LeftOut::Minified => "minified files",
            LeftOut::Deleted => "deleted files",
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if !kinds.is_empty() {
        text += &format!(
            "… lines of {} are left out: name a file with filePath to see them\n",
            kinds.join(", ")
        );
    }
    text
}

/// The answer if nothing differs. `reason` is given if git does not know the path.
pub(crate) fn show_no_difference(title: &str, reason: Option<&str>, pending: &PendingFiles) -> String {
    let mut text = match reason {
        Some(reason) => format!("{title}: {reason}\n"),
        None => format!("{title}: no differences\n"),
    };
    let list = |names: &[String]| {
        let mut shown: Vec<String> = names
            .iter()
            .take(MAX_LISTED_NAMES)
            .map(|name| inline_to(name, 100))
            .collect();
        if names.len() > MAX_LISTED_NAMES {
            shown.push("…".to_owned());
        }
        shown.join(", ")
    };
    if !pending.staged.is_empty() {
        let files = count_of(pending.staged.len(), "staged file", "staged files");
        text += &format!("… {files}, shown with staged true: {}\n", list(&pending.staged));
    }
    if !pending.untracked.is_empty() {
        let number = count(pending.untracked.len() as u64);
        text += &format!("… {number} untracked: {}\n", list(&pending.untracked));
    }
    text
}

/// Whether the lines of a file are left out, decided by its name and its patch.
fn classify(file: &FileDiff) -> Option<LeftOut> {
    const LOCK_FILES: [&str; 9] = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "go.sum",
        "go.work.sum",
        "packages.lock.json",
        "gradle.lockfile",
        "package.resolved",
        "bun.lockb",
    ];
    const GENERATED_ENDS: [&str; 9] = [
        ".pb.go",
        "_pb2.py",
        "_pb2_grpc.py",
        ".pb.cc",
        ".pb.h",
        ".g.dart",
        ".designer.cs",
        "_generated.go",
        ".generated.ts",
    ];
    const MINIFIED_ENDS: [&str; 5] = [".min.js", ".min.css", ".min.mjs", ".js.map", ".css.map"];
    const MARKS: [&str; 3] = ["@generated", "Code generated by", "DO NOT EDIT"];
    const MAX_AVERAGE_LINE: usize = 500;
    let name = file
        .change
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if LOCK_FILES.contains(&name.as_str()) || ends(&[".lock"]) {
        return Some(LeftOut::LockFile);
    }
    let lines = file.patch.lines().count().max(1);
    if ends(&MINIFIED_ENDS) || (file.patch.len() > 5_000 && file.patch.len() / lines > MAX_AVERAGE_LINE) {
        return Some(LeftOut::Minified);
    }
    let is_top = file.patch.starts_with("@@ -0,0 +1") || file.patch.starts_with("@@ -1");
    let is_marked = || {
        let mut top = file.patch.lines().skip(1).take(10);
        top.any(|line| MARKS.iter().any(|mark| line.contains(mark)))
    };
    if ends(&GENERATED_ENDS) || (is_top && is_marked()) {
        return Some(LeftOut::Generated);
    }
    (file.change.status == ChangeStatus::Deleted).then_some(LeftOut::Deleted)
}
