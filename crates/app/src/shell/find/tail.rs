//! The last line of a list that has no room for all: `… 412 more: node_modules/ 390, dist/ 22`.
//!
//! Invariant: each entry that is left out is counted at the longest of the directories named that it is below.

use super::groups::PathGroup;
use super::selection::quote;

/// Directories that are named.
const MAX_DIRECTORIES: usize = 8;

/// A part of the groups that are left out: those of one directory and below.
#[derive(Clone, Debug)]
struct Part<'a> {
    directory: &'a [u8],
    groups: Vec<&'a PathGroup>,
    count: usize,
}

impl<'a> Part<'a> {
    fn new(directory: &'a [u8], groups: Vec<&'a PathGroup>) -> Self {
        Self {
            directory,
            count: groups.iter().map(|group| group.names.len()).sum(),
            groups,
        }
    }

    /// The parts one level down, and the entries of the directory itself, if there are any.
    fn split(&self) -> Vec<Self> {
        let mut parts: Vec<(&'a [u8], Vec<&'a PathGroup>)> = Vec::new();
        for group in &self.groups {
            let below = &group.directory[self.directory.len()..];
            let length = below
                .iter()
                .position(|byte| *byte == b'/')
                .map_or(0, |slash| slash + 1);
            let directory = &group.directory[..self.directory.len() + length];
            match parts.iter_mut().find(|(other, _)| *other == directory) {
                Some((_, groups)) => groups.push(group),
                None => parts.push((directory, vec![group])),
            }
        }
        parts
            .into_iter()
            .map(|(directory, groups)| Self::new(directory, groups))
            .collect()
    }

    fn is_single(&self) -> bool {
        self.groups.iter().all(|group| group.directory == self.directory)
    }
}

/// Writes the line. Empty if nothing is left out.
pub(super) fn write_tail(left_out: &[PathGroup]) -> String {
    let whole = Part::new(b"", left_out.iter().collect());
    if whole.count == 0 {
        return String::new();
    }
    let total = whole.count;
    let mut parts = vec![whole];
    // The largest part is told in more detail as long as there is room.
    loop {
        let candidate = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| !part.is_single())
            .max_by_key(|(at, part)| (part.count, usize::MAX - at));
        let Some((at, part)) = candidate else {
            break;
        };
        let mut inner = part.split();
        if parts.len() + inner.len() - 1 > MAX_DIRECTORIES {
            if parts.len() >= MAX_DIRECTORIES {
                break;
            }
            inner = keep_largest(part, inner, MAX_DIRECTORIES - parts.len());
            parts.splice(at..=at, inner);
            break;
        }
        parts.splice(at..=at, inner);
    }
    parts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.directory.cmp(b.directory)));
    let counts: Vec<String> = parts
        .iter()
        .map(|part| {
            let directory = if part.directory.is_empty() {
                "./".to_owned()
            } else {
                quote(part.directory)
            };
            format!("{directory} {}", part.count)
        })
        .collect();
    format!("… {total} more: {}\n", counts.join(", "))
}

/// The largest parts, and the others as the rest of their directory.
fn keep_largest<'a>(whole: &Part<'a>, mut inner: Vec<Part<'a>>, max: usize) -> Vec<Part<'a>> {
    inner.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.directory.cmp(b.directory)));
    let (own, mut others): (Vec<_>, Vec<_>) = inner
        .into_iter()
        .partition(|part| part.directory == whole.directory);
    let rest = others.split_off(max.min(others.len()));
    let groups = own.into_iter().chain(rest).flat_map(|part| part.groups).collect();
    let remainder = Part::new(whole.directory, groups);
    if remainder.count > 0 {
        others.push(remainder);
    }
    others
}
