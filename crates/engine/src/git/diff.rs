//! `git diff`: what differs between two commits, or between one of them and the working tree.
//!
//! Patches are counted as they stream by and kept only while they are few; memory does not grow with the difference.
//!
//! Invariant: the content of a file that the access rules block, under its new or its old name, is never kept.

use std::collections::HashSet;
use std::sync::Arc;

use docent_core::access::Access;
use docent_core::path::RepoPath;

use super::command::stream;
use super::patch::{next_line, quoted, read_numbers, read_patches};
use super::place::{self, GitFileStamp};
use super::raw::{ChangeStatus, ChangedFile, MAX_CHANGES, change, peek};
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
    pub detail: Detail,
}

/// How much is known about the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    Patches,
    /// Their numbers; nobody asked for more.
    #[default]
    Numbers,
    /// Their numbers; they are too many.
    TooLong,
    /// Their numbers; a name with a line end could pass for a part of a patch.
    OddNames,
}

/// A file that differs.
#[derive(Clone, Debug)]
pub struct Patched {
    pub change: ChangedFile,
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
    circumstances: GitFileStamp,
}

/// Patches with more changed lines than this are summed up.
pub const MAX_CHANGED_LINES: u64 = 1_000;

/// Files in conflict whose versions are shown.
const MAX_SHOWN_CONFLICTS: usize = 50;

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
                circumstances: repository.runner.place().circumstances(),
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

    /// Whether one of the sides has `path`; the working tree has what the last commit has.
    pub fn knows(&self, path: &RepoPath, sides: Sides<'_>, deadline: &Deadline) -> Result<bool, GitError> {
        let repository = self.repository(deadline)?;
        let name = repository.path(path);
        for side in [sides.from, sides.to] {
            let commit = match side {
                Some(reference) => repository.commit(reference, deadline)?,
                None => "HEAD".to_owned(),
            };
            let found = repository.objects.find(&format!("{commit}:{name}"), deadline)?;
            if found.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
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
                if files.len() == MAX_CHANGES {
                    return Err(GitError::TooManyFiles);
                }
                files.push(self.patched(change(out)?, is_here, access)?);
            }
            let is_odd = files
                .iter()
                .any(|file| file.change.names().any(|name| name.contains('\n')));
            let mut diff = Diff {
                detail: match (patches, is_odd) {
                    (false, _) => Detail::Numbers,
                    (true, false) => Detail::Patches,
                    (true, true) => Detail::OddNames,
                },
                files,
                ..Diff::default()
            };
            if !patches {
                read_numbers(out, &mut diff)?;
            } else if diff.detail == Detail::Patches {
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
        .and_then(|diff| {
            if diff.detail != Detail::OddNames {
                return Ok(diff);
            }
            let numbers = self.diff(ends, path, false, access, deadline)?;
            Ok(Diff {
                detail: Detail::OddNames,
                ..numbers
            })
        })
    }

    /// A change with nothing known about its lines yet, under the names git has for it.
    fn patched(&self, change: ChangedFile, is_here: bool, access: &Access) -> Result<Patched, GitError> {
        let is_unmerged = change.parents > 1 || change.status == ChangeStatus::Unmerged;
        let mut file = Patched {
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
        };
        // What is left of a path without its prefix is what the rules of the project are about.
        let place = self.runner.place();
        let allows = |name: &str| {
            let name = place.in_project(name).unwrap_or(name);
            RepoPath::parse(name).is_ok_and(|name| access.allows(&name))
        };
        let is_allowed = file.change.names().all(allows);
        file.withheld = !is_allowed;
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
            .filter(|file| file.change.status == ChangeStatus::Unmerged)
            .map(|file| file.change.path.clone())
            .collect();
        // git lists a file in conflict once more for what it is on disk.
        let mut listed = HashSet::new();
        diff.files.retain(|file| {
            let path = &file.change.path;
            !conflicted.contains(path)
                || (file.change.status == ChangeStatus::Unmerged && listed.insert(path.clone()))
        });
        let is_shown = |file: &&mut Patched| file.change.status == ChangeStatus::Unmerged && !file.withheld;
        for file in diff.files.iter_mut().filter(is_shown).take(MAX_SHOWN_CONFLICTS) {
            self.add_conflict(file, deadline)?;
            if !with_patches {
                file.patch.clear();
            }
        }
        diff.sum();
        if diff.detail == Detail::Patches && diff.insertions + diff.deletions > MAX_CHANGED_LINES {
            diff.drop_patches();
        }
        Ok(())
    }

    fn add_conflict(&self, file: &mut Patched, deadline: &Deadline) -> Result<(), GitError> {
        const MAX_PATCH_BYTES: usize = 100_000;
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
    /// The part about one file, if it can be told from the whole: renames look different when one name is hidden.
    fn only(&self, path: &str, repository: &Repository) -> Option<Self> {
        let path = repository.runner.place().in_project(path)?;
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
        part.sum();
        // What was too long as a whole may be short enough alone.
        (self.detail == Detail::Patches).then_some(part)
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

    pub(super) fn drop_patches(&mut self) {
        self.detail = Detail::TooLong;
        for file in &mut self.files {
            file.patch = String::new();
        }
    }
}
