//! The regular expressions of `find -regex`, for the whole path, translated into those of the `regex` crate.
//!
//! Only what all the dialects and `regex` agree on is taken: letters, digits, dots, stars, groups,
//! alternatives and brackets of plain ranges. Back references, intervals and classes are refused.
//!
//! Invariant: a path whose answer depends on the locale or the dialect is [`PatternMatch::Unclear`].

use regex::{Regex, RegexBuilder};

use super::name_pattern::{Charset, PatternMatch};
use crate::shell::CommandRefusal;

/// The value of `-regextype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexDialect {
    /// The default: groups and alternatives have a backslash.
    Emacs,
    /// `posix-extended`, `posix-egrep`, `egrep`.
    Extended,
}

/// An expression of `-regex`.
#[derive(Clone, Debug)]
pub struct PathRegex {
    regex: Regex,
    ignores_case: bool,
}

impl PartialEq for PathRegex {
    fn eq(&self, other: &Self) -> bool {
        (self.regex.as_str(), self.ignores_case) == (other.regex.as_str(), other.ignores_case)
    }
}

impl Eq for PathRegex {}

impl RegexDialect {
    pub(super) fn parse(name: &str) -> Result<Self, CommandRefusal> {
        match name {
            "emacs" | "findutils-default" => Ok(Self::Emacs),
            "posix-extended" | "posix-egrep" | "egrep" => Ok(Self::Extended),
            _ => Err(CommandRefusal::Flag(format!("-regextype {name}"))),
        }
    }
}

impl PathRegex {
    pub(super) fn parse(
        text: &str,
        dialect: RegexDialect,
        ignores_case: bool,
    ) -> Result<Self, CommandRefusal> {
        let refuse = || CommandRefusal::Pattern(text.to_owned());
        let mut translated = String::new();
        // A repetition needs something before it: at the start of an alternative the dialects differ.
        let mut has_operand = false;
        let mut groups = 0_usize;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let escaped = if char == '\\' {
                Some(chars.next().ok_or_else(refuse)?)
            } else {
                None
            };
            let is_operator = match dialect {
                RegexDialect::Emacs => matches!(escaped, Some('(' | ')' | '|')),
                RegexDialect::Extended => escaped.is_none() && "()|".contains(char),
            };
            if is_operator {
                let operator = escaped.unwrap_or(char);
                match operator {
                    '(' => groups += 1,
                    ')' if has_operand => groups = groups.checked_sub(1).ok_or_else(refuse)?,
                    '|' if has_operand => {}
                    _ => return Err(refuse()),
                }
                has_operand = operator == ')';
                if operator == '(' {
                    translated.push_str("(?:");
                } else {
                    translated.push(operator);
                }
                continue;
            }
            match (escaped, char) {
                (Some(literal), _) if is_plain_escape(literal) => {
                    translated.push('\\');
                    translated.push(literal);
                }
                (None, '.') => translated.push('.'),
                (None, '*' | '+' | '?') if has_operand => {
                    // A second sign would make the first one lazy.
                    if chars.peek().is_some_and(|next| "*+?".contains(*next)) {
                        return Err(refuse());
                    }
                    translated.push(char);
                }
                (None, '[') => translated.push_str(&take_bracket(&mut chars).ok_or_else(refuse)?),
                (None, '$') if chars.peek().is_none() => {}
                (None, '^') if translated.is_empty() => continue,
                (None, literal) if literal.is_ascii_alphanumeric() || "/_-, =@%~".contains(literal) => {
                    translated.push(literal);
                }
                _ => return Err(refuse()),
            }
            has_operand = true;
        }
        // An alternative at the end may be empty, which the dialects read in different ways.
        if groups > 0 || translated.is_empty() || translated.ends_with('|') {
            return Err(refuse());
        }
        let regex = RegexBuilder::new(&format!("^(?:{translated})$"))
            .case_insensitive(ignores_case)
            .build()
            .map_err(|_| refuse())?;
        Ok(Self { regex, ignores_case })
    }

    /// Whether the whole path matches.
    pub fn matches(&self, path: &[u8], charset: Charset) -> PatternMatch {
        let is_plain = path.is_ascii() || (charset != Charset::Bytes && !self.ignores_case);
        match std::str::from_utf8(path) {
            // The dialects differ in whether a dot matches a line end.
            Ok(path) if is_plain && !path.contains('\n') => {
                if self.regex.is_match(path) {
                    PatternMatch::Yes
                } else {
                    PatternMatch::No
                }
            }
            _ => PatternMatch::Unclear,
        }
    }
}

/// Characters that mean themselves behind a backslash, in every dialect.
fn is_plain_escape(char: char) -> bool {
    matches!(char, '.' | '-' | '/' | '*' | '[' | ']' | '$' | '^' | '\\')
}

/// A bracket of letters, digits and plain signs, as `regex` writes it.
fn take_bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut translated = String::from("[");
    if chars.next_if_eq(&'^').is_some() {
        translated.push('^');
    }
    let mut last: Option<char> = None;
    loop {
        let char = chars.next()?;
        match char {
            ']' if last.is_some() => break,
            '-' if last.is_some() && chars.peek() != Some(&']') => {
                let (first, end) = (last?, chars.next()?);
                let is_within = |test: fn(&char) -> bool| test(&first) && test(&end);
                let is_uniform = is_within(char::is_ascii_lowercase)
                    || is_within(char::is_ascii_uppercase)
                    || is_within(char::is_ascii_digit);
                if !is_uniform || first > end {
                    return None;
                }
                translated.push('-');
                translated.push(end);
                last = Some('-');
            }
            _ if char.is_ascii_alphanumeric() || "_/ ,=@%".contains(char) => {
                translated.push(char);
                last = Some(char);
            }
            '.' | '-' => {
                translated.push('\\');
                translated.push(char);
                last = Some('-');
            }
            _ => return None,
        }
    }
    translated.push(']');
    Some(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(text: &str, dialect: RegexDialect) -> Option<String> {
        let regex = PathRegex::parse(text, dialect, false).ok()?.regex;
        let inner = regex.as_str().strip_prefix("^(?:")?.strip_suffix(")$")?;
        Some(inner.to_owned())
    }

    #[test]
    fn groups_are_written_as_the_dialect_writes_them() {
        assert_eq!(
            translate(r".*\.\(js\|ts\)", RegexDialect::Emacs).as_deref(),
            Some(r".*\.(?:js|ts)")
        );
        assert_eq!(
            translate(r"^.*\.(js|ts)$", RegexDialect::Extended).as_deref(),
            Some(r".*\.(?:js|ts)")
        );
        assert_eq!(
            translate("./[a-z_]+/x.?", RegexDialect::Emacs).as_deref(),
            Some("./[a-z_]+/x.?")
        );
    }

    #[test]
    fn expressions_that_dialects_read_in_different_ways_are_refused() {
        for text in [
            "",
            "*a",
            r"a\{2\}",
            r"\(a",
            r"a\)",
            r"\(\)",
            "a**",
            r"\(a\)\1",
            "(a)",
            "a|b",
            r"\w",
            "[]a]",
            "é",
            r"a\|",
            "[[:alpha:]]",
            "a^",
            "$a",
        ] {
            assert_eq!(translate(text, RegexDialect::Emacs), None, "{text}");
        }
        for text in ["a{2}", "(a", "()", "(|a)", "a|", "+a"] {
            assert_eq!(translate(text, RegexDialect::Extended), None, "{text}");
        }
    }
}
