//! Patterns of `grep -P` as patterns of Rust's `regex` that match the same parts of lines.
//!
//! Both take the first alternative that matches, so that the matching part is the same too. Classes such as
//! `\w` hold ASCII only, as they do up to GNU grep 3.8; [`PerlClasses`] tells which a pattern has, because
//! later versions differ.
//!
//! Left out: negated classes outside of brackets, and everything that looks around, refers back, keeps what
//! it has matched (`a++`, `(?>a)`), sets options or resets the match (`\K`), and repetitions inside of
//! repetitions, in which PCRE may give up.
//!
//! Invariant: a pattern that cannot be translated with certainty is refused.

use std::iter::Peekable;
use std::str::Chars;

use super::super::CommandRefusal;
use super::pattern::{Characters, escape, refuse};

/// The classes of a pattern whose characters differ between versions of grep, beyond ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerlClasses {
    /// `\d`.
    pub has_digits: bool,
    /// `\w`, `\b`, `\s` and named classes.
    pub has_words: bool,
}

/// Characters of `\w`, `\d` and `\s`, as the inside of a class.
const WORD: &str = "0-9A-Z_a-z";
const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0B\x0C\r\x20";

/// How a pattern is translated.
#[derive(Clone, Copy)]
pub(super) struct PerlRules {
    pub(super) characters: Characters,
    pub(super) is_insensitive: bool,
}

/// The pattern for `regex`, and the classes that it has.
pub(super) fn translate(pattern: &str, rules: PerlRules) -> Result<(String, PerlClasses), CommandRefusal> {
    // A character of several bytes is several ones in the locale `C`.
    if rules.characters == Characters::Bytes && !pattern.is_ascii() {
        return Err(refuse("it is not ASCII"));
    }
    let mut translation = PerlTranslation {
        rules,
        chars: pattern.chars().peekable(),
        out: String::new(),
        classes: PerlClasses::default(),
        groups: Vec::new(),
        last: Last::Nothing,
    };
    while let Some(char) = translation.chars.next() {
        translation.read(char)?;
    }
    if !translation.groups.is_empty() {
        return Err(refuse("a group is not closed"));
    }
    Ok((translation.out, translation.classes))
}

/// What was read last, as far as it matters to a repetition behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start of the pattern, of a group or of an alternative.
    Nothing,
    Atom,
    /// A group that has a repetition without an end.
    EndlessGroup,
    Assertion,
    Repetition,
}

struct PerlTranslation<'a> {
    rules: PerlRules,
    chars: Peekable<Chars<'a>>,
    out: String,
    classes: PerlClasses,
    /// For each open group, whether it has a repetition without an end.
    groups: Vec<bool>,
    last: Last,
}

