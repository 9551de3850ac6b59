//! The texts that an embedding server gets: of chunks and of sections, without secrets.

use std::borrow::Cow;

use docent_core::chunk::{Chunk, Chunked, Rows, chunk};
use docent_core::docs::manifest::PageRules;
use docent_core::docs::page::{Markup, Page, PageSection};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::text::redact::redact;

use super::code::is_generated;
use super::file_job::{Extracted, FileJob};
use super::sections::stored_section;
use crate::embed::Text;
use crate::index::content_hash::hash;
use crate::store::StoredChunk;

/// Bytes of a text that are sent. Many embedding models read 512 tokens, which is about as much.
const MAX_SENT_BYTES: usize = 1_500;

/// The texts of a file's chunks. Empty for generated code.
pub(in crate::index) fn chunk_texts(job: &FileJob<'_>) -> Extracted<Text> {
    job.run(|_, text| {
        let Chunked { chunks, unparsed } = chunk(Language::of_file(job.path, text), text);
        if is_generated(unparsed) {
            return Vec::new();
        }
        let rows = Rows::of(text);
        let redacted = RedactedText::new(text);
        let text = |chunk: Chunk| {
            let shown = rows.lines(*chunk.lines.start(), *chunk.lines.end());
            Text {
                key: StoredChunk::vector_key(job.path.as_str(), &chunk.path, hash(shown)),
                text: sent_text(job.path, &chunk.path, redacted.part(shown)),
            }
        };
        chunks.into_iter().map(text).collect()
    })
}

/// The texts of a page's sections.
pub(in crate::index) fn section_texts(
    job: &FileJob<'_>,
    rules: impl FnOnce() -> PageRules,
) -> Extracted<Text> {
    job.run(|_, text| {
        let page = Page::of(text, Markup::of_path(job.path).unwrap_or_default(), rules());
        let redacted = RedactedText::new(&page.plain);
        let text = |section: &PageSection| {
            let stored = stored_section(job.path, text, section, &[]);
            let part = redacted.part(&page.plain[section.plain.clone()]);
            Text {
                key: stored.vector_key(),
                text: sent_text(job.path, &stored.breadcrumb(), part),
            }
        };
        page.sections.iter().map(text).collect()
    })
}

/// A text without its secrets. They are searched for in the whole text, because a part of a key does not look
/// like one.
struct RedactedText<'a>(Cow<'a, str>);

impl<'a> RedactedText<'a> {
    fn new(text: &'a str) -> Self {
        Self(redact(text))
    }

    /// A part of the text. Empty if a secret is in it.
    fn part<'b>(&self, part: &'b str) -> &'b str {
        match &self.0 {
            Cow::Borrowed(_) => part,
            Cow::Owned(clean) if clean.contains(part) => part,
            Cow::Owned(_) => "",
        }
    }
}

/// The path, the name and the beginning of a text.
fn sent_text(path: &RepoPath, name: &str, shown: &str) -> String {
    let shown = &shown[..shown.floor_char_boundary(MAX_SENT_BYTES)];
    format!("{path}\n{name}\n{shown}")
}
