//! From a file to what the store keeps of it.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use docent_core::chunk::{Chunk, Chunked, Rows, Unparsed, chunk};
use docent_core::discovery::{Discovery, Origins, extract_from_file};
use docent_core::docs::manifest::PageRules;
use docent_core::docs::page::{self, Page};
use docent_core::docs::taxonomy::applies_to_all_languages;
use docent_core::language::Language;
use docent_core::memory::{MEMORY_DIRECTORY, MemoryFile};
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::text::redact::redact;
use docent_core::text::tokens::words_into;
use xxhash_rust::xxh3::xxh3_64;

use super::table::IndexedFile;
use crate::embed::{Embedder, Text};
use crate::files::{FileError, Root, lossy_text};
use crate::memory::{MAX_FILE_BYTES, ORIGINS, key};
use crate::stamp::Stamp;
use crate::store::{
    ChunkEntry, DiscoveryEntry, Label, SectionEntry, StoreEntry, StoredChunk, StoredDiscovery, StoredSection,
};

/// What became of a file.
#[derive(Debug)]
pub(super) enum Prepared<E> {
    /// It says what it said before.
    Same(IndexedFile),
    Changed {
        row: IndexedFile,
        entries: Vec<E>,
        bytes: u64,
    },
    Gone,
}

/// A file to be read and cut.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) root: &'a Root,
    pub(super) path: &'a RepoPath,
    /// As it was found.
    pub(super) listed: Stamp,
    /// What the index knows of it.
    pub(super) before: Option<&'a IndexedFile>,
    /// Tells by what rules it is cut, where there is more than one way.
    pub(super) rules: u64,
    /// Larger files are left out.
    pub(super) largest: u64,
}

/// Reads a file and cuts it into chunks.
pub(super) fn prepare(job: &Job<'_>, embedder: &dyn Embedder) -> Prepared<StoreEntry> {
    job.prepare(|row, text| {
        let language = Language::of_file(job.path, text);
        let Chunked { chunks, unparsed } = chunk(language, text);
        language.name().clone_into(&mut row.language);
        row.note = unparsed.map(|unparsed| unparsed.name().to_owned());
        let mut entries = entries(job.path, language, text, chunks, unparsed, embedder);
        // What nobody wrote holds nothing that anybody found out.
        if !matches!(unparsed, Some(Unparsed::Generated | Unparsed::Minified)) {
            entries.extend(notes(job, language, text));
        }
        entries
    })
}

/// Reads a page and cuts it into sections.
pub(super) fn prepare_page(
    job: &Job<'_>,
    embedder: &dyn Embedder,
    rules: impl FnOnce() -> PageRules,
) -> Prepared<SectionEntry> {
    job.prepare(|row, text| {
        let page = Page::of(text, rules());
        row.note = page
            .problems
            .first()
            .map(|problem| format!("line {}: {}", problem.line, problem.message));
        if !page.labels.is_empty() {
            row.labels = serde_json::to_string(&page.labels).unwrap_or_default();
        }
        section_entries(job.path, text, &page, embedder)
    })
}

