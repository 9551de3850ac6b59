//! Paths grouped by directory, each directory once: `src/net/: a.rs b.rs`.
//!
//! A directory with one entry is written as its path. A name that could be read in two ways stands in quotes.
//!
//! Invariant: every entry is shown once or counted once: at the end of its directory's line, or at the
//! longest directory of the last line that it is below.

use std::collections::{BTreeMap, HashSet};

use docent_engine::listing::IgnoredDirectories;

use super::selection::{DirectoryClass, compare_names, count_quoted, quote};
use super::tail::write_tail;

/// A path to show, and where it leads if it is a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownPath<'a> {
    pub(super) path: &'a [u8],
    pub(super) link_target: Option<&'a [u8]>,
}

/// The entries of one directory.
#[derive(Debug)]
pub(super) struct PathGroup<'a> {
    /// With its slash; empty for names without a directory.
    pub(super) directory: &'a [u8],
    directory_chars: usize,
    pub(super) names: Vec<GroupName<'a>>,
    pub(super) class: DirectoryClass,
}

/// A name in a group. It is put in quotes only when it is written: most names of a long list never are.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupName<'a> {
    name: &'a [u8],
    link_target: Option<&'a [u8]>,
    chars: usize,
}

/// How many entries of a directory are shown at least before directories are left out.
const MIN_NAMES: usize = 3;

/// Characters for the last line, which counts what is left out.
const TAIL_CHARS: usize = 300;

/// Writes entries within a budget of characters. In a `tree`, a directory with entries below is named by
/// their line alone.
pub(super) fn write_groups(entries: &[ShownPath<'_>], is_tree: bool, budget: usize) -> String {
    let mut groups = group(entries, is_tree);
    if total_chars(&groups, usize::MAX) <= budget {
        return write_lines(&mut groups, usize::MAX);
    }
    let room = budget.saturating_sub(TAIL_CHARS);
    let mut ignored = IgnoredDirectories::default();
    for group in &mut groups {
        if group.class != DirectoryClass::Foreign && ignored.contains(group.directory) {
            group.class = DirectoryClass::Foreign;
        }
    }
    groups.sort_by_key(|group| group.class);
    let has_own = groups.iter().any(|group| group.class != DirectoryClass::Foreign);
    let mut left_out = Vec::new();
    if has_own {
        left_out = take_where(&mut groups, |group| group.class == DirectoryClass::Foreign);
    }
    let cap = widest_cap(&groups, room);
    if total_chars(&groups, cap) > room {
        left_out.extend(take_deepest(&mut groups, room));
    }
    let mut text = write_lines(&mut groups, cap);
    text.push_str(&write_tail(&left_out));
    text
}

fn write_lines(groups: &mut [PathGroup<'_>], cap: usize) -> String {
    let mut text = String::new();
    for PathGroup { directory, names, .. } in groups.iter_mut() {
        if names.len() > cap {
            names.sort_by(|a, b| compare_names(directory, a.name, b.name));
        } else {
            names.sort_by(|a, b| a.name.cmp(b.name));
        }
    }
    for group in groups {
        text.push_str(&group.write(cap));
    }
    text
}

/// Characters of all lines with at most `cap` names each.
fn total_chars(groups: &[PathGroup<'_>], cap: usize) -> usize {
    groups.iter().map(|group| group.chars(cap)).sum()
}

/// The largest number of names that each directory may show, at least [`MIN_NAMES`].
fn widest_cap(groups: &[PathGroup<'_>], room: usize) -> usize {
    let fits = |cap: usize| total_chars(groups, cap) <= room;
    let largest = groups.iter().map(|group| group.names.len()).max();
    let (mut low, mut high) = (MIN_NAMES, largest.unwrap_or(0).max(MIN_NAMES));
    if fits(high) {
        return high;
    }
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn take_where<'a>(
    groups: &mut Vec<PathGroup<'a>>,
    is_taken: impl Fn(&PathGroup<'_>) -> bool,
) -> Vec<PathGroup<'a>> {
    let (taken, kept) = groups.drain(..).partition(is_taken);
    *groups = kept;
    taken
}

/// Takes the groups that have no room: the last classes first, and the deepest of a class.
fn take_deepest<'a>(groups: &mut Vec<PathGroup<'a>>, room: usize) -> Vec<PathGroup<'a>> {
    let depth = |group: &PathGroup<'_>| group.directory.split(|byte| *byte == b'/').count();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|at| (groups[*at].class, depth(&groups[*at]), *at));
    let mut used = 0;
    let shown: HashSet<usize> = order
        .into_iter()
        .take_while(|at| {
            used += groups[*at].chars(MIN_NAMES);
            used <= room
        })
        .collect();
    let mut taken = Vec::new();
    let mut kept = Vec::new();
    for (at, group) in groups.drain(..).enumerate() {
        if shown.contains(&at) {
            kept.push(group);
        } else {
            taken.push(group);
        }
    }
    *groups = kept;
    taken
}

/// Groups in the order in which they are shown: by class, then by path.
fn group<'a>(entries: &[ShownPath<'a>], is_tree: bool) -> Vec<PathGroup<'a>> {
    let has_dot = |path: &[u8]| path == b"." || path.starts_with(b"./");
    let strips_dot = entries.iter().all(|entry| has_dot(entry.path));
    let strip = |path: &'_ [u8]| -> usize {
        let inner = path
            .strip_prefix(b"./")
            .filter(|inner| !inner.is_empty() && strips_dot);
        inner.map_or(0, |inner| path.len() - inner.len())
    };
    let parents = if is_tree {
        parents_of(entries)
    } else {
        HashSet::new()
    };
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let mut groups: BTreeMap<&[u8], Vec<GroupName<'_>>> = BTreeMap::new();
    for entry in entries {
        if is_tree && (parents.contains(entry.path) || !seen.insert(entry.path)) {
            continue;
        }
        let path = &entry.path[strip(entry.path)..];
        let (directory, name) = split_path(path);
        groups
            .entry(directory)
            .or_default()
            .push(GroupName::new(name, entry.link_target));
    }
    let mut groups: Vec<PathGroup<'_>> = groups
        .into_iter()
        .map(|(directory, names)| PathGroup::new(directory, names))
        .collect();
    groups.sort_by_key(|group| group.class);
    groups
}

