//! Patches over the budget: the files with their counts first, then hunks as far as they fit.
//!
//! Code comes before tests before the rest. Lines of lock files, generated, vendored, minified and deleted
//! files are left out.
//!
//! Invariant: each line of a hunk is shown or counted in the row of its file, or of a directory above it.

use std::collections::BTreeMap;
use std::ops::Range;

use docent_core::shell::git::patch::{PatchChange, PatchFile, PatchPart};
use docent_engine::git::GitText;

use super::count_chars;
use super::hunks::{HunkView, view_hunks};
use super::mask::{blocked_ranges, is_blocked_file, mask_part};
use super::noise::{rank, reason_to_skip};
use super::reshow::Reshow;
use crate::compact::{count_of, fair_share};
use crate::markdown::{count, inline, length};
use crate::shell::ShellContext;
use crate::shell::project::ShellProject;

/// Fewer characters than this say too little about a commit.
const MIN_COMMIT_CHARS: usize = 500;

/// Fewer characters than this say too little about a file.
const MIN_FILE_CHARS: usize = 400;

/// Characters kept for the line that counts files and commits.
const FRAME_CHARS: usize = 60;

/// Characters kept for the line that counts commits.
const NOTICE_CHARS: usize = 200;

/// Characters that a row takes to say what is left out.
const ROW_NOTE_CHARS: usize = 34;

/// The patches of one commit, or those of a `git diff`.
#[derive(Default)]
struct PatchGroup<'a> {
    texts: Vec<Range<usize>>,
    files: Vec<&'a PatchFile>,
}

/// Where patches are and how to show more of them.
struct Source<'a> {
    text: &'a [u8],
    blocked: Vec<(Range<usize>, &'a str)>,
    project: &'a ShellProject,
    reshow: &'a Reshow<'a>,
}

/// Everything that git printed, within the budget.
pub(super) fn shorten(
    text: &GitText,
    parts: &[PatchPart],
    reshow: &Reshow<'_>,
    (context, budget): (&ShellContext, usize),
) -> String {
    let groups = split_groups(parts, reshow);
    let source = Source {
        text: &text.out,
        blocked: blocked_ranges(parts, &context.project),
        project: &context.project,
        reshow,
    };
    let lengths = groups.iter().map(|group| count_chars(&text.out[group.range()]));
    let share = fair_share(lengths, budget.saturating_sub(NOTICE_CHARS));
    let (listed, share) = if share < MIN_COMMIT_CHARS {
        (
            groups.len().min((budget / MIN_COMMIT_CHARS).max(1)),
            MIN_COMMIT_CHARS,
        )
    } else {
        (groups.len(), share)
    };
    let room = if groups.len() == 1 { budget } else { share };
    let mut shown = String::new();
    for group in &groups[..listed] {
        shown += &source.show_group(group, room, groups.len() == 1);
    }
    shown += &count_groups(&groups[listed..], reshow);
    if text.dropped_lines > 0 {
        shown += &format!(
            "… and {} more lines: {}\n",
            count(text.dropped_lines),
            reshow.whole()
        );
    }
    shown
}

fn split_groups<'a>(parts: &'a [PatchPart], reshow: &Reshow<'_>) -> Vec<PatchGroup<'a>> {
    let mut groups: Vec<PatchGroup<'a>> = vec![PatchGroup::default()];
    for part in parts {
        let begins_group = matches!(part, PatchPart::Text(_)) && !reshow.is_diff();
        if begins_group && groups.last().is_some_and(|group| !group.files.is_empty()) {
            groups.push(PatchGroup::default());
        }
        if let Some(group) = groups.last_mut() {
            match part {
                PatchPart::Text(range) => group.texts.push(range.clone()),
                PatchPart::File(file) => group.files.push(file),
            }
        }
    }
    groups
}

/// The line for commits that are not shown.
fn count_groups(groups: &[PatchGroup<'_>], reshow: &Reshow<'_>) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let files: Vec<&PatchFile> = groups
        .iter()
        .flat_map(|group| group.files.iter().copied())
        .collect();
    format!(
        "… {} with {}: {}\n",
        count_of(groups.len(), "more commit", "more commits"),
        totals(&files, files.iter().map(|file| file.lines()).sum()),
        reshow.whole()
    )
}

/// `3 files, +45 -12, left out: 90 lines`.
fn totals(files: &[&PatchFile], left_out: usize) -> String {
    format!(
        "{}, +{} -{}, left out: {}",
        count_of(files.len(), "file", "files"),
        files.iter().map(|file| file.added()).sum::<usize>(),
        files.iter().map(|file| file.removed()).sum::<usize>(),
        count_of(left_out, "line", "lines")
    )
}