impl Job<'_> {
    /// Reads the file, and has `cut` make entries of it where it says something new.
    fn prepare<E>(&self, cut: impl FnOnce(&mut IndexedFile, &str) -> Vec<E>) -> Prepared<E> {
        // One file that breaks the cutting must not end the indexing of all.
        let prepared = catch_unwind(AssertUnwindSafe(|| self.try_prepare(cut)));
        prepared.unwrap_or_else(|_| self.left_out(self.listed, "could not be cut"))
    }

    fn try_prepare<E>(&self, cut: impl FnOnce(&mut IndexedFile, &str) -> Vec<E>) -> Prepared<E> {
        let now = SystemTime::now();
        let opened = match self.root.file(self.path) {
            Ok(opened) => opened,
            Err(FileError::Missing | FileError::Directory | FileError::Special) => return Prepared::Gone,
            Err(error) => return self.left_out(self.listed, &error.to_string()),
        };
        let stamp = match opened.file.metadata() {
            Ok(metadata) => Stamp::of(&metadata).settled(now),
            Err(_) => return Prepared::Gone,
        };
        if opened.size > self.largest {
            return self.left_out(stamp, "too large");
        }
        let content = match opened.read(self.largest) {
            Ok(content) => content.bytes,
            Err(FileError::TooLarge { .. }) => return self.left_out(stamp, "too large"),
            Err(error) => return self.left_out(stamp, &error.to_string()),
        };
        // What a crash has left in the memory does not hide the rest of it.
        if is_binary(&content) && MemoryFile::from_path(self.path.as_str()).is_none() {
            return self.left_out(stamp, "binary");
        }
        let hash = xxh3_64(&content);
        let same =
            |before: &&IndexedFile| before.hash == hash && before.chunks > 0 && before.rules == self.rules;
        if let Some(before) = self.before.filter(same) {
            return Prepared::Same(IndexedFile {
                stamp,
                ..before.clone()
            });
        }
        let bytes = content.len() as u64;
        let text = lossy_text(content);
        let mut row = IndexedFile {
            stamp,
            hash,
            rules: self.rules,
            ..IndexedFile::default()
        };
        let entries = cut(&mut row, &text);
        row.chunks = number(entries.len());
        Prepared::Changed { row, entries, bytes }
    }

    fn left_out<E>(&self, stamp: Stamp, why: &str) -> Prepared<E> {
        Prepared::Changed {
            row: IndexedFile {
                stamp,
                rules: self.rules,
                note: Some(why.to_owned()),
                ..IndexedFile::default()
            },
            entries: Vec::new(),
            bytes: 0,
        }
    }
}

/// Text has no NUL where a program would look for one.
fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8_000)].contains(&0)
}

fn entries(
    path: &RepoPath,
    language: Language,
    text: &str,
    chunks: Vec<Chunk>,
    unparsed: Option<Unparsed>,
    embedder: &dyn Embedder,
) -> Vec<StoreEntry> {
    let module = module_of(path);
    let generated = matches!(unparsed, Some(Unparsed::Generated | Unparsed::Minified));
    let place = place_words(path);
    let rows = Rows::of(text);
    let entry = |chunk: Chunk| {
        let shown = rows.lines(*chunk.lines.start(), *chunk.lines.end());
        let mut words = String::with_capacity(shown.len() + shown.len() / 2);
        words_into(shown, &mut words);
        for member in &chunk.members {
            words_into(member, &mut words);
        }
        let mut name = String::new();
        words_into(&chunk.name, &mut name);
        let outside = chunk.path.strip_suffix(chunk.name.as_str()).unwrap_or_default();
        words_into(outside, &mut words);
        StoreEntry::Chunk(ChunkEntry {
            // What nobody wrote is about nothing that anybody asks for.
            vector: if generated {
                None
            } else {
                embedder.embed(&meaning(path, &chunk, shown))
            },
            module: module.to_owned(),
            text: words,
            name,
            place: place.clone(),
            chunk: StoredChunk {
                path: path.as_str().to_owned(),
                language: language.to_string(),
                kind: chunk.kind,
                name_length: chunk.name.len().min(chunk.path.len()),
                scope: chunk.path,
                first_line: number(*chunk.lines.start()),
                last_line: number(*chunk.lines.end()),
                part: number(chunk.part),
                generated,
                id: chunk.id,
                hash: hash(shown),
            },
        })
    };
    chunks.into_iter().map(entry).collect()
}

