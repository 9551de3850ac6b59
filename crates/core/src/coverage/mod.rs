//! Line coverage: how many lines of which file the tests reached, as counts and percentages.
//!
//! A report format is a module here (`lcov`) that yields a [`Report`]. Function and branch coverage are left
//! out.
//!
//! Invariant: a [`Report`] lists each file once, under the name that [`FileNames`] gives it, and never more
//! lines hit than found.

pub mod lcov;
pub mod near;
pub mod snapshot;

use std::collections::BTreeSet;
use std::fmt;

use crate::path::normalise_path;

/// A coverage report: the lines of each file that the tests reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sorted by path.
    files: Vec<FileCoverage>,
    total: LineHits,
}

/// One file of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCoverage {
    pub path: String,
    pub lines: LineHits,
}

/// Lines that can be reached (`found`), and lines that were (`hit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineHits {
    pub found: u64,
    pub hit: u64,
}

/// A percentage with one decimal, or the difference of two, in tenths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent {
    pub tenths: i32,
}

/// A caller's path that fits several files of a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("several files of the report end in that path")]
pub struct AmbiguousPath {
    pub candidates: Vec<String>,
}

impl Report {
    /// A report of files with distinct paths.
    pub(crate) fn new(mut files: Vec<FileCoverage>) -> Self {
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let total = files.iter().fold(LineHits::default(), |sum, file| LineHits {
            found: sum.found.saturating_add(file.lines.found),
            hit: sum.hit.saturating_add(file.lines.hit),
        });
        Self { files, total }
    }

    pub fn files(&self) -> &[FileCoverage] {
        &self.files
    }

    /// The lines of all files together.
    pub fn total(&self) -> LineHits {
        self.total
    }

    /// The file a caller means by `path`: the one of that name, else the only one that the path leads to from
    /// a base directory of the report, or whose path ends in it.
    pub fn find(&self, path: &str, names: &FileNames) -> Result<Option<&FileCoverage>, AmbiguousPath> {
        let name = names.normalise(path);
        if let Some(file) = self.file_named(&name) {
            return Ok(Some(file));
        }
        let from_base = |base: &String| {
            // A report with paths below that directory writes its paths from further up.
            let below = name.strip_prefix(base.as_str())?.strip_prefix('/')?;
            self.file_named(below).filter(|_| !self.has_files_below(base))
        };
        // An absolute path of a caller fits only absolute paths of the report, made in another directory.
        let is_rooted = is_absolute(&normalise_path(path));
        let ends_in_name = |file: &&FileCoverage| {
            let start = file.path.strip_suffix(name.as_str()).unwrap_or_default();
            start.ends_with('/') && (!is_rooted || is_absolute(start))
        };
        let may_be_end = !name.is_empty() && !name.starts_with("../") && !is_absolute(&name);
        let candidates: BTreeSet<&str> = names
            .bases
            .iter()
            .filter_map(from_base)
            .chain(self.files.iter().filter(|file| may_be_end && ends_in_name(file)))
            .map(|file| file.path.as_str())
            .collect();
        match candidates.first() {
            None => Ok(None),
            Some(only) if candidates.len() == 1 => Ok(self.file_named(only)),
            Some(_) => Err(AmbiguousPath {
                candidates: candidates.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    fn has_files_below(&self, directory: &str) -> bool {
        let start = format!("{directory}/");
        let first = self.files.partition_point(|file| file.path < start);
        self.files
            .get(first)
            .is_some_and(|file| file.path.starts_with(&start))
    }

    fn file_named(&self, path: &str) -> Option<&FileCoverage> {
        let at = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        Some(&self.files[at])
    }
}

impl LineHits {
    /// Rounded half away from zero; 0 for a file without lines.
    pub fn percent(self) -> Percent {
        let (found, hit) = (u128::from(self.found), u128::from(self.hit));
        let tenths = (hit * 2_000 + found).checked_div(found * 2).unwrap_or(0);
        Percent {
            tenths: i32::try_from(tenths).expect("hit lines are among the found ones"),
        }
    }
}

impl std::ops::Sub for Percent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            tenths: self.tenths - other.tenths,
        }
    }
}

impl std::ops::Neg for Percent {
    type Output = Self;

