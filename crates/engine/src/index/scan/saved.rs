//! The directories of a finished scan, saved so that the next process need not walk the project.
//!
//! A directory's stamp changes when a file in it is created, removed or renamed. So if the stamps of all
//! directories and of all ignore files are as they were, the project has the same files, and it is enough to
//! read the stamps of the files that are indexed. Only directories that differ are walked.
//!
//! Left out: the files themselves, which the table of the index has.
//!
//! Invariant: a stamp that may belong to two states is stored as one that no directory has
//! ([`Stamp::settled`]), so a change during or right after the scan is found by the next one.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use docent_core::path::RepoPath;

use crate::files::{Root, read_own, replace};
use crate::index::content_hash::hash;
use crate::stamp::Stamp;
use crate::walk;

/// The name of the file in the directory of a generation.
pub(in crate::index) const SAVED_SCAN_FILE: &str = "directories";

/// Version of the file's format and of the rules of the walk.
const VERSION: &str = "1";

/// The directories and ignore files that a scan depended on, with their stamps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::index) struct SavedScan {
    /// What else decides which files a walk lists: access rules, ignore files outside the project.
    rules: u64,
    /// Files that cannot be named. They are in no table, so their number is kept.
    pub(super) unnameable: u64,
    root: Stamp,
    /// Directories that were walked, and those that were skipped because a file marks them.
    pub(super) directories: Vec<SavedDirectory>,
    /// Ignore files of the walked directories.
    ignore_files: Vec<(RepoPath, Stamp)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SavedDirectory {
    pub(super) path: RepoPath,
    pub(super) stamp: Stamp,
    pub(super) is_walked: bool,
}

/// How the project differs from a saved scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SavedDifference {
    /// In these directories, and in no other.
    Directories(Vec<RepoPath>),
    /// In a way that only a walk of everything can tell.
    Everything,
}

/// The rules that decide which files a walk lists, as a number to compare.
pub(super) fn hash_rules(root: &Root, outer_ignore_files: &[Option<Stamp>]) -> u64 {
    hash(&format!(
        "{:?} {outer_ignore_files:?}",
        root.access().extra_patterns()
    ))
}

impl SavedScan {
    /// Reads the stamps of directories that were walked from `started` on.
    pub(super) fn of(
        root: &Root,
        rules: u64,
        unnameable: u64,
        walked: &BTreeSet<RepoPath>,
        marked: &BTreeSet<RepoPath>,
        started: SystemTime,
    ) -> Option<Self> {
        let stamp = |path: &str| Some(read_stamp(root.path(), path)?.settled(started));
        let directory = |path: &RepoPath, is_walked| {
            Some(SavedDirectory {
                stamp: stamp(path.as_str())?,
                path: path.clone(),
                is_walked,
            })
        };
        let directories = walked
            .iter()
            .map(|path| directory(path, true))
            .chain(marked.iter().map(|path| directory(path, false)))
            .collect::<Option<_>>()?;
        let parents = std::iter::once("").chain(walked.iter().map(RepoPath::as_str));
        let ignore_files = parents.flat_map(|parent| {
            walk::IGNORE_FILES.iter().filter_map(move |name| {
                let path = match parent {
                    "" => (*name).to_owned(),
                    parent => format!("{parent}/{name}"),
                };
                Some((RepoPath::parse(&path).ok()?, stamp(&path)?))
            })
        });
        Some(Self {
            rules,
            unnameable,
            root: stamp("")?,
            ignore_files: ignore_files.collect(),
            directories,
        })
    }

    /// Compares the saved scan with the disk.
    pub(super) fn compare(&self, root: &Root, rules: u64) -> SavedDifference {
        let is_same =
            |path: &str, stamp: Stamp| !stamp.is_unsettled() && read_stamp(root.path(), path) == Some(stamp);
        let has_same_rules = self.rules == rules
            && self
                .ignore_files
                .iter()
                .all(|(path, stamp)| is_same(path.as_str(), *stamp));
        if !has_same_rules || !is_same("", self.root) {
            return SavedDifference::Everything;
        }
        let mut different = Vec::new();
        for directory in &self.directories {
            if is_same(directory.path.as_str(), directory.stamp) {
                continue;
            }
            // Without its mark, a skipped directory becomes part of the project.
            if !directory.is_walked {
                return SavedDifference::Everything;
            }
            different.push(directory.path.clone());
        }
        SavedDifference::Directories(different)
    }

    /// Writes the scan into the directory of a generation.
    pub(super) fn write(&self, generation: &Path) -> std::io::Result<()> {
        let mut text = format!("{VERSION} {} {}\n", self.rules, self.unnameable);
        text += &format!("r {}\n", stamp_text(self.root));
        for directory in &self.directories {
            let kind = if directory.is_walked { 'd' } else { 'm' };
            text += &format!("{kind} {} {}\n", stamp_text(directory.stamp), directory.path);
        }
        for (path, stamp) in &self.ignore_files {
            text += &format!("i {} {path}\n", stamp_text(*stamp));
        }
        text += "end\n";
        replace(&generation.join(SAVED_SCAN_FILE), text.as_bytes())
    }

    /// Reads what [`SavedScan::write`] has written. `None` if it is missing, damaged or of another version.
    pub(in crate::index) fn read(generation: &Path) -> Option<Self> {
        let text = read_own(&generation.join(SAVED_SCAN_FILE)).ok()??;
        let mut lines = text.strip_suffix("end\n")?.lines();
        let mut first = lines.next()?.split(' ');
        if first.next()? != VERSION {
            return None;
        }
        let mut saved = Self {
            rules: first.next()?.parse().ok()?,
            unnameable: first.next()?.parse().ok()?,
            ..Self::default()
        };
        for line in lines {
            let mut fields = line.splitn(6, ' ');
            let kind = fields.next()?;
            let stamp = Stamp {
                size: fields.next()?.parse().ok()?,
                modified: fields.next()?.parse().ok()?,
                changed: fields.next()?.parse().ok()?,
                inode: fields.next()?.parse().ok()?,
            };
            if kind == "r" {
                saved.root = stamp;
                continue;
            }
            let path = RepoPath::parse(fields.next()?).ok()?;
            match kind {
                "d" | "m" => saved.directories.push(SavedDirectory {
                    path,
                    stamp,
                    is_walked: kind == "d",
                }),
                "i" => saved.ignore_files.push((path, stamp)),
                _ => return None,
            }
        }
        Some(saved)
    }
}

fn stamp_text(stamp: Stamp) -> String {
    let Stamp {
        size,
        modified,
        changed,
        inode,
    } = stamp;
    format!("{size} {modified} {changed} {inode}")
}

/// The stamp of a file or directory, without following a link at its end.
pub(super) fn read_stamp(root: &Path, path: &str) -> Option<Stamp> {
    let metadata = std::fs::symlink_metadata(root.join(path)).ok()?;
    Some(Stamp::of(&metadata))
}

#[cfg(test)]
mod tests;
