//! Issues in comments: those that begin with `FIXME`, `BUG` or `HACK`.
//!
//! `TODO` is left out, because it marks work to do rather than something broken.

use super::{Discovery, DiscoveryKind, DiscoverySource, cut_content};
use crate::language::Language;

/// Words that mark an issue at the beginning of a comment.
const MARKS: [&str; 3] = ["FIXME", "BUG", "HACK"];

/// Languages of data and documents, in which a mark is quoted rather than meant.
const NOT_CODE: [Language; 9] = [
    Language::Markdown,
    Language::Mdx,
    Language::PlainText,
    Language::ReStructuredText,
    Language::AsciiDoc,
    Language::Json,
    Language::Jsonc,
    Language::Xml,
    Language::Diff,
];

/// Lines of one comment that belong to a discovery.
const MAX_COMMENT_LINES: usize = 8;

/// The marks that begin a line comment, a block comment, or a line inside a block comment.
fn comment_openers(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python
        | Language::Ruby
        | Language::ShellScript
        | Language::Elixir
        | Language::Perl
        | Language::R
        | Language::Yaml
        | Language::Toml
        | Language::Makefile
        | Language::Dockerfile => &["#"],
        Language::Php => &["//", "#", "/**", "/*", "*"],
        Language::Haskell => &["--", "{-"],
        Language::Lua | Language::Sql => &["--[[", "--"],
        Language::Html | Language::Xml | Language::Vue | Language::Svelte => &["<!--", "//", "/*", "*"],
        Language::Clojure | Language::Scheme | Language::Lisp => &[";;;", ";;", ";"],
        Language::Erlang | Language::Latex => &["%%", "%"],
        _ => &["///", "//!", "//", "/**", "/*", "*"],
    }
}

pub(super) fn extract(language: Language, text: &str) -> Vec<Discovery> {
    if NOT_CODE.contains(&language) {
        return Vec::new();
    }
    // Most files have no mark, and a plain search for it is fast.
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let openers = comment_openers(language);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        at += 1;
        let Some((mark, text, is_whole_line)) = find_mark(lines[first], openers) else {
            continue;
        };
        let mut content = text.to_owned();
        // A comment after code ends with its line.
        while is_whole_line
            && at < lines.len()
            && at - first < MAX_COMMENT_LINES
            && !closes_comment(lines[at - 1])
        {
            let Some(more) = read_comment_line(lines[at], openers) else {
                break;
            };
            if more.is_empty() || starts_other_remark(more) || more.ends_with([';', '{', '}']) {
                break;
            }
            content.push(' ');
            content.push_str(more);
            at += 1;
        }
        let content = content
            .trim_end_matches("*/")
            .trim_end_matches("-->")
            .trim_end_matches("-}")
            .trim();
        // Fewer words mean nothing without the code around them.
        let words = content.split_whitespace().filter(|word| !word.contains("://"));
        if words.filter(|word| word.chars().any(char::is_alphabetic)).count() < 5 {
            continue;
        }
        found.push(Discovery {
            kind: DiscoveryKind::Issue,
            source: DiscoverySource::Comment,
            title: String::new(),
            content: cut_content(&format!("{mark}: {content}")),
            lines: Some(first + 1..=at),
            ..Discovery::default()
        });
    }
    found
}

/// The mark that a comment on this line begins with, the text after it, and whether the whole line is a
/// comment.
fn find_mark<'a>(line: &'a str, openers: &[&str]) -> Option<(&'static str, &'a str, bool)> {
    let mark = MARKS.into_iter().find(|mark| line.contains(mark))?;
    let (before, after) = line.split_once(mark)?;
    let opener = openers
        .iter()
        .find(|opener| before.trim_end().ends_with(*opener))?;
    let code = before.trim_end().strip_suffix(*opener)?.trim();
    // `*` begins a line of a block comment, and is an operator in code.
    if *opener == "*" && !code.is_empty() {
        return None;
    }
    // Not a part of a longer name, and not inside a string.
    let rest = after.strip_prefix("(").map_or(after, |inner| {
        inner.split_once(')').map_or(after, |(_, rest)| rest)
    });
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') || code.matches('"').count() % 2 == 1 {
        return None;
    }
    Some((
        mark,
        rest.trim_start_matches([':', '-', ' ', '!', '\t']),
        code.is_empty(),
    ))
}

/// The text of a line that is only a comment.
fn read_comment_line<'a>(line: &'a str, openers: &[&str]) -> Option<&'a str> {
    let line = line.trim();
    let opener = openers.iter().find(|opener| line.starts_with(*opener))?;
    Some(line[opener.len()..].trim())
}

fn closes_comment(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with("*/") || line.ends_with("-->") || line.ends_with("-}")
}

/// True for another remark, or a tag of a documentation tool.
fn starts_other_remark(text: &str) -> bool {
    let signs = ["TODO", "NOTE", "XXX", "@", "\\"];
    MARKS.iter().chain(&signs).any(|sign| text.starts_with(sign)) || text.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, text: &str, expected: &[(&str, usize, usize)]) {
        let found = extract(language, text);
        let found: Vec<(&str, usize, usize)> = found
            .iter()
            .map(|discovery| {
                let lines = discovery.lines.clone().unwrap();
                (discovery.content.as_str(), *lines.start(), *lines.end())
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_remark_may_span_several_lines() {
        check(
            Language::Go,
            "x := 1\n// FIXME(ann): the lock is\n// held too long.\n//\n// More.\ny()\n",
            &[("FIXME: the lock is held too long.", 2, 3)],
        );
        check(
            Language::Java,
            "/* HACK: the driver forgets\n * to close it */\nint a; // BUG - loses the last byte read\n",
            &[
                ("HACK: the driver forgets to close it", 1, 2),
                ("BUG: loses the last byte read", 3, 3),
            ],
        );
        check(
            Language::Haskell,
            "-- FIXME: the wait should be configurable\nf = 1\n",
            &[("FIXME: the wait should be configurable", 1, 1)],
        );
    }

    #[test]
    fn marks_in_code_strings_and_prose_are_no_issues() {
        for text in [
            "override val push = false // FIXME",
            "let debug = \"// FIXME: not a comment here\"",
            "BUG_ON(x == y)",
            "// DEBUG: this is a level",
            "int a = b * FIXME_COUNT;",
            "// there was a BUG in this one once",
        ] {
            check(Language::Java, text, &[]);
        }
    }
}
