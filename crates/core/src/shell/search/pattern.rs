//! POSIX patterns as patterns of Rust's `regex` that match the same lines.
//!
//! Only whether a line matches has to agree. POSIX takes the longest of several matches and `regex` the
//! first, so [`has_one_length`] tells for which patterns the matching part is the same too.
//!
//! Left out: back-references, collating elements, escapes that differ between versions of grep.
//!
//! Invariant: a pattern that cannot be translated with certainty is refused.

use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::RegexBuilder;

use super::super::CommandRefusal;
use super::perl::{self, PerlClasses, PerlRules};
use super::{LineSearchRequest, MatchExtent, PatternCase, PatternSyntax, SearchProgram};

/// The rules by which patterns are read.
#[derive(Clone, Copy, Debug)]
pub struct PatternRules {
    syntax: PatternSyntax,
    case: PatternCase,
    extent: MatchExtent,
    /// A word is what stands between two boundaries, whatever it begins with.
    has_plain_words: bool,
}

impl PatternRules {
    pub fn of(request: &LineSearchRequest) -> Self {
        Self {
            syntax: request.syntax,
            case: request.case,
            extent: request.extent,
            has_plain_words: request.program == SearchProgram::Silver,
        }
    }

    fn perl(self, patterns: &[String], characters: Characters) -> PerlRules {
        PerlRules {
            characters,
            is_insensitive: is_insensitive(patterns, self),
        }
    }
}

/// The classes of a request with `-P`, beyond which versions of grep agree. Empty for other requests.
pub fn perl_classes(request: &LineSearchRequest) -> PerlClasses {
    let rules = PatternRules::of(request);
    let mut all = PerlClasses::default();
    if request.syntax != PatternSyntax::Perl {
        return all;
    }
    for pattern in &request.patterns {
        let read = perl::translate(pattern, rules.perl(&request.patterns, Characters::Unicode));
        if let Ok((_, classes)) = read {
            all.has_digits |= classes.has_digits;
            all.has_words |= classes.has_words;
        }
    }
    all.has_words |= request.extent == MatchExtent::Word;
    all
}

/// What classes such as `[[:alpha:]]` hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Characters {
    /// ASCII: each byte is a character.
    Bytes,
    Unicode,
}

/// One pattern of `regex` that matches the lines that any of the patterns matches.
pub fn translate(
    patterns: &[String],
    rules: PatternRules,
    characters: Characters,
) -> Result<String, CommandRefusal> {
    let mut translated = Vec::new();
    for pattern in patterns {
        if pattern.contains('\0') {
            return Err(refuse("it has a NUL"));
        }
        if pattern.is_empty() && rules.extent == MatchExtent::Word {
            return Err(refuse("an empty pattern for words"));
        }
        translated.push(match rules.syntax {
            PatternSyntax::Fixed => escape(pattern),
            PatternSyntax::Rust => read_rust(pattern)?,
            PatternSyntax::Perl => perl::translate(pattern, rules.perl(patterns, characters))?.0,
            PatternSyntax::Basic => Translation::run(pattern, Flavor::Basic, characters)?,
            PatternSyntax::Extended => Translation::run(pattern, Flavor::Extended, characters)?,
        });
    }
    let joined = match translated.as_slice() {
        [one] => one.clone(),
        several => {
            let groups: Vec<String> = several.iter().map(|one| format!("(?:{one})")).collect();
            groups.join("|")
        }
    };
    let regex = match rules.extent {
        MatchExtent::Anywhere => joined,
        MatchExtent::Word if rules.has_plain_words => format!(r"(?-u:\b)(?:{joined})(?-u:\b)"),
        MatchExtent::Word if rules.syntax == PatternSyntax::Perl => {
            format!(r"(?-u:\b{{start-half}})(?:{joined})(?-u:\b{{end-half}})")
        }
        MatchExtent::Word => format!(r"\b{{start-half}}(?:{joined})\b{{end-half}}"),
        MatchExtent::Line => format!("^(?:{joined})$"),
    };
    let regex = if is_insensitive(patterns, rules) {
        format!("(?i){regex}")
    } else {
        regex
    };
    // What `regex` refuses, and what would take it too long, is left to the program.
    let checked = RegexBuilder::new(&regex)
        .multi_line(true)
        .unicode(characters == Characters::Unicode)
        .build();
    match checked {
        Ok(_) => Ok(regex),
        Err(_) => Err(refuse("it is not valid, or too large")),
    }
}

