//! `git blame`: who last changed each line of a file as it is in the working tree.
//!
//! A file that is as its last commit has it is blamed by that commit, so the answer cannot change and is kept. One that
//! has been changed is handed to git by us, read through the guard: git would follow a directory that was replaced
//! by a link.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use docent_core::path::RepoPath;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::command::{output, stream};
use super::objects::{MAX_OBJECT_BYTES, ResolvedObject};
use super::place::GitFileStamp;
use super::raw::{FieldEnd, until};
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;
use crate::files::FileError;

/// Which lines are wanted, counted from 1 and inclusive.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlameRange {
    pub start: Option<usize>,
    pub end: Option<usize>,
    /// Characters there is room for. Lines that cannot be shown are not asked about.
    pub room: usize,
}

/// Who changed what.
#[derive(Clone, Debug)]
pub struct Blame {
    pub lines: Vec<BlamedLine>,
    /// In the order of their first line.
    pub commits: Vec<Attribution>,
    /// How many lines the file has.
    pub total: usize,
    /// The last line wanted, which `lines` may not reach.
    pub end: usize,
    /// True when the file is not as the last commit has it.
    pub modified: bool,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    pub number: usize,
    pub text: String,
    /// Which of the commits.
    pub commit: usize,
}

/// The commit a line comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    pub id: String,
    pub short: String,
    pub author: String,
    pub email: String,
    /// The author's day: `2025-10-09`.
    pub date: String,
    pub subject: String,
    /// True where a shallow clone ends: the line may be older.
    pub boundary: bool,
    /// True for lines that no commit has yet.
    pub uncommitted: bool,
}

/// A version of a file: its commit, and what it was changed to since, if it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Version {
    commit: String,
    path: String,
    content: Option<u64>,
    circumstances: GitFileStamp,
}

/// What is known about a version's lines.
#[derive(Clone, Debug, Default)]
pub(super) struct BlamedVersion {
    modified: bool,
    /// For each line its place in `commits`.
    lines: Vec<Option<u32>>,
    commits: Vec<Attribution>,
}

/// A file as it is blamed.
struct BlamedFile {
    content: Vec<u8>,
    /// It is not what the last commit has.
    is_changed: bool,
    /// It is no more in the working tree.
    is_gone: bool,
}

impl BlamedFile {
    fn committed(content: Vec<u8>) -> Self {
        Self {
            content,
            is_changed: false,
            is_gone: false,
        }
    }
}

/// Subjects and names beyond this are cut.
const MAX_HEADER_BYTES: usize = 32 << 10;

/// Characters of a line that are shown at most, whoever shows it.
const MAX_LINE_CHARS: usize = 1_000;

/// Characters that stand before a line of the file.
const MARGIN: usize = 30;

impl Git {
    /// Who last changed the wanted lines of `path`.
    pub fn blame(&self, path: &RepoPath, wanted: BlameRange, deadline: &Deadline) -> Result<Blame, GitError> {
        if !self.root.access().allows(path) {
            return Err(GitError::Blocked(path.to_string()));
        }
        let repository = self.repository(deadline)?;
        let untracked = || GitError::Untracked(path.to_string());
        let head = repository.head(deadline)?.ok_or_else(untracked)?;
        let name = repository.path(path);
        let found = repository.objects.find(&format!("{head}:{name}"), deadline)?;
        let Some(found) = found.filter(|found| found.kind == "blob") else {
            return Err(if repository.mode(path, deadline)?.starts_with("100") {
                GitError::Incomplete
            } else {
                untracked()
            });
        };
        let current = self.current(&repository, path, &found, deadline)?;

        let text = &current.content[..];
        if text.iter().take(8_000).any(|byte| *byte == 0) {
            return Err(GitError::Binary(path.to_string()));
        }
        let texts: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let (start, end) = range(wanted, texts.len())?;
        let last = start + fitting(&texts[start - 1..end], wanted.room);

        let version = Version {
            commit: head,
            path: name,
            content: current.is_changed.then(|| hash(text)),
            circumstances: repository.runner.place().circumstances(),
        };
        let known = self.known(
            &repository,
            &version,
            text,
            (start, last - 1, texts.len()),
            deadline,
        )?;
        let mut blame = known.part(start, &texts[start - 1..last - 1], texts.len(), end);
        blame.modified |= current.is_gone;
        let today = repository.runner.today();
        for commit in &mut blame.commits {
            commit.short = repository.short(&commit.id);
            if commit.uncommitted {
                today.clone_into(&mut commit.date);
            }
        }
        Ok(blame)
    }

