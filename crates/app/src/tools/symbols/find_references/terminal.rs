//! The answer of `find_references` in a terminal.

use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::answer::{References, Relation, UseGrade};
use crate::markdown::count;
use crate::terminal::TerminalPage;
use crate::tools::symbols::entry::show_lines;

/// Shows the uses as grep shows matches, under the name of their file and of the definition around them.
pub(super) fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let Ok(references) = References::deserialize(answer) else {
        return page.line(answer.as_str().unwrap_or_default().trim_end());
    };
    for target in &references.targets {
        page.result_heading(&target.address(), &target.qualified_name(), &target.kind)?;
    }
    if references.is_tree() {
        show_tree(&references, page)?;
    } else {
        show_uses(&references, page)?;
    }
    if let Some(message) = &references.message {
        page.note(message)?;
    }
    page.note(&format!(
        "{} exact, {} by name; {} files searched",
        count(references.exact as u64),
        count(references.by_name as u64),
        count(references.files_searched as u64)
    ))?;
    references.notice.iter().try_for_each(|notice| page.note(notice))
}

fn show_uses(references: &References, page: &mut TerminalPage) -> io::Result<()> {
    for file in &references.files {
        page.line("")?;
        page.heading(&if file.is_test {
            format!("{} (tests)", file.path)
        } else {
            file.path.clone()
        })?;
        let mut around = None;
        for one in &file.uses {
            if around != Some(&one.r#in) {
                if let Some(inside) = &one.r#in {
                    let lines = show_lines(inside.start_line, inside.end_line);
                    page.dim(&format!("  {} ({lines})", inside.name))?;
                }
                around = Some(&one.r#in);
            }
            let text = match one.grade {
                UseGrade::Exact => one.text.clone(),
                UseGrade::ByName => format!("~ {}", one.text),
            };
            page.numbered_line(one.line.into(), &text, one.grade == UseGrade::Exact)?;
        }
    }
    Ok(())
}

fn show_tree(references: &References, page: &mut TerminalPage) -> io::Result<()> {
    for node in &references.tree {
        let indent = "  ".repeat(node.depth.into());
        let lines: Vec<String> = node.lines.iter().map(ToString::to_string).collect();
        let aside = match references.direction {
            Relation::Implementations => node.symbol.signature.clone(),
            Relation::Callers | Relation::Callees if node.repeated => {
                format!("{} · shown elsewhere", lines.join(", "))
            }
            Relation::Callers | Relation::Callees => lines.join(", "),
        };
        let name = format!("{}{}", node.grade.mark(), node.symbol.qualified_name());
        page.row(&format!("{indent}{name}"), 0, &node.symbol.address(), &aside)?;
    }
    Ok(())
}