fn is_insensitive(patterns: &[String], rules: PatternRules) -> bool {
    match rules.case {
        PatternCase::Sensitive => false,
        PatternCase::Insensitive => true,
        PatternCase::Smart => {
            let has =
                |test: fn(char) -> bool| patterns.iter().any(|pattern| literals(pattern, rules).any(test));
            has(char::is_alphanumeric) && !has(char::is_uppercase)
        }
    }
}

/// The characters of a pattern that stand for themselves: not the letter of `\S` or `\b`.
fn literals(pattern: &str, rules: PatternRules) -> impl Iterator<Item = char> + '_ {
    let is_fixed = rules.syntax == PatternSyntax::Fixed;
    let mut is_escaped = false;
    pattern.chars().filter(move |char| {
        let is_literal = !is_escaped && (is_fixed || *char != '\\');
        is_escaped = !is_fixed && !is_escaped && *char == '\\';
        is_literal
    })
}

/// A pattern of ripgrep. Smart case and `-w` are read as ripgrep reads them only without its rarer syntax.
fn read_rust(pattern: &str) -> Result<String, CommandRefusal> {
    let rare = [
        r"\p", r"\P", "(?", r"\x", r"\u", r"\U", r"\n", r"\A", r"\z", r"\Q", r"\<", r"\>", r"\b{",
    ];
    if let Some(rare) = rare.iter().find(|rare| pattern.contains(**rare)) {
        return Err(refuse(&format!("it has {rare}")));
    }
    Ok(pattern.to_owned())
}

/// Whether every match that begins at one place has the same length, or the first is the longest: at most one
/// part of varying length, and no alternatives.
pub(super) fn has_one_length(regex: &str) -> bool {
    let mut varying = 0;
    let mut chars = regex.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '[' => skip_class(&mut chars),
            '|' | '(' => return false,
            '*' | '+' | '?' | '{' => varying += 1,
            _ => {}
        }
    }
    varying <= 1
}

/// Whether the pattern has matches without a character.
pub(super) fn matches_nothing(regex: &str) -> bool {
    RegexBuilder::new(regex)
        .multi_line(true)
        .build()
        .is_ok_and(|regex| regex.is_match(b""))
}

fn skip_class(chars: &mut Peekable<Chars<'_>>) {
    while let Some(char) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            ']' => return,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavor {
    Basic,
    Extended,
}

/// A pattern on its way to `regex`.
struct Translation<'a> {
    flavor: Flavor,
    characters: Characters,
    chars: Peekable<Chars<'a>>,
    out: String,
    open_groups: usize,
    /// Nothing that could be repeated stands before: the start, after `(` or `|`, after an anchor.
    at_start: bool,
}

impl<'a> Translation<'a> {
    fn run(pattern: &'a str, flavor: Flavor, characters: Characters) -> Result<String, CommandRefusal> {
        let mut translation = Self {
            flavor,
            characters,
            chars: pattern.chars().peekable(),
            out: String::new(),
            open_groups: 0,
            at_start: true,
        };
        while let Some(char) = translation.chars.next() {
            translation.read(char)?;
        }
        match translation.open_groups {
            0 => Ok(translation.out),
            _ => Err(refuse("a group is not closed")),
        }
    }

