//! Pages: markdown cut at its headings into named sections.
//!
//! A section is named by the slugs of the headings above it: `guides/retries.md#retries/backoff`. The text
//! before the first cutting heading is the preamble. A section ends at the next heading of its own or a
//! higher level. One that is too long is cut at finer headings, and without those between blocks, but never
//! inside a code block, a table row or a list item. A page that is one section has no name behind the `#`.
//!
//! [`Markup`] says how headings and blocks are written: markdown, reStructuredText or AsciiDoc.
//!
//! Invariant: the sections of a page in order are the page, byte by byte, and no two have the same name.

mod asciidoc;
mod blocks;
mod cut;
mod lines;
mod markup;
mod rst;

use std::ops::Range;

use super::Problem;
use super::manifest::{Labels, PageRules};
use blocks::one_line;
pub use blocks::slug;
use cut::{PageCut, name_sections};
pub use markup::{Markup, plain_text};

/// A page with its sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub title: Option<String>,
    pub labels: Labels,
    pub sections: Vec<PageSection>,
    /// Text of the whole page without markup.
    pub plain: String,
    pub problems: Vec<Problem>,
    /// The name that the only section would have beside others. Callers may know it from an earlier state of
    /// the page.
    long_name: Option<String>,
}

/// A named part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSection {
    /// The name after the `#`; empty if the page is one section.
    pub name: String,
    /// Its heading, or empty.
    pub heading: String,
    /// The headings above that one, outermost first.
    pub above: Vec<String>,
    /// Range in the text of the page.
    pub bytes: Range<usize>,
    /// Range in the plain text of the page.
    pub plain: Range<usize>,
    /// First and last line, counted from 1.
    pub lines: (usize, usize),
}

impl PageSection {
    /// The id of the section: the path of the page, and its name after a `#`.
    pub fn id(&self, path: &str) -> String {
        section_id(path, &self.name)
    }

    /// The heading with the ones above it.
    pub fn breadcrumb(&self) -> String {
        breadcrumb(&self.above, &self.heading)
    }
}

impl Page {
    /// Cuts a page by the rules of its manifest.
    pub fn of(text: &str, markup: Markup, rules: PageRules) -> Self {
        let front = markup.front_matter(text);
        let PageRules { strategy, labels } = front.apply_to(rules);
        let (blocks, plain) = markup.split_blocks(text, front.end);
        let first_heading = blocks.iter().find_map(|block| block.heading.as_ref());
        let title = front.title.as_deref().map(one_line).or_else(|| {
            first_heading
                .filter(|heading| heading.level == 1)
                .map(|heading| heading.shown.clone())
        });
        let cut = PageCut {
            text,
            start: front.end,
            blocks: &blocks,
            max_chars: strategy.max_chars,
        };
        let drafts = cut.draft_sections(strategy);
        let mut sections = name_sections(text, &front, title.as_deref(), drafts);
        cut.set_plain_ranges(&mut sections, plain.len());
        let long_name = match sections.as_mut_slice() {
            [only] => Some(std::mem::take(&mut only.name)),
            _ => None,
        };
        Self {
            title,
            labels,
            sections,
            plain,
            problems: front.problems,
            long_name,
        }
    }

    /// The section with this name, or the only one whose name ends with it. An empty name finds the only
    /// section of a page.
    pub fn find(&self, name: &str) -> PageTarget {
        if let Some(at) = self.sections.iter().position(|section| section.name == name) {
            return PageTarget::One(at);
        }
        if let Some(long) = &self.long_name {
            let is_tail = long
                .strip_suffix(name)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            return if is_tail {
                PageTarget::One(0)
            } else {
                PageTarget::None
            };
        }
        let has_tail = |section: &PageSection| {
            section
                .name
                .strip_suffix(name)
                .is_some_and(|rest| !name.is_empty() && rest.ends_with('/'))
        };
        let found: Vec<usize> = (0..self.sections.len())
            .filter(|at| has_tail(&self.sections[*at]))
            .collect();
        let is_cut = |section: &PageSection| section.name.starts_with("_preamble/");
        match found.as_slice() {
            // A preamble that was cut is found by its first part.
            [] if name == "_preamble" && self.sections.first().is_some_and(is_cut) => PageTarget::One(0),
            [] if name.is_empty() => PageTarget::Several((0..self.sections.len()).collect()),
            [] => PageTarget::None,
            [one] => PageTarget::One(*one),
            _ => PageTarget::Several(found),
        }
    }
}

/// The id of a section, by which callers ask for it.
pub fn section_id(path: &str, name: &str) -> String {
    if name.is_empty() {
        path.to_owned()
    } else {
        format!("{path}#{name}")
    }
}

/// A heading with the ones above it.
pub fn breadcrumb(above: &[String], heading: &str) -> String {
    let all = above.iter().map(String::as_str).chain([heading]);
    let named: Vec<&str> = all.filter(|heading| !heading.is_empty()).collect();
    named.join(" > ")
}

/// The sections that a name leads to, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTarget {
    None,
    One(usize),
    Several(Vec<usize>),
}

#[cfg(test)]
mod tests;
