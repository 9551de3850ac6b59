//! The markup languages of pages, and what each of them reads differently: front matter, blocks, plain text.

use super::blocks::{self, Block};
use super::{asciidoc, rst};
use crate::docs::front_matter::{FrontMatter, text_start};
use crate::docs::snippet::plain_text_of_markdown;
use crate::path::RepoPath;

/// The markup language of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Markup {
    #[default]
    Markdown,
    RestructuredText,
    AsciiDoc,
}

impl Markup {
    /// The markup of a file by the end of its name. `None` if it is no page.
    pub fn of_path(path: &RepoPath) -> Option<Self> {
        let (stem, extension) = path.file_name().rsplit_once('.')?;
        let markup = match extension.to_ascii_lowercase().as_str() {
            "md" | "mdx" | "markdown" => Self::Markdown,
            "rst" => Self::RestructuredText,
            "adoc" | "asciidoc" => Self::AsciiDoc,
            _ => return None,
        };
        (!stem.is_empty()).then_some(markup)
    }

    /// Byte where the text of a page begins, after the front matter. A line of hyphens at the top of
    /// reStructuredText is part of a heading.
    pub fn text_start(self, text: &str) -> usize {
        match self {
            Self::Markdown | Self::AsciiDoc => text_start(text),
            Self::RestructuredText => 0,
        }
    }

    pub(super) fn front_matter(self, text: &str) -> FrontMatter {
        match self {
            Self::Markdown | Self::AsciiDoc => FrontMatter::of(text),
            Self::RestructuredText => FrontMatter::default(),
        }
    }

    /// The outermost blocks of a text from byte `from` on, and its plain text.
    pub(super) fn split_blocks(self, text: &str, from: usize) -> (Vec<Block>, String) {
        match self {
            Self::Markdown => blocks::split_blocks(text, from),
            Self::RestructuredText => rst::split_blocks(text),
            Self::AsciiDoc => asciidoc::split_blocks(text, from),
        }
    }
}

/// The text of a part of a page as a reader sees it.
pub fn plain_text(text: &str, markup: Markup) -> String {
    match markup {
        Markup::Markdown => plain_text_of_markdown(text),
        Markup::RestructuredText | Markup::AsciiDoc => markup.split_blocks(text, 0).1,
    }
}
