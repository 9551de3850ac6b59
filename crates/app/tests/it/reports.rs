//! `context_search` asked with a whole issue, a stack trace, misspelt words, a name of one letter, or a line
//! of code.

use docent_testkit::{Sandbox, notice};
use serde_json::{Value, json};

use crate::sandbox;

/// A file whose function sinks a walrus, others that have more of an issue's words, and a test.
fn project() -> Sandbox {
    let filler = |name: &str| {
        format!(
            "def {name}(walrus, depth, table):\n    # the walrus is saved to the table with its depth\n    return table.save(walrus, depth)\n"
        )
    };
    sandbox()
        .file(
            "src/sea/dive.py",
            "class Q:\n    pass\n\n\ndef descend(animal):\n    if animal.air < MIN_AIR:\n        raise Drowned('The animal cannot dive without %s of air' % MIN_AIR)\n    return animal.position - 1\n",
        )
        .file("src/sea/table.py", filler("save_walrus"))
        .file("src/sea/report.py", filler("report_walrus"))
        .file("src/sea/vault.py", "def encrypted_credentials(user):\n    return seal(user.secret)\n")
        .file("tests/test_walrus.py", filler("test_save_walrus"))
}

const ISSUE: &str = "Saving a walrus table fails in the test\n\n<!-- Thanks for your report! -->\nWe save the walrus with its depth to the table, as in the example of the docs.\n\n\
    ```\nTraceback (most recent call last):\n  File \"/home/me/run.py\", line 3, in <module>\n    save()\n  File \"/usr/lib/python3/site-packages/sea/dive.py\", line 7, in descend\n    raise Drowned()\nsea.Drowned: The animal cannot dive without 3 of air\n```\n\n### Versions\nPython 3.8.1\n";

fn first(answer: &Value) -> &str {
    answer["results"][0]["name"].as_str().unwrap_or_default()
}

#[test]
fn a_whole_issue_finds_the_frame_of_its_trace() {
    let sandbox = project();
    let details = json!({ "query": "Saving a walrus table fails", "details": ISSUE, "format": "json" });
    let answer: Value = serde_json::from_str(&sandbox.call("context_search", details).text).unwrap();
    assert_eq!(first(&answer), "descend", "{answer}");

    let compact = project().compact();
    let text = compact.call("context_search", json!({ "query": ISSUE })).text;
    assert!(text.starts_with("src/sea/dive.py:5-8 function descend"), "{text}");
    let long = format!("{ISSUE}{}", "The walrus was saved before. ".repeat(500));
    assert!(!compact.call("context_search", json!({ "query": long })).is_error);
    assert!(
        compact
            .call("context_search", json!({ "query": "x".repeat(20_001) }))
            .is_error
    );
}

#[test]
fn a_word_of_an_issue_lifts_no_tests() {
    let compact = project().compact();
    let issue =
        "The walrus is lost\n\nA test that saves the walrus shows it.\n\nSee the docs for an example.\n";
    let text = compact.call("context_search", json!({ "query": issue })).text;
    assert!(!text.starts_with("tests/"), "{text}");
    let asked = compact
        .call("context_search", json!({ "query": "tests for saving a walrus" }))
        .text;
    assert!(asked.starts_with("tests/"), "{asked}");
}

#[test]
fn misspelt_words_are_searched_for_as_the_words_they_stand_for() {
    let answer = project().search("encrpyted credentails");
    assert_eq!(first(&answer), "encrypted_credentials", "{answer}");
    let said = notice(&answer);
    assert!(said.contains("'encrpyted' as 'encrypt'"), "{said}");
}

#[test]
fn results_with_few_of_the_words_are_called_weak() {
    let answer = project().search("wie werden animal Zugangsdaten verschluesselt abgelegt");
    assert!(notice(&answer).contains("weak match"), "{answer}");
    let answer = project().search("cannot dive without air");
    assert!(!notice(&answer).contains("weak match"), "{answer}");
}

#[test]
fn one_letter_finds_the_symbol_of_that_name() {
    let text = project()
        .compact()
        .call("context_search", json!({ "query": "Q" }))
        .text;
    assert!(
        text.starts_with("src/sea/dive.py:1-") && text.contains(" class Q "),
        "{text}"
    );
}

#[test]
fn a_line_of_code_finds_its_function_first() {
    let mut sandbox = project();
    let long = "    value = animal.position + animal.air + MIN_AIR\n".repeat(60);
    for number in 0..8 {
        let short = format!("def position_{number}(animal, air):\n    return animal.position < MIN_AIR\n");
        sandbox = sandbox.file(&format!("src/near_{number}.py"), &short);
    }
    sandbox = sandbox.file(
        "src/long.py",
        format!("def surface(animal):\n{long}    if animal.position < MIN_AIR and not animal.air:\n        return None\n{long}"),
    );
    let answer = sandbox.search("if animal.position < MIN_AIR and not animal.air:");
    assert_eq!(first(&answer), "surface", "{answer}");
}

#[test]
fn invisible_characters_of_a_query_leave_the_json_valid() {
    let text = project()
        .call(
            "context_search",
            json!({ "query": "walrus \u{feff}table", "format": "json" }),
        )
        .text;
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
}
