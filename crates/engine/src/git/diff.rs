//! `git diff`: the differences between two commits, or between a commit and the working tree.
//!
//! Changed lines are counted while git prints them, and patches beyond [`MAX_CHANGED_LINES`] are dropped, so
//! that memory does not grow with the difference.
//!
//! Invariant: the content of a file that the access rules block, under its new or its old name, is never
//! stored.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use docent_core::access::Access;
use docent_core::path::RepoPath;

use super::command::stream;
use super::links::find_submodule;
use super::location::GitFileStamp;
use super::patch::{next_line, quote_name, read_numbers, read_patches};
use super::raw::{ChangeStatus, ChangedFile, MAX_CHANGES, peek, read_change};
use super::work_tree::WorkTreeCopy;
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;
use crate::files::PrivateFolder;

/// The two sides of a comparison, as the caller named them.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffSides<'a> {
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    pub path: Option<&'a RepoPath>,
    pub patches: PatchLimit,
    /// Compares the last commit with the index. The sides are not used then.
    pub staged: bool,
}

/// How much of the patches a comparison keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PatchLimit {
    /// Only numbers of lines.
    #[default]
    Numbers,
    /// All patches, or none if there are more than [`MAX_CHANGED_LINES`].
    AllOrNone,
    /// The start of each file's patch, so that one long patch does not hide the others.
    PerFile,
}

/// The files that differ.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    pub files: Vec<FileDiff>,
    pub insertions: u64,
    pub deletions: u64,
    pub detail: DiffDetail,
}

/// Whether a [`Diff`] has patches, and if not, why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffDetail {
    Patches,
    /// Only numbers of lines, as requested.
    #[default]
    Numbers,
    /// Only numbers of lines: there are more than [`MAX_CHANGED_LINES`].
    TooLong,
    /// Only numbers of lines: a file name with a line end could pass for a part of a patch.
    LineEndInName,
}

/// A file that differs.
#[derive(Clone, Debug)]
pub struct FileDiff {
    pub change: ChangedFile,
    pub insertions: u64,
    pub deletions: u64,
    pub binary: bool,
    /// The access rules block the content.
    pub withheld: bool,
    /// Hunks, each with its header line.
    pub patch: String,
    /// The patch ends early, because it is too long to be kept.
    pub is_cut: bool,
}

/// Two commits and a path: the key of a cached [`Diff`], which cannot change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CommitPair {
    from: String,
    to: String,
    path: Option<String>,
    patches: PatchLimit,
    circumstances: GitFileStamp,
}

/// Differences with more changed lines than this have no patches, only numbers.
pub const MAX_CHANGED_LINES: u64 = 1_000;

/// Files in conflict whose patches are shown.
const MAX_SHOWN_CONFLICTS: usize = 50;

/// Options of every comparison. They override the repository's configuration.
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
    // To compare inside a submodule, git would run there, with that repository's configuration.
    "--ignore-submodules=dirty",
];

impl Git {
    /// Compares two commits, a commit and the working tree, or the index and the working tree.
    pub fn diff(&self, sides: DiffSides<'_>, deadline: &Deadline) -> Result<Arc<Diff>, GitError> {
        self.answer(deadline, |repository| self.diff_in(repository, sides, deadline))
    }

    pub(super) fn diff_in(
        &self,
        repository: &Repository,
        sides: DiffSides<'_>,
        deadline: &Deadline,
    ) -> Result<Arc<Diff>, GitError> {
        let resolve = |name: Option<&str>| {
            name.map(|name| repository.resolve_commit(name, deadline))
                .transpose()
        };
        let (from, to) = (resolve(sides.from)?, resolve(sides.to)?);
        let limit = repository.path_limit(sides.path);
        if sides.staged {
            return self.diff_staged(repository, limit.as_deref(), sides.patches, deadline);
        }
        if let (Some(from), Some(to)) = (from.clone(), to.clone()) {
            let pair = CommitPair {
                from,
                to,
                path: limit,
                patches: sides.patches,
                circumstances: repository.runner.location().circumstances(),
            };
            return self.diff_commits(repository, pair, deadline);
        }
        if repository.runner.location().work_tree.is_none() {
            return Err(GitError::Bare);
        }
        let mut ends: Vec<&str> = Vec::new();
        match (&from, &to) {
            (Some(from), _) => ends.push(from),
            (None, Some(to)) => ends.extend(["-R", to.as_str()]),
            (None, None) => {}
        }
        let diff = self.with_private_folder(|folder| {
            self.diff_work_tree(
                folder,
                repository,
                &ends,
                limit.as_deref(),
                sides.patches,
                deadline,
            )
        })?;
        Ok(Arc::new(diff))
    }

