//! A cache in front of [`ProjectFiles`], so that no file is read or listed twice for one request.
//!
//! Invariant: every answer is the project's own at the time of the first question. Failures are cached too.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::ProjectFiles;
use super::manifests::jsonc;

/// A project with all its answers cached.
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

    /// The first of some paths that is a file.
    pub(super) fn first_file(&self, paths: impl IntoIterator<Item = String>) -> Option<String> {
        paths.into_iter().find(|path| self.is_file(path))
    }

    pub(super) fn read(&self, path: &str) -> Rc<Option<String>> {
        self.texts.get_or_make(path, || {
            self.is_file(path).then(|| self.project.read(path)).flatten()
        })
    }

    /// A file as JSON. Comments and trailing commas are allowed.
    pub(super) fn read_json(&self, path: &str) -> Rc<Option<Value>> {
        self.documents
            .get_or_make(path, || self.read(path).as_deref().and_then(jsonc::parse))
    }

    pub(super) fn list(&self, directory: &str) -> Rc<Vec<String>> {
        self.listings
            .get_or_make(directory, || self.project.list(directory))
    }

    /// Names of the directories in a directory.
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

    /// Paths of the files in a directory whose names `accepts` takes.
    pub(super) fn list_files(&self, directory: &str, accepts: impl Fn(&str) -> bool) -> Vec<String> {
        self.list(directory)
            .iter()
            .filter(|name| !name.ends_with('/') && accepts(name))
            .map(|name| super::paths::child_path(directory, name))
            .collect()
    }
}

/// Values computed once per key.
pub(super) struct Memo<T> {
    values: RefCell<HashMap<String, Rc<T>>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self {
            values: RefCell::default(),
        }
    }
}

impl<T> Memo<T> {
    /// The value of a key, computed by `make` the first time. `make` may ask for other keys. If it asks for
    /// its own key, that value is computed again, so `make` has to end the recursion.
    pub(super) fn get_or_make(&self, key: &str, make: impl FnOnce() -> T) -> Rc<T> {
        if let Some(value) = self.values.borrow().get(key) {
            return Rc::clone(value);
        }
        let made = Rc::new(make());
        self.values.borrow_mut().insert(key.to_owned(), Rc::clone(&made));
        made
    }
}
