//! `git diff`: what differs between two commits, or between one of them and the working tree.
//!
//! Patches are counted as they stream by and kept only while they are few; memory does not grow with the difference.
//!
//! Invariant: the content of a file that the access rules block, under its new or its old name, is never kept.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use docent_core::access::Access;
use docent_core::path::RepoPath;

use super::command::stream;
use super::raw::{Change, Status, change, field, peek};
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;

/// What is compared, as the caller named it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sides<'a> {
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    pub path: Option<&'a RepoPath>,
    /// False where the numbers are enough.
    pub patches: bool,
}

/// What differs.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    pub files: Vec<Patched>,
    pub insertions: u64,
    pub deletions: u64,
    /// False where the patches were not asked for, or are too long to be kept.
    pub has_patches: bool,
}

/// A file that differs.
#[derive(Clone, Debug)]
pub struct Patched {
    pub change: Change,
    pub insertions: u64,
    pub deletions: u64,
    pub binary: bool,
    /// True when the access rules block the content.
    pub withheld: bool,
    /// Hunks, each with its header line.
    pub patch: String,
}

/// Differences by what they are between; commits never change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Between {
    from: String,
    to: String,
    path: Option<String>,
    patches: bool,
}

/// Patches with more changed lines than this are summed up.
pub const MOST_LINES: u64 = 1_000;

/// Longer lines are cut.
const LONGEST_LINE: usize = 2_000;

/// How files are compared, whoever asks; what the repository's configuration says about it does not count.
const COMPARE: &[&str] = &[
    "--raw",
    "-z",
    "-M",
    "-l1000",
    "--no-abbrev",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--submodule=short",
    // Looking into a submodule would run git there, under that repository's configuration.
    "--ignore-submodules=dirty",
];

impl Git {
    /// What differs between the sides: two commits, one and the working tree, or the index and the working tree.
    pub fn diff(&self, sides: Sides<'_>, deadline: &Deadline) -> Result<Arc<Diff>, GitError> {
        let repository = self.repository(deadline)?;
        let resolve = |name: Option<&str>| name.map(|name| repository.commit(name, deadline)).transpose();
        let (from, to) = (resolve(sides.from)?, resolve(sides.to)?);
        let limit = repository.limit(sides.path);
        if let (Some(from), Some(to)) = (from.clone(), to.clone()) {
            let between = Between {
                from,
                to,
                path: limit,
                patches: sides.patches,
            };
            return self.between(&repository, between, deadline);
        }
        if repository.runner.place().work_tree.is_none() {
            return Err(GitError::Bare);
        }
        let mut ends: Vec<&str> = Vec::new();
        match (&from, &to) {
            (Some(from), _) => ends.push(from),
            (None, Some(to)) => ends.extend(["-R", to.as_str()]),
            (None, None) => {}
        }
        let mut diff = repository.diff(
            &ends,
            limit.as_deref(),
            sides.patches,
            self.root.access(),
            deadline,
        )?;
        if ends.is_empty() {
            repository.add_conflicts(&mut diff, limit.as_deref(), self.root.access(), deadline)?;
        }
        Ok(Arc::new(diff))
    }

    /// The difference of two commits, from what was seen before where that is enough.
    fn between(
        &self,
        repository: &Repository,
        wanted: Between,
        deadline: &Deadline,
    ) -> Result<Arc<Diff>, GitError> {
        let with_patches = Between {
            patches: true,
            ..wanted.clone()
        };
        if let Some(known) = self
            .compared
            .get(&wanted)
            .or_else(|| self.compared.get(&with_patches))
        {
            return Ok(known);
        }
        let whole = Between {
            path: repository.limit(None),
            ..with_patches
        };
        if let Some(part) = self
            .compared
            .get(&whole)
            .zip(wanted.path.as_deref())
            .and_then(|(known, path)| known.only(path, repository))
        {
            return Ok(Arc::new(part));
        }
        let ends = [wanted.from.as_str(), wanted.to.as_str()];
        let access = self.root.access();
        let diff = repository.diff(&ends, wanted.path.as_deref(), wanted.patches, access, deadline)?;
        let diff = Arc::new(diff);
        self.compared.insert(wanted, diff.clone());
        Ok(diff)
    }
}

impl Repository {
    fn diff(
        &self,
        ends: &[&str],
        path: Option<&str>,
        patches: bool,
        access: &Access,
        deadline: &Deadline,
    ) -> Result<Diff, GitError> {
        let mut command = self.runner.command("diff");
        command
            .args(COMPARE)
            .arg(if patches { "-U3" } else { "--numstat" });
        command.args(ends).arg("--").args(path);
        stream(command, None, deadline, |out| {
            let mut diff = Diff {
                has_patches: patches,
                ..Diff::default()
            };
            while peek(out)? == Some(b':') {
                diff.files.extend(self.patched(change(out)?, access));
            }
            if patches {
                read_patches(out, &mut diff)?;
            } else {
                read_numbers(out, &mut diff)?;
            }
            diff.files.retain(|file| !file.change.path.is_empty());
            Ok(diff)
        })
    }