    /// Compares in a private folder, in memory first.
    pub(super) fn with_private_folder<T>(
        &self,
        compare: impl Fn(PrivateFolder) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let compare = |folder: io::Result<PrivateFolder>| compare(folder.map_err(GitError::Pipe)?);
        let temporary = &self.environment.temporary;
        // Files that are saved or moved meanwhile can make git fail. The second time they are mostly at rest,
        // and a disk has room for a copy that memory did not have.
        match compare(PrivateFolder::in_memory(temporary)) {
            Err(GitError::Failed(_) | GitError::Truncated | GitError::Pipe(_)) => {
                compare(PrivateFolder::on_disk(temporary))
            }
            outcome => outcome,
        }
    }

    /// Compares a commit, or the index if `ends` names none, with the working tree.
    fn diff_work_tree(
        &self,
        folder: PrivateFolder,
        repository: &Repository,
        ends: &[&str],
        path: Option<&str>,
        patches: PatchLimit,
        deadline: &Deadline,
    ) -> Result<Diff, GitError> {
        let commit = ends.last().copied();
        let Some(copy) = WorkTreeCopy::make(folder, repository, &self.root, commit, path, deadline)? else {
            return Ok(Diff::default());
        };
        let access = self.root.access();
        let mut diff = repository.diff(ends, path, patches, access, Some(&copy), deadline)?;
        if commit.is_none() {
            repository.add_conflicts(&mut diff, patches, &copy, deadline)?;
        }
        Ok(diff)
    }