    fn read(&mut self, char: char) -> Result<(), CommandRefusal> {
        let is_extended = self.flavor == Flavor::Extended;
        match char {
            '\\' => return self.read_escape(),
            '[' => return self.read_class(),
            '.' => self.push_atom("."),
            '*' if self.at_start && !is_extended => self.push_literal('*'),
            '*' => self.repeat("*")?,
            '+' | '?' if is_extended => self.repeat(if char == '+' { "+" } else { "?" })?,
            '{' if is_extended => match self.read_interval("}") {
                Some(interval) => self.repeat(&interval)?,
                None if self
                    .chars
                    .peek()
                    .is_some_and(|next| next.is_ascii_digit() || ",}".contains(*next)) =>
                {
                    return Err(refuse("an interval"));
                }
                None => self.push_literal('{'),
            },
            '(' if is_extended => self.open_group(),
            // GNU takes a closing parenthesis without an opening one as itself.
            ')' if is_extended && self.open_groups > 0 => self.close_group(),
            '|' if is_extended => self.push_alternative(),
            '^' if is_extended || self.at_start && !self.out.ends_with('^') => self.push_anchor('^'),
            '$' if is_extended || self.is_before_end() => self.push_anchor('$'),
            other => self.push_literal(other),
        }
        Ok(())
    }

