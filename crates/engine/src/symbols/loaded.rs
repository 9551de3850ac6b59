//! The symbols of files for one question. A file is found first, and read once it is looked at.
//!
//! Invariant: files that were read and are not in use take a bounded amount of memory. A question about a
//! name that a thousand files use would otherwise hold them all, and the allocator would keep what they took.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{
    ByteRange, DecodeError, DefinitionId, Expression, ImportBinding, NameId, NameTable, Reference,
    SourcePosition, SymbolDefinition, SymbolKind, SymbolsReader,
};

use super::resolve::MAX_VALUES;
use crate::files::Root;
use crate::store::{StoreError, SymbolStore, SymbolsAddress, SymbolsDocument, UsingQuery};

/// A file of a question. Files are numbered in the order in which they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileId(usize);

impl FileId {
    /// Its place among the first `known` files, or `known` for all others.
    pub(super) fn rank(self, known: usize) -> usize {
        self.0.min(known)
    }
}

/// A definition of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionRef {
    pub(super) file: FileId,
    pub(super) id: DefinitionId,
}

/// The symbols of one file, as they were indexed. Each part is decoded once it is needed: most files that
/// use a common name are looked at for that name only.
pub(super) struct LoadedFile {
    pub(super) path: RepoPath,
    pub(super) language: Language,
    pub(super) content_hash: u64,
    bytes: Vec<u8>,
    names: OnceCell<NameTable>,
    definitions: OnceCell<Vec<SymbolDefinition>>,
    imports: OnceCell<Vec<ImportBinding>>,
    expressions: OnceCell<Vec<Expression>>,
}

type FilesByName = HashMap<String, Rc<Vec<FileId>>>;

/// Every file that the question has found so far.
pub(super) struct LoadedFiles<'a> {
    root: &'a Root,
    store: &'a dyn SymbolStore,
    found: RefCell<Vec<SymbolsAddress>>,
    /// By [`SymbolsAddress::key_of`] the path. `None` for a path without symbols, or that may not be shown.
    by_key: RefCell<HashMap<u64, Option<FileId>>>,
    held: RefCell<HeldFiles>,
    /// Where the files are that define a name.
    addresses: RefCell<HashMap<String, Rc<Vec<SymbolsAddress>>>>,
    defining: RefCell<FilesByName>,
    /// By directory, then by name.
    beside: RefCell<HashMap<String, FilesByName>>,
    /// The keys of the files in a directory.
    in_directory: RefCell<HashMap<String, Rc<HashSet<u64>>>>,
    /// The first error of reading a file that had been found.
    failure: RefCell<Option<StoreError>>,
}

/// The files that were read last.
#[derive(Default)]
struct HeldFiles {
    files: HashMap<FileId, Rc<LoadedFile>>,
    /// In the order in which they were read.
    order: VecDeque<FileId>,
    bytes: usize,
}

/// Stored bytes of the files that are held. Decoded, they take about five times as much.
const MAX_HELD_BYTES: usize = 512 << 10;

/// A name that no more files define is not looked for in a directory.
const MAX_READ_EVERYWHERE: usize = 4;

impl<'a> LoadedFiles<'a> {
    pub(super) fn new(root: &'a Root, store: &'a dyn SymbolStore) -> Self {
        Self {
            root,
            store,
            found: RefCell::default(),
            by_key: RefCell::default(),
            held: RefCell::default(),
            addresses: RefCell::default(),
            defining: RefCell::default(),
            beside: RefCell::default(),
            in_directory: RefCell::default(),
            failure: RefCell::default(),
        }
    }

