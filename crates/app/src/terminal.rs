//! The only writer of stdout: pages for people, in colour on a terminal.
//!
//! Which lines a page has is decided by the tools' `show` and by the commands.
//!
//! Invariant: a page is never written while the process serves MCP over stdio.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use docent_core::text::reveal::reveal_part;
use serde_json::Value;

use crate::markdown::count;

/// When colours are used. `Auto` turns them off in pipes and with `NO_COLOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

/// The state of something that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Note,
    Bad,
}

/// A page for a person: the answer on stdout, notes on stderr.
pub(crate) struct TerminalPage {
    out: BufWriter<AutoStream<io::Stdout>>,
    notes: AutoStream<io::Stderr>,
    terminal: bool,
}

const HEADING: Style = AnsiColor::Magenta.on_default().bold();
const NUMBER: Style = AnsiColor::Green.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const MIDDLING: Style = AnsiColor::Yellow.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Characters of the longest bar of a chart.
const MAX_BAR_CHARS: usize = 30;

/// Characters of a line of prose.
const MAX_LINE_CHARS: usize = 100;

impl Colour {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Auto,
        }
    }

    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

impl TerminalPage {
    pub(crate) fn new(colour: Colour) -> Self {
        Self {
            out: BufWriter::new(AutoStream::new(io::stdout(), colour.choice())),
            notes: AutoStream::new(io::stderr(), colour.choice()),
            terminal: io::stdout().is_terminal(),
        }
    }

    /// True on a terminal, false in a pipe.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{HEADING}{text}{HEADING:#}")
    }

    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    pub(crate) fn dim(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{DIM}{text}{DIM:#}")
    }

    /// A padded name in bold, its value, and a dim remark.
    pub(crate) fn row(&mut self, name: &str, width: usize, value: &str, aside: &str) -> io::Result<()> {
        let (value, aside) = (reveal_part(value), reveal_part(aside));
        if aside.is_empty() {
            return writeln!(self.out, "{BOLD}{name:width$}{BOLD:#}  {value}");
        }
        writeln!(
            self.out,
            "{BOLD}{name:width$}{BOLD:#}  {value}  {DIM}{aside}{DIM:#}"
        )
    }

    /// A checked subject, its state, and advice.
    pub(crate) fn check(
        &mut self,
        mark: Mark,
        subject: &str,
        message: &str,
        advice: Option<&str>,
    ) -> io::Result<()> {
        let (sign, style) = match mark {
            Mark::Good => ("✓", ADDED),
            Mark::Note => ("!", MIDDLING),
            Mark::Bad => ("✗", REMOVED),
        };
        let message = reveal_part(message);
        writeln!(
            self.out,
            "{style}{sign}{style:#} {BOLD}{subject:9}{BOLD:#} {message}"
        )?;
        match advice {
            Some(advice) => writeln!(self.out, "            {DIM}→{DIM:#} {}", reveal_part(advice)),
            None => Ok(()),
        }
    }

    /// The heading of a search result: its location, its name, and a dim remark.
    pub(crate) fn result_heading(&mut self, location: &str, name: &str, aside: &str) -> io::Result<()> {
        writeln!(
            self.out,
            "{HEADING}{location}{HEADING:#}  {BOLD}{name}{BOLD:#}  {DIM}{aside}{DIM:#}"
        )
    }

    /// Text as it is, escapes included; a line end is added on a terminal only.
    pub(crate) fn verbatim(&mut self, text: &str) -> io::Result<()> {
        self.out.flush()?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        if self.terminal && !text.ends_with('\n') {
            stdout.write_all(b"\n")?;
        }
        stdout.flush()
    }

    /// A name and its number, with a bar in proportion to the largest number.
    pub(crate) fn bar(&mut self, name: &str, width: usize, number: usize, largest: usize) -> io::Result<()> {
        let eighths = number * MAX_BAR_CHARS * 8 / largest.max(1);
        let parts = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
        let mut bar = "█".repeat(eighths / 8);
        bar.extend(parts.get((eighths % 8).wrapping_sub(1)));
        if bar.is_empty() && number > 0 {
            bar.push(parts[0]);
        }
        let name = reveal_part(name);
        writeln!(
            self.out,
            "  {name:width$}  {NUMBER}{:>7}{NUMBER:#}  {HUNK}{bar}{HUNK:#}",
            count(number as u64)
        )
    }

    /// A series of numbers as a line of small bars.
    pub(crate) fn sparkline(&mut self, numbers: &[usize], aside: &str) -> io::Result<()> {
        let largest = numbers.iter().copied().max().unwrap_or_default().max(1);
        let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let bar = |number: &usize| match number {
            0 => ' ',
            number => bars[(number * (bars.len() - 1)).div_ceil(largest)],
        };
        let line: String = numbers.iter().map(bar).collect();
        writeln!(self.out, "  {HUNK}{line}{HUNK:#}  {DIM}{aside}{DIM:#}")
    }

    /// Text wrapped into lines of at most [`MAX_LINE_CHARS`].
    pub(crate) fn prose(&mut self, text: &str) -> io::Result<()> {
        let mut at = 0;
        for word in text.split_whitespace() {
            let length = word.chars().count();
            if at > 0 && at + 1 + length > MAX_LINE_CHARS {
                writeln!(self.out)?;
                at = 0;
            }
            write!(self.out, "{}{word}", if at > 0 { " " } else { "  " })?;
            at += 1 + length;
        }
        writeln!(self.out)
    }

    /// Markdown with headings, names and changed lines in colour. On a terminal the marks are left out,
    /// because colours replace them; in a pipe the text stays as it is.
    pub(crate) fn markdown(&mut self, text: &str) -> io::Result<()> {
        let mut fence = None;
        for line in text.lines() {
            let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
            let style = match fence {
                Some((length, _)) if ticks >= length => {
                    fence = None;
                    DIM
                }
                None if ticks >= 3 => {
                    fence = Some((ticks, &line[ticks..] == "diff"));
                    DIM
                }
                Some((_, true)) => match line.as_bytes().first() {
                    Some(b'+') => ADDED,
                    Some(b'-') => REMOVED,
                    Some(b'@') => HUNK,
                    _ => Style::new(),
                },
                None if line.starts_with('#') => HEADING,
                None if line.starts_with("> ") || line == "---" => DIM,
                _ => Style::new(),
            };
            if !self.terminal {
                writeln!(self.out, "{style}{line}{style:#}")?;
            } else if ticks < 3 {
                let plain = match fence {
                    Some(_) => line.to_owned(),
                    None => without_marks(line),
                };
                writeln!(self.out, "{style}{plain}{style:#}")?;
            }
        }
        Ok(())
    }

    /// An answer in the compact form. Headings, numbers and folds are in colour; the text stays as it is.
    pub(crate) fn compact(&mut self, text: &str) -> io::Result<()> {
        for line in text.lines() {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let margin = match line.as_bytes().get(digits) {
                Some(b'\t') => Some(digits),
                Some(b':') if digits > 0 => Some(digits + 1),
                _ => None,
            };
            match margin {
                Some(end) => {
                    let (number, code) = line.split_at(end);
                    writeln!(self.out, "{NUMBER}{number}{NUMBER:#}{code}")?;
                }
                None if line.starts_with('…') => self.dim(line)?,
                None if line.starts_with(' ') || line.is_empty() => self.line(line)?,
                None => self.heading(line)?,
            }
        }
        Ok(())
    }

    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value:#}")
    }

    /// A remark on stderr, so that pipes do not get it.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.notes, "{DIM}{}{DIM:#}", reveal_part(text))
    }

    /// Shows what was written so far, before a question.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes the page. Without this, a full disk would go unnoticed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line of markdown with styles in place of the marks for bold and code.
