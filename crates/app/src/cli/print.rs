//! The only writer of stdout: pages for people, with colours where they are wanted and seen.
//!
//! Invariant: nothing here runs while the process serves MCP over stdio.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use docent_core::coverage::Percent;
use docent_core::text::reveal::reveal_part;
use docent_core::text::tokens::words;
use serde_json::Value;

use crate::tools::markdown::count;

/// When colours are used. `NO_COLOR` and pipes turn them off unless they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Note,
    Bad,
}

/// What a person reads.
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
const MATCH: Style = AnsiColor::Yellow.on_default().bold();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Characters of a bar, of a longest one among others, and of a line of prose.
const BAR: i32 = 20;
const BAR_CELLS: usize = 30;
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

    /// True where a person looks at it, false in a pipe.
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

    /// A name in bold, padded, and what belongs to it.
    pub(crate) fn row(&mut self, name: &str, width: usize, value: &str, aside: &str) -> io::Result<()> {
        let (value, aside) = (reveal_part(value), reveal_part(aside));
        writeln!(
            self.out,
            "{BOLD}{name:width$}{BOLD:#}  {value}  {DIM}{aside}{DIM:#}"
        )
    }

    /// What was looked at, how it is, and what to do about it.
    pub(crate) fn check(
        &mut self,
        mark: Mark,
        what: &str,
        said: &str,
        advice: Option<&str>,
    ) -> io::Result<()> {
        let (sign, style) = match mark {
            Mark::Good => ("✓", ADDED),
            Mark::Note => ("!", MIDDLING),
            Mark::Bad => ("✗", REMOVED),
        };
        let said = reveal_part(said);
        writeln!(self.out, "{style}{sign}{style:#} {BOLD}{what:9}{BOLD:#} {said}")?;
        match advice {
            Some(advice) => writeln!(self.out, "            {DIM}→{DIM:#} {}", reveal_part(advice)),
            None => Ok(()),
        }
    }

    /// A share of something as a number and a bar, what it is the share of, and whose it is.
    pub(crate) fn share(&mut self, share: Percent, of: &str, whose: &str) -> io::Result<()> {
        let style = match share.tenths {
            ..500 => REMOVED,
            500..800 => MIDDLING,
            _ => ADDED,
        };
        // Full only when it is all of it, empty only when it is nothing.
        let filled = (share.tenths * BAR / 1_000).clamp(i32::from(share.tenths > 0), BAR);
        let count = |times: i32| usize::try_from(times).unwrap_or_default();
        let (bar, rest) = ("█".repeat(count(filled)), "░".repeat(count(BAR - filled)));
        let whose = reveal_part(whose);
        writeln!(
            self.out,
            "{style}{share:>5} %  {bar}{style:#}{DIM}{rest}{DIM:#}  {of}  {whose}"
        )
    }

    /// A change of something, with its sign, and whose it is.
    pub(crate) fn change(&mut self, change: Percent, whose: &str, aside: &str) -> io::Result<()> {
        let (style, sign) = match change.tenths {
            ..0 => (REMOVED, ""),
            0 => (DIM, ""),
            1.. => (ADDED, "+"),
        };
        let number = format!("{sign}{change}");
        write!(self.out, "{style}{number:>6}{style:#}  {}", reveal_part(whose))?;
        if !aside.is_empty() {
            write!(self.out, "  {DIM}{aside}{DIM:#}")?;
        }
        writeln!(self.out)
    }

    /// Something that was found: where, what it is called, and more about it.
    pub(crate) fn found(&mut self, place: &str, name: &str, aside: &str) -> io::Result<()> {
        writeln!(
            self.out,
            "{HEADING}{place}{HEADING:#}  {BOLD}{name}{BOLD:#}  {DIM}{aside}{DIM:#}"
        )
    }

    /// A line of a file, with words of these stems in colour.
    pub(crate) fn marked(&mut self, number: u64, line: &str, stems: &[String]) -> io::Result<()> {
        write!(self.out, "{NUMBER}{number:>5}{NUMBER:#}  ")?;
        let mut rest = line;
        while !rest.is_empty() {
            let is_inside = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let asked_for = words(word).iter().any(|word| stems.contains(word));
            if asked_for {
                write!(self.out, "{MATCH}{word}{MATCH:#}")?;
            } else {
                self.out.write_all(word.as_bytes())?;
            }
            let gap = after.find(is_inside).unwrap_or(after.len());
            let (gap, after) = after.split_at(gap);
            self.out.write_all(gap.as_bytes())?;
            rest = after;
        }
        writeln!(self.out)
    }

    /// A line of a file; dim unless it is the one that matters.
    pub(crate) fn numbered(&mut self, number: u64, text: &str, matters: bool) -> io::Result<()> {
        if matters {
            writeln!(self.out, "{NUMBER}{number:>5}{NUMBER:#}  {text}")
        } else {
            writeln!(self.out, "{DIM}{number:>5}  {text}{DIM:#}")
        }
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

    /// How many there are of something, beside a bar that is as long as its share of the most.
    pub(crate) fn bar(&mut self, name: &str, width: usize, number: usize, most: usize) -> io::Result<()> {
        let eighths = number * BAR_CELLS * 8 / most.max(1);
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

    /// Numbers that follow each other, as a line of bars.
    pub(crate) fn sparkline(&mut self, numbers: &[usize], aside: &str) -> io::Result<()> {
        let most = numbers.iter().copied().max().unwrap_or_default().max(1);
        let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let bar = |number: &usize| match number {
            0 => ' ',
            number => bars[(number * (bars.len() - 1)).div_ceil(most)],
        };
        let line: String = numbers.iter().map(bar).collect();
        writeln!(self.out, "  {HUNK}{line}{HUNK:#}  {DIM}{aside}{DIM:#}")
    }

    /// Text in lines that are not too long.
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

    /// Markdown with what matters in colour: headings, names, and lines that were added or removed. In a pipe it is as it was; on a
    /// terminal without the marks that colours stand for.
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

    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value:#}")
    }

    /// Something beside the answer, kept out of pipes.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.notes, "{DIM}{}{DIM:#}", reveal_part(text))
    }

    /// Writes what is still held back. Without this, a full disk would go unnoticed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line of markdown without its marks: what is bold or code is set in a style instead.
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

/// Says on stderr what went wrong.
pub(crate) fn complain(message: &str) {
    let mut stderr = AutoStream::new(io::stderr(), ColorChoice::Auto);
    // Without a stderr there is nobody to tell.
    let _ = writeln!(stderr, "{ERROR}error{ERROR:#}: {}", reveal_part(message));
}

/// Says on stderr what a person should know before the work begins.
pub(crate) fn announce(message: &str) {
    let mut stderr = AutoStream::new(io::stderr(), ColorChoice::Auto);
    // Without a stderr there is nobody to tell.
    let _ = writeln!(stderr, "{message}");
}
