//! Words with quotes, as a POSIX shell splits them: the filters that `docent rewrite` hands to `docent sh`.

use super::{CommandRefusal, Word};

/// Splits a text at blanks outside of quotes, and removes the quotes. Nothing is expanded: an unquoted
/// character that a shell would act on is refused.
pub fn split_words(text: &str) -> Result<Vec<Word>, CommandRefusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' => words.extend(word.take().map(|word| Word::literal(&word))),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(other) => word.push(other),
                        None => return Err(CommandRefusal::Form("a quote is not closed")),
                    }
                }
            }
            '\\' | '"' | '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' => {
                return Err(CommandRefusal::Form(
                    "a filter has a character that a shell acts on",
                ));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word.map(|word| Word::literal(&word)));
    Ok(words)
}

/// A word in single quotes where it needs them, so that [`split_words`] and a shell read it back. `None` for
/// a word that has a single quote itself.
pub fn quote_word(text: &str) -> Option<String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./,:+=%@^".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    (!text.contains('\'')).then(|| format!("'{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_blanks_stay_in_a_word() {
        let words = split_words("grep -v 'a b'c ''").unwrap();
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["grep", "-v", "a bc", ""]);
    }

    #[test]
    fn characters_that_a_shell_acts_on_are_refused() {
        for text in ["head $N", "head -1; rm x", "head 'x", "head \"x\"", "head > x"] {
            assert!(split_words(text).is_err(), "{text}");
        }
    }
}
