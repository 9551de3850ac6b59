//! The report of `docent compare`: a table, a chart, and what they cannot show.
//!
//! Invariant: where docent does worse, the same figures say so.

use std::io;
use std::time::Duration;

use docent_engine::compare::AgentResult;
use serde_json::{Value, json};

use super::{AgentComparison, QuestionPair};
use crate::markdown::count;
use crate::terminal::TerminalPage;

/// Width of the names at the beginning of a row.
const WIDTH: usize = 11;

/// What the figures leave open, a sentence each.
const LIMITS: [&str; 4] = [
    "The agents are scripts with a fixed policy: the figures say how long the answers are that lead to the place, not \
     what a model would do with them.",
    "A question is the subject of a commit. Some say too little to find anything by, and some name the place.",
    "A right answer is a line of a changed function on the screen. Functions are those that docent's own outlines have.",
    "docent answers here without commit messages, memory and what was read before, which it has in your project.",
];

/// The sums of one agent.
struct Sums {
    found: usize,
    calls: usize,
    chars: usize,
    median_chars: usize,
    time: Duration,
}

impl Sums {
    fn of(results: &[&AgentResult]) -> Self {
        let mut chars: Vec<usize> = results.iter().map(|result| result.chars()).collect();
        chars.sort_unstable();
        Self {
            found: results.iter().filter(|result| result.found).count(),
            calls: results.iter().map(|result| result.calls()).sum(),
            chars: chars.iter().sum(),
            median_chars: chars.get(chars.len() / 2).copied().unwrap_or_default(),
            time: results.iter().map(|result| result.time).sum(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "right": self.found,
            "calls": self.calls,
            "characters": self.chars,
            "medianCharacters": self.median_chars,
            "milliseconds": self.time.as_millis(),
        })
    }

    fn cells(&self, questions: usize) -> [String; 5] {
        [
            format!("{} of {questions}", self.found),
            per(self.calls, questions),
            count(self.chars as u64),
            count(self.median_chars as u64),
            milliseconds(self.time, questions),
        ]
    }
}

/// A number per question, with one decimal.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn per(number: usize, questions: usize) -> String {
    format!("{:.1}", number as f64 / questions.max(1) as f64)
}

fn milliseconds(time: Duration, questions: usize) -> String {
    let each = time / u32::try_from(questions.max(1)).unwrap_or(u32::MAX);
    format!("{:.0} ms", each.as_secs_f64() * 1e3)
}

pub(super) fn write(comparison: &AgentComparison, as_json: bool, mut page: TerminalPage) -> io::Result<()> {
    let pairs = &comparison.pairs;
    let docent = Sums::of(&pairs.iter().map(|pair| &pair.with_docent).collect::<Vec<_>>());
    let shell = Sums::of(&pairs.iter().map(|pair| &pair.with_shell).collect::<Vec<_>>());
    if as_json {
        page.json(&to_json(comparison, &docent, &shell))?;
        return page.finish();
    }
    write_table(comparison, &docent, &shell, &mut page)?;
    page.line("")?;
    page.heading("Characters read for a question")?;
    let mean = |sums: &Sums| sums.chars / comparison.pairs.len().max(1);
    let largest = mean(&docent).max(mean(&shell));
    page.bar("with docent", WIDTH, mean(&docent), largest)?;
    page.bar("with grep", WIDTH, mean(&shell), largest)?;
    page.heading("Right answers")?;
    page.bar("with docent", WIDTH, docent.found, comparison.pairs.len())?;
    page.bar("with grep", WIDTH, shell.found, comparison.pairs.len())?;
    page.line("")?;
    write_pairs(comparison, &mut page)?;
    page.heading("What this cannot show")?;
    for limit in LIMITS {
        page.prose(limit)?;
    }
    page.finish()
}

fn write_table(
    comparison: &AgentComparison,
    docent: &Sums,
    shell: &Sums,
    page: &mut TerminalPage,
) -> io::Result<()> {
    let questions = comparison.pairs.len();
    page.heading(&format!(
        "{questions} {} from {} commits, asked of {} files as they were at {}",
        if questions == 1 { "question" } else { "questions" },
        count(comparison.questions.commits as u64),
        count(comparison.questions.files.len() as u64),
        &comparison.questions.base[..9],
    ))?;
    page.dim(&format!(
        "with docent: searches, outlines and definitions; with grep: lists of files and 200 lines at a time. The index took \
         {:.1} s, once.",
        comparison.indexing.as_secs_f64()
    ))?;
    page.line("")?;
    let titles = ["right answers", "calls", "characters", "median", "waiting"];
    let line = |name: &str, cells: [&str; 5]| {
        let [right, calls, chars, median, waiting] = cells;
        format!("{name:WIDTH$}{right:>15}{calls:>9}{chars:>13}{median:>11}{waiting:>11}")
    };
    page.dim(&line("", titles))?;
    for (name, sums) in [("with docent", docent), ("with grep", shell)] {
        let cells = sums.cells(questions);
        page.line(&line(name, cells.each_ref().map(String::as_str)))?;
    }
    page.dim("calls and waiting: for each question; characters: of all questions; median: of one")
}

/// Who found what, and the characters where both did.
fn write_pairs(comparison: &AgentComparison, page: &mut TerminalPage) -> io::Result<()> {
    let [mut both, mut only_docent, mut only_shell, mut neither] = [0; 4];
    let (mut docent_chars, mut shell_chars) = (0, 0);
    for QuestionPair {
        with_docent,
        with_shell,
        ..
    } in &comparison.pairs
    {
        match (with_docent.found, with_shell.found) {
            (true, true) => {
                both += 1;
                docent_chars += with_docent.chars();
                shell_chars += with_shell.chars();
            }
            (true, false) => only_docent += 1,
            (false, true) => only_shell += 1,
            (false, false) => neither += 1,
        }
    }
    page.line(&format!(
        "Both found {both}, docent alone {only_docent}, grep alone {only_shell}, neither {neither}."
    ))?;
    if both > 0 {
        page.line(&format!(
            "Where both found it: {} characters with docent, {} with grep.",
            count(docent_chars as u64),
            count(shell_chars as u64)
        ))?;
    }
    page.line("")
}

fn to_json(comparison: &AgentComparison, docent: &Sums, shell: &Sums) -> Value {
    let result = |result: &AgentResult| {
        json!({
            "right": result.found,
            "calls": result.calls(),
            "characters": result.chars(),
            "milliseconds": result.time.as_millis(),
            "steps": result.steps.iter().map(|step| json!([step.command, step.chars])).collect::<Vec<_>>(),
        })
    };
    let pairs = comparison.pairs.iter().map(|pair| {
        json!({
            "commit": pair.commit,
            "question": pair.question,
            "docent": result(&pair.with_docent),
            "grep": result(&pair.with_shell),
        })
    });
    json!({
        "base": comparison.questions.base,
        "files": comparison.questions.files.len(),
        "commits": comparison.questions.commits,
        "indexMilliseconds": comparison.indexing.as_millis(),
        "docent": docent.json(),
        "grep": shell.json(),
        "questions": pairs.collect::<Vec<_>>(),
        "limits": LIMITS,
    })
}
