//! Redaction: finds secrets in text, to keep them out of logs, out of the memory and away from servers.
//!
//! Secrets are recognised by shape (tokens of providers, private keys, JSON web tokens, passwords in URLs) or
//! by the name before them (`password`, `AccountKey`). [`redact`] is wide, because a false alarm costs a few
//! characters of a log line and a miss costs a secret. [`find_secret`] refuses a whole text, so a value after
//! a name has to look random as well.
//!
//! Left out: secrets split over lines, and secrets without a shape or a name.
//!
//! Invariant: the time is linear in the length of the text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memchr_iter;
use memchr::memmem::Finder;
use regex::Regex;

use super::token_formats::{Found, find_tokens, is_placeholder, is_word};

/// Replaces a secret.
const MARK: &str = "[redacted]";

/// Describes the secret in a text, if there is one.
pub fn find_secret(text: &str) -> Option<&'static str> {
    let mut shaped = find_shaped(text);
    shaped.sort_by_key(|(_, range)| range.start);
    if let Some((kind, _)) = shaped.first() {
        return Some(kind);
    }
    find_announced(text)
        .any(|value| value.looks_random(text))
        .then_some("a password or token")
}

/// `text` with everything that looks like a secret replaced.
pub fn redact(text: &str) -> Cow<'_, str> {
    let shaped = find_shaped(text).into_iter().map(|(_, range)| range);
    let announced = find_announced(text)
        .filter(|value| value.may_be_secret(text))
        .map(|value| value.range);
    let mut ranges: Vec<Range<usize>> = shaped.chain(announced).collect();
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for range in ranges {
        if range.start >= copied {
            out.push_str(&text[copied..range.start]);
            out.push_str(MARK);
        }
        copied = copied.max(range.end);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Secrets that their shape gives away, in any order.
fn find_shaped(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = find_tokens(text).collect();
    for shape in &*SHAPES {
        if shape.needle.find(text.as_bytes()).is_none() {
            continue;
        }
        found.extend(shape.pattern.captures_iter(text).filter_map(|one| {
            let secret = one.name("secret").or_else(|| one.get(0))?;
            Some((shape.kind, secret.range()))
        }));
    }
    found.extend(find_dotted_tokens(text));
    found.extend(find_telegram_tokens(text));
    found
}

/// A shape that is more than a beginning and an alphabet. The secret is the group `secret`, or the whole
/// match without one.
struct Shape {
    kind: &'static str,
    /// A text that every match contains. Most texts lack it, and searching it costs a fraction of the
    /// pattern.
    needle: Finder<'static>,
    pattern: Regex,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    [
        (
            "a private key",
            "-----BEGIN ",
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)",
        ),
        ("a password in a URL", "://", r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@"),
        (
            "an Azure access key",
            "Key=",
            r"(?:Account|SharedAccess)Key=(?P<secret>[0-9A-Za-z+/]{20,}={0,2})",
        ),
        (
            "an Azure signature",
            "sig=",
            r"[?&]sig=(?P<secret>[0-9A-Za-z%+/_-]{30,}={0,2})",
        ),
        (
            "an Azure client secret",
            "Q~",
            r"[0-9]Q~(?P<secret>[0-9A-Za-z_~.-]{31,34})",
        ),
        (
            "a Discord webhook",
            "/api/webhooks/",
            r"/api/webhooks/[0-9]{10,}/(?P<secret>[0-9A-Za-z_-]{40,})",
        ),
        (
            "a Terraform Cloud token",
            ".atlasv1.",
            r"\.atlasv1\.(?P<secret>[0-9A-Za-z_=-]{40,})",
        ),
        (
            "a Teams webhook",
            ".webhook.office.com",
            r"\.webhook\.office\.com/webhookb2/(?P<secret>[0-9A-Za-z@/-]{40,})",
        ),
    ]
    .into_iter()
    .map(|(kind, needle, pattern)| Shape {
        kind,
        needle: Finder::new(needle),
        pattern: compile(pattern),
    })
    .collect()
});

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are literals, covered by tests")
}

