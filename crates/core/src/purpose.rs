//! What a part of a project is for, in the words of its authors: the first sentence of the doc comment at the
//! top of a file, or of a README.
//!
//! Licences and directives of tools are no purpose. Languages without a usual place for such a comment are
//! left out.
//!
//! Invariant: the sentence has one line and at most [`MAX_CHARS`] characters.

use crate::language::Language;
use crate::path::RepoPath;

/// Characters of a sentence. A longer one is cut.
pub const MAX_CHARS: usize = 160;

/// Names of the files that say what a directory is for, the best first. A README may have any extension.
const SPEAKING_FILES: [&str; 13] = [
    "lib.rs",
    "mod.rs",
    "main.rs",
    "__init__.py",
    "doc.go",
    "package-info.java",
    "index.ts",
    "index.tsx",
    "index.js",
    "index.mjs",
    "__main__.py",
    "main.go",
    "main.py",
];

/// How likely a file says what its directory is for, the lowest first. `None` for a file that does not.
pub fn order_of(path: &RepoPath) -> Option<usize> {
    let name = path.file_name();
    if let Some(at) = SPEAKING_FILES.iter().position(|speaking| *speaking == name) {
        return Some(at);
    }
    let mut above = path.components().rev().skip(1);
    let directory = above.next().unwrap_or_default();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if stem == directory
        && matches!(
            extension,
            "go" | "py" | "rs" | "ts" | "js" | "h" | "hpp" | "c" | "cpp" | "cc"
        )
    {
        return Some(SPEAKING_FILES.len());
    }
    // Below the comments of code, which are about the code; above nothing at all.
    let is_readme = name
        .get(..6)
        .is_some_and(|start| start.eq_ignore_ascii_case("readme"));
    is_readme.then_some(SPEAKING_FILES.len() + 1)
}

/// The first sentence of what a file says about itself. `None` if it says nothing.
pub fn purpose_of(path: &RepoPath, text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first_line = text.lines().next().unwrap_or_default();
    let prose = match Language::of_path(path, first_line) {
        Language::Rust => rust_comment(text)?,
        Language::Python => python_docstring(text)?,
        Language::Go => comment_before(text, |line| line.starts_with("package "))?,
        Language::Java | Language::Kotlin | Language::Scala => {
            comment_before(text, |line| line.starts_with("package "))?
        }
        Language::JavaScript
        | Language::TypeScript
        | Language::TypeScriptReact
        | Language::JavaScriptReact
        | Language::C
        | Language::Cpp => leading_block(text)?,
        Language::Markdown | Language::ReStructuredText | Language::AsciiDoc => {
            return introduction(text).and_then(|prose| first_sentence(&prose));
        }
        _ => return None,
    };
    let paragraph: Vec<&str> = prose
        .iter()
        .map(|line| line.trim())
        .skip_while(|line| line.is_empty() || line.starts_with('#'))
        .take_while(|line| !line.is_empty() && !line.starts_with('@'))
        .collect();
    first_sentence(&paragraph.join(" "))
}

/// The first paragraph of prose of a page, below its title, badges and pictures.
pub fn introduction(text: &str) -> Option<String> {
    let is_mark = |c: char| "#<[!|>=-*`.:\"~_+".contains(c);
    let text = skip_front_matter(text);
    let paragraphs = text.split("\n\n").map(|block| {
        let lines: Vec<&str> = block
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        // A heading may be underlined instead of marked.
        match lines.as_slice() {
            [_, line, rest @ ..] if line.chars().all(|c| "=-~^".contains(c)) => rest.join(" "),
            [title, rest @ ..] if title.starts_with("# ") => rest.join(" "),
            lines => lines.join(" "),
        }
    });
    let mut prose =
        paragraphs.filter(|text| !text.is_empty() && !text.starts_with(is_mark) && text.contains(' '));
    prose.next()
}

fn skip_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else {
        return text;
    };
    rest.split_once("\n---\n").map_or(text, |(_, page)| page)
}

/// The lines of `//!` at the top of a file.
fn rust_comment(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_start)
        .skip_while(|line| {
            !line.starts_with("//!") && (line.is_empty() || line.starts_with("//") || line.starts_with("#!"))
        })
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

/// The lines of the string that a module begins with.
fn python_docstring(text: &str) -> Option<Vec<&str>> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if !rest.starts_with('#') {
            break;
        }
        rest = rest.split_once('\n')?.1;
    }
    let rest = rest.trim_start_matches(['r', 'R', 'u', 'U']);
    let body = ["\"\"\"", "'''"]
        .iter()
        .find_map(|quote| rest.strip_prefix(quote)?.split(quote).next());
    body.map(|body| body.lines().collect())
}

/// The comment that stands right before the first line that `is_anchor` accepts, without a blank line
/// between.
fn comment_before(text: &str, is_anchor: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let anchor = lines.iter().position(|line| is_anchor(line))?;
    let above = &lines[..anchor];
    let length = above
        .iter()
        .rev()
        .take_while(|line| !line.trim().is_empty())
        .count();
    // A block comment may have blank lines.
    let start = match above.last() {
        Some(last) if last.trim_end().ends_with("*/") => {
            above.iter().rposition(|line| line.contains("/*"))?
        }
        _ => above.len() - length,
    };
    let comment: Vec<&str> = above[start..]
        .iter()
        .map(|line| strip_comment_marks(line))
        .collect();
    (!comment.is_empty() && !is_licence(&comment)).then_some(comment)
}

