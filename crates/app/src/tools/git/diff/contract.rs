//! `git_diff` in the form of the contract: markdown.

use std::collections::BTreeMap;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::text::reveal::reveal_part;
use docent_engine::git::{ChangeStatus, Diff, DiffDetail, FileDiff, MAX_CHANGED_LINES};

use crate::compact::git_patch::split_patch;
use crate::markdown::{count, cut as cut_to, cut_answer, fence, inline, length, note};
use crate::tools::git::describe_change;

/// With more files than this, only the first are listed.
const MAX_LISTED_FILES: usize = 500;
const FIRST_FILES: usize = 50;

/// Characters of a line.
const MAX_LINE_CHARS: usize = 4_000;

/// Characters kept for the end of an answer.
const FRAME_CHARS: usize = 600;

pub(super) fn show_no_difference(title: &str, reason: &str, budget: usize) -> String {
    cut_answer(&format!("# Git Diff: {title}\n\n{reason}\n"), budget)
}

/// The diff, or its summary if that was requested or the diff is long.
pub(super) fn show(
    title: &str,
    diff: &Diff,
    path: Option<&RepoPath>,
    (is_summary, offset): (bool, usize),
    budget: usize,
) -> String {
    let is_long = diff.files.len() > MAX_LISTED_FILES || diff.detail != DiffDetail::Patches;
    let text = if is_summary || is_long {
        let mut text = summary(title, diff, budget);
        if !is_summary {
            text += &note(&explain_summary(diff, path));
        }
        text
    } else {
        full(title, diff, offset, budget)
    };
    cut_answer(&text, budget)
}

/// Explains a summary that was not requested.
fn explain_summary(diff: &Diff, path: Option<&RepoPath>) -> String {
    let reason = match diff.detail {
        DiffDetail::LineEndInName => "A file's name has a line end in it".to_owned(),
        _ if diff.files.len() > MAX_LISTED_FILES => {
            format!("{} files changed", count(diff.files.len() as u64))
        }
        _ => {
            let lines = count(diff.insertions + diff.deletions);
            format!(
                "{lines} lines changed, over the limit of {}",
                count(MAX_CHANGED_LINES)
            )
        }
    };
    let narrower = match path {
        None => "ask for one file with filePath",
        Some(_) if diff.files.len() > 1 => "name a single file",
        Some(_) => "compare references that are closer, or read the file",
    };
    format!("{reason}, so this is the summary; to see lines, {narrower}")
}

fn totals(diff: &Diff) -> String {
    format!(
        "- **Files Changed**: {}\n- **Insertions**: +{} lines\n- **Deletions**: -{} lines\n",
        count(diff.files.len() as u64),
        count(diff.insertions),
        count(diff.deletions)
    )
}

/// The diff file by file, from line `offset` of all its lines.
fn full(title: &str, diff: &Diff, offset: usize, budget: usize) -> String {
    let mut text = format!("# Git Diff: {title}\n\n## Summary\n{}", totals(diff));
    let budget = budget.saturating_sub(length(&text) + FRAME_CHARS);
    let mut used = 0;
    let mut passed = 0;
    for (at, file) in diff.files.iter().enumerate() {
        let lines = split_patch(&file.patch);
        let first = passed;
        passed += lines.len().max(1);
        if passed <= offset {
            continue;
        }
        let heading = format!("\n---\n\n{}", heading(file));
        let skipped = offset.saturating_sub(first);
        let (body, shown) = body(
            file,
            &lines[skipped.min(lines.len())..],
            budget.saturating_sub(used + length(&heading)),
        );
        if used > 0 && shown == 0 && !lines.is_empty() || length(&heading) + used > budget && used > 0 {
            text += &note(&cut_notice(diff, at, first));
            return text;
        }
        used += length(&heading) + length(&body);
        text += &heading;
        text += &body;
        let next = first + skipped + shown;
        if next < first + lines.len() {
            text += &note(&cut_notice(diff, at, next));
            return text;
        }
    }
    if offset >= passed && offset > 0 {
        text += &note(&format!(
            "The diff has {passed} lines; offset {offset} is behind its end"
        ));
    }
    text
}

/// The notice where the answer ends in the middle of the diff.
fn cut_notice(diff: &Diff, at: usize, next: usize) -> String {
    let files = diff.files.len();
    format!(
        "The answer is cut in file {} of {files}; read on with offset {next}",
        at + 1
    )
}

fn heading(file: &FileDiff) -> String {
    let mut text = format!("## File: {}\n", describe_change(&file.change));
    if !file.binary {
        text += &format!(
            "**Changes**: +{} -{}\n",
            count(file.insertions),
            count(file.deletions)
        );
    }
    let (old, new) = (&file.change.old_mode, &file.change.new_mode);
    if file.change.status != ChangeStatus::Added && file.change.status != ChangeStatus::Deleted && old != new
    {
        text += &format!("**Mode**: {old} to {new}\n");
    }
    text
}

