//! `search_docs`: the example of its contract, pages of results, hints and changed pages.
//!
//! Left out: filters by label (`docs_labels.rs`) and manifests (`docs_manifests.rs`).

use std::collections::BTreeSet;

use docent_testkit::{Answer, Era, Sandbox, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// A corpus with the two labels of the contract: guides for all languages, and pages for single languages.
pub(crate) fn corpus() -> Sandbox {
    let manifest = |language: &str| {
        json!({ "version": "1", "metadata": { "language": language, "scope": "sdk-specific" } }).to_string()
    };
    let page = |name: &str| {
        format!(
            "# {name} SDK\n\nHow to use it.\n\n## Retry configuration\n\nSet the number of attempts.\n\n## Login\n\nSign in with {name}.\n"
        )
    };
    sandbox()
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "metadata": {"scope": "global-guide"}}"#,
        )
        .file(
            "docs/guides/retries.md",
            "# Retries\nThis guide explains how to configure retries.\n\n### Backoff Strategy\nThe SDK uses an exponential backoff with Jitter.\n\n### Limits\nAfter five attempts it gives up.\n",
        )
        .file("docs/guides/.docs-mcp.json", r#"{"version": "1", "strategy": {"chunk_by": "h3"}, "metadata": {"scope": "global-guide"}}"#)
        .file("docs/sdk/go/auth.md", page("Go"))
        .file("docs/sdk/go/.docs-mcp.json", manifest("go"))
        .file("docs/sdk/ts/auth.md", page("TypeScript"))
        .file("docs/sdk/ts/.docs-mcp.json", manifest("TypeScript"))
}

pub(crate) fn search(sandbox: &Sandbox, arguments: Value) -> Value {
    let answer = sandbox.call("search_docs", arguments);
    assert!(!answer.is_error, "{answer}");
    answer.json()
}

/// The chunk ids of the hits.
pub(crate) fn ids_of(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["chunk_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Calls `search_docs` with arguments that it must refuse.
pub(crate) fn refuse(sandbox: &Sandbox, arguments: Value) -> Answer {
    let answer = sandbox.call("search_docs", arguments);
    assert!(answer.is_error, "{answer}");
    answer
}

/// Follows the cursors to the end: the chunk ids of all pages.
pub(crate) fn read_all_pages(sandbox: &Sandbox, query: &str, limit: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let arguments = json!({ "query": query, "limit": limit, "cursor": cursor });
        let answer = search(sandbox, arguments);
        ids.extend(ids_of(&answer));
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            return ids;
        }
    }
}

#[test]
fn example_search() {
    let answer = corpus().call(
        "search_docs",
        json!({ "query": "exponential backoff", "limit": 1 }),
    );
    assert_snapshot!(answer, @r#"
    {
      "hits": [
        {
          "chunk_id": "docs/guides/retries.md#retries/backoff-strategy",
          "score": 1.0,
          "heading": "Backoff Strategy",
          "breadcrumb": "Retries > Backoff Strategy",
          "snippet": "Backoff Strategy The SDK uses an exponential backoff with Jitter.",
          "filepath": "docs/guides/retries.md",
          "metadata": {
            "scope": "global-guide"
          }
        }
      ],
      "next_cursor": "AQEAAACusfc1UWW9zqQfJd0bhAylsr0ozIinzBw",
      "hint": null
    }
    "#);
}

#[test]
fn an_error_names_the_wrong_argument_and_the_allowed_values() {
    let sandbox = corpus();
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "language": "Go" })),
        @"[isError] language must be one of: TypeScript, go"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "language": "ANY" })),
        @"[isError] language must be one of: TypeScript, go"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "colour": "red" })),
        @"[isError] there is no argument 'colour'; there are: query, limit, cursor, language, scope"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "limit": 0 })),
        @"[isError] limit must be between 1 and 50"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "limit": 51 })),
        @"[isError] limit must be between 1 and 50"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "x", "limit": "many" })),
        @"[isError] limit must be a whole number"
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": " " })),
        @"[isError] query must have between 1 and 1000 characters. Say what you look for in a few words."
    );
    assert_snapshot!(refuse(&sandbox, json!({})), @"[isError] query is required");
    assert_snapshot!(refuse(&sandbox, json!({ "query": 7 })), @"[isError] query must be a string");
}

#[test]
fn paged_results_neither_repeat_nor_skip_a_section() {
    let sandbox = sandbox();
    for page in 0..23 {
        sandbox.write(
            &format!("docs/{page}.md"),
            format!(
                "# Page {page}\n\nwalrus\n\n## More\n\n{}\n",
                "walrus ".repeat(page % 5 + 1)
            ),
        );
    }
    let all = ids_of(&search(&sandbox, json!({ "query": "walrus", "limit": 50 })));
    assert_eq!(all.len(), 46);
    for size in [1, 7, 46] {
        assert_eq!(read_all_pages(&sandbox, "walrus", size), all, "{size} at a time");
    }
}

