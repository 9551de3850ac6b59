//! The documents that are open in the client, with their unsaved texts.
//!
//! Requests work on a [`DocumentSet`] as it was when they came, so that later changes do not disturb them.
//!
//! Invariant: no text of a blocked file is kept, none from outside of the project, and no more than
//! [`MAX_OPEN_BYTES`] in all. A document whose text is not kept is answered about from its file.

use std::collections::HashMap;
use std::sync::Arc;

use docent_core::path::RepoPath;
use docent_core::text::positions::{PositionEncoding, TextPositions};
use docent_engine::files::{FileError, Root};
use docent_engine::symbols::{OverlaidFile, Overlay};
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::ranges::text_position;

/// Bytes of all open texts.
const MAX_OPEN_BYTES: usize = 64 << 20;

/// Documents that are kept open.
const MAX_OPEN_DOCUMENTS: usize = 2_000;

/// The largest file that is compared with the text that the client opens.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A document that is open in the client.
#[derive(Clone, Debug)]
pub(super) struct OpenDocument {
    /// As the client writes it.
    pub(super) uri: Uri,
    pub(super) file: Arc<OverlaidFile>,
    /// Its text may be another than that of its file.
    pub(super) is_changed: bool,
}

/// All open documents.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentSet {
    documents: Arc<HashMap<RepoPath, OpenDocument>>,
    bytes: usize,
}

impl DocumentSet {
    pub(super) fn find(&self, path: &RepoPath) -> Option<&OpenDocument> {
        self.documents.get(path)
    }

    /// The texts that stand in front of their files.
    pub(super) fn overlay(&self) -> Overlay {
        let mut overlay = Overlay::default();
        for document in self.documents.values().filter(|document| document.is_changed) {
            overlay.add(document.file.clone());
        }
        overlay
    }

    /// Keeps the text of a document that the client has opened.
    pub(super) fn open(&mut self, root: &Root, path: RepoPath, uri: Uri, text: String) {
        self.close(&path);
        if !may_be_kept(root, &path) {
            return;
        }
        let on_disk = root.read(&path, MAX_FILE_BYTES);
        // Columns of a text with a byte order mark are others than those of its file.
        let has_mark = text.starts_with('\u{feff}');
        let is_changed = has_mark || on_disk.map_or(true, |content| content.bytes != text.as_bytes());
        self.insert(path, uri, text, is_changed);
    }

    /// Changes the text of an open document. A document that is not kept stays so, unless its whole text
    /// comes.
    pub(super) fn change(
        &mut self,
        root: &Root,
        path: &RepoPath,
        uri: Uri,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) {
        let known = self
            .documents
            .get(path)
            .map(|document| document.file.text.to_string());
        self.close(path);
        // A whole text makes the changes before it void.
        let last_whole = changes.iter().rposition(|change| change.range.is_none());
        let mut text = known;
        for change in changes.into_iter().skip(last_whole.unwrap_or_default()) {
            text = match (change.range, text) {
                (None, _) => Some(change.text),
                (Some(range), Some(mut text)) => {
                    let positions = TextPositions::of(&text, encoding);
                    let start = positions.byte(text_position(range.start));
                    let end = positions.byte(text_position(range.end)).max(start);
                    text.replace_range(start..end, &change.text);
                    Some(text)
                }
                (Some(_), None) => None,
            };
        }
        if let Some(text) = text.filter(|_| may_be_kept(root, path)) {
            self.insert(path.clone(), uri, text, true);
        }
    }

    pub(super) fn close(&mut self, path: &RepoPath) {
        if let Some(closed) = Arc::make_mut(&mut self.documents).remove(path) {
            self.bytes -= closed.file.text.len();
        }
    }

    fn insert(&mut self, path: RepoPath, uri: Uri, text: String, is_changed: bool) {
        let bytes = self.bytes.saturating_add(text.len());
        if bytes > MAX_OPEN_BYTES || self.documents.len() >= MAX_OPEN_DOCUMENTS {
            tracing::warn!("too much text is open; a document is answered about from its file");
            return;
        }
        self.bytes = bytes;
        let document = OpenDocument {
            uri,
            file: Arc::new(OverlaidFile::new(path.clone(), text.into())),
            is_changed,
        };
        Arc::make_mut(&mut self.documents).insert(path, document);
    }
}

