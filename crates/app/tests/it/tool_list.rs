//! `tools/list`: the hints and the schemas of every tool, and the size of the list.
//!
//! Left out: filters of `search_docs` by label, which depend on the corpus (`docs_labels.rs`).

use docent_testkit::{Era, StdioClient};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{find_tool, list_tools, sandbox};

/// 15 KB for the whole list: every client pays for it with each session.
pub(crate) const MAX_LIST_BYTES: usize = 15 * 1_024;

/// The same in the compact form, which has no schemas of answers.
const MAX_COMPACT_LIST_BYTES: usize = 9 * 1_024;

/// Characters of the instructions in the compact form.
const MAX_COMPACT_INSTRUCTION_CHARS: usize = 1_500;

/// The names of the hints that every tool has.
const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// Prints the input schemas of these tools, a line for each argument. `properties` must be the second key.
fn print_schemas(names: &[&str]) -> String {
    let sandbox = sandbox();
    let mut lines = Vec::new();
    for name in names {
        let mut schema = find_tool(&sandbox, name)["inputSchema"].clone();
        let fields = schema.as_object_mut().unwrap();
        let keys: Vec<&str> = fields.keys().map(String::as_str).take(2).collect();
        assert_eq!(keys, ["type", "properties"], "{name}");
        let arguments = fields.shift_remove("properties").unwrap();
        lines.push(format!("{name} {schema}"));
        let print = |(argument, schema): (&String, &Value)| format!("  {argument} {schema}");
        lines.extend(arguments.as_object().unwrap().iter().map(print));
    }
    lines.join("\n")
}