/// As many of a file's lines as fit, and their number.
fn body(file: &FileDiff, lines: &[&str], budget: usize) -> (String, usize) {
    if file.withheld {
        return (
            "\nContent not shown: the path is blocked because it may hold secrets.\n".into(),
            0,
        );
    }
    if file.binary {
        return ("\nBinary file changed\n".into(), 0);
    }
    if lines.is_empty() {
        return (String::new(), 0);
    }
    let is_new = file.change.status == ChangeStatus::Added && file.change.new_mode != "120000";
    let mut kept = String::new();
    let mut used = 20;
    let mut shown = 0;
    let mut fences = 3;
    for line in lines {
        // A new file is shown without the `+` that every line of it has.
        let text = match (is_new, line.as_bytes().first()) {
            (true, Some(b'@' | b'\\')) => None,
            (true, _) => Some(line.get(1..).unwrap_or_default()),
            _ => Some(*line),
        };
        if let Some(text) = text {
            let text = cut_to(
                &reveal_part(text),
                MAX_LINE_CHARS.min(budget / 3).max(80),
                " … (line cut)",
            );
            used += length(&text) + 1;
            // Both fences grow with the longest run of backticks.
            fences = fences.max(fence(&text).len());
            if used + 2 * fences > budget && shown > 0 {
                break;
            }
            kept.push_str(&text);
            kept.push('\n');
        }
        shown += 1;
    }
    let language = if is_new { language(file, &kept) } else { "diff" };
    let fence = fence(&kept);
    (format!("\n{fence}{language}\n{kept}{fence}\n"), shown)
}

fn language(file: &FileDiff, text: &str) -> &'static str {
    let first = text.lines().next().unwrap_or_default();
    RepoPath::parse(&file.change.path).map_or("", |path| Language::of_path(&path, first).name())
}

/// The totals, and the files grouped by their change.
fn summary(title: &str, diff: &Diff, budget: usize) -> String {
    let mut text = format!("# Git Diff Summary: {title}\n\n{}", totals(diff));
    let budget = budget.saturating_sub(length(&text) + FRAME_CHARS);
    let max_rows = if diff.files.len() > MAX_LISTED_FILES {
        FIRST_FILES
    } else {
        usize::MAX
    };
    let mut used = 0;
    let mut listed = 0;
    for (heading, statuses) in [
        (
            "Modified",
            &[ChangeStatus::Modified, ChangeStatus::TypeChanged][..],
        ),
        ("Added", &[ChangeStatus::Added, ChangeStatus::Copied]),
        ("Deleted", &[ChangeStatus::Deleted]),
        ("Renamed", &[ChangeStatus::Renamed]),
        ("Conflicted", &[ChangeStatus::Unmerged]),
    ] {
        let files: Vec<&FileDiff> = diff
            .files
            .iter()
            .filter(|file| statuses.contains(&file.change.status))
            .collect();
        if files.is_empty() {
            continue;
        }
        text += &format!("\n### {heading} Files ({}):\n", count(files.len() as u64));
        for (at, file) in files.iter().enumerate() {
            let row = format!("- {}\n", row(file));
            used += length(&row);
            if listed == max_rows || used > budget {
                let more = count((files.len() - at) as u64);
                text += &format!("- … and {more} more; filePath lists those of one directory\n");
                break;
            }
            text += &row;
            listed += 1;
        }
    }
    let binary: Vec<&FileDiff> = diff.files.iter().filter(|file| file.binary).collect();
    if !binary.is_empty() {
        let files = if binary.len() == 1 {
            "binary file"
        } else {
            "binary files"
        };
        let kinds = kinds(&binary);
        text += &format!(
            "\n**Binary Files**: {} {files} changed ({kinds})\n",
            count(binary.len() as u64)
        );
    }
    text
}

/// `src/auth/jwt.ts (+25 -5)`
fn row(file: &FileDiff) -> String {
    let (inserted, deleted) = (count(file.insertions), count(file.deletions));
    let numbers = match file.change.status {
        _ if file.binary => "binary".to_owned(),
        ChangeStatus::Added => format!("+{inserted}"),
        ChangeStatus::Deleted => format!("-{deleted}"),
        _ => format!("+{inserted} -{deleted}"),
    };
    match &file.change.from {
        Some(from) => format!("{} (from {}, {numbers})", inline(&file.change.path), inline(from)),
        None => format!("{} ({numbers})", inline(&file.change.path)),
    }
}

/// The kinds of binary files: `images, fonts`.
fn kinds(files: &[&FileDiff]) -> String {
    let kind = |path: &str| match path
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "ico" | "bmp" | "tiff" | "avif" | "icns" | "psd" => {
            "images"
        }
        "woff" | "woff2" | "ttf" | "otf" | "eot" => "fonts",
        "zip" | "gz" | "tgz" | "bz2" | "xz" | "zst" | "7z" | "tar" | "jar" | "war" | "rar" => "archives",
        "mp3" | "wav" | "ogg" | "flac" | "mp4" | "webm" | "mov" | "avi" | "mkv" => "media",
        "pdf" | "doc" | "docx" | "xls" | "xlsx" | "ppt" | "pptx" | "odt" => "documents",
        "so" | "dll" | "dylib" | "exe" | "a" | "o" | "lib" | "wasm" | "class" | "pyc" => "compiled code",
        _ => "other",
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *counts.entry(kind(&file.change.path)).or_default() += 1;
    }
    let mut kinds: Vec<(&str, usize)> = counts.into_iter().collect();
    kinds.sort_by_key(|(kind, number)| (*kind == "other", std::cmp::Reverse(*number)));
    kinds.iter().map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ")
}