    /// The symbols of a file. It has none if it cannot be read, which [`Self::check`] reports, or may not be
    /// shown.
    pub(super) fn file(&self, id: FileId) -> Rc<LoadedFile> {
        if let Some(held) = self.held.borrow().files.get(&id) {
            return held.clone();
        }
        let address = self.found.borrow()[id.0];
        let document = self.store.read_symbols(address).unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            SymbolsDocument::default()
        });
        let file = Rc::new(self.load(document));
        self.held.borrow_mut().add(id, &file);
        file
    }

    fn load(&self, document: SymbolsDocument) -> LoadedFile {
        match RepoPath::parse(&document.path) {
            // A rule may have been added after the file was indexed.
            Ok(path) if self.root.access().allows(&path) => {
                LoadedFile::new(path, document.content_hash, document.bytes)
            }
            Ok(path) => LoadedFile::new(path, 0, Vec::new()),
            Err(_) => {
                let path = RepoPath::parse("unreadable").expect("a plain name is a path");
                LoadedFile::new(path, 0, Vec::new())
            }
        }
    }

    /// Reports that a file could not be read.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// How many files were found so far.
    pub(super) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The file at a path. `None` if it has no symbols, or may not be shown.
    pub(super) fn find(&self, path: &str) -> Result<Option<FileId>, StoreError> {
        let key = SymbolsAddress::key_of(path);
        if let Some(known) = self.by_key.borrow().get(&key) {
            return Ok(*known);
        }
        let is_allowed = RepoPath::parse(path).is_ok_and(|path| self.root.access().allows(&path));
        if let Some(address) = self.store.find_file(path)?.filter(|_| is_allowed) {
            return Ok(self.add(address));
        }
        self.by_key.borrow_mut().insert(key, None);
        Ok(None)
    }

    /// The number of a file that the store has found. `None` if it may not be shown.
    fn add(&self, address: SymbolsAddress) -> Option<FileId> {
        let mut found = self.found.borrow_mut();
        *self.by_key.borrow_mut().entry(address.key).or_insert_with(|| {
            found.push(address);
            Some(FileId(found.len() - 1))
        })
    }

    /// Where the files are that define a name.
    fn addresses(&self, name: &str) -> Result<Rc<Vec<SymbolsAddress>>, StoreError> {
        if let Some(known) = self.addresses.borrow().get(name) {
            return Ok(known.clone());
        }
        let found = Rc::new(self.store.files_defining(name, usize::MAX)?.files);
        self.addresses.borrow_mut().insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The files that define a name.
    pub(super) fn defining(&self, name: &str) -> Result<Rc<Vec<FileId>>, StoreError> {
        if let Some(known) = self.defining.borrow().get(name) {
            return Ok(known.clone());
        }
        let found = self.addresses(name)?;
        let found = found.iter().filter_map(|address| self.add(*address)).collect();
        let found = Rc::new(self.in_order(found));
        self.defining.borrow_mut().insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The files of a directory that define a name, and perhaps a few others.
    ///
    /// A method such as `String` is defined in thousands of files of a large project. Reading all of them
    /// to keep those of one directory would take a tenth of a second.
    pub(super) fn defining_beside(&self, name: &str, directory: &str) -> Result<Rc<Vec<FileId>>, StoreError> {
        let beside = self.beside.borrow();
        if let Some(known) = beside.get(directory).and_then(|names| names.get(name)) {
            return Ok(known.clone());
        }
        drop(beside);
        let addresses = self.addresses(name)?;
        let found = if addresses.len() <= MAX_READ_EVERYWHERE {
            self.defining(name)?
        } else {
            let keys = self.keys_in(directory);
            let inside = addresses.iter().filter(|address| keys.contains(&address.key));
            Rc::new(self.in_order(inside.filter_map(|address| self.add(*address)).collect()))
        };
        let mut beside = self.beside.borrow_mut();
        let names = beside.entry(directory.to_owned()).or_default();
        names.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// Files of which only the first may be followed, in the order of their paths.
    fn in_order(&self, mut files: Vec<FileId>) -> Vec<FileId> {
        // Few are all followed, in any order, and need not be read for it.
        if files.len() > MAX_VALUES {
            files.sort_by_cached_key(|file| self.file(*file).path.clone());
        }
        files
    }

    /// The keys of the files in a directory.
    fn keys_in(&self, directory: &str) -> Rc<HashSet<u64>> {
        if let Some(known) = self.in_directory.borrow().get(directory) {
            return known.clone();
        }
        let names = self.root.names_in(directory).into_iter();
        let keys = names.map(|name| match directory {
            "" => SymbolsAddress::key_of(&name),
            _ => SymbolsAddress::key_of(&format!("{directory}/{name}")),
        });
        let keys = Rc::new(keys.collect::<HashSet<u64>>());
        let mut known = self.in_directory.borrow_mut();
        known.insert(directory.to_owned(), keys.clone());
        keys
    }

    /// Files that use a name, and how many use it in all.
    pub(super) fn using(&self, query: &UsingQuery<'_>) -> Result<(Vec<FileId>, usize), StoreError> {
        let using = self.store.files_using(query)?;
        let files = using.files.into_iter().filter_map(|address| self.add(address));
        Ok((files.collect(), using.total))
    }
}

impl HeldFiles {
    /// Holds a file, and lets go of those that were read before it if they are too much.
    fn add(&mut self, id: FileId, file: &Rc<LoadedFile>) {
        self.bytes += file.bytes.len();
        self.files.insert(id, file.clone());
        self.order.push_back(id);
        while self.bytes > MAX_HELD_BYTES
            && self.order.len() > 1
            && let Some(oldest) = self.order.pop_front()
        {
            let dropped = self.files.remove(&oldest);
            self.bytes -= dropped.map_or(0, |dropped| dropped.bytes.len());
        }
    }
}

impl LoadedFile {
    fn new(path: RepoPath, content_hash: u64, bytes: Vec<u8>) -> Self {
        Self {
            language: Language::of_path(&path, ""),
            path,
            content_hash,
            bytes,
            names: OnceCell::new(),
            definitions: OnceCell::new(),
            imports: OnceCell::new(),
            expressions: OnceCell::new(),
        }
    }

    /// A part of the symbols. Empty if it is damaged: the checksums of the store are verified when it is
    /// opened.
    fn decode<'b, T: Default>(
        &'b self,
        read: impl FnOnce(&SymbolsReader<'b>) -> Result<T, DecodeError>,
    ) -> T {
        SymbolsReader::new(&self.bytes)
            .and_then(|reader| read(&reader))
            .unwrap_or_default()
    }

    fn names(&self) -> &NameTable {
        self.names.get_or_init(|| self.decode(SymbolsReader::names))
    }

    /// The name with an id. Empty if there is none.
    pub(super) fn name(&self, id: NameId) -> &str {
        self.names().name(id)
    }

    /// The id of a name. `None` if the file does not have it.
    pub(super) fn name_id(&self, name: &str) -> Option<NameId> {
        match self.names.get() {
            Some(names) => names.find(name),
            None => self.decode(|reader| reader.find_name(name)),
        }
    }

    /// The package that the file says it belongs to, empty if it says none.
    pub(super) fn package(&self) -> &str {
        SymbolsReader::new(&self.bytes).map_or("", |reader| reader.package())
    }

    /// All definitions, in source order.
    pub(super) fn definitions(&self) -> &[SymbolDefinition] {
        self.definitions.get_or_init(|| {
            let mut definitions = self.decode(SymbolsReader::definitions);
            if is_header(&self.path) {
                for definition in &mut definitions {
                    definition.is_file_local = false;
                }
            }
            definitions
        })
    }

    pub(super) fn imports(&self) -> &[ImportBinding] {
        self.imports.get_or_init(|| self.decode(SymbolsReader::imports))
    }

    pub(super) fn expressions(&self) -> &[Expression] {
        self.expressions
            .get_or_init(|| self.decode(SymbolsReader::expressions))
    }

    pub(super) fn definition(&self, DefinitionId(id): DefinitionId) -> &SymbolDefinition {
        self.definitions().get(id as usize).unwrap_or(&NO_DEFINITION)
    }

    /// The definitions with a name.
    pub(super) fn definitions_named(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (DefinitionId, &SymbolDefinition)> {
        let id = self.name_id(name);
        let all = id.map_or(&[][..], |_| self.definitions());
        let all = (0..).map(DefinitionId).zip(all);
        all.filter(move |(_, definition)| Some(definition.name) == id)
    }

    /// The uses of a name.
    pub(super) fn references_of(&self, name: &str) -> Result<Vec<Reference>, StoreError> {
        if self.bytes.is_empty() {
            return Ok(Vec::new());
        }
        let reader = SymbolsReader::new(&self.bytes).map_err(damage)?;
        match reader.find_name(name).map_err(damage)? {
            Some(name) => reader.references_of(name).map_err(damage),
            None => Ok(Vec::new()),
        }
    }

    /// All uses.
    pub(super) fn references(&self) -> Result<Vec<Reference>, StoreError> {
        if self.bytes.is_empty() {
            return Ok(Vec::new());
        }
        let reader = SymbolsReader::new(&self.bytes).map_err(damage)?;
        reader.references().map_err(damage)
    }

    /// The name of a definition with its scope: `Row.render`.
    pub(super) fn path_of(&self, definition: &SymbolDefinition) -> String {
        let name = self.name(definition.name);
        match self.name(definition.scope) {
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

/// In place of a definition of a file that can no longer be read.
static NO_DEFINITION: SymbolDefinition = SymbolDefinition {
    name: NameId(u32::MAX),
    kind: SymbolKind::Variable,
    scope: NameId(u32::MAX),
    parent: None,
    first_line: 0,
    last_line: 0,
    name_at: SourcePosition { line: 0, column: 0 },
    signature: ByteRange { start: 0, end: 0 },
    doc: ByteRange { start: 0, end: 0 },
    has_body: false,
    is_file_local: false,
    result: None,
    bases: Vec::new(),
};
