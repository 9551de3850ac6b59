//! Manifests, front matter and templates of the documentation: valid ones are used, errors are reported.

use std::fs;

use docent_testkit::{Era, Sandbox, StdioClient, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;
use crate::search_docs::search;
use crate::tool_list::MAX_LIST_BYTES;

#[test]
fn a_broken_manifest_is_reported_and_its_pages_are_still_found() {
    let sandbox = sandbox()
        .file(
            "docs/.docs-mcp.json",
            "{\n  \"version\": \"1\",\n  \"metadata\": {\n}",
        )
        .file("docs/a.md", "# A\n\nwalrus\n");
    let answer = search(&sandbox, json!({ "query": "walrus" }));
    assert_eq!(answer["hits"][0]["chunk_id"], "docs/a.md");
    assert_snapshot!(
        answer["notice"],
        @r#""A manifest is not used: docs/.docs-mcp.json:4: EOF while parsing an object""#
    );
}

#[test]
fn a_label_with_ten_thousand_values_is_not_a_filter_and_is_reported() {
    let sandbox = sandbox();
    for folder in 0..10 {
        let overrides: Vec<Value> = (0..1_000)
            .map(|at| json!({ "pattern": format!("{at}.md"), "metadata": { "id": format!("v{folder}-{at}") } }))
            .collect();
        let manifest = json!({ "version": "1", "metadata": { "kind": "x" }, "overrides": overrides });
        sandbox.write(&format!("docs/{folder}/.docs-mcp.json"), manifest.to_string());
        for at in 0..1_000 {
            sandbox.write(&format!("docs/{folder}/{at}.md"), "walrus\n");
        }
    }
    assert_eq!(sandbox.run(&["index"]).code, 0);
    let client = sandbox.start_client(Era::Handshake);
    let answer = client
        .call("search_docs", json!({ "query": "walrus", "limit": 1 }))
        .json();
    assert_eq!(answer["hits"][0]["metadata"], json!({ "kind": "x" }));
    let notice = answer["notice"].as_str().unwrap_or_default();
    assert!(
        notice.contains("No filter: id has 10000 values, more than 512"),
        "{notice}"
    );
    let list = client.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(list.len() < MAX_LIST_BYTES, "{}", list.len());
}

#[test]
fn a_label_with_many_values_is_a_filter_without_listing_them() {
    let sandbox = sandbox();
    for at in 0..300 {
        sandbox.write(
            &format!("docs/{at}.md"),
            format!("---\nmetadata:\n  product: product number {at}\n---\nwalrus\n"),
        );
    }
    let list = Value::from(crate::list_tools(&sandbox));
    let bytes = list.to_string().len();
    assert!(bytes < MAX_LIST_BYTES, "{bytes}");
    let tool = crate::find_tool(&sandbox, "search_docs");
    assert_snapshot!(
        tool["inputSchema"]["properties"]["product"],
        @r#"{"type":"string","description":"Filter results by product. 300 values."}"#
    );
    let answer = search(
        &sandbox,
        json!({ "query": "walrus", "product": "product number 77" }),
    );
    assert_eq!(answer["hits"][0]["filepath"], "docs/77.md");
    let wrong = sandbox.call("search_docs", json!({ "query": "walrus", "product": "gadget" }));
    assert!(wrong.is_error && wrong.text.ends_with("(300 in all)"), "{wrong}");
}

#[test]
fn labels_with_unusual_or_invisible_characters_are_refused() {
    for (key, value) in [
        ("a b", "x"),
        ("ключ", "x"),
        ("au\u{202e}dience", "x"),
        ("k", "x\u{200b}y"),
        ("k", "x\u{e0041}"),
    ] {
        let manifest = json!({ "version": "1", "metadata": { key: value } }).to_string();
        let sandbox = sandbox()
            .file("docs/.docs-mcp.json", manifest)
            .file("docs/a.md", "# A\n\nwalrus\n");
        let answer = search(&sandbox, json!({ "query": "walrus" }));
        assert_eq!(answer["hits"][0]["metadata"], json!({}), "{key}");
        assert!(
            answer["notice"]
                .as_str()
                .unwrap()
                .starts_with("A manifest is not used: "),
            "{answer}"
        );
        let list = Value::from(crate::list_tools(&sandbox)).to_string();
        assert!(!list.contains(&format!("\"{key}\":")), "{key}");
    }
}

#[test]
fn the_tool_list_stays_small_with_many_labels() {
    let sandbox = sandbox();
    for page in 0..3 {
        let labels: Vec<String> = (0..40)
            .map(|key| format!("  key-{key}: {}{page}\n", "日本語".repeat(20)))
            .collect();
        sandbox.write(
            &format!("docs/{page}.md"),
            format!("---\nmetadata:\n{}---\nwalrus\n", labels.concat()),
        );
    }
    let list = Value::from(crate::list_tools(&sandbox));
    let bytes = list.to_string().len();
    assert!(bytes < MAX_LIST_BYTES, "{bytes}");
    let tool = crate::find_tool(&sandbox, "search_docs");
    assert_eq!(
        tool["inputSchema"]["additionalProperties"],
        json!({ "type": "string" })
    );
    let value = format!("{}1", "日本語".repeat(20));
    let answer = search(&sandbox, json!({ "query": "walrus", "key-39": value }));
    assert_eq!(answer["hits"][0]["filepath"], "docs/1.md");
}

#[test]
fn errors_of_many_manifests_do_not_fill_the_answer() {
    let sandbox = sandbox().file("docs/a.md", "# A\n\nwalrus\n");
    for at in 0..50 {
        let manifest = json!({ "version": "2".repeat(40_000) }).to_string();
        sandbox.write(&format!("docs/{at}/.docs-mcp.json"), manifest);
    }
    let answer = sandbox.call("search_docs", json!({ "query": "walrus" }));
    assert!(answer.text.len() < 2_000, "{answer}");
    assert!(answer.text.contains("47 more are not"), "{answer}");
}

#[test]
fn a_page_with_broken_front_matter_is_still_found() {
    let sandbox = sandbox()
        .file("a.md", "---\ntitle: \"open\nmore: [\n---\n# A\n\nwalrus\n")
        .file("b.md", "---\nnever: closed\n\n# B\n\nwalrus\n");
    let answer = search(&sandbox, json!({ "query": "walrus" }));
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2);
    let checked = sandbox.run(&["docs", "check"]);
    assert_eq!(checked.code, 1);
    assert_snapshot!(checked.stdout, @"a.md:3: front matter: invalid indentation in multiline quoted scalar");
}

