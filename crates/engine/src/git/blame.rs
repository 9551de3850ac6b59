//! `git blame`: who last changed each line of a file as it is in the working tree.
//!
//! The answer for an unmodified file cannot change, because its commit names it, so it is cached.
//!
//! Invariant: docent reads a modified file by handle, without following links, and passes it to git. Git
//! itself would follow a directory that was replaced by a link.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use docent_core::path::RepoPath;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::command::{read_output, stream};
use super::location::GitFileStamp;
use super::objects::{MAX_OBJECT_BYTES, ResolvedObject};
use super::raw::{FieldEnd, peek, read_change, read_until};
use super::{Git, GitError, Repository, shorten};
use crate::deadline::Deadline;
use crate::files::{FileError, TrackedFile};

/// The lines to blame, counted from 1 and inclusive.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlameRange {
    pub start: Option<usize>,
    pub end: Option<usize>,
    /// Characters of the answer. Lines beyond it are not blamed.
    pub max_chars: usize,
}

/// The blamed lines of a file.
#[derive(Clone, Debug)]
pub struct Blame {
    pub lines: Vec<BlamedLine>,
    /// In the order of their first line.
    pub commits: Vec<Attribution>,
    /// Lines of the file.
    pub total: usize,
    /// The last requested line, which `lines` may not reach.
    pub end: usize,
    /// The file differs from the last commit.
    pub modified: bool,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    pub number: usize,
    pub text: String,
    /// Index into [`Blame::commits`].
    pub commit: usize,
}

/// The commit that a line comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    pub id: String,
    pub short: String,
    pub author: String,
    pub email: String,
    /// The date in the author's time zone: `2025-10-09`.
    pub date: String,
    pub subject: String,
    /// The oldest commit of a shallow clone: the line may be older.
    pub boundary: bool,
    /// The lines are not committed yet.
    pub uncommitted: bool,
}

/// A version of a file: its commit, and the hash of its content if it was changed since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlameKey {
    commit: String,
    path: String,
    content: Option<u64>,
    circumstances: GitFileStamp,
}

/// The lines of a version that were blamed so far.
#[derive(Clone, Debug, Default)]
pub(super) struct BlamedVersion {
    modified: bool,
    /// For each line its index in `commits`. `None` before it was blamed.
    lines: Vec<Option<u32>>,
    commits: Vec<Attribution>,
}

/// The content that is blamed.
struct BlamedFile {
    content: Vec<u8>,
    /// It differs from the last commit.
    is_changed: bool,
    /// The working tree does not have the file.
    is_gone: bool,
    /// It was a link in the last commit and is a file now, or the other way round.
    has_other_type: bool,
}

impl BlamedFile {
    fn committed(content: Vec<u8>) -> Self {
        Self {
            content,
            is_changed: false,
            is_gone: false,
            has_other_type: false,
        }
    }
}

/// Longer subjects and names are cut.
const MAX_HEADER_BYTES: usize = 32 << 10;

/// Characters of a line that are shown at most.
const MAX_LINE_CHARS: usize = 1_000;

/// Characters that an answer puts before a line of the file.
const LINE_MARGIN_CHARS: usize = 30;

impl Git {
    /// Blames the requested lines of `path`.
    pub fn blame(
        &self,
        path: &RepoPath,
        requested: BlameRange,
        deadline: &Deadline,
    ) -> Result<Blame, GitError> {
        if !self.root.access().allows(path) {
            return Err(GitError::Blocked(path.to_string()));
        }
        self.answer(deadline, |repository| {
            self.blame_in(repository, path, requested, deadline)
        })
    }

