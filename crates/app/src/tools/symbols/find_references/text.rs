//! The answer of `find_references` as text: the definition, then the uses by file and enclosing function.
//! Calls are first, other uses after them, tests at the end.

use super::answer::{EnclosingEntry, FileEntry, References, Relation, TreeEntry, UseEntry, UseGrade};
use crate::compact::{count_of, line_range};
use crate::markdown::{count, length};

/// Characters kept for the line that counts the uses left out.
const REST_CHARS: usize = 300;

/// Definitions of the same name that the heading lists.
const MAX_TARGETS: usize = 20;

/// Files that the line about a cut names.
const MAX_REST_FILES: usize = 5;

/// Writes the answer. Lines at the end are left out until it fits into the budget.
pub(super) fn write(references: &References, mut notices: Vec<String>, budget: usize) -> String {
    let mut text = heading(references);
    let lines = if references.is_tree() {
        let nodes = references.tree.iter();
        nodes.map(|node| tree_line(node, references.direction)).collect()
    } else {
        list_uses(references)
    };
    let notes: usize = notices.iter().map(|notice| length(notice) + 3).sum();
    let mut left = budget.saturating_sub(length(&text) + notes + REST_CHARS);
    let mut lines = lines.into_iter();
    let mut cut: Vec<AnswerLine<'_>> = Vec::new();
    let mut shown = 0;
    for line in lines.by_ref() {
        let Some(rest) = left.checked_sub(length(&line.text) + 1) else {
            cut.push(line);
            break;
        };
        left = rest;
        text += &line.text;
        text.push('\n');
        shown += line.uses;
    }
    cut.extend(lines);
    if references.is_tree() {
        if !cut.is_empty() {
            let nodes = count_of(cut.len(), "more definition", "more definitions");
            text += &format!("… {nodes}: narrow with path, or ask for depth 1\n");
        }
        notices.extend(references.explain_other_uses());
    } else {
        text += &count_rest(references, &cut, shown);
    }
    for notice in notices {
        text += &format!("… {notice}\n");
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// A line of the answer.
struct AnswerLine<'a> {
    text: String,
    /// The uses that it shows, and their file.
    uses: usize,
    file: Option<&'a str>,
}

impl AnswerLine<'_> {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            uses: 0,
            file: None,
        }
    }
}

/// The definitions that are meant, and the counts of their uses.
fn heading(references: &References) -> String {
    let mut text = String::new();
    for target in references.targets.iter().take(MAX_TARGETS) {
        text += &format!("{}\n", target.headline());
    }
    if references.targets.len() > MAX_TARGETS {
        text += &format!("… {} more\n", references.targets.len() - MAX_TARGETS);
    }
    if let Some(message) = &references.message {
        return text + message + "\n";
    }
    let (exact, by_name) = (references.exact, references.by_name);
    let what = match (references.direction, references.depth) {
        (Relation::Callers, 1) => count_of(exact + by_name, "use", "uses"),
        (Relation::Callers, depth) => {
            format!("{} to depth {depth}", count_of(exact + by_name, "use", "uses"))
        }
        (Relation::Callees, _) => count_of(exact + by_name, "callee", "callees"),
        (Relation::Implementations, _) => count_of(exact + by_name, "implementation", "implementations"),
    };
    let is_whole = !references.is_tree() && references.shown_uses() == exact + by_name;
    let files = match references.files.len() {
        files if is_whole && files > 0 => format!(" in {}", count_of(files, "file", "files")),
        _ => String::new(),
    };
    let grades = match (exact, by_name) {
        (_, 0) => "exact".to_owned(),
        (0, _) => "by name".to_owned(),
        _ => format!("{} exact, {} by name", count(exact as u64), count(by_name as u64)),
    };
    format!("{text}{what}{files}, {grades}\n")
}

