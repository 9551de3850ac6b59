//! Names as callers write them: `Row::replace`, `pkg/Row.replace()`, `def replace`, `a|b|c`, `Row*`.
//!
//! Agents write names as they would write a regular expression for grep, so keywords, anchors and escapes
//! around a name are dropped. Patterns inside a name are not read.

use docent_core::path::RepoPath;

/// One name of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NameQuery {
    /// As the caller wrote it.
    pub(super) written: String,
    pub(super) name: String,
    /// Names in front of it, the outermost first: scopes, packages, directories.
    pub(super) qualifiers: Vec<String>,
    /// The caller asks for names that begin with it.
    pub(super) is_prefix: bool,
}

/// How the names of a question and of a definition are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameComparison {
    Exact,
    AnyCase,
    OneEdit,
}

/// Names of a question after the first so many are ignored.
const MAX_NAMES: usize = 50;

/// Words in front of a name that say what kind of definition it has.
const KEYWORDS: [&str; 45] = [
    "abstract",
    "async",
    "class",
    "const",
    "constexpr",
    "data",
    "declare",
    "def",
    "default",
    "defmodule",
    "defp",
    "enum",
    "export",
    "extension",
    "extern",
    "final",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "inline",
    "interface",
    "internal",
    "let",
    "macro",
    "mod",
    "module",
    "namespace",
    "object",
    "override",
    "package",
    "private",
    "protected",
    "protocol",
    "pub",
    "public",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "typedef",
    "union",
    "var",
];

/// Qualifiers that mean the place where they are written.
const RELATIVE_QUALIFIERS: [&str; 7] = ["crate", "self", "Self", "super", "this", "prototype", "cls"];

/// The names of a question, in its order, each once.
pub(super) fn parse_names(text: &str) -> Vec<NameQuery> {
    let text = text.replace("\\|", "|");
    // `operator||` is a name.
    let parts: Vec<&str> = if text.contains("operator|") {
        vec![text.as_str()]
    } else {
        text.split('|').collect()
    };
    let mut names: Vec<NameQuery> = Vec::new();
    for name in parts.into_iter().filter_map(NameQuery::parse) {
        if !names
            .iter()
            .any(|other| other.name == name.name && other.qualifiers == name.qualifiers)
        {
            names.push(name);
        }
    }
    names.truncate(MAX_NAMES);
    names
}

impl NameQuery {
    /// `None` for a text without a name.
    fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        let (text, mut is_prefix) = strip_pattern(written);
        let (receiver, text) = strip_declaration(&text);
        let mut text = text.trim_matches(|c: char| c.is_whitespace() || "'\"`*&@:;,{}=".contains(c));
        // A wildcard behind a call or a declaration was not at the end before.
        if let Some(before) = text.strip_suffix(".*").or_else(|| text.strip_suffix('*')) {
            (text, is_prefix) = (before, true);
        }
        let mut components = split_components(text);
        let name = components.pop()?;
        components.retain(|part| !RELATIVE_QUALIFIERS.contains(&part.as_str()));
        let mut qualifiers: Vec<String> = receiver.into_iter().collect();
        qualifiers.extend(components);
        Some(Self {
            written: written.to_owned(),
            name,
            qualifiers,
            is_prefix,
        })
    }

    /// Whether the definition with this scope, in this file, is one that the qualifiers mean.
    pub(super) fn matches_scope(
        &self,
        scope: &[&str],
        place: &Place<'_>,
        comparison: NameComparison,
    ) -> bool {
        matches_qualifiers(&self.qualifiers, scope, place, comparison)
    }

    /// Whether the definition is one that the qualifiers may mean, if no other is: only the innermost of them
    /// is a scope (`zoo::Row::replace` in a file that does not say `zoo`), or they leave scopes out
    /// (`row.rs::replace`).
    pub(super) fn may_match_scope(&self, scope: &[&str], place: &Place<'_>) -> bool {
        let inner = self.qualifiers.len().saturating_sub(1);
        matches_qualifiers(&self.qualifiers[inner..], scope, place, NameComparison::Exact)
            || place.ends_with(&self.qualifiers, NameComparison::Exact)
    }
}

/// The place of a definition outside of its file's text.
pub(super) struct Place<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) package: &'a str,
}

impl Place<'_> {
    /// Whether the directories, the file or the package end with these names.
    fn ends_with(&self, names: &[String], comparison: NameComparison) -> bool {
        let mut components: Vec<&str> = self.path.components().collect();
        let file = components.pop().unwrap_or_default();
        let is_end = |of: &[&str]| {
            names.len() <= of.len() && {
                let end = &of[of.len() - names.len()..];
                names.iter().zip(end).all(|(a, b)| comparison.is_same(a, b))
            }
        };
        if is_end(&components) {
            return true;
        }
        // `row` or `row.rs` for the file `row.rs`.
        let (stem, extension) = file.split_once('.').unwrap_or((file, ""));
        components.push(stem);
        if is_end(&components) {
            return true;
        }
        components.push(extension);
        let package: Vec<&str> = self
            .package
            .split(['.', '\\', '/'])
            .filter(|part| !part.is_empty())
            .collect();
        is_end(&components) || is_end(&package)
    }
}

