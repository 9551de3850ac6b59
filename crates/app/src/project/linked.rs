//! The projects that are linked with this one, opened when a search first includes them.
//!
//! Links belong to the user and are kept by `engine::links`; nothing here writes them.
//!
//! Invariant: a linked project whose directory was removed or replaced is not served from memory, and one
//! that was replaced by a link is not served at all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use docent_engine::accesses::Accesses;
use docent_engine::files::Root;
use docent_engine::index::Index;
use docent_engine::links::Links;

/// The linked projects, each opened once.
pub(crate) struct LinkedProjects {
    links: Links,
    open: OpenLinked,
    opened: Mutex<HashMap<PathBuf, Arc<LinkedProject>>>,
}

/// Opens a project with the settings of its own directory.
pub(crate) type OpenLinked = Box<dyn Fn(&Path) -> anyhow::Result<LinkedProject> + Send + Sync>;

/// The parts of a linked project that a search needs.
pub(crate) struct LinkedProject {
    pub(crate) root: Root,
    pub(crate) index: Index,
    pub(crate) accesses: Arc<Accesses>,
}

impl LinkedProjects {
    pub(crate) fn new(links: Links, open: OpenLinked) -> Self {
        Self {
            links,
            open,
            opened: Mutex::default(),
        }
    }

    /// Opens every project that links lead to. Returns them, and a sentence for each that cannot be opened.
    pub(crate) fn open_all(&self, root: &Path) -> (Vec<Arc<LinkedProject>>, Vec<String>) {
        let reachable = match self.links.reachable(root) {
            Ok(reachable) => reachable,
            Err(error) => return (Vec::new(), vec![format!("The links cannot be read: {error}")]),
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let mut projects = Vec::new();
        let mut notices = Vec::new();
        for path in reachable {
            // Otherwise a directory that was replaced would be searched through the handle of the old one.
            if opened.get(&path).is_some_and(|one| !one.root.is_still_there()) {
                opened.remove(&path);
            }
            let project = match opened.get(&path) {
                Some(project) => project.clone(),
                None => match (self.open)(&path) {
                    // The user linked a directory. A link in its place may lead to any other one.
                    Ok(project) if project.root.path() != path => {
                        notices.push(format!(
                            "The linked project {} was not searched: it was replaced by a link; \
                             `docent unlink` and `docent link` it again if that is intended",
                            path.display()
                        ));
                        continue;
                    }
                    Ok(project) => {
                        let project = Arc::new(project);
                        opened.insert(path, project.clone());
                        project
                    }
                    Err(error) => {
                        notices.push(format!(
                            "The linked project {} was not searched: {error:#}",
                            path.display()
                        ));
                        continue;
                    }
                },
            };
            projects.push(project);
        }
        (projects, notices)
    }
}