/// The first block comment of a file, if it stands at the top and is no licence.
fn leading_block(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_start();
    loop {
        let body = rest.strip_prefix("/*")?;
        let (block, after) = body.split_once("*/")?;
        let lines: Vec<&str> = block.lines().map(strip_comment_marks).collect();
        if !is_licence(&lines) {
            return Some(lines);
        }
        rest = after.trim_start();
    }
}

fn strip_comment_marks(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['/', '*', '!'])
        .trim_end_matches("*/")
        .trim()
}

fn is_licence(lines: &[&str]) -> bool {
    let text = lines.join(" ").to_ascii_lowercase();
    let words = [
        "copyright",
        "licen",
        "spdx",
        "eslint",
        "jshint",
        "go:build",
        "+build",
        "generated",
        "@flow",
        "@vitest",
        "@jest",
        "<reference",
    ];
    words.iter().any(|word| text.contains(word))
}

/// The first sentence of a paragraph, without links and marks of emphasis. `None` for a paragraph without
/// words.
fn first_sentence(paragraph: &str) -> Option<String> {
    let plain = without_links(paragraph);
    let mut end = plain.len();
    for (at, _) in plain.match_indices(['.', '!', '?']) {
        let (before, after) = (&plain[..at], &plain[at + 1..]);
        // `e.g.` and initials end no sentence.
        let word = before.rsplit([' ', '(']).next().unwrap_or_default();
        let is_abbreviation =
            word.chars().count() <= 1 || word.contains('.') || matches!(word, "vs" | "etc" | "cf");
        if (after.is_empty() || after.starts_with(' ')) && !is_abbreviation {
            end = at;
            break;
        }
    }
    let sentence = plain[..end].trim().trim_end_matches(':').trim();
    if sentence.chars().filter(|c| c.is_alphabetic()).count() < 8 || !sentence.contains(' ') {
        return None;
    }
    match sentence.char_indices().nth(MAX_CHARS - 1) {
        None => Some(sentence.to_owned()),
        Some((at, _)) => {
            let cut = sentence[..at]
                .rsplit_once(' ')
                .map_or(&sentence[..at], |(before, _)| before);
            Some(format!("{cut}…"))
        }
    }
}

/// `[text](target)` as its text, and no marks of code and emphasis.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        plain.push_str(&rest[..at]);
        let inside = &rest[at + 1..];
        let Some((label, after)) = inside.split_once(']') else {
            plain.push('[');
            rest = inside;
            continue;
        };
        plain.push_str(label);
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    let plain = plain.replace("**", "").replace("``", "`");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: Option<&str>) {
        assert_eq!(
            purpose_of(&RepoPath::parse(path).unwrap(), text).as_deref(),
            expected,
            "{path}"
        );
    }

    #[test]
    fn the_first_sentence_of_a_module_comment_is_its_purpose() {
        check(
            "src/auth/mod.rs",
            "// Copyright 2026\n\n//! Tokens and their\n//! lifetimes. They end.\n\nuse x;\n",
            Some("Tokens and their lifetimes"),
        );
        check("src/auth/mod.rs", "use x;\n//! Too late.\n", None);
        check(
            "zoo/__init__.py",
            "#!/usr/bin/env python\n# coding\n\"\"\"Animals of the sea, e.g. whales.\n\nMore.\n\"\"\"\n",
            Some("Animals of the sea, e.g. whales"),
        );
        check("zoo/__init__.py", "from .a import *\n", None);
        check(
            "pkg/auth/doc.go",
            "// Copyright\n\n// Package auth checks tokens.\n// It is safe.\npackage auth\n",
            Some("Package auth checks tokens"),
        );
        check(
            "pkg/auth/doc.go",
            "// Copyright 2026 The Authors\npackage auth\n",
            None,
        );
        check(
            "src/index.ts",
            "/* @license MIT */\n/**\n * Renders pages to streams\n * @module render\n */\nexport {}\n",
            Some("Renders pages to streams"),
        );
    }

    #[test]
    fn a_readme_says_it_in_its_first_paragraph() {
        check(
            "packages/a/README.md",
            "# a\n\n[![badge](x)](y)\n\nThe **core** of [Zoo](https://zoo). More text.\n",
            Some("The core of Zoo"),
        );
        check(
            "packages/a/README.md",
            "# a\nAnimals live here.\n",
            Some("Animals live here"),
        );
        check("packages/a/README.md", "# a\n\n- list\n", None);
    }

    #[test]
    fn a_long_sentence_is_cut_at_a_word() {
        let sentence = purpose_of(&RepoPath::parse("README.md").unwrap(), &"walrus ".repeat(60)).unwrap();
        assert!(
            sentence.chars().count() <= MAX_CHARS && sentence.ends_with("walrus…"),
            "{sentence}"
        );
    }

    #[test]
    fn files_that_speak_for_their_directory_have_an_order() {
        let order = |path: &str| order_of(&RepoPath::parse(path).unwrap());
        assert!(order("a/mod.rs") < order("a/a.go"));
        assert!(order("a/a.go") < order("a/README.rst"));
        assert_eq!(order("a/other.rs"), None);
    }
}
