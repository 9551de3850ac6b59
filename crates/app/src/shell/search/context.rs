//! Matches with the lines around them (`-A`, `-B`, `-C`), shortened.
//!
//! Where they do not fit, the lines around the matches are cut before any match is: as many on each side as
//! fit for all of them.
//!
//! Invariant: each printed line is shown, or counted under its file.

use docent_core::text::reveal::reveal_part;
use docent_engine::commands::lines::{FoundLine, FoundLineKind};

use super::files::{MatchedFile, to_usize};
use crate::compact::line_range;
use crate::markdown::length;

/// Characters of a line. Longer ones are cut.
const MAX_LINE_CHARS: usize = 300;

/// Lines with their context, and the number of printed lines that are left out, by file.
pub(super) struct ContextList<'a> {
    pub(super) text: String,
    pub(super) left_out: Vec<(&'a str, u64)>,
}

/// The matches with as much of their context as fits into `room` characters. `None` if the matches alone do
/// not fit.
pub(super) fn list_with_context<'a>(
    files: &'a [MatchedFile<'_>],
    asked: (usize, usize),
    room: usize,
) -> Option<ContextList<'a>> {
    let most = asked.0.max(asked.1);
    let mut around = most;
    loop {
        let list = show_with_context(files, (asked.0.min(around), asked.1.min(around)));
        if length(&list.text) <= room {
            return Some(list);
        }
        if around == 0 {
            return None;
        }
        // Context is halved, so that a wide one is narrowed in few steps.
        around /= 2;
    }
}

fn show_with_context<'a>(files: &'a [MatchedFile<'_>], around: (usize, usize)) -> ContextList<'a> {
    let mut list = ContextList {
        text: String::new(),
        left_out: Vec::new(),
    };
    for file in files {
        list.text += &format!("{}\n", reveal_part(file.name));
        let matches: Vec<usize> = file.matched_lines().map(|line| to_usize(line.number)).collect();
        let mut hidden = 0;
        let mut last_shown = None;
        let mut last_definition = None;
        for line in &file.lines {
            let number = to_usize(line.number);
            if !is_near(&matches, number, around) {
                hidden += 1;
                continue;
            }
            if last_shown.is_none_or(|last: usize| last + 1 != number) {
                let definition = file.definition_around(number);
                if definition.is_some() && definition != last_definition {
                    let one = &file.definitions[definition.unwrap_or_default()];
                    list.text += &format!(
                        "in {} {}\n",
                        line_range(one.first, one.last),
                        reveal_part(&one.name)
                    );
                } else if last_shown.is_some() {
                    list.text += "--\n";
                }
                last_definition = definition;
            }
            list.text += &show_line(line);
            last_shown = Some(number);
        }
        if hidden > 0 {
            list.left_out.push((file.name, hidden));
        }
    }
    list
}

/// Whether a line is a match, or at most so many lines before or after one.
fn is_near(matches: &[usize], number: usize, (before, after): (usize, usize)) -> bool {
    let next = matches.partition_point(|line| *line < number);
    let is_before_next = matches.get(next).is_some_and(|line| line - number <= before);
    let is_after_last = next > 0 && number - matches[next - 1] <= after;
    is_before_next || is_after_last
}

/// `12:match` and `13-context`, with the indentation of the file.
fn show_line(line: &FoundLine) -> String {
    let mark = match line.kind {
        FoundLineKind::Match => ':',
        FoundLineKind::Context | FoundLineKind::Separator => '-',
    };
    let text = String::from_utf8_lossy(&line.text);
    let text = reveal_part(text.trim_end());
    let cut: String = if length(&text) > MAX_LINE_CHARS {
        text.chars().take(MAX_LINE_CHARS).chain(['…']).collect()
    } else {
        text.into_owned()
    };
    format!("{}{mark}{cut}\n", line.number)
}
