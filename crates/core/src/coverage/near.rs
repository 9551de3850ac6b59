//! Files of a report that a caller may have meant by a path that it does not have: a mistyped name, another
//! directory, or a directory in place of its files.
//!
//! Invariant: the work for a path is linear in the size of the report.

use super::{FileNames, Report};

/// What a report has near a path that is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearFiles<'a> {
    /// The path is a directory with this many files of the report, of which this is the first.
    Below { first: &'a str, count: usize },
    /// Files with the same name elsewhere, or with almost the same path, the nearest first.
    Similar(Vec<&'a str>),
}

/// Files that are named for one path.
const MAX_SIMILAR_FILES: usize = 3;

/// Letters in which a mistyped path may differ.
const MAX_TYPOS: usize = 2;

impl Report {
    /// What is near a path that [`Report::find`] has not found. `None` if nothing is.
    pub fn near(&self, path: &str, names: &FileNames) -> Option<NearFiles<'_>> {
        let name = names.normalise(path);
        let name = name.trim_end_matches('/');
        if name.is_empty() {
            return None;
        }
        let start = format!("{name}/");
        let below = self.files().partition_point(|file| file.path < start);
        let count = self.files()[below..]
            .iter()
            .take_while(|file| file.path.starts_with(&start))
            .count();
        if count > 0 {
            let first = self.files()[below].path.as_str();
            return Some(NearFiles::Below { first, count });
        }
        let mut similar: Vec<(usize, &str)> = self
            .files()
            .iter()
            .filter_map(|file| Some((distance(name, &file.path)?, file.path.as_str())))
            .collect();
        similar.sort_unstable();
        similar.truncate(MAX_SIMILAR_FILES);
        let files: Vec<&str> = similar.into_iter().map(|(_, path)| path).collect();
        (!files.is_empty()).then_some(NearFiles::Similar(files))
    }
}

/// How far two paths are from each other, letter case aside: the number of typos, or one more than the most
/// of them for the same file name in another directory. `None` if they are further apart.
fn distance(one: &str, other: &str) -> Option<usize> {
    let (own, others) = (file_name(one), file_name(other));
    let stem = own.split('.').next().unwrap_or_default().chars().count();
    // In a short name, one other letter makes another word.
    let typos = count_typos(one, other, MAX_TYPOS.min(stem / 3));
    typos.or_else(|| (own.eq_ignore_ascii_case(others) && !own.is_empty()).then_some(MAX_TYPOS + 1))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The edits (a letter added, removed, replaced, or swapped with the next) between two texts, if there are at
/// most `max`.
pub fn count_typos(one: &str, other: &str, max: usize) -> Option<usize> {
    // A large report has 100,000 paths, and most are told apart by their length, without a table. A letter
    // has at most four bytes.
    if one.len().abs_diff(other.len()) > 4 * max {
        return None;
    }
    let letters = |text: &str| -> Vec<char> { text.chars().map(|c| c.to_ascii_lowercase()).collect() };
    let (one, other) = (letters(one), letters(other));
    if one.len().abs_diff(other.len()) > max {
        return None;
    }
    if max == 0 {
        return (one == other).then_some(0);
    }
    // Three rows of the table of optimal string alignment, and only the cells within `max` of its diagonal.
    let unreachable = max + 1;
    let width = other.len() + 1;
    let mut before_last = vec![unreachable; width];
    let mut last: Vec<usize> = (0..width).map(|at| at.min(unreachable)).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![unreachable; width];
        if row < max {
            next[0] = row + 1;
        }
        let end = (row + 1 + max).min(other.len());
        for column in row.saturating_sub(max)..end {
            let replaced = last[column] + usize::from(*letter != other[column]);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *letter == other[column - 1] && one[row - 1] == other[column] {
                least = least.min(before_last[column - 1] + 1);
            }
            next[column + 1] = least.min(unreachable);
        }
        before_last = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|typos| *typos <= max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::{FileCoverage, LineHits};
    use proptest::prelude::*;

    fn near(path: &str) -> String {
        let paths = ["src/api/mod.rs", "src/coverage.ts", "src/parser.ts", "src/x.ts"];
        let file = |path: &str| FileCoverage {
            path: path.to_owned(),
            lines: LineHits { found: 2, hit: 1 },
        };
        let report = Report::new(paths.into_iter().map(file).collect());
        match report.near(path, &FileNames::new(["/project"])) {
            None => String::new(),
            Some(NearFiles::Below { first, count }) => format!("{count} below, {first}"),
            Some(NearFiles::Similar(files)) => files.join(", "),
        }
    }

    #[test]
    fn a_mistyped_path_is_near_the_file_that_it_means() {
        assert_eq!(near("src/pasrer.ts"), "src/parser.ts");
        assert_eq!(near("./SRC/Parsr.ts"), "src/parser.ts");
        assert_eq!(near("/project/src/parsers.ts"), "src/parser.ts");
        assert_eq!(near("lib/parser.ts"), "src/parser.ts");
        assert_eq!(near("src/coverages.tsx"), "src/coverage.ts");
    }

    #[test]
    fn a_directory_is_near_its_files() {
        assert_eq!(near("src"), "4 below, src/api/mod.rs");
        assert_eq!(near("src/api/"), "1 below, src/api/mod.rs");
    }

    #[test]
    fn another_file_is_near_nothing() {
        for path in ["src/new-file.ts", "src/y.ts", "", "src/a/b/c", "packages"] {
            assert_eq!(near(path), "", "{path}");
        }
    }

    /// The whole table, as a book writes it.
    fn count_all_typos(one: &[char], other: &[char]) -> usize {
        let mut table = vec![vec![0; other.len() + 1]; one.len() + 1];
        for row in 0..=one.len() {
            for column in 0..=other.len() {
                table[row][column] = if row == 0 || column == 0 {
                    row + column
                } else {
                    let replaced =
                        table[row - 1][column - 1] + usize::from(one[row - 1] != other[column - 1]);
                    let mut least = replaced
                        .min(table[row - 1][column] + 1)
                        .min(table[row][column - 1] + 1);
                    if row > 1
                        && column > 1
                        && one[row - 1] == other[column - 2]
                        && one[row - 2] == other[column - 1]
                    {
                        least = least.min(table[row - 2][column - 2] + 1);
                    }
                    least
                };
            }
        }
        table[one.len()][other.len()]
    }

    proptest! {
        #[test]
        fn the_narrow_table_counts_like_the_whole_one(one in "[ab/]{0,8}", other in "[ab/]{0,8}", max in 0_usize..3) {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            let all = count_all_typos(&letters(&one), &letters(&other));
            prop_assert_eq!(count_typos(&one, &other, max), (all <= max).then_some(all));
        }
    }
}