    fn blame_in(
        &self,
        repository: &Repository,
        path: &RepoPath,
        requested: BlameRange,
        deadline: &Deadline,
    ) -> Result<Blame, GitError> {
        let head = repository
            .head(deadline)?
            .ok_or_else(|| GitError::UntrackedYet(path.to_string()))?;
        let name = repository.repo_path(path);
        let object = repository.objects.find(&format!("{head}:{name}"), deadline)?;
        let committed = object.filter(|object| object.kind == "blob");
        if committed.is_none() {
            if repository.read_mode(path, deadline)?.starts_with("100") {
                return Err(GitError::Incomplete);
            }
            if let Some((submodule, inner)) = self.open_submodule(repository, path, deadline)? {
                return submodule.blame(&inner, requested, deadline);
            }
            self.check_staged_rename(repository, path, deadline)?;
        }
        let current = self.read_current(repository, path, committed.as_ref(), deadline)?;

        let text = &current.content[..];
        if text.iter().take(8_000).any(|byte| *byte == 0) {
            return Err(GitError::Binary(path.to_string()));
        }
        let texts: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let (start, end) = resolve_range(requested, texts.len())?;
        let last = start + count_fitting(&texts[start - 1..end], requested.max_chars);

        let version = BlameKey {
            commit: head,
            path: name,
            content: current.is_changed.then(|| hash_content(text)),
            circumstances: repository.runner.location().circumstances(),
        };
        let blamed = if current.has_other_type {
            Arc::new(BlamedVersion::uncommitted(texts.len(), version.commit.len()))
        } else {
            let lines = (start, last - 1, texts.len());
            self.blame_version(repository, &version, text, lines, deadline)?
        };
        let mut blame = blamed.part(start, &texts[start - 1..last - 1], texts.len(), end);
        blame.modified |= current.is_gone;
        let today = repository.runner.today();
        let digits = repository.id_digits(deadline)?;
        for commit in &mut blame.commits {
            commit.short = shorten(&commit.id, digits);
            if commit.uncommitted {
                today.clone_into(&mut commit.date);
            }
        }
        Ok(blame)
    }

    /// Refuses a file that is not in the last commit, unless it was renamed in the index.
    fn check_staged_rename(
        &self,
        repository: &Repository,
        path: &RepoPath,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let old = repository.find_staged_rename(&repository.repo_path(path), deadline)?;
        let old = old.ok_or_else(|| GitError::Untracked(path.to_string()))?;
        // The rules apply to the old name as well.
        let location = repository.runner.location();
        let old = RepoPath::parse(location.in_project(&old).unwrap_or(&old));
        if old.is_ok_and(|old| self.root.access().allows(&old)) {
            Ok(())
        } else {
            Err(GitError::Blocked(path.to_string()))
        }
    }

    /// The file in the working tree, or in the commit if the working tree does not have it. A link is the
    /// name of its target, as in git.
    fn read_current(
        &self,
        repository: &Repository,
        path: &RepoPath,
        committed: Option<&ResolvedObject>,
        deadline: &Deadline,
    ) -> Result<BlamedFile, GitError> {
        if committed.is_some_and(|committed| committed.size > MAX_OBJECT_BYTES) {
            return Err(GitError::TooLarge(path.to_string()));
        }
        let (content, is_link) = match self.read_work_file(repository, path)? {
            Some((content, is_link)) => (Some(content), is_link),
            None => (None, false),
        };
        let Some(committed) = committed else {
            let content = content.ok_or_else(|| GitError::Untracked(path.to_string()))?;
            return Ok(BlamedFile {
                is_changed: true,
                ..BlamedFile::committed(content)
            });
        };
        // A known hash of the blob saves reading it from git again.
        let content = match content {
            Some(content)
                if !is_link && self.content_hashes.get(&committed.id) == Some(hash_content(&content)) =>
            {
                return Ok(BlamedFile::committed(content));
            }
            content => content,
        };
        let before = repository.objects.content(&committed.id, deadline)?;
        let Some(content) = content else {
            return Ok(BlamedFile {
                is_gone: repository.runner.location().work_tree.is_some(),
                ..BlamedFile::committed(before)
            });
        };
        // Only the blob of a link can be the name of a target. Only then is a process for the mode worth it.
        let may_be_link = before.len() < 4_096 && !before.contains(&b'\n');
        let was_link = may_be_link && repository.read_mode(path, deadline)? == "120000";
        // Windows has links as files with the target's name in them.
        let has_other_type = is_link != was_link && !(cfg!(not(unix)) && content == before);
        if !was_link {
            self.content_hashes
                .insert(committed.id.clone(), hash_content(&before));
        }
        Ok(BlamedFile {
            is_changed: has_other_type || content != before,
            has_other_type,
            ..BlamedFile::committed(content)
        })
    }

    /// The file of the working tree, and whether it is a link. `None` if there is none.
    fn read_work_file(
        &self,
        repository: &Repository,
        path: &RepoPath,
    ) -> Result<Option<(Vec<u8>, bool)>, GitError> {
        if repository.runner.location().work_tree.is_none() {
            return Ok(None);
        }
        match self.root.read_tracked(path.as_str().as_ref(), MAX_OBJECT_BYTES) {
            Ok(TrackedFile::Regular { bytes, .. }) => Ok(Some((bytes, false))),
            Ok(TrackedFile::Link(target)) => Ok(Some((target.into_os_string().into_encoded_bytes(), true))),
            Ok(TrackedFile::Directory | TrackedFile::Absent) => Ok(None),
            Ok(TrackedFile::Large { .. }) => Err(GitError::TooLarge(path.to_string())),
            Err(FileError::Denied) => Err(GitError::Denied),
            Err(FileError::Io(error)) => Err(GitError::Pipe(error)),
            Err(_) => Err(GitError::Blocked(path.to_string())),
        }
    }

