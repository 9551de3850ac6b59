//! The arguments of GNU `find`: starting points, depths and the expression.
//!
//! Left out, and refused: actions that run programs or write files, tests of owners and permissions, links
//! that are followed, and every mistake that `find` itself would report.
//!
//! Invariant: an expression without an action of its own ends with [`FindAction::Print`], as in `find`.

use super::name_pattern::FnmatchPattern;
use super::path_regex::{PathRegex, RegexDialect};
use crate::shell::{CommandRefusal, Word};

/// A command of `find`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindCommand {
    /// Starting points as they were given; `.` if there were none.
    pub starts: Vec<String>,
    pub min_depth: usize,
    pub max_depth: usize,
    pub expression: FindExpression,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindExpression {
    Test(FindTest),
    Action(FindAction),
    Not(Box<FindExpression>),
    /// True if all are, asked from left to right up to the first that is not.
    And(Vec<FindExpression>),
    /// True if one is, asked from left to right up to it.
    Or(Vec<FindExpression>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindTest {
    /// `-name`, of the last component.
    Name(FnmatchPattern),
    /// `-path`, of the whole path.
    Path(FnmatchPattern),
    Regex(PathRegex),
    /// `-type f,d`.
    Type(Vec<EntryKind>),
    /// `-size`: bytes of a unit, rounded up to whole units.
    Size {
        unit: u64,
        count: CountTest,
    },
    Empty,
    /// `-mtime`, in days, and `-mmin`, in minutes.
    Age {
        unit: AgeUnit,
        count: CountTest,
    },
    True,
    False,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindAction {
    Print,
    /// `-printf`.
    Format(Vec<FormatPart>),
    /// `-prune`: does not enter the directory.
    Prune,
    Quit,
}

/// A part of the format of `-printf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatPart {
    Text(String),
    /// `%p`.
    Path,
    /// `%P`, without the starting point.
    PathBelowStart,
    /// `%f`.
    Name,
    /// `%s`.
    Size,
    /// `%d`.
    Depth,
}

/// `+N`, `-N` and `N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountTest {
    MoreThan(u64),
    LessThan(u64),
    Exactly(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeUnit {
    Day,
    Minute,
}

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Parentheses inside each other.
const MAX_NESTING: usize = 50;

impl CountTest {
    pub fn accepts(self, number: u64) -> bool {
        match self {
            Self::MoreThan(limit) => number > limit,
            Self::LessThan(limit) => number < limit,
            Self::Exactly(wanted) => number == wanted,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_start_matches(['+', '-']);
        if digits.is_empty() || text.len() > digits.len() + 1 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number = digits.parse().ok()?;
        Some(match text.as_bytes()[0] {
            b'+' => Self::MoreThan(number),
            b'-' => Self::LessThan(number),
            _ => Self::Exactly(number),
        })
    }
}

impl FindCommand {
    pub fn understand(arguments: &[Word]) -> Result<Self, CommandRefusal> {
        let arguments = match arguments {
            [first, rest @ ..] if first.text == "-P" => rest,
            all => all,
        };
        let operands = arguments
            .iter()
            .take_while(|word| word.expands || !begins_expression(&word.text))
            .count();
        let (starts, words) = arguments.split_at(operands);
        if words.iter().any(|word| word.expands) {
            return Err(CommandRefusal::Form("a pattern is expanded by the shell"));
        }
        let mut starts: Vec<String> = starts.iter().map(|word| word.text.clone()).collect();
        if starts.is_empty() {
            starts.push(".".to_owned());
        }
        let mut parser = Parser {
            words,
            at: 0,
            nesting: 0,
            has_output: false,
            dialect: RegexDialect::Emacs,
            depths: (0, usize::MAX),
        };
        let written = if words.is_empty() {
            FindExpression::Test(FindTest::True)
        } else {
            parser.parse_or()?
        };
        if parser.at < words.len() {
            return Err(MALFORMED);
        }
        let expression = if parser.has_output {
            written
        } else {
            FindExpression::And(vec![written, FindExpression::Action(FindAction::Print)])
        };
        Ok(Self {
            starts,
            min_depth: parser.depths.0,
            max_depth: parser.depths.1,
            expression,
        })
    }

    /// Whether the output is in a format of the caller's own.
    pub fn has_format(&self) -> bool {
        self.expression
            .any(&|part| matches!(part, FindExpression::Action(FindAction::Format(_))))
    }
}

impl FindExpression {
    /// Whether a part of the expression passes a test.
    pub fn any(&self, test: &impl Fn(&Self) -> bool) -> bool {
        test(self)
            || match self {
                Self::Not(inner) => inner.any(test),
                Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.any(test)),
                Self::Test(_) | Self::Action(_) => false,
            }
    }
}

/// What `find` itself would report as a mistake.
const MALFORMED: CommandRefusal = CommandRefusal::Form("the expression of find is not complete");

/// Whether a word ends the list of starting points.
fn begins_expression(word: &str) -> bool {
    (word.len() > 1 && word.starts_with('-')) || matches!(word, "(" | "!" | ")" | ",")
}

/// Reads by the precedence of `find`: `!`, then `-a`, then `-o`.
struct Parser<'a> {
    words: &'a [Word],
    at: usize,
    nesting: usize,
    /// An action other than `-prune` was read.
    has_output: bool,
    /// The dialect of the expressions behind, set by `-regextype`.
    dialect: RegexDialect,
    /// The least and the greatest depth.
    depths: (usize, usize),
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(|word| word.text.as_str())
    }

    fn next(&mut self) -> Result<&'a str, CommandRefusal> {
        let word = self.peek().ok_or(MALFORMED)?;
        self.at += 1;
        Ok(word)
    }

    fn parse_or(&mut self) -> Result<FindExpression, CommandRefusal> {
        let mut parts = vec![self.parse_and()?];
        while let Some("-o" | "-or") = self.peek() {
            self.at += 1;
            parts.push(self.parse_and()?);
        }
        Ok(single_or(parts, FindExpression::Or))
    }

    fn parse_and(&mut self) -> Result<FindExpression, CommandRefusal> {
        let mut parts = vec![self.parse_not()?];
        loop {
            match self.peek() {
                None | Some("-o" | "-or" | ")") => return Ok(single_or(parts, FindExpression::And)),
                Some("-a" | "-and") => self.at += 1,
                Some(_) => {}
            }
            parts.push(self.parse_not()?);
        }
    }

    fn parse_not(&mut self) -> Result<FindExpression, CommandRefusal> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(MALFORMED);
        }
        let expression = match self.next()? {
            "!" | "-not" => FindExpression::Not(Box::new(self.parse_not()?)),
            "(" => {
                let inner = self.parse_or()?;
                if self.next()? != ")" {
                    return Err(MALFORMED);
                }
                inner
            }
            word => self.parse_primary(word)?,
        };
        self.nesting -= 1;
        Ok(expression)
    }

    fn parse_primary(&mut self, word: &str) -> Result<FindExpression, CommandRefusal> {
        let test = match word {
            "-name" => FindTest::Name(FnmatchPattern::parse(self.next()?, false)?),
            "-iname" => FindTest::Name(FnmatchPattern::parse(self.next()?, true)?),
            "-path" | "-wholename" => FindTest::Path(FnmatchPattern::parse(self.next()?, false)?),
            "-ipath" | "-iwholename" => FindTest::Path(FnmatchPattern::parse(self.next()?, true)?),
            "-regex" => FindTest::Regex(PathRegex::parse(self.next()?, self.dialect, false)?),
            "-iregex" => FindTest::Regex(PathRegex::parse(self.next()?, self.dialect, true)?),
            "-type" => FindTest::Type(parse_kinds(self.next()?)?),
            "-size" => parse_size(self.next()?)?,
            "-empty" => FindTest::Empty,
            "-mtime" => self.parse_age(AgeUnit::Day)?,
            "-mmin" => self.parse_age(AgeUnit::Minute)?,
            "-true" => FindTest::True,
            "-false" => FindTest::False,
            "-print" => return Ok(self.output(FindAction::Print)),
            "-printf" => {
                let parts = parse_format(self.next()?)?;
                return Ok(self.output(FindAction::Format(parts)));
            }
            "-quit" => return Ok(self.output(FindAction::Quit)),
            "-prune" => return Ok(FindExpression::Action(FindAction::Prune)),
            "-maxdepth" => {
                self.depths.1 = self.parse_depth()?;
                FindTest::True
            }
            "-mindepth" => {
                self.depths.0 = self.parse_depth()?;
                FindTest::True
            }
            "-regextype" => {
                self.dialect = RegexDialect::parse(self.next()?)?;
                FindTest::True
            }
            flag => return Err(CommandRefusal::Flag(flag.to_owned())),
        };
        Ok(FindExpression::Test(test))
    }

    fn output(&mut self, action: FindAction) -> FindExpression {
        self.has_output = true;
        FindExpression::Action(action)
    }

    fn parse_depth(&mut self) -> Result<usize, CommandRefusal> {
        let text = self.next()?;
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten().ok_or(MALFORMED)
    }

    fn parse_age(&mut self, unit: AgeUnit) -> Result<FindTest, CommandRefusal> {
        let count =
            CountTest::parse(self.next()?).ok_or(CommandRefusal::Form("an age of find is not whole"))?;
        Ok(FindTest::Age { unit, count })
    }
}