fn matches_qualifiers(
    qualifiers: &[String],
    scope: &[&str],
    place: &Place<'_>,
    comparison: NameComparison,
) -> bool {
    let inside = qualifiers.len().min(scope.len());
    let (outer, inner) = qualifiers.split_at(qualifiers.len() - inside);
    let end = &scope[scope.len() - inside..];
    inner.iter().zip(end).all(|(a, b)| comparison.is_same(a, b))
        && (outer.is_empty() || place.ends_with(outer, comparison))
}

impl NameComparison {
    pub(super) fn is_same(self, asked: &str, defined: &str) -> bool {
        match self {
            Self::Exact => asked == defined,
            Self::AnyCase => asked.eq_ignore_ascii_case(defined),
            Self::OneEdit => is_within_one_edit(asked, defined),
        }
    }
}

/// Whether two names differ by at most one letter more, less or other, or by two neighbours swapped.
pub(super) fn is_within_one_edit(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    match (&a[..a.len() - end], &b[..b.len() - end]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Drops the anchors and escapes of a regular expression. True if it ends with a wildcard.
fn strip_pattern(written: &str) -> (String, bool) {
    let mut text = written.to_owned();
    for (pattern, plain) in [
        ("(?i)", ""),
        ("(?:", ""),
        ("\\s+", " "),
        ("\\s*", " "),
        ("\\.", "."),
        ("\\(", "("),
        ("\\)", ")"),
        ("[[:space:]]+", " "),
    ] {
        text = text.replace(pattern, plain);
    }
    let mut text = text.trim().trim_start_matches('^').trim_end_matches('$').trim();
    // Only at the ends: `App\base` is a name of PHP.
    text = text.trim_start_matches("\\b").trim_end_matches("\\b").trim();
    if !text.contains(')') {
        text = text.trim_start_matches('(');
    }
    if !text.contains('(') {
        text = text.trim_end_matches(')');
    }
    for wildcard in ["\\w*", "\\w+", ".*", ".+", "*"] {
        if let Some(before) = text.strip_suffix(wildcard) {
            return (before.to_owned(), !before.is_empty());
        }
    }
    (text.to_owned(), false)
}

/// Drops keywords, parameters and type parameters around a name. Also returns the receiver of a Go method.
fn strip_declaration(text: &str) -> (Option<String>, String) {
    let mut text = text.trim();
    let mut has_keyword = false;
    while let Some((first, rest)) = text.split_once(char::is_whitespace)
        && (KEYWORDS.contains(&first) || first.starts_with("pub("))
    {
        (text, has_keyword) = (rest.trim_start(), true);
    }
    if text.starts_with("operator") {
        return (None, text.to_owned());
    }
    let mut receiver = None;
    if let Some((inside, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')'))
        && !rest.trim().is_empty()
    {
        let kind = inside.split_whitespace().last().unwrap_or_default();
        let kind = kind.trim_start_matches(['*', '&']);
        receiver = Some(kind.split(['[', '<']).next().unwrap_or_default().to_owned());
        text = rest.trim();
    }
    if let Some((implemented, kind)) = text.split_once(" for ")
        && has_keyword
        && !implemented.is_empty()
    {
        text = kind.trim();
    }
    let text = strip_type_parameters(&text.replace("->", "."));
    let text = match text.split_once('(') {
        // `int replace(int at)` names `replace`.
        Some((before, _)) if !before.trim().is_empty() => before.split_whitespace().last(),
        _ if has_keyword => text.split_whitespace().next(),
        _ => Some(text.as_str()),
    };
    (
        receiver.filter(|kind| !kind.is_empty()),
        text.unwrap_or_default().to_owned(),
    )
}

/// A text without `<…>`. Unpaired marks stay.
fn strip_type_parameters(text: &str) -> String {
    let is_paired = text.matches('<').count() == text.matches('>').count();
    if !is_paired {
        return text.to_owned();
    }
    let mut depth = 0_usize;
    let mut stripped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => stripped.push(c),
            _ => {}
        }
    }
    stripped
}