/// What a server is sent of a file's chunks.
pub(super) fn chunk_texts(job: &Job<'_>) -> Prepared<Text> {
    job.prepare(|_, text| {
        let Chunked { chunks, unparsed } = chunk(Language::of_file(job.path, text), text);
        if matches!(unparsed, Some(Unparsed::Generated | Unparsed::Minified)) {
            return Vec::new();
        }
        let rows = Rows::of(text);
        let public = Public::of(text);
        let text = |chunk: Chunk| {
            let shown = rows.lines(*chunk.lines.start(), *chunk.lines.end());
            Text {
                key: StoredChunk::meaning(job.path.as_str(), &chunk.path, hash(shown)),
                text: sent(job.path, &chunk.path, public.part(shown)),
            }
        };
        chunks.into_iter().map(text).collect()
    })
}

/// What a server is sent of a page's sections.
pub(super) fn page_texts(job: &Job<'_>, rules: impl FnOnce() -> PageRules) -> Prepared<Text> {
    job.prepare(|_, text| {
        let page = Page::of(text, rules());
        let public = Public::of(&page.plain);
        let entry = |section: &page::PageSection| {
            let stored = stored(job.path, text, section, &[]);
            Text {
                key: stored.meaning(),
                text: sent(
                    job.path,
                    &stored.breadcrumb(),
                    public.part(&page.plain[section.plain.clone()]),
                ),
            }
        };
        page.sections.iter().map(entry).collect()
    })
}

/// What of a text may be sent. Secrets are looked for in the whole: a part of a key does not look like one.
struct Public<'a>(Cow<'a, str>);

impl<'a> Public<'a> {
    fn of(text: &'a str) -> Self {
        Self(redact(text))
    }

    /// A part of the text; nothing of one that a secret reaches into.
    fn part<'b>(&self, part: &'b str) -> &'b str {
        match &self.0 {
            Cow::Borrowed(_) => part,
            Cow::Owned(clean) if clean.contains(part) => part,
            Cow::Owned(_) => "",
        }
    }
}

/// Bytes of a text that are sent: what models for the purpose read, which is 512 tokens for many.
const MAX_SENT_BYTES: usize = 1_500;

/// Where something is, what it is called, and its beginning.
fn sent(path: &RepoPath, name: &str, shown: &str) -> String {
    format!(
        "{path}\n{name}\n{}",
        &shown[..shown.floor_char_boundary(MAX_SENT_BYTES)]
    )
}

/// Bytes of a chunk that say what it is about, and how often where it is counts beside them.
const TELLING_CODE: usize = 800;
const PLACE: usize = 3;

/// What a chunk of code is about: where it is, what it is called, and its beginning.
fn meaning(path: &RepoPath, chunk: &Chunk, shown: &str) -> String {
    let stem = stem(path);
    let shown = &shown[..shown.floor_char_boundary(TELLING_CODE)];
    let mut about = String::with_capacity(PLACE * (stem.len() + 1) + chunk.path.len() + shown.len() + 2);
    for _ in 0..PLACE {
        about.push_str(stem);
        about.push('\n');
    }
    about.push_str(&chunk.path);
    about.push('\n');
    about.push_str(shown);
    about
}

/// The discoveries in a file.
fn notes(job: &Job<'_>, language: Language, text: &str) -> Vec<StoreEntry> {
    let origins = if MemoryFile::from_path(job.path.as_str()).is_some() {
        origins(job.root)
    } else {
        Origins::default()
    };
    let found = extract_from_file(job.path, language, text, &origins);
    let rows = (!found.is_empty()).then(|| Rows::of(text));
    let entry = |discovery: Discovery| {
        let lines = discovery.lines.clone().zip(rows.as_ref());
        let hash = lines.map_or(0, |(lines, rows)| hash(rows.lines(*lines.start(), *lines.end())));
        note_entry(job.path.as_str(), job.path.as_str(), discovery, hash)
    };
    found.into_iter().map(entry).collect()
}

/// Who wrote what of the memory.
fn origins(root: &Root) -> Origins {
    let path = RepoPath::parse(&format!("{MEMORY_DIRECTORY}/{ORIGINS}")).expect("a literal path");
    match root.read(&path, MAX_FILE_BYTES) {
        Ok(content) => Origins::read(&lossy_text(content.bytes), key),
        Err(_) => Origins::default(),
    }
}

