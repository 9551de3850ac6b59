//! Lines of a file that an editor can fold away: from the syntax tree, without a rule for any language.
//!
//! Every node that spans lines can be folded below its first line. Of several that begin on one line, the
//! longest is meant. A last line that only closes what was opened stays visible.
//!
//! Invariant: folds are in the order of their first lines, each begins on another line, and their number is
//! bounded.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use super::reader::to_u32;
use crate::chunk::{Rows, parse_syntax};
use crate::language::Language;

/// Lines to be folded: the first stays visible. They count from 0 and end with `\n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldableLines {
    pub first: u32,
    pub last: u32,
    pub kind: FoldKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    Code,
    Comment,
    Imports,
}

/// Folds of one file. More cannot be shown.
const MAX_FOLDS: usize = 10_000;

/// Words and brackets that close what is above them.
const CLOSERS: [&str; 7] = ["}", ")", "]", "end", "fi", "done", "esac"];

/// The lines of a text that can be folded away. `None` if it cannot be parsed.
pub fn find_folds(language: Language, text: &str) -> Option<Vec<FoldableLines>> {
    let syntax = parse_syntax(language, text)?;
    let rows = Rows::of(text);
    let mut folds: BTreeMap<usize, (usize, FoldKind)> = BTreeMap::new();
    let mut add = |first: usize, last: usize, kind: FoldKind| {
        if last > first && (folds.len() < MAX_FOLDS || folds.contains_key(&first)) {
            let longest = folds.entry(first).or_insert((last, kind));
            if last > longest.0 {
                *longest = (last, kind);
            }
        }
    };
    let (mut comments, mut imports) = (LineRun::default(), LineRun::default());
    visit(&syntax.tree, |node, depth| {
        let (first, last) = (node.start_position().row, last_row(node));
        if node.kind().contains("comment") {
            if let Some((first, last)) = comments.extend(first, last, 1) {
                add(first, last, FoldKind::Comment);
            }
        } else if depth == 1 && is_import(node) {
            // A blank line may part groups of imports.
            if let Some((first, last)) = imports.extend(first, last, 2) {
                add(first, last, FoldKind::Imports);
            }
        } else {
            add(first, last_folded_row(&rows, first, last), FoldKind::Code);
        }
    });
    if let Some((first, last)) = comments.take() {
        add(first, last, FoldKind::Comment);
    }
    if let Some((first, last)) = imports.take() {
        add(first, last, FoldKind::Imports);
    }
    let folds = folds.into_iter().map(|(first, (last, kind))| FoldableLines {
        first: to_u32(first),
        last: to_u32(last),
        kind,
    });
    Some(folds.collect())
}

/// Lines that follow one another and are of one kind.
#[derive(Default)]
struct LineRun {
    lines: Option<(usize, usize)>,
}

impl LineRun {
    /// Adds lines. Returns those before, if these begin more than `gap` lines below them.
    fn extend(&mut self, first: usize, last: usize, gap: usize) -> Option<(usize, usize)> {
        match &mut self.lines {
            Some((_, end)) if first <= *end + gap => {
                *end = last.max(*end);
                None
            }
            _ => self.lines.replace((first, last)),
        }
    }

    fn take(&mut self) -> Option<(usize, usize)> {
        self.lines.take()
    }
}

fn is_import(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("import") || matches!(kind, "use_declaration" | "preproc_include" | "using_directive")
}

/// Visits the named nodes that span lines, comments and imports, parents first, each with its depth below
/// the root. Nodes of one line have none inside that span lines.
fn visit(tree: &Tree, mut on_node: impl FnMut(Node<'_>, usize)) {
    let mut cursor = tree.walk();
    let mut depth = 0_usize;
    loop {
        let node = cursor.node();
        let spans_lines = node.end_position().row > node.start_position().row;
        let is_meant = spans_lines || node.kind().contains("comment") || is_import(node);
        if depth > 0 && node.is_named() && is_meant {
            on_node(node, depth);
        }
        if spans_lines && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row {
        end.row - 1
    } else {
        end.row
    }
}

/// The last row that is folded away.
fn last_folded_row(rows: &Rows<'_>, first: usize, last: usize) -> usize {
    let line = rows.lines(last + 1, last + 1).trim();
    let closes = |closer: &&str| {
        let is_word = closer.ends_with(char::is_alphabetic);
        let rest = line.strip_prefix(*closer);
        rest.is_some_and(|rest| !is_word || !rest.starts_with(char::is_alphanumeric))
    };
    if last > first && CLOSERS.iter().any(closes) {
        last - 1
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, expected: &[(u32, u32, FoldKind)]) {
        let folds = find_folds(language, text).unwrap();
        let found: Vec<_> = folds
            .iter()
            .map(|fold| (fold.first, fold.last, fold.kind))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn blocks_are_folded_to_the_line_that_closes_them() {
        let text = "fn a() {\n    if b {\n        c();\n    } else {\n        d();\n    }\n}\n";
        let code = FoldKind::Code;
        check(Language::Rust, text, &[(0, 5, code), (1, 4, code), (3, 4, code)]);
        check(
            Language::Python,
            "def a():\n    b()\n    c()\n",
            &[(0, 2, code), (1, 2, code)],
        );
        check(Language::Ruby, "def a\n  b\nend\n", &[(0, 1, code)]);
    }

    #[test]
    fn comments_and_imports_are_folded_together() {
        let text = "// One.\n// Two.\nuse a;\nuse b;\n\nuse c;\n\n/* Long\n   comment */\nfn a() {}\n";
        let expected = [
            (0, 1, FoldKind::Comment),
            (2, 5, FoldKind::Imports),
            (7, 8, FoldKind::Comment),
        ];
        check(Language::Rust, text, &expected);
    }

    #[test]
    fn nothing_is_folded_on_one_line() {
        check(Language::Rust, "fn a() { b() }\n", &[]);
        check(Language::Rust, "", &[]);
        assert_eq!(find_folds(Language::Markdown, "# A\n\nb\n"), None);
    }

    #[test]
    fn the_number_of_folds_is_bounded() {
        let text = "fn a() {\n    b();\n}\n".repeat(2 * MAX_FOLDS);
        assert_eq!(find_folds(Language::Rust, &text).unwrap().len(), MAX_FOLDS);
    }
}