    fn read_escape(&mut self) -> Result<(), CommandRefusal> {
        let is_basic = self.flavor == Flavor::Basic;
        let Some(char) = self.chars.next() else {
            return Err(refuse("it ends with a backslash"));
        };
        match char {
            '(' if is_basic => self.open_group(),
            ')' if is_basic && self.open_groups == 0 => return Err(refuse("a group is not opened")),
            ')' if is_basic => self.close_group(),
            '|' if is_basic => self.push_alternative(),
            '+' if is_basic => self.repeat("+")?,
            '?' if is_basic => self.repeat("?")?,
            '{' if is_basic => {
                let interval = self.read_interval("\\}");
                self.repeat(&interval.ok_or(refuse("an interval"))?)?;
            }
            'w' => self.push_atom(r"\w"),
            'W' => self.push_atom(r"\W"),
            's' => self.push_atom(r"\s"),
            'S' => self.push_atom(r"\S"),
            'b' => self.push_assertion(r"\b"),
            'B' => self.push_assertion(r"\B"),
            '<' => self.push_assertion(r"\b{start}"),
            '>' => self.push_assertion(r"\b{end}"),
            digit if digit.is_ascii_digit() => return Err(refuse("a back-reference")),
            // `\d` is a `d` for grep, with a warning in some versions.
            letter if letter.is_alphabetic() => return Err(refuse("an escaped letter")),
            '`' | '\'' => return Err(refuse("an anchor of the buffer")),
            other => self.push_literal(other),
        }
        Ok(())
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}`. `None`, with nothing read, if it is no interval.
    fn read_interval(&mut self, end: &str) -> Option<String> {
        const MAX_REPEATS: u32 = 255;
        let rest: String = self.chars.clone().collect();
        let (inside, _) = rest.split_once(end)?;
        let (least, most) = match inside.split_once(',') {
            Some((least, most)) => (least, Some(most)),
            None => (inside, None),
        };
        let is_number = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit())
                && (text.is_empty() || text.parse().is_ok_and(|number: u32| number <= MAX_REPEATS))
        };
        if !is_number(least) || !most.is_none_or(is_number) || (least.is_empty() && most.is_none()) {
            return None;
        }
        for _ in 0..inside.chars().count() + end.len() {
            self.chars.next();
        }
        let least = if least.is_empty() { "0" } else { least };
        Some(most.map_or_else(|| format!("{{{least}}}"), |most| format!("{{{least},{most}}}")))
    }

    fn read_class(&mut self) -> Result<(), CommandRefusal> {
        let mut class = String::from("[");
        if self.chars.next_if_eq(&'^').is_some() {
            // A class never matches the end of a line.
            class.push_str("^\\n");
        }
        let mut is_first = true;
        loop {
            let char = self.chars.next().ok_or(refuse("a class is not closed"))?;
            match char {
                ']' if !is_first => break,
                '[' if matches!(self.chars.peek(), Some(':')) => class.push_str(&self.read_named_class()?),
                '[' if matches!(self.chars.peek(), Some('.' | '=')) => {
                    return Err(refuse("a collating element"));
                }
                // A range, or a `-` at either end.
                '-' if is_first || self.chars.peek() == Some(&']') => class.push_str("\\-"),
                '-' => class.push('-'),
                other => push_class_char(&mut class, other),
            }
            is_first = false;
        }
        class.push(']');
        // A byte of a longer character is a member of its own in the locale `C`.
        if !class.is_ascii() || !is_plain_class(&class) {
            return Err(refuse("a class with a range that is not answered"));
        }
        self.push_atom(&class);
        Ok(())
    }

    /// The rest of `[:alpha:]`, behind its first bracket.
    fn read_named_class(&mut self) -> Result<String, CommandRefusal> {
        self.chars.next();
        let mut name = String::new();
        while let Some(char) = self.chars.next_if(char::is_ascii_alphabetic) {
            name.push(char);
        }
        let is_unicode = self.characters == Characters::Unicode;
        let known = match name.as_str() {
            "alpha" if is_unicode => r"\p{Alphabetic}",
            "alnum" if is_unicode => r"\p{Alphabetic}0-9",
            "upper" if is_unicode => r"\p{Uppercase}",
            "lower" if is_unicode => r"\p{Lowercase}",
            "alpha" => "A-Za-z",
            "alnum" => "A-Za-z0-9",
            "upper" => "A-Z",
            "lower" => "a-z",
            "digit" => "0-9",
            "space" => r"\s",
            "blank" => r" \t",
            "xdigit" => "0-9A-Fa-f",
            _ => return Err(refuse("a named class")),
        };
        match (self.chars.next(), self.chars.next()) {
            (Some(':'), Some(']')) => Ok(known.to_owned()),
            _ => Err(refuse("a named class")),
        }
    }

    /// Whether a `$` of a basic pattern is an anchor.
    fn is_before_end(&self) -> bool {
        let rest: String = self.chars.clone().take(2).collect();
        rest.is_empty() || rest == r"\)" || rest == r"\|"
    }

    fn open_group(&mut self) {
        self.out.push_str("(?:");
        self.open_groups += 1;
        self.at_start = true;
    }

    fn close_group(&mut self) {
        self.out.push(')');
        self.open_groups -= 1;
        self.at_start = false;
    }

    fn push_alternative(&mut self) {
        self.out.push('|');
        self.at_start = true;
    }

    fn push_anchor(&mut self, anchor: char) {
        self.out.push(anchor);
        self.at_start = anchor == '^';
    }

    fn push_assertion(&mut self, assertion: &str) {
        self.out.push_str(assertion);
        self.at_start = false;
    }

    fn push_atom(&mut self, atom: &str) {
        self.out.push_str(atom);
        self.at_start = false;
    }

    fn push_literal(&mut self, char: char) {
        self.out.push_str(&escape(char.encode_utf8(&mut [0; 4])));
        self.at_start = false;
    }

    fn repeat(&mut self, repetition: &str) -> Result<(), CommandRefusal> {
        let is_repeated = self.out.ends_with(['*', '+', '?', '}']) && !self.out.ends_with(r"\}");
        let follows_assertion = [r"\b", r"\B", "{start}", "{end}", "$"]
            .iter()
            .any(|assertion| self.out.ends_with(assertion));
        // `a**` and `a+?` mean something else to `regex`; `\*` ends with a star too and is only refused.
        if self.at_start || is_repeated || follows_assertion {
            return Err(refuse("a repetition of nothing, or of a repetition"));
        }
        self.out.push_str(repetition);
        Ok(())
    }
}

/// Whether the ranges of a class are of digits, or of letters of one case: what they hold then does not
/// depend on the locale. `\s` and its kind are no ends of ranges.
fn is_plain_class(class: &str) -> bool {
    let chars: Vec<char> = class.chars().collect();
    let is_range = |at: &usize| chars[*at] == '-' && chars[at - 1] != '\\';
    (1..chars.len() - 1).filter(is_range).all(|at| {
        let (from, to) = (chars[at - 1], chars[at + 1]);
        from <= to
            && (from.is_ascii_digit() && to.is_ascii_digit()
                || from.is_ascii_lowercase() && to.is_ascii_lowercase()
                || from.is_ascii_uppercase() && to.is_ascii_uppercase())
    })
}

fn push_class_char(class: &mut String, char: char) {
    if char.is_ascii_punctuation() {
        class.push('\\');
    }
    class.push(char);
}

/// A text as a pattern that matches it.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

pub(super) fn refuse(reason: &str) -> CommandRefusal {
    CommandRefusal::Pattern(reason.to_owned())
}
