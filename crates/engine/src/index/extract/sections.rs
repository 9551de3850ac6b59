//! Sections of a page of documentation.

use std::collections::HashSet;
use std::sync::Arc;

use docent_core::docs::manifest::PageRules;
use docent_core::docs::minor::is_minor;
use docent_core::docs::page::{Markup, Page, PageSection};
use docent_core::docs::taxonomy::applies_to_all_languages;
use docent_core::path::RepoPath;
use docent_core::text::left_out::left_out_words_into;
use docent_core::text::tokens::words_into;

use super::file_job::{Extracted, FileJob, path_words};
use crate::embed::Embedder;
use crate::index::content_hash::hash;
use crate::store::{Label, SectionEntry, StoredSection};

/// How often the words of a heading count beside those of the text. Headings above it, and the path, count
/// once.
const HEADING_REPEATS: usize = 2;

/// Bytes of a section that go into its vector. The rest would only blur it.
const MAX_EMBEDDED_BYTES: usize = 1_000;

/// Reads a page and cuts it into sections.
pub(in crate::index) fn extract_sections(
    job: &FileJob<'_>,
    embedder: &dyn Embedder,
    rules: impl FnOnce() -> PageRules,
) -> Extracted<SectionEntry> {
    job.run(|row, text| {
        let page = Page::of(text, Markup::of_path(job.path).unwrap_or_default(), rules());
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

fn section_entries(path: &RepoPath, text: &str, page: &Page, embedder: &dyn Embedder) -> Vec<SectionEntry> {
    let place = path_words(path);
    let labels: Vec<(String, String)> = page
        .labels
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let filters: Arc<[Label]> = filters(path, page, &labels).into();
    let entry = |section: &PageSection| {
        let plain = &page.plain[section.plain.clone()];
        let mut common = String::new();
        left_out_words_into(plain, &mut common);
        for _ in 0..HEADING_REPEATS {
            left_out_words_into(&section.heading, &mut common);
        }
        let mut words = String::with_capacity(plain.len() + plain.len() / 4);
        words_into(plain, &mut words);
        for _ in 0..HEADING_REPEATS {
            words_into(&section.heading, &mut words);
        }
        for outer in section.above.iter().chain(&page.title) {
            words_into(outer, &mut words);
        }
        words.push_str(&place);
        SectionEntry {
            vector: embedder.embed(&embedded_text(path, page, section)),
            section: stored_section(path, text, section, &labels),
            hidden: hidden_words(&text[section.bytes.clone()], &words),
            text: words,
            common,
            labels: filters.clone(),
        }
    };
    page.sections.iter().map(entry).collect()
}

/// The words of a section as it is written that are not among those that a reader sees, each once.
fn hidden_words(written: &str, seen: &str) -> String {
    let mut known: HashSet<&str> = seen.split_terminator(' ').collect();
    let mut all = String::new();
    words_into(written, &mut all);
    let mut hidden = String::new();
    for word in all.split_terminator(' ') {
        if known.insert(word) {
            hidden.push_str(word);
            hidden.push(' ');
        }
    }
    hidden
}

/// The filters of a page's sections: its labels, and the directories it is in.
fn filters(path: &RepoPath, page: &Page, labels: &[(String, String)]) -> Vec<Label> {
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
    if is_minor(path) {
        filters.push(Label::Minor);
    }
    let mut directory = path.as_str();
    while let Some((above, _)) = directory.rsplit_once('/') {
        filters.push(Label::Directory(above.to_owned()));
        directory = above;
    }
    filters
}

pub(super) fn stored_section(
    path: &RepoPath,
    text: &str,
    section: &PageSection,
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

/// The text that a section's vector is made from: heading, title and path twice, then the headings above it
/// and the beginning of its text.
fn embedded_text(path: &RepoPath, page: &Page, section: &PageSection) -> String {
    let plain = &page.plain[section.plain.clone()];
    let plain = &plain[..plain.floor_char_boundary(MAX_EMBEDDED_BYTES)];
    let title = page.title.as_deref().unwrap_or_default();
    let mut text = String::with_capacity(plain.len() + 200);
    for part in [&section.heading, title, path.as_str()] {
        for _ in 0..2 {
            text.push_str(part);
            text.push('\n');
        }
    }
    for part in section.above.iter().map(String::as_str).chain([plain]) {
        text.push_str(part);
        text.push('\n');
    }
    text
}
