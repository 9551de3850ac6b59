//! Flags of a command line, one after the other: `-rn`, `-A3`, `-A 3`, `--include=*.rs`.
//!
//! Invariant: a word that the shell replaces by others is never read as a flag or as its value.

use super::{CommandRefusal, Word};

/// A flag, without its dashes, or an operand.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FlagOrOperand<'a> {
    Short(char),
    /// With the text behind `=`.
    Long(&'a str, Option<&'a str>),
    Operand(&'a Word),
}

/// The name of a long flag, and the text behind `=`.
pub(super) type LongFlag<'a> = (&'a str, Option<&'a str>);

/// How the value of a short flag is written in its word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortValue {
    /// `-A3`: as C's `getopt` reads it.
    Attached,
    /// `-A3` or `-A=3`: as programs in Rust read it.
    AttachedOrEquals,
}

/// Reads flags and operands in any order, as GNU programs and ripgrep do. Behind `--` all are operands.
pub(super) struct Arguments<'a> {
    words: std::slice::Iter<'a, Word>,
    /// The rest of a word of short flags.
    cluster: &'a str,
    only_operands: bool,
    short_value: ShortValue,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(words: &'a [Word], short_value: ShortValue) -> Self {
        Self {
            words: words.iter(),
            cluster: "",
            only_operands: false,
            short_value,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<FlagOrOperand<'a>>, CommandRefusal> {
        let mut cluster = self.cluster.chars();
        if let Some(flag) = cluster.next() {
            self.cluster = cluster.as_str();
            return Ok(Some(FlagOrOperand::Short(flag)));
        }
        let Some(word) = self.words.next() else {
            return Ok(None);
        };
        let text = word.text.as_str();
        if self.only_operands || !text.starts_with('-') || text == "-" {
            return Ok(Some(FlagOrOperand::Operand(word)));
        }
        if word.expands {
            return Err(CommandRefusal::Form("a flag has a glob"));
        }
        if text == "--" {
            self.only_operands = true;
            return self.next();
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            return Ok(Some(FlagOrOperand::Long(name, value)));
        }
        self.cluster = &text[1..];
        self.next()
    }

    /// The value of a short flag: the rest of its word, or the next word.
    pub(super) fn short_value(&mut self) -> Result<&'a str, CommandRefusal> {
        match std::mem::take(&mut self.cluster) {
            "" => self.next_word(),
            rest if self.short_value == ShortValue::AttachedOrEquals => {
                Ok(rest.strip_prefix('=').unwrap_or(rest))
            }
            rest => Ok(rest),
        }
    }

    /// Whether letters follow in the word of the short flag just read.
    pub(super) fn has_more_letters(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// Whether `--` was read, so that all that follows is no flag.
    pub(super) fn are_only_operands(&self) -> bool {
        self.only_operands
    }

    /// The words that were not read yet.
    pub(super) fn rest(&self) -> &'a [Word] {
        self.words.as_slice()
    }

    /// The value of a long flag: the text behind `=`, or the next word.
    pub(super) fn long_value(&mut self, value: Option<&'a str>) -> Result<&'a str, CommandRefusal> {
        value.map_or_else(|| self.next_word(), Ok)
    }

    /// The digits that follow in the word, behind the first: `-10`.
    pub(super) fn more_digits(&mut self) -> &'a str {
        let end = self
            .cluster
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(self.cluster.len());
        let (digits, rest) = self.cluster.split_at(end);
        self.cluster = rest;
        digits
    }

    fn next_word(&mut self) -> Result<&'a str, CommandRefusal> {
        match self.words.next() {
            Some(word) if word.expands => Err(CommandRefusal::Form("the value of a flag has a glob")),
            Some(word) => Ok(&word.text),
            None => Err(CommandRefusal::Form("the value of a flag is missing")),
        }
    }
}

/// A number that is the value of a flag.
pub(super) fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, CommandRefusal> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.ok_or(CommandRefusal::Form("a number is not answered"))
}

/// The refusal of a flag that is not answered.
pub(super) fn refuse(argument: &FlagOrOperand<'_>) -> CommandRefusal {
    match argument {
        FlagOrOperand::Short(flag) => CommandRefusal::Flag(format!("-{flag}")),
        FlagOrOperand::Long(name, _) => CommandRefusal::Flag(format!("--{name}")),
        FlagOrOperand::Operand(_) => CommandRefusal::Form("an operand is not answered"),
    }
}
