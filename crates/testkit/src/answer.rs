//! Answers of tools, and how tests read and print them.
//!
//! Left out: what an answer should say. That is in the tests of each tool.

use std::fmt;

use serde_json::Value;

/// The answer of one tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
}

/// Written before the text of an answer that is an error.
const ERROR_MARK: &str = "[isError] ";

impl Answer {
    /// Reads the result of `tools/call`. The structured content must equal the text.
    pub fn from_result(result: &Value) -> Self {
        let text = result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text in {result}"));
        if let Some(structured) = result.get("structuredContent") {
            let parsed: Value = serde_json::from_str(text).expect("the text of a structured answer is JSON");
            assert_eq!(*structured, parsed, "structured content and text differ");
        }
        Self {
            text: text.to_owned(),
            is_error: result["isError"] == true,
        }
    }

    /// Replaces each random id by `UUID`.
    #[must_use]
    pub fn without_ids(&self) -> Self {
        let mut text = self.text.clone();
        let mut from = 0;
        while let Some(at) = (from..text.len()).find(|&at| is_random_id(&text.as_bytes()[at..])) {
            text.replace_range(at..at + 36, "UUID");
            from = at;
        }
        Self { text, ..self.clone() }
    }

    /// Parses the text as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_error { ERROR_MARK } else { "" };
        write!(f, "{mark}{}", self.text)
    }
}

/// Prints compact JSON over several lines for a snapshot, with its keys in the order of the answer.
///
/// The snapshot still stands for every byte of the answer: this panics if the text is not compact JSON as
/// `serde_json` writes it.
pub fn pretty(answer: &impl fmt::Display) -> String {
    let shown = answer.to_string();
    let (mark, text) = match shown.strip_prefix(ERROR_MARK) {
        Some(text) => (ERROR_MARK, text),
        None => ("", shown.as_str()),
    };
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    assert_eq!(value.to_string(), text, "the answer is not compact JSON");
    format!("{mark}{value:#}")
}

/// The path of the first result of `context_search`, empty without results.
pub fn first_path(answer: &Value) -> &str {
    answer["results"][0]["path"].as_str().unwrap_or_default()
}

/// The notice of an answer, empty without one.
pub fn notice(answer: &Value) -> &str {
    answer["notice"].as_str().unwrap_or_default()
}

/// True if `bytes` begin with a UUID of version 4.
fn is_random_id(bytes: &[u8]) -> bool {
    const FORM: &[u8; 36] = b"xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx";
    bytes.len() >= FORM.len()
        && bytes.iter().zip(FORM).all(|(byte, form)| match form {
            b'x' => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
            fixed => byte == fixed,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_keeps_the_order_of_keys_and_marks_errors() {
        let answer = Answer {
            text: r#"{"b":[1.0,{}],"a":"x"}"#.to_owned(),
            is_error: true,
        };
        let expected = "[isError] {\n  \"b\": [\n    1.0,\n    {}\n  ],\n  \"a\": \"x\"\n}";
        assert_eq!(pretty(&answer), expected);
    }

    #[test]
    #[should_panic(expected = "the answer is not compact JSON")]
    fn pretty_refuses_text_that_is_not_compact_json() {
        pretty(&r#"{"a": 1}"#);
    }
}
