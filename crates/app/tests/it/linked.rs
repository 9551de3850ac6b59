//! Linked projects: the commands `link`, `links` and `unlink`, and searches over all linked projects.

use std::fs;
use std::path::PathBuf;

use docent_testkit::Sandbox;
use serde_json::{Value, json};

use crate::sandbox;

/// Creates a project beside that of the sandbox, with one function to find.
fn create_project_beside(sandbox: &Sandbox, name: &str, word: &str) -> PathBuf {
    let directory = sandbox.outside().canonicalize().unwrap().join(name);
    fs::create_dir(&directory).unwrap();
    fs::write(
        directory.join("lib.py"),
        format!("def {word}_token():\n    return 1\n"),
    )
    .unwrap();
    directory
}

fn search_scope(sandbox: &Sandbox, scope: &str) -> Value {
    let arguments = json!({ "query": "token", "projectScope": scope, "format": "json", "limit": 20 });
    sandbox.call("context_search", arguments).json()
}

/// Project and name of each result, sorted.
fn names_of(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    let mut names: Vec<String> = results
        .iter()
        .map(|result| {
            format!(
                "{} {}",
                result["project"].as_str().unwrap(),
                result["name"].as_str().unwrap()
            )
        })
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn all_linked_projects_are_searched_and_labelled() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let other = create_project_beside(&sandbox, "other", "other");
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["project own_token"]
    );

    let linked = sandbox.run(&["link", "../other"]);
    assert_eq!(linked.code, 0, "{}", linked.stderr);
    assert_eq!(
        names_of(&search_scope(&sandbox, "current")),
        ["project own_token"]
    );
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["other other_token", "project own_token"]
    );
    let listed = sandbox.run(&["links"]).stdout;
    assert!(listed.contains(other.to_str().unwrap()), "{listed}");

    fs::write(other.join("new.py"), "def newer_token():\n    return 2\n").unwrap();
    assert!(names_of(&search_scope(&sandbox, "all_linked")).contains(&"other newer_token".to_owned()));

    assert_eq!(sandbox.run(&["unlink", "../other"]).code, 0);
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["project own_token"]
    );
}

#[test]
fn a_missing_linked_project_is_named_and_the_others_are_searched() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let missing = create_project_beside(&sandbox, "gone", "gone");
    create_project_beside(&sandbox, "there", "there");
    sandbox.run(&["link", "../gone"]);
    sandbox.run(&["link", "../there"]);
    assert_eq!(names_of(&search_scope(&sandbox, "all_linked")).len(), 3);
    fs::remove_dir_all(&missing).unwrap();
    let answer = search_scope(&sandbox, "all_linked");
    assert_eq!(names_of(&answer), ["project own_token", "there there_token"]);
    let notice = answer["notice"].as_str().unwrap();
    assert!(
        notice.starts_with(&format!(
            "The linked project {} was not searched",
            missing.display()
        )),
        "{notice}"
    );
    assert!(sandbox.run(&["links"]).stdout.contains("not there"));
    assert_eq!(sandbox.run(&["unlink", "gone"]).code, 0);
}

#[test]
fn links_of_links_are_followed_and_circles_end() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let (a, b) = (
        create_project_beside(&sandbox, "a", "a"),
        create_project_beside(&sandbox, "b", "b"),
    );
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    sandbox.run(&["link", a]);
    sandbox.run(&["--root", a, "link", b]);
    sandbox.run(&["--root", b, "link", sandbox.root().to_str().unwrap()]);
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["a a_token", "b b_token", "project own_token"]
    );
}

#[test]
fn invalid_links_are_refused() {
    let sandbox = sandbox().file("f.txt", "x");
    for (path, reason) in [
        ("absent", "No such file"),
        ("f.txt", "is not a directory"),
        (".", "is not linked with itself"),
    ] {
        let finished = sandbox.run(&["link", path]);
        assert!(
            finished.code != 0 && finished.stderr.contains(reason),
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
    let other = create_project_beside(&sandbox, "other", "other");
    let root = sandbox.root().canonicalize().unwrap();
    let forged = json!({ root.to_str().unwrap(): [other] }).to_string();
    for place in [".context/links.json", ".docent/links.json", "links.json"] {
        sandbox.write(place, &forged);
    }
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["project own_token"]
    );
}

#[cfg(unix)]
#[test]
fn a_linked_project_that_was_replaced_by_a_link_is_not_searched() {
    let sandbox = sandbox().file("own.py", "def own_token():\n    return 1\n");
    let other = create_project_beside(&sandbox, "other", "other");
    let private = create_project_beside(&sandbox, "private", "private");
    sandbox.run(&["link", "../other"]);
    assert_eq!(
        names_of(&search_scope(&sandbox, "all_linked")),
        ["other other_token", "project own_token"]
    );
    fs::rename(&other, sandbox.outside().join("moved")).unwrap();
    docent_testkit::make_link(&private, &other);
    let answer = search_scope(&sandbox, "all_linked");
    assert_eq!(names_of(&answer), ["project own_token"]);
    let notice = answer["notice"].as_str().unwrap();
    assert!(
        notice.starts_with(&format!(
            "The linked project {} was not searched: it was replaced by a link",
            other.display()
        )),
        "{notice}"
    );
    assert!(sandbox.run(&["links"]).stdout.contains("replaced by a link"));
    // The linked directory is searched again when it is back.
    fs::remove_file(&other).unwrap();
    fs::rename(sandbox.outside().join("moved"), &other).unwrap();
    assert_eq!(names_of(&search_scope(&sandbox, "all_linked")).len(), 2);
}
