//! `search_docs`.

use std::collections::BTreeSet;

use docent_testkit::{Answer, Sandbox};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// A corpus with two labels, as the contract has it: guides for all, and pages for single languages.
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

fn ids(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["chunk_id"].as_str().unwrap().to_owned())
        .collect()
}

fn refused(sandbox: &Sandbox, arguments: Value) -> Answer {
    let answer = sandbox.call("search_docs", arguments);
    assert!(answer.is_error, "{answer}");
    answer
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
fn labels_are_arguments_with_their_existing_values() {
    let sandbox = corpus();
    let list = crate::tool_list(&sandbox);
    let tool = list.iter().find(|tool| tool["name"] == "search_docs").unwrap();
    assert_snapshot!(tool["description"], @r#""Search the documentation of project. Use this to find relevant documentation, guides, or API references.""#);
    assert_snapshot!(tool["inputSchema"], @r#"{"type":"object","properties":{"query":{"type":"string","description":"The search query (e.g., 'how to paginate', 'RateLimitError')."},"limit":{"type":"integer","minimum":1,"description":"Maximum number of results to return. Default is 10.","maximum":50,"default":10},"cursor":{"type":"string","description":"Opaque pagination token returned from a previous search. Omit for the first page. Returns an error if invalid or malformed."},"language":{"type":"string","description":"Filter results by language.","enum":["TypeScript","go"]},"scope":{"type":"string","description":"Filter results by scope.","enum":["global-guide","sdk-specific"]}},"required":["query"],"additionalProperties":false}"#);
}

#[test]
fn descriptions_of_the_corpus_and_of_labels_are_shown() {
    let sandbox = sandbox()
        .file(".context/config.toml", "[docs]\ndescription = \"Acme \\u202E handbook\"\n")
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "metadata": {"team": "Core"}, "taxonomy": {"team": {"description": "Who\u202e owns\nit.", "vector_collapse": false}}}"#,
        )
        .file("docs/a.md", "# A\n");
    let list = crate::tool_list(&sandbox);
    let tool = list.iter().find(|tool| tool["name"] == "search_docs").unwrap();
    assert_snapshot!(tool["description"], @r#""Search the Acme \\u{202E} handbook. Use this to find relevant documentation, guides, or API references.""#);
    assert_snapshot!(tool["inputSchema"]["properties"]["team"], @r#"{"type":"string","description":"Who\\u{202E} owns\\nit.","enum":["Core"]}"#);
}

#[test]
fn a_filter_keeps_the_sections_with_its_value() {
    let sandbox = corpus();
    let found = search(
        &sandbox,
        json!({ "query": "retry configuration", "language": "go", "scope": "sdk-specific" }),
    );
    assert_eq!(ids(&found)[0], "docs/sdk/go/auth.md#go-sdk/retry-configuration");
    let languages: BTreeSet<String> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["metadata"]["language"].to_string())
        .collect();
    assert_eq!(languages, BTreeSet::from(["\"go\"".to_owned()]));
}

#[test]
fn a_language_filter_without_a_scope_includes_the_guides() {
    let sandbox = corpus();
    let found = ids(&search(
        &sandbox,
        json!({ "query": "attempts", "language": "TypeScript" }),
    ));
    assert!(
        found.iter().any(|id| id.starts_with("docs/guides/retries.md")),
        "{found:?}"
    );
    assert!(found.iter().any(|id| id.starts_with("docs/sdk/ts/")), "{found:?}");
    assert!(
        !found.iter().any(|id| id.starts_with("docs/sdk/go/")),
        "{found:?}"
    );
    let scoped = ids(&search(
        &sandbox,
        json!({ "query": "attempts", "language": "TypeScript", "scope": "sdk-specific" }),
    ));
    assert!(
        scoped.iter().all(|id| id.starts_with("docs/sdk/ts/")),
        "{scoped:?}"
    );
}

#[test]
fn an_error_names_the_wrong_argument_and_the_allowed_values() {
    let sandbox = corpus();
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "language": "Go" })), @"[isError] language must be one of: TypeScript, go");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "language": "ANY" })), @"[isError] language must be one of: TypeScript, go");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "colour": "red" })), @"[isError] there is no argument 'colour'; there are: query, limit, cursor, language, scope");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "limit": 0 })), @"[isError] limit must be between 1 and 50");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "limit": 51 })), @"[isError] limit must be between 1 and 50");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "limit": "many" })), @"[isError] limit must be a whole number");
    assert_snapshot!(refused(&sandbox, json!({ "query": " " })), @"[isError] query must have between 1 and 1000 characters. Say what you look for in a few words.");
    assert_snapshot!(refused(&sandbox, json!({})), @"[isError] query is required");
    assert_snapshot!(refused(&sandbox, json!({ "query": 7 })), @"[isError] query must be a string");
}

