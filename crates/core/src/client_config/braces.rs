//! Members between braces, in JSON and in the inline tables of TOML: adding at the end, and taking one out.
//!
//! Invariant: what was added to members that were there is taken out again without a trace. Braces that held nothing come back
//! as `{}`, however much blank there was in them.

use std::ops::Range;

use super::splice::{Splice, break_before, is_blank, line_end, line_start, starts_line};

pub(super) struct Braces {
    /// What stands between them.
    pub(super) inside: Range<usize>,
    pub(super) members: Vec<Member>,
    /// Where the last comment before the closing one ends.
    pub(super) comments_end: Option<usize>,
}

pub(super) struct Member {
    pub(super) range: Range<usize>,
    pub(super) comma: Option<usize>,
}

/// How new members are set.
pub(super) enum Layout<'a> {
    /// Each on its own line.
    Lines {
        eol: &'a str,
        /// Before each of them.
        indent: String,
        /// Before the closing brace, if it has to go to a line of its own.
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
    /// What each new member is indented with, if it has a line.
    pub(super) fn indent(&self) -> Option<&str> {
        match self {
            Self::Lines { indent, .. } => Some(indent),
            Self::OneLine { .. } => None,
        }
    }
}

impl Member {
    /// Where it ends, with its comma.
    fn end(&self) -> usize {
        self.comma.map_or(self.range.end, |comma| comma + 1)
    }
}

impl Braces {
    /// New members, last. They end with a comma if the last one did.
    pub(super) fn add(&self, text: &str, new: &[String], layout: &Layout) -> Vec<Splice> {
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

    /// Whether there is one member, and not even a comment beside it.
    pub(super) fn hold_one(&self, text: &str) -> bool {
        let [only] = &self.members[..] else {
            return false;
        };
        is_blank(&text[self.inside.start..only.range.start]) && is_blank(&text[only.end()..self.inside.end])
    }

    /// Without the member at this place.
    pub(super) fn remove(&self, text: &str, index: usize) -> Vec<Splice> {
        if self.hold_one(text) {
            return vec![Splice::remove(self.inside.clone())];
        }
        let member = &self.members[index];
        let before = index.checked_sub(1).map(|index| &self.members[index]);
        let mut splices = Vec::new();
        // The last one has no comma: then the one before it shall have none.
        if member.comma.is_none()
            && let Some(comma) = before.and_then(|before| before.comma)
        {
            splices.push(Splice::remove(comma..comma + 1));
        }
        let from = before.map_or(self.inside.start, Member::end);
        splices.push(Splice::remove(self.extent(text, index, from)));
        splices
    }

    /// What goes with a member: its line, or the blank beside it. `from` is where the member before it ends.
    fn extent(&self, text: &str, index: usize, from: usize) -> Range<usize> {
        let member = &self.members[index];
        let (start, end) = (member.range.start, member.end());
        if starts_line(text, start) {
            let line = break_before(text, line_start(text, start));
            let has_line = is_blank(&text[end..line_end(text, end)]);
            // The closing brace must not come behind a comment that takes the rest of its line.
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

/// Whether what follows these blanks and comments would be part of the last one.
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
