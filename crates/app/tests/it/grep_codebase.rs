//! `grep_codebase`: the examples, test cases and error cases of its contract, and a comparison with ripgrep.

use std::process::Command;

use docent_testkit::{Era, Sandbox, StdioClient, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

const SERVICE: &str = "\
import jwt from 'jsonwebtoken';

export class AuthService {
  // Generate JWT token
  function generateToken(payload) {
    const token = jwt.sign(payload, SECRET);
    return token;
  }
}
";

fn project() -> Sandbox {
    sandbox()
        .file("src/server/auth/AuthService.ts", SERVICE)
        .file(
            "src/server/context.ts",
            "export interface RequestContext {}\nfunction handleAuth() {}\n",
        )
        .file("README.md", "Tokens are made by JWT.Sign.\n")
}

/// File and line of each match.
fn places_of(answer: &Value) -> Vec<(&str, u64)> {
    let matches = answer["matches"].as_array().unwrap();
    matches
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["line"].as_u64().unwrap()))
        .collect()
}

#[test]
fn example_simple_text_search() {
    let answer = project().call(
        "grep_codebase",
        json!({ "pattern": "jwt.sign", "caseSensitive": false }),
    );
    assert_snapshot!(pretty(&answer), @r#"
    {
      "matches": [
        {
          "file": "README.md",
          "line": 1,
          "column": 20,
          "text": "Tokens are made by JWT.Sign.",
          "context": {
            "before": [],
            "after": []
          }
        },
        {
          "file": "src/server/auth/AuthService.ts",
          "line": 6,
          "column": 19,
          "text": "    const token = jwt.sign(payload, SECRET);",
          "context": {
            "before": [
              "  // Generate JWT token",
              "  function generateToken(payload) {"
            ],
            "after": [
              "    return token;",
              "  }"
            ]
          }
        }
      ],
      "pattern": "jwt.sign",
      "totalMatches": 2,
      "filesSearched": 3,
      "searchTime": 0
    }
    "#);
}

#[test]
fn example_typescript_files_only() {
    let arguments = json!({ "pattern": "interface.*Context", "filePattern": "**/*.ts", "limit": 20 });
    assert_eq!(
        places_of(&project().call("grep_codebase", arguments).json()),
        [("src/server/context.ts", 1)]
    );
}

#[test]
fn example_case_sensitive_function_search() {
    let search = |pattern: &str| {
        let arguments =
            json!({ "pattern": pattern, "caseSensitive": true, "filePattern": "src/server/**/*.ts" });
        project().call("grep_codebase", arguments).json()["totalMatches"].clone()
    };
    assert_eq!(search("function handleAuth"), 1);
    assert_eq!(search("function handleauth"), 0);
}

#[test]
fn test_case_finds_matches() {
    let answer = project()
        .call("grep_codebase", json!({ "pattern": "function", "limit": 10 }))
        .json();
    assert!(!answer["matches"].as_array().unwrap().is_empty());
}

#[test]
fn test_case_handles_no_matches_gracefully() {
    let answer = project().call("grep_codebase", json!({ "pattern": "xyznonexistent123" }));
    assert_snapshot!(pretty(&answer), @r#"
    {
      "matches": [],
      "pattern": "xyznonexistent123",
      "totalMatches": 0,
      "filesSearched": 3,
      "searchTime": 0,
      "message": "No matches found for pattern 'xyznonexistent123'"
    }
    "#);
}

#[test]
fn error_case_invalid_regex() {
    assert_snapshot!(pretty(&project().call("grep_codebase", json!({ "pattern": "[invalid(" }))), @r#"
    [isError] {
      "error": "Invalid regex pattern",
      "pattern": "[invalid(",
      "details": "regex parse error:\n    (?:[invalid()\n       ^\nerror: unclosed character class"
    }
    "#);
}

#[test]
fn error_case_validation() {
    assert_snapshot!(pretty(&project().call("grep_codebase", json!({ "pattern": "" }))), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "pattern"
          ],
          "message": "pattern must have at least 1 character"
        }
      ]
    }
    "#);
    let answer = project().call(
        "grep_codebase",
        json!({ "pattern": "a", "limit": 101, "caseSensitive": 1 }),
    );
    assert_snapshot!(pretty(&answer), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "caseSensitive"
          ],
          "message": "caseSensitive must be true or false"
        },
        {
          "path": [
            "limit"
          ],
          "message": "limit must be between 1 and 100"
        }
      ]
    }
    "#);
    assert!(
        project()
            .call("grep_codebase", json!({ "pattern": "x".repeat(201) }))
            .is_error
    );
    assert!(
        !project()
            .call("grep_codebase", json!({ "pattern": "x".repeat(200) }))
            .is_error
    );
}

