//! The compact form of the documentation, coverage and memory tools.
//!
//! Left out: the contract form of the same answers, which the files of the tools test.

use docent_testkit::{Sandbox, lcov_report};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

fn documentation() -> Sandbox {
    let page = "# Guide\n\nHow walruses are kept.\n\n## Feeding walruses\n\nFeed a walrus twice a day. Walruses eat clams.\n\n\
                ## Housing\n\nA pool.\n";
    sandbox()
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "metadata": {"team": "Core"}}"#,
        )
        .file("docs/guide.md", page)
        .file("docs/hidden.md", "# Seals\n\nA seal\u{202e} swims.\n")
        .compact()
}

#[test]
fn a_section_is_one_line_and_its_snippet_with_the_words_of_the_query() {
    assert_snapshot!(documentation().call("search_docs", json!({ "query": "feed clams", "limit": 1 })), @"
    docs/guide.md#guide/feeding-walruses  Guide > Feeding walruses  1.00  team=Core
    	**Feed** a walrus twice a day. Walruses eat **clams**.
    ");
}

#[test]
fn the_cursor_is_the_last_line_and_leads_on() {
    let sandbox = documentation();
    let first = sandbox
        .call("search_docs", json!({ "query": "walrus", "limit": 1 }))
        .text;
    let (_, cursor) = first.rsplit_once("\n… more: cursor ").expect("a cursor");
    let arguments = json!({ "query": "walrus", "limit": 1, "cursor": cursor });
    let second = sandbox.call("search_docs", arguments).text;
    assert_ne!(first.lines().next(), second.lines().next());
}

#[test]
fn a_search_without_results_says_what_comes_close() {
    assert_snapshot!(documentation().call("search_docs", json!({ "query": "walrsu" })), @"0 results found for 'walrsu'. Did you mean 'walruses' for 'walrsu'? The closest headings: 'Feeding walruses', 'Guide'.");
}

#[test]
fn a_section_follows_a_header_with_its_id() {
    let arguments = json!({ "chunk_id": "docs/guide.md#guide/feeding-walruses", "context": 1 });
    assert_snapshot!(documentation().call("get_doc", arguments), @"
    docs/guide.md#_preamble  Guide  lines 1-4, section 1 of 3
    # Guide

    How walruses are kept.

    docs/guide.md#guide/feeding-walruses  Guide > Feeding walruses  lines 5-8, section 2 of 3
    ## Feeding walruses

    Feed a walrus twice a day. Walruses eat clams.

    docs/guide.md#guide/housing  Guide > Housing  lines 9-11, section 3 of 3
    ## Housing

    A pool.
    ");
}

#[test]
fn hidden_characters_are_written_out() {
    let sandbox = documentation();
    let found = sandbox.call("search_docs", json!({ "query": "seal" })).text;
    let read = sandbox
        .call("get_doc", json!({ "chunk_id": "docs/hidden.md" }))
        .text;
    for text in [found, read] {
        assert!(text.contains(r"\u{202E}"), "{text}");
    }
}

#[test]
fn answers_keep_to_their_budget() {
    let text = "A walrus eats clams. ".repeat(40);
    let sections: Vec<String> = (0..60)
        .map(|number| format!("## Walrus {number}\n\n{text}\n"))
        .collect();
    let sandbox = sandbox().file("docs/long.md", sections.join("\n")).compact();
    let found = sandbox
        .call("search_docs", json!({ "query": "walrus", "limit": 50 }))
        .text;
    assert!(found.chars().count() <= 20_000, "{}", found.chars().count());
    let long = json!({ "chunk_id": "docs/long.md#walrus-7", "context": 5 });
    let run = |budget: &str| {
        let set = format!("answer.max_chars={budget}");
        let arguments = long.to_string();
        sandbox
            .run(&["call", "--compact", "--set", &set, "get_doc", &arguments])
            .stdout
    };
    let read = run("2000");
    assert!(read.chars().count() <= 2_001, "{}", read.chars().count());
    assert!(read.contains("\n… no room for docs/long.md#walrus-"), "{read}");
}

#[test]
fn a_page_is_markdown_on_the_command_line() {
    let shown = documentation().run(&["doc", "docs/guide.md#guide/housing"]);
    assert_snapshot!(shown.stdout, @"
    docs/guide.md#guide/housing  Guide > Housing  lines 9-11, section 3 of 3
    ## Housing

    A pool.
    ");
}

#[test]
fn coverage_is_plain_lines() {
    let sandbox = sandbox()
        .file(
            "lcov.info",
            lcov_report(&[("src/a.ts", 1, 3), ("src/b.ts", 1_204, 1_447)]),
        )
        .compact();
    assert_snapshot!(sandbox.call("get_overall_coverage", json!({ "lcovPath": "lcov.info" })), @"
    83.1 % 1,205/1,450 lines, 2 files
    33.3 % 1/3 src/a.ts
    83.2 % 1,204/1,447 src/b.ts
    ");
    let files = json!({ "lcovPath": "lcov.info", "filePaths": ["src/b.ts", "src"] });
    assert_snapshot!(sandbox.call("get_file_coverage", files), @"
    83.2 % 1,204/1,447 src/b.ts
    0 % src (not in the report)
    note: src is a directory; the report has 2 files below it, such as src/a.ts
    ");
    let started = sandbox.call_by_cli("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    sandbox.write(
        "lcov.info",
        lcov_report(&[("src/a.ts", 3, 3), ("src/b.ts", 1_204, 1_447)]),
    );
    let ended = json!({ "snapshotId": started.text.trim(), "lcovPath": "lcov.info" });
    assert_snapshot!(sandbox.call("end_coverage_snapshot", ended), @"
    +0.1 overall
    +66.7 src/a.ts
    … 1 file unchanged
    ");
}

#[test]
fn many_changes_are_cut_to_those_that_changed_most() {
    let names: Vec<String> = (0..1_000)
        .map(|number| format!("src/file{number:04}.ts"))
        .collect();
    let report = |hit: fn(u32) -> u32| {
        let files: Vec<_> = (0..)
            .zip(&names)
            .map(|(at, name)| (name.as_str(), hit(at), 1_000))
            .collect();
        lcov_report(&files)
    };
    let sandbox = sandbox().file("lcov.info", report(|_| 0)).compact();
    let started = sandbox.call_by_cli("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    sandbox.write("lcov.info", report(|at| at + 1));
    let ended = json!({ "snapshotId": started.text.trim(), "lcovPath": "lcov.info" });
    let text = sandbox.call("end_coverage_snapshot", ended).text;
    assert!(text.chars().count() <= 20_000, "{}", text.chars().count());
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("… ") && last.contains("more files changed by"),
        "{last}"
    );
}

#[test]
fn memory_entries_and_greetings_are_sentences() {
    let sandbox = sandbox().compact();
    assert_snapshot!(sandbox.call("hello", json!({})), @"Hello, World!");
    let entry = json!({ "file": "best_practices.md", "entry": "Count walruses." });
    let waits = sandbox.call_by_cli("write_memory_entry", entry).text;
    assert!(
        waits.starts_with(
            "This client cannot ask the user, so nothing is written yet. Tell the user to run `docent"
        ),
        "{waits}"
    );
    let added = sandbox.run(&["memory", "add", "best_practices.md", "Count seals."]);
    assert_snapshot!(added.stdout, @"13 bytes appended to .context/memory/best_practices.md");
}