    /// A change with nothing known about its lines yet.
    fn patched(&self, change: Change, access: &Access) -> Option<Patched> {
        let is_unmerged = change.parents > 1 || change.status == Status::Unmerged;
        let change = self.within(vec![change]).pop()?;
        let allows = |path: &str| RepoPath::parse(path).is_ok_and(|path| access.allows(&path));
        let withheld = !allows(&change.path) || change.from.as_deref().is_some_and(|from| !allows(from));
        Some(Patched {
            change: Change {
                status: if is_unmerged {
                    Status::Unmerged
                } else {
                    change.status
                },
                ..change
            },
            insertions: 0,
            deletions: 0,
            binary: false,
            withheld,
            patch: String::new(),
        })
    }

    /// Files in conflict have three versions, which git shows in a form of their own and only alone.
    fn add_conflicts(
        &self,
        diff: &mut Diff,
        path: Option<&str>,
        access: &Access,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        if !diff
            .files
            .iter()
            .any(|file| file.change.status == Status::Unmerged)
        {
            return Ok(());
        }
        let mut command = self.runner.command("diff");
        command.args(
            COMPARE
                .iter()
                .filter(|option| !matches!(**option, "--raw" | "-z")),
        );
        command.args(["-U3", "-z", "--diff-filter=U", "--"]).args(path);
        let mut files = stream(command, None, deadline, |out| {
            let mut files: Vec<Patched> = Vec::new();
            let mut line = Vec::new();
            let mut in_hunk = false;
            while next_line(out, &mut line)? {
                let text = String::from_utf8_lossy(&line);
                if let Some(path) = text.strip_prefix("diff --cc ") {
                    in_hunk = false;
                    let change = Change {
                        status: Status::Unmerged,
                        path: path.to_owned(),
                        from: None,
                        old_mode: String::new(),
                        new_mode: String::new(),
                        parents: 2,
                    };
                    files.extend(self.patched(change, access));
                    continue;
                }
                in_hunk |= text.starts_with("@@@");
                let Some(file) = files.last_mut().filter(|_| in_hunk) else {
                    continue;
                };
                let sides = text.get(..2).unwrap_or_default();
                file.insertions += u64::from(sides.contains('+'));
                file.deletions += u64::from(sides.contains('-'));
                if !file.withheld && file.patch.len() < 100_000 {
                    file.patch.push_str(&text);
                    file.patch.push('\n');
                }
            }
            Ok(files)
        })?;
        // git lists a file in conflict once more for what it is on disk.
        let conflicted: HashSet<String> = diff
            .files
            .iter()
            .filter(|file| file.change.status == Status::Unmerged)
            .map(|file| file.change.path.clone())
            .collect();
        diff.files
            .retain(|file| file.change.status == Status::Unmerged || !conflicted.contains(&file.change.path));
        (diff.insertions, diff.deletions) = (0, 0);
        for file in &mut diff.files {
            if let Some(at) = files
                .iter()
                .position(|found| found.change.path == file.change.path)
            {
                *file = files.swap_remove(at);
            }
            diff.insertions += file.insertions;
            diff.deletions += file.deletions;
        }
        Ok(())
    }
}

impl Diff {
    /// The part about one file, if it can be told from the whole: renames look different when one name is hidden.
    fn only(&self, path: &str, repository: &Repository) -> Option<Self> {
        let path = repository.runner.place().in_project(path)?;
        let below = format!("{path}/");
        let is_about = |name: &str| name == path || name.starts_with(&below);
        let mut part = Self {
            has_patches: self.has_patches,
            ..Self::default()
        };
        for file in &self.files {
            let names = [Some(&file.change.path), file.change.from.as_ref()];
            if !names.into_iter().flatten().any(|name| is_about(name)) {
                continue;
            }
            if file.change.from.is_some() {
                return None;
            }
            part.insertions += file.insertions;
            part.deletions += file.deletions;
            part.files.push(file.clone());
        }
        // What was too long as a whole may be short enough alone.
        self.has_patches.then_some(part)
    }

    /// Roughly the bytes it takes.
    pub(super) fn weight(&self) -> u64 {
        self.files
            .iter()
            .map(|file| file.patch.len() + file.change.path.len() + 200)
            .sum::<usize>() as u64
    }

    fn drop_patches(&mut self) {
        self.has_patches = false;
        for file in &mut self.files {
            file.patch = String::new();
        }
    }
}