    /// Lines `first` to `last` of a version, from the cache as far as it has them, else from git.
    fn blame_version(
        &self,
        repository: &Repository,
        version: &BlameKey,
        text: &[u8],
        (first, last, total): (usize, usize, usize),
        deadline: &Deadline,
    ) -> Result<Arc<BlamedVersion>, GitError> {
        let cached = self.blamed.get(version);
        let is_missing = |at: &usize| {
            cached
                .as_ref()
                .is_none_or(|cached| cached.lines[at - 1].is_none())
        };
        let missing = (first..=last)
            .find(is_missing)
            .zip((first..=last).rfind(is_missing));
        let mut next = match (cached, missing) {
            (Some(cached), None) => return Ok(cached),
            (Some(cached), _) => (*cached).clone(),
            (None, _) => BlamedVersion::default(),
        };
        next.lines.resize(total, None);
        if let Some((from, to)) = missing {
            repository.blame(version, text, (from, to), &mut next, deadline)?;
        }
        next.modified = version.content.is_some() && repository.is_modified(version, deadline)?;
        let next = Arc::new(next);
        self.blamed.insert(version.clone(), next.clone());
        Ok(next)
    }
}

impl Repository {
    /// Runs `git blame` for lines `from` to `to`, and adds its answer to `blamed`.
    fn blame(
        &self,
        version: &BlameKey,
        text: &[u8],
        (from, to): (usize, usize),
        blamed: &mut BlamedVersion,
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
        let mut indexes: HashMap<String, u32> = HashMap::new();
        for (commit, at) in blamed.commits.iter().zip(0..) {
            indexes.insert(commit.id.clone(), at);
        }
        stream(command, input, deadline, |out| {
            let mut line = Vec::new();
            let mut current = None;
            while read_until(out, b'\n', MAX_HEADER_BYTES, &mut line)? != FieldEnd::EndOfInput {
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
                    let at = *indexes.entry(word.to_owned()).or_insert_with(|| {
                        blamed.commits.push(Attribution {
                            id: word.to_owned(),
                            uncommitted: word.bytes().all(|byte| byte == b'0'),
                            ..Attribution::default()
                        });
                        u32::try_from(blamed.commits.len() - 1).expect("a file has fewer lines")
                    });
                    if let Some(line) = number.checked_sub(1).and_then(|at| blamed.lines.get_mut(at)) {
                        *line = Some(at);
                    }
                    current = Some(at as usize);
                } else if let Some(at) = current {
                    blamed.commits[at].set_header(word, rest);
                }
            }
            Ok(())
        })?;
        // Git calls a root commit a boundary too.
        let is_shallow = self.runner.location().is_shallow();
        for commit in &mut blamed.commits {
            commit.boundary &= is_shallow;
        }
        Ok(())
    }

    /// Whether git sees a difference, line ends and filters considered.
    fn is_modified(&self, version: &BlameKey, deadline: &Deadline) -> Result<bool, GitError> {
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
        Ok(read_output(command, 1_000, deadline)?.1 != Some(0))
    }

    /// The name in the last commit of a file that the index has under another one. `None` if it has no other.
    fn find_staged_rename(&self, name: &str, deadline: &Deadline) -> Result<Option<String>, GitError> {
        let mut command = self.runner.command("diff");
        command.args(["--cached", "--raw", "-z", "-M", "-l1000", "--diff-filter=R"]);
        command.args([
            "--no-abbrev",
            "--no-ext-diff",
            "--no-textconv",
            "--no-relative",
            "HEAD",
            "--",
        ]);
        stream(command, None, deadline, |out| {
            while peek(out)? == Some(b':') {
                let change = read_change(out)?;
                if change.path == name {
                    return Ok(change.from);
                }
            }
            Ok(None)
        })
    }

    /// The mode of the entry in the last commit: `100644`, `120000` for a link, empty for none.
    fn read_mode(&self, path: &RepoPath, deadline: &Deadline) -> Result<String, GitError> {
        let mut command = self.runner.command("ls-tree");
        command.args(["HEAD", "--", &self.repo_path(path)]);
        let text = super::command::read_text(command, 10_000, deadline)?;
        Ok(text.split(' ').next().unwrap_or_default().to_owned())
    }
}

