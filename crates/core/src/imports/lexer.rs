//! Words, string literals and signs of a statement, in any language whose comments and quotes are told.
//!
//! Escapes inside literals are not undone, and literals that compute something keep their text: a path that needs
//! either is not one the resolver could follow.
//!
//! Invariant: every token is a piece of the text, in order, and the lexer ends with the text whatever that is.

/// How a language writes comments, strings and words.
pub(super) struct LexicalStyle {
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) quotes: &'static [char],
    /// Those of the quotes that may hold several lines.
    pub(super) long_quotes: &'static [char],
    /// What belongs to a word beside letters, digits and `_`.
    pub(super) word_signs: &'static [char],
    /// Rust's raw strings, raw names and characters, whose quotes would end the wrong thing.
    pub(super) rust: bool,
}

/// Most languages, to be adjusted.
pub(super) const C_LIKE: LexicalStyle = LexicalStyle {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    long_quotes: &[],
    word_signs: &[],
    rust: false,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A string literal, without its quotes.
    Text,
    /// Any other character that is no space.
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    pub(super) line: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text == word
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text == sign
    }
}

/// The tokens of a text that begins at `line`.
pub(super) fn tokens<'t>(text: &'t str, line: usize, style: &'static LexicalStyle) -> Lexer<'t> {
    Lexer {
        rest: text,
        line,
        style,
    }
}

pub(super) struct Lexer<'t> {
    rest: &'t str,
    line: usize,
    style: &'static LexicalStyle,
}

impl<'t> Iterator for Lexer<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip();
        let first = self.rest.chars().next()?;
        if self.is_word(first) {
            if let Some((start, length)) = self.rust_raw() {
                return Some(self.token(TokenKind::Text, start, length, start + length + start));
            }
            let prefix = if self.style.rust && self.raw_name() { 2 } else { 0 };
            let length = self.rest[prefix..]
                .find(|c| !self.is_word(c))
                .unwrap_or(self.rest.len() - prefix);
            return Some(self.token(TokenKind::Word, prefix, length, prefix + length));
        }
        if self.style.quotes.contains(&first) {
            let start = first.len_utf8();
            let (length, closed) = self.literal(first, start);
            let close = if closed { start } else { 0 };
            return Some(self.token(TokenKind::Text, start, length, start + length + close));
        }
        if let Some(length) = self.rust_character() {
            return Some(self.token(TokenKind::Text, 1, length, length + 2));
        }
        Some(self.token(TokenKind::Sign, 0, first.len_utf8(), first.len_utf8()))
    }
}

impl<'t> Lexer<'t> {
    /// The piece of `length` at `start` as a token, and on to `end`.
    fn token(&mut self, kind: TokenKind, start: usize, length: usize, end: usize) -> Token<'t> {
        let text = self.rest.get(start..start + length).unwrap_or_default();
        let token = Token {
            kind,
            text,
            line: self.line,
        };
        self.advance(end);
        token
    }

    fn advance(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.line = self
            .line
            .saturating_add(passed.bytes().filter(|&byte| byte == b'\n').count());
        self.rest = rest;
    }

    /// Spaces and comments.
    fn skip(&mut self) {
        loop {
            let spaces = self.rest.len() - self.rest.trim_start().len();
            self.advance(spaces);
            let block = self
                .style
                .block_comment
                .filter(|(open, _)| self.rest.starts_with(open));
            if let Some((open, close)) = block {
                let end = self.rest[open.len()..].find(close);
                self.advance(end.map_or(self.rest.len(), |end| open.len() + end + close.len()));
            } else if self
                .style
                .line_comments
                .iter()
                .any(|open| self.rest.starts_with(open))
            {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else {
                return;
            }
        }
    }

    fn is_word(&self, c: char) -> bool {
        c.is_alphanumeric() || c == '_' || self.style.word_signs.contains(&c)
    }

    /// The length of a literal's text, and whether it is closed.
    fn literal(&self, quote: char, start: usize) -> (usize, bool) {
        let text = &self.rest[start..];
        let long = self.style.long_quotes.contains(&quote);
        let mut escaped = false;
        for (at, c) in text.char_indices() {
            match c {
                '\n' if !long => return (at, false),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => return (at, true),
                _ => {}
            }
        }
        (text.len(), false)
    }

    /// True before `r#name`.
    fn raw_name(&self) -> bool {
        self.rest
            .strip_prefix("r#")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    }

    /// Where the text of a raw string begins, counted from its first `#` or quote on, and how long it is.
    fn rust_raw(&mut self) -> Option<(usize, usize)> {
        if !self.style.rust {
            return None;
        }
        let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
            let rest = self.rest.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
        })?;
        self.advance(prefix.len());
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(hashes));
        let text = &self.rest[hashes + 1..];
        // The closing quote and hashes are as long as the opening ones; `next` passes them.
        Some((hashes + 1, text.find(&close).unwrap_or(text.len())))
    }

    /// The length of what is between the quotes of `'{'` or `'\n'`; lifetimes have no second quote there.
    fn rust_character(&self) -> Option<usize> {
        let inner = self.rest.strip_prefix('\'').filter(|_| self.style.rust)?;
        if inner.starts_with('\\') {
            let end = inner.char_indices().skip(2).take(10).find(|&(_, c)| c == '\'');
            return end.map(|(at, _)| at);
        }
        let length = inner.chars().next()?.len_utf8();
        inner[length..].starts_with('\'').then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static RUST: LexicalStyle = LexicalStyle {
        quotes: &['"'],
        long_quotes: &['"'],
        rust: true,
        ..C_LIKE
    };
    static PLAIN: LexicalStyle = C_LIKE;

    fn texts<'t>(text: &'t str, style: &'static LexicalStyle) -> Vec<&'t str> {
        tokens(text, 1, style).map(|token| token.text).collect()
    }

    #[test]
    fn comments_are_passed_and_lines_counted() {
        let found: Vec<_> = tokens("a // b\n/* c\n */ \"d e\" é+", 5, &PLAIN).collect();
        let expected = [
            (TokenKind::Word, "a", 5),
            (TokenKind::Text, "d e", 7),
            (TokenKind::Word, "é", 7),
            (TokenKind::Sign, "+", 7),
        ];
        assert_eq!(
            found,
            expected.map(|(kind, text, line)| Token { kind, text, line })
        );
    }

    #[test]
    fn a_literal_left_open_ends_with_its_line() {
        assert_eq!(texts("'a\nb", &PLAIN), ["a", "b"]);
        assert_eq!(texts(r#""a\"b" c"#, &PLAIN), [r#"a\"b"#, "c"]);
        assert_eq!(texts("/* a", &PLAIN), Vec::<&str>::new());
    }

    #[test]
    fn rust_raw_strings_names_and_characters_are_whole() {
        assert_eq!(texts("r#\"a\"b\"# c", &RUST), ["a\"b", "c"]);
        assert_eq!(texts("br\"a\\\" c", &RUST), ["a\\", "c"]);
        assert_eq!(texts("r#type r#", &RUST), ["type", "r", "#"]);
        assert_eq!(
            texts("'{' '\\'' 'a: &'b", &RUST),
            ["{", "\\'", "'", "a", ":", "&", "'", "b"]
        );
        assert_eq!(texts("r##\"a", &RUST), ["a"]);
    }
}