fn single_or(
    mut parts: Vec<FindExpression>,
    join: fn(Vec<FindExpression>) -> FindExpression,
) -> FindExpression {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            join(parts)
        }
    }
}

fn parse_kinds(text: &str) -> Result<Vec<EntryKind>, CommandRefusal> {
    let kinds = text.split(',').map(|letter| match letter {
        "f" => Ok(EntryKind::File),
        "d" => Ok(EntryKind::Directory),
        "l" => Ok(EntryKind::Link),
        _ => Err(CommandRefusal::Flag(format!("-type {text}"))),
    });
    kinds.collect()
}

fn parse_size(text: &str) -> Result<FindTest, CommandRefusal> {
    let refuse = || CommandRefusal::Flag(format!("-size {text}"));
    let (number, unit) = match text.as_bytes().last().ok_or_else(refuse)? {
        b'0'..=b'9' => (text, 512),
        b'b' => (&text[..text.len() - 1], 512),
        b'c' => (&text[..text.len() - 1], 1),
        b'w' => (&text[..text.len() - 1], 2),
        b'k' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => return Err(refuse()),
    };
    let count = CountTest::parse(number).ok_or_else(refuse)?;
    Ok(FindTest::Size { unit, count })
}

/// Reads a format of `-printf`. `%h` is left out: at a starting point it follows rules of its own.
fn parse_format(text: &str) -> Result<Vec<FormatPart>, CommandRefusal> {
    let refuse = || CommandRefusal::Flag(format!("-printf {text}"));
    let mut parts = Vec::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let part = match char {
            '%' => match chars.next().ok_or_else(refuse)? {
                '%' => FormatPart::Text("%".to_owned()),
                'p' => FormatPart::Path,
                'P' => FormatPart::PathBelowStart,
                'f' => FormatPart::Name,
                's' => FormatPart::Size,
                'd' => FormatPart::Depth,
                _ => return Err(refuse()),
            },
            '\\' => FormatPart::Text(
                match chars.next().ok_or_else(refuse)? {
                    'n' => "\n",
                    't' => "\t",
                    '\\' => "\\",
                    _ => return Err(refuse()),
                }
                .to_owned(),
            ),
            other => FormatPart::Text(other.to_string()),
        };
        parts.push(part);
    }
    Ok(parts)
}
