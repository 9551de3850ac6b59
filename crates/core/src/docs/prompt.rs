//! Prompts: templates beside the pages whose gaps a user fills in.
//!
//! `{{name}}` is a gap; its value is inserted without escaping. The rest of the mustache language is left
//! out, and a template that uses it is refused rather than shown half filled.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Problem;
use super::front_matter::{find_block, parse_yaml};

/// File name endings of templates.
pub const SUFFIXES: [&str; 2] = [".template.yaml", ".template.md"];

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<Argument>,
    pub messages: Vec<TemplateMessage>,
}

/// The argument that fills a gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Argument {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    #[serde(default)]
    pub required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenPrompt")]
pub struct TemplateMessage {
    pub role: MessageRole,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    User,
    Assistant,
}

#[derive(Deserialize)]
struct WrittenPrompt {
    role: MessageRole,
    content: TemplateContent,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum TemplateContent {
    Text { text: String },
}

impl From<WrittenPrompt> for TemplateMessage {
    fn from(written: WrittenPrompt) -> Self {
        let TemplateContent::Text { text } = written.content;
        Self {
            role: written.role,
            text,
        }
    }
}

#[derive(Default, Deserialize)]
struct TemplateHead {
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    arguments: Vec<Argument>,
    #[serde(default)]
    messages: Vec<TemplateMessage>,
}

/// The name of the prompt in a file: its path without the ending. `None` if the file is no template.
pub fn prompt_name(path: &str) -> Option<&str> {
    let ending = |suffix: &&str| {
        let start = path.len().checked_sub(suffix.len())?;
        let (name, end) = (path.get(..start)?, path.get(start..)?);
        (end.eq_ignore_ascii_case(suffix) && !name.is_empty()).then_some(name)
    };
    SUFFIXES.iter().find_map(ending)
}

impl Prompt {
    /// Parses a template. The path tells whether it is YAML or markdown.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let text = text.trim_start_matches('\u{feff}');
        let prompt = if path.to_ascii_lowercase().ends_with(".yaml") {
            let head: TemplateHead = parse_yaml(text)?;
            if head.messages.is_empty() {
                return Err(Problem::new(1, "a prompt needs at least one message"));
            }
            Self {
                title: head.title,
                description: head.description,
                arguments: head.arguments,
                messages: head.messages,
            }
        } else {
            let (yaml, start) = find_block(text).unwrap_or_default();
            let head: Option<TemplateHead> =
                parse_yaml(yaml).map_err(|problem| Problem::new(problem.line + 1, problem.message))?;
            let head = head.unwrap_or_default();
            let message = TemplateMessage {
                role: MessageRole::User,
                text: text[start..].trim().to_owned(),
            };
            Self {
                title: head.title,
                description: head.description,
                arguments: head.arguments,
                messages: vec![message],
            }
        };
        if prompt
            .messages
            .iter()
            .any(|message| message.text.trim().is_empty())
        {
            return Err(Problem::new(1, "a message of a prompt is empty"));
        }
        let is_name = |name: &str| (1..=64).contains(&name.len()) && name.chars().all(is_name_char);
        if prompt.arguments.iter().any(|argument| !is_name(&argument.name)) {
            return Err(Problem::new(
                1,
                "an argument is named with up to 64 letters, digits, `_`, `.` and `-`",
            ));
        }
        for message in &prompt.messages {
            find_gaps(&message.text)?;
        }
        Ok(prompt)
    }

    /// Required arguments that are not given.
    pub fn missing_arguments<'a>(&'a self, given: &BTreeMap<String, String>) -> Vec<&'a str> {
        let needed = self.arguments.iter().filter(|argument| argument.required);
        needed
            .map(|argument| argument.name.as_str())
            .filter(|name| given.get(*name).is_none_or(|value| value.trim().is_empty()))
            .collect()
    }

    /// The messages with every gap filled. A gap without a value becomes empty.
    pub fn fill_gaps(&self, given: &BTreeMap<String, String>) -> Vec<TemplateMessage> {
        let fill = |message: &TemplateMessage| {
            let mut text = String::new();
            let mut copied = 0;
            for gap in find_gaps(&message.text).unwrap_or_default() {
                text.push_str(&message.text[copied..gap.start]);
                text.push_str(given.get(gap.name).map(String::as_str).unwrap_or_default());
                copied = gap.end;
            }
            text.push_str(&message.text[copied..]);
            TemplateMessage {
                role: message.role,
                text,
            }
        };
        self.messages.iter().map(fill).collect()
    }
}

