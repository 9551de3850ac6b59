//! Coverage as it is told: how many lines of which file were reached, and what percentage that makes.
//!
//! Invariant: a [`Report`] lists each file once, under the one [`Names`] gives it, and never more lines reached than
//! there are.

pub mod lcov;
pub mod snapshot;

use std::collections::BTreeSet;
use std::fmt;

use crate::path::normal;

/// How much of each file the tests reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// By path.
    files: Vec<FileCoverage>,
    total: LineHits,
}

/// One file of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCoverage {
    pub path: String,
    pub lines: LineHits,
}

/// Lines that could be reached, and those that were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineHits {
    pub found: u64,
    pub hit: u64,
}

/// A percentage to one decimal, or the difference of two, counted in tenths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent {
    pub tenths: i32,
}

/// More files than one could be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("several files of the report end in that path")]
pub struct Ambiguous {
    pub candidates: Vec<String>,
}

impl Report {
    /// A report of files that are all different.
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

    /// All lines of all files.
    pub fn total(&self) -> LineHits {
        self.total
    }

    /// The file a caller means by `path`: the one of that name; else the only one that has this name from where the report's
    /// own paths may begin, or that ends in it.
    pub fn find(&self, path: &str, names: &Names) -> Result<Option<&FileCoverage>, Ambiguous> {
        let asked = names.name(path);
        if let Some(file) = self.named(&asked) {
            return Ok(Some(file));
        }
        let from = |start: &String| {
            // A report with paths below that directory has written them from further up.
            let below = asked.strip_prefix(start.as_str())?.strip_prefix('/')?;
            self.named(below).filter(|_| !self.has_below(start))
        };
        // A path that says where it begins can only be the end of one that begins elsewhere.
        let begins = is_absolute(&normal(path));
        let ends = |file: &&FileCoverage| {
            let start = file.path.strip_suffix(asked.as_str()).unwrap_or_default();
            start.ends_with('/') && (!begins || is_absolute(start))
        };
        let has_end = !asked.is_empty() && !asked.starts_with("../") && !is_absolute(&asked);
        let meant: BTreeSet<&str> = names
            .starts
            .iter()
            .filter_map(from)
            .chain(self.files.iter().filter(|file| has_end && ends(file)))
            .map(|file| file.path.as_str())
            .collect();
        match meant.first() {
            None => Ok(None),
            Some(only) if meant.len() == 1 => Ok(self.named(only)),
            Some(_) => Err(Ambiguous {
                candidates: meant.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    fn has_below(&self, directory: &str) -> bool {
        let start = format!("{directory}/");
        let first = self.files.partition_point(|file| file.path < start);
        self.files
            .get(first)
            .is_some_and(|file| file.path.starts_with(&start))
    }

    fn named(&self, path: &str) -> Option<&FileCoverage> {
        let at = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        Some(&self.files[at])
    }
}

impl LineHits {
    /// Rounded half away from zero. Of nothing, nothing is covered.
    pub fn percent(self) -> Percent {
        let (found, hit) = (u128::from(self.found), u128::from(self.hit));
        let tenths = (hit * 2_000 + found).checked_div(found * 2).unwrap_or(0);
        Percent {
            tenths: i32::try_from(tenths).expect("what is hit is part of what is found"),
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

/// What files are called: relative to the project where they are inside it, whatever the report or a caller wrote.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The project's directory, under every name it has.
    roots: Vec<String>,
    /// Directories where relative paths of the report may begin, beside the project's own.
    starts: Vec<String>,
}

/// Where reports usually are, as their makers have it by default or in their manuals.
pub const USUAL_PLACES: [&str; 15] = [
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

impl Names {
    /// Names in the project that is found at each of `roots`.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            roots: roots
                .into_iter()
                .map(|root| normal(root).trim_end_matches('/').to_owned())
                .collect(),
            starts: Vec::new(),
        }
    }

    /// The same for a report that lies at `path`. A package of a larger project has a report of its own, with paths that
    /// begin in the package: the directory where `path` would be a usual place, else any directory above.
    #[must_use]
    pub fn of_report_at(mut self, path: &str) -> Self {
        let path = self.name(path);
        let before = |usual: &&str| {
            let before = path.strip_suffix(usual)?;
            (before.is_empty() || before.ends_with('/')).then_some(before)
        };
        self.starts = match USUAL_PLACES
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

    /// The one name of the file that `path` means: `/` between components, no `.`, no `..` that can be followed, and
    /// relative to the project inside of it.
    pub fn name(&self, path: &str) -> String {
        let path = normal(path);
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

/// True for a name that says where it begins.
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
    fn a_file_has_one_name() {
        let names = Names::new(["/home/me/project", r"D:\work\project\"]);
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
            assert_eq!(names.name(written), name, "{written}");
        }
    }

    #[test]
    fn a_project_at_the_top_of_the_machine_has_names_too() {
        assert_eq!(Names::new(["/"]).name("/src/a.ts"), "src/a.ts");
    }

    #[test]
    fn a_file_is_found_by_its_path_else_by_an_end_only_one_has() {
        let names = Names::new(["/p"]);
        let report = report(&["/build/src/b.rs", "a.rs", "lib/a.rs", "src/a.rs", "src/b_b.rs"]);
        let find = |asked: &str| {
            report
                .find(asked, &names)
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
    fn a_path_that_leads_up_is_no_end_of_another() {
        let report = report(&["../../a.rs"]);
        assert_eq!(report.find("../a.rs", &Names::default()), Ok(None));
        assert!(report.find("../../a.rs", &Names::default()).unwrap().is_some());
    }

    #[test]
    fn an_end_that_several_have_is_ambiguous() {
        let report = report(&["one/a.rs", "two/a.rs", "three/b.rs"]);
        let candidates = vec!["one/a.rs".to_owned(), "two/a.rs".to_owned()];
        assert_eq!(
            report.find("a.rs", &Names::default()),
            Err(Ambiguous { candidates })
        );
    }

    #[test]
    fn a_report_inside_a_package_may_begin_its_paths_there() {
        let report = report(&["src/a.rs"]);
        let names = Names::new(["/p"]).of_report_at("/p/packages/one/coverage/lcov.info");
        let found = |asked: &str| report.find(asked, &names).unwrap().is_some();
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

        let names = Names::new(["/p"]).of_report_at("/p/coverage/lcov.info");
        assert_eq!(report.find("coverage/src/a.rs", &names), Ok(None));
        let names = Names::new(["/p"]).of_report_at("/p/packages/one/out/x.info");
        assert!(report.find("packages/one/src/a.rs", &names).unwrap().is_some());
    }

    #[test]
    fn a_report_inside_a_package_may_begin_its_paths_at_the_top() {
        let report = report(&["packages/one/src/b.rs", "src/a.rs"]);
        let names = Names::new(["/p"]).of_report_at("/p/packages/one/coverage/lcov.info");
        assert_eq!(report.find("packages/one/src/a.rs", &names), Ok(None));
    }

    #[test]
    fn two_ways_to_be_meant_are_ambiguous() {
        let report = report(&["lib/packages/one/src/a.rs", "src/a.rs"]);
        let names = Names::new(["/p"]).of_report_at("/p/packages/one/coverage/lcov.info");
        assert!(report.find("packages/one/src/a.rs", &names).is_err());
    }

    proptest! {
        #[test]
        fn a_name_is_its_own_name(path in r"([a-c.]{0,3}[/\\]){0,6}[a-c.]{0,3}") {
            let names = Names::new(["/a"]);
            let name = names.name(&path);
            prop_assert_eq!(names.name(&name), name);
        }
    }
}
