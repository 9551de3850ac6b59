//! Entries put into files and taken out again: examples of each form, and files made up at random.

mod generated;
mod json;
mod toml;

use super::*;

const JSON: EntryLocation = EntryLocation {
    form: FileFormat::Json,
    keys: &["mcpServers"],
    name: "docent",
};
const JSONC: EntryLocation = EntryLocation {
    form: FileFormat::Jsonc,
    ..JSON
};
const TOML: EntryLocation = EntryLocation {
    form: FileFormat::Toml,
    keys: &["mcp_servers"],
    name: "docent",
};

fn entry() -> Entry {
    vec![
        ("command".to_owned(), Value::Text("docent".to_owned())),
        (
            "args".to_owned(),
            Value::List(vec!["serve".to_owned(), "-v".to_owned()]),
        ),
    ]
}

fn changed(edited: Result<Option<String>, EditRefused>) -> String {
    match edited {
        Ok(Some(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// Puts the entry in where there was none, and takes it out again.
fn check_new(text: &str, place: &EntryLocation, expected: &str) {
    let with = changed(put(text, place, &entry()));
    assert_eq!(with, expected, "put into {text:?}");
    assert_eq!(find(text, place), Ok(None));
    assert_eq!(find(&with, place), Ok(Some(entry())));
    assert_eq!(put(&with, place, &entry()), Ok(None), "twice");
    assert_eq!(
        changed(take_out(&with, place, Some(text))),
        text,
        "taken out again"
    );
}

/// As above, and what was before need not be known to restore it.
fn check_exact(text: &str, place: &EntryLocation, expected: &str) {
    check_new(text, place, expected);
    assert_eq!(changed(take_out(expected, place, None)), text, "taken out again");
}

/// Puts the entry in where there was one.
fn check_update(text: &str, place: &EntryLocation, expected: &str) {
    let with = changed(put(text, place, &entry()));
    assert_eq!(with, expected, "put into {text:?}");
    assert_eq!(put(&with, place, &entry()), Ok(None), "twice");
}

fn check_taken_out(text: &str, place: &EntryLocation, expected: &str) {
    assert_eq!(changed(take_out(text, place, None)), expected, "{text:?}");
    assert_eq!(take_out(expected, place, None), Ok(None));
}

/// None of the three functions touches the text, and all say why.
fn check_refused(text: &str, place: &EntryLocation, reason: &str) {
    let refusals = [
        find(text, place).map(|_| ()),
        put(text, place, &entry()).map(|_| ()),
        take_out(text, place, None).map(|_| ()),
    ];
    for refusal in refusals {
        assert_eq!(
            refusal.map_err(|refused| refused.to_string()),
            Err(reason.to_owned()),
            "{text:?}"
        );
    }
}
