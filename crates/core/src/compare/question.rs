//! Questions of the comparison: the subject of a commit, and the functions that it changed.
//!
//! Invariant: a question names no issue, and its functions are those whose text the commit changed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::chunk::has_grammar;
use crate::language::Language;
use crate::path::RepoPath;
use crate::symbols::{SymbolKind, chunk_with_symbols};

/// Words of a subject that asks for something.
const MIN_WORDS: usize = 4;
const MAX_SUBJECT_CHARS: usize = 200;

/// Subjects of commits that change no behaviour that one would look for.
static IDLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(merge|bump|release|revert|docs?|ci|tests?|style|build|chore|typ)\b|\b(typos?|changelog|readme|lint(er)?|flak(y|ey)|spelling|clippy|docstring|comments?|dependenc(y|ies)|reformat|rustfmt|prettier)\b",
    )
    .expect("a literal pattern")
});

/// Numbers of issues and pull requests.
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\s*\((close|fix|resolve)?\w*:?\s*#\d+[^)]*\)|\s*\[?(\bGH-?|#)\d+\]?")
        .expect("a literal pattern")
});

/// What stands before the sentence: `[area]`, `area:`, `fix(area)!:`.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(\[[^\]]*\]\s*)*([\w/.-]+(\([^)]*\))?!?:\s*)*").expect("a literal pattern")
});

/// The question of a commit's subject. `None` for one that asks for nothing.
pub fn question_of(subject: &str) -> Option<String> {
    if IDLE.is_match(subject) {
        return None;
    }
    let plain = NUMBERS.replace_all(subject, "");
    let question = PREFIX.replace(&plain, "");
    let question = question.trim_matches(|c: char| " .:-".contains(c));
    let is_question =
        question.split_whitespace().count() >= MIN_WORDS && question.chars().count() <= MAX_SUBJECT_CHARS;
    is_question.then(|| question.to_owned())
}

/// A function as docent's own outline has it, by its qualified name. A name that occurs twice is left out,
/// because one could not tell which is meant.
fn functions(path: &RepoPath, text: &str) -> BTreeMap<String, (usize, usize)> {
    let language = Language::of_file(path, text);
    let mut found: BTreeMap<String, Option<(usize, usize)>> = BTreeMap::new();
    if !has_grammar(language) {
        return BTreeMap::new();
    }
    let Some(symbols) = chunk_with_symbols(language, text).1 else {
        return BTreeMap::new();
    };
    for definition in &symbols.definitions {
        if !definition.has_body || !matches!(definition.kind, SymbolKind::Function | SymbolKind::Method) {
            continue;
        }
        let name = |id: crate::symbols::NameId| symbols.names.get(id.0 as usize).map_or("", String::as_str);
        let name = format!("{}.{}", name(definition.scope), name(definition.name));
        let lines = (definition.name_at.line as usize, definition.last_line as usize);
        found
            .entry(name)
            .and_modify(|lines| *lines = None)
            .or_insert(Some(lines));
    }
    found
        .into_iter()
        .filter_map(|(name, lines)| Some((name, lines?)))
        .collect()
}

fn lines_of<'a>(lines: &'a [&'a str], (first, last): (usize, usize)) -> &'a [&'a str] {
    lines
        .get(first.saturating_sub(1)..last.min(lines.len()))
        .unwrap_or_default()
}

/// The functions of a file whose text a change has changed, as `base` has them: their first and last lines.
///
/// `before` and `after` are the file around the change, and `base` is the file in the state that the question
/// is asked at. `None` if one of the functions is not there, or has its later text there already.
pub fn changed_functions(
    path: &RepoPath,
    before: &str,
    after: &str,
    base: &str,
) -> Option<Vec<(usize, usize)>> {
    let (in_before, in_after, in_base) = (
        functions(path, before),
        functions(path, after),
        functions(path, base),
    );
    let split = |text| -> Vec<&str> { str::lines(text).collect() };
    let (before, after, base) = (split(before), split(after), split(base));
    let changed: Vec<(&String, (usize, usize))> = in_before
        .iter()
        .filter(|(name, lines)| {
            in_after
                .get(*name)
                .is_none_or(|then| lines_of(&before, **lines) != lines_of(&after, *then))
        })
        .map(|(name, lines)| (name, *lines))
        .collect();
    // Of a function inside a function, the inner one was changed.
    let is_innermost = |(_, (first, last)): &&(&String, (usize, usize))| {
        !changed.iter().any(|(_, (inner_first, inner_last))| {
            (inner_first, inner_last) != (first, last) && inner_first >= first && inner_last <= last
        })
    };
    let mut found = Vec::new();
    for (name, _) in changed.iter().filter(is_innermost) {
        let (now, then) = (in_base.get(*name)?, in_after.get(*name)?);
        if lines_of(&base, *now) == lines_of(&after, *then) {
            return None;
        }
        found.push(*now);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_question_without_its_area_and_numbers() {
        let check = |subject: &str, expected: Option<&str>| {
            assert_eq!(question_of(subject).as_deref(), expected, "{subject}");
        };
        check(
            "fix(api): keep the header of a retried request (#123)",
            Some("keep the header of a retried request"),
        );
        check(
            "[core] net/http: do not leak idle connections. GH-12",
            Some("do not leak idle connections"),
        );
        check("docs: say how it is installed here", None);
        check("Fix typo in the list of animals", None);
        check("Fix the build", None);
    }

    #[test]
    fn a_changed_function_is_found_where_the_question_is_asked() {
        let path = RepoPath::parse("a.py").unwrap();
        let base = "def other():\n    return 0\n\ndef dive(air):\n    return air\n";
        let before = "def dive(air):\n    return air\n";
        let after = "def dive(air):\n    return air - 1\n";
        assert_eq!(changed_functions(&path, before, after, base), Some(vec![(4, 5)]));
        assert_eq!(changed_functions(&path, before, before, base), Some(vec![]));
        assert_eq!(
            changed_functions(&path, before, after, after),
            None,
            "the base has it already"
        );
        assert_eq!(
            changed_functions(&path, before, after, "x = 1\n"),
            None,
            "the base lacks the function"
        );
        assert_eq!(
            changed_functions(&path, before, "x = 1\n", base),
            None,
            "the function is gone"
        );
    }
}
