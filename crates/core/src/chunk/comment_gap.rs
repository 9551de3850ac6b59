//! Whether a comment belongs to the definition below it although a blank line is between them.
//!
//! It does if all of this holds:
//!
//! - One line is blank, not more.
//! - It is not the first thing of the file: that comment is about the file.
//! - Nothing is directly above it at its own indentation: it would end that.
//! - It is no licence, and has no ruler such as `-----`: that is the title of a section.
//! - It is a documentation comment, or more than four words of prose. `// Helpers` is a title too.
//!
//! The rule reads lines and comment marks alone, so it is the same for all languages.

use super::container_headers::is_licence;

/// A plain comment with fewer words is a title.
const MIN_PROSE_WORDS: usize = 5;

/// Characters that are repeated to draw a line.
const RULERS: [&str; 7] = ["----", "====", "****", "####", "~~~~", "////", "____"];

/// True if the comment at these bytes is about the definition behind the blank line.
pub(super) fn belongs_across_gap(text: &str, (start, end): (usize, usize)) -> bool {
    let comment = &text[start..end];
    is_prose(comment) && !is_licence(comment) && stands_apart(&text[..start]) && !is_at_top(&text[..start])
}

fn is_prose(comment: &str) -> bool {
    if RULERS.iter().any(|ruler| comment.contains(ruler)) {
        return false;
    }
    let is_documentation = ["/**", "///", "-- |", "## "]
        .iter()
        .any(|mark| comment.starts_with(mark));
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
    let words = comment.split_whitespace().filter(is_word).count();
    // `// call(a);` was code.
    let is_code = comment.ends_with([';', '{', '}', ',', '(']);
    is_documentation || (words >= MIN_PROSE_WORDS && !is_code)
}

/// True if the line above is blank, or indented less than the comment: it opens what is around both.
fn stands_apart(before: &str) -> bool {
    let (above, indent) = before.rsplit_once('\n').unwrap_or(("", before));
    let line = above.rsplit_once('\n').map_or(above, |(_, line)| line);
    let indent_of_line = line.len() - line.trim_start().len();
    line.trim().is_empty() || indent_of_line < indent.len()
}

/// True if only marks for tools are above.
fn is_at_top(before: &str) -> bool {
    before.lines().map(str::trim).all(|line| {
        let is_mark = line.starts_with("#!") || line.starts_with("<?php") || line.starts_with("# -*-");
        is_mark || matches!(line.trim_end_matches(';'), "" | "'use strict'" | "\"use strict\"")
    })
}

#[cfg(test)]
mod tests {
    use crate::chunk::chunk;
    use crate::language::Language;

    /// The first line of the chunk called `f`.
    fn check(language: Language, text: &str, expected: usize) {
        let chunks = chunk(language, text).chunks;
        let found = chunks
            .iter()
            .find(|chunk| chunk.name == "f" || chunk.name == "res.f");
        assert_eq!(
            found.map(|chunk| *chunk.lines.start()),
            Some(expected),
            "{text}\n{chunks:?}"
        );
    }

    #[test]
    fn a_comment_above_one_blank_line_belongs_to_the_definition() {
        let above = "x = 1;\n\n/**\n * Sends it.\n */\n\n";
        for code in ["res.f = function f() {\n};\n", "export function f() {\n}\n"] {
            check(Language::JavaScript, &format!("{above}{code}"), 3);
        }
        check(
            Language::Rust,
            "use a;\n\n/// Lends.\n\n#[inline]\nfn f() {}\n",
            3,
        );
        check(
            Language::Python,
            "x = 1\n\n# Lends a copy to one member.\n\n@decorated\ndef f():\n    pass\n",
            3,
        );
    }

    #[test]
    fn a_comment_about_something_else_stays_apart() {
        check(
            Language::JavaScript,
            "/**\n * Loans.\n */\n\nfunction f() {}\n",
            5,
        );
        check(
            Language::JavaScript,
            "#!/usr/bin/env node\n'use strict';\n/** Loans. */\n\nfunction f() {}\n",
            5,
        );
        check(
            Language::JavaScript,
            "let x;\n\n// Helpers\n\nfunction f() {}\n",
            5,
        );
        check(
            Language::JavaScript,
            "let x;\n\n// call(a, b, c, d, e);\n\nfunction f() {}\n",
            5,
        );
        let ruled = "let x;\n\n// -------\n// How loans are kept in order\n// -------\n\nfunction f() {}\n";
        check(Language::JavaScript, ruled, 7);
        check(
            Language::JavaScript,
            "let x;\n\n/** Loans. */\n\n\nfunction f() {}\n",
            6,
        );
        let note = "x = 1\n# It is not two, as one may think.\n\ndef f():\n    pass\n";
        check(Language::Python, note, 4);
    }
}
