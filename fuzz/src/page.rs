//! Markdown pages: the sections, put one after the other, are the page, and no two have the same name.

use std::collections::BTreeSet;

use docent_core::docs::manifest::{HeadingLevel, Labels, PageRules, Strategy};
use docent_core::docs::page::{Page, PageTarget};

/// The first byte chooses the strategy, the rest is the page.
pub fn check(input: &[u8]) {
    let (selector, text) = super::split_selector(input);
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let levels = [
        HeadingLevel::H1,
        HeadingLevel::H2,
        HeadingLevel::H3,
        HeadingLevel::File,
    ];
    let max_chars = 1 + selector / levels.len();
    let strategy = Strategy {
        level: levels[selector % levels.len()],
        max_chars,
        min_chars: max_chars / 3,
    };
    let page = Page::of(
        text,
        PageRules {
            strategy,
            labels: Labels::new(),
        },
    );

    let joined: String = page
        .sections
        .iter()
        .map(|section| &text[section.bytes.clone()])
        .collect();
    assert_eq!(joined, text, "sections are not the page");
    let plain: String = page
        .sections
        .iter()
        .map(|section| &page.plain[section.plain.clone()])
        .collect();
    assert_eq!(plain, page.plain, "sections are not the plain text");
    let names: BTreeSet<&str> = page
        .sections
        .iter()
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(names.len(), page.sections.len(), "two sections have one name");
    for (index, section) in page.sections.iter().enumerate() {
        assert_eq!(
            page.find(&section.name),
            PageTarget::One(index),
            "a section is not found by its name"
        );
    }
}
