//! Snapshots of coverage: how one is written down, and what has changed since.
//!
//! A snapshot is written as LCOV itself, with totals instead of lines and one record of our own at each end: the
//! parser is there, and every LCOV tool can look into one. The record at the end makes a torn file recognisable.

use std::cmp::Ordering;
use std::fmt::Write;

use crate::coverage::{File, Lines, Names, Percent, Report};
use crate::lcov::Parser;

/// Coverage at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Milliseconds since 1970.
    pub taken: i64,
    /// The project it is of: a word, compared and not read.
    pub project: String,
    pub report: Report,
}

/// What is different between two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub overall: Percent,
    /// Every file of either report, by path.
    pub files: Vec<Changed>,
}

/// One file in two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: String,
    pub change: Percent,
    pub presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Both,
    New,
    Removed,
}

const HEAD: &str = "docent-snapshot:1,";
const FOOT: &str = "docent-files:";

impl Snapshot {
    /// The snapshot as text.
    pub fn write(&self) -> String {
        let mut text = format!("{HEAD}{},{}\n", self.taken, self.project);
        for File { path, lines } in self.report.files() {
            let Lines { found, hit } = lines;
            writeln!(text, "SF:{path}\nLF:{found}\nLH:{hit}\nend_of_record")
                .expect("writing to a String does not fail");
        }
        text + &format!("{FOOT}{}\n", self.report.files().len())
    }

    /// Reads a snapshot. Nothing for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let (taken, rest) = text.strip_prefix(HEAD)?.split_once(',')?;
        let (project, _) = rest.split_once('\n')?;
        let names = Names::default();
        let mut parser = Parser::new(&names);
        // An empty report cannot be parsed, and never is written.
        parser.feed(text.as_bytes()).ok()?;
        let report = parser.finish().ok()?;
        text.ends_with(&format!("\n{FOOT}{}\n", report.files().len()))
            .then_some(Self {
                taken: taken.parse().ok()?,
                project: project.to_owned(),
                report,
            })
    }
}

impl Comparison {
    /// What has changed from `before` to `now`, by the percentages as they are shown.
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
            files.push(Changed {
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
        let file = |&(path, hit, found): &(&str, u64, u64)| File {
            path: path.to_owned(),
            lines: Lines { found, hit },
        };
        Report::new(files.iter().map(file).collect())
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            taken: 1_729_533_600_000,
            project: "a1b2".into(),
            report: report(&[("src/a,b.rs", 3, 4), ("/out/ä.rs", 0, 0)]),
        }
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        assert_eq!(Snapshot::read(&snapshot().write()), Some(snapshot()));
    }

    #[test]
    fn what_is_torn_or_something_else_is_no_snapshot() {
        let text = snapshot().write();
        for end in 0..text.len() {
            let torn = text.get(..end).and_then(Snapshot::read);
            assert_eq!(torn, None, "{end}");
        }
        assert_eq!(Snapshot::read("SF:a\nDA:1,1\nend_of_record\n"), None);
        assert_eq!(
            Snapshot::read(&text.replacen("end_of_record\n", "end_of_record\nSF:c\nend_of_record\n", 1)),
            None
        );
    }

    #[test]
    fn changes_are_differences_of_what_is_shown() {
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
