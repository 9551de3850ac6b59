//! Edits of clients' configuration files: only the entry changes, and a removal undoes an addition.

use docent_core::client_config::{EditRefused, Entry, EntryLocation, FileFormat, Value, find, put, take_out};

/// The first byte chooses between JSON and JSON with comments, the rest is the file.
pub fn check_json(input: &[u8]) {
    let (selector, text) = super::split_selector(input);
    let form = if selector % 2 == 0 {
        FileFormat::Json
    } else {
        FileFormat::Jsonc
    };
    check(
        text,
        &EntryLocation {
            form,
            keys: &["mcpServers"],
            name: "docent",
        },
    );
}

/// The first byte is passed over, so that both targets read one corpus; the rest is the file.
pub fn check_toml(input: &[u8]) {
    let (_, text) = super::split_selector(input);
    check(
        text,
        &EntryLocation {
            form: FileFormat::Toml,
            keys: &["mcp_servers"],
            name: "docent",
        },
    );
}

fn check(text: &[u8], location: &EntryLocation) {
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let entry: Entry = vec![
        ("command".to_owned(), Value::Text("docent".to_owned())),
        (
            "args".to_owned(),
            Value::List(vec!["serve".to_owned(), "-v".to_owned()]),
        ),
    ];
    check_removal(text, location);
    let edited = match put(text, location, &entry) {
        Ok(Some(edited)) => edited,
        Ok(None) => return,
        Err(refused) => return assert_ne!(refused, EditRefused::Unproven, "put"),
    };
    let found = find(&edited, location)
        .expect("an edited file can be read")
        .expect("the entry is there");
    assert!(
        entry.iter().all(|field| found.contains(field)),
        "the entry has other fields: {edited:?}"
    );
    assert_eq!(
        put(&edited, location, &entry),
        Ok(None),
        "a second edit changes the file"
    );
    check_removal(&edited, location);
    if find(text, location) == Ok(None) {
        assert!(is_within(text, &edited), "the edit removed something: {edited:?}");
        assert_eq!(
            take_out(&edited, location, Some(text)),
            Ok(Some(text.to_owned())),
            "not restored"
        );
    }
}

/// A removal takes the entry out and writes nothing.
fn check_removal(text: &str, location: &EntryLocation) {
    match take_out(text, location, None) {
        Ok(Some(rest)) => {
            assert_eq!(
                find(&rest, location),
                Ok(None),
                "the entry is still there: {rest:?}"
            );
            assert!(is_within(&rest, text), "the removal wrote something: {rest:?}");
        }
        Ok(None) => assert_eq!(find(text, location), Ok(None)),
        Err(refused) => assert_ne!(refused, EditRefused::Unproven, "take_out"),
    }
}

/// Whether `part` can be made from `whole` by leaving characters out. Blanks do not count: empty braces lose
/// theirs.
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars()
        .filter(|c| !c.is_whitespace())
        .all(|wanted| whole.any(|c| c == wanted))
}