impl PerlTranslation<'_> {
    fn read(&mut self, char: char) -> Result<(), CommandRefusal> {
        match char {
            '\\' => self.read_escape()?,
            '[' => self.read_class()?,
            '.' => self.push(".", Last::Atom),
            '^' => self.push("^", Last::Assertion),
            '$' => self.push("$", Last::Assertion),
            '|' => self.push("|", Last::Nothing),
            '(' => self.open_group()?,
            ')' => {
                let is_endless = self.groups.pop().ok_or(refuse("a group is not opened"))?;
                if let Some(outer) = self.groups.last_mut() {
                    *outer |= is_endless;
                }
                let last = if is_endless {
                    Last::EndlessGroup
                } else {
                    Last::Atom
                };
                self.push(")", last);
            }
            '*' => self.repeat("*", true)?,
            '+' => self.repeat("+", true)?,
            '?' => self.repeat("?", false)?,
            '{' => match self.read_interval()? {
                Some((interval, is_endless)) => self.repeat(&interval, is_endless)?,
                None => self.push(r"\{", Last::Atom),
            },
            other => {
                let literal = escape(other.encode_utf8(&mut [0; 4]));
                self.push(&literal, Last::Atom);
            }
        }
        Ok(())
    }

    fn push(&mut self, text: &str, last: Last) {
        self.out.push_str(text);
        self.last = last;
    }

    /// Capturing groups, and `(?:`.
    fn open_group(&mut self) -> Result<(), CommandRefusal> {
        if self.chars.next_if_eq(&'?').is_some() && self.chars.next() != Some(':') {
            return Err(refuse("a group of Perl"));
        }
        if self.chars.peek() == Some(&'*') {
            return Err(refuse("a verb of Perl"));
        }
        self.groups.push(false);
        self.push("(?:", Last::Nothing);
        Ok(())
    }

    fn repeat(&mut self, repetition: &str, is_endless: bool) -> Result<(), CommandRefusal> {
        match self.last {
            Last::Atom => {}
            Last::EndlessGroup if !is_endless => {}
            Last::EndlessGroup => return Err(refuse("a repetition in a repetition")),
            _ => return Err(refuse("a repetition of nothing, or of a repetition")),
        }
        if is_endless && let Some(group) = self.groups.last_mut() {
            *group = true;
        }
        self.push(repetition, Last::Repetition);
        if self.chars.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(())
    }

    /// `{2}`, `{2,}` or `{2,3}`, and whether it has no end. `None`, with nothing read, if the brace stands
    /// for itself in every version.
    fn read_interval(&mut self) -> Result<Option<(String, bool)>, CommandRefusal> {
        const MAX_REPEATS: u32 = 255;
        let rest: String = self.chars.clone().collect();
        let Some((inside, _)) = rest.split_once('}') else {
            return Ok(None);
        };
        // Later versions of PCRE allow blanks, and no first number.
        if !inside
            .chars()
            .all(|char| char.is_ascii_digit() || ", ".contains(char))
            || inside.is_empty()
        {
            return Ok(None);
        }
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number = |text: &str| text.parse().is_ok_and(|number: u32| number <= MAX_REPEATS);
        if !is_number(least) || !(most.is_empty() || is_number(most)) {
            return Err(refuse("an interval"));
        }
        for _ in 0..=inside.len() {
            self.chars.next();
        }
        Ok(Some((format!("{{{inside}}}"), most.is_empty())))
    }

    fn read_escape(&mut self) -> Result<(), CommandRefusal> {
        let Some(char) = self.chars.next() else {
            return Err(refuse("it ends with a backslash"));
        };
        match char {
            'd' | 'w' | 's' => {
                let class = self.class_of(char);
                // Case does not add to these.
                self.push(&format!("(?-i:[{class}])"), Last::Atom);
            }
            // In UTF-8, grep 3.8 takes no character beyond ASCII for one of these, against PCRE's manual.
            'D' | 'W' | 'S' => return Err(refuse("a negated class of Perl")),
            'b' | 'B' => {
                self.classes.has_words = true;
                let assertion = if char == 'b' { r"(?-u:\b)" } else { r"(?-u:\B)" };
                self.push(assertion, Last::Assertion);
            }
            't' => self.push(r"\t", Last::Atom),
            'r' => self.push(r"\r", Last::Atom),
            'f' => self.push(r"\x0C", Last::Atom),
            punctuation if punctuation.is_ascii_punctuation() => {
                let literal = escape(punctuation.encode_utf8(&mut [0; 4]));
                self.push(&literal, Last::Atom);
            }
            _ => return Err(refuse("an escape of Perl")),
        }
        Ok(())
    }

    fn class_of(&mut self, letter: char) -> &'static str {
        match letter {
            'd' => {
                self.classes.has_digits = true;
                DIGIT
            }
            'w' => {
                self.classes.has_words = true;
                WORD
            }
            _ => {
                self.classes.has_words = true;
                SPACE
            }
        }
    }

    fn read_class(&mut self) -> Result<(), CommandRefusal> {
        let mut class = String::from("[");
        if self.chars.next_if_eq(&'^').is_some() {
            class.push_str("^\\n");
        }
        let mut is_first = true;
        // The end of a range may be no class.
        let mut may_begin_range = false;
        loop {
            let char = self.chars.next().ok_or(refuse("a class is not closed"))?;
            match char {
                ']' if !is_first => break,
                '[' if matches!(self.chars.peek(), Some(':' | '.' | '=')) => {
                    return Err(refuse("a named class"));
                }
                '-' if is_first || self.chars.peek() == Some(&']') => class.push_str("\\-"),
                '-' if may_begin_range => {
                    let end = self.read_member()?.ok_or(refuse("a range"))?;
                    class.push('-');
                    push_member(&mut class, end);
                    may_begin_range = false;
                    continue;
                }
                // A hyphen behind a range or a class stands for itself in some versions.
                '-' => return Err(refuse("a range")),
                '\\' => {
                    let class_letter = self.chars.next_if(|char| matches!(char, 'd' | 'w' | 's'));
                    let Some(letter) = class_letter else {
                        let member = self.read_escaped_member()?;
                        push_member(&mut class, member);
                        is_first = false;
                        may_begin_range = true;
                        continue;
                    };
                    let set = self.class_of(letter);
                    // Case would add letters to the class.
                    if letter == 'w' && self.rules.is_insensitive {
                        return Err(refuse("a class in a class without case"));
                    }
                    class.push_str(set);
                    is_first = false;
                    may_begin_range = false;
                    continue;
                }
                other => push_member(&mut class, other),
            }
            is_first = false;
            may_begin_range = true;
        }
        class.push(']');
        self.push(&class, Last::Atom);
        Ok(())
    }

    /// The end of a range. `None` for a class.
    fn read_member(&mut self) -> Result<Option<char>, CommandRefusal> {
        match self.chars.next() {
            Some('\\') if matches!(self.chars.peek(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S')) => Ok(None),
            Some('\\') => self.read_escaped_member().map(Some),
            Some('[') => Ok(None),
            other => Ok(other),
        }
    }

    /// A character behind a backslash in a class.
    fn read_escaped_member(&mut self) -> Result<char, CommandRefusal> {
        match self.chars.next() {
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some(char) if char.is_ascii_punctuation() => Ok(char),
            _ => Err(refuse("an escape of Perl")),
        }
    }
}

fn push_member(class: &mut String, char: char) {
    if char.is_ascii_punctuation() {
        class.push('\\');
    }
    class.push(char);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: &str) {
        let rules = PerlRules {
            characters: Characters::Unicode,
            is_insensitive: false,
        };
        let (translated, _) = translate(pattern, rules).unwrap();
        assert_eq!(translated, expected, "{pattern}");
    }

    #[test]
    fn what_means_the_same_is_translated() {
        check(r"func (\w+)\(", r"func (?:(?-i:[0-9A-Z_a-z])+)\(");
        check(
            r"^\s*(def|class)\b",
            r"^(?-i:[\t\n\x0B\x0C\r\x20])*(?:def|class)(?-u:\b)",
        );
        check(r"a.*?b{2,3}", r"a.*?b{2,3}");
        check(r"x{y}", r"x\{y\}");
        check(r"[\w.-]+@[^]]", r"[0-9A-Z_a-z\.\-]+@[^\n\]]");
        check(r"\d{4}", r"(?-i:[0-9]){4}");
    }

    #[test]
    fn what_only_perl_has_is_refused() {
        let rules = PerlRules {
            characters: Characters::Unicode,
            is_insensitive: false,
        };
        for pattern in [
            r"(?=x)",
            r"(?<!x)y",
            r"(?<n>x)",
            r"(?i)x",
            r"(x)\1",
            r"a++",
            r"a*+",
            r"a{2}+",
            r"x\Ky",
            r"\Qx\E",
            r"\p{L}",
            r"\X",
            r"\R",
            r"\x41",
            r"(*ACCEPT)",
            r"(?>a)",
            r"[[:alpha:]]",
            r"[a-\d]",
            r"\h",
            r"(a+)+",
            r"a**",
            r"^*",
            r"(",
            r"a)",
            "a\\",
            r"\N",
            r"{,3}",
            r"a{,3}",
            r"[\b]",
            r"[\d-z]",
            r"\z",
            r"\_x\G",
        ] {
            assert!(translate(pattern, rules).is_err(), "{pattern}");
        }
        assert!(
            translate(
                "é",
                PerlRules {
                    characters: Characters::Bytes,
                    ..rules
                }
            )
            .is_err()
        );
    }
}
