//! Files whose symbols a question has loaded, and definitions inside them.

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{
    DecodeError, DefinitionId, FileSymbols, NameId, Reference, SymbolDefinition, SymbolsReader,
};

use crate::files::Root;
use crate::store::{StoreError, SymbolStore, SymbolsDocument, UsingQuery};

/// A loaded file. Files are numbered in the order in which they are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileId(usize);

/// A definition of a loaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionRef {
    pub(super) file: FileId,
    pub(super) id: DefinitionId,
}

/// The symbols of one file, as they were indexed.
pub(super) struct LoadedFile {
    pub(super) path: RepoPath,
    pub(super) language: Language,
    pub(super) content_hash: u64,
    /// Without references, which are read by name. Decoded once it is needed: most files that use a common
    /// name are looked at for that name only.
    pub(super) symbols: LazyCell<FileSymbols, Box<dyn FnOnce() -> FileSymbols>>,
    bytes: Rc<Vec<u8>>,
}

/// Every file that the question has needed so far.
pub(super) struct LoadedFiles<'a> {
    root: &'a Root,
    store: &'a dyn SymbolStore,
    files: RefCell<Vec<Rc<LoadedFile>>>,
    by_path: RefCell<HashMap<String, Option<FileId>>>,
    defining: RefCell<HashMap<String, Rc<Vec<FileId>>>>,
    in_directory: RefCell<HashMap<String, Rc<Vec<FileId>>>>,
}

impl<'a> LoadedFiles<'a> {
    pub(super) fn new(root: &'a Root, store: &'a dyn SymbolStore) -> Self {
        Self {
            root,
            store,
            files: RefCell::default(),
            by_path: RefCell::default(),
            defining: RefCell::default(),
            in_directory: RefCell::default(),
        }
    }

    pub(super) fn file(&self, FileId(id): FileId) -> Rc<LoadedFile> {
        self.files.borrow()[id].clone()
    }

    /// The file at a path. `None` if it has no symbols, or may not be shown.
    pub(super) fn find(&self, path: &str) -> Result<Option<FileId>, StoreError> {
        if let Some(known) = self.by_path.borrow().get(path) {
            return Ok(*known);
        }
        let Some(document) = self.store.symbols_of(path)? else {
            self.by_path.borrow_mut().insert(path.to_owned(), None);
            return Ok(None);
        };
        Ok(self.add(document))
    }

    /// Adds a file that the store has found. `None` if it may not be shown.
    pub(super) fn add(&self, document: SymbolsDocument) -> Option<FileId> {
        if let Some(known) = self.by_path.borrow().get(&document.path) {
            return *known;
        }
        let path = RepoPath::parse(&document.path).ok();
        // A rule may have been added after the file was indexed.
        let path = path.filter(|path| self.root.access().allows(path))?;
        let mut files = self.files.borrow_mut();
        let id = FileId(files.len());
        self.by_path
            .borrow_mut()
            .insert(path.as_str().to_owned(), Some(id));
        files.push(Rc::new(LoadedFile::new(path, document)));
        Some(id)
    }

