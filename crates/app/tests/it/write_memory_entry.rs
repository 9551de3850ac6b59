//! `write_memory_entry`: approval by the user, over both transports and in both eras, and refused entries.

use docent_testkit::{Answer, Era, HttpServer, Sandbox, StdioClient, User, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

const ENTRY: &str =
    r#"{"timestamp": "2026-01-09T10:30:00Z", "event": "task_complete", "task": "EDA notebook"}"#;

/// Arguments that append an entry to the progress log.
fn progress(entry: &str) -> Value {
    json!({ "file": "progress_log.jsonl", "entry": entry })
}

/// The content of a memory file, empty if it is missing.
fn read_memory(sandbox: &Sandbox, file: &str) -> String {
    std::fs::read_to_string(sandbox.root().join(".context/memory").join(file)).unwrap_or_default()
}

/// Calls over both transports in both eras, each in a new project: the answers and what was written.
fn call_by_all(user: User, arguments: &Value) -> Vec<(Answer, String)> {
    let file = arguments["file"].as_str().unwrap();
    let mut results = Vec::new();
    for era in Era::BOTH {
        let project = sandbox();
        let mut docent = project.docent();
        docent.env("DOCENT_MEMORY_APPROVAL_SECONDS", "1");
        let client = StdioClient::start_with_user(docent, era, user);
        let answer = client.call("write_memory_entry", arguments.clone());
        results.push((answer, read_memory(&project, file)));

        let project = sandbox();
        let mut docent = project.docent();
        docent.env("DOCENT_MEMORY_APPROVAL_SECONDS", "1");
        let server = HttpServer::start(docent);
        let answer = server.call_with_user(era, user, "write_memory_entry", arguments.clone());
        results.push((answer, read_memory(&project, file)));
    }
    results
}

/// Calls as [`call_by_all`] does, and fails if the results differ.
fn call_alike(user: User, arguments: &Value) -> (Answer, String) {
    let results = call_by_all(user, arguments);
    for result in &results {
        assert_eq!(*result, results[0], "{user:?}");
    }
    results.into_iter().next().unwrap()
}

#[test]
fn an_accepted_entry_is_written_unchanged() {
    let (answer, written) = call_alike(User::Accepts, &progress(ENTRY));

    assert_snapshot!(answer, @r#"{"success":true,"bytes_written":88,"timestamp":"2026-01-09T10:30:00Z"}"#);
    assert_eq!(written, format!("{ENTRY}\n"));
    assert_eq!(answer.json()["bytes_written"], written.len());
}

#[test]
fn a_declined_entry_is_refused_and_dropped() {
    let (answer, written) = call_alike(User::Declines, &progress(ENTRY));

    assert_snapshot!(
        answer,
        @r#"[isError] {"error":"The user declined the entry; nothing was written","code":403}"#
    );
    assert_eq!(written, "");
}

#[test]
fn a_cancelled_question_leaves_the_entry_pending() {
    let (answer, written) = call_alike(User::Cancels, &progress(ENTRY));

    assert_snapshot!(pretty(&answer), @r#"
    {
      "success": false,
      "bytes_written": 0,
      "timestamp": "2026-01-09T10:30:00Z",
      "pending": "4d0e1c67d1",
      "notice": "The question was closed without an answer, so nothing is written yet. Tell the user to run `docent memory approve 4d0e1c67d1`; `docent memory pending` shows what waits"
    }
    "#);
    assert_eq!(written, "");
}

#[test]
fn a_client_that_fails_to_ask_leaves_the_entry_pending() {
    for user in [User::CannotBeAsked, User::AnswersNonsense] {
        let (answer, written) = call_alike(user, &progress(ENTRY));

        assert_eq!(answer.json()["pending"], "4d0e1c67d1", "{user:?}");
        assert!(answer.text.contains("The user could not be asked"), "{answer}");
        assert_eq!(written, "");
    }
}

#[test]
fn a_user_who_never_answers_leaves_the_entry_pending() {
    let project = sandbox();
    let mut docent = project.docent();
    docent.env("DOCENT_MEMORY_APPROVAL_SECONDS", "1");
    let client = StdioClient::start_with_user(docent, Era::Handshake, User::NeverAnswers);
    let answer = client.call("write_memory_entry", progress(ENTRY));

    assert!(
        answer.text.contains("The user did not answer in time"),
        "{answer}"
    );
    assert_eq!(read_memory(&project, "progress_log.jsonl"), "");
    assert_eq!(project.run(&["memory", "pending"]).stdout.lines().count(), 2);
}

#[test]
fn a_client_without_elicitation_leaves_the_entry_pending_for_approval() {
    let sandbox = sandbox();
    let answer = sandbox.call("write_memory_entry", progress(ENTRY));

    assert_snapshot!(pretty(&answer), @r#"
    {
      "success": false,
      "bytes_written": 0,
      "timestamp": "2026-01-09T10:30:00Z",
      "pending": "4d0e1c67d1",
      "notice": "This client cannot ask the user, so nothing is written yet. Tell the user to run `docent memory approve 4d0e1c67d1`; `docent memory pending` shows what waits"
    }
    "#);
    assert_eq!(read_memory(&sandbox, "progress_log.jsonl"), "");
    // Three equal calls leave one pending entry.
    let pending = sandbox.run(&["memory", "pending"]);
    assert_eq!(
        pending.stdout.matches("EDA notebook").count(),
        1,
        "{}",
        pending.stdout
    );
    let id = answer.json()["pending"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.run(&["memory", "approve", &id]).code, 0);
    assert_eq!(read_memory(&sandbox, "progress_log.jsonl"), format!("{ENTRY}\n"));
    let repeated = sandbox.run(&["memory", "approve", &id]);
    assert_eq!(repeated.code, 1);
    assert!(repeated.stderr.contains("no entry"), "{}", repeated.stderr);
    assert_eq!(read_memory(&sandbox, "progress_log.jsonl"), format!("{ENTRY}\n"));
}

#[test]
fn the_user_can_turn_off_approval() {
    let project = sandbox();
    let mut docent = project.docent();
    docent.env("DOCENT_MEMORY_APPROVAL", "never");
    let client = StdioClient::start(docent, Era::Handshake);
    let answer = client.call("write_memory_entry", progress(ENTRY));

    assert_eq!(answer.json()["success"], true);
    assert_eq!(read_memory(&project, "progress_log.jsonl"), format!("{ENTRY}\n"));
}

#[test]
fn a_project_cannot_turn_off_approval() {
    let sandbox = sandbox().file(".context/config.toml", "[memory]\napproval = \"never\"\n");
    let answer = sandbox.call("write_memory_entry", progress(ENTRY));

    assert_eq!(answer.json()["success"], false);
}

/// Builds a stateless call that brings the consent of the user, with the state of an earlier question.
fn call_with_consent(state: &Value, entry: &str) -> Value {
    json!({
        "name": "write_memory_entry",
        "arguments": progress(entry),
        "inputResponses": { "approve": { "action": "accept" } },
        "requestState": state,
    })
}

/// Calls as a stateless client until the question, and returns its `requestState`.
fn request_consent(client: &StdioClient) -> Value {
    let call = json!({ "name": "write_memory_entry", "arguments": progress(ENTRY) });
    let response = client.request("tools/call", call);
    let state = response["result"]["requestState"].clone();
    assert!(state.is_string(), "{response}");
    state
}

#[test]
fn a_forged_or_reused_consent_is_not_accepted() {
    let project = sandbox();
    let client = StdioClient::start_with_user(project.docent(), Era::Stateless, User::Accepts);
    let state = &request_consent(&client);
    // A forged state, the right state for another entry, and the right state a second time.
    for (state, entry) in [(&json!("4d0e1c67d1"), ENTRY), (state, "{}"), (state, ENTRY)] {
        let response = client.request("tools/call", call_with_consent(state, entry));
        assert_eq!(response["result"]["resultType"], "input_required", "{response}");
    }
    let unable = project.start_client(Era::Stateless);
    let response = unable.request("tools/call", call_with_consent(state, ENTRY));
    assert_eq!(Answer::from_result(&response["result"]).json()["success"], false);
    assert_eq!(read_memory(&project, "progress_log.jsonl"), "");
}

#[test]
fn a_consent_is_valid_for_one_call() {
    let project = sandbox();
    let client = StdioClient::start_with_user(project.docent(), Era::Stateless, User::Accepts);
    let state = &request_consent(&client);
    let written = client.request("tools/call", call_with_consent(state, ENTRY));
    assert_eq!(Answer::from_result(&written["result"]).json()["success"], true);
    let repeated = client.request("tools/call", call_with_consent(state, ENTRY));
    assert_eq!(repeated["result"]["resultType"], "input_required", "{repeated}");
    assert_eq!(read_memory(&project, "progress_log.jsonl"), format!("{ENTRY}\n"));
}

#[test]
fn a_decided_entry_is_no_longer_pending() {
    let project = sandbox();
    let pending = || project.run(&["memory", "pending"]).stdout;
    let call_as = |user: User| {
        let client = StdioClient::start_with_user(project.docent(), Era::Handshake, user);
        client.call("write_memory_entry", progress(ENTRY))
    };
    call_as(User::Cancels);
    assert!(pending().contains("EDA notebook"));
    call_as(User::Declines);
    assert_eq!(pending(), "");
    call_as(User::Cancels);
    call_as(User::Accepts);
    assert_eq!(pending(), "");
    assert_eq!(read_memory(&project, "progress_log.jsonl"), format!("{ENTRY}\n"));
}

#[test]
fn an_entry_stays_pending_if_the_client_leaves_during_the_question() {
    let project = sandbox();
    let client = StdioClient::start_with_user(project.docent(), Era::Handshake, User::NeverAnswers);
    client.post(
        "tools/call",
        json!({ "name": "write_memory_entry", "arguments": progress(ENTRY) }),
    );
    let question = std::iter::repeat_with(|| client.receive())
        .find(|message| message["method"] == "elicitation/create")
        .unwrap();
    assert!(
        question["params"]["message"]
            .as_str()
            .unwrap()
            .contains("> {\"timestamp\""),
        "{question}"
    );
    client.close();

    assert!(
        project
            .run(&["memory", "pending"])
            .stdout
            .contains("EDA notebook")
    );
}

#[test]
fn lines_appended_by_other_programs_are_kept() {
    use std::io::Write;
    let project = sandbox();
    let mut docent = project.docent();
    docent.env("DOCENT_MEMORY_APPROVAL", "never");
    let client = StdioClient::start(docent, Era::Handshake);
    client.call("write_memory_entry", progress("{}"));
    let path = project.root().join(".context/memory/progress_log.jsonl");
    let other = std::thread::spawn(move || {
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        for number in 0..2_000 {
            let line = format!("{{\"by hand\":{number}}}\n");
            file.write_all(line.as_bytes()).unwrap();
        }
    });
    for _ in 0..60 {
        let written = client.call("write_memory_entry", progress("{}")).json();
        assert!(
            written["success"] == true || written["pending"].is_string(),
            "{written}"
        );
    }
    other.join().unwrap();

    let text = read_memory(&project, "progress_log.jsonl");
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("{\"by hand\":"))
            .count(),
        2_000
    );
    assert!(
        text.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
}

#[cfg(unix)]
#[test]
fn a_memory_file_with_a_second_hard_link_is_not_written() {
    let sandbox = sandbox().file(".context/memory/x", "");
    let outside = sandbox.outside().join("outside");
    std::fs::write(&outside, "kept").unwrap();
    for name in ["decisions.jsonl", ".journal", "origins.jsonl"] {
        let link = sandbox.root().join(".context/memory").join(name);
        std::fs::hard_link(&outside, &link).unwrap();
        assert_ne!(
            sandbox.run(&["memory", "add", "decisions.jsonl", "{}"]).code,
            0,
            "{name}"
        );
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept");
        std::fs::remove_file(link).unwrap();
    }
}

#[test]
fn the_user_sees_the_entry_before_it_is_written() {
    let project = sandbox();
    let client = StdioClient::start_with_user(project.docent(), Era::Stateless, User::Accepts);
    let arguments = json!({ "file": "best_practices.md", "entry": "- Always close files" });
    let response = client.request(
        "tools/call",
        json!({ "name": "write_memory_entry", "arguments": arguments }),
    );

    assert_snapshot!(pretty(&response["result"]["inputRequests"]), @r#"
    {
      "approve": {
        "method": "elicitation/create",
        "params": {
          "mode": "form",
          "message": "Append these 20 bytes to .context/memory/best_practices.md?\n\n> - Always close files\n",
          "requestedSchema": {
            "type": "object",
            "properties": {}
          }
        }
      }
    }
    "#);
}

#[test]
fn markdown_entries_are_separated_by_a_blank_line() {
    let sandbox = sandbox();
    for entry in ["- Always close files", "- Never panic\n- Log once", "text"] {
        let added = sandbox.run(&["memory", "add", "best_practices.md", entry]);
        assert_eq!(added.code, 0, "{}", added.stderr);
    }

    assert_eq!(
        read_memory(&sandbox, "best_practices.md"),
        "- Always close files\n\n- Never panic\n- Log once\n\ntext\n"
    );
}

#[test]
fn invalid_entries_are_refused_with_a_code() {
    let sandbox = sandbox();
    let refuse = |file: &str, entry: &str| {
        let answer = sandbox.call("write_memory_entry", json!({ "file": file, "entry": entry }));
        assert!(answer.is_error, "{answer}");
        answer.text
    };
    let large = format!(r#"{{"a": "{}"}}"#, "x".repeat(10_240));
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let token = ["ghp_", "abcD1abcD1abcD1abcD1abcD1"].concat();
    let secret = format!(r#"{{"note": "deploy with {token}"}}"#);
    let errors = [
        refuse("decisions.jsonl", &large),
        refuse("decisions.jsonl", ""),
        refuse("decisions.jsonl", "  \n"),
        refuse("decisions.jsonl", "not JSON"),
        refuse("decisions.jsonl", "[1, 2]"),
        refuse("decisions.jsonl", "{\"a\":\n 1}"),
        refuse("decisions.jsonl", r#"{"a": 1, "a": 2}"#),
        refuse("decisions.jsonl", &deep),
        refuse("decisions.jsonl", &secret),
        refuse("decisions.jsonl", "{\"a\": \"\u{202e}b\"}"),
        refuse("best_practices.md", "<script>alert(1)</script>"),
        refuse("best_practices.md", "a\u{7}b"),
        refuse("secrets.md", "x"),
        refuse("../decisions.jsonl", "{}"),
    ];

    assert!(!errors.concat().contains(&token));
    assert_snapshot!(errors.join("\n"), @r#"
    {"error":"The entry was refused (entry must have at most 10240 characters; it has 10249)","code":413}
    {"error":"The entry was refused (the entry is empty)","code":400}
    {"error":"The entry was refused (the entry is empty)","code":400}
    {"error":"The entry was refused (the entry is not valid JSON: expected ident at line 1 column 2). An entry of a .jsonl file is like {\"decision\": \"…\", \"why\": \"…\"}","code":400}
    {"error":"The entry was refused (the entry is not a JSON object). An entry of a .jsonl file is like {\"decision\": \"…\", \"why\": \"…\"}","code":400}
    {"error":"The entry was refused (the entry has more than one line, and each line of decisions.jsonl is an entry). Write line breaks inside strings as \\n","code":400}
    {"error":"The entry was refused (the entry is not valid JSON: the key \"a\" is there twice at line 1 column 16). An entry of a .jsonl file is like {\"decision\": \"…\", \"why\": \"…\"}","code":400}
    {"error":"The entry was refused (the entry is not valid JSON: more than 32 levels inside each other at line 1 column 38). An entry of a .jsonl file is like {\"decision\": \"…\", \"why\": \"…\"}","code":400}
    {"error":"The entry was refused (the entry seems to hold a secret: a GitHub token). Say where the secret is kept instead of what it is","code":403}
    {"error":"The entry was refused (the entry has an invisible character: U+202E)","code":400}
    {"error":"The entry was refused (the entry has something that would run or load when it is shown: <script>)","code":400}
    {"error":"The entry was refused (the entry has an invisible character: U+0007)","code":400}
    {"error":"file must be one of: progress_log.jsonl, decisions.jsonl, best_practices.md","code":400}
    {"error":"file must be one of: progress_log.jsonl, decisions.jsonl, best_practices.md","code":400}
    "#);
    assert!(!sandbox.root().join(".context").exists());
}

#[test]
fn missing_arguments_and_wrong_types_are_refused() {
    let sandbox = sandbox();
    for arguments in [
        json!({}),
        json!({ "file": "decisions.jsonl" }),
        json!({ "file": "decisions.jsonl", "entry": { "a": 1 } }),
        json!({ "file": 1, "entry": "{}" }),
    ] {
        let answer = sandbox.call("write_memory_entry", arguments);
        assert_eq!(answer.json()["code"], 400, "{answer}");
    }
}

#[test]
fn an_entry_of_the_maximum_size_is_written_completely() {
    let sandbox = sandbox();
    let entry = format!(r#"{{"a":"{}"}}"#, "x".repeat(10_240 - 8));
    assert_eq!(entry.len(), 10_240);
    assert_eq!(sandbox.run(&["memory", "add", "decisions.jsonl", &entry]).code, 0);

    assert_eq!(read_memory(&sandbox, "decisions.jsonl"), entry + "\n");
}

#[test]
fn calls_over_the_rate_limit_are_429_with_the_waiting_time() {
    let project = sandbox();
    let mut docent = project.docent();
    docent.env("DOCENT_LIMIT_WRITE_MEMORY_ENTRY", "2");
    let client = StdioClient::start_with_user(docent, Era::Handshake, User::Accepts);
    let call = || client.call("write_memory_entry", progress("{}"));
    assert_eq!(call().json()["success"], true);
    assert_eq!(call().json()["success"], true);

    assert_snapshot!(pretty(&call()), @r#"
    [isError] {
      "error": "Rate limit exceeded for write_memory_entry. Try again in 60 s",
      "code": 429
    }
    "#);
    assert_eq!(read_memory(&project, "progress_log.jsonl"), "{}\n{}\n");
}

#[cfg(unix)]
#[test]
fn a_memory_behind_a_symbolic_link_is_not_written() {
    for name in [".context", ".context/memory", ".context/memory/decisions.jsonl"] {
        let sandbox = sandbox();
        let target = sandbox.root().join("target");
        if name.ends_with("jsonl") {
            std::fs::write(&target, "kept").unwrap();
        } else {
            std::fs::create_dir(&target).unwrap();
        }
        let link = sandbox.root().join(name);
        docent_testkit::make_link(&target, &link);
        let refused = sandbox.run(&["memory", "add", "decisions.jsonl", "{}", "--json"]);

        assert_eq!(refused.code, 1, "{name}");
        assert!(
            refused.stdout.contains(r#""code":403"#),
            "{name}: {}",
            refused.stdout
        );
        if name.ends_with("jsonl") {
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
        } else {
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "{name}");
        }
    }
}

#[test]
fn pending_entries_can_be_listed_approved_and_rejected() {
    let sandbox = sandbox();
    for entry in [r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#] {
        sandbox.run(&["call", "write_memory_entry", &progress(entry).to_string()]);
    }
    let ids: Vec<String> = sandbox
        .run(&["memory", "pending"])
        .stdout
        .lines()
        .filter(|line| !line.starts_with(' ') && !line.is_empty())
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(sandbox.run(&["memory", "reject", &ids[0]]).code, 0);
    assert_eq!(sandbox.run(&["memory", "approve", "--all"]).code, 0);

    assert_eq!(read_memory(&sandbox, "progress_log.jsonl").lines().count(), 2);
    let listed = sandbox.run(&["memory", "list"]).stdout;
    assert!(
        listed.starts_with(".context/memory/progress_log.jsonl\n{\"a\": "),
        "{listed}"
    );
    assert_eq!(sandbox.run(&["memory", "pending"]).stdout, "");
}