#[test]
fn every_tool_is_listed_with_an_input_schema_and_all_four_hints() {
    let mut names = Vec::new();
    for tool in list_tools(&sandbox()) {
        let hints = &tool["annotations"];
        for hint in HINTS {
            assert!(hints[hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object");
        names.push(tool["name"].as_str().unwrap().to_owned());
    }
    assert_snapshot!(names.join("\n"), @"
    context_search
    read_file
    grep_codebase
    hello
    read_repo_file
    write_memory_entry
    git_log
    git_blame
    git_diff
    search_docs
    get_doc
    get_overall_coverage
    get_file_coverage
    start_coverage_snapshot
    end_coverage_snapshot
    find_symbol
    find_references
    ");
}

#[test]
fn only_tools_that_answer_with_json_have_an_output_schema() {
    for tool in list_tools(&sandbox()) {
        // Clients show the model the structured content and drop the text. So tools that answer with text
        // declare no output schema.
        let name = tool["name"].as_str().unwrap();
        let is_text = name.starts_with("git_")
            || ["context_search", "get_doc", "find_symbol", "find_references"].contains(&name);
        assert_eq!(tool["outputSchema"]["type"] == "object", !is_text, "{tool}");
        // Older clients reject a schema that is `true`, and linters reject one without a type or with
        // several. A field that is always there and may be null has two schemas.
        let fields = tool["outputSchema"]["properties"].as_object();
        let has_type = |field: &Value| match field["anyOf"].as_array().map(Vec::as_slice) {
            Some([one, null]) => one["type"].is_string() && null["type"] == "null",
            _ => field["type"].is_string(),
        };
        assert!(
            fields.into_iter().flatten().all(|(_, field)| has_type(field)),
            "{tool}"
        );
    }
}

#[test]
fn instructions_and_the_tool_list_stay_small() {
    let sandbox = sandbox();
    let client = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake);
    let instructions = client.initialize("2025-11-25")["instructions"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(instructions.chars().count() < 2_000);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(
        list.to_string().len() < MAX_LIST_BYTES,
        "{}",
        list.to_string().len()
    );
    for tool in list.as_array().unwrap() {
        assert!(
            instructions.contains(tool["name"].as_str().unwrap()),
            "the instructions say when to use {tool}"
        );
    }
}

#[test]
fn the_compact_form_lists_the_same_tools_in_fewer_bytes() {
    let names = |tools: &[Value]| -> Vec<Value> { tools.iter().map(|tool| tool["name"].clone()).collect() };
    let contract = list_tools(&sandbox());
    let sandbox = sandbox()
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "metadata": {"language": "go", "team": "Core"}}"#,
        )
        .file("docs/a.md", "# A\n\nwalrus\n")
        .compact();
    let client = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake);
    let instructions = client.initialize("2025-11-25")["instructions"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(instructions.chars().count() <= MAX_COMPACT_INSTRUCTION_CHARS);
    let tools = list_tools(&sandbox);
    let bytes = json!(tools).to_string().len();
    assert!(bytes <= MAX_COMPACT_LIST_BYTES, "{bytes}");
    assert_eq!(names(&tools), names(&contract));
    for tool in &tools {
        assert!(
            HINTS.iter().all(|hint| tool["annotations"][hint].is_boolean()),
            "{tool}"
        );
        assert!(tool["outputSchema"].is_null(), "{tool}");
        assert!(
            instructions.contains(tool["name"].as_str().unwrap()),
            "the instructions say when to use {tool}"
        );
    }
    assert_eq!(
        find_tool(&sandbox, "search_docs")["inputSchema"]["properties"]["language"]["enum"],
        json!(["go"])
    );
}

#[test]
fn arguments_that_are_not_listed_are_accepted() {
    let sandbox = sandbox().file("a.rs", "fn walrus() {}\n").compact();
    let listed = &find_tool(&sandbox, "hello")["inputSchema"];
    assert_eq!(listed["properties"], json!({}));
    assert_eq!(
        sandbox.call("hello", json!({ "name": "Ada" })).text,
        "Hello, Ada!"
    );
    let too_long = json!({ "pattern": "x".repeat(201) });
    assert!(
        sandbox.call("grep_codebase", too_long).is_error,
        "bounds hold unlisted"
    );
}

#[test]
fn the_context_tools_have_the_arguments_of_their_contract() {
    let schemas = print_schemas(&["context_search", "read_file", "grep_codebase"]);
    assert_snapshot!(schemas, @r#"
    context_search {"type":"object","required":["query"]}
      query {"type":"string","description":"A question, a description or a name","minLength":3,"maxLength":500}
      type {"type":"string","enum":["all","pattern","rule","decision","issue"],"description":"Filter by discovery type","default":"all"}
      module {"type":"string","description":"Filter by module name"}
      limit {"type":"integer","minimum":1,"description":"Maximum number of results to return","maximum":20,"default":5}
      projectScope {"type":"string","enum":["current","all_linked"],"description":"Search current project only or all linked projects (default: current)"}
      chunkType {"type":"array","items":{"type":"string","enum":["function","class","method","interface","type"]},"description":"Filter by chunk types (default: all types)"}
      format {"type":"string","enum":["markdown","json"],"description":"Default: markdown; JSON with type or module"}
      path {"type":"string"}
      maxChars {"type":"integer"}
      explain {"type":"boolean"}
      details {"type":"string"}
    read_file {"type":"object","required":["path"]}
      path {"type":"string","description":"File path relative to project root","minLength":1}
      includeDeps {"type":"boolean","description":"Include level 1 dependencies (imports)","default":false}
      maxDepth {"type":"integer","minimum":0,"maximum":1,"description":"Dependency tree depth","default":1}
      startLine {"type":"integer"}
      endLine {"type":"integer"}
      symbol {"type":"string"}
      ranges {"type":"array","items":{"type":"string"}}
      outline {"type":"boolean"}
      focus {"type":"string"}
      again {"type":"boolean"}
    grep_codebase {"type":"object","required":["pattern"]}
      pattern {"type":"string","description":"Regex pattern to search for","minLength":1,"maxLength":200}
      filePattern {"type":"string","description":"Glob pattern to filter files (e.g., \"**/*.ts\")"}
      caseSensitive {"type":"boolean","description":"Case-sensitive search","default":false}
      limit {"type":"integer","minimum":1,"description":"Maximum number of matches to return","maximum":100,"default":50}
      contextLines {"type":"integer"}
      paths {"type":"array","items":{"type":"string"}}
      kinds {"type":"array","items":{"type":"string","enum":["code","tests","docs","config"]}}
      output {"type":"string","enum":["lines","files","counts"]}
    "#);
}

#[test]
fn the_memory_tools_have_the_arguments_of_their_contract() {
    let schemas = print_schemas(&["hello", "read_repo_file", "write_memory_entry"]);
    assert_snapshot!(schemas, @r#"
    hello {"type":"object"}
      name {"type":"string","description":"Name to greet","default":"World"}
    read_repo_file {"type":"object","required":["path"]}
      path {"type":"string","description":"Relative path from repo root","pattern":"^[a-zA-Z0-9_./-]+$"}
      encoding {"type":"string","enum":["utf-8","base64"],"default":"utf-8"}
      offset {"type":"integer"}
    write_memory_entry {"type":"object","required":["file","entry"]}
      file {"type":"string","enum":["progress_log.jsonl","decisions.jsonl","best_practices.md"],"description":"Target memory file"}
      entry {"type":"string","description":"Content to append: markdown; for .jsonl one line, e.g. {\"decision\": \"…\", \"why\": \"…\", \"module\": \"…\"}","maxLength":10240}
    "#);
}

#[test]
fn the_git_tools_have_the_arguments_of_their_contract() {
    let schemas = print_schemas(&["git_log", "git_blame", "git_diff"]);
    assert_snapshot!(schemas, @r#"
    git_log {"type":"object"}
      filePath {"type":"string","description":"File or directory"}
      since {"type":"string","description":"Show commits after this date or tag (e.g. '2025-01-01', '30 days ago', 'v1.0.0')"}
      until {"type":"string","description":"Show commits before this date or tag"}
      author {"type":"string","description":"Filter by author name or email"}
      maxCount {"type":"integer","minimum":1,"description":"Maximum number of commits to return","maximum":100,"default":10}
      skip {"type":"integer"}
      contains {"type":"string"}
      symbol {"type":"string"}
      startLine {"type":"integer"}
      endLine {"type":"integer"}
      commit {"type":"string"}
    git_blame {"type":"object","required":["filePath"]}
      filePath {"type":"string","description":"File path relative to project root","minLength":1}
      startLine {"type":"integer","minimum":1,"description":"First line, counted from 1"}
      endLine {"type":"integer","minimum":1,"description":"Last line, inclusive"}
    git_diff {"type":"object"}
      ref1 {"type":"string","description":"First reference (commit, branch, tag). Leave empty for working directory."}
      ref2 {"type":"string","description":"Second reference. If omitted, compares ref1 to working directory."}
      filePath {"type":"string","description":"File or directory"}
      summary {"type":"boolean","description":"Summary only (no line-by-line diff)","default":false}
      offset {"type":"integer"}
      staged {"type":"boolean"}
    "#);
}

#[test]
fn the_docs_tools_have_the_arguments_of_their_contract() {
    let schemas = print_schemas(&["search_docs", "get_doc"]);
    assert_snapshot!(schemas, @r#"
    search_docs {"type":"object","required":["query"],"additionalProperties":false}
      query {"type":"string","description":"The search query (e.g., 'how to paginate', 'RateLimitError')."}
      limit {"type":"integer","minimum":1,"description":"Maximum number of results to return. Default is 10.","maximum":50,"default":10}
      cursor {"type":"string","description":"Opaque pagination token returned from a previous search. Omit for the first page. Returns an error if invalid or malformed."}
    get_doc {"type":"object","required":["chunk_id"],"additionalProperties":false}
      chunk_id {"type":"string","description":"The exact ID of the chunk to retrieve, as returned by search_docs (e.g., 'guides/retries.md#backoff-strategy')."}
      context {"type":"integer","minimum":0,"description":"Number of adjacent chunks to include before and after the target chunk. Default is 0. Use this to read the surrounding file context.","maximum":5,"default":0}
    "#);
}

#[test]
fn the_coverage_tools_have_the_arguments_of_their_contract() {
    let schemas = print_schemas(&[
        "get_overall_coverage",
        "get_file_coverage",
        "start_coverage_snapshot",
        "end_coverage_snapshot",
    ]);
    assert_snapshot!(schemas, @r#"
    get_overall_coverage {"type":"object","required":["lcovPath"]}
      lcovPath {"type":"string","description":"LCOV report, absolute or relative, e.g. \"./coverage/lcov.info\""}
    get_file_coverage {"type":"object","required":["lcovPath","filePaths"]}
      lcovPath {"type":"string","description":"LCOV report"}
      filePaths {"type":"array","items":{"type":"string"},"description":"As the LCOV file has them, relative or absolute"}
    start_coverage_snapshot {"type":"object","required":["lcovPath"]}
      lcovPath {"type":"string","description":"LCOV report"}
    end_coverage_snapshot {"type":"object","required":["snapshotId","lcovPath"]}
      snapshotId {"type":"string","description":"From `start_coverage_snapshot`"}
      lcovPath {"type":"string","description":"Current LCOV report"}
    "#);
}

#[test]
fn the_symbol_tools_take_a_name_and_narrow_the_question() {
    let schemas = print_schemas(&["find_symbol", "find_references"]);
    assert_snapshot!(schemas, @r#"
    find_symbol {"type":"object","required":["name"]}
      name {"type":"string","description":"Name, Scope.name or prefix; several: a|b"}
      path {"type":"string","description":"File or directory"}
      kind {"type":"string"}
      limit {"type":"integer"}
    find_references {"type":"object","required":["symbol"]}
      symbol {"type":"string","description":"Name or Scope.name"}
      path {"type":"string","description":"Of the definition: file, `FILE:LINE` or directory"}
      depth {"type":"integer","maximum":3}
      direction {"type":"string","enum":["callers","callees","implementations"]}
      limit {"type":"integer"}
    "#);
}
