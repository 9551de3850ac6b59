//! Tests of the rule files.

use tree_sitter::{Language as SyntaxLanguage, Query};

use super::rule_patterns::{PatternChild, PatternPlace, read_patterns};
use super::rule_rows::ROWS;
use super::rules;
use crate::chunk::{has_grammar, syntax_of};
use crate::language::Language;

/// The grammars of a row that are compiled in.
fn grammars(languages: &[Language]) -> Vec<SyntaxLanguage> {
    languages
        .iter()
        .filter_map(|language| syntax_of(*language))
        .collect()
}

/// The queries that a grammar refuses. All are compiled at once, as long as none of them is refused, because
/// each compilation of a large grammar takes a tenth of a second.
fn refused_by(syntax: &SyntaxLanguage, mut queries: Vec<String>) -> Vec<String> {
    let mut refused = Vec::new();
    while let Err(error) = Query::new(syntax, &queries.join("\n")) {
        refused.push(queries.remove(error.row));
    }
    refused
}

fn show_kind(kind: &str) -> String {
    if kind.starts_with('"') {
        kind.to_owned()
    } else {
        format!("({kind})")
    }
}

/// A child of a pattern as a query of its own, for each kind that it may have. A child that stands behind
/// another gives a query for each of those, too.
fn child_queries(parent: &str, child: &PatternChild<'_>) -> Vec<String> {
    let kinds = match child.kinds.as_slice() {
        [] => vec!["_"],
        kinds => kinds.to_vec(),
    };
    let field = child.field.map_or(String::new(), |field| format!("{field}: "));
    let shown = kinds
        .into_iter()
        .map(|kind| format!("{field}{} @child", show_kind(kind)));
    let shown = shown.flat_map(|child_text| match &child.place {
        PatternPlace::Any => vec![child_text],
        PatternPlace::First => vec![format!(". {child_text}")],
        PatternPlace::Last => vec![format!("{child_text} .")],
        PatternPlace::Behind(before) => before
            .iter()
            .map(|before| format!("{} . {child_text}", show_kind(before)))
            .collect(),
    });
    shown.map(|child| format!("({parent} {child})")).collect()
}

#[test]
fn every_language_with_a_grammar_has_rules() {
    for language in Language::ALL
        .iter()
        .copied()
        .filter(|language| has_grammar(*language))
    {
        assert!(rules::load(language).is_some(), "{language:?} has no rule file");
    }
}

#[test]
fn every_rule_file_names_only_captures_that_have_a_meaning() {
    // `load` panics at a capture without one.
    let loaded = ROWS.iter().flat_map(|row| row.languages);
    let loaded = loaded
        .filter(|language| rules::load(**language).is_some())
        .count();
    assert!(loaded > 10);
}

#[test]
fn every_pattern_is_a_query_that_some_grammar_of_its_row_accepts() {
    let mut refused = Vec::new();
    for row in ROWS {
        let patterns = read_patterns(row.rules);
        let pairs = patterns
            .iter()
            .flat_map(|pattern| pattern.kinds.iter().map(move |kind| (pattern, kind)));
        let mut queries: Vec<String> = pairs
            .flat_map(|(pattern, kind)| {
                let children = pattern
                    .children
                    .iter()
                    .flat_map(|child| child_queries(kind, child));
                std::iter::once(format!("{} @node", show_kind(kind))).chain(children)
            })
            .collect();
        let grammars = grammars(row.languages);
        for syntax in &grammars {
            queries = refused_by(syntax, queries);
        }
        let file = row.languages[0];
        let shown = queries.into_iter().map(|query| format!("{file:?}: {query}"));
        refused.extend(shown.filter(|_| !grammars.is_empty()));
    }
    assert!(refused.is_empty(), "no grammar accepts:\n{}", refused.join("\n"));
}
