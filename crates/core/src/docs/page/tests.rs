//! How pages are cut into sections, by example.

use proptest::{prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::docs::manifest::{HeadingLevel, Strategy};

fn strategy(level: HeadingLevel, max_chars: usize, min_chars: usize) -> PageRules {
    PageRules {
        strategy: Strategy {
            level,
            max_chars,
            min_chars,
        },
        labels: Labels::new(),
    }
}

fn page(text: &str, rules: PageRules) -> Page {
    page_in(Markup::Markdown, text, rules)
}

fn page_in(markup: Markup, text: &str, rules: PageRules) -> Page {
    let page = Page::of(text, markup, rules);
    let joined: String = page
        .sections
        .iter()
        .map(|section| &text[section.bytes.clone()])
        .collect();
    assert_eq!(joined, text);
    let plain: String = page
        .sections
        .iter()
        .map(|section| &page.plain[section.plain.clone()])
        .collect();
    assert_eq!(plain, page.plain);
    page
}

/// The names of the sections of a page in some markup, by the rules without a manifest.
pub(super) fn sections_of(markup: Markup, text: &str) -> Vec<String> {
    names(&page_in(markup, text, PageRules::default()))
}

/// The headings of a page in some markup, each with its level.
pub(super) fn headings(markup: Markup, text: &str) -> Vec<String> {
    let (blocks, _) = markup.split_blocks(text, 0);
    let headings = blocks.iter().filter_map(|block| block.heading.as_ref());
    headings
        .map(|heading| format!("{} {}", heading.level, heading.shown))
        .collect()
}

fn names_by(level: HeadingLevel, text: &str) -> Vec<String> {
    names(&page(text, strategy(level, 20_000, 0)))
}

fn names(page: &Page) -> Vec<String> {
    page.sections.iter().map(|section| section.name.clone()).collect()
}

#[test]
fn sections_are_named_by_the_headings_above_them() {
    let text = "# Retries\nIntro.\n\n## Backoff Strategy\nText.\n\n### Jitter\nText.\n\n## Limits\nText.\n";
    assert_eq!(
        names_by(HeadingLevel::H2, text),
        ["_preamble", "retries/backoff-strategy", "retries/limits"]
    );
    assert_eq!(
        names_by(HeadingLevel::H3, text),
        ["_preamble", "retries/backoff-strategy/jitter", "retries/limits"]
    );
    assert_eq!(names_by(HeadingLevel::H1, text), [""]);
    assert_eq!(names_by(HeadingLevel::File, text), [""]);
    let page = page(text, PageRules::default());
    let crumbs: Vec<String> = page.sections.iter().map(PageSection::breadcrumb).collect();
    assert_eq!(
        crumbs,
        ["Retries", "Retries > Backoff Strategy", "Retries > Limits"]
    );
    let lines: Vec<(usize, usize)> = page.sections.iter().map(|section| section.lines).collect();
    assert_eq!(lines, [(1, 3), (4, 9), (10, 11)]);
}

#[test]
fn a_section_ends_at_any_heading_of_its_own_or_a_higher_level() {
    let text = "# One\nintro\n\n## A\nx\n\n# Two\nintro\n\n## A\ny\n\n# Three\n\n## B\nz\n\n# Four\nend\n";
    let page = page(text, PageRules::default());
    assert_eq!(
        names(&page),
        ["_preamble", "one/a", "two", "two/a", "three/b", "four"]
    );
    let crumbs: Vec<String> = page.sections.iter().map(PageSection::breadcrumb).collect();
    assert_eq!(crumbs, ["One", "One > A", "Two", "Two > A", "Three > B", "Four"]);
    // A heading without a text of its own stands above its first section.
    assert!(text[page.sections[4].bytes.clone()].starts_with("# Three"));
    assert_eq!(
        names_by(HeadingLevel::H2, "# One\nx\n# Two\ny\n"),
        ["_preamble", "two"]
    );
    assert_eq!(
        names_by(HeadingLevel::H3, "# T\n## A\n### B\nx\n## C\ny\n## D\n### E\n"),
        ["_preamble", "t/a/b", "t/c", "t/d/e"]
    );
}

#[test]
fn a_page_of_one_section_has_no_name_behind_the_path() {
    let page = page("## Only\ntext\n", PageRules::default());
    assert_eq!(page.sections[0].id("a.md"), "a.md");
    assert_eq!(page.find(""), PageTarget::One(0));
    // The name that it has beside others still leads to it.
    assert_eq!(page.find("only"), PageTarget::One(0));
    assert_eq!(page.find("other"), PageTarget::None);
}

#[test]
fn equal_headings_are_numbered() {
    let text = "## A\nx\n## A\ny\n## A 2\nz\n# B\n## A\nw\n";
    assert_eq!(names_by(HeadingLevel::H2, text), ["a", "a-2", "a-2-2", "b/a"]);
}

#[test]
fn slugs_keep_letters_of_any_script() {
    let check = |heading: &str, expected: &str| assert_eq!(slug(heading), expected, "{heading}");
    check("Backoff Strategy", "backoff-strategy");
    check("  What's `new` in v1.2 -- and_why? ", "whats-new-in-v12-andwhy");
    check("Über Größe", "über-größe");
    check("日本語 ガイド", "日本語-ガイド");
    check("Установка и настройка", "установка-и-настройка");
    check("!!!", "section");
    check("- a -", "a");
}

#[test]
fn only_real_headings_cut_a_page() {
    let text = "Title\n=====\n\n```md\n## not one\n```\n\n<div>\n## nor this\n</div>\n\n> ## quoted\n\n- ## listed\n\nSet\n---\n\n    ## code\n\n##no space\n\n## Yes ##\n";
    assert_eq!(
        names_by(HeadingLevel::H2, text),
        ["_preamble", "title/set", "title/yes"]
    );
    let html = "## New <span class=\"v\">v5</span>\n\n## Other\n";
    let page = page(html, PageRules::default());
    assert_eq!(page.sections[0].heading, "New v5");
    assert_eq!(page.sections[0].name, "new-span-classvv5span");
}

#[test]
fn long_headings_are_cut_and_anchors_removed() {
    let long = "word ".repeat(5_000);
    let text =
        format!("---\ntitle: \"a\\n{long}\"\n---\n## {long}\n\n## {long}\n\n## Settings {{#settings}}\n");
    let page = page(&text, PageRules::default());
    for section in &page.sections {
        assert!(section.heading.chars().count() <= 201 && section.name.len() <= 302);
        assert!(!section.breadcrumb().contains('\n'));
    }
    assert_eq!(page.sections[2].heading, "Settings");
    assert_eq!(page.sections[2].name, "settings-settings");
}

#[test]
fn front_matter_belongs_to_the_first_section_and_gives_the_title() {
    let text = "---\ntitle: Islands\n---\n\nIntro.\n\n## One\nx\n";
    let page = page(text, PageRules::default());
    assert_eq!(names(&page), ["_preamble", "one"]);
    assert_eq!(page.sections[0].heading, "Islands");
    assert_eq!(&page.plain[page.sections[0].plain.clone()], "Intro.\n");
    assert_eq!(page.sections[1].breadcrumb(), "Islands > One");
    assert_eq!(
        names_by(HeadingLevel::H2, "---\ntitle: x\n---\n\n## One\nx\n## Two\n"),
        ["one", "two"]
    );
}

#[test]
fn pages_without_text_are_one_section() {
    assert_eq!(names_by(HeadingLevel::H2, ""), [""]);
    assert_eq!(names_by(HeadingLevel::H2, " \n\n"), [""]);
    assert_eq!(names_by(HeadingLevel::H2, "---\na: b\n---\n"), [""]);
}

#[test]
fn a_long_section_is_cut_at_finer_headings_first() {
    let long = "word ".repeat(30);
    let text = format!("# T\n\n## A\n\n{long}\n\n### One\n\n{long}\n\n### Two\n\n{long}\n\n## B\n\nshort\n");
    let page = page(&text, strategy(HeadingLevel::H2, 200, 0));
    assert_eq!(names(&page), ["_preamble", "t/a", "t/a/one", "t/a/two", "t/b"]);
    assert_eq!(page.sections[2].breadcrumb(), "T > A > One");
}

#[test]
fn a_long_section_without_finer_headings_is_cut_between_blocks() {
    let long = "word ".repeat(30);
    let text = format!("## A\n\n{long}\n\n{long}\n\n{long}\n");
    let cut = page(&text, strategy(HeadingLevel::H2, 200, 0));
    assert_eq!(names(&cut), ["a", "a-part-2", "a-part-3"]);
    let file = page(&text, strategy(HeadingLevel::File, 200, 0));
    assert_eq!(names(&file), ["a", "a-part-2", "a-part-3"]);
    let plain = page(
        &format!("{long}\n\n{long}\n"),
        strategy(HeadingLevel::File, 200, 0),
    );
    assert_eq!(names(&plain), ["", "_part-2"]);
    let preamble = page(&format!("{long}\n\n{long}\n"), strategy(HeadingLevel::H2, 200, 0));
    assert_eq!(names(&preamble), ["_preamble", "_preamble-part-2"]);
    let merged = page(
        &format!("## A\n\n{long}\n\n{long}\n\nend\n"),
        strategy(HeadingLevel::H2, 157, 100),
    );
    assert_eq!(names(&merged), ["a", "a-part-2"]);
}

#[test]
fn table_rows_list_items_and_code_blocks_are_not_cut() {
    let repeated = |make: fn(usize) -> String| (0..200).map(make).collect::<Vec<_>>().concat();
    let rows = repeated(|at| format!("| {at} | some words in a row |\n"));
    let items = repeated(|at| format!("- item {at}\n\n  ```\n  code of {at}\n\n  more\n  ```\n\n"));
    let code = repeated(|at| format!("line {at}\n\n"));
    let text = format!("## T\n\n| a | b |\n|---|---|\n{rows}\n\n{items}\n\n```\n{code}```\n\n## End\n");
    let page = page(&text, strategy(HeadingLevel::H2, 1_000, 0));
    assert!(page.sections.len() > 10);
    for section in &page.sections {
        let own = &text[section.bytes.clone()];
        let first = own.lines().next().unwrap_or_default();
        let whole = ["## ", "| ", "- item", "```"]
            .iter()
            .any(|start| first.starts_with(start));
        assert!(whole, "{:?} begins with {first:?}", section.name);
        assert!(own.matches("```").count() % 2 == 0, "{:?}", section.name);
        assert!(
            own.chars().count() <= 1_002 || own.starts_with("```"),
            "{:?}",
            section.name
        );
        let plain = &page.plain[section.plain.clone()];
        let number = own.split_whitespace().find(|word| word.parse::<usize>().is_ok());
        let plain_number = plain
            .split_whitespace()
            .find(|word| word.parse::<usize>().is_ok());
        assert_eq!(number, plain_number, "{:?}", section.name);
    }
}

#[test]
fn a_section_of_two_megabytes_is_cut() {
    let text = format!("# Log\n\n{}", "one more line of the log\n".repeat(85_000));
    let page = page(&text, PageRules::default());
    assert!(page.sections.len() > 100);
    assert!(page.sections.iter().all(|section| section.bytes.len() <= 20_001));
}

#[test]
fn a_section_is_found_by_a_unique_tail_of_its_name() {
    let text = "# A\n## X\n### Deep\n## Y\n# B\n## X\n";
    let page = page(text, PageRules::default());
    assert_eq!(names(&page), ["_preamble", "a/x", "a/y", "b/x"]);
    assert_eq!(page.find("a/y"), PageTarget::One(2));
    assert_eq!(page.find("y"), PageTarget::One(2));
    assert_eq!(page.find("x"), PageTarget::Several(vec![1, 3]));
    assert_eq!(page.find("z"), PageTarget::None);
    assert_eq!(page.find(""), PageTarget::Several(vec![0, 1, 2, 3]));
}

#[test]
fn invisible_text_is_a_preamble_too() {
    assert_eq!(
        names_by(HeadingLevel::H2, "[//]: # (title: Packages)\n\n## Imports\n"),
        ["_preamble", "imports"]
    );
    assert_eq!(
        names_by(
            HeadingLevel::H2,
            "## Foot[^1] ~~note~~\n\n[^1]: There.\n\n## End\n"
        ),
        ["foot-note", "end"]
    );
}

#[test]
fn mdx_is_read_as_markdown() {
    let text = "import X from './x';\n\nexport const a = 1;\n\n# T\n\n<Tabs>\n  <Tab>\n\n## Inside\n\n</Tab>\n</Tabs>\n\n{/* c */}\n\n## After\n";
    assert_eq!(
        names_by(HeadingLevel::H2, text),
        ["_preamble", "t/inside", "t/after"]
    );
}

proptest! {
    #[test]
    fn the_sections_of_a_random_page_of_other_markup_are_the_page(
        text in "(=|==|=== A|--|~~|A|b \n|\n|    c\n|\\.\\. _x:\n|\\.\\. n:: y\n|:r:`t <u>`_|\\[\\[a\\]\\]\n|----\n|\\|===\n|é|\r\n|\t){0,60}",
        most in 1_usize..80,
        by in 0_usize..4,
    ) {
        let by = [HeadingLevel::H1, HeadingLevel::H2, HeadingLevel::H3, HeadingLevel::File][by];
        for markup in [Markup::RestructuredText, Markup::AsciiDoc] {
            let page = page_in(markup, &text, strategy(by, most, most / 3));
            let mut names = names(&page);
            let count = names.len();
            prop_assert!(count > 0);
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn the_sections_of_a_random_page_are_the_page(text in "(# |## |### |---\n|a|b \n|\n|```\n|\\| x \\|\n|- |> |<p>\n|=+\n|é|\r\n|\t){0,60}", most in 1_usize..80, by in 0_usize..4) {
        let by = [HeadingLevel::H1, HeadingLevel::H2, HeadingLevel::H3, HeadingLevel::File][by];
        let page = page(&text, strategy(by, most, most / 3));
        let mut names = names(&page);
        let count = names.len();
        prop_assert!(count > 0);
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), count);
    }
}