impl BlamedVersion {
    /// A version of which no line is in any commit.
    fn uncommitted(lines: usize, id_digits: usize) -> Self {
        let mut nobody = Attribution {
            id: "0".repeat(id_digits),
            uncommitted: true,
            ..Attribution::default()
        };
        nobody.set_header("author", "");
        Self {
            modified: true,
            lines: vec![Some(0); lines],
            commits: vec![nobody],
        }
    }

    /// The lines from `start` on, with only the commits that they come from.
    fn part(&self, start: usize, texts: &[&[u8]], total: usize, end: usize) -> Blame {
        let mut commits = Vec::new();
        let mut indexes = HashMap::new();
        let mut lines = Vec::new();
        for (number, text) in (start..).zip(texts) {
            let Some(at) = self.lines[number - 1] else {
                continue;
            };
            let commit = *indexes.entry(at).or_insert_with(|| {
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

    /// Approximate size in bytes.
    pub(super) fn weight(&self) -> u64 {
        (self.lines.len() * 8 + self.commits.len() * 300) as u64
    }
}

impl Attribution {
    /// Reads a header line of `git blame --porcelain`.
    fn set_header(&mut self, key: &str, value: &str) {
        match key {
            "author" => value.clone_into(&mut self.author),
            "author-mail" => value
                .trim_start_matches('<')
                .trim_end_matches('>')
                .clone_into(&mut self.email),
            // The seconds stay here until the next header, the time zone, makes them a date.
            "author-time" => value.clone_into(&mut self.date),
            "author-tz" => self.date = author_date(&self.date, value).unwrap_or_default(),
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

/// The date in the author's time zone, from seconds since 1970 and an offset such as `+0200`.
fn author_date(seconds: &str, zone: &str) -> Option<String> {
    let time = Timestamp::from_second(seconds.parse().ok()?).ok()?;
    let zone: i32 = zone.parse().ok()?;
    let zone = if zone.abs() <= 9_999 { zone } else { 0 };
    let offset = Offset::from_seconds((zone / 100 * 60 + zone % 100) * 60).unwrap_or(Offset::UTC);
    Some(offset.to_datetime(time).date().to_string())
}

/// The requested lines by git's rules: an end beyond the file means its last line.
fn resolve_range(requested: BlameRange, lines: usize) -> Result<(usize, usize), GitError> {
    let start = requested.start.unwrap_or(1);
    let end = requested.end.unwrap_or(lines);
    let is_empty_file = lines == 0 && requested.start.is_none() && requested.end.is_none();
    if !is_empty_file && (start == 0 || start > lines || end < start) {
        return Err(GitError::LineRange { start, end, lines });
    }
    Ok((start, end.min(lines)))
}

/// How many lines fit into the answer, at least one.
fn count_fitting(lines: &[&[u8]], max_chars: usize) -> usize {
    let mut used = 0_usize;
    let fits = |line: &&&[u8]| {
        let is_first = used == 0;
        used = used.saturating_add(LINE_MARGIN_CHARS + line.len().min(MAX_LINE_CHARS) / 4);
        is_first || used <= max_chars
    };
    lines.iter().take_while(fits).count()
}

fn hash_content(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_in_the_authors_time_zone() {
        assert_eq!(author_date("1760043600", "+0000").as_deref(), Some("2025-10-09"));
        assert_eq!(author_date("1760043600", "+0300").as_deref(), Some("2025-10-10"));
        assert_eq!(author_date("1760043600", "-1100").as_deref(), Some("2025-10-09"));
        assert_eq!(author_date("0", "+9999").as_deref(), Some("1970-01-01"));
        assert_eq!(author_date("0", "+2147483647").as_deref(), Some("1970-01-01"));
        assert_eq!(author_date("x", "+0000"), None);
    }

    #[test]
    fn ranges_follow_the_rules_of_git() {
        let range = |start, end, lines| {
            resolve_range(
                BlameRange {
                    start,
                    end,
                    max_chars: 0,
                },
                lines,
            )
            .ok()
        };
        assert_eq!(range(None, None, 3), Some((1, 3)));
        assert_eq!(range(Some(2), Some(99), 3), Some((2, 3)));
        assert_eq!(range(None, None, 0), Some((1, 0)));
        for (start, end) in [(Some(4), None), (Some(0), None), (Some(3), Some(2))] {
            assert_eq!(range(start, end, 3), None);
        }
        assert_eq!(range(Some(1), None, 0), None);
    }
}
