//! Files, modules and symbols that a line of a report names.
//!
//! A name is a symbol if it is in backquotes, is called, or is written like code. A dotted name is a symbol
//! and a module at once, because only the project's files tell where the module ends.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::{LineKind, ReportLine};
use super::{NamedPlace, NamedSymbol, PlaceSource};
use crate::language::Language;
use crate::text::tokens::fold_name;

/// Longer names are data.
const MAX_NAME_BYTES: usize = 64;

/// Symbols of one report. More of them say nothing.
const MAX_SYMBOLS: usize = 24;

/// How sure a mention is to be about the symbol, by where it stands.
fn weight_of(kind: LineKind, is_quoted: bool) -> f32 {
    match kind {
        LineKind::Title => 1.0,
        LineKind::Prose if is_quoted => 0.9,
        LineKind::Prose => 0.7,
        LineKind::Code => 0.3,
        LineKind::Output => 0.2,
    }
}

/// Paths of files and dotted modules, in the order in which they are named.
pub(super) fn read_places(lines: &[ReportLine<'_>]) -> Vec<NamedPlace> {
    static PATH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|[\s`'\x22(\[<=,])((?:[\w.@+~-]*[/\\])*[\w.@+-]*\w\.[A-Za-z]\w{0,5})(?:[\s`'\x22)\]>,:;#]|\.?$)")
            .expect("the pattern is a literal")
    });
    let mut places = Vec::new();
    let mut add = |path: &str, source: PlaceSource| {
        let place = NamedPlace {
            path: path.replace('\\', "/").trim_start_matches("./").to_owned(),
            line: None,
            function: None,
            source,
        };
        if !places.contains(&place) {
            places.push(place);
        }
    };
    for line in lines {
        for found in PATH.captures_iter(line.text) {
            if found[1].contains(['/', '\\']) || has_file_extension(&found[1]) {
                add(&found[1], PlaceSource::Path);
            }
        }
        for found in DOTTED.find_iter(line.text) {
            let parts: Vec<&str> = found
                .as_str()
                .split(['.', ':'])
                .filter(|part| !part.is_empty())
                .collect();
            if parts.len() > 1
                && !has_file_extension(found.as_str())
                && !matches!(parts[0], "self" | "this" | "cls")
            {
                add(&parts.join("/"), PlaceSource::Module);
            }
        }
    }
    places
}

/// Whether a name without a directory is one of a file, not of a module.
fn has_file_extension(name: &str) -> bool {
    let extension = name.rsplit('.').next().unwrap_or_default();
    Language::is_source_code_extension(extension)
        || [
            "cfg", "css", "html", "ini", "json", "md", "rst", "toml", "txt", "xml", "yaml", "yml",
        ]
        .contains(&extension)
}

/// Names joined by dots or `::`.
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+").expect("the pattern is a literal")
});

/// The symbols that the lines name, those with the most weight first.
pub(super) fn read_symbols(lines: &[ReportLine<'_>]) -> Vec<NamedSymbol> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:[A-Za-z_]\w*(?:\.|::|#|->))*[A-Za-z_]\w*[!?]?(?:\(\)?)?")
            .expect("the pattern is a literal")
    });
    let mut symbols: Vec<NamedSymbol> = Vec::new();
    for line in lines {
        let mut is_quoted = false;
        let mut read = 0;
        for found in NAME.find_iter(line.text) {
            // An odd number of backquotes before it opens a quotation.
            let quotes = line.text[read..found.start()].matches('`').count();
            is_quoted ^= quotes % 2 == 1;
            read = found.start();
            let is_in_code = matches!(line.kind, LineKind::Code | LineKind::Output);
            if let Some((scope, name)) = symbol_of(found.as_str(), is_quoted, is_in_code) {
                add_symbol(&mut symbols, scope, name, weight_of(line.kind, is_quoted));
            }
        }
    }
    symbols.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    symbols.truncate(MAX_SYMBOLS);
    symbols
}

