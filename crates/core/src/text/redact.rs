//! Redaction: finds secrets in text, to keep them out of logs and out of the memory.
//!
//! Secrets are recognised by shape: provider tokens, private keys, JSON web tokens, credentials in URLs,
//! bearer tokens and values assigned to names like `password`. A false alarm costs a few characters of a log
//! line, a miss costs a secret, so the patterns are wide.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Replaces a secret.
const MARK: &str = "[redacted]";

/// Patterns of secrets, each with its description. The secret is the group `secret`, or the whole match
/// without one.
static SECRETS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        (
            "a private key",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
        ),
        ("an AWS access key", r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)"),
        ("a GitHub token", r"(?-u:\b)gh[pousr]_[0-9A-Za-z]{20,}(?-u:\b)"),
        ("a GitHub token", r"(?-u:\b)github_pat_[0-9A-Za-z_]{20,}(?-u:\b)"),
        ("a GitLab token", r"(?-u:\b)glpat-[0-9A-Za-z_-]{16,}"),
        ("an API key", r"(?-u:\b)sk-[0-9A-Za-z_-]{16,}"),
        (
            "a Stripe key",
            r"(?-u:\b)[rs]k_(?:live|test)_[0-9A-Za-z]{10,}(?-u:\b)",
        ),
        ("a Slack token", r"(?-u:\b)xox[abeoprs]-[0-9A-Za-z-]{10,}"),
        ("a Google API key", r"(?-u:\b)AIza[0-9A-Za-z_-]{30,}"),
        ("an npm token", r"(?-u:\b)npm_[0-9A-Za-z]{30,}(?-u:\b)"),
        (
            "a JSON web token",
            r"(?-u:\b)eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*",
        ),
        ("a password in a URL", r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@"),
    ]
    .into_iter()
    .map(|(name, pattern)| (name, compile(pattern)))
    .collect()
});

/// Values after words such as `password`. Prose has such words too, so a match is redacted in a log line but
/// does not suffice to refuse a text.
static ANNOUNCED: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        r"(?i)(?-u:\b)(?:bearer|basic)\s+(?P<secret>[0-9a-z._~+/=-]{8,})",
        r#"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;&]{4,})"#,
    ]
    .map(compile)
});

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are literals, covered by tests")
}

/// Describes the secret in a text, if there is one. A value after a word such as `password` counts if it
/// looks like a secret: assigned or quoted with a digit in it, or letters and digits mixed as in no word.
pub fn find_secret(text: &str) -> Option<&'static str> {
    if let Some((name, _)) = SECRETS.iter().find(|(_, secret)| secret.is_match(text)) {
        return Some(name);
    }
    let is_secret = |found: regex::Captures<'_>| {
        let (Some(whole), Some(value)) = (found.get(0), found.name("secret")) else {
            return false;
        };
        let announced = &text[whole.start()..value.start()];
        let value = value.as_str();
        let bytes = value.as_bytes();
        let changes = bytes
            .windows(2)
            .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
            .count();
        let has_digit = bytes.iter().any(u8::is_ascii_digit);
        let is_assigned = announced.contains('=') || announced.ends_with(['"', '\'']);
        (is_assigned && value.len() >= 6 && has_digit) || (value.len() >= 10 && changes >= 3)
    };
    let mut announced = ANNOUNCED
        .iter()
        .flat_map(|announced| announced.captures_iter(text));
    announced.any(is_secret).then_some("a password or token")
}

/// `text` with everything that looks like a secret replaced.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    let known = SECRETS.iter().map(|(_, secret)| secret);
    for secret in known.chain(ANNOUNCED.iter()) {
        let Some(replaced) = replace_matches(secret, &clean) else {
            continue;
        };
        clean = Cow::Owned(replaced);
    }
    clean
}

fn replace_matches(secret: &Regex, text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for found in secret.captures_iter(text) {
        let range = found
            .name("secret")
            .or_else(|| found.get(0))
            .expect("group 0 always takes part")
            .range();
        out.push_str(&text[copied..range.start]);
        out.push_str(MARK);
        copied = range.end;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joined at run time, so that no scanner takes a fixture for a real secret.
    fn token(prefix: &str, body: &str) -> String {
        format!("{prefix}{}", body.repeat(8))
    }

    #[test]
    fn secrets_of_known_shapes_are_redacted() {
        for secret in [
            token("AKIA", "AB")[..20].to_owned(),
            token("ghp_", "abcD1"),
            token("sk-", "abcD1"),
            token("xoxb-", "12345"),
            token("eyJ", "abcd") + "." + &"abcd".repeat(4) + ".sig",
        ] {
            let text = format!("found {secret} here");
            assert_eq!(redact(&text), "found [redacted] here", "{secret}");
        }
    }

    #[test]
    fn the_name_that_a_secret_is_assigned_to_stays() {
        assert_eq!(redact(r#"password = "hunter22""#), r#"password = "[redacted]""#);
        assert_eq!(redact("API_KEY: abcdef, x"), "API_KEY: [redacted], x");
        assert_eq!(
            redact("https://user:pass@host/p"),
            "https://user:[redacted]@host/p"
        );
        assert_eq!(
            redact("Authorization: Bearer abcdef123456"),
            "Authorization: Bearer [redacted]"
        );
    }

    #[test]
    fn a_private_key_is_redacted_even_if_its_end_is_missing() {
        let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
        assert_eq!(redact(&format!("a {begin}\nMIIE\nxyz")), "a [redacted]");
    }

    #[test]
    fn prose_about_secrets_is_no_secret() {
        let github = token("ghp_", "abcD1");
        for (text, expected) in [
            (github.as_str(), Some("a GitHub token")),
            ("password=hunter22x", Some("a password or token")),
            ("\"password\": \"hunter22x\"", Some("a password or token")),
            ("Authorization: Bearer a1b2c3d4e5f6", Some("a password or token")),
            ("https://user:pass@host/p", Some("a password in a URL")),
            ("password: hashed with argon2id", None),
            ("password: argon2id everywhere", None),
            ("Auth token: RS256-signed JWT", None),
            ("token: refresh it before it ends", None),
            ("Use bearer authentication everywhere", None),
        ] {
            assert_eq!(find_secret(text), expected, "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let text = "fn token_count(limit: usize) -> usize";
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text));
    }
}