/// All directories that an entry is below, with their slash.
fn parents_of<'a>(entries: &[ShownPath<'a>]) -> HashSet<&'a [u8]> {
    let mut parents = HashSet::new();
    for entry in entries {
        let mut path = entry.path;
        loop {
            path = split_path(path).0;
            if path.is_empty() || !parents.insert(path) {
                break;
            }
        }
    }
    parents
}

/// A path as its directory, with the slash, and its name, with the slashes behind it.
pub(super) fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    let length = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |last| last + 1);
    let slash = path[..length].iter().rposition(|byte| *byte == b'/');
    path.split_at(slash.map_or(0, |at| at + 1))
}

impl<'a> GroupName<'a> {
    pub(super) fn new(name: &'a [u8], link_target: Option<&'a [u8]>) -> Self {
        let target_chars = link_target.map_or(0, |target| " -> ".len() + count_quoted(target));
        Self {
            name,
            link_target,
            chars: count_quoted(name) + target_chars,
        }
    }

    fn write_target(&self) -> String {
        let target = self.link_target.map(|target| format!(" -> {}", quote(target)));
        target.unwrap_or_default()
    }
}

impl<'a> PathGroup<'a> {
    pub(super) fn new(directory: &'a [u8], names: Vec<GroupName<'a>>) -> Self {
        Self {
            directory,
            directory_chars: count_quoted(directory),
            names,
            class: DirectoryClass::of(directory),
        }
    }

    /// The line with at most `cap` names.
    fn write(&self, cap: usize) -> String {
        if let [only] = self.names.as_slice() {
            let path = [self.directory, only.name].concat();
            return format!("{}{}\n", quote(&path), only.write_target());
        }
        let mut line = if self.directory.is_empty() {
            "./:".to_owned()
        } else {
            format!("{}:", quote(self.directory))
        };
        for name in self.names.iter().take(cap) {
            line.push(' ');
            line.push_str(&quote(name.name));
            line.push_str(&name.write_target());
        }
        if self.names.len() > cap {
            line.push_str(&format!(" … {} more", self.names.len() - cap));
        }
        line.push('\n');
        line
    }

    /// Characters of the line with at most `cap` names. Up to two more than it has where quotes are shared.
    fn chars(&self, cap: usize) -> usize {
        let names: usize = self.names.iter().take(cap).map(|name| name.chars + 1).sum();
        let more = if self.names.len() > cap {
            " …  more".chars().count() + count_digits(self.names.len() - cap)
        } else {
            0
        };
        self.directory_chars.max(2) + 1 + names + more + 1
    }
}

fn count_digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> ShownPath<'_> {
        ShownPath {
            path: path.as_bytes(),
            link_target: path.ends_with("lnk").then_some(b"../x"),
        }
    }

    fn write(paths: &str, budget: usize) -> String {
        let entries: Vec<ShownPath<'_>> = paths.split(' ').map(shown).collect();
        write_groups(&entries, false, budget)
    }

    #[test]
    fn a_directory_is_written_once_and_a_single_entry_as_its_path() {
        assert_eq!(
            write(
                "./src/a.rs ./src/b.rs ./Cargo.toml ./README.md ./src/net/c.rs",
                1000
            ),
            "./: Cargo.toml README.md\nsrc/: a.rs b.rs\nsrc/net/c.rs\n"
        );
        assert_eq!(write("/a/b /a/c / /a/", 1000), "/\n/a/\n/a/: b c\n");
    }

    #[test]
    fn tests_and_foreign_code_stand_behind_code() {
        assert_eq!(
            write("node_modules/x/a node_modules/x/b tests/c src/d", 1000),
            "src/d\ntests/c\nnode_modules/x/: a b\n"
        );
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let paths: Vec<String> = (0..100)
            .map(|at| format!("src/file{at}.rs"))
            .chain((0..50).map(|at| format!("node_modules/p{at}/index.js")))
            .collect();
        let text = write(&paths.join(" "), 600);
        assert!(text.chars().count() <= 600, "{text}");
        assert!(text.starts_with("src/: file0.rs "), "{text}");
        assert!(text.contains(" more\n"), "{text}");
        assert!(text.ends_with("… 50 more: node_modules/ 50\n"), "{text}");
    }

    #[test]
    fn directories_of_a_tree_are_named_by_their_entries() {
        let entries = ["./", "./src/", "./src/a.rs", "./src/lnk", "./empty/"].map(shown);
        assert_eq!(
            write_groups(&entries, true, 1000),
            "empty/\nsrc/: a.rs lnk -> ../x\n"
        );
    }
}
