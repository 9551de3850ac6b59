//! Chunks of a file, and the discoveries in it.

use docent_core::chunk::{Chunk, Chunked, Rows, Unparsed};
use docent_core::discovery::{Discovery, Origins, extract_from_file};
use docent_core::language::Language;
use docent_core::memory::{MEMORY_DIRECTORY, MemoryFile};
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::symbols::{FileSymbols, chunk_with_symbols, encode};
use docent_core::text::tokens::words_into;

use super::file_job::{Extracted, FileJob, path_words, stem, to_u32};
use crate::embed::Embedder;
use crate::files::{Root, lossy_text};
use crate::index::content_hash::hash;
use crate::memory::{MAX_FILE_BYTES, ORIGINS, key};
use crate::store::{
    ChunkEntry, DiscoveryEntry, StoreEntry, StoredChunk, StoredDiscovery, SymbolsDocument, SymbolsEntry,
};

/// Bytes of a chunk that go into its vector. The rest would only blur it.
const MAX_EMBEDDED_BYTES: usize = 800;

/// How often the path counts in a chunk's vector.
const PATH_REPEATS: usize = 3;

/// Reads a file, cuts it into chunks and reads its symbols.
pub(in crate::index) fn extract_code(job: &FileJob<'_>, embedder: &dyn Embedder) -> Extracted<StoreEntry> {
    let mut extracted = job.run(|row, text| {
        let language = Language::of_file(job.path, text);
        let (Chunked { chunks, unparsed }, symbols) = chunk_with_symbols(language, text);
        language.name().clone_into(&mut row.language);
        let is_cut = unparsed == Some(Unparsed::Generated) && symbols.is_none();
        let note = if is_cut {
            Some(Unparsed::TooLarge)
        } else {
            unparsed
        };
        row.note = note.map(|unparsed| unparsed.name().to_owned());
        let is_generated = is_generated(unparsed);
        let mut entries = chunk_entries(job.path, language, text, chunks, is_generated, embedder);
        // Nobody wrote generated code, so nobody wrote a decision into it.
        if !is_generated {
            entries.extend(discovery_entries(job, language, text));
        }
        entries.extend(symbols.map(|symbols| symbols_entry(job.path, row.hash, &symbols)));
        entries
    });
    if let Extracted::Changed { row, entries, .. } = &mut extracted {
        // People read the number of chunks, and the symbols of a file are none.
        let is_counted = |entry: &&StoreEntry| !matches!(entry, StoreEntry::Symbols(_));
        row.chunks = to_u32(entries.iter().filter(is_counted).count());
    }
    extracted
}

fn symbols_entry(path: &RepoPath, content_hash: u64, symbols: &FileSymbols) -> StoreEntry {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    StoreEntry::Symbols(SymbolsEntry {
        document: SymbolsDocument {
            path: path.as_str().to_owned(),
            content_hash,
            bytes: encode(symbols),
        },
        defined: owned(symbols.defined_names()),
        used: owned(symbols.used_names()),
    })
}

/// Whether the text was written by a program.
pub(super) fn is_generated(unparsed: Option<Unparsed>) -> bool {
    matches!(unparsed, Some(Unparsed::Generated | Unparsed::Minified))
}

fn chunk_entries(
    path: &RepoPath,
    language: Language,
    text: &str,
    chunks: Vec<Chunk>,
    is_generated: bool,
    embedder: &dyn Embedder,
) -> Vec<StoreEntry> {
    let module = module_of(path);
    let place = path_words(path);
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
        let enclosing = chunk.path.strip_suffix(chunk.name.as_str()).unwrap_or_default();
        words_into(enclosing, &mut words);
        StoreEntry::Chunk(ChunkEntry {
            // Generated code is found by its words only: a question about the project is not about it.
            vector: (!is_generated)
                .then(|| embedder.embed(&embedded_text(path, &chunk, shown)))
                .flatten(),
            module: module.to_owned(),
            text: words,
            name,
            path_words: place.clone(),
            chunk: StoredChunk {
                path: path.as_str().to_owned(),
                language: language.to_string(),
                kind: chunk.kind,
                name_length: chunk.name.len().min(chunk.path.len()),
                scope: chunk.path,
                first_line: to_u32(*chunk.lines.start()),
                last_line: to_u32(*chunk.lines.end()),
                part: to_u32(chunk.part),
                parts: to_u32(chunk.parts),
                is_container_header: chunk.is_container_header,
                reopens: chunk.reopens,
                generated: is_generated,
                id: chunk.id,
                hash: hash(shown),
            },
        })
    };
    chunks.into_iter().map(entry).collect()
}

/// The text that a chunk's vector is made from: its path, its name and its first lines.
fn embedded_text(path: &RepoPath, chunk: &Chunk, shown: &str) -> String {
    let stem = stem(path);
    let shown = &shown[..shown.floor_char_boundary(MAX_EMBEDDED_BYTES)];
    let capacity = PATH_REPEATS * (stem.len() + 1) + chunk.path.len() + shown.len() + 2;
    let mut text = String::with_capacity(capacity);
    for _ in 0..PATH_REPEATS {
        text.push_str(stem);
        text.push('\n');
    }
    text.push_str(&chunk.path);
    text.push('\n');
    text.push_str(shown);
    text
}

fn discovery_entries(job: &FileJob<'_>, language: Language, text: &str) -> Vec<StoreEntry> {
    let origins = if MemoryFile::from_path(job.path.as_str()).is_some() {
        read_origins(job.root)
    } else {
        Origins::default()
    };
    let discoveries = extract_from_file(job.path, language, text, &origins);
    let rows = (!discoveries.is_empty()).then(|| Rows::of(text));
    let path = job.path.as_str();
    let entry = |discovery: Discovery| {
        let lines = discovery.lines.clone().zip(rows.as_ref());
        let hash = lines.map_or(0, |(lines, rows)| hash(rows.lines(*lines.start(), *lines.end())));
        discovery_entry(path, path, discovery, hash)
    };
    discoveries.into_iter().map(entry).collect()
}

/// The authors of memory entries. Empty if they were not recorded.
fn read_origins(root: &Root) -> Origins {
    let path = RepoPath::parse(&format!("{MEMORY_DIRECTORY}/{ORIGINS}")).expect("a literal path");
    match root.read(&path, MAX_FILE_BYTES) {
        Ok(content) => Origins::read(&lossy_text(content.bytes), key),
        Err(_) => Origins::default(),
    }
}

/// A discovery with the words it is found by. `source` is its file or commit, and `removal_key` what the
/// store removes it by.
pub(super) fn discovery_entry(
    source: &str,
    removal_key: &str,
    discovery: Discovery,
    hash_of_lines: u64,
) -> StoreEntry {
    let mut text = String::with_capacity(discovery.content.len() * 2);
    words_into(&discovery.content, &mut text);
    words_into(&discovery.title, &mut text);
    StoreEntry::Discovery(DiscoveryEntry {
        key: removal_key.to_owned(),
        text,
        discovery: StoredDiscovery {
            id: hash(&format!("{source}\n{}", discovery.content)),
            path_or_commit: source.to_owned(),
            discovery,
            hash: hash_of_lines,
        },
    })
}