/// Tokens of parts with dots between, found by their first dot: JSON web tokens and those of Airtable and
/// Discord.
fn find_dotted_tokens(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let belongs = |byte: &u8| is_word(*byte) || *byte == b'-';
    let mut found: Vec<Found> = Vec::new();
    let mut end = 0;
    for dot in memchr_iter(b'.', bytes) {
        if dot < end {
            continue;
        }
        let middle = bytes[dot + 1..]
            .iter()
            .copied()
            .take_while(|byte| belongs(byte))
            .count();
        let second = dot + 1 + middle;
        if middle == 64 && dot >= 17 && is_airtable_id(&bytes[dot - 17..dot]) {
            end = second;
            found.push(("an Airtable token", dot - 17..end));
            continue;
        }
        if middle < 6 || bytes.get(second) != Some(&b'.') {
            continue;
        }
        let first = bytes[end..dot]
            .iter()
            .rev()
            .take_while(|byte| belongs(byte))
            .count();
        let last = bytes[second + 1..]
            .iter()
            .take_while(|byte| belongs(byte))
            .count();
        if first == 0 {
            continue;
        }
        let start = dot - first;
        // In an escaped text the run begins with the letter of `\n`.
        let start = start + usize::from(start > 0 && bytes[start - 1] == b'\\');
        let part = &text[start..dot];
        let kind = if part.starts_with("eyJ") && part.len() >= 11 && middle >= 8 {
            "a JSON web token"
        } else if part.starts_with(['M', 'N', 'O'])
            && (23..=28).contains(&part.len())
            && middle == 6
            && last >= 27
        {
            "a Discord token"
        } else {
            continue;
        };
        end = second + 1 + last;
        found.push((kind, start..end));
    }
    found
}

/// True for the first part of Airtable's tokens: `pat` and 14 letters and digits.
fn is_airtable_id(part: &[u8]) -> bool {
    part.starts_with(b"pat") && part.iter().all(u8::is_ascii_alphanumeric)
}

/// Telegram's tokens: the number of the bot, a colon, and 35 characters that begin with `A`.
fn find_telegram_tokens(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for colon in memchr_iter(b':', bytes) {
        if bytes.get(colon + 1) != Some(&b'A') {
            continue;
        }
        let digits = bytes[..colon]
            .iter()
            .rev()
            .take(17)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let secret = bytes[colon + 1..]
            .iter()
            .take(36)
            .take_while(|byte| is_word(**byte) || **byte == b'-')
            .count();
        if (8..=16).contains(&digits) && secret == 35 {
            found.push(("a Telegram token", colon - digits..colon + 36));
        }
    }
    found
}

/// A value after a name such as `password`.
struct Announced {
    range: Range<usize>,
    form: AnnouncedForm,
    is_quoted: bool,
}

/// How a value is announced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnnouncedForm {
    /// `password=x`
    Equals,
    /// `password: x`
    Colon,
    /// `Bearer x`
    Header,
    /// `the password is x`
    Sentence,
}

/// Names of secrets up to the value. `pass` is also a verb, so it counts as a part of a name (`DB_PASS`) or
/// before an equals sign.
static ANNOUNCEMENTS: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i-u)(?:",
        r"(?:password|passwd|passphrase|passcode|pwd|secret|token|credential|",
        r"(?:api|access|account|private|auth|signing|encryption|master|license)[_-]?key|[_-]pass)",
        r#"[\\"'`\]]{0,4}[ \t]{0,20}(?:(?P<equals>:=|=>|=)|(?P<colon>:))"#,
        r"|\bpass[ \t]{0,20}(?P<pass>=)",
        r"|\b(?P<header>bearer|basic)[ \t]",
        r"|(?:password|passphrase|passcode|secret|token|api key|access key)[ \t](?P<sentence>is|was)[ \t:])",
        r"[ \t]{0,20}",
    ))
});

/// Values after a name, from left to right.
fn find_announced(text: &str) -> impl Iterator<Item = Announced> {
    let mut scanned = 0;
    ANNOUNCEMENTS.captures_iter(text).filter_map(move |found| {
        let end = found.get(0)?.end();
        let form = if found.name("header").is_some() {
            AnnouncedForm::Header
        } else if found.name("sentence").is_some() {
            AnnouncedForm::Sentence
        } else if found.name("colon").is_some() {
            AnnouncedForm::Colon
        } else {
            AnnouncedForm::Equals
        };
        let (range, is_quoted) = read_value(text, end, &mut scanned);
        (range.len() >= MIN_VALUE_BYTES).then_some(Announced {
            range,
            form,
            is_quoted,
        })
    })
}

/// Bytes of the shortest value that counts.
const MIN_VALUE_BYTES: usize = 4;
/// Bytes of a quoted value. A longer one is a text with a quote at its start.
const MAX_QUOTED_BYTES: usize = 500;

/// The value at a position: up to the closing quote if it is quoted, else up to a space or a separator. In an
/// escaped text, quotes and line breaks have a backslash before them. `scanned` is the end of the last value
/// that was not quoted.
fn read_value(text: &str, start: usize, scanned: &mut usize) -> (Range<usize>, bool) {
    let rest = &text[start..];
    let inner = rest.trim_start_matches('\\');
    if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        let begin = text.len() - inner.len() + 1;
        let line = text[begin..].bytes().take(MAX_QUOTED_BYTES);
        let length = line
            .take_while(|byte| *byte != b'\n' && *byte != quote as u8)
            .count();
        if text.as_bytes().get(begin + length) == Some(&(quote as u8)) {
            let value = text[begin..begin + length].trim_end_matches('\\');
            return (begin..begin + value.len(), true);
        }
        return (bare_value(text, begin, scanned), true);
    }
    (bare_value(text, start, scanned), false)
}