impl PatchGroup<'_> {
    fn range(&self) -> Range<usize> {
        let texts = self.texts.iter().cloned();
        let ranges = texts.chain(self.files.iter().map(|file| file.range.clone()));
        ranges
            .reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
            .unwrap_or(0..0)
    }
}

impl Source<'_> {
    fn show_group(&self, group: &PatchGroup<'_>, room: usize, is_single: bool) -> String {
        let range = group.range();
        if count_chars(&self.text[range.clone()]) <= room {
            let bytes = mask_part(self.text, range, &self.blocked);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        let intro: String = group
            .texts
            .iter()
            .map(|range| String::from_utf8_lossy(&self.text[range.clone()]))
            .collect();
        let command = match find_commit_id(&intro).filter(|_| !is_single) {
            Some(id) => self.reshow.for_commit(id),
            None => self.reshow.for_path(),
        };
        if group.files.is_empty() {
            return cut_intro(&intro, room, &format!(": {}", self.reshow.whole()));
        }
        let shown = cut_intro(&intro, room / 3, "\n");
        let left = room.saturating_sub(length(&shown));
        shown + &self.show_files(&group.files, left, &command)
    }

    /// A row for each file, then hunks.
    fn show_files(&self, files: &[&PatchFile], room: usize, command: &str) -> String {
        let mut files = files.to_vec();
        let reason = |file: &PatchFile| {
            if is_blocked_file(file, self.project) {
                Some("blocked")
            } else {
                reason_to_skip(self.text, file)
            }
        };
        files.sort_by_key(|file| (reason(file).is_some(), rank(file)));
        let room = room.saturating_sub(FRAME_CHARS + length(command));
        let rows: Vec<String> = files.iter().map(|file| row(file)).collect();
        let row_chars = |row: &String| length(row) + ROW_NOTE_CHARS;
        let all_rows: usize = rows.iter().map(row_chars).sum();
        let rows_room = room / 2;
        let mut left = if all_rows <= rows_room {
            all_rows
        } else {
            rows_room * 2 / 3
        };
        let listed = rows
            .iter()
            .take_while(|row| {
                let fits = row_chars(row) <= left;
                left = left.saturating_sub(row_chars(row));
                fits
            })
            .count();
        let readable: Vec<&PatchFile> = files[..listed]
            .iter()
            .copied()
            .filter(|file| reason(file).is_none() && !file.hunks.is_empty())
            .collect();
        let views = self.allot(&readable, room.saturating_sub(all_rows.min(rows_room)));
        let mut shown = format!("{}; the rest: {command}\n", heading(&files));
        let mut body = String::new();
        for (file, row) in files.iter().zip(&rows).take(listed) {
            let view = readable
                .iter()
                .position(|other| other.range == file.range)
                .and_then(|at| views[at].as_ref());
            shown += row;
            shown += &note(file, reason(file), view);
            shown.push('\n');
            if let Some(view) = view {
                if files.len() > 1 {
                    body += &format!("{}\n", inline(&file.path));
                }
                body += &view.text;
            }
        }
        shown += &directory_rows(&files[listed..], rows_room / 3);
        shown + &body
    }

    /// The hunks that are shown of each file.
    fn allot(&self, files: &[&PatchFile], room: usize) -> Vec<Option<HunkView>> {
        let path_chars = |file: &PatchFile| length(&file.path) + 2;
        let view = |file: &PatchFile, context, max_chars: usize| {
            view_hunks(
                self.text,
                file,
                context,
                max_chars.saturating_sub(path_chars(file)),
            )
        };
        let chars = |file: &PatchFile, view: &HunkView| length(&view.text) + path_chars(file);
        let full: Vec<HunkView> = files
            .iter()
            .map(|file| view(file, usize::MAX, usize::MAX))
            .collect();
        let all: usize = files
            .iter()
            .zip(&full)
            .map(|(file, view)| chars(file, view))
            .sum();
        if all <= room {
            return full.into_iter().map(Some).collect();
        }
        // With fewer unchanged lines, all changes may fit.
        for context in [1, 0] {
            let narrow: Vec<HunkView> = files.iter().map(|file| view(file, context, usize::MAX)).collect();
            let chars: usize = files
                .iter()
                .zip(&narrow)
                .map(|(file, view)| chars(file, view))
                .sum();
            if chars <= room {
                return narrow.into_iter().map(Some).collect();
            }
        }
        let narrow: Vec<usize> = files
            .iter()
            .map(|file| chars(file, &view(file, 1, usize::MAX)))
            .collect();
        let mut views: Vec<Option<HunkView>> = files.iter().map(|_| None).collect();
        let mut left = room;
        for rank_of_round in 0..=3 {
            let mut round: Vec<usize> = (0..files.len())
                .filter(|at| rank(files[*at]) == rank_of_round)
                .collect();
            let share = fair_share(round.iter().map(|at| narrow[*at]), left);
            if share < MIN_FILE_CHARS {
                // Small patches whole rather than the tops of all.
                round.sort_by_key(|at| narrow[*at]);
            }
            for at in round {
                let max_chars = share.max(MIN_FILE_CHARS).min(left);
                let is_too_short = max_chars < MIN_FILE_CHARS && narrow[at] > max_chars;
                if is_too_short {
                    continue;
                }
                let shown = view(files[at], 1, max_chars);
                if shown.lines > 0 {
                    left = left.saturating_sub(chars(files[at], &shown));
                    views[at] = Some(shown);
                }
            }
        }
        views
    }
}

