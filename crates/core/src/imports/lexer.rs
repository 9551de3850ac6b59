//! A lexer for import statements: words, string literals and signs, given the comment and quote syntax of a
//! language.
//!
//! Escapes inside literals are not decoded, and interpolated literals keep their text: a path that needs
//! either is not one that the resolver could follow.
//!
//! Invariant: every token is a slice of the text, tokens are in order, and the lexer ends on every input.

/// The syntax of comments, strings and words in a language.
pub(super) struct LexicalStyle {
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) quotes: &'static [char],
    /// The quotes whose literals may span lines.
    pub(super) long_quotes: &'static [char],
    /// Characters of words beside letters, digits and `_`.
    pub(super) word_signs: &'static [char],
    /// True for Rust, whose raw strings, raw names and character literals need special rules.
    pub(super) rust: bool,
}

/// The syntax of most languages, as a base for the others.
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
    /// Any other character but white space.
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
        self.skip_blanks();
        let first = self.rest.chars().next()?;
        if self.is_word(first) {
            if let Some((start, length)) = self.enter_raw_string() {
                return Some(self.take_token(TokenKind::Text, start, length, start + length + start));
            }
            let prefix = if self.style.rust && self.is_raw_name() {
                2
            } else {
                0
            };
            let length = self.rest[prefix..]
                .find(|c| !self.is_word(c))
                .unwrap_or(self.rest.len() - prefix);
            return Some(self.take_token(TokenKind::Word, prefix, length, prefix + length));
        }
        if self.style.quotes.contains(&first) {
            let start = first.len_utf8();
            let (length, closed) = self.measure_literal(first, start);
            let close = if closed { start } else { 0 };
            return Some(self.take_token(TokenKind::Text, start, length, start + length + close));
        }
        if let Some(length) = self.measure_character() {
            return Some(self.take_token(TokenKind::Text, 1, length, length + 2));
        }
        Some(self.take_token(TokenKind::Sign, 0, first.len_utf8(), first.len_utf8()))
    }
}

impl<'t> Lexer<'t> {
    /// Takes `length` bytes at `start` as a token and advances to `end`.
    fn take_token(&mut self, kind: TokenKind, start: usize, length: usize, end: usize) -> Token<'t> {
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

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
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

    /// Length of a literal's text, and whether the literal is closed.
    fn measure_literal(&self, quote: char, start: usize) -> (usize, bool) {
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

    /// True at the start of `r#name`.
    fn is_raw_name(&self) -> bool {
        self.rest
            .strip_prefix("r#")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    }

    /// Start and length of the text of a raw string, counted from its first `#` or quote. Advances past the
    /// prefix.
    fn enter_raw_string(&mut self) -> Option<(usize, usize)> {
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
        // `next` skips the closing quote and hashes, which are as long as the opening ones.
        Some((hashes + 1, text.find(&close).unwrap_or(text.len())))
    }

    /// Length of the text of a character literal such as `'{'`. `None` for a lifetime, which has no closing
    /// quote.
    fn measure_character(&self) -> Option<usize> {
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
    fn comments_are_skipped_and_lines_counted() {
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
    fn an_open_literal_ends_with_its_line() {
        assert_eq!(texts("'a\nb", &PLAIN), ["a", "b"]);
        assert_eq!(texts(r#""a\"b" c"#, &PLAIN), [r#"a\"b"#, "c"]);
        assert_eq!(texts("/* a", &PLAIN), Vec::<&str>::new());
    }

    #[test]
    fn raw_strings_raw_names_and_characters_of_rust_are_single_tokens() {
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
