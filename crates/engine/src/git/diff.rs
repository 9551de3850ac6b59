//! `git diff`: what differs between two commits, or between one of them and the working tree.
//!
//! Patches are counted as they stream by and kept only while they are few; memory does not grow with the difference.
//!
//! Invariant: the content of a file that the access rules block, under its new or its old name, is never kept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use docent_core::access::Access;
use docent_core::path::RepoPath;

use super::command::stream;
use super::raw::{Change, End, MOST_CHANGES, Status, change, field, peek, until};
use super::{Git, GitError, Repository, place};
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

/// Files in conflict whose versions are shown.
const MOST_CONFLICTS: usize = 50;

/// Longer lines are cut.
const LONGEST_LINE: usize = 4_000;

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
    "--no-prefix",
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
        let access = self.root.access();
        let mut diff = repository.diff(&ends, limit.as_deref(), sides.patches, access, deadline)?;
        if ends.is_empty() {
            repository.add_conflicts(&mut diff, sides.patches, deadline)?;
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
        let is_here = ends.len() < 2 || ends[0] == "-R";
        stream(command, None, deadline, |out| {
            let mut files = Vec::new();
            while peek(out)? == Some(b':') {
                if files.len() == MOST_CHANGES {
                    return Err(GitError::Failed("more files differ than can be true"));
                }
                files.push(self.patched(change(out)?, is_here, access)?);
            }
            let mut diff = Diff {
                // A line end in a name could pass for a line of a patch.
                has_patches: patches
                    && !files
                        .iter()
                        .any(|file| file.names().any(|name| name.contains('\n'))),
                files,
                ..Diff::default()
            };
            if !patches {
                read_numbers(out, &mut diff)?;
            } else if diff.has_patches {
                read_patches(out, &mut diff)?;
            }
            diff.files = diff
                .files
                .into_iter()
                .filter_map(|file| self.in_project(file))
                .collect();
            diff.sum();
            Ok(diff)
        })
    }

    /// A change with nothing known about its lines yet, under the names git has for it.
    fn patched(&self, change: Change, is_here: bool, access: &Access) -> Result<Patched, GitError> {
        let is_unmerged = change.parents > 1 || change.status == Status::Unmerged;
        let mut file = Patched {
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
            withheld: false,
            patch: String::new(),
        };
        // What is left of a path without its prefix is what the rules of the project are about.
        let place = self.runner.place();
        let allows = |name: &str| {
            let name = place.in_project(name).unwrap_or(name);
            RepoPath::parse(name).is_ok_and(|name| access.allows(&name))
        };
        let is_allowed = file.names().all(allows);
        file.withheld = !is_allowed;
        if file
            .names()
            .any(|name| name.starts_with('/') || name.split('/').any(|part| part == ".."))
        {
            return Err(GitError::Refused("its index names files outside the project"));
        }
        let is_submodule = [&file.change.old_mode, &file.change.new_mode].contains(&&"160000".to_owned());
        if is_here && is_submodule && !self.has_submodule(&file.change.path) {
            file.withheld = true;
        }
        Ok(file)
    }

    /// Whether the directory is a submodule as git makes them: inside, or in the repository's own `modules`.
    fn has_submodule(&self, path: &str) -> bool {
        let place = self.runner.place();
        let dot_git = place.directory().join(path).join(".git");
        let Ok(end) = dot_git.canonicalize() else {
            return false;
        };
        if end != dot_git {
            return false;
        }
        match place::target(&dot_git) {
            None => dot_git.is_dir() && !dot_git.join("commondir").exists(),
            Some(target) => target.starts_with(place.common.join("modules")),
        }
    }

    /// The same file by its names in the project; nothing if it is outside.
    fn in_project(&self, file: Patched) -> Option<Patched> {
        let change = self.within(vec![file.change]).pop()?;
        Some(Patched { change, ..file })
    }

    /// Files in conflict have three versions, which git shows in a form of their own and only alone.
    fn add_conflicts(
        &self,
        diff: &mut Diff,
        with_patches: bool,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let conflicted: HashSet<String> = diff
            .files
            .iter()
            .filter(|file| file.change.status == Status::Unmerged)
            .map(|file| file.change.path.clone())
            .collect();
        // git lists a file in conflict once more for what it is on disk.
        let mut listed = HashSet::new();
        diff.files.retain(|file| {
            let path = &file.change.path;
            !conflicted.contains(path)
                || (file.change.status == Status::Unmerged && listed.insert(path.clone()))
        });
        let is_shown = |file: &&mut Patched| file.change.status == Status::Unmerged && !file.withheld;
        for file in diff.files.iter_mut().filter(is_shown).take(MOST_CONFLICTS) {
            self.add_conflict(file, deadline)?;
            if !with_patches {
                file.patch.clear();
            }
        }
        diff.sum();
        Ok(())
    }

    fn add_conflict(&self, file: &mut Patched, deadline: &Deadline) -> Result<(), GitError> {
        const MOST_BYTES: usize = 100_000;
        let path = self.runner.place().in_repository(&file.change.path);
        let mut command = self.runner.command("diff");
        command.args(COMPARE.iter().filter(|option| **option != "--raw"));
        command.args(["-U3", "--diff-filter=U", "--", &path]);
        let header = format!("diff --cc {}", quoted(&path));
        stream(command, None, deadline, |out| {
            let mut line = Vec::new();
            let mut in_file = false;
            let mut in_hunk = false;
            while next_line(out, &mut line)? {
                let text = String::from_utf8_lossy(&line);
                if text.starts_with("diff --") {
                    (in_file, in_hunk) = (text == header, false);
                    continue;
                }
                in_hunk |= in_file && text.starts_with("@@@");
                if !in_hunk {
                    continue;
                }
                if !text.starts_with("@@@") {
                    let sides = text.get(..2).unwrap_or_default();
                    file.insertions += u64::from(sides.contains('+'));
                    file.deletions += u64::from(sides.contains('-'));
                }
                if file.patch.len() < MOST_BYTES {
                    file.patch.push_str(&text);
                    file.patch.push('\n');
                }
            }
            Ok(())
        })
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

    fn sum(&mut self) {
        self.insertions = self.files.iter().map(|file| file.insertions).sum();
        self.deletions = self.files.iter().map(|file| file.deletions).sum();
    }

    fn drop_patches(&mut self) {
        self.has_patches = false;
        for file in &mut self.files {
            file.patch = String::new();
        }
    }
}

