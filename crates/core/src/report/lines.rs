//! The lines of a report by what they are: prose, code, output, or nothing to search for.
//!
//! Trackers lose markup, so a line outside of a fence is judged by its own form. Comments of templates,
//! checkboxes, lists of versions and dumps of an environment are left out, because they are the same in every
//! report of a project and say nothing about this one.
//!
//! Invariant: each kept line is a part of one line of the text, in the order of the text.

use std::sync::LazyLock;

use regex::Regex;

/// The kind of a line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Title,
    Prose,
    /// Example code, or lines of the project that the report shows.
    Code,
    /// Stack traces, logs and results of tests.
    Output,
}

/// A line that is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReportLine<'a> {
    pub(super) kind: LineKind,
    pub(super) text: &'a str,
}

/// The lines of a report that say something about it.
pub(super) fn read_lines(text: &str) -> Vec<ReportLine<'_>> {
    let mut reader = LineReader::default();
    text.lines().filter_map(|line| reader.read(line)).collect()
}

/// What the lines before tell about the next one.
#[derive(Default)]
struct LineReader {
    has_title: bool,
    /// Inside a comment of a template.
    in_comment: bool,
    fence: Option<Fence>,
    /// Below a heading about versions or the environment.
    in_environment: bool,
    /// `None` before the first line and after an empty one.
    kind_before: Option<LineKind>,
}

struct Fence {
    marker: &'static str,
    is_output: bool,
}

impl LineReader {
    fn read<'a>(&mut self, line: &'a str) -> Option<ReportLine<'a>> {
        if let Some(fence) = self.fence.take() {
            return self.read_fenced(line, fence);
        }
        let line = self.without_comment(line)?;
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.kind_before = None;
            return None;
        }
        if let Some(marker) = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker))
        {
            let info = trimmed[marker.len()..].trim().to_ascii_lowercase();
            let is_output = [
                "console",
                "shell",
                "bash",
                "sh",
                "text",
                "log",
                "pytb",
                "output",
                "traceback",
            ]
            .contains(&info.as_str());
            // A fence that opens and closes on one line is code in a line.
            if !info.ends_with(marker) {
                self.fence = Some(Fence { marker, is_output });
                return None;
            }
        }
        if !self.has_title {
            self.has_title = true;
            return Some(ReportLine {
                kind: LineKind::Title,
                text: trimmed.trim_start_matches('#').trim(),
            });
        }
        if is_heading(trimmed) {
            self.in_environment = ENVIRONMENT.is_match(trimmed);
            return None;
        }
        if is_checkbox(trimmed) || VERSION.is_match(trimmed) {
            return None;
        }
        let kind = self.kind_of(line, trimmed);
        if self.in_environment {
            // A sentence ends the dump: many reports go on below it without a heading.
            if kind != LineKind::Prose || trimmed.split_whitespace().count() < 8 {
                return None;
            }
            self.in_environment = false;
        }
        self.kind_before = Some(kind);
        Some(ReportLine { kind, text: trimmed })
    }

    fn read_fenced<'a>(&mut self, line: &'a str, mut fence: Fence) -> Option<ReportLine<'a>> {
        let trimmed = line.trim();
        if trimmed.starts_with(fence.marker) {
            return None;
        }
        fence.is_output |= is_output(trimmed);
        let kind = if fence.is_output {
            LineKind::Output
        } else {
            LineKind::Code
        };
        self.fence = Some(fence);
        (!trimmed.is_empty() && !self.in_environment && !VERSION.is_match(trimmed))
            .then_some(ReportLine { kind, text: trimmed })
    }

    /// The part of the line outside of a comment. `None` if all of it is inside.
    fn without_comment<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        if self.in_comment {
            let (_, rest) = line.split_once("-->")?;
            self.in_comment = false;
            return Some(rest);
        }
        match line.split_once("<!--") {
            Some((before, rest)) => {
                self.in_comment = !rest.contains("-->");
                let after = rest.split_once("-->").map_or("", |(_, after)| after);
                Some(if before.trim().is_empty() { after } else { before })
            }
            None => Some(line),
        }
    }

    fn kind_of(&self, line: &str, trimmed: &str) -> LineKind {
        if is_output(trimmed) || (self.kind_before == Some(LineKind::Output) && line.starts_with([' ', '\t']))
        {
            LineKind::Output
        } else if is_code(trimmed) {
            LineKind::Code
        } else {
            LineKind::Prose
        }
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#') || (line.starts_with("**") && line.ends_with("**")) || is_field_name(line)
}

/// Names of the fields of a tracker, which stand on a line of their own.
fn is_field_name(line: &str) -> bool {
    let name = line.trim_end_matches(':').to_ascii_lowercase();
    [
        "description",
        "environment",
        "versions",
        "system information",
        "traceback",
        "steps to reproduce",
    ]
    .contains(&name.as_str())
}

