//! The history of lines, by `git log -L`: the commits that changed them, with their part of each patch.
//!
//! Git counts lines in the last commit, and callers in the file on disk. So the numbers are translated first.
//!
//! Invariant: the lines of a file that the access rules block, under any of its names, are never stored.

use std::io::BufRead;

use docent_core::access::Access;
use docent_core::path::RepoPath;

use super::command::stream;
use super::diff::{DiffSides, PatchLimit};
use super::log::Commit;
use super::objects::{MAX_OBJECT_BYTES, ResolvedObject};
use super::patch::{next_line, parse_hunk_header, quote_name};
use super::{Git, GitError, Repository, shorten};
use crate::deadline::Deadline;

/// Lines of a file, counted from 1 and inclusive, and the commits to list.
#[derive(Clone, Copy, Debug)]
pub struct LineSelection<'a> {
    pub path: &'a RepoPath,
    pub first: usize,
    pub last: usize,
    /// The lines are counted in the last commit. Otherwise in the working tree.
    pub is_committed: bool,
    pub skip: usize,
    pub count: usize,
}

/// The commits that changed some lines, newest first.
#[derive(Clone, Debug, Default)]
pub struct LineHistory {
    pub changes: Vec<LineChange>,
    /// There are further commits.
    pub more: bool,
    /// The clone is shallow, so the history is incomplete.
    pub shallow: bool,
    /// The lines in the last commit.
    pub committed: (usize, usize),
}

/// A commit that changed some lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// Without its files.
    pub commit: Commit,
    /// The file's name in that commit, relative to the project. Empty if git shows no patch, as for merges.
    pub path: String,
    /// The access rules block the content.
    pub withheld: bool,
    pub insertions: u64,
    pub deletions: u64,
    /// Hunks of these lines, each with its header line.
    pub patch: String,
}

/// Longer patches are cut.
const MAX_PATCH_BYTES: usize = 64 << 10;

/// The fields of a commit on one line that begins with NUL, which no other line outside a hunk does.
const LINE_FORMAT: &str = "--format=%x00%H%x00%P%x00%aN%x00%aE%x00%as%x00%s";

impl Git {
    /// The commits that changed the selected lines.
    pub fn line_log(
        &self,
        selected: LineSelection<'_>,
        deadline: &Deadline,
    ) -> Result<LineHistory, GitError> {
        self.check_access(selected.path)?;
        self.answer(deadline, |repository| {
            let (head, object) = repository.find_committed(selected.path, deadline)?;
            let content = repository.read_committed(&object, selected.path, deadline)?;
            let total = content.split_inclusive(|byte| *byte == b'\n').count();
            let (first, last) = if selected.is_committed {
                check_range((selected.first, selected.last), total)?
            } else {
                self.to_committed(repository, selected, total, deadline)?
            };
            let mut changes =
                repository.read_line_log(&head, selected, (first, last), self.root.access(), deadline)?;
            let more = changes.len() > selected.count;
            changes.truncate(selected.count);
            let digits = repository.id_digits(deadline)?;
            for change in &mut changes {
                change.commit.short = shorten(&change.commit.id, digits);
            }
            Ok(LineHistory {
                changes,
                more,
                shallow: repository.runner.location().is_shallow(),
                committed: (first, last),
            })
        })
    }

    /// The text of a file in the last commit.
    pub fn committed_text(&self, path: &RepoPath, deadline: &Deadline) -> Result<String, GitError> {
        self.check_access(path)?;
        self.answer(deadline, |repository| {
            let (_, object) = repository.find_committed(path, deadline)?;
            let content = repository.read_committed(&object, path, deadline)?;
            Ok(String::from_utf8_lossy(&content).into_owned())
        })
    }

    fn check_access(&self, path: &RepoPath) -> Result<(), GitError> {
        if self.root.access().allows(path) {
            Ok(())
        } else {
            Err(GitError::Blocked(path.to_string()))
        }
    }

