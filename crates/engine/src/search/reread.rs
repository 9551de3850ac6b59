//! Results read from their files as they are now: moved since indexing, or gone.

use std::collections::HashMap;
use std::time::SystemTime;

use docent_core::chunk::{Outline, Rows, chunk};
use docent_core::discovery::{Discovery, Origins, extract_from_file};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use jiff::Timestamp;

use super::{Candidate, HitSurroundings, RankedCandidate, SearchHit};
use crate::files::{Root, decode_file};
use crate::index::hash;
use crate::store::{StoredChunk, StoredDiscovery};

/// The files of a project as they are now, each read once.
pub(super) struct CurrentFiles<'a> {
    root: &'a Root,
    /// By path. `None` for a file that cannot be read.
    files: HashMap<String, Option<CurrentFile>>,
    /// The discoveries of files that have changed since they were indexed.
    discoveries: HashMap<String, Vec<Discovery>>,
    /// The outlines of files that were asked for. `None` for a file without a grammar.
    outlines: HashMap<String, Option<Outline>>,
}

struct CurrentFile {
    text: String,
    modified: Option<SystemTime>,
}

/// The largest file that is read. Larger ones were not indexed, whatever the settings.
const MAX_FILE_BYTES: u64 = 256 << 20;

impl<'a> CurrentFiles<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self {
            root,
            files: HashMap::new(),
            discoveries: HashMap::new(),
            outlines: HashMap::new(),
        }
    }

    /// The definitions in and around a chunk. `None` for a discovery.
    pub(super) fn surroundings(&mut self, candidate: &Candidate) -> Option<HitSurroundings> {
        let Candidate::Chunk(stored) = candidate else {
            return None;
        };
        let path = RepoPath::parse(&stored.path).ok()?;
        let text = self.text(&path)?.to_owned();
        let language = Language::of_file(&path, &text);
        let outline = self
            .outlines
            .entry(stored.path.clone())
            .or_insert_with(|| Outline::of(language, &text)?.ok());
        Some(HitSurroundings::read(stored, language, &text, outline.as_ref()))
    }

    /// The candidate with its present lines and text. `None` if its file no longer has it.
    pub(super) fn reread(&mut self, mut ranked: RankedCandidate) -> Option<SearchHit> {
        let text = match &mut ranked.candidate {
            Candidate::Chunk(chunk) => self.reread_chunk(chunk)?,
            Candidate::Discovery { stored, .. } => {
                self.reread_discovery(stored)?;
                stored.discovery.content.clone()
            }
        };
        Some(SearchHit {
            modified: self.modified(ranked.candidate.path_or_commit()),
            ranked,
            text,
            surroundings: None,
        })
    }

    /// When a file was last changed, of those that were read.
    fn modified(&self, path: &str) -> Option<Timestamp> {
        let modified = self.files.get(path)?.as_ref()?.modified?;
        Timestamp::try_from(modified).ok()
    }

    /// The text of a file. `None` if it cannot be read.
    fn text(&mut self, path: &RepoPath) -> Option<&str> {
        let root = self.root;
        let file = self.files.entry(path.as_str().to_owned()).or_insert_with(|| {
            let content = root.read(path, MAX_FILE_BYTES).ok()?;
            Some(CurrentFile {
                text: decode_file(content.bytes),
                modified: content.modified,
            })
        });
        Some(&file.as_ref()?.text)
    }

    /// Lines of a file as they are now. `None` if it cannot be read.
    pub(super) fn lines_of(&mut self, path: &RepoPath, first: u32, last: u32) -> Option<&str> {
        let text = self.text(path)?;
        Some(Rows::of(text).lines(first as usize, last as usize))
    }

    /// The text of a chunk, whose lines are updated. `None` if its file no longer has it.
    fn reread_chunk(&mut self, stored: &mut StoredChunk) -> Option<String> {
        let path = RepoPath::parse(&stored.path).ok()?;
        let text = self.text(&path)?;
        let rows = Rows::of(text);
        let lines = rows.lines(stored.first_line as usize, stored.last_line as usize);
        if hash(lines) == stored.hash {
            return Some(lines.to_owned());
        }
        let chunks = chunk(Language::of_file(&path, text), text).chunks;
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let mut found = chunks.iter().find(|chunk| chunk.id == stored.id).map(|chunk| {
            stored.parts = number(chunk.parts);
            &chunk.lines
        });
        if found.is_none() {
            let mut nested = chunks.iter().flat_map(|chunk| &chunk.nested);
            found = nested.find(|one| one.id == stored.id).map(|one| &one.lines);
        }
        let lines = found?;
        let (first, last) = (*lines.start(), *lines.end());
        (stored.first_line, stored.last_line) = (number(first), number(last));
        Some(rows.lines(first, last).to_owned())
    }

    /// Updates the lines of a discovery. `None` if its file no longer has it. A commit does not change.
    fn reread_discovery(&mut self, stored: &mut StoredDiscovery) -> Option<()> {
        let Some(lines) = &stored.discovery.lines else {
            return Some(());
        };
        let path = RepoPath::parse(&stored.path_or_commit).ok()?;
        let text = self.text(&path)?;
        if hash(Rows::of(text).lines(*lines.start(), *lines.end())) == stored.hash {
            return Some(());
        }
        let text = text.to_owned();
        let discoveries = self
            .discoveries
            .entry(stored.path_or_commit.clone())
            .or_insert_with(|| {
                extract_from_file(&path, Language::of_file(&path, &text), &text, &Origins::default())
            });
        let moved = discoveries
            .iter()
            .find(|one| one.content == stored.discovery.content)?;
        stored.discovery.lines.clone_from(&moved.lines);
        Some(())
    }
}