#[test]
fn a_broken_file_pattern_is_an_error() {
    let answer = project().call("grep_codebase", json!({ "pattern": "a", "filePattern": "{a" }));
    assert_snapshot!(pretty(&answer), @r#"
    [isError] {
      "error": "Invalid file pattern",
      "filePattern": "{a",
      "details": "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
    }
    "#);
}

#[test]
fn the_rate_limit_is_60_calls_a_minute() {
    let sandbox = sandbox().file("a.txt", "x");
    let client = sandbox.start_client(Era::Handshake);
    for _ in 0..60 {
        assert!(!client.call("grep_codebase", json!({ "pattern": "x" })).is_error);
    }
    assert_eq!(
        client.call("grep_codebase", json!({ "pattern": "x" })).json()["error"],
        "Rate limit exceeded for grep_codebase"
    );
}

#[test]
fn excluded_ignored_and_blocked_files_are_not_searched() {
    let mut sandbox = sandbox().file(".gitignore", "ignored/\n*.log\n");
    for path in [
        "node_modules/a.js",
        ".git/config",
        "dist/a.js",
        "sub/build/a.js",
        ".next/a.js",
        ".context/memory/a.md",
        "ignored/a.js",
        "debug.log",
        ".env",
        "secrets/a.txt",
        "server.pem",
    ] {
        sandbox = sandbox.file(path, "needle");
    }
    let sandbox = sandbox
        .file(".github/workflows/ci.yml", "needle")
        .file("build.rs", "needle")
        .file("environment.ts", "needle");
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(
        places_of(&answer),
        [
            (".github/workflows/ci.yml", 1),
            ("build.rs", 1),
            ("environment.ts", 1)
        ]
    );
}

#[test]
fn a_file_pattern_selects_files_directories_or_exceptions() {
    let sandbox = sandbox()
        .file("a.ts", "x")
        .file("src/b.ts", "x")
        .file("src/b.test.ts", "x")
        .file("src/c.js", "x");
    let search = |pattern: &str| {
        let answer = sandbox
            .call("grep_codebase", json!({ "pattern": "x", "filePattern": pattern }))
            .json();
        places_of(&answer)
            .iter()
            .map(|(file, _)| *file)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(search("*.ts"), "a.ts src/b.test.ts src/b.ts");
    assert_eq!(search("src/*.ts"), "src/b.test.ts src/b.ts");
    assert_eq!(search("src"), "src/b.test.ts src/b.ts src/c.js");
    assert_eq!(search("./src/"), "src/b.test.ts src/b.ts src/c.js");
    assert_eq!(search("**/*.{js,jsx}"), "src/c.js");
    assert_eq!(search("!*.test.ts"), "a.ts src/b.ts src/c.js");
    assert_eq!(search("/*.ts"), "a.ts");
    assert_eq!(search("."), search(""));
}

#[test]
fn a_file_pattern_that_matches_no_file_is_explained() {
    let answer = project()
        .call("grep_codebase", json!({ "pattern": "x", "filePattern": "*.zig" }))
        .json();
    assert_snapshot!(
        answer["notice"].as_str().unwrap(),
        @"no file matches filePattern *.zig; ignored files, blocked files and node_modules, .git, dist, build, .next, .context are never searched"
    );
}

#[test]
fn the_total_counts_every_match_and_matches_are_ordered_by_path_and_line() {
    let mut sandbox = sandbox();
    for n in (0..40).rev() {
        sandbox = sandbox.file(&format!("f{n:02}.txt"), "hit\nmiss\nhit hit\n");
    }
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "HIT", "limit": 5 }))
        .json();
    assert_eq!(
        (&answer["totalMatches"], &answer["filesSearched"]),
        (&json!(80), &json!(40))
    );
    assert_eq!(
        places_of(&answer),
        [
            ("f00.txt", 1),
            ("f00.txt", 3),
            ("f01.txt", 1),
            ("f01.txt", 3),
            ("f02.txt", 1)
        ]
    );
}