    /// The lines of the last commit that the selected lines of the working tree come from.
    fn to_committed(
        &self,
        repository: &Repository,
        selected: LineSelection<'_>,
        total: usize,
        deadline: &Deadline,
    ) -> Result<(usize, usize), GitError> {
        let range = (selected.first, selected.last);
        if repository.runner.location().work_tree.is_none() {
            return check_range(range, total);
        }
        let sides = DiffSides {
            from: Some("HEAD"),
            path: Some(selected.path),
            patches: PatchLimit::PerFile,
            ..DiffSides::default()
        };
        let diff = self.diff_in(repository, sides, deadline)?;
        let changed = diff
            .files
            .iter()
            .find(|file| file.change.path == selected.path.as_str());
        let patch = changed.map_or("", |file| file.patch.as_str());
        let inserted = changed.map_or(0, |file| file.insertions);
        let deleted = changed.map_or(0, |file| file.deletions);
        let total_now = (total as u64 + inserted).saturating_sub(deleted);
        // A file that is gone from the working tree has the lines of the last commit.
        if total_now == 0 {
            return check_range(range, total);
        }
        let (first, last) = check_range(range, usize::try_from(total_now).unwrap_or(usize::MAX))?;
        let mapped = map_to_old(patch, first, last).ok_or(GitError::Uncommitted { first, last })?;
        check_range(mapped, total)
    }
}

impl Repository {
    /// The last commit, and the file's object in it.
    fn find_committed(
        &self,
        path: &RepoPath,
        deadline: &Deadline,
    ) -> Result<(String, ResolvedObject), GitError> {
        let head = self
            .head(deadline)?
            .ok_or_else(|| GitError::UntrackedYet(path.to_string()))?;
        let name = format!("{head}:{}", self.repo_path(path));
        let object = self.objects.find(&name, deadline)?;
        let object = object.filter(|object| object.kind == "blob");
        Ok((head, object.ok_or_else(|| GitError::Untracked(path.to_string()))?))
    }

    fn read_committed(
        &self,
        object: &ResolvedObject,
        path: &RepoPath,
        deadline: &Deadline,
    ) -> Result<Vec<u8>, GitError> {
        if object.size > MAX_OBJECT_BYTES {
            return Err(GitError::TooLarge(path.to_string()));
        }
        let content = self.objects.content(&object.id, deadline)?;
        if content.iter().take(8_000).any(|byte| *byte == 0) {
            return Err(GitError::Binary(path.to_string()));
        }
        Ok(content)
    }

    /// Runs `git log -L`, and reads one commit more than requested.
    fn read_line_log(
        &self,
        head: &str,
        selected: LineSelection<'_>,
        (first, last): (usize, usize),
        access: &Access,
        deadline: &Deadline,
    ) -> Result<Vec<LineChange>, GitError> {
        let mut command = self.runner.command("log");
        command.args([
            "--encoding=UTF-8",
            LINE_FORMAT,
            "-M",
            "--diff-algorithm=myers",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-relative",
        ]);
        // Everything behind the first colon is the path, whatever characters it has.
        command.arg(format!("-L{first},{last}:{}", self.repo_path(selected.path)));
        command.arg(head).arg("--");
        stream(command, None, deadline, |out| {
            let mut changes = Vec::new();
            let mut line = Vec::new();
            let mut is_open = next_line(out, &mut line)?;
            let mut passed = 0;
            while is_open && changes.len() <= selected.count {
                let commit = parse_commit(&line).ok_or(GitError::Truncated)?;
                let mut change = LineChange {
                    commit,
                    path: String::new(),
                    withheld: false,
                    insertions: 0,
                    deletions: 0,
                    patch: String::new(),
                };
                is_open = self.read_line_change(out, &mut line, &mut change, access)?;
                if passed >= selected.skip {
                    changes.push(change);
                }
                passed += 1;
            }
            Ok(changes)
        })
    }

