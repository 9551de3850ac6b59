//! Linked projects: the commands, and searching all of them.

use std::fs;
use std::path::PathBuf;

use docent_testkit::Sandbox;
use serde_json::{Value, json};

use crate::sandbox;

/// A project beside the sandbox's, with one file.
fn beside(sandbox: &Sandbox, name: &str, word: &str) -> PathBuf {
    let directory = sandbox.outside().canonicalize().unwrap().join(name);
    fs::create_dir(&directory).unwrap();
    fs::write(
        directory.join("lib.py"),
        format!("def {word}_token():\n    return 1\n"),
    )
    .unwrap();
    directory
}

fn search(sandbox: &Sandbox, scope: &str) -> Value {
    let arguments = json!({ "query": "token", "projectScope": scope, "format": "json", "limit": 20 });
    sandbox.call("context_search", arguments).json()
}

fn found(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    let mut found: Vec<String> = results
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one["project"].as_str().unwrap(),
                one["name"].as_str().unwrap()
            )
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn all_linked_projects_are_searched_and_labelled() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let other = beside(&sandbox, "other", "other");
    assert_eq!(found(&search(&sandbox, "all_linked")), ["project own_token"]);

    let linked = sandbox.run(&["link", "../other"]);
    assert_eq!(linked.code, 0, "{}", linked.stderr);
    assert_eq!(found(&search(&sandbox, "current")), ["project own_token"]);
    assert_eq!(
        found(&search(&sandbox, "all_linked")),
        ["other other_token", "project own_token"]
    );
    let listed = sandbox.run(&["links"]).stdout;
    assert!(listed.contains(other.to_str().unwrap()), "{listed}");

    fs::write(other.join("new.py"), "def newer_token():\n    return 2\n").unwrap();
    assert!(found(&search(&sandbox, "all_linked")).contains(&"other newer_token".to_owned()));

    assert_eq!(sandbox.run(&["unlink", "../other"]).code, 0);
    assert_eq!(found(&search(&sandbox, "all_linked")), ["project own_token"]);
}

#[test]
fn a_missing_linked_project_is_named_and_the_others_are_searched() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let gone = beside(&sandbox, "gone", "gone");
    beside(&sandbox, "there", "there");
    sandbox.run(&["link", "../gone"]);
    sandbox.run(&["link", "../there"]);
    assert_eq!(found(&search(&sandbox, "all_linked")).len(), 3);
    fs::remove_dir_all(&gone).unwrap();
    let answer = search(&sandbox, "all_linked");
    assert_eq!(found(&answer), ["project own_token", "there there_token"]);
    let notice = answer["notice"].as_str().unwrap();
    assert!(
        notice.starts_with(&format!("The linked project {} was not searched", gone.display())),
        "{notice}"
    );
    assert!(sandbox.run(&["links"]).stdout.contains("not there"));
    assert_eq!(sandbox.run(&["unlink", "gone"]).code, 0);
}

#[test]
fn links_of_links_are_followed_and_circles_end() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let (a, b) = (beside(&sandbox, "a", "a"), beside(&sandbox, "b", "b"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    sandbox.run(&["link", a]);
    sandbox.run(&["--root", a, "link", b]);
    sandbox.run(&["--root", b, "link", sandbox.root().to_str().unwrap()]);
    assert_eq!(
        found(&search(&sandbox, "all_linked")),
        ["a a_token", "b b_token", "project own_token"]
    );
}

#[test]
fn invalid_links_are_refused() {
    let sandbox = sandbox().file("f.txt", "x");
    for (path, wanted) in [
        ("absent", "No such file"),
        ("f.txt", "is not a directory"),
        (".", "is not linked with itself"),
    ] {
        let finished = sandbox.run(&["link", path]);
        assert!(
            finished.code != 0 && finished.stderr.contains(wanted),
            "{path}: {}",
            finished.stderr
        );
    }
    let finished = sandbox.run(&["unlink", "absent"]);
    assert!(
        finished.stderr.contains("`docent links` lists what is"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_project_cannot_bring_its_own_links() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let other = beside(&sandbox, "other", "other");
    let root = sandbox.root().canonicalize().unwrap();
    let forged = json!({ root.to_str().unwrap(): [other] }).to_string();
    for place in [".context/links.json", ".docent/links.json", "links.json"] {
        sandbox.write(place, &forged);
    }
    assert_eq!(found(&search(&sandbox, "all_linked")), ["project own_token"]);
}
