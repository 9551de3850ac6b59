//! The projects that are linked with this one, opened when a search first asks for them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use docent_engine::accesses::Accesses;
use docent_engine::files::Root;
use docent_engine::index::Index;
use docent_engine::links::Links;

/// The projects beside this one.
pub(crate) struct Linked {
    links: Links,
    open: Open,
    opened: Mutex<HashMap<PathBuf, Arc<Neighbour>>>,
}

/// Opens a project by the settings it has.
pub(crate) type Open = Box<dyn Fn(&Path) -> anyhow::Result<Neighbour> + Send + Sync>;

/// A linked project.
pub(crate) struct Neighbour {
    pub(crate) root: Root,
    pub(crate) index: Index,
    pub(crate) accesses: Arc<Accesses>,
}

impl Linked {
    pub(crate) fn new(links: Links, open: Open) -> Self {
        Self {
            links,
            open,
            opened: Mutex::default(),
        }
    }

    /// Every project that can be reached by links, and a sentence for each that cannot be opened.
    pub(crate) fn neighbours(&self, root: &Path) -> (Vec<Arc<Neighbour>>, Vec<String>) {
        let reachable = match self.links.reachable(root) {
            Ok(reachable) => reachable,
            Err(error) => return (Vec::new(), vec![format!("The links cannot be read: {error}")]),
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let mut neighbours = Vec::new();
        let mut missing = Vec::new();
        for path in reachable {
            // One that has gone or was made anew meanwhile is not served from what is remembered.
            if opened.get(&path).is_some_and(|one| !one.root.is_still_there()) {
                opened.remove(&path);
            }
            let neighbour = match opened.get(&path) {
                Some(neighbour) => neighbour.clone(),
                None => match (self.open)(&path) {
                    Ok(neighbour) => {
                        let neighbour = Arc::new(neighbour);
                        opened.insert(path, neighbour.clone());
                        neighbour
                    }
                    Err(error) => {
                        missing.push(format!(
                            "The linked project {} was not searched: {error:#}",
                            path.display()
                        ));
                        continue;
                    }
                },
            };
            neighbours.push(neighbour);
        }
        (neighbours, missing)
    }
}