    /// Reads the patch of a commit, up to the next commit, which is then in `line`. False at the end.
    fn read_line_change(
        &self,
        out: &mut dyn BufRead,
        line: &mut Vec<u8>,
        change: &mut LineChange,
        access: &Access,
    ) -> Result<bool, GitError> {
        let mut header = PatchHeader::default();
        // Lines left in the hunk. No line inside a hunk is a header, even if it begins with NUL.
        let mut left = (0_u64, 0_u64);
        while next_line(out, line)? {
            if left == (0, 0) {
                if line.first() == Some(&0) {
                    return Ok(true);
                }
                if let Some(counts) = parse_hunk_header(line) {
                    left = counts;
                    let name = header
                        .name()
                        .filter(|_| header.names().all(|name| self.allows(name, access)));
                    change.withheld |= name.is_none();
                    let location = self.runner.location();
                    let path = name.and_then(|name| location.in_project(name));
                    path.unwrap_or_default().clone_into(&mut change.path);
                } else {
                    header.read_line(line);
                    continue;
                }
            } else {
                match line.first() {
                    Some(b'+') => {
                        left.1 = left.1.saturating_sub(1);
                        change.insertions += 1;
                    }
                    Some(b'-') => {
                        left.0 = left.0.saturating_sub(1);
                        change.deletions += 1;
                    }
                    Some(b'\\') => {}
                    _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
                }
            }
            if !change.withheld && change.patch.len() < MAX_PATCH_BYTES {
                change.patch.push_str(&String::from_utf8_lossy(line));
                change.patch.push('\n');
            }
        }
        Ok(false)
    }
}

/// The lines before the first hunk of a patch.
#[derive(Debug, Default)]
struct PatchHeader {
    git: String,
    old: Option<String>,
    new: Option<String>,
}

impl PatchHeader {
    fn read_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if text.starts_with("diff --git ") {
            *self = Self {
                git: text.into_owned(),
                ..Self::default()
            };
        } else if let Some(name) = text.strip_prefix("--- ") {
            self.old = name.strip_prefix("a/").map(strip_tab);
        } else if let Some(name) = text.strip_prefix("+++ ") {
            self.new = name.strip_prefix("b/").map(strip_tab);
        }
    }

    /// The names of both sides. A side without the file has none.
    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.old, &self.new]
            .into_iter()
            .filter_map(|name| name.as_deref())
    }

    /// The name of the file, if the lines agree about it. A name with a line end in it could pretend to be
    /// another one; then they do not agree.
    fn name(&self) -> Option<&str> {
        let name = self.new.as_deref().or(self.old.as_deref())?;
        let old = self.old.as_deref().unwrap_or(name);
        let (old, new) = (format!("a/{old}"), format!("b/{name}"));
        let plain = format!("diff --git {old} {new}");
        let quoted = format!("diff --git {} {}", quote_name(&old), quote_name(&new));
        (self.git == plain || self.git == quoted).then_some(name)
    }
}

/// Git ends a name that has spaces with a tab.
fn strip_tab(name: &str) -> String {
    name.strip_suffix('\t').unwrap_or(name).to_owned()
}

/// Parses a line in [`LINE_FORMAT`].
fn parse_commit(line: &[u8]) -> Option<Commit> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"\0")?);
    let mut fields = text.split('\0').map(str::to_owned);
    Some(Commit {
        id: fields.next().filter(|id| super::objects::is_id(id))?,
        short: String::new(),
        parents: fields
            .next()?
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect(),
        author: fields.next()?,
        email: fields.next()?,
        date: fields.next()?,
        subject: fields.next()?,
        files: Vec::new(),
        unlisted: 0,
    })
}

/// The range within a file of `lines` lines. An end beyond the file means its last line.
fn check_range((first, last): (usize, usize), lines: usize) -> Result<(usize, usize), GitError> {
    if first == 0 || first > lines || last < first {
        return Err(GitError::LineRange {
            start: first,
            end: last,
            lines,
        });
    }
    Ok((first, last.min(lines)))
}

