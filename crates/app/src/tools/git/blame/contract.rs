//! `git_blame` in the form of the contract: markdown.

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::text::reveal::reveal_part;
use docent_engine::git::{Attribution, Blame, BlamedLine};

use crate::markdown::{cut, fence, inline, inline_to, length, note};

/// Characters of an author's name.
const MAX_NAME_CHARS: usize = 30;

/// Characters of a line.
const MAX_LINE_CHARS: usize = 1_000;

pub(super) fn show(path: &RepoPath, blame: &Blame, budget: usize) -> String {
    let mut text = format!("# Git Blame: {}\n", inline(path.as_str()));
    if blame.modified {
        text += "\n⚠ File has local modifications\n";
    }
    if blame.lines.is_empty() {
        text += "\nThe file is empty.\n";
        return text;
    }
    text + &body(path, blame, budget)
}

/// As many lines as fit, and the commits they come from.
fn body(path: &RepoPath, blame: &Blame, budget: usize) -> String {
    let width = blame
        .lines
        .iter()
        .map(|line| length(&name(&blame.commits[line.commit])))
        .max()
        .unwrap_or(0);
    let digits = blame.lines.last().map_or(1, |line| line.number.to_string().len());
    let mut lines = String::new();
    let mut commits = String::new();
    let mut listed = 0;
    // The fence must be longer than any run of backticks in the lines.
    let fences = blame
        .lines
        .iter()
        .map(|line| fence(&line.text).len())
        .max()
        .unwrap_or(3);
    let mut used = 2 * fences.min(MAX_LINE_CHARS + 1);
    let mut last = 0;
    for line in &blame.lines {
        let commit = &blame.commits[line.commit];
        let row = row(line, commit, digits, width);
        // Commits are in the order of their first line.
        let section = if line.commit == listed {
            section(commit)
        } else {
            String::new()
        };
        used += length(&row) + length(&section);
        if used > budget && last > 0 {
            break;
        }
        listed = listed.max(line.commit + 1);
        lines += &row;
        commits += &section;
        last = line.number;
    }
    let first = blame.lines[0].number;
    let language = Language::of_path(path, if first == 1 { &blame.lines[0].text } else { "" });
    let fence = fence(&lines);
    let mut text = format!("\n## Lines {first}-{last}\n\n{fence}{language}\n{lines}{fence}\n{commits}");
    if last < blame.end {
        let (end, total, next) = (blame.end, blame.total, last + 1);
        let last_line = if end == total {
            format!("{total}")
        } else {
            format!("{end} (the file has {total})")
        };
        text += &note(&format!(
            "Lines {first}-{last} of {last_line} fit into this answer; read on with startLine {next}"
        ));
    }
    if blame.commits[..listed].iter().any(|commit| commit.boundary) {
        text += &note("This is a shallow clone; lines of the commits marked as oldest may be older");
    }
    text
}

/// `15  abc1234 (John Doe    2025-10-09) the line`
fn row(line: &BlamedLine, commit: &Attribution, digits: usize, width: usize) -> String {
    let text = cut(&reveal_part(&line.text), MAX_LINE_CHARS, "… (line cut)");
    let row = format!(
        "{:>digits$}  {} ({:<width$}  {}) {text}",
        line.number,
        commit.short,
        name(commit),
        commit.date
    );
    format!("{}\n", row.trim_end())
}

fn name(commit: &Attribution) -> String {
    inline_to(&commit.author, MAX_NAME_CHARS)
}

fn section(commit: &Attribution) -> String {
    if commit.uncommitted {
        return String::new();
    }
    let oldest = if commit.boundary { " (oldest)" } else { "" };
    format!(
        "\n### Commit {}{oldest}\n**Author**: {} <{}>  \n**Date**: {}  \n**Message**: {}\n",
        commit.short,
        inline(&commit.author),
        inline(&commit.email),
        commit.date,
        inline(&commit.subject)
    )
}
