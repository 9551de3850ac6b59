//! Snapshots of coverage: their stored form, and the comparison of two reports.
//!
//! A snapshot has one line per file with its unescaped name, so that every report is read back exactly as it
//! was written.
//!
//! Invariant: a snapshot ends with the number of its files, so a torn one is never read.

use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;

use super::{FileCoverage, LineHits, Percent, Report};

/// A coverage report at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Milliseconds since 1970.
    pub taken: i64,
    /// Identifies the project. Only compared, never interpreted.
    pub project: String,
    pub report: Arc<Report>,
}

/// The differences between two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub overall: Percent,
    /// Every file of either report, sorted by path.
    pub files: Vec<CoverageChange>,
}

/// The change of one file between two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageChange {
    pub path: String,
    pub change: Percent,
    pub presence: Presence,
}

impl CoverageChange {
    /// True if the percentage or the presence of the file differs.
    pub fn is_change(&self) -> bool {
        self.change.tenths != 0 || self.presence != Presence::Both
    }
}

/// The reports that have a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Both,
    New,
    Removed,
}

/// First line of a snapshot, with the version of the format.
const HEAD: &str = "docent-snapshot 1";

impl Snapshot {
    /// The snapshot as text.
    pub fn write(&self) -> String {
        let Self {
            taken,
            project,
            report,
        } = self;
        let mut text = format!("{HEAD}\n{taken} {project}\n");
        for FileCoverage { path, lines } in report.files() {
            let LineHits { found, hit } = lines;
            writeln!(text, "{hit} {found} {path}").expect("writing to a String does not fail");
        }
        text + &format!("{} files\n", report.files().len())
    }

    /// Reads a snapshot; `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once('\n')?;
        let (about, rest) = rest.split_once('\n')?;
        let (taken, project) = about.split_once(' ')?;
        let (files, foot) = rest.strip_suffix(" files\n")?.rsplit_once('\n')?;
        let files: Vec<FileCoverage> = files.split('\n').map(read_file_line).collect::<Option<_>>()?;
        (head == HEAD && foot.parse() == Ok(files.len())).then_some(Self {
            taken: taken.parse().ok()?,
            project: project.to_owned(),
            report: Arc::new(Report::new(files)),
        })
    }
}

/// Reads `3 4 src/a.rs`: three of four lines were hit.
fn read_file_line(line: &str) -> Option<FileCoverage> {
    let mut fields = line.splitn(3, ' ');
    let mut count = || fields.next()?.parse().ok();
    let (hit, found) = (count()?, count()?);
    let path = fields.next()?.to_owned();
    let lines = LineHits { found, hit };
    (hit <= found).then_some(FileCoverage { path, lines })
}

impl Comparison {
    /// Compares two reports by their rounded percentages, as they are shown.
    pub fn between(before: &Report, now: &Report) -> Self {
        let (mut old, mut new) = (before.files(), now.files());
        let mut files = Vec::with_capacity(new.len());
        loop {
            let order = match (old, new) {
                ([], []) => break,
                ([_, ..], []) => Ordering::Less,
                ([], [_, ..]) => Ordering::Greater,
                ([old, ..], [new, ..]) => old.path.cmp(&new.path),
            };
            let (path, change, presence) = match order {
                Ordering::Less => (&old[0].path, -old[0].lines.percent(), Presence::Removed),
                Ordering::Greater => (&new[0].path, new[0].lines.percent(), Presence::New),
                Ordering::Equal => {
                    let change = new[0].lines.percent() - old[0].lines.percent();
                    (&new[0].path, change, Presence::Both)
                }
            };
            files.push(CoverageChange {
                path: path.clone(),
                change,
                presence,
            });
            if order.is_le() {
                old = &old[1..];
            }
            if order.is_ge() {
                new = &new[1..];
            }
        }
        Self {
            overall: now.total().percent() - before.total().percent(),
            files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(files: &[(&str, u64, u64)]) -> Report {
        let file = |&(path, hit, found): &(&str, u64, u64)| FileCoverage {
            path: path.to_owned(),
            lines: LineHits { found, hit },
        };
        Report::new(files.iter().map(file).collect())
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            taken: 1_729_533_600_000,
            project: "a1b2".into(),
            report: Arc::new(report(&[
                ("src/a, b.rs", 3, 4),
                ("/out/ä.rs\r", 0, 0),
                (" ", 1, 1),
            ])),
        }
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        assert_eq!(Snapshot::read(&snapshot().write()), Some(snapshot()));
    }

    #[test]
    fn torn_and_other_text_is_no_snapshot() {
        let text = snapshot().write();
        for end in 0..text.len() {
            let torn = text.get(..end).and_then(Snapshot::read);
            assert_eq!(torn, None, "{end}");
        }
        for other in [
            "SF:a\nDA:1,1\nend_of_record\n",
            "docent-snapshot 1\n1 a\n5 4 x\n1 files\n",
        ] {
            assert_eq!(Snapshot::read(other), None, "{other}");
        }
        assert_eq!(
            Snapshot::read(&text.replacen("\n1 1", "\n1 1 more\n1 1", 1)),
            None
        );
        assert_eq!(
            Snapshot::read(&text.replacen("snapshot 1", "snapshot 2", 1)),
            None
        );
    }

    #[test]
    fn changes_are_differences_of_rounded_percentages() {
        let before = report(&[("down", 1, 3), ("gone", 1, 2), ("same", 1, 1), ("up", 0, 1)]);
        let now = report(&[("down", 1, 6), ("fresh", 3, 4), ("same", 2, 2), ("up", 1, 1)]);
        let comparison = Comparison::between(&before, &now);
        let shown: Vec<String> = comparison
            .files
            .iter()
            .map(|file| format!("{} {} {:?}", file.path, file.change, file.presence))
            .collect();
        assert_eq!(
            shown,
            [
                "down -16.6 Both",
                "fresh 75.0 New",
                "gone -50.0 Removed",
                "same 0.0 Both",
                "up 100.0 Both"
            ]
        );
        // 3 of 7 lines, then 7 of 13.
        assert_eq!(comparison.overall.to_string(), "10.9");
    }
}