/// The id in `commit ID` or at the start of a line of `--oneline`.
fn find_commit_id(intro: &str) -> Option<&str> {
    let first = intro.trim_start_matches('\n').lines().next()?;
    let id = first.strip_prefix("commit ").unwrap_or(first).split(' ').next()?;
    (id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

/// A commit with its message, of which the first lines are shown if it is too long. `end` follows the notice.
fn cut_intro(intro: &str, room: usize, end: &str) -> String {
    const NOTICE_CHARS: usize = 35;
    if length(intro) <= room {
        return intro.to_owned();
    }
    let mut shown = String::new();
    let mut used = NOTICE_CHARS + length(end);
    let mut lines = intro.lines().peekable();
    while let Some(line) = lines.next_if(|line| used + length(line) < room) {
        used += length(line) + 1;
        shown += line;
        shown.push('\n');
    }
    shown
        + &format!(
            "    … {} of the message{end}\n",
            count_of(lines.count(), "more line", "more lines")
        )
}

fn heading(files: &[&PatchFile]) -> String {
    format!(
        "{}, +{} -{}",
        count_of(files.len(), "file", "files"),
        files.iter().map(|file| file.added()).sum::<usize>(),
        files.iter().map(|file| file.removed()).sum::<usize>()
    )
}

/// `src/grid.rs +25 -5`, with what else changed about the file.
fn row(file: &PatchFile) -> String {
    let mut row = inline(&file.path);
    let from = file.from.as_deref().map(inline).unwrap_or_default();
    match file.change {
        PatchChange::Modified => {}
        PatchChange::Added => row += " added",
        PatchChange::Deleted => row += " deleted",
        PatchChange::Renamed => row += &format!(" renamed from {from}"),
        PatchChange::Copied => row += &format!(" copied from {from}"),
    }
    if file.is_binary {
        row += " binary";
    }
    if file.has_new_mode {
        row += " mode changed";
    }
    if !file.hunks.is_empty() {
        row += &format!(" +{} -{}", file.added(), file.removed());
    }
    row
}

/// What is left out of a file.
fn note(file: &PatchFile, reason: Option<&str>, view: Option<&HunkView>) -> String {
    let reason = reason
        .filter(|_| !file.hunks.is_empty())
        .filter(|reason| *reason != "deleted")
        .map(|reason| format!(" {reason}"))
        .unwrap_or_default();
    let lines = file.lines() - view.map_or(0, |view| view.lines);
    let hunks = file.hunks.len() - view.map_or(0, |view| view.hunks);
    let hunks_text = match hunks {
        0 => String::new(),
        hunks => format!("{}, ", count_of(hunks, "hunk", "hunks")),
    };
    match lines {
        0 => reason,
        lines => format!(
            "{reason}, left out: {hunks_text}{}",
            count_of(lines, "line", "lines")
        ),
    }
}

/// Rows for directories, with the counts of the files in them.
fn directory_rows(files: &[&PatchFile], room: usize) -> String {
    const MAX_DEPTH: usize = 5;
    if files.is_empty() {
        return String::new();
    }
    for depth in (0..MAX_DEPTH).rev() {
        let mut directories: BTreeMap<String, Vec<&PatchFile>> = BTreeMap::new();
        for file in files {
            let above = file.path.rsplit_once('/').map_or("", |(above, _)| above);
            let above: Vec<&str> = above
                .split('/')
                .filter(|name| !name.is_empty())
                .take(depth)
                .collect();
            let name = if above.is_empty() {
                ".".to_owned()
            } else {
                above.join("/")
            };
            directories.entry(inline(&name)).or_default().push(file);
        }
        let mut rows = String::new();
        for (name, files) in &directories {
            let lines = files.iter().map(|file| file.lines()).sum();
            rows += &format!("{name}/: {}\n", totals(files, lines));
        }
        if length(&rows) <= room || depth == 0 {
            return rows;
        }
    }
    String::new()
}
