//! JSON, strict and with comments.

use super::*;

#[test]
fn a_new_entry_is_set_like_the_others() {
    check_exact(
        "{\n    \"mcpServers\": {\n        \"notes\": {\n            \"args\": [\n                \"-y\"\n            ]\n        }\n    },\n    \"x\": 1.50\n}",
        &JSON,
        "{\n    \"mcpServers\": {\n        \"notes\": {\n            \"args\": [\n                \"-y\"\n            ]\n        },\n        \
         \"docent\": {\n            \"command\": \"docent\",\n            \"args\": [\n                \"serve\",\n                \"-v\"\n            ]\n        }\n    },\n    \"x\": 1.50\n}",
    );
    check_exact(
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"lint\": { \"args\": [\"-y\"] }\r\n\t}\r\n}\r\n",
        &JSON,
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"lint\": { \"args\": [\"-y\"] },\r\n\t\t\"docent\": {\r\n\t\t\t\"command\": \"docent\",\r\n\t\t\t\"args\": [\"serve\", \"-v\"]\r\n\t\t}\r\n\t}\r\n}\r\n",
    );
    check_exact(
        r#"{"a":{"mcpServers":1},"mcpServers":{"notes":{}},"n":12345678901234567890.50}"#,
        &JSON,
        r#"{"a":{"mcpServers":1},"mcpServers":{"notes":{},"docent":{"command":"docent","args":["serve","-v"]}},"n":12345678901234567890.50}"#,
    );
    check_exact(
        "{ \"mcpServers\": { \"notes\": {} } }\n",
        &JSON,
        "{ \"mcpServers\": { \"notes\": {}, \"docent\": {\"command\": \"docent\", \"args\": [\"serve\", \"-v\"]} } }\n",
    );
}

#[test]
fn objects_that_are_empty_are_filled() {
    const FILLED: &str = "{\n  \"mcpServers\": {\n    \"docent\": {\n      \"command\": \"docent\",\n      \"args\": [\"serve\", \"-v\"]\n    }\n  }\n}";
    check_exact("{\n  \"mcpServers\": {}\n}", &JSON, FILLED);
    check_new("{\n  \"mcpServers\": {\n  }\n}", &JSON, FILLED);
    check_new("{\n  \"mcpServers\": { }\n}", &JSON, FILLED);
    check_new("{}", &JSON, FILLED);
    check_new("{ }", &JSON, FILLED);
    check_new("\u{feff}{\n}\r\n", &JSON, &format!("\u{feff}{FILLED}\r\n"));
    check_exact(
        r#"{"mcpServers":{},"x":[]}"#,
        &JSON,
        r#"{"mcpServers":{"docent":{"command":"docent","args":["serve","-v"]}},"x":[]}"#,
    );
    check_new(
        r#"{"mcpServers": { }}"#,
        &JSON,
        r#"{"mcpServers": { "docent": {"command": "docent", "args": ["serve", "-v"]} }}"#,
    );
}

#[test]
fn a_text_without_content_becomes_a_file() {
    const WHOLE: &str = "{\n  \"mcpServers\": {\n    \"docent\": {\n      \"command\": \"docent\",\n      \"args\": [\"serve\", \"-v\"]\n    }\n  }\n}\n";
    for blank in ["", " ", "\n\n", "\t"] {
        check_new(blank, &JSON, WHOLE);
        check_new(blank, &JSONC, WHOLE);
    }
    check_new("\r\n", &JSON, &WHOLE.replace('\n', "\r\n"));
    check_new("\u{feff}", &JSON, &format!("\u{feff}{WHOLE}"));
    check_new("// later\n", &JSONC, &format!("// later\n{WHOLE}"));
    check_new("/* later */", &JSONC, &format!("/* later */\n{WHOLE}"));
}

#[test]
fn keys_that_are_missing_are_written_and_go_with_the_entry() {
    let place = EntryLocation {
        keys: &["mcp", "servers"],
        ..JSON
    };
    let text = "{\n  \"share\": \"manual\"\n}\n";
    let with = "{\n  \"share\": \"manual\",\n  \"mcp\": {\n    \"servers\": {\n      \"docent\": {\n        \"command\": \"docent\",\n        \"args\": [\"serve\", \"-v\"]\n      }\n    }\n  }\n}\n";
    check_new(text, &place, with);
    // Without knowing what was before, what may have been there stays.
    check_taken_out(
        with,
        &place,
        "{\n  \"share\": \"manual\",\n  \"mcp\": {\n    \"servers\": {}\n  }\n}\n",
    );
    // Somebody else has changed the file since.
    let later = with.replace("manual", "auto");
    assert_eq!(
        changed(take_out(&later, &place, Some(text))),
        text.replace("manual", "auto")
    );
    let later = with.replace("\"mcp\": {", "\"mcp\": {\n    \"timeout\": 5,");
    assert_eq!(
        changed(take_out(&later, &place, Some(text))),
        "{\n  \"share\": \"manual\",\n  \"mcp\": {\n    \"timeout\": 5\n  }\n}\n"
    );
    let before = "{\n  \"mcp\": {}\n}\n";
    assert_eq!(
        changed(take_out(with, &place, Some(before))),
        "{\n  \"share\": \"manual\",\n  \"mcp\": {}\n}\n"
    );
}

