//! The patterns of `find -name` and `-path`, matched as the `fnmatch` of glibc matches them for `find`: a
//! star matches everything, slashes and leading dots included.
//!
//! Left out, and refused by the parser: equivalence classes, collating symbols, brackets that are not closed,
//! and ranges whose order depends on the locale.
//!
//! Invariant: where the answer depends on a locale that is not known, it is [`PatternMatch::Unclear`].

use crate::shell::CommandRefusal;

/// How a program reads bytes as characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// A character is a byte: the locales `C` and `POSIX`.
    Bytes,
    /// UTF-8 with the character classes of no language: `C.UTF-8`.
    PlainUtf8,
    /// UTF-8 in some language, whose ranges and classes hold letters that are not known here.
    LocalUtf8,
}

/// A pattern of `-name`, `-iname`, `-path` or `-ipath`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FnmatchPattern {
    text: String,
    tokens: Vec<PatternToken>,
    ignores_case: bool,
}

/// The answer for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternMatch {
    Yes,
    No,
    /// It depends on the locale.
    Unclear,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternToken {
    /// A character. Beyond ASCII it is one for each of its bytes where characters are bytes.
    Literal(char),
    /// `?`.
    AnyCharacter,
    /// `*`.
    AnyText,
    Bracket(Bracket),
}

/// `[a-z_]`, for ASCII only.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bracket {
    is_negated: bool,
    ranges: Vec<(u8, u8)>,
}

/// A token against characters that were already decoded.
#[derive(Clone, Copy, Debug)]
enum Unit<'a> {
    Literal(u32),
    AnyCharacter,
    AnyText,
    Bracket(&'a Bracket),
}

impl FnmatchPattern {
    /// Reads a pattern. `ignores_case` is that of `-iname` and `-ipath`.
    pub fn parse(text: &str, ignores_case: bool) -> Result<Self, CommandRefusal> {
        let refuse = || CommandRefusal::Pattern(text.to_owned());
        if ignores_case && !text.is_ascii() {
            return Err(refuse());
        }
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            rest = &rest[char.len_utf8()..];
            tokens.push(match char {
                '*' if tokens.last() == Some(&PatternToken::AnyText) => continue,
                '*' => PatternToken::AnyText,
                '?' => PatternToken::AnyCharacter,
                '[' => {
                    let (bracket, after) = Bracket::parse(rest, ignores_case).ok_or_else(refuse)?;
                    rest = after;
                    PatternToken::Bracket(bracket)
                }
                '\\' => {
                    let escaped = rest.chars().next().ok_or_else(refuse)?;
                    rest = &rest[escaped.len_utf8()..];
                    PatternToken::Literal(fold(escaped, ignores_case))
                }
                literal => PatternToken::Literal(fold(literal, ignores_case)),
            });
        }
        Ok(Self {
            text: text.to_owned(),
            tokens,
            ignores_case,
        })
    }

    /// The pattern as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// Whether a name matches, as a program in the given locale sees it.
    pub fn matches(&self, name: &[u8], charset: Charset) -> PatternMatch {
        let is_match = match std::str::from_utf8(name) {
            // glibc falls back to bytes for a name that is not a text of the locale.
            Ok(name) if charset != Charset::Bytes && !name.is_ascii() => {
                let is_local = charset == Charset::LocalUtf8;
                if is_local
                    && self
                        .tokens
                        .iter()
                        .any(|token| matches!(token, PatternToken::Bracket(_)))
                {
                    return PatternMatch::Unclear;
                }
                let characters: Vec<u32> = name
                    .chars()
                    .map(|char| u32::from(fold(char, self.ignores_case)))
                    .collect();
                self.matches_characters(&characters)
            }
            _ => self.matches_bytes(name),
        };
        if is_match {
            PatternMatch::Yes
        } else {
            PatternMatch::No
        }
    }

    fn matches_characters(&self, name: &[u32]) -> bool {
        let units: Vec<Unit> = self.tokens.iter().flat_map(PatternToken::as_character).collect();
        matches_units(&units, name.len(), |unit, at| unit.accepts(name[at]))
    }

    fn matches_bytes(&self, name: &[u8]) -> bool {
        // Most names are told apart by their last byte.
        if let (Some(PatternToken::Literal(literal)), Some(byte)) = (self.tokens.last(), name.last())
            && literal.is_ascii()
            && u32::from(*literal) != self.fold_byte(*byte)
        {
            return false;
        }
        if self.text.is_ascii() {
            let accepts = |token: &PatternToken, at: usize| token.accepts(self.fold_byte(name[at]));
            return matches_units(&self.tokens, name.len(), accepts);
        }
        let units: Vec<Unit> = self.tokens.iter().flat_map(PatternToken::as_bytes).collect();
        matches_units(&units, name.len(), |unit, at| {
            unit.accepts(self.fold_byte(name[at]))
        })
    }

    fn fold_byte(&self, byte: u8) -> u32 {
        u32::from(if self.ignores_case {
            byte.to_ascii_lowercase()
        } else {
            byte
        })
    }
}

