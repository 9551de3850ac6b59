//! Shell scripts: `source` and `.`, and the scripts they run.
//!
//! Variables are not evaluated. A path that begins with one is looked for by the part after it.
//!
//! Invariant: a path is tried relative to the script first.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::paths::{ancestors, join, parent};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let mut imports = Vec::new();
    for (at, text) in statement.lines().enumerate() {
        let text = text.trim_start();
        let rest = text.strip_prefix("source ").or_else(|| text.strip_prefix(". "));
        let written = rest.map(|rest| read_word(rest.trim_start())).unwrap_or_default();
        if !written.is_empty() {
            imports.push(Import {
                written,
                line: line.saturating_add(at),
            });
        }
    }
    imports
}

/// Reads the first word, without its quotes. Spaces inside quotes and `$(…)` belong to it.
fn read_word(text: &str) -> String {
    let mut word = String::new();
    let mut quote = None;
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c {
            '"' | '\'' if depth == 0 => quote = if quote == Some(c) { None } else { quote.or(Some(c)) },
            c if depth == 0
                && quote.is_none()
                && (c.is_whitespace() || matches!(c, ';' | '&' | '|' | '#')) =>
            {
                break;
            }
            c => word.push(c),
        }
    }
    word
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let directory = parent(from);
    let found = match after_variables(written) {
        None => project.first_file(
            [directory, ""]
                .into_iter()
                .filter_map(|directory| join(directory, written)),
        ),
        // `$here/lib/x.sh`: the variable is some directory, usually near the file.
        Some(rest) => {
            let rest = rest.strip_prefix('/').filter(|rest| !rest.is_empty());
            rest.and_then(|rest| {
                project.first_file(ancestors(directory).filter_map(|above| join(above, rest)))
            })
        }
    };
    found.into_iter().collect()
}

/// The text after the last `$name`, `${…}` or `$(…)`; `None` without a variable.
fn after_variables(text: &str) -> Option<&str> {
    let mut rest = None;
    let mut depth = 0_usize;
    let mut is_name = false;
    for (at, c) in text.char_indices() {
        match c {
            '$' if depth == 0 => is_name = true,
            '(' | '{' => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            c if is_name && depth == 0 && (c.is_alphanumeric() || matches!(c, '_' | '@')) => {}
            _ if depth == 0 => {
                is_name = false;
                continue;
            }
            _ => {}
        }
        if is_name {
            rest = Some(&text[at + c.len_utf8()..]);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("source ./x.sh", vec!["./x.sh"]),
            (". \"$here\"/lib/x.sh || exit 1", vec!["$here/lib/x.sh"]),
            (
                "source \"$(dirname \"$0\")/a b.sh\" # why",
                vec!["$(dirname \"$0\")/a b.sh"],
            ),
            ("source", vec![]),
            ("./run.sh", vec![]),
        ] {
            assert_eq!(written("shellscript", statement), expected, "{statement}");
        }
    }

    #[test]
    fn scripts_are_found_beside_the_script_or_from_the_project_root() {
        let sample = Sample::of(&["bin/x.sh", "lib/y.sh"]);
        let check = |statement, expected| sample.check("shellscript", "bin/run", statement, expected);
        check("source ./x.sh", "bin/x.sh");
        check("source x.sh", "bin/x.sh");
        check(". lib/y.sh", "lib/y.sh");
        check(". ../lib/y.sh", "lib/y.sh");
        check("source \"$(dirname \"$0\")/x.sh\"", "bin/x.sh");
        check("source \"${BASH_SOURCE%/*}/x.sh\"", "bin/x.sh");
        check(
            ". \"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)/x.sh\"",
            "bin/x.sh",
        );
        check(". \"$ROOT/lib/y.sh\"", "lib/y.sh");
        check(". \"$FILE\"", "external");
        check(". /etc/profile", "external");
        check(". ../../x.sh", "external");
    }
}
