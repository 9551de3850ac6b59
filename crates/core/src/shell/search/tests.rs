//! Flags, and patterns of POSIX as patterns of `regex`.

use super::*;

fn words(line: &str) -> Vec<Word> {
    super::super::split_words(line).unwrap()
}

fn read(line: &str) -> Result<LineSearchRequest, CommandRefusal> {
    let words = words(line);
    understand(&words[0].text, &words[1..])
}

fn regex(line: &str) -> String {
    let request = read(line).unwrap();
    translate(&request.patterns, PatternRules::of(&request), Characters::Unicode).unwrap()
}

#[test]
fn flags_may_stand_together_apart_and_behind_operands() {
    let expected = read("grep -r -n -i -A 3 word src").unwrap();
    assert_eq!(expected.context, (0, 3));
    for line in [
        "grep -rniA3 word src",
        "grep word src -rni -A3",
        "grep --recursive --line-number --ignore-case --after-context=3 word src",
        "grep -rni -A 3 -e word -- src",
    ] {
        assert_eq!(read(line).unwrap(), expected, "{line}");
    }
}

#[test]
fn patterns_of_posix_become_patterns_of_regex() {
    let check = |line: &str, expected: &str| assert_eq!(regex(line), expected, "{line}");
    check("grep 'a.b*c' f", "a.b*c");
    check("grep 'fn (x)|{y}+?' f", r"fn \(x\)\|\{y\}\+\?");
    check("grep '*x' f", r"\*x");
    check("grep 'x^y$z' f", r"x\^y\$z");
    check("grep '^x$' f", "^x$");
    check("grep -E '(a|b)+c{2,}' f", "(?:a|b)+c{2,}");
    check("grep -E 'interface{ x' f", r"interface\{ x");
    check("egrep '[^]a-z]x' f", r"[^\n\]a-z]x");
    check("grep '[[:space:]]x' f", r"[\s]x");
    check("grep -w 'a' f", r"\b{start-half}(?:a)\b{end-half}");
    check("grep -x -F 'a.b' f", r"^(?:a\.b)$");
    check("grep -i a f", "(?i)a");
    check("grep -e a -e b f", "(?:a)|(?:b)");
    check("rg -S 'Walrus' f", "Walrus");
    check("rg -S 'walrus' f", "(?i)walrus");
    check("fgrep 'a[' f", r"a\[");
}

#[test]
fn what_is_not_understood_is_refused() {
    for line in [
        "grep -z x f",
        "grep --line-regex x f",
        "grep -b x f",
        "grep -f patterns f",
        "grep -P x f",
        "grep x",
        "grep -r",
        "grep -lc x f",
        "grep -A x f",
        "rg -U x",
        "rg --json x",
        "rg -r y x",
        "ag x",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}
