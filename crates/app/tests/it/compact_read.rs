//! The compact form of the tools that read files: numbered lines, outlines of long files, folds, and lines
//! that were sent before.

use docent_testkit::{Era, Sandbox, StdioClient};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

const SHAPES: &str = "\"\"\"Shapes.\"\"\"\n\n\nclass Square:\n    \"\"\"Four sides of the same length, and four corners.\"\"\"\n\n    def area(self):\n        return self.side ** 2\n\n    \
     def name(self):\n        return 'square'\n\n\ndef walrus():\n    return Square()\n";

fn project() -> Sandbox {
    sandbox()
        .file("src/shapes.py", SHAPES)
        .file("src/empty.py", "")
        .file("notes.txt", "one\ntwo\n")
        .compact()
}

/// A function of about `lines` lines, in which line `lines / 2` counts the walruses.
fn long_function(lines: usize) -> String {
    let mut text = "def long(values):\n    total = 0\n".to_owned();
    for at in 3..lines {
        text += &if at == lines / 2 {
            "    walruses = count_walruses(values)\n".to_owned()
        } else {
            format!("    total = total + values[{at}] * {at}\n")
        };
    }
    text + "    return total\n"
}

#[test]
fn a_file_has_its_place_and_numbered_lines() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/shapes.py" })), @r#"
    src/shapes.py:1-15
    1	"""Shapes."""
    	
    	
    	class Square:
    5	    """Four sides of the same length, and four corners."""
    	
    	    def area(self):
    	        return self.side ** 2
    	
    10	    def name(self):
    	        return 'square'
    	
    	
    	def walrus():
    15	    return Square()
    "#);
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/empty.py" })), @"src/empty.py: empty");
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "notes.txt" })), @"
    notes.txt:1-2
    1	one
    	two
    ");
}

#[test]
fn a_part_names_the_lines_of_the_whole_file() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/shapes.py", "symbol": "Square.area" })), @"
    7-8 of 15
    7	    def area(self):
    	        return self.side ** 2
    ");
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/shapes.py", "ranges": ["4-5", "13-"] })), @r#"
    4-15 of 15
    4	class Square:
    5	    """Four sides of the same length, and four corners."""
    … 7 lines 6-12
    13	
    	def walrus():
    15	    return Square()
    "#);
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/shapes.py", "startLine": 13 })), @"
    13-15 of 15
    13	
    	def walrus():
    15	    return Square()
    ");
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "src/shapes.py", "symbol": "walrus" })), @"
    14-15 of 15
    14	def walrus():
    15	    return Square()
    ");
}

#[test]
fn an_outline_has_lines_and_signatures() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/shapes.py", "outline": true })), @"
    src/shapes.py, 15 lines
      4-11 class Square:
        7-8 def area(self):
        10-11 def name(self):
      14-15 def walrus():
    ");
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "notes.txt", "outline": true })), @"
    notes.txt, 2 lines
    … no outline: no grammar
    ");
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src", "outline": true })), @"
    src/empty.py
    src/shapes.py
      4-11 class Square:
      14-15 def walrus():
    ");
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": ".", "outline": true })), @"
    src/empty.py
    src/shapes.py
      4-11 class Square:
      14-15 def walrus():
    ");
}

#[test]
fn errors_have_the_words_of_the_contract() {
    let sandbox = project().file(".env", "KEY=1").file("a.bin", b"\0\x01");
    for (arguments, expected) in [
        (json!({ "path": ".env" }), "Error: Permission denied: .env"),
        (json!({ "path": "absent.py" }), "Error: File not found: absent.py"),
        (
            json!({ "path": "a.bin" }),
            "Error: Not a text file: a.bin (the file is binary or not UTF-8)\nUse read_repo_file with encoding base64",
        ),
        (
            json!({ "path": "src/shapes.py", "symbol": "Sqare" }),
            "Error: Symbol not found: src/shapes.py (the file defines no 'Sqare')\nSimilar: Square (4-11)",
        ),
    ] {
        let answer = sandbox.call("read_file", arguments);
        assert!(answer.is_error, "{answer}");
        assert_eq!(answer.text, expected);
    }
}

#[test]
fn a_long_file_is_answered_with_its_outline() {
    let sandbox = project().file("long.py", format!("{}\n\n{SHAPES}", long_function(500)));
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "long.py" })), @"
    long.py:1-517, 18,950 characters, outline
      1-500 def long(values):
      506-513 class Square:
        509-510 def area(self):
        512-513 def name(self):
      516-517 def walrus():
    … read with symbol, ranges or focus
    ");
    let text = sandbox
        .call("read_file", json!({ "path": "long.py", "startLine": 2 }))
        .text;
    assert!(text.starts_with("2-"), "{text}");
    assert!(
        (18_000..=20_000).contains(&text.chars().count()),
        "{}",
        text.chars().count()
    );
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("… ") && last.ends_with(": read on with ranges"),
        "{last}"
    );
}