/// The old lines that new lines `first` to `last` come from, by a patch. Added lines come from those that
/// were deleted in the same place. `None` if all are new.
fn map_to_old(patch: &str, first: usize, last: usize) -> Option<(usize, usize)> {
    let mut mapped: Option<(usize, usize)> = None;
    let mut add = |from: usize, to: usize| {
        let (start, end) = mapped.unwrap_or((from, to));
        mapped = Some((start.min(from), end.max(to)));
    };
    // Adds the part of an unchanged block that the range overlaps.
    let mut add_same = |old: usize, new: usize, end: usize| {
        let (from, to) = (new.max(first), end.min(last + 1));
        if from < to {
            add(old + from - new, old + to - 1 - new);
        }
    };
    // The next lines of both sides, and where the block of changed lines began.
    let (mut old, mut new) = (1, 1);
    let mut block: Option<(usize, usize)> = None;
    let mut blocks = Vec::new();
    for line in patch.lines() {
        let is_change = line.starts_with(['+', '-']);
        if !is_change
            && !line.starts_with('\\')
            && let Some((block_old, block_new)) = block.take()
        {
            blocks.push((block_old, old, block_new, new));
        }
        match line.as_bytes().first() {
            Some(b'@') => {
                let (hunk_old, hunk_new) = parse_hunk_starts(line)?;
                add_same(old, new, hunk_new);
                (old, new) = (hunk_old, hunk_new);
            }
            Some(b'+' | b'-') => {
                block.get_or_insert((old, new));
                if line.starts_with('+') {
                    new += 1;
                } else {
                    old += 1;
                }
            }
            Some(b'\\') => {}
            _ => {
                add_same(old, new, new + 1);
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    if let Some((block_old, block_new)) = block {
        blocks.push((block_old, old, block_new, new));
    }
    add_same(old, new, usize::MAX - 1);
    for (from, to, new_from, new_to) in blocks {
        if from < to && new_from <= last && first < new_to {
            add(from, to - 1);
        }
    }
    mapped
}

/// The first lines of both sides of `@@ -1,2 +3,4 @@`. A side without lines names the line before it.
fn parse_hunk_starts(line: &str) -> Option<(usize, usize)> {
    let mut sides = line.strip_prefix("@@ -")?.split(" @@").next()?.split(" +");
    let mut start = || {
        let side = sides.next()?;
        let (start, count) = side.split_once(',').unwrap_or((side, "1"));
        let start: usize = start.parse().ok()?;
        Some(start + usize::from(count == "0"))
    };
    Some((start()?, start()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_old_file() {
        let patch = "@@ -2,3 +2,4 @@ fn x\n a\n-b\n+B\n+C\n d\n@@ -10,0 +12,2 @@\n+x\n+y\n@@ -20,2 +23,0 @@\n-p\n-q\n";
        for (new, old) in [
            ((1, 1), Some((1, 1))),
            ((2, 2), Some((2, 2))),
            ((3, 3), Some((3, 3))),
            ((4, 5), Some((3, 4))),
            ((6, 8), Some((5, 7))),
            ((12, 13), None),
            ((11, 14), Some((10, 11))),
            ((24, 24), Some((22, 22))),
            ((2, 100), Some((2, 98))),
        ] {
            assert_eq!(map_to_old(patch, new.0, new.1), old, "{new:?}");
        }
        assert_eq!(map_to_old("", 4, 9), Some((4, 9)));
    }

    #[test]
    fn a_header_whose_lines_disagree_has_no_name() {
        let name = |lines: &[&str]| {
            let mut header = PatchHeader::default();
            for line in lines {
                header.read_line(line.as_bytes());
            }
            header.name().map(str::to_owned)
        };
        let read = name(&["diff --git a/x y b/x y", "--- a/x y\t", "+++ b/x y\t"]);
        assert_eq!(read.as_deref(), Some("x y"));
        let read = name(&["diff --git a/n b/n", "--- /dev/null", "+++ b/n"]);
        assert_eq!(read.as_deref(), Some("n"));
        assert_eq!(
            name(&["diff --git a/.env", "+++ b/n b/n", "--- /dev/null", "+++ b/n"]),
            None
        );
    }
}