    /// The file as it is in the working tree; as the commit has it where it is gone from there.
    fn current(
        &self,
        repository: &Repository,
        path: &RepoPath,
        committed: &ResolvedObject,
        deadline: &Deadline,
    ) -> Result<BlamedFile, GitError> {
        if committed.size > MAX_OBJECT_BYTES {
            return Err(GitError::TooLarge(path.to_string()));
        }
        let content = match repository.runner.place().work_tree {
            None => None,
            Some(_) => match self.root.read(path, MAX_OBJECT_BYTES) {
                Ok(content) => Some(content.bytes),
                Err(FileError::Missing | FileError::Directory | FileError::Special) => None,
                Err(FileError::TooLarge { .. }) => return Err(GitError::TooLarge(path.to_string())),
                Err(FileError::Blocked | FileError::Outside | FileError::Link) => {
                    return Err(GitError::Blocked(path.to_string()));
                }
                Err(FileError::Denied) => return Err(GitError::Denied),
                Err(FileError::Io(error)) => return Err(GitError::Pipe(error)),
            },
        };
        // The same bytes were compared before; that saves asking git for them again.
        let content = match content {
            Some(content) if self.contents.get(&committed.id) == Some(hash(&content)) => {
                return Ok(BlamedFile::committed(content));
            }
            content => content,
        };
        let before = repository.objects.content(&committed.id, deadline)?;
        self.contents.insert(committed.id.clone(), hash(&before));
        match content {
            Some(content) if content != before => {
                // What git keeps of a link is where it leads, and that is what it blames.
                if before.len() < 4_096 && repository.mode(path, deadline)? == "120000" {
                    return Ok(BlamedFile::committed(before));
                }
                Ok(BlamedFile {
                    content,
                    is_changed: true,
                    is_gone: false,
                })
            }
            None if repository.runner.place().work_tree.is_some() => Ok(BlamedFile {
                content: before,
                is_changed: false,
                is_gone: true,
            }),
            _ => Ok(BlamedFile::committed(before)),
        }
    }

    /// The version's lines `first` to `last`, from what was learned before and what git adds to it.
    fn known(
        &self,
        repository: &Repository,
        version: &Version,
        text: &[u8],
        (first, last, total): (usize, usize, usize),
        deadline: &Deadline,
    ) -> Result<Arc<BlamedVersion>, GitError> {
        let known = self.blamed.get(version);
        let is_missing = |at: &usize| known.as_ref().is_none_or(|known| known.lines[at - 1].is_none());
        let missing = (first..=last)
            .find(is_missing)
            .zip((first..=last).rfind(is_missing));
        let (mut next, wanted) = match (known, missing) {
            (Some(known), None) => return Ok(known),
            (known, missing) => (
                known.map_or_else(BlamedVersion::default, |known| (*known).clone()),
                missing,
            ),
        };
        next.lines.resize(total, None);
        if let Some((from, to)) = wanted {
            repository.blame(version, text, (from, to), &mut next, deadline)?;
        }
        next.modified = version.content.is_some() && repository.is_modified(version, deadline)?;
        let next = Arc::new(next);
        self.blamed.insert(version.clone(), next.clone());
        Ok(next)
    }
}

impl Repository {
    /// Adds to `known` what git says about lines `from` to `to`.
    fn blame(
        &self,
        version: &Version,
        text: &[u8],
        (from, to): (usize, usize),
        known: &mut BlamedVersion,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let mut command = self.runner.command("blame");
        command.args(["--porcelain", "--encoding=UTF-8", "--no-textconv"]);
        command.arg(format!("-L{from},{to}"));
        let input = if version.content.is_some() {
            command.args(["--contents", "-"]);
            Some(text)
        } else {
            command.arg(&version.commit);
            None
        };
        command.arg("--").arg(&version.path);
        let mut places: HashMap<String, u32> = HashMap::new();
        for (commit, at) in known.commits.iter().zip(0..) {
            places.insert(commit.id.clone(), at);
        }
        stream(command, input, deadline, |out| {
            let mut line = Vec::new();
            let mut current = None;
            while until(out, b'\n', MAX_HEADER_BYTES, &mut line)? != FieldEnd::Nothing {
                if line.first() == Some(&b'\t') {
                    continue;
                }
                let text = String::from_utf8_lossy(&line);
                let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
                if super::objects::is_id(word) {
                    let number: usize = rest
                        .split(' ')
                        .nth(1)
                        .and_then(|number| number.parse().ok())
                        .unwrap_or(0);
                    let at = *places.entry(word.to_owned()).or_insert_with(|| {
                        known.commits.push(Attribution {
                            id: word.to_owned(),
                            uncommitted: word.bytes().all(|byte| byte == b'0'),
                            ..Attribution::default()
                        });
                        u32::try_from(known.commits.len() - 1).expect("a file has fewer lines")
                    });
                    if let Some(place) = number.checked_sub(1).and_then(|at| known.lines.get_mut(at)) {
                        *place = Some(at);
                    }
                    current = Some(at as usize);
                } else if let Some(at) = current {
                    known.commits[at].learn(word, rest);
                }
            }
            Ok(())
        })?;
        // git calls a root commit a boundary too.
        let is_shallow = self.runner.place().is_shallow();
        for commit in &mut known.commits {
            commit.boundary &= is_shallow;
        }
        Ok(())
    }

