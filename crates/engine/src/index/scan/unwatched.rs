//! Inputs of an index that no watch covers: ignore files outside the project, the memory (which may be
//! ignored by git and so is not watched), and the commit that is checked out.
//!
//! It is checked with every search, so only metadata is read.

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;

use crate::files::Root;
use crate::git::{Git, Heads};
use crate::stamp::Stamp;
use crate::walk;

/// The unwatched inputs of an index, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::index) struct UnwatchedState {
    /// Stamps of ignore files: the user's own, the repository's private one, and those above the project.
    pub(in crate::index) ignore_files: Vec<Option<Stamp>>,
    /// The files of the memory that exist.
    pub(in crate::index) memory: Vec<(RepoPath, Stamp)>,
    pub(in crate::index) heads: Heads,
}

impl UnwatchedState {
    pub(in crate::index) fn read(root: &Root, git: Option<&Git>) -> Self {
        let directory = root.path();
        let mut ignore_files = vec![directory.join(".git/info/exclude")];
        ignore_files.extend(ignore::gitignore::gitconfig_excludes_path());
        if let Some(top) = walk::work_tree(directory) {
            let above = directory
                .ancestors()
                .skip(1)
                .take_while(|ancestor| ancestor.starts_with(top));
            ignore_files.extend(above.map(|ancestor| ancestor.join(".gitignore")));
        }
        let memory = MemoryFile::ALL.into_iter().filter_map(|file| {
            let path = file.path();
            let metadata = std::fs::symlink_metadata(directory.join(path.as_str())).ok()?;
            let counts = metadata.is_file() && root.access().allows(&path);
            counts.then(|| (path, Stamp::of(&metadata)))
        });
        Self {
            ignore_files: ignore_files.iter().map(|file| Stamp::at(file)).collect(),
            memory: memory.collect(),
            heads: git.map(Git::heads).unwrap_or_default(),
        }
    }
}