/// The lower case of a character, as `towlower` has it: one character.
fn fold(char: char, ignores_case: bool) -> char {
    if ignores_case {
        char.to_lowercase().next().unwrap_or(char)
    } else {
        char
    }
}

/// An element of a pattern.
trait IsStar {
    fn is_star(&self) -> bool;
}

impl IsStar for PatternToken {
    fn is_star(&self) -> bool {
        *self == Self::AnyText
    }
}

impl IsStar for Unit<'_> {
    fn is_star(&self) -> bool {
        matches!(self, Self::AnyText)
    }
}

/// Matches with one point of return, the last star: an earlier star never needs to take more than it has.
fn matches_units<T: IsStar>(pattern: &[T], length: usize, accepts: impl Fn(&T, usize) -> bool) -> bool {
    let (mut unit, mut at) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while at < length {
        match pattern.get(unit) {
            Some(star) if star.is_star() => {
                unit += 1;
                if unit == pattern.len() {
                    return true;
                }
                last_star = Some((unit, at));
            }
            Some(other) if accepts(other, at) => {
                unit += 1;
                at += 1;
            }
            _ => match &mut last_star {
                Some((after_star, start)) => {
                    *start += 1;
                    (unit, at) = (*after_star, *start);
                }
                None => return false,
            },
        }
    }
    pattern[unit..].iter().all(IsStar::is_star)
}

impl PatternToken {
    fn accepts(&self, character: u32) -> bool {
        match self {
            Self::Literal(literal) => u32::from(*literal) == character,
            Self::AnyCharacter => true,
            Self::AnyText => false,
            Self::Bracket(bracket) => bracket.accepts(character),
        }
    }

    fn as_character(&self) -> Vec<Unit<'_>> {
        vec![match self {
            Self::Literal(literal) => Unit::Literal(u32::from(*literal)),
            Self::AnyCharacter => Unit::AnyCharacter,
            Self::AnyText => Unit::AnyText,
            Self::Bracket(bracket) => Unit::Bracket(bracket),
        }]
    }

    fn as_bytes(&self) -> Vec<Unit<'_>> {
        match self {
            Self::Literal(literal) => {
                let mut buffer = [0; 4];
                let bytes = literal.encode_utf8(&mut buffer).bytes();
                bytes.map(|byte| Unit::Literal(u32::from(byte))).collect()
            }
            _ => self.as_character(),
        }
    }
}

impl Unit<'_> {
    fn accepts(&self, character: u32) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::AnyCharacter => true,
            Self::AnyText => false,
            Self::Bracket(bracket) => bracket.accepts(character),
        }
    }
}

impl Bracket {
    /// Reads a bracket behind its `[`, and returns the text behind it. `None` if it is not matched here.
    fn parse(text: &str, ignores_case: bool) -> Option<(Self, &str)> {
        let is_negated = text.starts_with(['!', '^']);
        let body = if is_negated { &text[1..] } else { text };
        let bytes = body.as_bytes();
        let mut ranges = Vec::new();
        let mut at = 0;
        loop {
            let byte = *bytes.get(at)?;
            if byte == b']' && at > 0 {
                break;
            }
            if byte == b'[' && matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) {
                let length = body[at..].find(":]")?;
                // Classes of letters depend on how a program folds case.
                if ignores_case || bytes[at + 1] != b':' {
                    return None;
                }
                ranges.extend_from_slice(class_ranges(&body[at + 2..at + length])?);
                at += length + 2;
                continue;
            }
            let first = take_character(bytes, &mut at)?;
            let is_range =
                bytes.get(at) == Some(&b'-') && bytes.get(at + 1).is_some_and(|next| *next != b']');
            if is_range {
                at += 1;
                let last = take_character(bytes, &mut at)?;
                ranges.push(fold_range(first, last, ignores_case)?);
            } else {
                let folded = if ignores_case {
                    first.to_ascii_lowercase()
                } else {
                    first
                };
                ranges.push((folded, folded));
            }
        }
        Some((Self { is_negated, ranges }, &body[at + 1..]))
    }

    fn accepts(&self, character: u32) -> bool {
        let is_listed = self
            .ranges
            .iter()
            .any(|(first, last)| (u32::from(*first)..=u32::from(*last)).contains(&character));
        is_listed != self.is_negated
    }
}

