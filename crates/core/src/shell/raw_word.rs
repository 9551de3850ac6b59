//! A word of a shell command as it is written, with quotes, escapes and globs.
//!
//! Invariant: a word whose text depends on anything but the line is no literal, and gives `None`.

use super::Word;

/// The word without its quotes and escapes. `None` if it has a variable or a substitution.
pub(super) fn read_word(raw: &str) -> Option<Word> {
    let mut word = Word::literal("");
    let mut has_brace = false;
    let mut chars = raw.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    other => word.text.push(other),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '$' if !matches!(chars.peek(), Some(next) if expands(*next)) => word.text.push('$'),
                    '$' | '`' => return None,
                    // Other characters keep the backslash between double quotes.
                    '\\' => match chars.next()? {
                        escaped @ ('$' | '`' | '"' | '\\') => word.text.push(escaped),
                        '\n' => {}
                        other => word.text.extend(['\\', other]),
                    },
                    other => word.text.push(other),
                }
            },
            '\\' => match chars.next()? {
                '\n' => {}
                escaped => word.text.push(escaped),
            },
            '$' if !matches!(chars.peek(), Some(next) if expands(*next) || matches!(next, '\'' | '"')) => {
                word.text.push('$');
            }
            '$' | '`' | '<' | '>' | '(' | ')' | ';' | '&' | '|' | '\n' => return None,
            '*' | '?' | '[' => {
                word.expands = true;
                word.text.push(char);
            }
            '{' => {
                has_brace = true;
                word.text.push(char);
            }
            '~' if word.text.is_empty() && raw.starts_with('~') => {
                word.expands = true;
                word.text.push(char);
            }
            other => {
                word.expands |= has_brace && matches!(other, ',' | '.');
                word.text.push(other);
            }
        }
    }
    Some(word)
}

/// Whether a `$` before this character is replaced.
fn expands(next: char) -> bool {
    next.is_alphanumeric() || "_{(@*#?-$!".contains(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_are_removed_as_bash_removes_them() {
        let check = |raw: &str, expected: &str| {
            let word = read_word(raw).unwrap();
            assert_eq!((word.text.as_str(), word.expands), (expected, false), "{raw}");
        };
        check("word", "word");
        check(r"'a|b'", "a|b");
        check(r#""a\|b""#, r"a\|b");
        check(r#""say \"x\" \\n""#, r#"say "x" \n"#);
        check(r"a\ b\|c", "a b|c");
        check(r#"'it'"'"'s'"#, "it's");
        check(r#"--include="*.rs""#, "--include=*.rs");
        check("'$HOME'", "$HOME");
        check(r#""x$""#, "x$");
        check("^x$", "^x$");
        check("{}", "{}");
    }

    #[test]
    fn globs_braces_and_homes_expand() {
        for raw in ["*.rs", "src/[ab]", "~/x", "{a,b}.rs", "a{1..3}", "x?"] {
            assert!(read_word(raw).unwrap().expands, "{raw}");
        }
        assert!(!read_word("a~b").unwrap().expands);
    }

    #[test]
    fn what_depends_on_more_than_the_line_is_no_literal() {
        for raw in [
            "$x", "\"$x\"", "${x}", "$(x)", "`x`", "\"`x`\"", "$'x'", "$\"x\"", "<(x)", "\"$(x)\"", "$1",
            "\"$@\"",
        ] {
            assert_eq!(read_word(raw), None, "{raw}");
        }
    }
}
