//! Comments that say something is broken: `FIXME`, `BUG` and `HACK` at the beginning of a comment.

use super::{Discovery, DiscoveryKind, DiscoverySource, cut};
use crate::language::Language;

const MARKS: [&str; 3] = ["FIXME", "BUG", "HACK"];

/// Languages of data and documents, where a mark is somebody else's.
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

/// Lines of one comment that are read.
const MAX_COMMENT_LINES: usize = 8;

/// What begins a comment that goes to the end of its line, or inside of one that does not.
fn openers(language: Language) -> &'static [&'static str] {
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

pub(super) fn read(language: Language, text: &str) -> Vec<Discovery> {
    if NOT_CODE.contains(&language) {
        return Vec::new();
    }
    // Most files have none, and the look for a word is quick.
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let openers = openers(language);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        at += 1;
        let Some((mark, said, is_whole)) = marked(lines[first], openers) else {
            continue;
        };
        let mut said = said.to_owned();
        // What stands behind code ends with its line.
        while is_whole && at < lines.len() && at - first < MAX_COMMENT_LINES && !closes(lines[at - 1]) {
            let Some(more) = comment(lines[at], openers) else {
                break;
            };
            if more.is_empty() || starts_anew(more) || more.ends_with([';', '{', '}']) {
                break;
            }
            said.push(' ');
            said.push_str(more);
            at += 1;
        }
        let said = said
            .trim_end_matches("*/")
            .trim_end_matches("-->")
            .trim_end_matches("-}")
            .trim();
        // A few words need the code around them.
        let words = said.split_whitespace().filter(|word| !word.contains("://"));
        if words.filter(|word| word.chars().any(char::is_alphabetic)).count() < 5 {
            continue;
        }
        found.push(Discovery {
            kind: DiscoveryKind::Issue,
            source: DiscoverySource::Comment,
            title: String::new(),
            content: cut(&format!("{mark}: {said}")),
            lines: Some(first + 1..=at),
            ..Discovery::default()
        });
    }
    found
}

/// The mark a comment on this line begins with, what follows it, and whether the line is nothing else.
fn marked<'a>(line: &'a str, openers: &[&str]) -> Option<(&'static str, &'a str, bool)> {
    let mark = MARKS.into_iter().find(|mark| line.contains(mark))?;
    let (before, after) = line.split_once(mark)?;
    let opener = openers
        .iter()
        .find(|opener| before.trim_end().ends_with(*opener))?;
    let code = before.trim_end().strip_suffix(*opener)?.trim();
    // `*` begins a line of a comment, and is a sign in code.
    if *opener == "*" && !code.is_empty() {
        return None;
    }
    // Not a part of a longer name, and not a string.
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

/// What a line that is only a comment says.
fn comment<'a>(line: &'a str, openers: &[&str]) -> Option<&'a str> {
    let line = line.trim();
    let opener = openers.iter().find(|opener| line.starts_with(*opener))?;
    Some(line[opener.len()..].trim())
}

fn closes(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with("*/") || line.ends_with("-->") || line.ends_with("-}")
}

/// Another remark, or a tag of a documentation tool.
fn starts_anew(said: &str) -> bool {
    let signs = ["TODO", "NOTE", "XXX", "@", "\\"];
    MARKS.iter().chain(&signs).any(|sign| said.starts_with(sign)) || said.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, text: &str, expected: &[(&str, usize, usize)]) {
        let found = read(language, text);
        let found: Vec<(&str, usize, usize)> = found
            .iter()
            .map(|one| {
                let lines = one.lines.clone().unwrap();
                (one.content.as_str(), *lines.start(), *lines.end())
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_remark_is_read_with_the_lines_it_goes_on_over() {
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
    fn what_only_looks_like_one_is_none() {
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
