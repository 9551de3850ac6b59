//! Members between braces, in JSON objects and TOML inline tables: adding at the end, and removing one.
//!
//! Left out: how a member is written (`style` and `toml` do that).
//!
//! Invariant: removing a member that was added to other members restores the text. Braces that were empty
//! come back as `{}`, without the blanks that they may have had.

use std::ops::Range;

use super::splice::{Splice, is_blank, is_first_on_line, line_break_before, line_end, line_start};

pub(super) struct Braces {
    /// The range between the braces.
    pub(super) inside: Range<usize>,
    pub(super) members: Vec<Member>,
    /// End of the last comment before the closing brace.
    pub(super) comments_end: Option<usize>,
}

pub(super) struct Member {
    pub(super) range: Range<usize>,
    pub(super) comma: Option<usize>,
}

/// How new members are laid out.
pub(super) enum Layout<'a> {
    /// One member per line.
    Lines {
        eol: &'a str,
        /// Before each member.
        indent: String,
        /// Before the closing brace, if it moves to a line of its own.
        outer: String,
    },
    OneLine {
        /// After a comma.
        space: &'a str,
        /// Inside braces that were empty.
        pad: &'a str,
    },
}

impl Layout<'_> {
    /// The indentation of new members, or `None` if they share a line.
    pub(super) fn indent(&self) -> Option<&str> {
        match self {
            Self::Lines { indent, .. } => Some(indent),
            Self::OneLine { .. } => None,
        }
    }
}

impl Member {
    /// End of the member, its comma included.
    fn end(&self) -> usize {
        self.comma.map_or(self.range.end, |comma| comma + 1)
    }
}

impl Braces {
    /// Adds members after the last one. They end with a trailing comma if the last one did.
    pub(super) fn add_members(&self, text: &str, new: &[String], layout: &Layout) -> Vec<Splice> {
        let last = self.members.last();
        let end = last.map_or(self.inside.start, Member::end);
        let trailing = last.and_then(|last| last.comma).map_or("", |_| ",");
        let mut splices = Vec::new();
        if last.is_some() && trailing.is_empty() {
            splices.push(Splice::insert(end, ","));
        }
        splices.push(match layout {
            Layout::Lines { eol, indent, outer } => {
                let at = self.comments_end.map_or(end, |comments| comments.max(end));
                let new = new.join(&format!(",{eol}{indent}"));
                let new = format!("{eol}{indent}{new}{trailing}");
                if last.is_none() && !text[at..self.inside.end].contains('\n') {
                    Splice::replace(at..self.inside.end, format!("{new}{eol}{outer}"))
                } else {
                    Splice::insert(at, new)
                }
            }
            Layout::OneLine { space, pad } => {
                let new = new.join(&format!(",{space}"));
                let inside = &text[self.inside.clone()];
                if last.is_some() {
                    Splice::insert(end, format!("{space}{new}{trailing}"))
                } else if is_blank(inside) && !inside.contains('\n') {
                    Splice::replace(self.inside.clone(), format!("{pad}{new}{pad}"))
                } else {
                    Splice::insert(end, new)
                }
            }
        });
        splices
    }

    /// Whether there is exactly one member, and no comment beside it.
    pub(super) fn has_single_member(&self, text: &str) -> bool {
        let [only] = &self.members[..] else {
            return false;
        };
        is_blank(&text[self.inside.start..only.range.start]) && is_blank(&text[only.end()..self.inside.end])
    }

    /// Removes the member at an index.
    pub(super) fn remove_member(&self, text: &str, index: usize) -> Vec<Splice> {
        if self.has_single_member(text) {
            return vec![Splice::remove(self.inside.clone())];
        }
        let member = &self.members[index];
        let before = index.checked_sub(1).map(|index| &self.members[index]);
        let mut splices = Vec::new();
        // The file has no trailing comma: the member before, which becomes the last, must lose its comma.
        if member.comma.is_none()
            && let Some(comma) = before.and_then(|before| before.comma)
        {
            splices.push(Splice::remove(comma..comma + 1));
        }
        let from = before.map_or(self.inside.start, Member::end);
        splices.push(Splice::remove(self.removal_range(text, index, from)));
        splices
    }

    /// The range to remove with a member: its line, or the blank beside it. `from` is the end of the member
    /// before.
    fn removal_range(&self, text: &str, index: usize, from: usize) -> Range<usize> {
        let member = &self.members[index];
        let (start, end) = (member.range.start, member.end());
        if is_first_on_line(text, start) {
            let line = line_break_before(text, line_start(text, start));
            let has_line = is_blank(&text[end..line_end(text, end)]);
            // A line comment before the member would swallow a closing brace that moves onto its line.
            let is_closed_after = is_blank(&text[end..self.inside.end])
                && !ends_in_comment(text.get(from..line).unwrap_or_default());
            if has_line || is_closed_after {
                return line..end;
            }
        } else if index + 1 == self.members.len() && is_blank(&text[from..start]) {
            return from..end;
        }
        match self.members.get(index + 1) {
            Some(after) if is_blank_on_line(&text[end..after.range.start]) => start..after.range.start,
            _ => start..end,
        }
    }
}

/// Whether text appended to these blanks and comments would become part of the last comment.
fn ends_in_comment(mut gap: &str) -> bool {
    loop {
        gap = gap.trim_start();
        let after = match gap.strip_prefix("/*") {
            Some(block) => block.split_once("*/"),
            None => gap.split_once('\n'),
        };
        match after {
            Some((_, rest)) => gap = rest,
            None => return !gap.is_empty(),
        }
    }
}

fn is_blank_on_line(text: &str) -> bool {
    is_blank(text) && !text.contains('\n')
}
