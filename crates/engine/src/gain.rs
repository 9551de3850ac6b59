//! Counts of what `docent sh` saved, and of the commands that were left to their programs.
//!
//! A count is one short line that is appended with a single write, so that many processes can count at
//! once. A large file is replaced by its sums.
//!
//! Left out: command lines, patterns, paths and any other text of the user or the project.
//!
//! Invariant: a line has a day, the name of a known program, numbers, and a reason out of fixed words.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::files::{make_private, read_own, replace};

/// The counts of one project.
#[derive(Clone, Debug)]
pub struct GainLog {
    file: PathBuf,
    clock: Clock,
}

/// Calls of a program on one day that docent answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCount {
    pub day: Date,
    pub program: String,
    pub calls: u64,
    /// Characters that the program itself would have printed.
    pub plain_chars: u64,
    pub shown_chars: u64,
}

/// Commands of a program that were left alone, for one reason, on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAloneCount {
    pub day: Date,
    pub program: String,
    pub reason: String,
    pub calls: u64,
}

/// All counts, ordered by day and program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GainCounts {
    pub answers: Vec<AnswerCount>,
    pub left_alone: Vec<LeftAloneCount>,
}

/// A larger file is replaced by its sums.
const MAX_LOG_BYTES: u64 = 256 * 1024;

/// Bytes of a reason.
const MAX_REASON_BYTES: usize = 80;

/// Programs that are counted by name. All others are `other`.
const PROGRAMS: [&str; 20] = [
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "find",
    "fd",
    "fdfind",
    "ls",
    "tree",
    "git",
    "git grep",
    "git log",
    "git show",
    "git diff",
    "git blame",
    "git status",
    "Read",
    "cat",
    "sed",
];

impl GainLog {
    /// The counts in a project's folder of the user's state.
    pub fn new(folder: &Path, clock: Clock) -> Self {
        Self {
            file: folder.join("gain-1.log"),
            clock,
        }
    }

    /// Counts an answer of docent in place of a program's.
    pub fn record_answer(&self, program: &str, plain_chars: u64, shown_chars: u64) -> io::Result<()> {
        let program = name_of(program);
        self.append(&format!("answer\t{program}\t1\t{plain_chars}\t{shown_chars}"))
    }

    /// Counts a command that was left to its program.
    pub fn record_left_alone(&self, program: &str, reason: &str) -> io::Result<()> {
        let (program, reason) = (name_of(program), shorten_reason(program, reason));
        self.append(&format!("left\t{program}\t1\t{reason}"))
    }

    /// Reads all counts and adds those of the same day together. Lines that cannot be read are skipped.
    pub fn read(&self) -> io::Result<GainCounts> {
        Ok(parse(&read_own(&self.file)?.unwrap_or_default()))
    }

    fn append(&self, count: &str) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            make_private(folder)?;
        }
        let day = self.clock.now().to_zoned(TimeZone::UTC).date();
        let line = format!("{day}\t{count}\n");
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.file)?;
        file.write_all(line.as_bytes())?;
        if file.metadata()?.len() > MAX_LOG_BYTES {
            self.compact()?;
        }
        Ok(())
    }

    /// Replaces the file by its sums. A count that another process appends in between is lost.
    fn compact(&self) -> io::Result<()> {
        let counts = self.read()?;
        let mut text = String::new();
        for count in &counts.answers {
            let AnswerCount {
                day,
                program,
                calls,
                plain_chars,
                shown_chars,
            } = count;
            text += &format!("{day}\tanswer\t{program}\t{calls}\t{plain_chars}\t{shown_chars}\n");
        }
        for count in &counts.left_alone {
            let LeftAloneCount {
                day,
                program,
                reason,
                calls,
            } = count;
            text += &format!("{day}\tleft\t{program}\t{calls}\t{reason}\n");
        }
        // A file that stays this large would be replaced after each count: the oldest counts of both kinds
        // go.
        let most = usize::try_from(MAX_LOG_BYTES / 2).unwrap_or(usize::MAX);
        let lines = text.len().saturating_sub(most);
        let start = text.as_bytes()[lines..].iter().position(|byte| *byte == b'\n');
        let start = if lines == 0 {
            0
        } else {
            start.map_or(0, |end| lines + end + 1)
        };
        replace(&self.file, &text.as_bytes()[start..])
    }
}

impl GainCounts {
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.left_alone.is_empty()
    }
}

/// The program as it is counted.
fn name_of(program: &str) -> &'static str {
    PROGRAMS
        .into_iter()
        .find(|name| *name == program)
        .unwrap_or("other")
}

