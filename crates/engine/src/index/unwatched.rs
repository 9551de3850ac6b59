//! What an index depends on and no watch covers: ignore files outside of the project, the memory, which may be ignored, and
//! what is checked out. Looked at with every search, so it is only looked at and not read.

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;

use super::Shared;
use crate::git::Heads;
use crate::stamp::Stamp;
use crate::walk;

/// All of it, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnwatchedState {
    /// Of the user's own ignore file, the repository's private one, those above the project.
    pub(super) rules: Vec<Option<Stamp>>,
    /// The files of the memory that are there.
    pub(super) memory: Vec<(RepoPath, Stamp)>,
    pub(super) heads: Heads,
}

impl Shared {
    pub(super) fn unwatched(&self) -> UnwatchedState {
        let root = self.root.path();
        let mut files = vec![root.join(".git/info/exclude")];
        files.extend(ignore::gitignore::gitconfig_excludes_path());
        if let Some(top) = walk::work_tree(root) {
            let above = root
                .ancestors()
                .skip(1)
                .take_while(|directory| directory.starts_with(top));
            files.extend(above.map(|directory| directory.join(".gitignore")));
        }
        let memory = MemoryFile::ALL.into_iter().filter_map(|file| {
            let path = file.path();
            let metadata = std::fs::symlink_metadata(root.join(path.as_str())).ok()?;
            let counts = metadata.is_file() && self.root.access().allows(&path);
            counts.then(|| (path, Stamp::of(&metadata)))
        });
        UnwatchedState {
            rules: files.iter().map(|file| Stamp::at(file)).collect(),
            memory: memory.collect(),
            heads: self
                .options
                .git
                .as_ref()
                .map(|git| git.heads())
                .unwrap_or_default(),
        }
    }
}
