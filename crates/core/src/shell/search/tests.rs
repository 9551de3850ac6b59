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
        "grep -P '(?=x)y' f",
        "grep -P -e x -e y f",
        "grep -P -E x f",
        "grep x",
        "grep -r",
        "grep -lc x f",
        "grep -A x f",
        "rg -U x",
        "rg --json x",
        "rg -r y x",
        "rg -P x",
        "rg -t md x",
        "rg --type-not=py x",
        "rg --line-regex x",
        "ag -e x",
        "ag -o x",
        "ag -C 2 x",
        "ag --numbers x",
        "ag 'x\\s' f",
        "ag '[^a]x'",
        "ag 'x*'",
        "ag .",
        "ag -w -Q '(x'",
        "ag --max-count=1 x",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn the_value_of_a_short_flag_may_follow_an_equals_sign_in_programs_of_rust_only() {
    assert_eq!(read("rg -e=x src").unwrap().patterns, ["x"]);
    assert_eq!(read("grep -e=x f").unwrap().patterns, ["=x"]);
}

#[test]
fn perl_takes_the_first_match_so_that_its_parts_are_known() {
    let parts = read("grep -oP 'a|ab' f").unwrap();
    assert_eq!(
        (parts.output, parts.syntax),
        (SearchOutput::Parts, PatternSyntax::Perl)
    );
    assert!(read("grep -oE 'a|ab' f").is_err());
    assert_eq!(
        regex("grep -wP 'a|b' f"),
        r"(?-u:\b{start-half})(?:a|b)(?-u:\b{end-half})"
    );
    let classes = |line: &str| perl_classes(&read(line).unwrap());
    assert_eq!(
        classes(r"grep -P '\d' f"),
        PerlClasses {
            has_digits: true,
            has_words: false
        }
    );
    assert_eq!(
        classes("grep -wP x f"),
        PerlClasses {
            has_digits: false,
            has_words: true
        }
    );
    assert_eq!(classes(r"grep '\w' f"), PerlClasses::default());
}

#[test]
fn ag_is_insensitive_unless_anything_in_the_pattern_is_a_capital_letter() {
    let case = |line: &str| read(line).unwrap().case;
    assert_eq!(case("ag walrus"), PatternCase::Insensitive);
    assert_eq!(case("ag Walrus"), PatternCase::Sensitive);
    assert_eq!(case("ag é"), PatternCase::Sensitive);
    assert_eq!(case(r"ag '\Bx'"), PatternCase::Sensitive);
    assert_eq!(case("ag -s walrus"), PatternCase::Sensitive);
    assert_eq!(read("ag 'a=b' src").unwrap().syntax, PatternSyntax::Fixed);
    assert_eq!(read("ag 'a|b' src").unwrap().syntax, PatternSyntax::Perl);
}

fn git_grep(line: &str) -> Result<GitGrepRequest, CommandRefusal> {
    match super::super::understand(&words(line))? {
        super::super::Request::GitGrep(request) => Ok(request),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn git_is_asked_for_names_and_numbers_with_the_flags_of_the_caller() {
    let check = |line: &str, expected: &str| {
        let request = git_grep(line).unwrap();
        assert_eq!(
            request.arguments().join(" "),
            format!("--color=always -n -H {expected}"),
            "{line}"
        );
    };
    check("git grep walrus", "walrus");
    check("git grep -niwE 'a|b' -- src", "-i -w -E a|b -- src");
    check("git --no-pager grep -hc x", "-c x");
    check("git grep -3 -e a --and -e b", "-B3 -A3 -e a --and -e b");
    check(
        "git grep --no-line-number --full-name -A2 x '*.rs'",
        "--full-name -B0 -A2 x *.rs",
    );
    check("git grep x HEAD~1 -- src", "x HEAD~1 -- src");
    assert!(git_grep("git grep x HEAD --").unwrap().reads_records());
    assert!(!git_grep("git grep x -- src").unwrap().reads_records());
    let request = git_grep("git -C sub/ grep -h x a.rs").unwrap();
    assert_eq!(request.search.operands, ["sub/a.rs"]);
    assert_eq!(request.search.file_names, Some(false));
    assert_eq!(git_grep("git grep -n x").unwrap().line_numbers, Some(true));
}

#[test]
fn git_grep_with_revisions_or_other_forms_is_refused() {
    for line in [
        "git grep",
        "git grep -- x",
        "git grep x HEAD main -- src",
        "git grep x HEAD:src -- a.rs",
        "git grep x -n",
        "git grep x :/src",
        "git grep --line-regexp x",
        "git grep --with-filename x",
        "git grep --column x",
        "git grep --heading x",
        "git grep -p x",
        "git grep -W x",
        "git grep -z x",
        "git grep -O x",
        "git grep -Oless x",
        "git grep --open-files-in-pager=less x",
        "git grep --textconv x",
        "git grep -f patterns",
        "git grep --no-index x",
        "git grep --cached x",
        "git grep --recurse-submodules x",
        "git grep --color=always x",
        "git grep -lc x",
        "git -c grep.lineNumber=true grep x",
    ] {
        assert!(git_grep(line).is_err(), "{line}");
    }
}
