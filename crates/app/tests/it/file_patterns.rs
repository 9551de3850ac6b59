//! `filePattern` of `grep_codebase`: which files a pattern selects, compared with `rg --glob`.

use std::collections::BTreeSet;
use std::process::Command;

use docent_testkit::{Era, StdioClient};
use serde_json::json;

use crate::sandbox;

#[test]
fn a_wildcard_in_the_last_part_selects_files_and_a_plain_name_everything_below() {
    let mut sandbox = sandbox();
    for path in [
        "src/a.ts",
        "src/deep/b.ts",
        "packages/one/src/c.ts",
        "packages/one/src/deep/d.ts",
        "packages/one/lib/e.ts",
        "srcs.ts",
    ] {
        sandbox = sandbox.file(path, "x");
    }
    let client = sandbox.start_client(Era::Handshake);
    let search = |pattern: &str| {
        let arguments = json!({ "pattern": "x", "filePattern": pattern });
        let answer = client.call("grep_codebase", arguments).json();
        let files = answer["matches"].as_array().unwrap().iter();
        let files: Vec<String> = files
            .map(|one| one["file"].as_str().unwrap().to_owned())
            .collect();
        files.join(" ")
    };
    assert_eq!(search("**/src/*"), "packages/one/src/c.ts src/a.ts");
    assert_eq!(search("src/*"), "src/a.ts");
    assert_eq!(search("src/?.ts"), "src/a.ts");
    assert_eq!(search("sr[c]*"), "srcs.ts");
    assert_eq!(search("packages/*"), "");
    assert_eq!(search("{src/*,packages/one/lib}"), "src/a.ts");
    assert_eq!(
        search("**/src"),
        "packages/one/src/c.ts packages/one/src/deep/d.ts src/a.ts src/deep/b.ts"
    );
    assert_eq!(search("src/**"), "src/a.ts src/deep/b.ts");
    assert_eq!(search("packages/*/lib"), "packages/one/lib/e.ts");
    assert_eq!(search("packages/*/src/"), search("packages/*/src"));
    assert_eq!(
        search("packages/*/"),
        "packages/one/lib/e.ts packages/one/src/c.ts packages/one/src/deep/d.ts"
    );
    assert_eq!(
        search("packages/one/{lib,src/deep}"),
        "packages/one/lib/e.ts packages/one/src/deep/d.ts"
    );
    assert_eq!(search("!**/src/*"), "packages/one/lib/e.ts srcs.ts");
}

/// Compares the files that docent and ripgrep search in this repository. Patterns that end with a plain name
/// are left out, because ripgrep does not take a directory's name for the files below it.
#[test]
fn patterns_with_a_wildcard_select_the_files_that_ripgrep_selects() {
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
    let mut selecting = 0;
    for pattern in [
        "*.rs",
        "**/*.rs",
        "**/src/*",
        "**/src/*.rs",
        "**/src/**",
        "src/*",
        "crates/*",
        "crates/*/*",
        "crates/*/src/*",
        "crates/**/src/*/*.rs",
        "crates/**/tests/**/*.rs",
        "crates/{core,app}/src/*",
        "crates/{core/src/*,app/src/*}.rs",
        "{docs,eval}/*",
        "{docs/*,eval/**}",
        "*.{md,toml}",
        "/*",
        "/*.md",
        "[a-c]*",
        "[!a-z]*",
        "?????.rs",
        "**/git/*o*",
        "docs/*/*.md",
        "**/*test*",
        "*s",
        "crates/*s",
        "**",
        "*",
        ".*",
        "!*.rs",
        "!**/src/*",
        "!crates/*",
        "!src",
        "!/docs",
        "!*.{md,rs,toml}",
        "!**/[a-m]*",
    ] {
        let ours = client
            .call(
                "grep_codebase",
                json!({ "pattern": "e", "filePattern": pattern, "limit": 100 }),
            )
            .json();
        let counts = count_lines_by_ripgrep(pattern);
        assert_eq!(
            ours["totalMatches"],
            counts.iter().map(|(_, lines)| lines).sum::<u64>(),
            "{pattern}"
        );
        let files: BTreeSet<&str> = counts.iter().map(|(file, _)| file.as_str()).collect();
        for one in ours["matches"].as_array().unwrap() {
            assert!(files.contains(one["file"].as_str().unwrap()), "{pattern}: {one}");
        }
        selecting += usize::from(!files.is_empty());
    }
    assert!(selecting > 30, "only {selecting} patterns select files");
}

/// Every file that ripgrep searches with a glob, with its number of matching lines.
fn count_lines_by_ripgrep(pattern: &str) -> Vec<(String, u64)> {
    let mut rg = Command::new("rg");
    rg.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["--ignore-case", "--hidden", "--count", "--no-config", "--null"])
        .args(["--with-filename", "--glob", pattern]);
    for excluded in ["node_modules", ".git", "dist", "build", ".next", ".context"] {
        rg.args(["--glob", &format!("!**/{excluded}/**")]);
    }
    // In a linked worktree `.git` is a file, and a positive glob makes ripgrep search it.
    rg.args(["--glob", "!**/.git"]);
    let output = rg.args(["--regexp", "e", "."]).output().expect("ripgrep runs");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            let (file, count) = line.split_once('\0').expect("a path and a NUL");
            let file = file.trim_start_matches("./").to_owned();
            (file, count.parse().expect("a number"))
        })
        .collect()
}
