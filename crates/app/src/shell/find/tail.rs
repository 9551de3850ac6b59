//! The last line of a list that has no room for all: `… 412 more: node_modules/ 390, dist/ 22`.
//!
//! Invariant: each entry that is left out is counted at the longest of the directories named that it is
//! below.

use super::groups::PathGroup;
use super::selection::quote;

/// Directories that are named.
const MAX_DIRECTORIES: usize = 8;

/// A directory with a smaller part than one in so many is counted with the one above.
const MIN_SHARE: usize = 25;

/// A part of the groups that are left out: those of one directory and below.
#[derive(Clone, Debug)]
struct TailPart<'a> {
    directory: &'a [u8],
    groups: Vec<&'a PathGroup<'a>>,
    count: usize,
    /// It is not told in more detail.
    is_final: bool,
}

impl<'a> TailPart<'a> {
    fn new(directory: &'a [u8], groups: Vec<&'a PathGroup<'a>>) -> Self {
        Self {
            directory,
            count: groups.iter().map(|group| group.names.len()).sum(),
            groups,
            is_final: false,
        }
    }

    /// The parts one level down, and the entries of the directory itself, if there are any.
    fn split(&self) -> Vec<Self> {
        let mut parts: Vec<(&'a [u8], Vec<&'a PathGroup<'a>>)> = Vec::new();
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

    /// The largest parts one level down, and the rest of the directory as a part that stays as it is.
    fn tell_apart(&self, min_count: usize, room: usize) -> Vec<Self> {
        let (mut large, mut rest): (Vec<_>, Vec<_>) = self
            .split()
            .into_iter()
            .partition(|part| part.directory != self.directory && part.count >= min_count);
        large.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.directory.cmp(b.directory)));
        // A rest takes a place too.
        let has_rest = !rest.is_empty() || large.len() > room + 1;
        let places = room + usize::from(!has_rest);
        rest.extend(large.split_off(places.min(large.len())));
        let groups: Vec<&PathGroup<'_>> = rest.into_iter().flat_map(|part| part.groups).collect();
        if !groups.is_empty() {
            let mut remainder = Self::new(self.directory, groups);
            remainder.is_final = true;
            large.push(remainder);
        }
        large
    }
}

/// Writes the line. Empty if nothing is left out.
pub(super) fn write_tail(left_out: &[PathGroup<'_>]) -> String {
    let whole = TailPart::new(b"", left_out.iter().collect());
    if whole.count == 0 {
        return String::new();
    }
    let total = whole.count;
    let mut parts = vec![whole];
    // The largest part is told in more detail as long as there is room, and parts that are worth a name.
    let min_count = (total / MIN_SHARE).max(2);
    while let Some(at) = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| !part.is_final)
        .max_by_key(|(at, part)| (part.count, usize::MAX - at))
        .map(|(at, _)| at)
    {
        let room = MAX_DIRECTORIES - parts.len();
        let inner = parts[at].tell_apart(min_count, room);
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

#[cfg(test)]
mod tests {
    use super::super::groups::GroupName;
    use super::*;

    fn write(groups: &[(&str, usize)]) -> String {
        let name = GroupName::new(b"a", None);
        let groups: Vec<PathGroup<'_>> = groups
            .iter()
            .map(|(directory, count)| PathGroup::new(directory.as_bytes(), vec![name; *count]))
            .collect();
        write_tail(&groups)
    }

    #[test]
    fn large_directories_are_named_and_small_ones_counted_with_the_one_above() {
        assert_eq!(write(&[]), "");
        assert_eq!(
            write(&[
                ("node_modules/a/", 300),
                ("node_modules/b/lib/", 90),
                ("dist/", 22),
                ("", 1)
            ]),
            "… 413 more: node_modules/a/ 300, node_modules/b/lib/ 90, dist/ 22, ./ 1\n"
        );
        let many: Vec<String> = (0..50).map(|at| format!("node_modules/p{at}/")).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 1)).collect();
        assert_eq!(write(&many), "… 50 more: node_modules/ 50\n");
    }

    #[test]
    fn at_most_eight_directories_are_named() {
        let many: Vec<String> = (0..20).map(|at| format!("d{at:02}/")).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 10)).collect();
        let line = write(&many);
        assert_eq!(line.matches(',').count(), 7, "{line}");
        assert!(line.starts_with("… 200 more: ./ 130, d00/ 10, "), "{line}");
    }
}