/// The next character of a bracket, without its backslash.
fn take_character(bytes: &[u8], at: &mut usize) -> Option<u8> {
    if bytes.get(*at) == Some(&b'\\') {
        *at += 1;
    }
    let byte = *bytes.get(*at)?;
    *at += 1;
    byte.is_ascii().then_some(byte)
}

/// A range within the small letters, the capital letters or the digits: others are ordered by the locale.
fn fold_range(first: u8, last: u8, ignores_case: bool) -> Option<(u8, u8)> {
    let is_within = |test: fn(&u8) -> bool| test(&first) && test(&last);
    let is_uniform = is_within(u8::is_ascii_lowercase)
        || is_within(u8::is_ascii_uppercase)
        || is_within(u8::is_ascii_digit);
    if !is_uniform || first > last {
        return None;
    }
    Some(if ignores_case {
        (first.to_ascii_lowercase(), last.to_ascii_lowercase())
    } else {
        (first, last)
    })
}

/// The ASCII characters of a class like `alpha`.
fn class_ranges(name: &str) -> Option<&'static [(u8, u8)]> {
    Some(match name {
        "alpha" => &[(b'a', b'z'), (b'A', b'Z')],
        "digit" => &[(b'0', b'9')],
        "alnum" => &[(b'a', b'z'), (b'A', b'Z'), (b'0', b'9')],
        "lower" => &[(b'a', b'z')],
        "upper" => &[(b'A', b'Z')],
        "xdigit" => &[(b'0', b'9'), (b'a', b'f'), (b'A', b'F')],
        "punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        "space" => &[(b'\t', b'\r'), (b' ', b' ')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        let pattern = FnmatchPattern::parse(pattern, false).unwrap();
        pattern.matches(name.as_bytes(), Charset::PlainUtf8) == PatternMatch::Yes
    }

    #[test]
    fn a_star_matches_slashes_and_leading_dots() {
        assert!(matches("*.rs", ".rs"));
        assert!(matches("*/net/*", "./src/net/deep/a.rs"));
        assert!(matches("*", ""));
        assert!(matches("a*b*c", "aXbXbc"));
        assert!(!matches("a*b*c", "aXcXb"));
        assert!(!matches("*.rs", "a.rsx"));
    }

    #[test]
    fn brackets_take_ranges_classes_and_escapes() {
        for (pattern, yes, no) in [
            ("[a-c]x", "bx", "dx"),
            ("[!a-c]x", "dx", "bx"),
            ("[^a]", "b", "a"),
            ("[]a]", "]", "b"),
            ("[!]a]", "b", "]"),
            ("[a-]", "-", "b"),
            ("[a\\]]", "]", "\\"),
            ("[[:digit:]_]*", "_a", "a"),
            ("[*]", "*", "a"),
            ("\\*", "*", "a"),
        ] {
            assert!(matches(pattern, yes), "{pattern} {yes}");
            assert!(!matches(pattern, no), "{pattern} {no}");
        }
    }

    #[test]
    fn patterns_that_depend_on_the_locale_or_the_version_are_refused() {
        for pattern in [
            "[a", "a\\", "[a-Z]", "[z-a]", "[[=a=]]", "[[.a.]]", "[é]", "[+--]",
        ] {
            assert!(FnmatchPattern::parse(pattern, false).is_err(), "{pattern}");
        }
        assert!(FnmatchPattern::parse("é", true).is_err());
    }

    #[test]
    fn a_character_is_a_byte_without_a_locale() {
        let pattern = FnmatchPattern::parse("?.txt", false).unwrap();
        let name = "é.txt".as_bytes();
        assert_eq!(pattern.matches(name, Charset::PlainUtf8), PatternMatch::Yes);
        assert_eq!(pattern.matches(name, Charset::Bytes), PatternMatch::No);
        let pattern = FnmatchPattern::parse("é*", false).unwrap();
        assert_eq!(pattern.matches(name, Charset::Bytes), PatternMatch::Yes);
        let pattern = FnmatchPattern::parse("[a-z]*", false).unwrap();
        assert_eq!(pattern.matches(name, Charset::LocalUtf8), PatternMatch::Unclear);
    }

    #[test]
    fn names_that_are_not_utf8_are_matched_by_bytes() {
        let pattern = FnmatchPattern::parse("bad?name", false).unwrap();
        assert_eq!(
            pattern.matches(b"bad\xffname", Charset::PlainUtf8),
            PatternMatch::Yes
        );
    }

    #[test]
    fn letter_case_is_folded_on_both_sides() {
        let pattern = FnmatchPattern::parse("READ[M-N]E*", true).unwrap();
        assert_eq!(
            pattern.matches(b"ReadMe.md", Charset::PlainUtf8),
            PatternMatch::Yes
        );
        assert_eq!(
            pattern.matches(b"ReadXe.md", Charset::PlainUtf8),
            PatternMatch::No
        );
    }
}