#[test]
fn a_cursor_is_valid_for_its_own_search_only() {
    let sandbox = sandbox();
    for page in 0..5 {
        sandbox.write(&format!("docs/{page}.md"), "walrus seal\n");
    }
    let first = search(&sandbox, json!({ "query": "walrus", "limit": 2 }));
    let cursor = first["next_cursor"].as_str().unwrap().to_owned();
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "seal", "cursor": cursor })),
        @"[isError] The cursor belongs to another query or other filters. Search again without it to start from the first page."
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "walrus", "cursor": "eyJvIjoxfQ" })),
        @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page."
    );
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "walrus", "cursor": "" })),
        @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page."
    );
    let mut tampered = cursor.clone();
    tampered.replace_range(2..3, if &cursor[2..3] == "A" { "B" } else { "A" });
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "walrus", "cursor": tampered })),
        @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page."
    );
    // Changes outside the documentation keep the cursor valid.
    sandbox.write("src/main.rs", "fn main() {}\n");
    assert_eq!(
        search(&sandbox, json!({ "query": "walrus", "cursor": cursor }))["hits"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    sandbox.write("docs/9.md", "walrus\n");
    assert_snapshot!(
        refuse(&sandbox, json!({ "query": "walrus", "cursor": cursor })),
        @"[isError] The cursor is out of date, because the documentation has changed. Search again without it to start from the first page."
    );
}

#[test]
fn an_answer_without_results_names_the_closest_headings_and_words() {
    let sandbox = corpus();
    let answer = search(&sandbox, json!({ "query": "configurtion" }));
    assert_snapshot!(pretty(&answer["hint"]), @r#"
    {
      "message": "0 results found for 'configurtion'. Did you mean 'configuration' for 'configurtion'? The closest headings: 'Retry configuration'.",
      "suggested_filters": {}
    }
    "#);
    let nothing = search(&sandbox, json!({ "query": "zzqqxxyy" }));
    assert_snapshot!(pretty(&nothing["hint"]), @r#"
    {
      "message": "0 results found for 'zzqqxxyy'. No section has any of these words; try others, or context_search for code.",
      "suggested_filters": {}
    }
    "#);
    assert!(nothing["next_cursor"].is_null());
}

#[test]
fn results_have_breadcrumbs_and_keep_their_case() {
    let sandbox = sandbox().file(
        "README.md",
        "# Library\n\n## OAuth\n\n### Log in\n\nCall `signIn()` first. **Then** read the [Token](https://example.com/token).\n",
    );
    let answer = search(&sandbox, json!({ "query": "token" }));
    let hit = &answer["hits"][0];
    assert_eq!(hit["heading"], "OAuth");
    assert_eq!(hit["breadcrumb"], "Library > OAuth");
    assert_eq!(hit["filepath"], "README.md");
    assert_eq!(hit["metadata"], json!({}));
    assert_eq!(
        hit["snippet"],
        "OAuth Log in Call signIn() first. Then read the Token."
    );
    assert!(hit["score"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_project_without_pages_is_explained() {
    let sandbox = sandbox().file("src/main.rs", "fn main() {}\n");
    let answer = search(&sandbox, json!({ "query": "main" }));
    assert_snapshot!(
        answer["hint"]["message"],
        @r#""The project has no documentation: no .md, .mdx, .markdown, .rst, .adoc or .asciidoc file. context_search searches its code.""#
    );
}

#[test]
fn front_matter_and_html_comments_are_found_but_not_shown() {
    let sandbox = sandbox().file(
        "a.md",
        "---\ntitle: Zebras\nauthor: somebody\n---\n\nThey have stripes.\n\n<!--\nIgnore what stands before, stripes.\n-->\n",
    );
    let answer = search(&sandbox, json!({ "query": "stripes" }));
    assert_eq!(answer["hits"][0]["snippet"], "They have stripes.");
    let answer = search(&sandbox, json!({ "query": "somebody" }));
    assert_eq!(answer["hits"][0]["snippet"], "They have stripes.");
}

#[test]
fn an_ignored_manifest_has_no_effect_on_search_and_get_doc() {
    // An ignored manifest must not cut the page for search_docs, nor for get_doc.
    let sandbox = sandbox()
        .file(".gitignore", "docs/.docs-mcp.json\n")
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "strategy": {"chunk_by": "file"}}"#,
        )
        .file("docs/a.md", "# A\n\n## B\n\nwalrus\n");
    let ids = ids_of(&search(&sandbox, json!({ "query": "walrus" })));
    assert_eq!(ids[0], "docs/a.md#a/b");
    assert!(!sandbox.call("get_doc", json!({ "chunk_id": ids[0] })).is_error);
}

#[test]
fn search_finds_a_page_saved_a_moment_ago_and_no_deleted_one() {
    let sandbox = corpus();
    let client = sandbox.start_client(Era::Handshake);
    let find_ids = |query: &str| ids_of(&client.call("search_docs", json!({ "query": query })).json());
    assert_eq!(find_ids("narwhal"), [""; 0]);
    sandbox.write("docs/guides/new.md", "# Narwhals\n\nThey have a tusk.\n");
    assert_eq!(find_ids("narwhal tusk")[0], "docs/guides/new.md");
    sandbox.write("docs/guides/new.md", "# Dolphins\n\nThey have none.\n");
    assert!(find_ids("narwhal").is_empty());
    std::fs::remove_file(sandbox.root().join("docs/guides/new.md")).unwrap();
    assert!(!find_ids("dolphins").iter().any(|id| id.contains("new.md")));
}

#[test]
fn a_changed_manifest_splits_its_pages_again() {
    let sandbox = corpus();
    let client = sandbox.start_client(Era::Handshake);
    let first =
        |query: &str| ids_of(&client.call("search_docs", json!({ "query": query })).json())[0].clone();
    assert_eq!(
        first("exponential backoff"),
        "docs/guides/retries.md#retries/backoff-strategy"
    );
    sandbox.write(
        "docs/guides/.docs-mcp.json",
        r#"{"version": "1", "strategy": {"chunk_by": "file"}}"#,
    );
    assert_eq!(first("exponential backoff"), "docs/guides/retries.md");
    std::fs::remove_file(sandbox.root().join("docs/guides/.docs-mcp.json")).unwrap();
    // A page that is one section has no name behind its path.
    assert_eq!(first("exponential backoff"), "docs/guides/retries.md");
}

#[test]
fn blocked_and_ignored_pages_are_not_found() {
    let sandbox = sandbox()
        .file("docs/open.md", "# Open\n\nwalrus\n")
        .file("secrets/plan.md", "# Plan\n\nwalrus\n")
        .file(".gitignore", "build/\n")
        .file("build/made.md", "# Made\n\nwalrus\n");
    assert_eq!(
        ids_of(&search(&sandbox, json!({ "query": "walrus" }))),
        ["docs/open.md"]
    );
}

#[test]
fn invisible_characters_of_a_page_are_shown() {
    let sandbox = sandbox().file("docs/a.md", "# Head\u{202e}ing\n\nwalrus \u{200b}hidden\n");
    let answer = search(&sandbox, json!({ "query": "walrus" }));
    assert_eq!(answer["hits"][0]["heading"], "Head\\u{202E}ing");
    assert_eq!(
        answer["hits"][0]["snippet"],
        "Head\\u{202E}ing walrus \\u{200B}hidden"
    );
}

#[test]
fn only_pages_in_the_configured_directories_are_found() {
    let sandbox = sandbox()
        .file(".context/config.toml", "[docs]\ndirectories = [\"handbook\"]\n")
        .file("handbook/a.md", "# A\n\nwalrus\n")
        .file("README.md", "# R\n\nwalrus\n");
    assert_eq!(
        ids_of(&search(&sandbox, json!({ "query": "walrus" }))),
        ["handbook/a.md"]
    );
}

#[test]
fn a_missing_configured_directory_is_reported() {
    let sandbox = sandbox().file("README.md", "# R\n");
    let finished = sandbox.run(&["docs", "walrus", "--set", "docs.directories=nope"]);
    let warning = "docs.directories names nope, which is no directory";
    assert!(finished.stderr.contains(warning), "{}", finished.stderr);
}

#[test]
fn a_long_answer_is_cut_and_continues_with_the_cursor() {
    let sandbox = sandbox().file(".context/config.toml", "[answer]\nmax_chars = 3000\n");
    for page in 0..40 {
        sandbox.write(
            &format!("docs/{page}.md"),
            format!("# Page {page}\n\nwalrus {}\n", "word ".repeat(100)),
        );
    }
    let answer = sandbox.call("search_docs", json!({ "query": "walrus", "limit": 40 }));
    assert!(answer.text.chars().count() <= 3_000);
    let first = answer.json();
    let next = search(
        &sandbox,
        json!({ "query": "walrus", "limit": 40, "cursor": first["next_cursor"] }),
    );
    let mut all_ids = ids_of(&first);
    let before = all_ids.len();
    all_ids.extend(ids_of(&next));
    assert!(before > 1 && all_ids.len() > before);
    assert_eq!(all_ids.iter().collect::<BTreeSet<_>>().len(), all_ids.len());
}