impl Patched {
    /// What it is called, and what it was called before.
    fn names(&self) -> impl Iterator<Item = &str> {
        [Some(self.change.path.as_str()), self.change.from.as_deref()]
            .into_iter()
            .flatten()
    }

    /// Whether a patch with that header is about this file.
    fn has_header(&self, line: &[u8]) -> bool {
        let new = &self.change.path;
        let old = self.change.from.as_ref().unwrap_or(new);
        let header = format!("diff --git {} {}", quoted(old), quoted(new));
        // Headers of very long names are cut, and then tell nothing.
        self.change.status != Status::Unmerged
            && header.len() <= LONGEST_LINE
            && String::from_utf8_lossy(line) == header
    }
}

/// `INSERTED\tDELETED\tPATH\0` for each file, `-` for binary ones; renames have an empty path and two more fields.
fn read_numbers(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    // git lists files in the same order both times; a file in conflict may be among them or not.
    let mut files = diff.files.iter_mut();
    while peek(out)?.is_some() {
        let text = field(out)?;
        let mut parts = text.splitn(3, '\t');
        let (Some(inserted), Some(deleted), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let path = if path.is_empty() {
            field(out)?;
            field(out)?
        } else {
            path.to_owned()
        };
        let Some(file) = files.find(|file| file.change.path == path) else {
            return Err(GitError::BrokenOff);
        };
        // A binary file that was only moved has not changed as one.
        file.binary = inserted == "-" && !file.change.same_content;
        file.insertions = inserted.parse().unwrap_or(0);
        file.deletions = deleted.parse().unwrap_or(0);
    }
    Ok(())
}

/// Patches, in the order of the files, each with a header that names its file. A file that changed its type has two:
/// one that ends and one that begins.
fn read_patches(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    let mut ahead = 0..diff.files.len();
    let mut at = None;
    let mut changed = 0;
    // Lines left in the hunk, of the old and of the new side: inside, nothing is a header.
    let mut left = (0_u64, 0_u64);
    let mut line = Vec::new();
    if peek(out)? == Some(0) {
        out.consume(1);
    }
    while next_line(out, &mut line)? {
        if left == (0, 0) && line.starts_with(b"diff --git ") {
            let names = |at: usize| diff.files[at].has_header(&line);
            let is_second =
                at.is_some_and(|at: usize| diff.files[at].change.status == Status::TypeChanged && names(at));
            if !is_second {
                at = ahead.find(|at| names(*at));
            }
            if at.is_none() {
                return Err(GitError::BrokenOff);
            }
            continue;
        }
        let Some(file) = at.map(|at| &mut diff.files[at]) else {
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
                    changed += 1;
                }
                Some(b'-') => {
                    left.0 = left.0.saturating_sub(1);
                    file.deletions += 1;
                    changed += 1;
                }
                Some(b'\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
        }
        if diff.has_patches && !file.withheld {
            file.patch.push_str(&String::from_utf8_lossy(&line));
            file.patch.push('\n');
            if changed > MOST_LINES {
                diff.drop_patches();
            }
        }
    }
    Ok(())
}

/// A name as git writes it in headers: in quotes where it has characters that need them.
fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !(c.is_ascii_control() || matches!(c, '"' | '\\'));
    if name.chars().all(is_plain) {
        return name.into();
    }
    let mut quoted = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            c if is_plain(c) => quoted.push(c),
            c => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted.into()
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
    let end = until(out, b'\n', LONGEST_LINE, line)?;
    if end == End::Cut {
        line.extend_from_slice(" … (line cut)".as_bytes());
    }
    Ok(end != End::Nothing || !line.is_empty())
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
    fn names_are_quoted_as_git_does() {
        assert_eq!(quoted("a b/größe"), "a b/größe");
        assert_eq!(quoted("t\tab\"\\\u{1}"), r#""t\tab\"\\\001""#);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let text = format!("{}\nshort\n", "x".repeat(100_000));
        let mut out = std::io::BufReader::with_capacity(1_000, text.as_bytes());
        let mut line = Vec::new();
        assert!(next_line(&mut out, &mut line).unwrap());
        assert!(line.len() < 4_100 && line.ends_with("(line cut)".as_bytes()));
        assert!(next_line(&mut out, &mut line).unwrap());
        assert_eq!(line, b"short");
        assert!(!next_line(&mut out, &mut line).unwrap());
    }
}
