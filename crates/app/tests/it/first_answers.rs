//! The first answers of a server: their order does not change because commits are still being read.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use docent_testkit::{Era, MAX_WAIT};
use serde_json::{Value, json};

use crate::sandbox;

#[test]
fn scores_do_not_depend_on_how_many_commits_were_read() {
    const COMMITS: usize = 400;
    let mut sandbox = sandbox();
    for at in 0..8 {
        sandbox = sandbox.file(
            &format!("src/pool{at}.py"),
            format!("def swim{at}():\n    \"\"\"The walrus swims in the pool.\"\"\"\n    return {at}\n"),
        );
    }
    sandbox.git(&["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    for at in 0..COMMITS {
        let message = format!("fix: the walrus lost its pool in round {at}, because the water was missing");
        let content = format!("round {at}\n");
        stream += &format!(
            "commit refs/heads/main\ncommitter J <j@x.example> {} +0000\ndata {}\n{message}\nM 100644 inline src/pool{}.py\ndata {}\n{content}\n",
            1_700_000_000 + at,
            message.len(),
            at % 8,
            content.len(),
        );
    }
    let import = Command::new("git")
        .current_dir(sandbox.root())
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn();
    let mut import = import.unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let client = sandbox.start_client(Era::Handshake);
    let ask = || {
        let arguments = json!({ "query": "where does the walrus swim", "format": "json", "limit": 8 });
        client.call("context_search", arguments).json()
    };
    let shown = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap();
        results
            .iter()
            .map(|result| format!("{} {} {}", result["id"], result["score"], result["ranking"]))
            .collect()
    };
    let (mut without, mut with): (Vec<Vec<String>>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    let until = Instant::now() + MAX_WAIT;
    while with.len() < 3 {
        assert!(Instant::now() < until);
        let answer = ask();
        let notice = answer["notice"].as_str().unwrap_or_default();
        if notice.contains("files can be found so far") {
            continue;
        }
        assert!(notice.matches("not searched yet").count() <= 1, "{notice}");
        let is_without = notice.contains("not searched yet");
        let answers = if is_without { &mut without } else { &mut with };
        answers.push(shown(&answer));
    }
    without.dedup();
    with.dedup();
    assert!(without.len() <= 1, "{without:#?}");
    assert_eq!(with.len(), 1, "{with:#?}");
}