    /// Whether git sees a difference, line ends and filters considered.
    fn is_modified(&self, version: &Version, deadline: &Deadline) -> Result<bool, GitError> {
        let mut command = self.runner.command("diff");
        command.args([
            "--quiet",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            &version.commit,
            "--",
            &version.path,
        ]);
        Ok(output(command, 1_000, deadline)?.1 != Some(0))
    }

    /// What kind of entry the last commit has under that name: `100644`, `120000` for a link; empty for none.
    fn mode(&self, path: &RepoPath, deadline: &Deadline) -> Result<String, GitError> {
        let mut command = self.runner.command("ls-tree");
        command.args(["HEAD", "--", &self.path(path)]);
        let text = super::command::text(command, 10_000, deadline)?;
        Ok(text.split(' ').next().unwrap_or_default().to_owned())
    }
}

impl BlamedVersion {
    fn part(&self, start: usize, texts: &[&[u8]], total: usize, end: usize) -> Blame {
        let mut commits = Vec::new();
        let mut places = HashMap::new();
        let mut lines = Vec::new();
        for (number, text) in (start..).zip(texts) {
            let Some(at) = self.lines[number - 1] else {
                continue;
            };
            let commit = *places.entry(at).or_insert_with(|| {
                commits.push(self.commits[at as usize].clone());
                commits.len() - 1
            });
            let text = String::from_utf8_lossy(text)
                .trim_end_matches(['\n', '\r'])
                .to_owned();
            lines.push(BlamedLine { number, text, commit });
        }
        Blame {
            lines,
            commits,
            total,
            end,
            modified: self.modified,
        }
    }

    /// Roughly the bytes it takes.
    pub(super) fn weight(&self) -> u64 {
        (self.lines.len() * 8 + self.commits.len() * 300) as u64
    }
}

impl Attribution {
    fn learn(&mut self, key: &str, value: &str) {
        match key {
            "author" => value.clone_into(&mut self.author),
            "author-mail" => value
                .trim_start_matches('<')
                .trim_end_matches('>')
                .clone_into(&mut self.email),
            // Kept as it is until the zone, which comes next, makes a day of it.
            "author-time" => value.clone_into(&mut self.date),
            "author-tz" => self.date = day(&self.date, value).unwrap_or_default(),
            "summary" => value.clone_into(&mut self.subject),
            "boundary" => self.boundary = true,
            _ => {}
        }
        if self.uncommitted {
            "Not committed yet".clone_into(&mut self.author);
            self.email.clear();
            "Changes that are not committed".clone_into(&mut self.subject);
        }
    }
}

/// The day it was where the author was: seconds since 1970 and a zone such as `+0200`.
fn day(seconds: &str, zone: &str) -> Option<String> {
    let time = Timestamp::from_second(seconds.parse().ok()?).ok()?;
    let zone: i32 = zone.parse().ok()?;
    let zone = if zone.abs() <= 9_999 { zone } else { 0 };
    let offset = Offset::from_seconds((zone / 100 * 60 + zone % 100) * 60).unwrap_or(Offset::UTC);
    Some(offset.to_datetime(time).date().to_string())
}

/// The lines wanted, held against the lines there are; git's own rules: an end beyond the file's is the file's.
fn range(wanted: BlameRange, lines: usize) -> Result<(usize, usize), GitError> {
    let start = wanted.start.unwrap_or(1);
    let end = wanted.end.unwrap_or(lines);
    let is_empty_file = lines == 0 && wanted.start.is_none() && wanted.end.is_none();
    if !is_empty_file && (start == 0 || start > lines || end < start) {
        return Err(GitError::LineRange { start, end, lines });
    }
    Ok((start, end.min(lines)))
}

/// How many of the lines there is room for, at least one.
fn fitting(lines: &[&[u8]], room: usize) -> usize {
    let mut used = 0_usize;
    let fits = |line: &&&[u8]| {
        let is_first = used == 0;
        used = used.saturating_add(MARGIN + line.len().min(MAX_LINE_CHARS) / 4);
        is_first || used <= room
    };
    lines.iter().take_while(fits).count()
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_authors() {
        assert_eq!(day("1760043600", "+0000").as_deref(), Some("2025-10-09"));
        assert_eq!(day("1760043600", "+0300").as_deref(), Some("2025-10-10"));
        assert_eq!(day("1760043600", "-1100").as_deref(), Some("2025-10-09"));
        assert_eq!(day("0", "+9999").as_deref(), Some("1970-01-01"));
        assert_eq!(day("0", "+2147483647").as_deref(), Some("1970-01-01"));
        assert_eq!(day("x", "+0000"), None);
    }

    #[test]
    fn ranges_follow_git() {
        let range = |start, end, lines| range(BlameRange { start, end, room: 0 }, lines).ok();
        assert_eq!(range(None, None, 3), Some((1, 3)));
        assert_eq!(range(Some(2), Some(99), 3), Some((2, 3)));
        assert_eq!(range(None, None, 0), Some((1, 0)));
        for (start, end) in [(Some(4), None), (Some(0), None), (Some(3), Some(2))] {
            assert_eq!(range(start, end, 3), None);
        }
        assert_eq!(range(Some(1), None, 0), None);
    }
}