fn is_checkbox(line: &str) -> bool {
    let item = line.trim_start_matches(['-', '*', '+']).trim_start();
    ["[ ]", "[x]", "[X]"].iter().any(|mark| item.starts_with(mark))
}

/// Headings above versions and dumps of an environment.
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(versions?|environment|operating system|platform|system (details|info|information)|installed packages|installation|your setup)\b")
        .expect("the pattern is a literal")
});

/// A line that names a program and its version, and nothing else: `numpy: 1.18.1`, `- Python 3.7.4`.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*[a-z][\w .\-/()]{0,40}?\s*(?:[:=@]+|\bversion\b|\s)\s*v?\d+(\.\d+)+[\w.+\-]*\W*(\([^)]*\))?\W*$|^_no response_$")
        .expect("the pattern is a literal")
});

/// Whether a line is of a stack trace, a log, or the result of a test.
fn is_output(line: &str) -> bool {
    static OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"^(Traceback \(most recent|File "[^"]+", line \d+|During handling of the above|The above exception"#,
            r"|Caused by:|Exception in thread|Unhandled exception|panic: |goroutine \d+ \[|thread '[^']*' panicked",
            r"|stack backtrace:|at \S+ ?\(?.*:\d+\)?$|at [\w.$<>]+\(.*\)( in .*)?$|from \S+:\d+:in|\S+\.\w+:\d+:in [`'])",
            r"|^(\w+\.)*[A-Z]\w*(Error|Exception|Warning)\b(:|$)|^E   |^=+ (FAILURES|ERRORS|short test summary)",
            r"|^(FAILED|ERROR|INFO|WARN(ING)?|DEBUG)\b[ :\[]|^--- FAIL:|^not ok \d+|^\d{4}-\d\d-\d\d[ T]\d\d:\d\d",
        ))
        .expect("the pattern is a literal")
    });
    OUTPUT.is_match(line)
}

/// Whether a line outside of a fence is code by its form.
fn is_code(line: &str) -> bool {
    static CODE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(>>> |\.\.\. |\$ |In \[\d+\]:|Out\[\d+\]:|@\w+|//|/\*|\*/|#include|<\?php|</?\w+[^>]*>$|[{}\[\])]+[;,]?$)",
            r"|^(async )?(def|class|fn|func|function|impl|struct|interface|enum|module|namespace|package)\b.*[:{(;]",
            r"|^(import|from|use|using|export|require|include)\b [\w.{*]+.*$",
            r"|^(if|elif|else|for|while|try|except|with|return|raise|throw|yield|await|const|let|var|pub|public|private|static)\b.*[:;{)\]]$",
            r"|^[\w.\[\]]+ *([-+*/|]?=|:=|=>|->) *\S+.*$|^[\w.:]+\(.*\)[;,:]?( *[#/].*)?$|[;{]$",
        ))
        .expect("the pattern is a literal")
    });
    CODE.is_match(line) && !is_sentence(line)
}

/// Prose that begins like code: "With this change the model is saved twice."
fn is_sentence(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let plain = line
        .split_whitespace()
        .filter(|word| {
            word.trim_end_matches([',', '.', ':'])
                .chars()
                .all(char::is_alphabetic)
        })
        .count();
    words >= 6 && plain * 10 >= words * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(LineKind, &str)]) {
        let lines: Vec<(LineKind, &str)> = read_lines(text)
            .iter()
            .map(|line| (line.kind, line.text))
            .collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn a_template_leaves_its_answers() {
        use LineKind::{Code, Prose, Title};
        check(
            "# Walrus sinks\n<!-- Please search\nfirst. -->\n- [x] I have searched\n\n### What happens?\nIt sinks at once.\n\n\
             ```python\nwalrus.float()\n```\n### Versions\nPython 3.8.1\nnumpy: 1.18\nLinux\n\n### More\n_No response_\nx = sink(1)\n",
            &[
                (Title, "Walrus sinks"),
                (Prose, "It sinks at once."),
                (Code, "walrus.float()"),
                (Code, "x = sink(1)"),
            ],
        );
    }

    #[test]
    fn output_is_told_from_code_without_fences() {
        use LineKind::{Code, Output, Prose, Title};
        check(
            "Title\nRunning it:\n>>> sink(1)\nTraceback (most recent call last):\n  File \"a.py\", line 3, in sink\n    return one\nValueError: too heavy\n\nWith this the walrus is lost.\n",
            &[
                (Title, "Title"),
                (Prose, "Running it:"),
                (Code, ">>> sink(1)"),
                (Output, "Traceback (most recent call last):"),
                (Output, "File \"a.py\", line 3, in sink"),
                (Output, "return one"),
                (Output, "ValueError: too heavy"),
                (Prose, "With this the walrus is lost."),
            ],
        );
    }
}