/// A discovery as the store takes it: where it is, what it is removed by, and the hash of its lines.
pub(super) fn note_entry(place: &str, key: &str, discovery: Discovery, hash_of_lines: u64) -> StoreEntry {
    let mut text = String::with_capacity(discovery.content.len() * 2);
    words_into(&discovery.content, &mut text);
    words_into(&discovery.title, &mut text);
    StoreEntry::Discovery(DiscoveryEntry {
        key: key.to_owned(),
        text,
        note: StoredDiscovery {
            id: hash(&format!("{place}\n{}", discovery.content)),
            place: place.to_owned(),
            discovery,
            hash: hash_of_lines,
        },
    })
}

/// How often the words of a heading count beside where they stand in the text. What is above it, and where the page is, count
/// once.
const HEADING: usize = 2;

fn section_entries(path: &RepoPath, text: &str, page: &Page, embedder: &dyn Embedder) -> Vec<SectionEntry> {
    let place = place_words(path);
    let labels: Vec<(String, String)> = page
        .labels
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut filters: Vec<Label> = labels
        .iter()
        .map(|(key, value)| Label::Value {
            key: key.clone(),
            value: value.clone(),
        })
        .collect();
    if applies_to_all_languages(&page.labels) {
        filters.push(Label::ForAll);
    }
    let mut directory = path.as_str();
    while let Some((above, _)) = directory.rsplit_once('/') {
        filters.push(Label::Directory(above.to_owned()));
        directory = above;
    }
    let filters: Arc<[Label]> = filters.into();
    let entry = |section: &page::PageSection| {
        let plain = &page.plain[section.plain.clone()];
        let mut words = String::with_capacity(plain.len() + plain.len() / 4);
        words_into(plain, &mut words);
        for _ in 0..HEADING {
            words_into(&section.heading, &mut words);
        }
        for outer in section.above.iter().chain(&page.title) {
            words_into(outer, &mut words);
        }
        words.push_str(&place);
        SectionEntry {
            vector: embedder.embed(&about(path, page, section)),
            section: stored(path, text, section, &labels),
            text: words,
            labels: filters.clone(),
        }
    };
    page.sections.iter().map(entry).collect()
}

fn stored(
    path: &RepoPath,
    text: &str,
    section: &page::PageSection,
    labels: &[(String, String)],
) -> StoredSection {
    StoredSection {
        path: path.as_str().to_owned(),
        name: section.name.clone(),
        heading: section.heading.clone(),
        above: section.above.clone(),
        start: section.bytes.start,
        end: section.bytes.end,
        hash: hash(&text[section.bytes.clone()]),
        labels: labels.to_owned(),
    }
}

/// Characters of a section that say what it is about; the rest would only blur it.
const TELLING: usize = 1_000;

/// What a section is about: the beginning of its text, and twice what it is called and where it is.
fn about(path: &RepoPath, page: &Page, section: &page::PageSection) -> String {
    let plain = &page.plain[section.plain.clone()];
    let plain = &plain[..plain.floor_char_boundary(TELLING)];
    let title = page.title.as_deref().unwrap_or_default();
    let mut about = String::with_capacity(plain.len() + 200);
    for part in [&section.heading, title, path.as_str()] {
        for _ in 0..2 {
            about.push_str(part);
            about.push('\n');
        }
    }
    for part in section.above.iter().map(String::as_str).chain([plain]) {
        about.push_str(part);
        about.push('\n');
    }
    about
}

/// A path without its extension.
fn stem(path: &RepoPath) -> &str {
    let name = path.as_str();
    match path.extension() {
        Some(extension) => &name[..name.len() - extension.len() - 1],
        None => name,
    }
}

/// The words of that.
fn place_words(path: &RepoPath) -> String {
    let mut words = String::new();
    words_into(stem(path), &mut words);
    words
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The same hash as a chunk has of its text.
pub(crate) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