/// `INSERTED\tDELETED\tPATH\0` for each file, `-` for binary ones; renames have an empty path and two more fields.
fn read_numbers(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    let mut at = 0;
    while peek(out)?.is_some() {
        let text = field(out)?;
        let mut parts = text.splitn(3, '\t');
        let (Some(inserted), Some(deleted), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if path.is_empty() {
            field(out)?;
            field(out)?;
        }
        while diff
            .files
            .get(at)
            .is_some_and(|file| file.change.status == Status::Unmerged)
        {
            at += 1;
        }
        let Some(file) = diff.files.get_mut(at) else { break };
        at += 1;
        file.binary = inserted == "-";
        file.insertions = inserted.parse().unwrap_or(0);
        file.deletions = deleted.parse().unwrap_or(0);
        diff.insertions += file.insertions;
        diff.deletions += file.deletions;
    }
    Ok(())
}

/// Patches, in the order of the files. A file that changed its type has two: one that ends and one that begins.
fn read_patches(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    let mut files = 0..diff.files.len();
    let mut at = None;
    let mut is_second = false;
    // Lines left in the hunk, of the old and of the new side: inside, nothing is a header.
    let mut left = (0_u64, 0_u64);
    let mut line = Vec::new();
    if peek(out)? == Some(0) {
        out.consume(1);
    }
    while next_line(out, &mut line)? {
        if left == (0, 0) && line.starts_with(b"diff --git ") {
            let is_split = at.is_some_and(|at: usize| diff.files[at].change.status == Status::TypeChanged);
            if is_split && !is_second {
                is_second = true;
                continue;
            }
            is_second = false;
            at = files.find(|at| diff.files[*at].change.status != Status::Unmerged);
            continue;
        }
        let Some(file) = at.and_then(|at| diff.files.get_mut(at)) else {
            continue;
        };
        if left == (0, 0) {
            if let Some(counts) = hunk(&line) {
                left = counts;
            } else {
                file.binary |= line.starts_with(b"Binary files ");
                if !line.starts_with(b"\\") {
                    continue;
                }
            }
        } else {
            match line.first() {
                Some(b'+') => {
                    left.1 = left.1.saturating_sub(1);
                    file.insertions += 1;
                    diff.insertions += 1;
                }
                Some(b'-') => {
                    left.0 = left.0.saturating_sub(1);
                    file.deletions += 1;
                    diff.deletions += 1;
                }
                Some(b'\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
        }
        if diff.has_patches && !file.withheld {
            file.patch.push_str(&String::from_utf8_lossy(&line));
            file.patch.push('\n');
            if diff.insertions + diff.deletions > MOST_LINES {
                diff.drop_patches();
            }
        }
    }
    Ok(())
}

/// How many lines of either side follow `@@ -1,2 +3,4 @@`.
fn hunk(line: &[u8]) -> Option<(u64, u64)> {
    let text = str::from_utf8(line.strip_prefix(b"@@ -")?.split(|byte| *byte == b'@').next()?).ok()?;
    let mut sides = text
        .trim_end()
        .split(" +")
        .map(|side| match side.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        });
    Some((sides.next()??, sides.next()??))
}

/// Reads a line without its end, cut where it is too long to be shown; false when there is none.
fn next_line(out: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, GitError> {
    line.clear();
    let mut is_cut = false;
    let mut has_read = false;
    loop {
        let part = out.fill_buf().map_err(GitError::Pipe)?;
        if part.is_empty() {
            break;
        }
        has_read = true;
        let end = part.iter().position(|byte| *byte == b'\n');
        let text = &part[..end.unwrap_or(part.len())];
        let room = LONGEST_LINE.saturating_sub(line.len());
        is_cut |= text.len() > room;
        line.extend_from_slice(&text[..text.len().min(room)]);
        let used = end.map_or(part.len(), |end| end + 1);
        out.consume(used);
        if end.is_some() {
            break;
        }
    }
    if is_cut {
        line.extend_from_slice(" … (line cut)".as_bytes());
    }
    Ok(has_read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_say_how_long_they_are() {
        assert_eq!(hunk(b"@@ -10,7 +10,12 @@ fn x() {"), Some((7, 12)));
        assert_eq!(hunk(b"@@ -0,0 +1 @@"), Some((0, 1)));
        assert_eq!(hunk(b"@@ broken"), None);
        assert_eq!(hunk(b"--- a/x"), None);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let text = format!("{}\nshort\n", "x".repeat(100_000));
        let mut out = std::io::BufReader::with_capacity(1_000, text.as_bytes());
        let mut line = Vec::new();
        assert!(next_line(&mut out, &mut line).unwrap());
        assert!(line.len() < 2_100 && line.ends_with("(line cut)".as_bytes()));
        assert!(next_line(&mut out, &mut line).unwrap());
        assert_eq!(line, b"short");
        assert!(!next_line(&mut out, &mut line).unwrap());
    }
}