    fn neg(self) -> Self {
        Self { tenths: -self.tenths }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.tenths < 0 { "-" } else { "" };
        let tenths = self.tenths.unsigned_abs();
        f.pad(&format!("{sign}{}.{}", tenths / 10, tenths % 10))
    }
}

/// Gives each file one name, however a report or a caller spells its path: relative to the project if it is
/// inside.
#[derive(Clone, Debug, Default)]
pub struct FileNames {
    /// The project's directory, under every path it has.
    roots: Vec<String>,
    /// Directories that relative paths of the report may start from, beside the project's own.
    bases: Vec<String>,
}

/// Paths that coverage tools write their reports to, by default or in their manuals.
pub const USUAL_REPORT_PATHS: [&str; 15] = [
    "coverage/lcov.info",
    "lcov.info",
    "target/llvm-cov/lcov.info",
    "target/lcov.info",
    "target/coverage/lcov.info",
    "coverage.lcov",
    "coverage.info",
    "coverage/coverage.info",
    "coverage/lcov/lcov.info",
    "cover/lcov.info",
    "build/coverage.info",
    "build/lcov.info",
    "build/coverage/lcov.info",
    "reports/lcov.info",
    "bazel-out/_coverage/_coverage_report.dat",
];

impl FileNames {
    /// Names for the project that lies at each of `roots`.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            roots: roots
                .into_iter()
                .map(|root| normalise_path(root).trim_end_matches('/').to_owned())
                .collect(),
            bases: Vec::new(),
        }
    }

    /// The same names for a report that lies at `path`. The report of a package in a larger project may have
    /// paths that start from the package: from the directory in which `path` is a usual report path, else
    /// from any directory above.
    #[must_use]
    pub fn for_report_at(mut self, path: &str) -> Self {
        let path = self.normalise(path);
        let before = |usual: &&str| {
            let before = path.strip_suffix(usual)?;
            (before.is_empty() || before.ends_with('/')).then_some(before)
        };
        self.bases = match USUAL_REPORT_PATHS
            .iter()
            .filter_map(before)
            .min_by_key(|before| before.len())
        {
            Some("") => Vec::new(),
            Some(package) => vec![package.trim_end_matches('/').to_owned()],
            None => path
                .rmatch_indices('/')
                .map(|(end, _)| path[..end].to_owned())
                .collect(),
        };
        self
    }

    /// The one name of the file at `path`: separated by `/`, without `.` and resolvable `..`, and relative to
    /// the project if it is inside.
    pub fn normalise(&self, path: &str) -> String {
        let path = normalise_path(path);
        let inside = self
            .roots
            .iter()
            .find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'));
        match inside {
            Some(inside) => inside.to_owned(),
            None => path,
        }
    }
}