fn without_marks(line: &str) -> String {
    if line.starts_with('#') {
        return line.trim_start_matches('#').trim_start().to_owned();
    }
    let mut shown = String::with_capacity(line.len());
    let mut rest = line.trim_end();
    if let Some(item) = rest.strip_prefix("- ") {
        shown.push_str("  ");
        rest = item;
    }
    while let Some(at) = rest.find(['*', '`']) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let (mark, style) = if from.starts_with("**") {
            ("**", BOLD)
        } else if from.starts_with('`') {
            ("`", HUNK)
        } else {
            ("*", Style::new())
        };
        let inside = &from[mark.len()..];
        if let Some((inside, after)) = inside.split_once(mark).filter(|_| mark != "*") {
            shown.push_str(&format!("{style}{inside}{style:#}"));
            rest = after;
        } else {
            shown.push_str(mark);
            rest = inside;
        }
    }
    shown + rest
}

/// Writes an error to stderr.
pub(crate) fn complain(message: &str) {
    let mut stderr = AutoStream::new(io::stderr(), ColorChoice::Auto);
    // Without a stderr nobody can read it.
    let _ = writeln!(stderr, "{ERROR}error{ERROR:#}: {}", reveal_part(message));
}

/// Writes a message to stderr.
pub(crate) fn announce(message: &str) {
    let mut stderr = AutoStream::new(io::stderr(), ColorChoice::Auto);
    // Without a stderr nobody can read it.
    let _ = writeln!(stderr, "{message}");
}