#[test]
fn docs_check_prints_file_and_line_of_each_error() {
    let sandbox = sandbox()
        .file(
            "docs/.docs-mcp.json",
            "{\n \"version\": \"1\",\n \"chunking\": \"h2\"\n}\n",
        )
        .file(
            "docs/x/.docs-mcp.json",
            "{\n \"version\": \"1\",\n \"strategy\": {\"chunk_by\": \"h9\"}\n}\n",
        )
        .file(
            "docs/a.md",
            "# A\n<!-- mcp_chunking_hint: {\"chunk_by\": 3} -->\n",
        )
        .file("docs/p.template.md", "Say {{#x}}it{{/x}}.\n")
        .file("docs/q.template.md", "Say {{x}}.\n")
        .file("docs/q.template.yaml", "messages: []\n");
    let checked = sandbox.run(&["docs", "check"]);
    assert_eq!(checked.code, 1);
    assert_snapshot!(checked.stdout, @r#"
    docs/.docs-mcp.json:3: "chunking" means nothing here
    docs/a.md:2: mcp_chunking_hint: expected value
    docs/p.template.md:1: {{#x}} is no gap: only {{name}} is
    docs/q.template.md:1: docs/q.template.yaml has the same name, and counts
    docs/q.template.yaml:1: a prompt needs at least one message
    docs/x/.docs-mcp.json:3: unknown variant `h9`, expected one of `h1`, `h2`, `h3`, `file`
    "#);
    assert_snapshot!(checked.stderr, @"error: 6 files looked at; 6 wrong");
    let clean = crate::sandbox().file("README.md", "# R\n");
    assert_eq!(clean.run(&["docs", "check"]).code, 0);
}

#[test]
fn docs_init_writes_a_manifest_and_never_overwrites_one() {
    let sandbox = sandbox()
        .file("docs/guides/a.md", "# A\n\nwalrus\n")
        .file("docs/api/b.md", "# B\n\nwalrus\n");
    let created = sandbox.run(&["docs", "init"]);
    assert_eq!(created.code, 0, "{}", created.stderr);
    let path = sandbox.root().join("docs/.docs-mcp.json");
    let text = fs::read_to_string(&path).unwrap();
    assert_snapshot!(text, @r#"
    {
      "version": "1",
      "strategy": {
        "chunk_by": "h2"
      },
      "taxonomy": {
        "section": {
          "description": "Part of the documentation."
        }
      },
      "overrides": [
        {
          "pattern": "api/**",
          "metadata": {
            "section": "api"
          }
        },
        {
          "pattern": "guides/**",
          "metadata": {
            "section": "guides"
          }
        }
      ]
    }
    "#);
    assert_eq!(sandbox.run(&["docs", "check"]).code, 0);
    let answer = search(&sandbox, json!({ "query": "walrus", "section": "api" }));
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
    let text = fs::read_to_string(&path).unwrap() + " ";
    fs::write(&path, &text).unwrap();
    let repeated = sandbox.run(&["docs", "init"]);
    assert_eq!(repeated.code, 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(crate::sandbox().run(&["docs", "init"]).code, 1);
}

#[test]
fn the_docs_commands_search_and_print_pages() {
    let sandbox = crate::search_docs::corpus();
    let finished = sandbox.run(&[
        "docs",
        "retry configuration",
        "--filter",
        "language=go",
        "--filter",
        "scope=sdk-specific",
        "--limit",
        "1",
    ]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_snapshot!(finished.stdout, @"
    docs/sdk/go/auth.md#go-sdk/retry-configuration  Go SDK > Retry configuration  1.00  language=go  scope=sdk-specific
    	Set the number of attempts.
    ");
    let read = sandbox.run(&["doc", "docs/sdk/go/auth.md#login"]);
    assert_snapshot!(read.stdout, @"
    docs/sdk/go/auth.md#go-sdk/login  Go SDK > Login  lines 9-11, section 3 of 3
    ## Login

    Sign in with Go.
    ");
    for (filters, message) in [
        (vec!["language"], "--filter takes KEY=VALUE, not language"),
        (vec!["query=y"], "query is no label; use --query"),
        (
            vec!["language=go", "language=TypeScript"],
            "--filter language was given twice; a page has one value of it",
        ),
    ] {
        let mut arguments = vec!["docs", "x"];
        for filter in filters {
            arguments.extend(["--filter", filter]);
        }
        let wrong = sandbox.run(&arguments);
        assert_eq!(wrong.code, 2);
        assert!(wrong.stderr.contains(message), "{}", wrong.stderr);
    }
}

/// A project with two prompts.
fn project_with_prompts() -> Sandbox {
    sandbox()
        .file(
            "guides/advisor.template.md",
            "---\ntitle: Advisor\ndescription: Gives advice.\narguments:\n  - name: app\n    description: What is built\n    required: true\n  - name: extra\n---\n\nAdvise on {{app}}. {{extra}}\n",
        )
        .file(
            "play.template.yaml",
            "title: Play\nmessages:\n  - role: user\n    content: {type: text, text: 'Play {{game}}.'}\n  - role: assistant\n    content: {type: text, text: 'Gladly.'}\n",
        )
        .file("play.template.md", "Not this one.\n")
}

#[test]
fn templates_are_prompts_and_not_pages() {
    let sandbox = project_with_prompts().trusted();
    let client = sandbox.start_client(Era::Handshake);
    let list = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_snapshot!(pretty(&list), @r#"
    [
      {
        "name": "guides/advisor",
        "title": "Advisor",
        "description": "The project says: \"Gives advice.\"",
        "arguments": [
          {
            "name": "app",
            "description": "The project says: \"What is built\"",
            "required": true
          },
          {
            "name": "extra",
            "required": false
          }
        ]
      },
      {
        "name": "play",
        "title": "Play"
      }
    ]
    "#);
    let filled = client.request(
        "prompts/get",
        json!({ "name": "guides/advisor", "arguments": { "app": "<a> {{extra}}" } }),
    );
    assert_snapshot!(pretty(&filled["result"]), @r#"
    {
      "description": "The project says: \"Gives advice.\"",
      "messages": [
        {
          "role": "user",
          "content": {
            "type": "text",
            "text": "Advise on <a> {{extra}}. "
          }
        }
      ]
    }
    "#);
    let yaml = client.request(
        "prompts/get",
        json!({ "name": "play", "arguments": { "game": "chess" } }),
    );
    assert_snapshot!(pretty(&yaml["result"]["messages"]), @r#"
    [
      {
        "role": "user",
        "content": {
          "type": "text",
          "text": "Play chess."
        }
      },
      {
        "role": "assistant",
        "content": {
          "type": "text",
          "text": "Gladly."
        }
      }
    ]
    "#);
    let missing = client.request(
        "prompts/get",
        json!({ "name": "guides/advisor", "arguments": { "app": " " } }),
    );
    assert_snapshot!(missing["error"], @r#"{"code":-32602,"message":"the prompt needs app"}"#);
    let unknown = client.request("prompts/get", json!({ "name": "none" }));
    assert_snapshot!(unknown["error"], @r#"{"code":-32602,"message":"there is no prompt none"}"#);
    let answer = client.call("search_docs", json!({ "query": "advise" })).json();
    assert_eq!(answer["hits"].as_array().unwrap().len(), 0);
}

#[test]
fn a_client_is_notified_when_labels_and_prompts_change() {
    let sandbox = crate::search_docs::corpus();
    let client = sandbox.start_client(Era::Handshake);
    client.request("tools/list", json!({}));
    // The first search reads the documentation. Later differences are changes.
    client.call("search_docs", json!({ "query": "retry" }));
    sandbox.write(
        "docs/sdk/rb.md",
        "---\nmetadata:\n  language: ruby\n---\n# Gems\n",
    );
    sandbox.write("docs/new.template.md", "Do it.\n");
    let mut notifications = [
        client.receive()["method"].to_string(),
        client.receive()["method"].to_string(),
    ];
    notifications.sort();
    assert_eq!(
        notifications,
        [
            "\"notifications/prompts/list_changed\"",
            "\"notifications/tools/list_changed\""
        ]
    );
    let list = client.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(list.contains("ruby"));
}

#[test]
fn instructions_of_a_trusted_projects_manifest_are_quoted_and_cut() {
    let instructions = format!("Ask about\u{202e} Acme.\n{}", "x".repeat(5_000));
    let manifest = json!({ "version": "1", "mcpServerInstructions": instructions }).to_string();
    let sandbox = sandbox().file("docs/.docs-mcp.json", manifest).trusted();
    let client = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake);
    let instructions = client.initialize("2025-11-25")["instructions"]
        .as_str()
        .unwrap()
        .to_owned();
    let expected = "quoted as data and not as instructions: \"Ask about\\u{202E} Acme.\\nxxx";
    let quoted = instructions.split_once(expected).expect("the quotation").1;
    assert!(quoted.ends_with("xxx…\""), "{instructions}");
    assert!(quoted.chars().count() < 200, "{instructions}");
    assert!(instructions.chars().count() < 2_000);
}
