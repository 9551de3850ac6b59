//! What is shown over a symbol: its signature, its place, its last commit and its documentation.
//!
//! Words of the project stay inside a fence: as markdown, a comment of a hostile project could load pictures
//! from its author's server or look like words of docent.

use docent_core::text::reveal::reveal_part;
use docent_engine::git::Commit;
use docent_engine::symbols::Grade;
use docent_engine::symbols::position::HoveredSymbol;

use super::{count_of, place};
use crate::markdown::{cut, fence, inline, inline_to};

/// How the client shows the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoverForm {
    Markdown,
    Plain,
}

/// Characters of one documentation comment. Longer ones are read in the file.
const MAX_DOC_CHARS: usize = 2_000;

/// Characters of the subject of a commit.
const MAX_SUBJECT_CHARS: usize = 120;

/// Characters of one signature.
const MAX_SIGNATURE_CHARS: usize = 600;

/// The definitions of a symbol, of which there are `total`, and the commit that changed the only one last.
pub(crate) fn show_hover(
    symbols: &[HoveredSymbol],
    total: usize,
    edit: Option<&Commit>,
    form: HoverForm,
) -> String {
    let mut parts: Vec<String> = symbols.iter().map(|one| show_one(one, edit, form)).collect();
    if total > symbols.len() {
        parts.push(count_of(
            total - symbols.len(),
            "more definition",
            "more definitions",
        ));
    }
    parts.join(match form {
        HoverForm::Markdown => "\n\n---\n\n",
        HoverForm::Plain => "\n\n",
    })
}

fn show_one(one: &HoveredSymbol, edit: Option<&Commit>, form: HoverForm) -> String {
    let symbol = &one.symbol;
    let shown = if symbol.signature.is_empty() {
        &symbol.name
    } else {
        &symbol.signature
    };
    let signature = cut(&reveal_part(shown), MAX_SIGNATURE_CHARS, "…");
    let (first, last) = one.lines;
    let mut at = place(&inline(symbol.path.as_str()), first as usize, last as usize);
    if !symbol.scope.is_empty() {
        at += &format!(" in {}", inline(&symbol.scope));
    }
    if symbol.grade == Grade::ByName {
        at += " (found by its name)";
    }
    if let Some(edit) = edit {
        let (author, subject) = (inline(&edit.author), inline_to(&edit.subject, MAX_SUBJECT_CHARS));
        at += &format!("\n{} {} {author}: {subject}", edit.short, edit.date);
    }
    let doc = cut(&reveal_part(&plain_doc(&one.doc)), MAX_DOC_CHARS, "\n…");
    if !doc.is_empty() {
        at += &format!("\n\n{doc}");
    }
    match form {
        HoverForm::Markdown => {
            let (code, text) = (fence(&signature), fence(&at));
            format!(
                "{code}{}\n{signature}\n{code}\n{text}text\n{at}\n{text}",
                one.language
            )
        }
        HoverForm::Plain => format!("{signature}\n{at}"),
    }
}

/// A documentation comment without the marks of its lines.
fn plain_doc(doc: &str) -> String {
    const OPENERS: [&str; 12] = [
        "///", "//!", "/**", "/*!", "/*", "//", "\"\"\"", "'''", "r\"\"\"", "---", "--", "#",
    ];
    let mut lines: Vec<&str> = Vec::new();
    for line in doc.lines() {
        let mut line = line.trim();
        line = line.strip_suffix("*/").unwrap_or(line);
        for quotes in ["\"\"\"", "'''"] {
            line = line.strip_suffix(quotes).unwrap_or(line);
        }
        let opener = OPENERS.iter().find(|opener| line.starts_with(**opener));
        line = match opener {
            Some(opener) => &line[opener.len()..],
            None => line.strip_prefix('*').unwrap_or(line),
        };
        lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
    }
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(doc: &str, expected: &str) {
        assert_eq!(plain_doc(doc), expected);
    }

    #[test]
    fn documentation_loses_the_marks_of_its_lines() {
        check(
            "/// Lends.\n///\n/// # Panics\n///     code()",
            "Lends.\n\n# Panics\n    code()",
        );
        check(
            "/**\n * Lends a book.\n * @param book the book\n */",
            "Lends a book.\n@param book the book",
        );
        check(
            "\"\"\"Lends a book.\n\n    More.\n    \"\"\"",
            "Lends a book.\n\nMore.",
        );
        check("# Lends.\n# Slowly.", "Lends.\nSlowly.");
        check("// Lend lends.", "Lend lends.");
        check("--- Lends.\n-- Slowly.", "Lends.\nSlowly.");
        check("", "");
    }
}