    /// The files that define a name.
    pub(super) fn defining(&self, name: &str) -> Result<Rc<Vec<FileId>>, StoreError> {
        if let Some(known) = self.defining.borrow().get(name) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for document in self.store.files_defining(name, usize::MAX)?.documents {
            found.extend(self.add(document));
        }
        let found = Rc::new(found);
        self.defining.borrow_mut().insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The files that may define a name for a file in `directory` of a language whose packages are
    /// directories.
    ///
    /// A method such as `String` is defined in thousands of files of a large project. Reading all of them
    /// to keep those of one directory would take a tenth of a second.
    pub(super) fn defining_beside(&self, name: &str, directory: &str) -> Result<Rc<Vec<FileId>>, StoreError> {
        const MAX_READ_EVERYWHERE: usize = 50;
        let is_known = self.defining.borrow().contains_key(name);
        if is_known || self.store.files_defining(name, 0)?.total <= MAX_READ_EVERYWHERE {
            return self.defining(name);
        }
        if let Some(known) = self.in_directory.borrow().get(directory) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for file in self.root.names_in(directory) {
            let path = if directory.is_empty() {
                file
            } else {
                format!("{directory}/{file}")
            };
            found.extend(self.find(&path)?);
        }
        let found = Rc::new(found);
        let key = directory.to_owned();
        self.in_directory.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    /// Files that use a name, and how many use it in all.
    pub(super) fn using(&self, query: &UsingQuery<'_>) -> Result<(Vec<FileId>, usize), StoreError> {
        let using = self.store.files_using(query)?;
        let mut found = Vec::new();
        for document in using.documents {
            found.extend(self.add(document));
        }
        Ok((found, using.total))
    }
}

impl LoadedFile {
    fn new(path: RepoPath, document: SymbolsDocument) -> Self {
        let bytes = Rc::new(document.bytes);
        let is_header = is_header(&path);
        let decoded = bytes.clone();
        let decode = move || {
            let read = SymbolsReader::new(&decoded).and_then(|reader| reader.decode_without_references());
            // The checksums of the store are verified when it is opened.
            let mut symbols = read.unwrap_or_default();
            if is_header {
                for definition in &mut symbols.definitions {
                    definition.is_file_local = false;
                }
            }
            symbols
        };
        Self {
            language: Language::of_path(&path, ""),
            path,
            content_hash: document.content_hash,
            symbols: LazyCell::new(Box::new(decode)),
            bytes,
        }
    }

    /// The id of a name. `None` if the file does not have it.
    pub(super) fn name_id(&self, name: &str) -> Option<NameId> {
        // Stored names are sorted.
        let at = self
            .symbols
            .names
            .binary_search_by(|known| known.as_str().cmp(name));
        at.ok().and_then(|at| u32::try_from(at).ok()).map(NameId)
    }

    pub(super) fn definition(&self, DefinitionId(id): DefinitionId) -> &SymbolDefinition {
        &self.symbols.definitions[id as usize]
    }

    /// The definitions with a name.
    pub(super) fn definitions_named(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (DefinitionId, &SymbolDefinition)> {
        let id = self.name_id(name);
        let all = (0..).map(DefinitionId).zip(&self.symbols.definitions);
        all.filter(move |(_, definition)| Some(definition.name) == id)
    }

    /// The uses of a name.
    pub(super) fn references_of(&self, name: &str) -> Result<Vec<Reference>, StoreError> {
        let reader = SymbolsReader::new(&self.bytes).map_err(damage)?;
        match reader.find_name(name).map_err(damage)? {
            Some(name) => reader.references_of(name).map_err(damage),
            None => Ok(Vec::new()),
        }
    }

    /// All uses.
    pub(super) fn references(&self) -> Result<Vec<Reference>, StoreError> {
        let reader = SymbolsReader::new(&self.bytes).map_err(damage)?;
        reader.references().map_err(damage)
    }

    /// The name of a definition with its scope: `Row.render`.
    pub(super) fn path_of(&self, definition: &SymbolDefinition) -> String {
        let name = self.symbols.name(definition.name);
        match self.symbols.name(definition.scope) {
            "" => name.to_owned(),
            scope => format!("{scope}.{name}"),
        }
    }

    /// The directory of the file, empty for the root.
    pub(super) fn directory(&self) -> &str {
        self.path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
    }
}

/// Whether other files include this one, so that they can use its `static` definitions.
fn is_header(path: &RepoPath) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.starts_with(['h', 'H']) || matches!(extension, "inc" | "inl" | "ipp" | "tpp" | "def" | "cuh")
}

fn damage(error: DecodeError) -> StoreError {
    StoreError::Damaged(error.to_string())
}