/// A value that begins inside the last one ends where that one does. Without `scanned`, a text that repeats
/// `token=` would be scanned to its end for each of them.
fn bare_value(text: &str, start: usize, scanned: &mut usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let stops = |at: usize| match bytes[at] {
        b'"' | b'\'' | b'`' | b',' | b';' | b'&' => true,
        b'\\' => matches!(bytes.get(at + 1), Some(b'"' | b'\'' | b'n' | b'r' | b't') | None),
        byte => byte.is_ascii_whitespace(),
    };
    let mut unscanned = start.max(*scanned)..bytes.len();
    let end = unscanned.find(|at| stops(*at)).unwrap_or(bytes.len());
    *scanned = end;
    start..end
}

impl Announced {
    /// True unless the value is plainly none: a word after `Bearer` or `is`, or a reference to a variable.
    fn may_be_secret(&self, text: &str) -> bool {
        match self.form {
            AnnouncedForm::Equals | AnnouncedForm::Colon => true,
            AnnouncedForm::Header => is_credential(self.without_end_marks(text)),
            AnnouncedForm::Sentence => self.looks_random(text),
        }
    }

    /// The value without marks that belong to the text around it.
    fn without_end_marks<'t>(&self, text: &'t str) -> &'t str {
        text[self.range.clone()].trim_end_matches(['.', ')', ']', '}', '!', '?', ':'])
    }

    /// True if the value looks like a secret: assigned or quoted with a digit in it, or letters and digits
    /// mixed as in no word.
    fn looks_random(&self, text: &str) -> bool {
        let value = self.without_end_marks(text);
        if is_reference(value) || is_placeholder(value) {
            return false;
        }
        let bytes = value.as_bytes();
        let has_digit = bytes.iter().any(u8::is_ascii_digit);
        let changes = count_changes(bytes);
        let is_mixed = value.len() >= 10 && changes >= 3;
        match self.form {
            AnnouncedForm::Header => is_mixed && is_credential(value),
            AnnouncedForm::Colon if !self.is_quoted => is_mixed,
            AnnouncedForm::Equals | AnnouncedForm::Colon => {
                is_mixed || (value.len() >= 6 && has_digit && !is_technical_word(value))
            }
            AnnouncedForm::Sentence => {
                let has_letter = bytes.iter().any(u8::is_ascii_alphabetic);
                let has_sign = bytes.iter().any(|byte| b"!@#$%^&*+=?".contains(byte));
                let is_word_like = value.contains([' ', '/', '(', '<']) || is_technical_word(value);
                value.len() >= 6 && has_letter && (has_digit || has_sign) && !is_word_like
            }
        }
    }
}

/// The number of times that digits and other characters alternate.
fn count_changes(bytes: &[u8]) -> usize {
    bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count()
}

/// True for the characters of an `Authorization` header with a digit or padding among them. `basic knowledge`
/// has neither.
fn is_credential(value: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte);
    value.len() >= 8
        && value.bytes().all(belongs)
        && (value.ends_with('=') || value.bytes().any(|byte| byte.is_ascii_digit()))
        && !is_technical_word(value)
}

/// True for a value that names another place: a variable, a call, a template.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%', '[', '(', '@', '&', '*'])
        || [
            "(",
            "${",
            "{{",
            "::",
            "->",
            "://",
            "process.env",
            "os.environ",
            "[0",
            "[1",
        ]
        .iter()
        .any(|sign| value.contains(sign))
}

/// True for the name of a format, an algorithm or a version, which mixes letters and digits as a password
/// does.
fn is_technical_word(value: &str) -> bool {
    const STARTS: [&str; 25] = [
        "base64", "base32", "base58", "sha", "md5", "utf", "argon2", "bcrypt", "pbkdf2", "oauth", "ed25519",
        "x509", "rs256", "rs512", "hs256", "hs512", "es256", "aes", "http", "ipv", "0x", "rfc", "pkcs",
        "oidc", "ecdsa",
    ];
    let lower = value.to_ascii_lowercase();
    // `v1.2.3`, `2024-01-01` and `4096` hold no secret.
    let is_number = lower
        .trim_start_matches('v')
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':' | b'_' | b'x'));
    is_number || STARTS.iter().any(|start| lower.starts_with(start))
}
#[cfg(test)]
mod tests;
