//! What has been learned about the project so far, so that it is asked each thing once.
//!
//! Invariant: every answer is the project's own at the time of the first question. A failure is remembered like any
//! other answer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::ProjectFiles;
use super::manifests::jsonc;

/// The project, asked each thing once.
pub(super) struct CachedProject<'a> {
    project: &'a dyn ProjectFiles,
    files: RefCell<HashMap<String, bool>>,
    texts: Memo<Option<String>>,
    documents: Memo<Option<Value>>,
    listings: Memo<Vec<String>>,
}

impl<'a> CachedProject<'a> {
    pub(super) fn new(project: &'a dyn ProjectFiles) -> Self {
        Self {
            project,
            files: RefCell::default(),
            texts: Memo::default(),
            documents: Memo::default(),
            listings: Memo::default(),
        }
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        if path.is_empty() {
            return false;
        }
        if let Some(&known) = self.files.borrow().get(path) {
            return known;
        }
        let answer = self.project.is_file(path);
        self.files.borrow_mut().insert(path.to_owned(), answer);
        answer
    }

    /// The first of some places where a file is.
    pub(super) fn first_file(&self, places: impl IntoIterator<Item = String>) -> Option<String> {
        places.into_iter().find(|place| self.is_file(place))
    }

    pub(super) fn read(&self, path: &str) -> Rc<Option<String>> {
        self.texts.get(path, || {
            self.is_file(path).then(|| self.project.read(path)).flatten()
        })
    }

    /// A file as JSON, with the comments and trailing commas that tools allow in theirs.
    pub(super) fn read_json(&self, path: &str) -> Rc<Option<Value>> {
        self.documents
            .get(path, || self.read(path).as_deref().and_then(jsonc::parse))
    }

    pub(super) fn list(&self, directory: &str) -> Rc<Vec<String>> {
        self.listings.get(directory, || self.project.list(directory))
    }

    /// The directories in a directory, by name.
    pub(super) fn list_directories(&self, directory: &str) -> Vec<String> {
        let names = self.list(directory);
        names
            .iter()
            .filter_map(|name| name.strip_suffix('/'))
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn has_directory(&self, directory: &str, name: &str) -> bool {
        let names = self.list(directory);
        names.iter().any(|listed| listed.strip_suffix('/') == Some(name))
    }

    /// The files in a directory that `wanted` takes by name, as paths.
    pub(super) fn list_files(&self, directory: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        self.list(directory)
            .iter()
            .filter(|name| !name.ends_with('/') && wanted(name))
            .map(|name| super::paths::child_path(directory, name))
            .collect()
    }
}

/// Values made once per key.
pub(super) struct Memo<T> {
    known: RefCell<HashMap<String, Rc<T>>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self {
            known: RefCell::default(),
        }
    }
}

impl<T> Memo<T> {
    /// The value of a key. Making one may ask for others; asked for itself, it is made again, so makers end by themselves.
    pub(super) fn get(&self, key: &str, make: impl FnOnce() -> T) -> Rc<T> {
        if let Some(known) = self.known.borrow().get(key) {
            return Rc::clone(known);
        }
        let made = Rc::new(make());
        self.known.borrow_mut().insert(key.to_owned(), Rc::clone(&made));
        made
    }
}