#[test]
fn comments_and_trailing_commas_stay_and_are_followed() {
    check_exact(
        "// mine\n{\n\t\"mcpServers\": {\n\t\t\"docs\": { \"url\": \"http://x\", }, /* remote */\n\t\t// \"old\": {},\n\t},\n}\n",
        &JSONC,
        "// mine\n{\n\t\"mcpServers\": {\n\t\t\"docs\": { \"url\": \"http://x\", }, /* remote */\n\t\t// \"old\": {},\n\t\t\
         \"docent\": {\n\t\t\t\"command\": \"docent\",\n\t\t\t\"args\": [\"serve\", \"-v\"]\n\t\t},\n\t},\n}\n",
    );
    check_exact(
        "{\n  \"mcpServers\": {\n    \"a\": {} // no comma, \"here\"\n  }\n}",
        &JSONC,
        "{\n  \"mcpServers\": {\n    \"a\": {}, // no comma, \"here\"\n    \"docent\": {\n      \"command\": \"docent\",\n      \"args\": [\"serve\", \"-v\"]\n    }\n  }\n}",
    );
    check_exact(
        "{\n  \"mcpServers\": {\n    // none yet\n  },\n}\n",
        &JSONC,
        "{\n  \"mcpServers\": {\n    // none yet\n    \"docent\": {\n      \"command\": \"docent\",\n      \"args\": [\"serve\", \"-v\"]\n    }\n  },\n}\n",
    );
    check_new(
        "{\"mcpServers\":{ /* none */ }}",
        &JSONC,
        "{\"mcpServers\":{\"docent\":{\"command\":\"docent\",\"args\":[\"serve\",\"-v\"]} /* none */ }}",
    );
}

#[test]
fn only_fields_that_differ_are_changed() {
    check_update(
        "{\n  \"mcpServers\": {\n    \"docent\": { // mine\n      \"type\": \"stdio\",\n      \"command\": \"/old/docent\", // old\n      \"args\": [\n        \"serve\" // only\n      ],\n      \"env\": { \"A\": \"1\" },\n      \"disabled\": true,\n    },\n  }\n}\n",
        &JSONC,
        "{\n  \"mcpServers\": {\n    \"docent\": { // mine\n      \"type\": \"stdio\",\n      \"command\": \"docent\", // old\n      \"args\": [\n        \"serve\",\n        \"-v\"\n      ],\n      \"env\": { \"A\": \"1\" },\n      \"disabled\": true,\n    },\n  }\n}\n",
    );
    check_update(
        r#"{"mcpServers":{"docent":{"command":{"path":"docent","args":["x"]},"source":"custom"}}}"#,
        &JSON,
        r#"{"mcpServers":{"docent":{"command":"docent","source":"custom","args":["serve","-v"]}}}"#,
    );
    check_update(
        "{\n  \"mcpServers\": {\n    \"docent\": {}\n  }\n}",
        &JSON,
        "{\n  \"mcpServers\": {\n    \"docent\": {\n      \"command\": \"docent\",\n      \"args\": [\"serve\", \"-v\"]\n    }\n  }\n}",
    );
    let same = r#"{"mcpServers":{"docent":{"args":["serve", "\u002dv"],"env":null,"command":"docent"}}}"#;
    assert_eq!(put(same, &JSON, &entry()), Ok(None));
}

#[test]
fn an_entry_is_found_with_the_fields_that_can_be_shown() {
    let text = r#"{"mcpServers":{"docent":{"command":["a","b"],"enabled":false,"timeout":5,"type":"l\n","mixed":["a",1]}}}"#;
    let found = find(text, &JSON).unwrap().unwrap();
    assert_eq!(
        found,
        [
            (
                "command".to_owned(),
                Value::List(vec!["a".to_owned(), "b".to_owned()])
            ),
            ("enabled".to_owned(), Value::Flag(false)),
            ("type".to_owned(), Value::Text("l\n".to_owned())),
        ]
    );
    let text = r#"{"mcpServers":{"other":{}},"docent":{}}"#;
    assert_eq!(find(text, &JSON), Ok(None));
    assert_eq!(take_out(text, &JSON, None), Ok(None));
}

