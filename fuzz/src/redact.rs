//! Redaction: a text in which a secret is found is changed, and the rest of it stays.

use docent_core::text::redact::{find_secret, redact};

/// The input is the text.
pub fn check(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let redacted = redact(text);
    if find_secret(text).is_some() {
        assert_ne!(redacted, text, "a secret is found and not redacted");
    }
    let mut rest = text;
    for part in redacted.split("[redacted]") {
        let at = rest.find(part).expect("text that is not redacted stays, in its order");
        rest = &rest[at + part.len()..];
    }
}