/// Every further mention makes the weight a little more.
fn add_symbol(symbols: &mut Vec<NamedSymbol>, scope: Option<&str>, name: &str, weight: f32) {
    const REPEATED: f32 = 0.1;
    const MAX_WEIGHT: f32 = 1.2;
    match symbols.iter_mut().find(|one| one.name == name) {
        Some(known) => {
            known.weight = (known.weight.max(weight) + REPEATED * weight).min(MAX_WEIGHT);
            if known.scope.is_none() {
                known.scope = scope.map(fold_name);
            }
        }
        None => symbols.push(NamedSymbol {
            name: name.to_owned(),
            folded: fold_name(name),
            scope: scope.map(fold_name),
            weight,
        }),
    }
}

/// The scope and the name, if the text names a symbol.
fn symbol_of(text: &str, is_quoted: bool, is_in_code: bool) -> Option<(Option<&str>, &str)> {
    let is_called = text.ends_with('(') || text.ends_with(')');
    let text = text.trim_end_matches(['(', ')', '!', '?']);
    let mut parts = text
        .rsplit(['.', ':', '#', '>', '-'])
        .filter(|part| !part.is_empty());
    let (name, scope) = (parts.next()?, parts.next());
    let scope = scope.filter(|scope| !matches!(*scope, "self" | "this" | "cls"));
    let starts_upper = name.starts_with(|c: char| c.is_ascii_uppercase());
    let min = if (is_called && starts_upper) || (is_quoted && !is_in_code) {
        1
    } else {
        3
    };
    let is_name = (min..=MAX_NAME_BYTES).contains(&name.len());
    let looks_named =
        is_called || is_written_like_name(name) || (is_quoted && !is_in_code) || scope.is_some();
    (is_name && looks_named && !is_keyword(name)).then_some((scope, name))
}

/// Inner capitals or underscores: `readFile`, `read_file`, `HTTPServer`.
fn is_written_like_name(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let has_inner_capital = inner
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    inner.contains('_') || has_inner_capital || name.starts_with("__")
}

/// Words of languages that look like calls: `if (`, `print(`.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "for"
            | "while"
            | "switch"
            | "catch"
            | "return"
            | "print"
            | "println"
            | "printf"
            | "len"
            | "str"
            | "int"
            | "list"
            | "dict"
            | "super"
            | "self"
            | "this"
            | "None"
            | "True"
            | "False"
            | "null"
            | "true"
            | "false"
            | "undefined"
            | "assert"
            | "import"
            | "from"
            | "class"
            | "def"
            | "function"
            | "func"
            | "with"
            | "and"
            | "not"
            | "require"
            | "console"
            | "float"
            | "bool"
            | "string"
            | "object"
            | "range"
            | "type"
            | "set"
            | "tuple"
            | "lambda"
            | "async"
            | "await"
            | "const"
            | "let"
            | "var"
            | "new"
            | "else"
            | "elif"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LineKind, text: &str) -> ReportLine<'_> {
        ReportLine { kind, text }
    }

    #[test]
    fn names_are_known_by_how_they_are_written() {
        let check = |text: &str, expected: &[&str]| {
            let symbols = read_symbols(&[line(LineKind::Prose, text)]);
            let mut shown: Vec<String> = symbols
                .iter()
                .map(|one| match &one.scope {
                    Some(scope) => format!("{scope}/{}", one.name),
                    None => one.name.clone(),
                })
                .collect();
            shown.sort();
            assert_eq!(shown, expected, "{text}");
        };
        check("the Walrus sinks when `floating` is called", &["floating"]);
        check(
            "Walrus.sink() and read_depth, but not Sea",
            &["read_depth", "walrus/sink"],
        );
        check(
            "calls self.dive_deep(x) in `sea::Animal`",
            &["dive_deep", "sea/Animal"],
        );
    }

    #[test]
    fn files_and_modules_are_places() {
        let check = |text: &str, expected: &[&str]| {
            let places = read_places(&[line(LineKind::Prose, text)]);
            let shown: Vec<&str> = places.iter().map(|place| place.path.as_str()).collect();
            assert_eq!(shown, expected, "{text}");
        };
        check(
            "In `sea/animals/walrus.py` and walrus.js.",
            &["sea/animals/walrus.py", "walrus.js"],
        );
        check("sea.animals.Walrus fails", &["sea/animals/Walrus"]);
        check("self.depth is wrong", &[]);
    }
}