/// A name and those in front of it.
fn split_components(text: &str) -> Vec<String> {
    if text.starts_with("operator") {
        return vec![text.to_owned()];
    }
    let parts = text.split(['.', '#', '/', '\\', ':']).map(str::trim);
    let mut parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
    // The mark of a private member of JavaScript is part of its name: `#replace`, `Row.#replace`.
    let last = text.rsplit(['.', '/', '\\', ':']).next().unwrap_or_default();
    if last.starts_with('#')
        && let Some(name) = parts.last_mut()
    {
        name.insert(0, '#');
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown = |name: NameQuery| {
            let mut parts = name.qualifiers;
            parts.push(name.name + if name.is_prefix { "*" } else { "" });
            parts.join(" > ")
        };
        let names: Vec<String> = parse_names(text).into_iter().map(shown).collect();
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn a_name_is_read_with_its_scope() {
        check("replace", &["replace"]);
        check("#replace", &["#replace"]);
        check("Row.#replace", &["Row > #replace"]);
        for text in [
            "Row::replace",
            "Row.replace",
            "Row#replace",
            "Row->replace",
            "Row::replace()",
            "Row/replace",
        ] {
            check(text, &["Row > replace"]);
        }
        check("pkg/Row.replace", &["pkg > Row > replace"]);
        check("App\\Models\\Row::replace", &["App > Models > Row > replace"]);
        check("App\\base\\services", &["App > base > services"]);
        check("crate::store::Row::replace", &["store > Row > replace"]);
        check("self.replace", &["replace"]);
        check("Row.prototype.replace", &["Row > replace"]);
        check("Row<T>::replace", &["Row > replace"]);
        check("HashMap<String, Vec<u8>>::get", &["HashMap > get"]);
        check("src/row.rs::replace", &["src > row > rs > replace"]);
        check("self", &["self"]);
        check("operator()", &["operator()"]);
        check("operator bool", &["operator bool"]);
        check("operator||", &["operator||"]);
    }

    #[test]
    fn several_names_are_joined_by_a_bar() {
        check("a|b|c", &["a", "b", "c"]);
        check("(foo|Row.bar)", &["foo", "Row > bar"]);
        check("foo\\|bar", &["foo", "bar"]);
        check("a | a |", &["a"]);
        check("", &[]);
        check("|||", &[]);
    }

    #[test]
    fn keywords_and_parameters_are_dropped() {
        check("def replace", &["replace"]);
        check("def\\s+replace\\b", &["replace"]);
        check("^class Row(Base):", &["Row"]);
        check("class Row extends Base {", &["Row"]);
        check("pub(crate) async fn replace<T>(row: T) -> u32", &["replace"]);
        check("func (r *Row) Replace(", &["Row > Replace"]);
        check("func (Row[T]) Replace", &["Row > Replace"]);
        check("impl Display for Row", &["Row"]);
        check("public static void main(String[] args)", &["main"]);
        check("export const rows =", &["rows"]);
        check("function render\\(", &["render"]);
        check("class", &["class"]);
        check("def foo|class Bar", &["foo", "Bar"]);
    }

    #[test]
    fn a_wildcard_at_the_end_asks_for_a_prefix() {
        check("repl*", &["repl*"]);
        check("repl.*", &["repl*"]);
        check("Row::repl\\w+", &["Row > repl*"]);
        check("def test_.*", &["test_*"]);
        check("Row.*", &["Row*"]);
        check("*", &[]);
    }

    #[test]
    fn scopes_match_from_the_inside() {
        let path = RepoPath::parse("crates/core/src/store/row.rs").unwrap();
        let place = Place {
            path: &path,
            package: "zoo.birds",
        };
        let check = |asked: &str, scope: &[&str], expected: bool| {
            let name = parse_names(asked).remove(0);
            assert_eq!(
                name.matches_scope(scope, &place, NameComparison::Exact),
                expected,
                "{asked} in {scope:?}"
            );
        };
        check("replace", &["ui", "Row"], true);
        check("Row.replace", &["ui", "Row"], true);
        check("ui.Row.replace", &["ui", "Row"], true);
        check("ui.replace", &["ui", "Row"], false);
        check("Cell.replace", &["Row"], false);
        check("store::Row::replace", &["Row"], true);
        check("store/row.rs/replace", &[], true);
        check("store::replace", &[], true);
        check("row::replace", &[], true);
        check("core::replace", &[], false);
        check("birds.replace", &[], true);
        check("zoo.birds.Row.replace", &["Row"], true);
        check("zoo.Row.replace", &["Row"], false);
        for asked in ["zoo.Row.replace", "store/row.rs::replace"] {
            assert!(
                parse_names(asked).remove(0).may_match_scope(&["Row"], &place),
                "{asked}"
            );
        }
        assert!(
            !parse_names("Row.Cell.replace")
                .remove(0)
                .may_match_scope(&["Row"], &place)
        );
        let other_case = parse_names("row.replace").remove(0);
        assert!(other_case.matches_scope(&["Row"], &place, NameComparison::AnyCase));
        let mistyped = parse_names("Rwo.replace").remove(0);
        assert!(mistyped.matches_scope(&["Row"], &place, NameComparison::OneEdit));
    }

    #[test]
    fn one_edit_is_one_letter_or_two_swapped() {
        for (a, b, expected) in [
            ("row", "row", true),
            ("row", "rows", true),
            ("row", "rw", true),
            ("row", "raw", true),
            ("row", "orw", true),
            ("row", "wor", false),
            ("row", "rooms", false),
            ("", "r", true),
            ("", "ro", false),
        ] {
            assert_eq!(is_within_one_edit(a, b), expected, "{a} {b}");
        }
    }
}
