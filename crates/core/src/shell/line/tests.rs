//! Lines that are rewritten, and lines that are left alone.

use super::*;

fn rewrite(line: &str) -> Option<String> {
    CommandLine::read(line)?.rewrite(line, "docent", |_| true)
}

#[test]
fn commands_whose_output_is_read_are_replaced() {
    let check = |line: &str, expected: &str| assert_eq!(rewrite(line).as_deref(), Some(expected), "{line}");
    check("grep -rn 'a|b' src", "docent sh grep -rn 'a|b' src");
    check("cd src && grep -rn x .", "cd src && docent sh grep -rn x .");
    check(
        "grep -n x a.rs 2>/dev/null",
        "docent sh grep -n x a.rs 2>/dev/null",
    );
    check(
        "grep -n x a.rs | head -20",
        "docent sh --then 'head -20' grep -n x a.rs",
    );
    check(
        "grep -rn x src 2>&1 | sort -u | head -5; ls",
        "docent sh --with-errors --then 'sort -u' --then 'head -5' grep -rn x src 2>&1; ls",
    );
    check(
        "grep -rn x src | grep -v 'a b' | tail -3",
        "docent sh --then \"grep -v 'a b'\" --then 'tail -3' grep -rn x src",
    );
    check(
        "echo start; grep -c x a.rs || echo none",
        "echo start; docent sh grep -c x a.rs || echo none",
    );
    check(
        "cd src && grep -n x a.rs 2>/dev/null",
        "cd src && docent sh grep -n x a.rs 2>/dev/null",
    );
    check(
        "cd src && grep -n x a.rs 2>&1 | head -3 && echo",
        "cd src && docent sh --with-errors --then 'head -3' grep -n x a.rs 2>&1 && echo",
    );
    check(
        "git diff --stat && python3 - <<'EOF'\ngrep x a\nEOF",
        "docent sh git diff --stat && python3 - <<'EOF'\ngrep x a\nEOF",
    );
    check(
        r#"grep -rn x src | grep -v "a\|b" | wc -l"#,
        r"docent sh --then 'grep -v '\''a\|b'\''' --then 'wc -l' grep -rn x src",
    );
    check("set -e; grep x a", "set -e; docent sh grep x a");
    check(
        "set -euo pipefail; rg x a || true",
        "set -euo pipefail; docent sh rg x a || true",
    );
    check(
        "git -C src grep -n x | grep -c y",
        "docent sh --then 'grep -c y' git -C src grep -n x",
    );
    check(r"grep -P '^\s+x' a", r"docent sh grep -P '^\s+x' a");
    check(
        "grep x a; echo abcd; grep y b",
        "docent sh grep x a; echo abcd; docent sh grep y b",
    );
    check("grep -n x src/*.rs", "docent sh grep -n x src/*.rs");
    check(
        "grep -n \"fn \\(x\\|y\\)\" a.rs",
        "docent sh grep -n \"fn \\(x\\|y\\)\" a.rs",
    );
    check("grep x a\ngrep y b", "docent sh grep x a\ndocent sh grep y b");
}

#[test]
fn other_commands_are_left_alone() {
    for line in [
        "grep x a | wc",
        "grep x a | xargs rm",
        "grep x a > out",
        "grep x a >> out",
        "grep x a &> out",
        "grep x < a",
        "grep x <<< text",
        "cat a | grep x",
        "echo $(grep x a)",
        "diff <(grep x a) b",
        "for f in a b; do grep x $f; done",
        "for f in a b; do grep x a; done",
        "if grep -q x a; then echo; fi",
        "while read l; do grep x a; done",
        "(grep x a)",
        "{ grep x a; }",
        "! grep x a",
        "grep $x a",
        "grep \"$x\" a",
        "grep x \"$HOME/a\"",
        "LC_ALL=C grep x a",
        "DOCENT_RAW=1 grep x a",
        "command grep x a",
        "\\grep x a",
        "sudo grep x a",
        "env grep x a",
        "time grep x a",
        "xargs grep x < a",
        "grep x a &",
        "eval 'grep x a'",
        "alias grep=ggrep; grep x a",
        "grep() { ggrep \"$@\"; }; grep x a",
        "set -o pipefail; grep x a | head -1",
        "set -eo posix; grep x a",
        "set -f; grep x *",
        "set -- a; grep x a",
        "grep x a | grep -c y | head -1",
        "grep x a | tee b",
        "grep x a |& head -1",
        "grep x a | head -1 > b",
        "grep x a | head -1 2>/dev/null",
        "cd $DIR && grep x a",
        "for f in a; do cd $f; done; grep x a",
        "cd - && grep x a",
        "cd && grep x a",
        "PATH=/x:$PATH; grep x a",
        "export DOCENT_RAW=1; grep x a",
        "export CDPATH=/ && cd src && grep x a",
        "LC_ALL=C; grep x a",
        "HOME=/x; grep x ~/a",
        "/usr/bin/grep x a",
        "grep 'x a",
        "cat <<EOF | grep x\ntext\nEOF",
    ] {
        assert_eq!(rewrite(line), None, "{line}");
    }
}

#[test]
fn only_a_line_of_answers_only_reads() {
    let only = |line: &str| CommandLine::read(line).is_some_and(|line| line.is_only_answerable);
    assert!(only("cd src && grep x a; grep y b | head -3"));
    assert!(!only("grep x a; rm b"));
    assert!(!only("grep x a && echo"));
    assert!(!only("grep x a | wc -c"));
}

#[test]
fn what_is_left_alone_is_named_with_its_reason() {
    let line = CommandLine::read("grep -z x a; grep y b | wc -c; rg $z").unwrap();
    let programs: Vec<&str> = line
        .left_alone
        .iter()
        .map(|(program, _)| program.as_str())
        .collect();
    assert_eq!(programs, ["grep", "grep", "rg"]);
}