/// True for the characters of argument names.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

struct Gap<'a> {
    start: usize,
    end: usize,
    name: &'a str,
}

fn find_gaps(text: &str) -> Result<Vec<Gap<'_>>, Problem> {
    let mut gaps = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
        let Some(end) = text[start..].find("}}").map(|at| start + at) else {
            break;
        };
        // `{{{name}}}` is the same gap, because no value is escaped anyway.
        let triple = text[start + 2..].starts_with('{') && text[end..].starts_with("}}}");
        let (inner, after) = if triple {
            (start + 3, end + 3)
        } else {
            (start + 2, end + 2)
        };
        let name = text[inner..end].trim().trim_start_matches('&').trim();
        let is_name = !name.is_empty() && name.chars().all(is_name_char);
        if !is_name {
            let line = text[..start].matches('\n').count() + 1;
            let shown: String = text[start..after].chars().take(60).collect();
            return Err(Problem::new(
                line,
                format!("{shown} is no gap: only {{{{name}}}} is"),
            ));
        }
        gaps.push(Gap {
            start,
            end: after,
            name,
        });
        from = after;
    }
    Ok(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "---\ntitle: Advisor\narguments:\n  - name: app\n    required: true\n  - name: extra\n---\n\nFor {{app}}, with {{ extra }} and {{{app}}}.\n";

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn gaps_are_filled_without_escaping() {
        let prompt = Prompt::parse("guides/advisor.template.md", PAGE).unwrap();
        assert_eq!(prompt.title.as_deref(), Some("Advisor"));
        let filled = prompt.fill_gaps(&given(&[("app", "<b>{{extra}}")]));
        assert_eq!(filled[0].text, "For <b>{{extra}}, with  and <b>{{extra}}.");
        assert_eq!(prompt.missing_arguments(&given(&[("app", " ")])), ["app"]);
        assert!(prompt.missing_arguments(&given(&[("app", "x")])).is_empty());
    }

    #[test]
    fn a_yaml_template_may_have_several_messages() {
        let yaml = "messages:\n  - role: user\n    content: {type: text, text: 'a {{x}}'}\n  - role: assistant\n    content: {type: text, text: b}\n";
        let prompt = Prompt::parse("p.template.yaml", yaml).unwrap();
        let roles: Vec<MessageRole> = prompt.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [MessageRole::User, MessageRole::Assistant]);
        assert_eq!(prompt.fill_gaps(&given(&[("x", "1")]))[0].text, "a 1");
    }

    #[test]
    fn invalid_templates_are_refused() {
        let problem = |path: &str, text: &str| Prompt::parse(path, text).unwrap_err().message;
        assert_eq!(
            problem("a.template.md", "---\ntitle: x\n---\n \n"),
            "a message of a prompt is empty"
        );
        assert_eq!(
            problem("a.template.yaml", "title: x"),
            "a prompt needs at least one message"
        );
        assert_eq!(
            problem("a.template.md", "{{#list}}x{{/list}}"),
            "{{#list}} is no gap: only {{name}} is"
        );
        assert!(problem("a.template.yaml", "messages: 1").contains("sequence"));
    }

    #[test]
    fn a_prompt_is_named_by_its_path() {
        assert_eq!(prompt_name("guides/advisor.template.md"), Some("guides/advisor"));
        assert_eq!(prompt_name("a.template.yaml"), Some("a"));
        assert_eq!(prompt_name(".template.md"), None);
        assert_eq!(prompt_name("a.md"), None);
    }
}
