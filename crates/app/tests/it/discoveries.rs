//! Discoveries: results of `context_search` from the memory, decision records, guides, commits and comments.

use std::fmt::Write;
use std::time::Instant;

use docent_testkit::{Era, Finished, JANE, JOHN, MAX_WAIT, Sandbox, StdioClient, User, notice, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

fn search_kind(sandbox: &Sandbox, query: &str, kind: &str) -> Value {
    let arguments = json!({ "query": query, "type": kind });
    sandbox.call("context_search", arguments).json()
}

/// Type, origin, module and first line of each result.
fn summarize(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    let summary = |result: &Value| {
        format!(
            "{} {} {}: {}",
            result["type"].as_str().unwrap(),
            result["origin"].as_str().unwrap_or("-"),
            result["module"].as_str().unwrap(),
            result["content"].as_str().unwrap().lines().next().unwrap()
        )
    };
    results.iter().map(summary).collect()
}

fn project() -> Sandbox {
    let sandbox = sandbox()
        .file(
            "docs/adr/0001-tokens.md",
            "# 1. Keep tokens in cookies\n\nDate: 2025-01-15\n\n## Status\n\nAccepted\n\n## Decision\n\nWe keep tokens in httpOnly cookies, \
             because scripts cannot read them.\n",
        )
        .file("CONTRIBUTING.md", "# Rules\n\n- Every token must be rotated within a day\n- Thanks for reading\n")
        .file(
            "src/auth/token.rs",
            "// FIXME: two tokens may be refreshed at the same time\npub fn refresh_token() {}\n",
        )
        .file(
            ".context/memory/best_practices.md",
            "- Wrap every token in a `Secret` before it is logged\n- Never print a token\n",
        )
        .repository();
    sandbox.commit("2025-10-01", JOHN, "Begin");
    sandbox.write(
        "src/auth/token.rs",
        "// FIXME: two tokens may be refreshed at the same time\npub fn refresh_token() { lock(); }\n",
    );
    sandbox.commit(
        "2025-10-02",
        JANE,
        "fix(auth): token refresh raced with logout\n\nTwo requests refreshed at once and the second one lost its session.",
    );
    sandbox
}

#[test]
fn each_source_yields_discoveries_of_its_type() {
    let sandbox = project();
    for (kind, expected) in [
        ("decision", vec!["decision record docs: Keep tokens in cookies"]),
        (
            "rule",
            vec![
                "rule memory root: Never print a token",
                "rule guide root: Every token must be rotated within a day",
            ],
        ),
        (
            "pattern",
            vec!["pattern memory root: Wrap every token in a `Secret` before it is logged"],
        ),
        (
            "issue",
            vec![
                "issue commit auth: token refresh raced with logout",
                "issue comment auth: FIXME: two tokens may be refreshed at the same time",
            ],
        ),
    ] {
        assert_eq!(
            summarize(&search_kind(&sandbox, "token refresh", kind)),
            expected,
            "{kind}"
        );
    }
}

#[test]
fn a_result_has_the_fields_of_the_contract() {
    let sandbox = project();
    let answer = search_kind(&sandbox, "token refresh raced", "issue");
    let mut result = answer["results"][0].clone();
    result["commit"] = "ID".into();
    result["id"] = "ID".into();
    assert_snapshot!(pretty(&result), @r#"
    {
      "id": "ID",
      "type": "issue",
      "content": "token refresh raced with logout\nTwo requests refreshed at once and the second one lost its session.",
      "module": "auth",
      "date": "2025-10-02T12:00:00Z",
      "score": 0.4173,
      "source": "discovery",
      "origin": "commit",
      "commit": "ID",
      "name": "token refresh raced with logout",
      "kind": "issue",
      "project": "project",
      "language": "text",
      "accessesThisWeek": 0,
      "ranking": {
        "semantic": 0.4444,
        "recency": 1.0,
        "module": 1.0,
        "frequency": 1.0,
        "final": 0.4444
      }
    }
    "#);
}

#[test]
fn a_discovery_can_be_printed_as_markdown() {
    let sandbox = project();
    let arguments = json!({ "query": "why are tokens kept in cookies", "limit": 1, "format": "markdown" });
    assert_snapshot!(sandbox.call("context_search", arguments), @r#"
    # Search Results for "why are tokens kept in cookies"

    ## Result 1: Keep tokens in cookies (docs/adr/0001-tokens.md:9-11) [Score: 0.78]

    **Type**: decision  
    **Module**: docs  
    **Date**: 2025-01-15T00:00:00Z  
    **Source**: record  
    **Project**: project  
    **Last Accessed**: not in the last 7 days

    ```text
    Keep tokens in cookies
    We keep tokens in httpOnly cookies, because scripts cannot read them.
    ```

    **Ranking Details**:
    - Semantic Score: 0.78
    - Recency Boost: ×1.0 (not accessed in the last 7 days)
    - Module Boost: ×1.0 (not the module being worked in)
    - Frequency Boost: ×1.0 (0 accesses this week)
    - **Final Score**: 0.78
    "#);
}

#[test]
fn a_discovery_without_a_date_has_the_date_of_its_last_commit() {
    let sandbox = project();
    let date = |query: &str, kind: &str| search_kind(&sandbox, query, kind)["results"][0]["date"].clone();
    assert_eq!(date("token rotated", "rule"), "2025-10-01T00:00:00Z");
    assert_eq!(date("tokens in cookies", "decision"), "2025-01-15T00:00:00Z");
}

#[test]
fn the_module_filters_discoveries() {
    let sandbox = project();
    let search = |module: &str| {
        let arguments = json!({ "query": "token refresh", "type": "issue", "module": module });
        sandbox.call("context_search", arguments).json()
    };
    assert_eq!(search("auth")["results"].as_array().unwrap().len(), 2);
    let none = search("billing");
    assert_eq!(none["results"], json!([]));
    assert_snapshot!(
        none["message"].as_str().unwrap(),
        @"Nothing matches with type 'issue' and module 'billing'; search again without"
    );
}

#[test]
fn a_search_finds_code_and_discoveries_without_repeating_a_comment() {
    let sandbox = project();
    let named = search_kind(&sandbox, "refresh_token", "all");
    assert_eq!(
        summarize(&named)[0],
        "code - auth: // FIXME: two tokens may be refreshed at the same time"
    );
    // The comment is a part of the function that was found, so it is not a second result.
    assert!(
        !summarize(&named).iter().any(|one| one.contains("issue comment")),
        "{:?}",
        summarize(&named)
    );
    let why = search_kind(&sandbox, "why are tokens kept in cookies", "all");
    assert_eq!(summarize(&why)[0], "decision record docs: Keep tokens in cookies");
    let function = json!({ "query": "token", "chunkType": ["function"], "format": "json" });
    let functions = sandbox.call("context_search", function).json();
    assert!(
        functions["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|result| result["source"] == "code")
    );
}

#[test]
fn nearly_equal_discoveries_are_merged() {
    let sandbox = sandbox()
        .file(
            "AGENTS.md",
            "# Rules\n\n- Always run the formatter before you commit a change\n",
        )
        .file(
            "CONTRIBUTING.md",
            "# Rules\n\n- Always run the formatter before you commit any change\n",
        );
    let answer = search_kind(&sandbox, "formatter before commit", "rule");
    assert_eq!(answer["totalFound"], 1);
    assert_eq!(answer["results"][0]["alsoIn"].as_array().unwrap().len(), 1);
}

#[test]
fn a_decision_written_by_one_client_is_found_by_another() {
    let sandbox = project();
    for (era, is_ignored, text) in [
        (Era::Handshake, false, "Keep invoices in cents, never in floats"),
        (
            Era::Stateless,
            true,
            "Round the tax of invoices to whole cents per line",
        ),
    ] {
        if is_ignored {
            sandbox.write(".gitignore", ".context/\n");
        }
        let other = sandbox.start_http_server();
        let find = || {
            let arguments = json!({ "query": "invoices in cents", "type": "decision" });
            other.call(Era::Stateless, "context_search", arguments).json()
        };
        find();
        let writer = StdioClient::start_with_user(sandbox.docent(), era, User::Accepts);
        let entry = json!({ "decision": text, "module": "billing" }).to_string();
        let written = writer.call(
            "write_memory_entry",
            json!({ "file": "decisions.jsonl", "entry": entry }),
        );
        assert_eq!(written.json()["success"], true, "{written}");
        // The next search of another process must find it.
        let answer = find();
        let entry = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .find(|result| result["content"] == text)
            .unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(
            (&entry["type"], &entry["module"]),
            (&json!("decision"), &json!("billing"))
        );
        assert_eq!(entry["date"], "2026-01-09T10:30:00Z");
        assert_eq!(entry["session"].as_str().map(str::len), Some(36));
        assert_eq!(entry["origin"], "memory");
    }
}

#[test]
fn deleted_discoveries_are_not_found() {
    let sandbox = project();
    assert_eq!(
        search_kind(&sandbox, "tokens in cookies", "decision")["results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    std::fs::remove_file(sandbox.root().join("docs/adr/0001-tokens.md")).unwrap();
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    std::fs::remove_file(sandbox.root().join("docs/adr/0001-tokens.md")).unwrap();
    assert_eq!(
        search_kind(&sandbox, "tokens in cookies", "decision")["results"],
        json!([])
    );
    let issues = summarize(&search_kind(&sandbox, "token refresh raced", "issue"));
    assert_eq!(
        issues,
        ["issue comment auth: FIXME: two tokens may be refreshed at the same time"]
    );
}

#[test]
fn malformed_lines_of_the_memory_are_skipped() {
    let sandbox = sandbox().file(
        ".context/memory/decisions.jsonl",
        "{\"decision\": \"Use Rust for the engine\"}\n{\"decision\": \"half\nnull\n[1]\n\u{0}\n{\"decision\": 7}\n",
    );
    let answer = search_kind(&sandbox, "rust engine half", "decision");
    assert_eq!(
        summarize(&answer),
        ["decision memory root: Use Rust for the engine"]
    );
}

#[test]
fn invisible_characters_in_the_memory_are_shown() {
    let sandbox = sandbox().file(
        ".context/memory/decisions.jsonl",
        "{\"decision\": \"Use Rust\\u202e for the engine\\u001b[2J\"}\n",
    );
    let answer = sandbox.call(
        "context_search",
        json!({ "query": "rust engine", "type": "decision" }),
    );
    assert!(
        answer.text.contains(r"\\u{202E}") && !answer.text.contains('\u{202e}'),
        "{answer}"
    );
}

#[test]
fn an_unreadable_history_is_reported_and_read_by_a_later_search() {
    let sandbox = project();
    let git = sandbox.outside().join("bin/git");
    let real = sandbox
        .program("sh")
        .args(["-c", "command -v git"])
        .output()
        .unwrap();
    let real = String::from_utf8(real.stdout).unwrap().trim().to_owned();
    std::fs::create_dir_all(git.parent().unwrap()).unwrap();
    // A git that fails for `git log` only.
    let script =
        format!("#!/bin/sh\nfor word; do [ \"$word\" = log ] && exit 3; done\nexec \"{real}\" \"$@\"\n");
    let text = sandbox.outside().join("git.sh");
    std::fs::write(&text, script).unwrap();
    #[cfg(unix)]
    docent_testkit::copy_program(&text, &git);
    let arguments = json!({ "query": "token refresh raced", "type": "issue" }).to_string();
    let mut docent = sandbox.docent();
    docent
        .env("PATH", git.parent().unwrap())
        .args(["call", "context_search", &arguments]);
    let broken = Finished::run(&mut docent).json();
    assert!(notice(&broken).contains("The history cannot be read"), "{broken}");

    let complete = search_kind(&sandbox, "token refresh raced", "issue");
    assert_eq!(
        summarize(&complete)[0],
        "issue commit auth: token refresh raced with logout"
    );
}

#[test]
fn hostile_texts_do_not_slow_down_the_readers() {
    let long = "a.".repeat(200_000);
    let heading = "x".repeat(200_000);
    let items = "- Never do this with so many words in it\n".repeat(20_000);
    let mut comments = String::new();
    for number in 0..20_000 {
        writeln!(
            comments,
            "// FIXME: number {number} of many is broken word{number}"
        )
        .unwrap();
    }
    let sandbox = sandbox()
        .file("AGENTS.md", format!("# {heading}\n\n{items}\n{long}\n"))
        .file(
            "docs/CONTRIBUTING.md",
            format!("You must {long} do it:\n\n{items}"),
        )
        .file("src/a.rs", comments)
        .file(
            "docs/adr/0001-a.md",
            format!(
                "# T\n\n## Decision\n\nWe use {long} because\n{}",
                "## H\n".repeat(50_000)
            ),
        );
    let answer = search_kind(&sandbox, "never so many words", "rule");
    assert!(!answer["results"].as_array().unwrap().is_empty());
}

#[test]
fn the_first_answer_says_that_commits_are_not_searched_yet() {
    let sandbox = sandbox().file("src/a.py", "def walrus():\n    return 1\n");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "walrus: it swims"]);
    let client = sandbox.start_client(Era::Handshake);
    let ask = || {
        let arguments = json!({ "query": "where does the walrus swim", "format": "json" });
        client.call("context_search", arguments).json()["notice"].clone()
    };
    let first = ask();
    // On a fast machine the commits are indexed already.
    assert!(
        first.is_null() || first.as_str().unwrap().contains("not searched yet"),
        "{first}"
    );
    let until = Instant::now() + MAX_WAIT;
    while !ask().is_null() {
        assert!(Instant::now() < until);
    }
    // A new server finds a complete index and has no notice.
    let restarted = sandbox.start_client(Era::Handshake);
    let arguments = json!({ "query": "where does the walrus swim", "format": "json" });
    assert_eq!(
        restarted.call("context_search", arguments).json()["notice"],
        json!(null)
    );
}

#[test]
fn a_search_for_one_kind_shows_the_nearest_of_it() {
    let sandbox = sandbox().file(
        "CONTRIBUTING.md",
        "# Contributing\n\n- Every token must be rotated within a day\n- Tests must pass before you push\n",
    );
    let answer = search_kind(&sandbox, "submitting guidance rules", "rule");
    assert_eq!(answer["results"].as_array().unwrap().len(), 2);
    assert_eq!(
        notice(&answer),
        "No rule has these words. The project has 2 rules, of which the nearest are shown; remove type to search everything"
    );
    // The name of the kind alone lists all of it, and counts for nothing beside other words.
    assert_eq!(
        search_kind(&sandbox, "rules", "rule")["results"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        summarize(&search_kind(&sandbox, "rules for the token", "rule")),
        ["rule guide root: Every token must be rotated within a day"]
    );
}