#[test]
fn margins_do_not_count_for_the_length_of_a_file() {
    let sandbox = sandbox().file("a.txt", "tusk\n".repeat(2_390)).compact();
    let text = sandbox.call("read_file", json!({ "path": "a.txt" })).text;
    assert!(text.starts_with("a.txt:1-2390\n1\ttusk\n"), "{text}");
    assert!(text.ends_with("2390\ttusk"), "{text}");
}

#[test]
fn a_long_text_without_definitions_is_cut() {
    let sandbox = sandbox().file("long.txt", "walrus\n".repeat(9_000)).compact();
    let text = sandbox.call("read_file", json!({ "path": "long.txt" })).text;
    assert!(text.starts_with("long.txt:1-"), "{text}");
    assert!(
        (11_000..=12_000).contains(&text.chars().count()),
        "{}",
        text.chars().count()
    );
    assert!(text.ends_with("-9000: read on with ranges"), "{text}");
}

#[test]
fn a_line_longer_than_an_answer_says_how_to_read_on() {
    let sandbox = sandbox()
        .file("a.js", "x".repeat(50_000) + "\nwalrus\n")
        .compact();
    let text = sandbox.call("read_file", json!({ "path": "a.js" })).text;
    assert!(text.chars().count() <= 12_000, "{}", text.chars().count());
    let notes: Vec<&str> = text.lines().skip(2).collect();
    let offset = notes[0]
        .split("offset ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    assert_eq!(notes[1], "… 1 line 2: read on with ranges");
    let offset: usize = offset.parse().unwrap();
    let rest = sandbox
        .call("read_repo_file", json!({ "path": "a.js", "offset": offset }))
        .text;
    assert!(rest.starts_with(&format!("a.js, bytes {offset}-")), "{rest}");
    assert!(rest.chars().count() <= 20_000);
}

#[test]
fn bytes_are_answered_as_base64() {
    let sandbox = sandbox().file("a.bin", b"\0\x01walrus").compact();
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "a.bin", "encoding": "base64" })), @"
    a.bin, bytes 0-8 of 8
    AAF3YWxydXM=
    ");
}

#[test]
fn invisible_characters_are_written_out() {
    let sandbox = sandbox().file("a.py", "one\u{202e}\ntwo\u{200b}\n").compact();
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "a.py" })), @r#"
    a.py:1-2
    1	one\u{202E}
    	two\u{200B}
    note: invisible characters are written as \u{…}
    "#);
}

#[test]
fn the_answer_keeps_to_its_budget() {
    let sandbox = sandbox()
        .file("a.py", format!("{}\n{SHAPES}", long_function(400)))
        .file(".context/config.toml", "answer.max_chars = 2000\n")
        .compact();
    for arguments in [
        json!({ "path": "a.py" }),
        json!({ "path": "a.py", "startLine": 1 }),
        json!({ "path": "a.py", "symbol": "long" }),
        json!({ "path": "a.py", "focus": "walrus" }),
        json!({ "path": "a.py", "outline": true }),
        json!({ "path": "a.py", "ranges": ["1-100", "150-300", "310", "320"] }),
    ] {
        let text = sandbox.call_by_cli("read_file", arguments.clone()).text;
        let chars = text.chars().count();
        assert!(chars <= 2_000, "{arguments}: {chars}");
    }
}

#[test]
fn imports_are_listed_with_their_definitions() {
    let sandbox = sandbox()
        .file(
            "src/a.ts",
            "import { b } from './b';\nimport 'react';\nexport const walrus = b();\n",
        )
        .file("src/b.ts", "export function b() {\n  return 1;\n}\n")
        .compact();
    assert_snapshot!(sandbox.call("read_file", json!({ "path": "src/a.ts", "includeDeps": true })), @"
    src/a.ts:1-3
    1	import { b } from './b';
    	import 'react';
    	export const walrus = b();
    imports src/b.ts
      1-3 function b()
    imports react (external)
    ");
}

#[test]
fn focus_folds_lines_that_do_not_matter() {
    let sandbox = sandbox().file("a.py", long_function(100)).compact();
    let arguments = json!({ "path": "a.py", "symbol": "long", "focus": "where are walruses counted?" });
    let text = sandbox.call("read_file", arguments.clone()).text;
    assert!(text.starts_with("1-100 of 100\n1\tdef long(values):\n"), "{text}");
    assert!(text.contains("    walruses = count_walruses(values)\n"), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("… ") && line.contains(" lines ")),
        "{text}"
    );
    assert!(text.chars().count() < 2_200, "{}", text.chars().count());
    let whole = sandbox
        .call("read_repo_file", json!({ "path": "a.py", "focus": "walruses" }))
        .text;
    assert!(whole.contains("count_walruses"), "{whole}");
}

