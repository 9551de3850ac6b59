//! What of a page is found, in which markup, and which pages stand behind others.

use docent_testkit::Sandbox;
use serde_json::json;

use crate::sandbox;
use crate::search_docs::{ids_of, search};

fn find_ids(sandbox: &Sandbox, query: &str) -> Vec<String> {
    ids_of(&search(sandbox, json!({ "query": query })))
}

#[test]
fn pages_of_other_markup_are_searched_and_read() {
    let sandbox = sandbox()
        .file(
            "doc/usage.rst",
            "=====\nUsage\n=====\n\nIntro.\n\nWalrus pool\n===========\n\nThe :ref:`walrus <w>` swims.\n\nEnd\n===\n\nOver.\n",
        )
        .file("doc/guide.adoc", "= Guide\n\nIntro.\n\n== Narwhal pool\n\nThe narwhal dives.\n");
    assert_eq!(
        find_ids(&sandbox, "walrus swims"),
        ["doc/usage.rst#usage/walrus-pool"]
    );
    assert_eq!(
        find_ids(&sandbox, "narwhal dives"),
        ["doc/guide.adoc#guide/narwhal-pool"]
    );
    let read = sandbox
        .call("get_doc", json!({ "chunk_id": "doc/usage.rst#walrus-pool" }))
        .text;
    assert_eq!(
        read,
        "--- Chunk: doc/usage.rst#usage/walrus-pool (Chunk 2 of 3) (Target) ---\nWalrus pool\n===========\n\nThe :ref:`walrus <w>` swims."
    );
    let answer = search(&sandbox, json!({ "query": "walrus swims" }));
    assert_eq!(answer["hits"][0]["snippet"], "Walrus pool The walrus swims.");
}

#[test]
fn everything_on_a_page_can_be_found() {
    let sandbox = sandbox().file(
        "docs/page.md",
        "---\nauthor: Quokka\n---\n# Page\n\nText.\n\n## Links\n\nSee [there](https://narwhal.example/x \"Dugong\").\n\n## Code\n\n\
         ```tapirlang\nx\n```\n\n## Tags\n\n<Okapi axolotl=\"1\">word</Okapi>\n\n## Words\n\nAll that we return to.\n",
    );
    let check = |query: &str, expected: &str| {
        assert_eq!(
            find_ids(&sandbox, query)[0],
            format!("docs/page.md#{expected}"),
            "{query}"
        );
    };
    check("quokka", "_preamble");
    check("narwhal", "page/links");
    check("dugong", "page/links");
    check("tapirlang", "page/code");
    check("okapi", "page/tags");
    check("axolotl", "page/tags");
    // Words that are in every text are searched for if there are no others.
    check("return", "page/words");
    check("that", "page/words");
}

#[test]
fn the_words_that_a_reader_sees_count_more() {
    let sandbox = sandbox()
        .file(
            "docs/a.md",
            "# A\n\nSee [there](https://x.example/narwhal/narwhal).\n",
        )
        .file(
            "docs/b.md",
            "# B\n\nThe narwhal dives deep and has many friends among the whales of the north.\n",
        );
    assert_eq!(find_ids(&sandbox, "narwhal"), ["docs/b.md", "docs/a.md"]);
}

#[test]
fn changelogs_stand_behind_guides() {
    let sandbox = sandbox()
        .file(
            "CHANGELOG.md",
            "# Changelog\n\n## 1.1.0\n\n- Configure ssh: ssh keys, ssh ports\n\n## 1.0.0\n\n- Configure ssh once more\n",
        )
        .file(".github/ISSUE_TEMPLATE/bug.md", "# Bug\n\nDid you configure ssh?\n")
        .file(
            "docs/install.md",
            "# Install\n\nRun it.\n\n## Remote access\n\nFor access by git, set the port for ssh in the file that the administrator edits.\n",
        );
    assert_eq!(
        find_ids(&sandbox, "how to configure ssh")[0],
        "docs/install.md#install/remote-access"
    );
    assert!(find_ids(&sandbox, "configure ssh changelog")[0].starts_with("CHANGELOG.md#"));
    assert_eq!(
        find_ids(&sandbox, "what did 1.1.0 change for ssh")[0],
        "CHANGELOG.md#changelog/110"
    );
    // Without a guide about it, the changelog answers.
    assert_eq!(find_ids(&sandbox, "keys")[0], "CHANGELOG.md#changelog/110");
}

#[test]
fn a_section_does_not_go_on_below_another_title() {
    let sandbox = sandbox().file(
        "History.md",
        "# 2.0\n\nNew.\n\n## Fixes\n\nThe walrus swims.\n\n# 1.0\n\nThe narwhal dives.\n",
    );
    let answer = search(&sandbox, json!({ "query": "narwhal dives" }));
    assert_eq!(answer["hits"][0]["chunk_id"], "History.md#10");
    assert_eq!(answer["hits"][0]["breadcrumb"], "1.0");
}

#[test]
fn a_suggestion_is_a_word_as_a_page_writes_it() {
    let sandbox = sandbox().file("docs/a.md", "# A\n\nThis is about situations.\n");
    let answer = search(&sandbox, json!({ "query": "situatons" }));
    assert_eq!(
        answer["hint"]["message"],
        "0 results found for 'situatons'. Did you mean 'situations' for 'situatons'? The closest headings: 'A'."
    );
}