/// Whether the rules allow to keep a text for a path, with the targets of links on the way. The file itself
/// may be missing: it is new.
fn may_be_kept(root: &Root, path: &RepoPath) -> bool {
    match root.file(path) {
        Ok(_) => return true,
        Err(FileError::Missing) => {}
        Err(_) => return false,
    }
    let mut above = path.as_str();
    while let Some((directory, _)) = above.rsplit_once('/') {
        let Ok(directory_path) = RepoPath::parse(directory) else {
            return false;
        };
        match root.file(&directory_path) {
            Err(FileError::Directory) => return root.allows_directory(directory),
            Err(FileError::Missing) => above = directory,
            Ok(_) | Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use docent_core::access::Access;
    use lsp_types::{Position, Range};

    use super::*;

    fn change(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent {
            range: range.map(|[line, column, end_line, end_column]| Range {
                start: Position::new(line, column),
                end: Position::new(end_line, end_column),
            }),
            range_length: None,
            text: text.to_owned(),
        }
    }

    /// Opens a document, changes it, and returns its text.
    fn edit(text: &str, changes: Vec<TextDocumentContentChangeEvent>) -> String {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let path = RepoPath::parse("zoo/row.rs").unwrap();
        let uri: Uri = "file:///zoo/row.rs".parse().unwrap();
        let mut documents = DocumentSet::default();
        documents.open(&root, path.clone(), uri.clone(), text.to_owned());
        documents.change(&root, &path, uri, changes, PositionEncoding::Utf16);
        let text = documents.find(&path).unwrap().file.text.to_string();
        assert_eq!(documents.bytes, text.len());
        documents.close(&path);
        assert_eq!(documents.bytes, 0);
        text
    }

    #[test]
    fn changes_are_applied_one_after_the_other() {
        let changes = vec![
            change(Some([0, 3, 0, 6]), "elk"),
            change(Some([1, 0, 1, 0]), "// "),
        ];
        assert_eq!(edit("fn owl() {}\nx", changes), "fn elk() {}\n// x");
        let changes = vec![change(Some([0, 3, 0, 4]), ""), change(Some([9, 9, 9, 9]), "!")];
        assert_eq!(edit("a🦉b", changes), "a🦉!");
    }

    #[test]
    fn a_whole_text_replaces_everything() {
        let changes = vec![
            change(Some([0, 0, 0, 1]), "z"),
            change(None, "new"),
            change(Some([0, 0, 0, 1]), "N"),
        ];
        assert_eq!(edit("old", changes), "New");
    }

    #[test]
    fn a_range_that_ends_before_its_start_inserts() {
        assert_eq!(edit("abc", vec![change(Some([0, 2, 0, 1]), "-")]), "ab-c");
    }

    #[test]
    fn texts_of_blocked_files_are_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let uri: Uri = "file:///x".parse().unwrap();
        let mut documents = DocumentSet::default();
        for blocked in [".env", "keys/server.pem", ".git/config"] {
            let path = RepoPath::parse(blocked).unwrap();
            documents.open(&root, path.clone(), uri.clone(), "SECRET=1".to_owned());
            assert!(documents.find(&path).is_none(), "{blocked}");
            documents.change(
                &root,
                &path,
                uri.clone(),
                vec![change(None, "SECRET=1")],
                PositionEncoding::Utf8,
            );
            assert!(documents.find(&path).is_none(), "{blocked}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn texts_behind_links_to_blocked_files_are_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(".git")).unwrap();
        std::fs::write(directory.path().join(".env"), "SECRET=1").unwrap();
        let link = |target: &std::path::Path, name: &str| {
            std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
        };
        link(std::path::Path::new(".env"), "plain.py");
        link(std::path::Path::new(".git"), "hidden");
        link(outside.path(), "outside");
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        for path in [
            "plain.py",
            "hidden/new.py",
            "outside/new.py",
            "outside/deep/new.py",
        ] {
            assert!(!may_be_kept(&root, &RepoPath::parse(path).unwrap()), "{path}");
        }
        assert!(may_be_kept(&root, &RepoPath::parse("new/deep/row.py").unwrap()));
    }

    #[test]
    fn open_texts_are_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let uri: Uri = "file:///x".parse().unwrap();
        let mut documents = DocumentSet::default();
        for number in 0..6 {
            let path = RepoPath::parse(&format!("{number}.py")).unwrap();
            documents.open(&root, path, uri.clone(), " ".repeat(15 << 20));
        }
        assert!(documents.bytes <= MAX_OPEN_BYTES);
        assert_eq!(documents.documents.len(), 4);
    }
}
