//! `docent gain`: the counts of a project, and those of past sessions.

use serde_json::{Value, json};

use crate::sandbox;

#[test]
fn without_counts_it_says_how_to_get_some() {
    let sandbox = sandbox();
    let gain = sandbox.run(&["gain"]);
    assert_eq!(gain.code, 0, "{gain:?}");
    assert!(gain.stdout.contains("Nothing was counted"), "{}", gain.stdout);
    let gain = sandbox.run(&["gain", "--json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&gain.stdout).unwrap(),
        json!({ "answers": [], "leftAlone": [] })
    );
}

#[test]
fn counts_are_shown_by_program_and_by_day_with_reasons() {
    let sandbox = sandbox();
    // The folder of the project's state, by way of a first count.
    let state = sandbox.home().join(".local/state/docent/state");
    assert_eq!(sandbox.run(&["memory", "pending"]).code, 0);
    let id = project_folder(&sandbox);
    let folder = state.join(id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("gain-1.log"),
        "2026-01-08\tanswer\tgrep\t1\t8000\t2000\n2026-01-09\tanswer\tgrep\t2\t4000\t1000\n\
         2026-01-09\tanswer\tgit diff\t1\t10000\t1000\n2026-01-09\tleft\tfind\t3\tthe flag -exec is not answered\n\
         2026-01-09\tleft\tgrep\t1\tits output goes to a pipe\ndamage\n",
    )
    .unwrap();
    let gain = sandbox.run(&["gain"]);
    assert_eq!(gain.code, 0, "{gain:?}");
    insta::assert_snapshot!(gain.stdout, @r"
    Answered by docent
      program          calls    its output         shown   saved
      git diff             1        10,000         1,000    90 %
      grep                 3        12,000         3,000    75 %
      all                  4        22,000         4,000    82 %
    Characters saved by day
      2026-01-08    6,000  ███████████████
      2026-01-09   12,000  ██████████████████████████████
    Left to the program
              3  find: the flag -exec is not answered
              1  grep: its output goes to a pipe
    ");
}

/// The name of the project's folder in the cache, which is that in the state.
fn project_folder(sandbox: &docent_testkit::Sandbox) -> String {
    assert_eq!(sandbox.run(&["index"]).code, 0);
    let projects = sandbox.home().join("cache/docent/projects");
    let mut names = std::fs::read_dir(projects).unwrap();
    names.next().unwrap().unwrap().file_name().into_string().unwrap()
}

/// A transcript of Claude Code with these tools, inputs and results.
fn claude_transcript(calls: &[(&str, Value, &str)]) -> String {
    let mut lines = Vec::new();
    for (at, (name, input, result)) in calls.iter().enumerate() {
        let call = json!({ "type": "tool_use", "id": format!("t{at}"), "name": name, "input": input });
        let result = json!({ "type": "tool_result", "tool_use_id": format!("t{at}"), "content": result });
        lines.push(json!({ "cwd": "/gone", "message": { "content": [call] } }).to_string());
        lines.push(json!({ "message": { "content": [result] } }).to_string());
    }
    lines.join("\n")
}

#[test]
fn past_sessions_are_counted_and_no_word_of_them_is_shown() {
    let sandbox = sandbox();
    let large = "     1\tfn walrus() {}\n".repeat(1_000);
    let transcript = claude_transcript(&[
        ("Read", json!({ "file_path": "/gone/secret.rs" }), &large),
        (
            "Bash",
            json!({ "command": "cd /gone && grep -rn hunter2 ." }),
            "found it",
        ),
        ("Bash", json!({ "command": "git diff" }), "a diff"),
        ("Bash", json!({ "command": "cat secret.rs" }), "text"),
        ("Grep", json!({ "pattern": "x" }), "matches"),
    ]);
    let folder = sandbox.home().join(".claude/projects/gone");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.jsonl"), &transcript).unwrap();
    std::fs::write(folder.join("b.jsonl"), "no json at all\n\u{0}").unwrap();

    let named = sandbox.run(&[
        "gain",
        "--json",
        "--replay",
        folder.join("a.jsonl").to_str().unwrap(),
    ]);
    let counts: Value = serde_json::from_str(&named.stdout).unwrap();
    let chars = large.len();
    assert_eq!(counts["reads"], json!({ "calls": 2, "chars": chars + 4 }));
    assert_eq!(counts["searches"], json!({ "calls": 2, "chars": 15 }));
    assert_eq!(counts["git"], json!({ "calls": 1, "chars": 6 }));
    assert_eq!(counts["largeReads"], json!({ "calls": 1, "chars": chars }));
    assert_eq!(counts["outlinesEstimated"], 1);
    let expected = chars - large.lines().take(120).map(|line| line.len() + 1).sum::<usize>() - 3_000;
    assert_eq!(counts["largeReadsSaved"], expected);
    let own = sandbox.run(&["gain", "--replay"]);
    assert_eq!(own.code, 0, "{own:?}");
    assert!(own.stdout.contains("2 transcripts, 5 calls"), "{}", own.stdout);
    for text in [&own.stdout, &named.stdout] {
        assert!(!text.contains("hunter2") && !text.contains("secret"), "{text}");
    }
    let none = sandbox.run(&["gain", "--replay", "/no/such/file"]);
    assert_eq!(none.code, 1, "{none:?}");
}