#[test]
fn context_is_two_lines_on_each_side_even_for_adjacent_matches() {
    let sandbox = sandbox().file("a.txt", "1\n2\n3 hit\n4 hit\n5\n6\n7\n");
    let answer = sandbox.call("grep_codebase", json!({ "pattern": "hit" })).json();
    assert_snapshot!(pretty(&answer["matches"]), @r#"
    [
      {
        "file": "a.txt",
        "line": 3,
        "column": 3,
        "text": "3 hit",
        "context": {
          "before": [
            "1",
            "2"
          ],
          "after": [
            "4 hit",
            "5"
          ]
        }
      },
      {
        "file": "a.txt",
        "line": 4,
        "column": 3,
        "text": "4 hit",
        "context": {
          "before": [
            "2",
            "3 hit"
          ],
          "after": [
            "5",
            "6"
          ]
        }
      }
    ]
    "#);
    let first = sandbox
        .call("grep_codebase", json!({ "pattern": "hit", "limit": 1 }))
        .json();
    assert_eq!(first["matches"][0], answer["matches"][0]);
}

#[test]
fn columns_count_characters() {
    let sandbox = sandbox()
        .file("a.txt", "日本語 größe\n")
        .file("b.txt", b"\xfa\xfb bad gr\n");
    let answer = sandbox.call("grep_codebase", json!({ "pattern": "gr" })).json();
    assert_eq!(answer["matches"][0]["column"], 5);
    assert_eq!(answer["matches"][1]["text"], "\u{fffd}\u{fffd} bad gr");
    assert_eq!(answer["matches"][1]["column"], 8);
}

#[test]
fn encodings_and_line_ends_of_real_files_are_read() {
    let utf16: Vec<u8> = "\u{feff}needle in utf-16\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let sandbox = sandbox()
        .file("utf16.txt", utf16)
        .file("crlf.txt", "a\r\nneedle\r\nb\r\n");
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(answer["matches"][0]["text"], "needle");
    assert_eq!(
        answer["matches"][0]["context"],
        json!({ "before": ["a"], "after": ["b"] })
    );
    assert_eq!(answer["matches"][1]["text"], "needle in utf-16");
}

#[test]
fn binary_files_never_match() {
    let late = [b"needle\n".repeat(50_000), vec![0], b"needle".to_vec()].concat();
    let sandbox = sandbox()
        .file("a.bin", b"needle\0\x01")
        .file("late.bin", late)
        .file("a.txt", "needle");
    assert_eq!(
        sandbox
            .call("grep_codebase", json!({ "pattern": "needle" }))
            .json()["totalMatches"],
        1
    );
}

#[test]
fn a_line_of_10_mb_is_cut_around_its_match() {
    let mut line = "y".repeat(10 << 20);
    line.insert_str(5 << 20, "needle");
    let sandbox = sandbox().file("min.js", line);
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    let first = &answer["matches"][0];
    assert_eq!(first["column"], (5 << 20) + 1);
    let text = first["text"].as_str().unwrap();
    assert!(
        text.contains("needle") && text.starts_with('…') && text.ends_with('…') && text.len() < 500,
        "{text}"
    );
}

#[test]
fn long_lines_of_any_script_are_cut_between_characters() {
    let sandbox = sandbox().file("a.md", format!("{}尾\n", "文档".repeat(150)));
    let answer = sandbox.call("grep_codebase", json!({ "pattern": "尾" })).json();
    assert_eq!(answer["matches"][0]["column"], 301);
    let text = answer["matches"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("…") && text.ends_with("档尾") && !text.contains('\u{fffd}'),
        "{text}"
    );
}

#[test]
fn a_pattern_matches_carriage_returns_and_the_text_omits_them() {
    let sandbox = sandbox().file("a.txt", "abc\r\n");
    let answer = sandbox.call("grep_codebase", json!({ "pattern": "\\s$" })).json();
    assert_eq!(
        (&answer["matches"][0]["column"], &answer["matches"][0]["text"]),
        (&json!(4), &json!("abc"))
    );
}

#[test]
fn files_that_cannot_be_searched_are_named() {
    let sandbox = sandbox()
        .file("a.txt", "needle")
        .file("endless.txt", vec![b'x'; 65 << 20]);
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(
        (&answer["totalMatches"], &answer["filesSearched"]),
        (&json!(1), &json!(1))
    );
    assert_snapshot!(answer["notice"].as_str().unwrap(), @"1 could not be searched: endless.txt");
}

#[test]
fn ignore_files_apply_up_to_the_top_of_the_work_tree() {
    let sandbox = sandbox()
        .file(".git/HEAD", "")
        .file(".git/info/exclude", "/mine\n")
        .file(".gitignore", "*.log\n");
    let sandbox = sandbox
        .file("a.txt", "needle")
        .file("sub/a.log", "needle")
        .file("mine/a.txt", "needle");
    std::fs::write(sandbox.outside().join(".gitignore"), "*\n").unwrap();
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(places_of(&answer), [("a.txt", 1)]);
    let mut docent = sandbox.docent();
    docent.env("DOCENT_ROOT", sandbox.root().join("sub"));
    let below = StdioClient::start(docent, Era::Handshake)
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(below["totalMatches"], 0, "an ignore rule above the root applies");
}

#[test]
fn catastrophic_patterns_are_harmless() {
    let sandbox = sandbox().file("a.txt", format!("{}b", "a".repeat(100_000)));
    for pattern in ["(a+)+$", "(a|a)*c$", "(.*a){20}c", "(?:a?){30}a{30}c"] {
        assert_eq!(
            sandbox
                .call("grep_codebase", json!({ "pattern": pattern }))
                .json()["totalMatches"],
            0,
            "{pattern}"
        );
    }
    let huge = sandbox.call("grep_codebase", json!({ "pattern": "((a{1000}){1000}){1000}" }));
    assert_eq!(huge.json()["error"], "Invalid regex pattern");
}

#[test]
fn a_long_answer_is_cut_and_says_so() {
    let sandbox = sandbox().file("a.txt", format!("hit {}\n", "x".repeat(390)).repeat(100));
    let answer = sandbox.call("grep_codebase", json!({ "pattern": "hit", "limit": 100 }));
    assert!(answer.text.chars().count() <= 20_000, "{}", answer.text.len());
    let notice = answer.json()["notice"].as_str().unwrap().to_owned();
    assert!(notice.contains("of 100 matches fit into this answer"), "{notice}");
    assert_eq!(answer.json()["totalMatches"], 100);
}

#[test]
fn invisible_characters_are_shown() {
    let sandbox = sandbox().file("a.txt", "needle \u{202e}\u{1b}[31m\n");
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(answer["matches"][0]["text"], "needle \\u{202E}\\u{1B}[31m");
}

/// Compares the lines that docent and ripgrep find in this repository.
#[test]
fn matches_equal_those_of_ripgrep() {
    if Command::new("rg").arg("--version").output().is_err() {
        println!("skipped: ripgrep is not installed");
        return;
    }
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent
        .env("DOCENT_ROOT", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("DOCENT_ANSWER_MAX_CHARS", "9999999");
    let client = StdioClient::start(docent, Era::Handshake);
    for pattern in [
        "fn [a-z_]+\\(",
        "\\bSelf\\b",
        "^//!",
        "ü|ß|日本",
        "docent",
        "x{2,}",
        "(?-u:\\xff)",
        "\\s+$",
        "\\w+::\\w+;$",
    ] {
        let ours = client
            .call("grep_codebase", json!({ "pattern": pattern, "limit": 100 }))
            .json();
        let theirs = run_ripgrep(pattern);
        assert_eq!(ours["totalMatches"], theirs.len(), "{pattern}");
        let first: Vec<(String, u64)> = places_of(&ours)
            .iter()
            .map(|(file, line)| ((*file).to_owned(), *line))
            .collect();
        assert_eq!(first, theirs[..theirs.len().min(100)], "{pattern}");
    }
}

/// Path and line of every match of ripgrep in the same files, sorted.
fn run_ripgrep(pattern: &str) -> Vec<(String, u64)> {
    let mut rg = Command::new("rg");
    rg.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["--ignore-case", "--hidden", "--line-number"]);
    rg.args(["--no-heading", "--with-filename", "--no-config", "--null"]);
    for excluded in ["node_modules", ".git", "dist", "build", ".next", ".context"] {
        rg.args(["--glob", &format!("!**/{excluded}/**")]);
    }
    let output = rg
        .args(["--regexp", pattern, "."])
        .output()
        .expect("ripgrep runs");
    let mut places: Vec<(String, u64)> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            let (file, rest) = line.split_once('\0').expect("a path and a NUL");
            let (number, _) = rest.split_once(':').expect("a line number");
            (
                file.trim_start_matches("./").to_owned(),
                number.parse().expect("a number"),
            )
        })
        .collect();
    places.sort();
    places
}
