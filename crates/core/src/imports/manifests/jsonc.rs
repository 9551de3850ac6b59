//! JSON as people write it in settings: with comments, trailing commas and a byte order mark.
//!
//! Single quotes and bare keys are left out: no tool whose settings are read here takes them.
//!
//! Invariant: text that is JSON already means the same.

use serde_json::Value;

pub(in crate::imports) fn parse(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&strict(text)))
        .ok()
}

/// The text without comments and trailing commas.
fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
                continue;
            }
            ']' | '}' => {
                let kept = out.trim_end();
                if kept.ends_with(',') {
                    out.truncate(kept.len() - 1);
                }
                1
            }
            _ => c.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The length of the string literal at the start, quotes included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_read_over() {
        let text = "\u{feff}{ // one\n \"a\": [1, 2, /* three */], \"u\": \"http://x/*y*/,]\", \"q\": \"\\\"//\", \n}";
        assert_eq!(
            parse(text),
            Some(json!({"a": [1, 2], "u": "http://x/*y*/,]", "q": "\"//"}))
        );
    }

    #[test]
    fn what_is_no_json_is_nothing() {
        for text in ["", "{", "\"", "/*", "{,", "\"\\"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