/// The uses in three sections: calls, other uses, tests.
fn list_uses(references: &References) -> Vec<AnswerLine<'_>> {
    let mut lines = Vec::new();
    let mut add_section = |title: &str, is_shown: &dyn Fn(&FileEntry, &UseEntry) -> bool| {
        let mut is_first = true;
        for file in &references.files {
            let uses: Vec<&UseEntry> = file.uses.iter().filter(|one| is_shown(file, one)).collect();
            if uses.is_empty() {
                continue;
            }
            if is_first {
                lines.push(AnswerLine::plain(format!("\n{title}:")));
                is_first = false;
            }
            lines.push(AnswerLine::plain(file.path.clone()));
            list_functions(&file.path, &uses, &mut lines);
        }
    };
    add_section("calls", &|file, one| !file.is_test && one.is_call());
    add_section("other uses", &|file, one| !file.is_test && !one.is_call());
    add_section("tests", &|file, _| file.is_test);
    lines
}

/// The definitions around the uses, each once with its lines, and the lines of the uses below.
fn list_functions<'a>(path: &'a str, uses: &[&UseEntry], lines: &mut Vec<AnswerLine<'a>>) {
    let mut groups: Vec<(Option<&EnclosingEntry>, Vec<&UseEntry>)> = Vec::new();
    for one in uses {
        let around = one.r#in.as_ref();
        match groups.iter_mut().find(|(other, _)| *other == around) {
            Some((_, group)) => group.push(one),
            None => groups.push((around, vec![one])),
        }
    }
    for (around, group) in groups {
        let indent = match around {
            Some(around) => {
                let range = line_range(around.start_line as usize, around.end_line as usize);
                lines.push(AnswerLine::plain(format!("  {range} {}", around.name)));
                "    "
            }
            None => "  ",
        };
        // Several uses in one line are shown by one line.
        for same in group.chunk_by(|a, b| a.line == b.line) {
            let grade = match same[0].grade {
                UseGrade::Exact => "",
                UseGrade::ByName => " by name",
            };
            lines.push(AnswerLine {
                text: format!("{indent}{}{grade}: {}", same[0].line, same[0].text.trim_start()),
                uses: same.len(),
                file: Some(path),
            });
        }
    }
}

/// Counts the uses that are left out, and names their files.
fn count_rest(references: &References, cut: &[AnswerLine<'_>], shown: usize) -> String {
    let rest = (references.exact + references.by_name).saturating_sub(shown);
    if rest == 0 || references.targets.is_empty() {
        return String::new();
    }
    let mut files: Vec<(&str, usize)> = Vec::new();
    for line in cut {
        let Some(path) = line.file else { continue };
        match files.iter_mut().find(|(other, _)| *other == path) {
            Some((_, uses)) => *uses += line.uses,
            None => files.push((path, line.uses)),
        }
    }
    let mut text = format!("… {}", count_of(rest, "more use", "more uses"));
    let listed: Vec<String> = files
        .iter()
        .take(MAX_REST_FILES)
        .map(|(path, uses)| format!("{} {uses}", path.rsplit('/').next().unwrap_or(path)))
        .filter(|file| length(file) <= 50)
        .collect();
    if !listed.is_empty() {
        let more = if files.len() > listed.len() { ", …" } else { "" };
        let in_files = count_of(files.len(), "file", "files");
        text += &format!(" in {in_files}: {}{more}", listed.join(", "));
    }
    text + "; narrow with path, or raise limit\n"
}

/// A definition of the tree, indented by its depth.
fn tree_line(node: &TreeEntry, direction: Relation) -> AnswerLine<'_> {
    let indent = "  ".repeat(usize::from(node.depth));
    let TreeEntry { symbol, grade, .. } = node;
    let mut text = format!("{indent}{} {}", symbol.address(), symbol.qualified_name());
    if *grade == UseGrade::ByName {
        text += " by name";
    }
    if direction == Relation::Implementations {
        text += &format!(": {}", symbol.signature);
    } else {
        let lines: Vec<String> = node.lines.iter().map(ToString::to_string).collect();
        text += &format!(": {}", lines.join(", "));
    }
    if node.repeated {
        text += " (its callers are above)";
    }
    AnswerLine::plain(text)
}