/// A reason without words of the user: values of flags, patterns and names are cut off.
fn shorten_reason(program: &str, reason: &str) -> String {
    let reason = reason.split(':').next().unwrap_or_default();
    let words = reason.split_whitespace().map(|word| {
        let flag = word.split('=').next().unwrap_or_default();
        // `-epattern` is a flag with its value; the flags of find are words.
        let is_short = flag.starts_with('-') && !flag.starts_with("--") && program != "find";
        let kept: String = flag.chars().take(if is_short { 2 } else { 40 }).collect();
        kept.replace(|char: char| char.is_control(), "")
    });
    let text = words.collect::<Vec<_>>().join(" ");
    text[..text.floor_char_boundary(MAX_REASON_BYTES)].to_owned()
}

fn parse(text: &str) -> GainCounts {
    let mut answers: BTreeMap<(Date, &str), [u64; 3]> = BTreeMap::new();
    let mut left_alone: BTreeMap<(Date, &str, &str), u64> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let Some(day) = fields[0].parse::<Date>().ok() else {
            continue;
        };
        match (fields.as_slice(), number(3)) {
            ([_, "answer", program, _, _, _], Some(calls)) => {
                let (Some(plain), Some(shown)) = (number(4), number(5)) else {
                    continue;
                };
                let sums = answers.entry((day, *program)).or_default();
                for (sum, number) in sums.iter_mut().zip([calls, plain, shown]) {
                    *sum = sum.saturating_add(number);
                }
            }
            ([_, "left", program, _, reason], Some(calls)) => {
                *left_alone.entry((day, *program, *reason)).or_default() += calls;
            }
            _ => {}
        }
    }
    GainCounts {
        answers: answers
            .into_iter()
            .map(
                |((day, program), [calls, plain_chars, shown_chars])| AnswerCount {
                    day,
                    program: program.to_owned(),
                    calls,
                    plain_chars,
                    shown_chars,
                },
            )
            .collect(),
        left_alone: left_alone
            .into_iter()
            .map(|((day, program, reason), calls)| LeftAloneCount {
                day,
                program: program.to_owned(),
                reason: reason.to_owned(),
                calls,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &Path) -> GainLog {
        GainLog::new(folder, Clock::Fixed("2026-01-09T10:30:00Z".parse().unwrap()))
    }

    #[test]
    fn counts_of_a_day_are_added_together() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        log.record_answer("grep", 5_000, 900).unwrap();
        log.record_answer("grep", 1_000, 100).unwrap();
        log.record_answer("/opt/my-grep", 10, 10).unwrap();
        log.record_left_alone("find", "the flag -exec is not answered")
            .unwrap();
        let counts = log.read().unwrap();
        let answers: Vec<_> = counts
            .answers
            .iter()
            .map(|count| {
                (
                    count.program.as_str(),
                    count.calls,
                    count.plain_chars,
                    count.shown_chars,
                )
            })
            .collect();
        assert_eq!(answers, [("grep", 2, 6_000, 1_000), ("other", 1, 10, 10)]);
        assert_eq!(counts.left_alone[0].reason, "the flag -exec is not answered");
    }

    #[test]
    fn words_of_the_user_are_not_kept() {
        for (reason, kept) in [
            (
                "the flag --include=secret.txt is not answered",
                "the flag --include is not answered",
            ),
            (
                "the flag -epassword is not answered",
                "the flag -e is not answered",
            ),
            (
                "the pattern is not answered: hunter2",
                "the pattern is not answered",
            ),
            ("two\nlines\t\u{1b}[31m", "two lines [31m"),
        ] {
            assert_eq!(shorten_reason("grep", reason), kept);
        }
    }

    #[test]
    fn a_large_file_is_replaced_by_its_sums_and_damage_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        let line = "2026-01-09\tanswer\tgrep\t1\t100\t10\n";
        let damage = "\n\u{0}\t\nx\ty\n2026-01-09\tanswer\tgrep\t-1\t1\t1\n";
        let times = usize::try_from(MAX_LOG_BYTES).unwrap() / line.len() + 1;
        fs::write(folder.path().join("gain-1.log"), line.repeat(times) + damage).unwrap();
        log.record_answer("grep", 100, 10).unwrap();
        let text = read_own(&folder.path().join("gain-1.log")).unwrap().unwrap();
        let calls = times + 1;
        assert_eq!(
            text,
            format!(
                "2026-01-09\tanswer\tgrep\t{calls}\t{}\t{}\n",
                calls * 100,
                calls * 10
            )
        );
    }

    #[test]
    fn many_processes_count_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        log(folder.path()).record_answer("rg", 2, 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(log(folder.path()).read().unwrap().answers[0].calls, 400);
    }
}