/// True for an absolute path, on Unix or on Windows.
fn is_absolute(name: &str) -> bool {
    matches!(name.as_bytes(), [b'/', ..] | [_, b':', b'/', ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report(paths: &[&str]) -> Report {
        let file = |path: &&str| FileCoverage {
            path: (*path).to_owned(),
            lines: LineHits { found: 2, hit: 1 },
        };
        Report::new(paths.iter().map(file).collect())
    }

    fn percent(hit: u64, found: u64) -> String {
        LineHits { found, hit }.percent().to_string()
    }

    #[test]
    fn percentages_have_one_decimal_and_round_half_away_from_zero() {
        assert_eq!(percent(0, 0), "0.0");
        assert_eq!(percent(0, 7), "0.0");
        assert_eq!(percent(7, 7), "100.0");
        assert_eq!(percent(2, 3), "66.7");
        assert_eq!(percent(1, 3), "33.3");
        assert_eq!(percent(1, 2_000), "0.1");
        assert_eq!(percent(999, 2_000), "50.0");
        assert_eq!(percent(997, 2_000), "49.9");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0");
        assert_eq!(
            (Percent { tenths: 5 } - Percent { tenths: 28 }).to_string(),
            "-2.3"
        );
    }

    #[test]
    fn every_spelling_of_a_path_gives_one_name() {
        let names = FileNames::new(["/home/me/project", r"D:\work\project\"]);
        for (written, name) in [
            ("src/a.ts", "src/a.ts"),
            ("./src//a.ts", "src/a.ts"),
            (r"src\a.ts", "src/a.ts"),
            ("src/lib/../a.ts", "src/a.ts"),
            ("/home/me/project/src/a.ts", "src/a.ts"),
            ("/home/me/project/../project/./src/a.ts", "src/a.ts"),
            (r"d:\work\project\src\a.ts", "src/a.ts"),
            (r"C:\work\project\src\a.ts", "C:/work/project/src/a.ts"),
            ("/home/me/project2/a.ts", "/home/me/project2/a.ts"),
            ("../other/a.ts", "../other/a.ts"),
            ("../../a.ts", "../../a.ts"),
            ("/../a.ts", "/a.ts"),
            ("/home/me/project", "/home/me/project"),
            ("", ""),
        ] {
            assert_eq!(names.normalise(written), name, "{written}");
        }
    }

    #[test]
    fn a_project_at_the_file_system_root_has_relative_names() {
        assert_eq!(FileNames::new(["/"]).normalise("/src/a.ts"), "src/a.ts");
    }

    #[test]
    fn a_file_is_found_by_its_path_or_by_an_unambiguous_end_of_it() {
        let names = FileNames::new(["/p"]);
        let report = report(&["/build/src/b.rs", "a.rs", "lib/a.rs", "src/a.rs", "src/b_b.rs"]);
        let find = |path: &str| {
            report
                .find(path, &names)
                .map(|file| file.map(|file| file.path.as_str()))
        };
        assert_eq!(find("src/a.rs"), Ok(Some("src/a.rs")));
        assert_eq!(find("/p/lib/a.rs"), Ok(Some("lib/a.rs")));
        assert_eq!(
            find("a.rs"),
            Ok(Some("a.rs")),
            "the very path, though others end in it"
        );
        assert_eq!(find("src/b.rs"), Ok(Some("/build/src/b.rs")));
        assert_eq!(
            find("b.rs"),
            Ok(Some("/build/src/b.rs")),
            "`b_b.rs` has another name"
        );
        assert_eq!(find("absent.rs"), Ok(None));
        assert_eq!(
            find("other/src/a.rs"),
            Ok(None),
            "another file, perhaps of another package"
        );
        assert_eq!(find(""), Ok(None));
        assert_eq!(
            find("/p/src/b.rs"),
            Ok(Some("/build/src/b.rs")),
            "made in another place"
        );
        assert_eq!(find("/p/b_b.rs"), Ok(None), "not the one in src");
        assert_eq!(find("/q/src/a.rs"), Ok(None), "another project's");
    }

    #[test]
    fn a_path_with_parent_components_is_no_end_of_another() {
        let report = report(&["../../a.rs"]);
        assert_eq!(report.find("../a.rs", &FileNames::default()), Ok(None));
        assert!(
            report
                .find("../../a.rs", &FileNames::default())
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn an_end_that_several_files_share_is_ambiguous() {
        let report = report(&["one/a.rs", "two/a.rs", "three/b.rs"]);
        let candidates = vec!["one/a.rs".to_owned(), "two/a.rs".to_owned()];
        assert_eq!(
            report.find("a.rs", &FileNames::default()),
            Err(AmbiguousPath { candidates })
        );
    }

    #[test]
    fn a_report_inside_a_package_may_have_paths_from_the_package() {
        let report = report(&["src/a.rs"]);
        let names = FileNames::new(["/p"]).for_report_at("/p/packages/one/coverage/lcov.info");
        let found = |path: &str| report.find(path, &names).unwrap().is_some();
        assert!(found("packages/one/src/a.rs"));
        assert!(
            !found("packages/two/src/a.rs"),
            "the report says nothing about it"
        );
        assert!(
            !found("packages/one/coverage/src/a.rs"),
            "reports lie there, not code"
        );
        assert!(found("src/a.rs"));

        let names = FileNames::new(["/p"]).for_report_at("/p/coverage/lcov.info");
        assert_eq!(report.find("coverage/src/a.rs", &names), Ok(None));
        let names = FileNames::new(["/p"]).for_report_at("/p/packages/one/out/x.info");
        assert!(report.find("packages/one/src/a.rs", &names).unwrap().is_some());
    }

    #[test]
    fn a_report_inside_a_package_may_have_paths_from_the_project_root() {
        let report = report(&["packages/one/src/b.rs", "src/a.rs"]);
        let names = FileNames::new(["/p"]).for_report_at("/p/packages/one/coverage/lcov.info");
        assert_eq!(report.find("packages/one/src/a.rs", &names), Ok(None));
    }

    #[test]
    fn two_files_found_in_different_ways_are_ambiguous() {
        let report = report(&["lib/packages/one/src/a.rs", "src/a.rs"]);
        let names = FileNames::new(["/p"]).for_report_at("/p/packages/one/coverage/lcov.info");
        assert!(report.find("packages/one/src/a.rs", &names).is_err());
    }

    proptest! {
        #[test]
        fn normalising_a_name_twice_changes_nothing(path in r"([a-c.]{0,3}[/\\]){0,6}[a-c.]{0,3}") {
            let names = FileNames::new(["/a"]);
            let name = names.normalise(&path);
            prop_assert_eq!(names.normalise(&name), name);
        }
    }
}
