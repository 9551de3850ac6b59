//! The answer of `find_references` for models: one line for each enclosing function, callers first, other
//! uses after them, tests at the end.

use super::answer::{EnclosingEntry, FileEntry, References, Relation, TreeEntry, UseEntry};
use crate::markdown::{count, length};
use crate::tools::symbols::entry::show_lines;

/// Characters kept for the notice about a cut.
const NOTICE_CHARS: usize = 150;

/// Definitions of the same name that the heading lists.
const MAX_TARGETS: usize = 20;

/// Writes the answer. Lines at the end are left out until it fits into the budget.
pub(super) fn write(references: &References, mut notices: Vec<String>, budget: usize) -> String {
    let mut text = heading(references);
    if let Some(message) = &references.message {
        text += &format!("{message}.\n");
    }
    let lines = if references.is_tree() {
        let nodes = references.tree.iter();
        let blank = (!references.tree.is_empty()).then(|| AnswerLine::plain(""));
        blank
            .into_iter()
            .chain(nodes.map(|node| tree_line(node, references.direction)))
            .collect()
    } else {
        list_uses(references)
    };
    let notes: usize = notices.iter().map(|notice| length(notice) + 2).sum();
    let mut left = budget.saturating_sub(length(&text) + notes + NOTICE_CHARS);
    let mut shown = 0;
    let mut is_cut = false;
    for line in lines {
        let Some(rest) = left.checked_sub(length(&line.text) + 1) else {
            is_cut = true;
            break;
        };
        left = rest;
        text += &line.text;
        text.push('\n');
        shown += line.uses;
    }
    let uses = if references.is_tree() {
        0
    } else {
        references.exact + references.by_name
    };
    if references.is_tree() && is_cut {
        notices.push("The tree is cut; narrow the question with path, or ask for depth 1".to_owned());
    } else if references.is_tree() {
        notices.extend(references.explain_other_uses());
    } else if shown < uses && !references.targets.is_empty() {
        notices.push(format!(
            "{shown} of {uses} uses are shown; narrow the question with path, or raise limit"
        ));
    }
    for notice in notices {
        text += &format!("\n{notice}.\n");
    }
    text.trim_end().to_owned()
}

/// A line of the answer, and how many uses it shows.
struct AnswerLine {
    text: String,
    uses: usize,
}

impl AnswerLine {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            uses: 0,
        }
    }
}

/// The symbol with its counts, and the definitions that are meant.
fn heading(references: &References) -> String {
    let References {
        symbol,
        exact,
        by_name,
        ..
    } = references;
    if references.targets.is_empty() {
        return String::new();
    }
    let mut counts = format!("{} exact", count(*exact as u64));
    if *by_name > 0 {
        counts += &format!(", {} by name (~)", count(*by_name as u64));
    }
    let what = match (references.direction, references.depth) {
        (Relation::Callers, 1) => String::new(),
        (Relation::Callers, depth) => format!(" callers, depth {depth}"),
        (Relation::Callees, _) => " callees".to_owned(),
        (Relation::Implementations, _) => " implementations".to_owned(),
    };
    let files = match references.files.len() {
        _ if references.is_tree() || references.shown_uses() < exact + by_name => String::new(),
        0 => String::new(),
        1 => " in 1 file".to_owned(),
        files => format!(" in {} files", count(files as u64)),
    };
    let mut text = format!("{symbol}{what}: {counts}{files}\n");
    for target in references.targets.iter().take(MAX_TARGETS) {
        text += &format!("  {}\n", target.headline());
    }
    if references.targets.len() > MAX_TARGETS {
        text += &format!("  … {} more\n", references.targets.len() - MAX_TARGETS);
    }
    text
}

/// The uses in three sections: calls, other uses, tests.
fn list_uses(references: &References) -> Vec<AnswerLine> {
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
            lines.extend(list_functions(&uses));
        }
    };
    add_section("Calls", &|file, one| !file.is_test && one.is_call());
    add_section("Other uses", &|file, one| !file.is_test && !one.is_call());
    add_section("Tests", &|file, _| file.is_test);
    lines
}

/// A line for each definition around the uses, with the source line of the first use.
fn list_functions(uses: &[&UseEntry]) -> Vec<AnswerLine> {
    let mut groups: Vec<(Option<&EnclosingEntry>, Vec<&UseEntry>)> = Vec::new();
    for one in uses {
        let around = one.r#in.as_ref();
        match groups.iter_mut().find(|(other, _)| *other == around) {
            Some((_, group)) => group.push(one),
            None => groups.push((around, vec![one])),
        }
    }
    let line = |(around, group): (Option<&EnclosingEntry>, Vec<&UseEntry>)| {
        let place = around.map_or_else(
            || "top level".to_owned(),
            |around| {
                format!(
                    "{} ({})",
                    around.name,
                    show_lines(around.start_line, around.end_line)
                )
            },
        );
        AnswerLine {
            text: format!("  {place}: {} | {}", list_lines(&group), group[0].text),
            uses: group.len(),
        }
    };
    groups.into_iter().map(line).collect()
}

/// The lines of uses, each once, with the role of those that are no calls.
fn list_lines(uses: &[&UseEntry]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for one in uses {
        let role = if one.is_call() {
            String::new()
        } else {
            format!(" {}", one.role)
        };
        let line = format!("{}{}{role}", one.grade.mark(), one.line);
        if !shown.contains(&line) {
            shown.push(line);
        }
    }
    shown.join(", ")
}

/// A node of the tree, indented by its depth.
fn tree_line(node: &TreeEntry, direction: Relation) -> AnswerLine {
    let indent = "  ".repeat(usize::from(node.depth).saturating_sub(1));
    let TreeEntry { symbol, grade, .. } = node;
    let mut text = format!(
        "{indent}{}{} ({})",
        grade.mark(),
        symbol.qualified_name(),
        symbol.address()
    );
    if direction == Relation::Implementations {
        text += &format!(" | {}", symbol.signature);
    } else {
        let lines: Vec<String> = node.lines.iter().map(ToString::to_string).collect();
        text += &format!(": {}", lines.join(", "));
    }
    if node.repeated {
        text += " (its callers are shown elsewhere)";
    }
    AnswerLine::plain(text)
}
