//! Members of a workspace: the directories that patterns such as `packages/*` name.
//!
//! Of patterns, `*` inside a name, `**` for any directories and a leading `!` are known, as package managers use them.
//!
//! Invariant: at most [`MAX_VISITS`] directories are looked at, however the patterns and the project are made.

use std::collections::{BTreeSet, VecDeque};

use crate::imports::cached_project::CachedProject;
use crate::imports::paths::{child_path, join};

const MAX_VISITS: usize = 5_000;

/// Directories below which no member is looked for by a wildcard.
pub(in crate::imports) const NEVER: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "dist",
    "build",
    "bower_components",
];

/// The directories below `base` that a pattern names and that hold a file called `manifest`.
pub(in crate::imports) fn members(
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
        for directory in matches(project, base, pattern, &mut visits) {
            if excluded {
                found.remove(&directory);
            } else if project.is_file(&child_path(&directory, manifest)) {
                found.insert(directory);
            }
        }
    }
    found
}

fn matches(project: &CachedProject<'_>, base: &str, pattern: &str, visits: &mut usize) -> BTreeSet<String> {
    let names: Vec<&str> = pattern
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    let mut found = BTreeSet::new();
    // Each step: a directory, and how many names of the pattern lead to it.
    let mut steps = VecDeque::from([(base.to_owned(), 0)]);
    while let Some((directory, passed)) = steps.pop_front() {
        *visits += 1;
        if *visits > MAX_VISITS {
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
            let fitting =
                children(project, &directory).filter(|child| fits(crate::imports::paths::name(child), name));
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
        .filter(|name| !name.starts_with('.') && !NEVER.contains(&name.as_str()))
        .map(move |name| child_path(directory, &name))
}

/// True for a name that a pattern with `*` in it takes.
fn fits(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.split_once(piece) {
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
        let found = members(&CachedProject::new(&sample), "", &patterns, "m");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{patterns:?}");
    }

    #[test]
    fn patterns_name_directories_that_hold_the_manifest() {
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
    fn a_star_stands_for_any_part_of_a_name() {
        for (name, pattern, fitting) in [
            ("plugin-a", "plugin-*", true),
            ("plugin", "plugin-*", false),
            ("a-x-b", "a*b", true),
            ("ab", "a*b*", true),
            ("aXbYc", "a*b*c", true),
            ("aXc", "a*b*c", false),
        ] {
            assert_eq!(fits(name, pattern), fitting, "{name} {pattern}");
        }
    }
}
