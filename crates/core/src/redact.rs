//! Takes secrets out of text before it is logged.
//!
//! Recognised by shape: provider tokens, private keys, JSON web tokens, credentials in URLs, bearer tokens and
//! values assigned to names like `password`. A false alarm costs a few characters of a log line; a miss costs
//! a secret, so the shapes are wide.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What stands in a secret's place.
const MARK: &str = "[redacted]";

/// Each pattern redacts its group `secret`, or all of its match where it has none.
static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
        r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
        r"(?-u:\b)gh[pousr]_[0-9A-Za-z]{20,}(?-u:\b)",
        r"(?-u:\b)github_pat_[0-9A-Za-z_]{20,}(?-u:\b)",
        r"(?-u:\b)glpat-[0-9A-Za-z_-]{16,}",
        r"(?-u:\b)sk-[0-9A-Za-z_-]{16,}",
        r"(?-u:\b)[rs]k_(?:live|test)_[0-9A-Za-z]{10,}(?-u:\b)",
        r"(?-u:\b)xox[abeoprs]-[0-9A-Za-z-]{10,}",
        r"(?-u:\b)AIza[0-9A-Za-z_-]{30,}",
        r"(?-u:\b)npm_[0-9A-Za-z]{30,}(?-u:\b)",
        r"(?-u:\b)eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*",
        r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@",
        r"(?i)(?-u:\b)(?:bearer|basic)\s+(?P<secret>[0-9a-z._~+/=-]{8,})",
        r#"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;&]{4,})"#,
    ]
    .into_iter()
    .map(|pattern| Regex::new(pattern).expect("the patterns are literals, covered by tests"))
    .collect()
});

/// `text` without what looks like a secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    for secret in SECRETS.iter() {
        let Some(replaced) = replace(secret, &clean) else {
            continue;
        };
        clean = Cow::Owned(replaced);
    }
    clean
}

fn replace(secret: &Regex, text: &str) -> Option<String> {
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
    fn secrets_of_known_shapes_are_taken_out() {
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
    fn the_name_of_an_assigned_secret_stays() {
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
    fn a_private_key_is_taken_out_whole_even_when_cut_off() {
        let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
        assert_eq!(redact(&format!("a {begin}\nMIIE\nxyz")), "a [redacted]");
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let text = "fn token_count(limit: usize) -> usize";
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text));
    }
}