    /// Whether one of the sides has `path`. For the working tree, the last commit counts.
    pub fn knows(
        &self,
        path: &RepoPath,
        sides: DiffSides<'_>,
        deadline: &Deadline,
    ) -> Result<bool, GitError> {
        self.answer(deadline, |repository| {
            let name = repository.repo_path(path);
            for side in [sides.from, sides.to] {
                let commit = match side {
                    Some(reference) => repository.resolve_commit(reference, deadline)?,
                    None => "HEAD".to_owned(),
                };
                let object = repository.objects.find(&format!("{commit}:{name}"), deadline)?;
                if object.is_some() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Compares two commits, from the cache if it has this diff or a larger one.
    fn diff_commits(
        &self,
        repository: &Repository,
        pair: CommitPair,
        deadline: &Deadline,
    ) -> Result<Arc<Diff>, GitError> {
        if let Some(cached) = self.find_cached_diff(repository, &pair) {
            return Ok(cached);
        }
        let ends = [pair.from.as_str(), pair.to.as_str()];
        let access = self.root.access();
        let diff = repository.diff(&ends, pair.path.as_deref(), pair.patches, access, None, deadline)?;
        let diff = Arc::new(diff);
        self.diffs.insert(pair, diff.clone());
        Ok(diff)
    }

    fn find_cached_diff(&self, repository: &Repository, pair: &CommitPair) -> Option<Arc<Diff>> {
        if let Some(cached) = self.diffs.get(pair) {
            return Some(cached);
        }
        let with_patches = CommitPair {
            patches: PatchLimit::AllOrNone,
            ..pair.clone()
        };
        // Patches that are there are the same for both limits.
        let has_enough =
            |cached: &Arc<Diff>| pair.patches != PatchLimit::PerFile || cached.detail == DiffDetail::Patches;
        if let Some(cached) = self.diffs.get(&with_patches).filter(has_enough) {
            return Some(cached);
        }
        let whole = CommitPair {
            path: repository.path_limit(None),
            ..with_patches
        };
        let part = self.diffs.get(&whole)?.part(pair.path.as_deref()?, repository)?;
        Some(Arc::new(part))
    }

    /// The numbers of changed lines between two commits or trees.
    pub(super) fn count_changes(
        &self,
        repository: &Repository,
        from: &str,
        to: &str,
        deadline: &Deadline,
    ) -> Result<Arc<Diff>, GitError> {
        let pair = CommitPair {
            from: from.to_owned(),
            to: to.to_owned(),
            path: repository.path_limit(None),
            patches: PatchLimit::Numbers,
            circumstances: repository.runner.location().circumstances(),
        };
        self.diff_commits(repository, pair, deadline)
    }
}

impl Repository {
    /// Runs `git diff`, in the copy of the working tree if that is one of the ends.
    pub(super) fn diff(
        &self,
        ends: &[&str],
        path: Option<&str>,
        limit: PatchLimit,
        access: &Access,
        copy: Option<&WorkTreeCopy>,
        deadline: &Deadline,
    ) -> Result<Diff, GitError> {
        let mut command = match copy {
            Some(copy) => copy.command(&self.runner, "diff"),
            None => self.runner.command("diff"),
        };
        let patches = limit != PatchLimit::Numbers;
        command
            .args(COMPARE)
            .arg(if patches { "-U3" } else { "--numstat" });
        command.args(ends).arg("--").args(path);
        stream(command, None, deadline, |out| {
            let mut files = Vec::new();
            while peek(out)? == Some(b':') {
                if files.len() == MAX_CHANGES {
                    return Err(GitError::TooManyFiles);
                }
                files.push(self.start_file(read_change(out)?, copy.is_some(), access, deadline)?);
            }
            let has_line_end = files
                .iter()
                .any(|file| file.change.names().any(|name| name.contains('\n')));
            let mut diff = Diff {
                detail: match (patches, has_line_end) {
                    (false, _) => DiffDetail::Numbers,
                    (true, false) => DiffDetail::Patches,
                    (true, true) => DiffDetail::LineEndInName,
                },
                files,
                ..Diff::default()
            };
            if !patches {
                read_numbers(out, &mut diff)?;
            } else if diff.detail == DiffDetail::Patches {
                read_patches(out, &mut diff, limit)?;
            }
            diff.files = diff
                .files
                .into_iter()
                .filter_map(|file| self.in_project(file))
                .collect();
            diff.update_totals();
            Ok(diff)
        })
        .and_then(|diff| {
            if diff.detail != DiffDetail::LineEndInName {
                return Ok(diff);
            }
            let numbers = self.diff(ends, path, PatchLimit::Numbers, access, copy, deadline)?;
            Ok(Diff {
                detail: DiffDetail::LineEndInName,
                ..numbers
            })
        })
    }

    /// A file without its lines yet, with paths relative to the repository.
    fn start_file(
        &self,
        change: ChangedFile,
        is_work_tree: bool,
        access: &Access,
        deadline: &Deadline,
    ) -> Result<FileDiff, GitError> {
        let is_unmerged = change.parents > 1 || change.status == ChangeStatus::Unmerged;
        let mut file = FileDiff {
            change: ChangedFile {
                status: if is_unmerged {
                    ChangeStatus::Unmerged
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
            is_cut: false,
        };
        let location = self.runner.location();
        file.withheld = !file.change.names().all(|name| self.allows(name, access));
        if file
            .change
            .names()
            .any(|name| name.starts_with('/') || name.split('/').any(|part| part == ".."))
        {
            return Err(GitError::Refused("its index names files outside the project"));
        }
        let is_submodule = [&file.change.old_mode, &file.change.new_mode]
            .iter()
            .any(|mode| *mode == "160000");
        if is_work_tree && is_submodule && find_submodule(location, &file.change.path, deadline).is_none() {
            file.withheld = true;
        }
        Ok(file)
    }

    /// Whether the access rules, which are about paths relative to the project, allow the content of a file.
    pub(super) fn allows(&self, name: &str, access: &Access) -> bool {
        let name = self.runner.location().in_project(name).unwrap_or(name);
        RepoPath::parse(name).is_ok_and(|name| access.allows(&name))
    }

    /// The file with paths relative to the project. `None` outside the project.
    fn in_project(&self, file: FileDiff) -> Option<FileDiff> {
        let change = self.changes_in_project(vec![file.change]).pop()?;
        Some(FileDiff { change, ..file })
    }

    /// Adds the combined patches of files in conflict, which git prints only one file at a time.
    fn add_conflicts(
        &self,
        diff: &mut Diff,
        limit: PatchLimit,
        copy: &WorkTreeCopy,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let conflicted: HashSet<String> = diff
            .files
            .iter()
            .filter(|file| file.change.status == ChangeStatus::Unmerged)
            .map(|file| file.change.path.clone())
            .collect();
        // Git lists a file in conflict a second time, as it is on disk.
        let mut seen = HashSet::new();
        diff.files.retain(|file| {
            let path = &file.change.path;
            !conflicted.contains(path)
                || (file.change.status == ChangeStatus::Unmerged && seen.insert(path.clone()))
        });
        let is_shown = |file: &&mut FileDiff| file.change.status == ChangeStatus::Unmerged && !file.withheld;
        for file in diff.files.iter_mut().filter(is_shown).take(MAX_SHOWN_CONFLICTS) {
            self.add_conflict(file, copy, deadline)?;
            if limit == PatchLimit::Numbers {
                file.patch.clear();
            }
        }
        diff.update_totals();
        let is_too_long = diff.insertions + diff.deletions > MAX_CHANGED_LINES;
        if limit == PatchLimit::AllOrNone && diff.detail == DiffDetail::Patches && is_too_long {
            diff.drop_patches();
        }
        Ok(())
    }

    fn add_conflict(
        &self,
        file: &mut FileDiff,
        copy: &WorkTreeCopy,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        const MAX_PATCH_BYTES: usize = 100_000;
        let path = self.runner.location().in_repository(&file.change.path);
        let mut command = copy.command(&self.runner, "diff");
        command.args(COMPARE.iter().filter(|option| **option != "--raw"));
        command.args(["-U3", "--diff-filter=U", "--", &path]);
        let header = format!("diff --cc {}", quote_name(&path));
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
                if file.patch.len() < MAX_PATCH_BYTES {
                    file.patch.push_str(&text);
                    file.patch.push('\n');
                }
            }
            Ok(())
        })
    }
}

impl Diff {
    /// The part about one path. `None` if git would answer differently, as for a rename with only one of its
    /// names.
    fn part(&self, path: &str, repository: &Repository) -> Option<Self> {
        let path = repository.runner.location().in_project(path)?;
        let below = format!("{path}/");
        let is_about = |name: &str| name == path || name.starts_with(&below);
        let mut part = Self {
            detail: self.detail,
            ..Self::default()
        };
        for file in &self.files {
            if !file.change.names().any(is_about) {
                continue;
            }
            if file.change.from.is_some() {
                return None;
            }
            part.files.push(file.clone());
        }
        part.update_totals();
        // A diff that was too long as a whole may have patches for a part.
        (self.detail == DiffDetail::Patches).then_some(part)
    }

    /// Approximate size in bytes.
    pub(super) fn weight(&self) -> u64 {
        self.files
            .iter()
            .map(|file| file.patch.len() + file.change.path.len() + 200)
            .sum::<usize>() as u64
    }

    fn update_totals(&mut self) {
        self.insertions = self.files.iter().map(|file| file.insertions).sum();
        self.deletions = self.files.iter().map(|file| file.deletions).sum();
    }

    pub(super) fn drop_patches(&mut self) {
        self.detail = DiffDetail::TooLong;
        for file in &mut self.files {
            file.patch = String::new();
        }
    }
}
