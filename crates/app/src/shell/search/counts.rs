//! The number of lines that an answer leaves out, by file, or by directory where there are many files.
//!
//! Invariant: the numbers add up to all lines that are left out.

use std::collections::BTreeMap;

use docent_core::text::reveal::reveal_part;

use crate::markdown::length;

/// Characters of the list. Names are joined to their directories until it fits.
const MAX_CHARS: usize = 400;

/// `… 12 more: src/a.rs 4, src/net/ 8`. Empty if nothing is left out.
pub(super) fn count_rest(files: &[(&str, u64)]) -> String {
    let total: u64 = files.iter().map(|(_, lines)| lines).sum();
    if total == 0 {
        return String::new();
    }
    format!("… {total} more: {}\n", list_counts(files))
}

/// `src/a.rs 4, src/net/ 8`, on one line whatever the names are.
pub(super) fn list_counts(files: &[(&str, u64)]) -> String {
    let deepest = files
        .iter()
        .map(|(path, _)| depth(path))
        .max()
        .unwrap_or_default();
    let by_file = files.iter().map(|(path, lines)| (one_line(path), *lines));
    let mut list = join(by_file);
    for level in (0..deepest).rev() {
        if length(&list) <= MAX_CHARS {
            break;
        }
        let mut directories: BTreeMap<String, u64> = BTreeMap::new();
        for (path, lines) in files {
            *directories
                .entry(first_steps(&one_line(path), level))
                .or_default() += lines;
        }
        list = join(directories.into_iter());
    }
    list
}

fn one_line(path: &str) -> String {
    reveal_part(path).replace('\n', "\\u{A}")
}

fn join(counts: impl Iterator<Item = (String, u64)>) -> String {
    let counts: Vec<String> = counts.map(|(name, lines)| format!("{name} {lines}")).collect();
    counts.join(", ")
}

/// How many directories a path has.
fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// The first directories of a path, or the whole path if it has no more of them.
fn first_steps(path: &str, count: usize) -> String {
    if depth(path) <= count {
        return path.to_owned();
    }
    let mut steps: Vec<&str> = path.split('/').take(count).collect();
    if steps.is_empty() {
        return "./".to_owned();
    }
    steps.push("");
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_counted_by_name_and_many_by_directory() {
        let few = [("src/a.rs", 2), ("b.rs", 1)];
        assert_eq!(count_rest(&few), "… 3 more: src/a.rs 2, b.rs 1\n");

        let names: Vec<String> = (0..60)
            .map(|n| format!("src/net/{}/file.rs", n % 20 * 100 + n))
            .collect();
        let many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 2)).collect();
        assert_eq!(count_rest(&many), "… 120 more: src/net/ 120\n");
        assert_eq!(count_rest(&[]), "");
    }
}
