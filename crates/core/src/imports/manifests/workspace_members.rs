//! Members of a workspace: the directories that patterns such as `packages/*` name.
//!
//! Patterns may have `*` inside a name, `**` for any directories and a leading `!`, as package managers use
//! them.
//!
//! Invariant: at most [`MAX_VISITED_DIRECTORIES`] directories are visited, whatever the patterns and the
//! project are.

use std::collections::{BTreeSet, VecDeque};

use crate::imports::cached_project::CachedProject;
use crate::imports::paths::{child_path, join};

/// Directories that are visited for one workspace.
const MAX_VISITED_DIRECTORIES: usize = 5_000;

/// Directories that a wildcard never enters.
pub(in crate::imports) const SKIPPED_DIRECTORIES: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "dist",
    "build",
    "bower_components",
];

/// Finds the directories below `base` that match a pattern and have a file called `manifest`.
pub(in crate::imports) fn find_members(
    project: &CachedProject<'_>,
    base: &str,
    patterns: &[String],
    manifest: &str,
) -> BTreeSet<String> {
    let mut visits = 0;
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let (pattern, excluded) = match pattern.strip_prefix('!') {
            Some(pattern) => (pattern, true),
            None => (pattern.as_str(), false),
        };
        for directory in match_directories(project, base, pattern, &mut visits) {
            if excluded {
                found.remove(&directory);
            } else if project.is_file(&child_path(&directory, manifest)) {
                found.insert(directory);
            }
        }
    }
    found
}

fn match_directories(
    project: &CachedProject<'_>,
    base: &str,
    pattern: &str,
    visits: &mut usize,
) -> BTreeSet<String> {
    let names: Vec<&str> = pattern
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    let mut found = BTreeSet::new();
    // Each step is a directory and the number of names of the pattern that lead to it.
    let mut steps = VecDeque::from([(base.to_owned(), 0)]);
    while let Some((directory, passed)) = steps.pop_front() {
        *visits += 1;
        if *visits > MAX_VISITED_DIRECTORIES {
            break;
        }
        let Some(&name) = names.get(passed) else {
            found.insert(directory);
            continue;
        };
        if name == "**" {
            steps.push_back((directory.clone(), passed + 1));
            steps.extend(children(project, &directory).map(|child| (child, passed)));
        } else if name.contains('*') {
            let fitting = children(project, &directory)
                .filter(|child| matches_pattern(crate::imports::paths::file_name(child), name));
            steps.extend(fitting.map(|child| (child, passed + 1)));
        } else {
            steps.extend(join(&directory, name).map(|child| (child, passed + 1)));
        }
    }
    found
}

fn children(project: &CachedProject<'_>, directory: &str) -> impl Iterator<Item = String> {
    let names = project.list_directories(directory);
    names
        .into_iter()
        .filter(|name| !name.starts_with('.') && !SKIPPED_DIRECTORIES.contains(&name.as_str()))
        .map(move |name| child_path(directory, &name))
}

/// True if a name matches a pattern with `*` in it.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sample_project::Sample;

    #[track_caller]
    fn check(patterns: &[&str], expected: &[&str]) {
        let sample = Sample::of(&[
            "m",
            "packages/a/m",
            "packages/b/m",
            "packages/b/deep/m",
            "packages/notes/x",
            "packages/node_modules/x/m",
            "tools/m",
        ]);
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let found = find_members(&CachedProject::new(&sample), "", &patterns, "m");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{patterns:?}");
    }

    #[test]
    fn patterns_match_directories_with_a_manifest() {
        check(&["packages/*"], &["packages/a", "packages/b"]);
        check(
            &["./packages/*/", "tools"],
            &["packages/a", "packages/b", "tools"],
        );
        check(&["packages/**"], &["packages/a", "packages/b", "packages/b/deep"]);
        check(&["packages/*", "!packages/b"], &["packages/a"]);
        check(&["."], &[""]);
        check(
            &["../x", "/etc", "**/**/**"],
            &["", "packages/a", "packages/b", "packages/b/deep", "tools"],
        );
    }

    #[test]
    fn a_star_matches_any_part_of_a_name() {
        for (name, pattern, fitting) in [
            ("plugin-a", "plugin-*", true),
            ("plugin", "plugin-*", false),
            ("a-x-b", "a*b", true),
            ("ab", "a*b*", true),
            ("aXbYc", "a*b*c", true),
            ("aXc", "a*b*c", false),
        ] {
            assert_eq!(matches_pattern(name, pattern), fitting, "{name} {pattern}");
        }
    }
}
