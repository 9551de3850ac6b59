//! PHP: `use`, `require` and `include`, and the files behind them by composer's PSR-4 tables or by path.
//!
//! PSR-0, class maps and the `files` of composer are left out. A computed path is followed if it begins at
//! `__DIR__`. After any other expression, its literal part is looked for.
//!
//! Invariant: class names have no `/` and no `.`, so a name with one of these is a path.

use serde_json::Value;

use crate::imports::cached_project::CachedProject;
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::paths::{ancestors, child_path, join, parent};
use crate::imports::{Import, MAX_IMPORTS_PER_STATEMENT};

static STYLE: LexicalStyle = LexicalStyle {
    line_comments: &["//", "#"],
    word_signs: &['\\', '$'],
    ..C_LIKE
};

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    for (at, token) in tokens.iter().enumerate() {
        let after = &tokens[at + 1..];
        match token.text {
            _ if token.kind != TokenKind::Word => {}
            "use" => return read_use(after),
            "require" | "require_once" | "include" | "include_once" => {
                return read_required_path(after).into_iter().collect();
            }
            _ => {}
        }
    }
    Vec::new()
}

/// Reads the names of a `use`, with its group expanded.
fn read_use(tokens: &[Token<'_>]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut start = "";
    let mut expects_name = true;
    for token in tokens {
        match token.text {
            ";" => break,
            "," | "{" => expects_name = true,
            "}" => start = "",
            "function" | "const" => {}
            "as" => expects_name = false,
            name if token.kind == TokenKind::Word && expects_name => {
                expects_name = false;
                if name.ends_with('\\') {
                    // The common start of a group.
                    start = name;
                } else {
                    let written = format!("{start}{name}").trim_start_matches('\\').to_owned();
                    imports.push(Import {
                        written,
                        line: token.line,
                    });
                }
                if imports.len() == MAX_IMPORTS_PER_STATEMENT {
                    break;
                }
            }
            _ => {}
        }
    }
    imports
}

/// Reads the path of a `require`. A path from the directory of the file gets a leading `./` or `../`.
fn read_required_path(tokens: &[Token<'_>]) -> Option<Import> {
    let end = tokens
        .iter()
        .position(|token| token.is_sign(";"))
        .unwrap_or(tokens.len());
    let tokens = &tokens[..end];
    let mut up = 0;
    let mut start = None;
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match (token.kind, token.text) {
            (TokenKind::Text, literal) => text.push_str(literal),
            (TokenKind::Word, "dirname") => up += 1,
            (TokenKind::Word, "__DIR__") => start = Some(0),
            // The first `dirname` only leads to the directory of the file.
            (TokenKind::Word, "__FILE__") => start = Some(1),
            (TokenKind::Word, levels) if at > 0 && tokens[at - 1].is_sign(",") => {
                up += levels
                    .parse::<usize>()
                    .map_or(0, |levels| levels.saturating_sub(1))
                    .min(32);
            }
            _ => {}
        }
    }
    let line = tokens.iter().find(|token| token.kind == TokenKind::Text)?.line;
    let written = match start {
        Some(first) => {
            let up = "../".repeat(usize::saturating_sub(up, first));
            format!("./{up}{}", text.trim_start_matches('/'))
        }
        None => text,
    };
    Some(Import { written, line })
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let found = if written.contains(['/', '.']) {
        find_file(project, from, written)
    } else {
        find_class(project, from, written)
    };
    found.into_iter().collect()
}

fn find_file(project: &CachedProject<'_>, from: &str, written: &str) -> Option<String> {
    let directory = parent(from);
    if written.starts_with("./") || written.starts_with("../") {
        return project.first_file(join(directory, written));
    }
    // PHP resolves such paths from the directory where the program starts. Try the directory of the file and
    // those above.
    let relative = written.trim_start_matches('/');
    project.first_file(ancestors(directory).filter_map(|above| join(above, relative)))
}

/// The file of a class by the PSR-4 tables of the nearest composer.json that has it.
fn find_class(project: &CachedProject<'_>, from: &str, name: &str) -> Option<String> {
    ancestors(parent(from)).find_map(|above| {
        let manifest = project.read_json(&child_path(above, "composer.json"));
        let manifest = manifest.as_ref().as_ref()?;
        let tables = ["autoload", "autoload-dev"].map(|key| manifest[key]["psr-4"].as_object());
        let entries = tables.into_iter().flatten().flatten();
        let mut fitting: Vec<(&str, &Value)> = entries
            .map(|(prefix, directories)| (prefix.as_str(), directories))
            .filter(|(prefix, _)| name.starts_with(prefix) && name.len() > prefix.len())
            .collect();
        fitting.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        fitting.into_iter().find_map(|(prefix, directories)| {
            let rest = format!(
                "{}.php",
                name[prefix.len()..].trim_start_matches('\\').replace('\\', "/")
            );
            let several = directories.as_array().into_iter().flatten();
            let mut directories = std::iter::once(directories)
                .chain(several)
                .filter_map(Value::as_str);
            directories.find_map(|directory| project.first_file(join(&join(above, directory)?, &rest)))
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            (r"use App\Store\Table;", vec![r"App\Store\Table"]),
            (
                r"use App\Store\{Table, Row as Line, Deep\Cell};",
                vec![r"App\Store\Table", r"App\Store\Row", r"App\Store\Deep\Cell"],
            ),
            (r"use \App\A, App\B as C;", vec![r"App\A", r"App\B"]),
            (r"use function App\max;", vec![r"App\max"]),
            (
                r"use App\{function max, const MIN};",
                vec![r"App\max", r"App\MIN"],
            ),
            ("require 'x.php';", vec!["x.php"]),
            ("require_once(__DIR__ . '/../x.php');", vec!["./../x.php"]),
            ("include dirname(__FILE__) . '/x.php';", vec!["./x.php"]),
            ("include dirname(__DIR__) . '/x.php';", vec!["./../x.php"]),
            ("include dirname(__DIR__, 2) . '/x.php';", vec!["./../../x.php"]),
            ("require ABSPATH . 'lib/x.php';", vec!["lib/x.php"]),
            ("require $path;", vec![]),
            ("echo 'use x';", vec![]),
        ] {
            assert_eq!(written("php", statement), expected, "{statement}");
        }
    }

    #[test]
    fn classes_are_found_by_the_psr_4_tables_of_composer() {
        let sample = Sample::of(&[
            "src/Store/Table.php",
            "tests/TableTest.php",
            "special/Row.php",
            "more/Cell.php",
        ])
        .with(
            "composer.json",
            r#"{"autoload": {"psr-4": {"App\\": ["src/", "more"], "App\\Special\\": "special/"}},
                "autoload-dev": {"psr-4": {"App\\Tests\\": "tests"}}}"#,
        );
        let check = |statement, expected| sample.check("php", "src/Main.php", statement, expected);
        check(r"use App\Store\Table;", "src/Store/Table.php");
        check(r"use App\Tests\TableTest;", "tests/TableTest.php");
        check(r"use App\Special\Row;", "special/Row.php");
        check(r"use App\Cell;", "more/Cell.php");
        check(r"use App\Absent;", "external");
        check(r"use Application\Store\Table;", "external");
        check(r"use Exception;", "external");
    }

    #[test]
    fn the_nearest_composer_json_with_the_class_decides() {
        let sample = Sample::of(&["one/src/A.php", "src/B.php"])
            .with(
                "one/composer.json",
                r#"{"autoload": {"psr-4": {"One\\": "src"}}}"#,
            )
            .with(
                "composer.json",
                r#"{"autoload": {"psr-4": {"Top\\": "src", "Out\\": "../.."}}}"#,
            );
        sample.check("php", "one/src/X.php", r"use One\A;", "one/src/A.php");
        sample.check("php", "one/src/X.php", r"use Top\B;", "src/B.php");
        sample.check("php", "one/src/X.php", r"use Out\B;", "external");
    }

    #[test]
    fn paths_start_at_the_file_or_above() {
        let sample = Sample::of(&["lib/a.php", "lib/deep/b.php", "top.php"]);
        sample.check("php", "lib/deep/x.php", "require 'b.php';", "lib/deep/b.php");
        sample.check(
            "php",
            "lib/deep/x.php",
            "require __DIR__ . '/../a.php';",
            "lib/a.php",
        );
        sample.check("php", "lib/deep/x.php", "require ROOT . '/top.php';", "top.php");
        sample.check(
            "php",
            "lib/deep/x.php",
            "require __DIR__ . '/top.php';",
            "external",
        );
        sample.check(
            "php",
            "lib/deep/x.php",
            "require __DIR__ . '/../../../top.php';",
            "external",
        );
    }
}