#[test]
fn an_entry_goes_with_its_line_or_its_comma() {
    for (text, expected) in [
        ("{\n  \"docent\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        (
            "{\n  \"a\": 1,\n  \"docent\": 1,\n  \"b\": 2\n}",
            "{\n  \"a\": 1,\n  \"b\": 2\n}",
        ),
        ("{\n  \"a\": 1,\n  \"docent\": 1\n}", "{\n  \"a\": 1\n}"),
        ("{\n  \"a\": 1,\n  \"docent\": 1,\n}", "{\n  \"a\": 1,\n}"),
        ("{\"docent\": 1, \"b\": 2}", "{\"b\": 2}"),
        ("{\"a\": 1, \"docent\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}"),
        ("{\"a\": 1, \"docent\": 1}", "{\"a\": 1}"),
        ("{\"a\": 1, \"docent\": 1 ,}", "{\"a\": 1,}"),
        ("{ \"docent\": 1 }", "{}"),
        // Comments stay, and never swallow what comes after them.
        ("{ // c\n  \"docent\": 1 // d\n}", "{ // c\n   // d\n}"),
        (
            "{\n  \"a\": 1, // c\n  \"docent\": 1, \"b\": 2\n}",
            "{\n  \"a\": 1, // c\n  \"b\": 2\n}",
        ),
        (
            "{\n  \"a\": 1, // c\n  \"docent\": 1 }",
            "{\n  \"a\": 1 // c\n   }",
        ),
        (
            "{\n  \"a\": 1 /* b */, /* c */ \"docent\": 1 }",
            "{\n  \"a\": 1 /* b */ /* c */  }",
        ),
        (
            "{\n  \"a\": 1\n  , \"docent\": 1\n  , \"b\": 2\n}",
            "{\n  \"a\": 1\n  , \"b\": 2\n}",
        ),
    ] {
        let within = |members: &str| format!("{{\"mcpServers\": {members}}}");
        check_taken_out(&within(text), &JSONC, &within(expected));
    }
}

#[test]
fn strings_that_javascript_has_cut_are_no_hindrance() {
    let text = r#"{"history":["\ud83d","\ude00 \ud83d\ude00 \\ud83d"],"mcpServers":{"a":{}}}"#;
    check_exact(
        text,
        &JSON,
        r#"{"history":["\ud83d","\ude00 \ud83d\ude00 \\ud83d"],"mcpServers":{"a":{},"docent":{"command":"docent","args":["serve","-v"]}}}"#,
    );
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    check_refused(
        "{\n  \"a\": 1,\n}",
        &JSON,
        "line 2, column 9: trailing commas are not allowed",
    );
    check_refused(
        "{\n  // é\n}",
        &JSON,
        "line 2, column 3: comments are not allowed",
    );
    check_refused("{\"é\": 1 \"b\": 2}", &JSONC, "line 1, column 8: expected comma");
    check_refused(
        "\u{feff}{'a': 1}",
        &JSONC,
        "line 1, column 2: single-quoted strings are not allowed",
    );
    check_refused("{\"a\": 1", &JSONC, "line 1, column 1: unterminated object");
    check_refused(
        "{\"a\": 1}\n{}",
        &JSONC,
        "line 2, column 1: text cannot contain more than one json value",
    );
    check_refused(
        "{\"a\": \"\n\"}",
        &JSON,
        "line 1, column 7: control character (\\u0000-\\u001F) found while parsing a string",
    );
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(
        changed(take_out(
            &changed(put(&deep, &JSON, &entry())),
            &JSON,
            Some(&deep)
        )),
        deep
    );
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    check_refused(&deep, &JSON, "line 1, column 513: maximum nesting depth exceeded");
}

#[test]
fn what_is_in_the_way_is_refused_with_its_place() {
    check_refused("[]", &JSON, "line 1, column 1: the file is not an object");
    check_refused(
        "{\n \"mcpServers\": []}",
        &JSON,
        "line 2, column 16: \"mcpServers\" is not an object",
    );
    check_refused(
        "{\"mcpServers\": {},\n\"mcpServers\": {}}",
        &JSON,
        "line 2, column 1: \"mcpServers\" is there twice",
    );
    check_refused(
        "{\"mcpServers\": {\"docent\": {}, \"docent\": {}}}",
        &JSON,
        "line 1, column 31: \"docent\" is there twice",
    );
    // An entry that is no object cannot be mended, but it can go.
    let text = "{\"mcpServers\": {\"docent\": null}}";
    let refused = put(text, &JSON, &entry()).unwrap_err().to_string();
    assert_eq!(refused, "line 1, column 27: \"docent\" is not an object");
    check_taken_out(text, &JSON, "{\"mcpServers\": {}}");
    let twice = "{\"mcpServers\": {\"docent\": {\"args\": [], \"args\": []}}}";
    assert!(matches!(
        put(twice, &JSON, &entry()),
        Err(EditRefused::Duplicate { .. })
    ));
    // Duplicates outside of the path are not ours to judge.
    let outside = "{\"x\": 1, \"x\": 2, \"mcpServers\": {\"docent\": {}}}";
    check_taken_out(outside, &JSON, "{\"x\": 1, \"x\": 2, \"mcpServers\": {}}");
}
