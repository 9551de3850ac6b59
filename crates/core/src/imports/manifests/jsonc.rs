//! JSON of settings files, with comments, trailing commas and a byte order mark.
//!
//! Single quotes and bare keys are left out, because no tool whose settings are read here accepts them.
//!
//! Invariant: plain JSON keeps its meaning.

use serde_json::Value;

pub(in crate::imports) fn parse(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&to_plain_json(text)))
        .ok()
}

/// The text without comments and trailing commas.
fn to_plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => measure_string(rest),
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

/// Length of the string literal at the start, quotes included.
fn measure_string(text: &str) -> usize {
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
    fn comments_and_trailing_commas_are_ignored() {
        let text = "\u{feff}{ // one\n \"a\": [1, 2, /* three */], \"u\": \"http://x/*y*/,]\", \"q\": \"\\\"//\", \n}";
        assert_eq!(
            parse(text),
            Some(json!({"a": [1, 2], "u": "http://x/*y*/,]", "q": "\"//"}))
        );
    }

    #[test]
    fn invalid_json_is_none() {
        for text in ["", "{", "\"", "/*", "{,", "\"\\"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