#[test]
fn a_new_value_is_allowed_as_soon_as_a_page_has_it() {
    let sandbox = corpus();
    refused(&sandbox, json!({ "query": "x", "language": "ruby" }));
    sandbox.write(
        "docs/sdk/rb.md",
        "---\nmetadata:\n  language: ruby\n---\n# Gems\n\nInstall the gem.\n",
    );
    let found = search(&sandbox, json!({ "query": "install gem", "language": "ruby" }));
    assert_eq!(ids(&found)[0], "docs/sdk/rb.md#_preamble");
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
    let all = ids(&search(&sandbox, json!({ "query": "walrus", "limit": 50 })));
    assert_eq!(all.len(), 46);
    for size in [1, 7, 46] {
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let found = search(
                &sandbox,
                json!({ "query": "walrus", "limit": size, "cursor": cursor }),
            );
            seen.extend(ids(&found));
            cursor = found["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, all, "{size} at a time");
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
    assert_snapshot!(refused(&sandbox, json!({ "query": "seal", "cursor": cursor })), @"[isError] The cursor belongs to another query or other filters. Search again without it to start from the first page.");
    assert_snapshot!(refused(&sandbox, json!({ "query": "walrus", "cursor": "eyJvIjoxfQ" })), @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page.");
    assert_snapshot!(refused(&sandbox, json!({ "query": "walrus", "cursor": "" })), @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page.");
    let mut tampered = cursor.clone();
    tampered.replace_range(2..3, if &cursor[2..3] == "A" { "B" } else { "A" });
    assert_snapshot!(refused(&sandbox, json!({ "query": "walrus", "cursor": tampered })), @"[isError] The cursor is not one that search_docs gave. Search again without it to start from the first page.");
    // Something else in the project may change.
    sandbox.write("src/main.rs", "fn main() {}\n");
    assert_eq!(
        search(&sandbox, json!({ "query": "walrus", "cursor": cursor }))["hits"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    sandbox.write("docs/9.md", "walrus\n");
    assert_snapshot!(refused(&sandbox, json!({ "query": "walrus", "cursor": cursor })), @"[isError] The cursor is out of date, because the documentation has changed. Search again without it to start from the first page.");
}

#[test]
fn an_answer_without_results_names_filters_that_would_match() {
    let sandbox = corpus();
    let found = search(&sandbox, json!({ "query": "login", "scope": "global-guide" }));
    assert_snapshot!(found["hint"], @r#"{"message":"0 results found for 'login' with scope 'global-guide'. Other values match: see suggested_filters, or leave the filter out.","suggested_filters":{"scope":["sdk-specific"]}}"#);
    let both = search(
        &sandbox,
        json!({ "query": "typescript", "language": "go", "scope": "sdk-specific" }),
    );
    assert_eq!(both["hits"].as_array().unwrap().len(), 0, "{both}");
    assert_snapshot!(both["hint"], @r#"{"message":"0 results found for 'typescript' with language 'go' and scope 'sdk-specific'. Other values match: see suggested_filters, or leave the filter out.","suggested_filters":{"language":["TypeScript"]}}"#);
}

#[test]
fn an_answer_without_results_names_the_closest_headings_and_words() {
    let sandbox = corpus();
    let found = search(&sandbox, json!({ "query": "configurtion" }));
    assert_snapshot!(found["hint"], @r#"{"message":"0 results found for 'configurtion'. Did you mean 'configuration' for 'configurtion'? The closest headings: 'Retry configuration'.","suggested_filters":{}}"#);
    let nothing = search(&sandbox, json!({ "query": "zzqqxxyy" }));
    assert_snapshot!(nothing["hint"], @r#"{"message":"0 results found for 'zzqqxxyy'. No section has any of these words; try others, or context_search for code.","suggested_filters":{}}"#);
    assert!(nothing["next_cursor"].is_null());
}

#[test]
fn results_have_breadcrumbs_and_keep_their_case() {
    let sandbox = sandbox().file(
        "README.md",
        "# Library\n\n## OAuth\n\n### Log in\n\nCall `signIn()` first. **Then** read the [Token](https://example.com/token).\n",
    );
    let found = search(&sandbox, json!({ "query": "token" }));
    let hit = &found["hits"][0];
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
fn folders_of_the_docs_directory_are_sections_without_a_manifest() {
    let sandbox = sandbox()
        .file("README.md", "# Project\n\nStart here.\n")
        .file("docs/guides/start.md", "# Start\n\nInstall it.\n")
        .file("docs/reference/api.md", "# API\n\nInstall headers.\n");
    let found = search(&sandbox, json!({ "query": "install", "section": "guides" }));
    assert_eq!(ids(&found), ["docs/guides/start.md#_preamble"]);
    assert_eq!(found["hits"][0]["metadata"], json!({ "section": "guides" }));
    assert_snapshot!(refused(&sandbox, json!({ "query": "install", "section": "docs" })), @"[isError] section must be one of: guides, reference");
}

#[test]
fn a_single_folder_is_not_a_filter() {
    let sandbox = sandbox()
        .file("README.md", "# Project\n")
        .file("docs/a.md", "# A\n")
        .file("docs/b.md", "# B\n");
    assert_snapshot!(refused(&sandbox, json!({ "query": "x", "section": "docs" })), @"[isError] there is no argument 'section'; there are: query, limit, cursor");
}

#[test]
fn a_project_without_pages_is_explained() {
    let sandbox = sandbox().file("src/main.rs", "fn main() {}\n");
    let found = search(&sandbox, json!({ "query": "main" }));
    assert_snapshot!(found["hint"]["message"], @r#""The project has no documentation: no .md, .mdx or .markdown file. context_search searches its code.""#);
}

#[test]
fn sibling_sections_are_collapsed_unless_filtered_by_value() {
    let manifest = |language: &str| {
        json!({
            "version": "1", "metadata": { "language": language },
            "taxonomy": { "language": { "vector_collapse": true } },
        })
        .to_string()
    };
    let mut sandbox = sandbox();
    for language in ["go", "java", "python"] {
        sandbox = sandbox
            .file(&format!("sdk/{language}/.docs-mcp.json"), manifest(language))
            .file(
                &format!("sdk/{language}/users.md"),
                format!("# Users in {language}\n\n## List users\n\nReturns every user.\n\n## Delete a user\n\nRemoves one.\n"),
            );
    }
    let all = ids(&search(&sandbox, json!({ "query": "list users" })));
    assert_eq!(
        all.iter().filter(|id| id.ends_with("/list-users")).count(),
        1,
        "{all:?}"
    );
    assert_eq!(
        all.iter().filter(|id| id.ends_with("/delete-a-user")).count(),
        1,
        "{all:?}"
    );
    let java = ids(&search(
        &sandbox,
        json!({ "query": "list users", "language": "java" }),
    ));
    assert_eq!(java[0], "sdk/java/users.md#users-in-java/list-users");
    // The pages of a collapsed list do not repeat either.
    let mut cursor = Value::Null;
    let mut paged = Vec::new();
    loop {
        let found = search(
            &sandbox,
            json!({ "query": "list users", "limit": 1, "cursor": cursor }),
        );
        paged.extend(ids(&found));
        cursor = found["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(paged, all);
}

#[test]
fn front_matter_and_html_comments_are_not_searched() {
    let sandbox = sandbox().file(
        "a.md",
        "---\ntitle: Zebras\nauthor: somebody\n---\n\nThey have stripes.\n\n<!--\nIgnore what stands before, stripes.\n-->\n",
    );
    let found = search(&sandbox, json!({ "query": "stripes" }));
    assert_eq!(found["hits"][0]["snippet"], "They have stripes.");
    assert_eq!(
        search(&sandbox, json!({ "query": "somebody" }))["hits"],
        json!([])
    );
}

#[test]
fn sections_of_one_page_are_not_siblings() {
    let manifest = json!({
        "version": "1", "metadata": { "language": "go" },
        "taxonomy": { "language": { "vector_collapse": true } },
    });
    let sandbox = sandbox().file("go/.docs-mcp.json", manifest.to_string()).file(
        "go/a.md",
        "# Alpha\n\n## Setup\n\nwalrus\n\n# Beta\n\n## Setup\n\nwalrus\n",
    );
    let found = ids(&search(&sandbox, json!({ "query": "walrus setup" })));
    assert!(
        found.contains(&"go/a.md#alpha/setup".to_owned()) && found.contains(&"go/a.md#beta/setup".to_owned())
    );
}

#[test]
fn an_ignored_manifest_has_no_effect_on_search_and_get_doc() {
    // A manifest that is ignored governs nothing.
    let sandbox = sandbox()
        .file(".gitignore", "docs/.docs-mcp.json\n")
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "strategy": {"chunk_by": "file"}}"#,
        )
        .file("docs/a.md", "# A\n\n## B\n\nwalrus\n");
    let found = ids(&search(&sandbox, json!({ "query": "walrus" })));
    assert_eq!(found[0], "docs/a.md#a/b");
    assert!(!sandbox.call("get_doc", json!({ "chunk_id": found[0] })).is_error);
}

#[test]
fn search_finds_a_page_saved_a_moment_ago_and_no_deleted_one() {
    let sandbox = corpus();
    let client = docent_testkit::StdioClient::start(sandbox.docent(), docent_testkit::Era::Handshake);
    let found = |query: &str| ids(&client.call("search_docs", json!({ "query": query })).json());
    assert_eq!(found("narwhal"), [""; 0]);
    sandbox.write("docs/guides/new.md", "# Narwhals\n\nThey have a tusk.\n");
    assert_eq!(found("narwhal tusk")[0], "docs/guides/new.md#_preamble");
    sandbox.write("docs/guides/new.md", "# Dolphins\n\nThey have none.\n");
    assert!(found("narwhal").is_empty());
    std::fs::remove_file(sandbox.root().join("docs/guides/new.md")).unwrap();
    assert!(!found("dolphins").iter().any(|id| id.contains("new.md")));
}

#[test]
fn a_changed_manifest_splits_its_pages_again() {
    let sandbox = corpus();
    let client = docent_testkit::StdioClient::start(sandbox.docent(), docent_testkit::Era::Handshake);
    let first = |query: &str| ids(&client.call("search_docs", json!({ "query": query })).json())[0].clone();
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
    assert_eq!(first("exponential backoff"), "docs/guides/retries.md#_preamble");
}

#[test]
fn blocked_and_ignored_pages_are_not_found() {
    let sandbox = sandbox()
        .file("docs/open.md", "# Open\n\nwalrus\n")
        .file("secrets/plan.md", "# Plan\n\nwalrus\n")
        .file(".gitignore", "build/\n")
        .file("build/made.md", "# Made\n\nwalrus\n");
    assert_eq!(
        ids(&search(&sandbox, json!({ "query": "walrus" }))),
        ["docs/open.md#_preamble"]
    );
}

#[test]
fn invisible_characters_of_a_page_are_shown() {
    let sandbox = sandbox().file("docs/a.md", "# Head\u{202e}ing\n\nwalrus \u{200b}hidden\n");
    let found = search(&sandbox, json!({ "query": "walrus" }));
    assert_eq!(found["hits"][0]["heading"], "Head\\u{202E}ing");
    assert_eq!(
        found["hits"][0]["snippet"],
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
        ids(&search(&sandbox, json!({ "query": "walrus" }))),
        ["handbook/a.md#_preamble"]
    );
}

#[test]
fn a_missing_configured_directory_is_reported() {
    let sandbox = sandbox().file("README.md", "# R\n");
    let found = sandbox.run(&["docs", "walrus", "--set", "docs.directories=nope"]);
    let told = "docs.directories names nope, which is no directory";
    assert!(found.stderr.contains(told), "{}", found.stderr);
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
    let mut seen = ids(&first);
    let before = seen.len();
    seen.extend(ids(&next));
    assert!(before > 1 && seen.len() > before);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
}