#[test]
fn focus_folds_in_the_contract_form_too() {
    let sandbox = sandbox().file("a.py", long_function(100));
    for tool in ["read_file", "read_repo_file"] {
        let answer = sandbox
            .call(tool, json!({ "path": "a.py", "focus": "walruses" }))
            .json();
        let content = answer.get("file").unwrap_or(&answer)["content"].as_str().unwrap();
        assert!(content.starts_with("1\tdef long(values):\n"), "{content}");
        assert!(
            content.contains("\n… ") && content.contains("count_walruses"),
            "{content}"
        );
        let notice = answer["notice"].as_str().unwrap();
        assert!(notice.starts_with("Folded for the focus: "), "{notice}");
        assert!(
            notice.ends_with(" of 100 lines are shown, with their numbers"),
            "{notice}"
        );
    }
}

/// Calls `read_file` in one session and returns the text.
fn read(client: &StdioClient, arguments: serde_json::Value) -> String {
    client.call("read_file", arguments).text
}

#[test]
fn lines_that_were_sent_before_are_named() {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    let symbol = json!({ "path": "src/shapes.py", "symbol": "Square" });
    // Too short to be worth a reference.
    let first = read(&client, symbol.clone());
    assert_eq!(read(&client, symbol), first);

    let whole = json!({ "path": "src/shapes.py" });
    assert!(read(&client, whole.clone()).starts_with("src/shapes.py:1-15\n"));
    assert_snapshot!(read(&client, whole.clone()), @"shown above: src/shapes.py:1-15 (again: true repeats it)");
    assert_snapshot!(read(&client, json!({ "path": "src/shapes.py", "startLine": 2 })), @"shown above: src/shapes.py:2-15 (again: true repeats it)");
    let again = read(&client, json!({ "path": "src/shapes.py", "again": true }));
    assert!(again.starts_with("src/shapes.py:1-15\n"), "{again}");

    sandbox.write("src/shapes.py", SHAPES.replace("square", "box"));
    assert!(read(&client, whole).starts_with("src/shapes.py:1-15\n"));
}

#[test]
fn lines_are_sent_again_if_the_setting_says_so() {
    let sandbox = project().file(".context/config.toml", "answer.skip_shown = false\n");
    let client = sandbox.start_client(Era::Handshake);
    let whole = json!({ "path": "src/shapes.py" });
    let first = read(&client, whole.clone());
    assert_eq!(read(&client, whole), first);
}

#[test]
fn find_symbol_names_lines_that_were_sent_before() {
    let sandbox = sandbox().file("a.py", long_function(20)).compact();
    let client = sandbox.start_client(Era::Handshake);
    read(&client, json!({ "path": "a.py" }));
    assert_snapshot!(client.call("find_symbol", json!({ "name": "long" })), @"
    a.py:1-20 function long
    shown above: a.py:1-20 (read_file with again: true repeats it)
    ");
}

#[test]
fn lines_that_did_not_fit_do_not_count_as_sent() {
    let sandbox = sandbox()
        .file("a.py", long_function(29))
        .file(".context/config.toml", "answer.max_chars = 2000\n")
        .compact();
    let client = sandbox.start_client(Era::Handshake);
    assert_snapshot!(client.call("find_symbol", json!({ "name": "long" })), @"
    a.py:1-29 function long
      def long(values):
    ");
    let text = read(&client, json!({ "path": "a.py", "symbol": "long" }));
    assert!(text.starts_with("1-29 of 29\n1\tdef long(values):\n"), "{text}");
}

#[test]
fn lines_of_a_folded_text_that_do_not_fit_are_counted() {
    let sandbox = sandbox()
        .file("a.py", long_function(600))
        .file(".context/config.toml", "answer.max_chars = 2000\n");
    let arguments = json!({ "path": "a.py", "focus": "walruses", "ranges": ["1-80", "200-400"] });
    let answer = sandbox.call("read_file", arguments).json();
    let content = answer["file"]["content"].as_str().unwrap();
    let mut next = 1;
    for line in content.lines() {
        if let Some(fold) = line.strip_prefix("… ") {
            let ranges = fold
                .split(' ')
                .skip_while(|word| !word.starts_with("line"))
                .nth(1);
            let first = ranges.unwrap().split(['-', ',']).next().unwrap();
            assert_eq!(first.parse(), Ok(next), "{content}");
            let range = fold.trim_end_matches(": read on with ranges");
            next = range.rsplit(['-', ' ']).next().unwrap().parse::<usize>().unwrap() + 1;
        } else {
            next += 1;
        }
    }
    assert_eq!(next, 401, "{content}");
}
