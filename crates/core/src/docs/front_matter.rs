//! Front matter: the YAML block at the beginning of a page, and chunking hints in its comments.
//!
//! Invariant: a block between the marks is never part of the text. If it is not valid YAML, its settings are
//! ignored and the problem is reported.

use std::ops::Range;

use pulldown_cmark::{Event, Parser};
use serde::Deserialize;

use super::Problem;
use super::manifest::{Labels, PageRules, Strategy, WrittenStrategy, check_labels, trim_labels};
use crate::yaml::bounded_options;

/// The settings that a page has for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// Byte where the text of the page begins.
    pub end: usize,
    pub title: Option<String>,
    labels: Labels,
    /// Replaces the strategy of the manifest.
    strategy: Option<Strategy>,
    /// Overrides parts of the manifest's strategy.
    hint: Option<WrittenStrategy>,
    pub problems: Vec<Problem>,
}

#[derive(Default, Deserialize)]
struct WrittenFront {
    title: Option<String>,
    metadata: Option<Labels>,
    mcp_metadata: Option<Labels>,
    mcp_chunking_hint: Option<ChunkingHint>,
    mcp_strategy: Option<WrittenStrategy>,
}

/// `h3`, or a whole strategy.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "mcp_chunking_hint must be h1, h2, h3, file, or an object with chunk_by"
)]
enum ChunkingHint {
    HeadingLevel(super::manifest::HeadingLevel),
    Strategy(WrittenStrategy),
}

/// A longer block is no front matter.
const MAX_FRONT_MATTER_BYTES: usize = 64 << 10;

impl FrontMatter {
    /// Reads the front matter and the hints of a page.
    pub fn of(text: &str) -> Self {
        let mut front = Self::default();
        if let Some((yaml, end)) = find_block(text) {
            front.end = end;
            front.read_yaml(yaml);
        }
        front.hint = read_hint(text, &mut front.problems);
        front
    }

    /// The rules of the manifest with the settings of the page applied.
    pub fn apply_to(&self, mut rules: PageRules) -> PageRules {
        rules.labels.extend(self.labels.clone());
        if let Some(hint) = self.hint {
            rules.strategy = hint.apply_to(rules.strategy);
        }
        if let Some(strategy) = self.strategy {
            rules.strategy = strategy;
        }
        rules
    }

    fn read_yaml(&mut self, yaml: &str) {
        let written: Result<Option<WrittenFront>, _> = parse_yaml(yaml);
        let written = match written {
            Ok(written) => written.unwrap_or_default(),
            // The block begins on the line after the opening mark.
            Err(problem) => {
                return self.problems.push(Problem::new(
                    problem.line + 1,
                    format!("front matter: {}", problem.message),
                ));
            }
        };
        self.title = written
            .title
            .map(|title| title.trim().to_owned())
            .filter(|title| !title.is_empty());
        for labels in [written.metadata, written.mcp_metadata].into_iter().flatten() {
            match check_labels(&labels) {
                Ok(()) => self.labels.extend(trim_labels(labels)),
                Err(message) => self
                    .problems
                    .push(Problem::new(1, format!("front matter: {message}"))),
            }
        }
        let hint = written.mcp_chunking_hint.map(|hint| match hint {
            ChunkingHint::HeadingLevel(level) => WrittenStrategy::at_level(level),
            ChunkingHint::Strategy(written) => written,
        });
        if let Some(written) = written.mcp_strategy.or(hint) {
            match written.check() {
                Ok(()) => self.strategy = Some(written.apply_to(Strategy::default())),
                Err(message) => self
                    .problems
                    .push(Problem::new(1, format!("front matter: {message}"))),
            }
        }
    }
}

/// Parses untrusted YAML within a budget, so that aliases cannot make it cost more than its length.
pub(super) fn parse_yaml<'a, T: Deserialize<'a>>(yaml: &'a str) -> Result<T, Problem> {
    serde_saphyr::from_str_with_options(yaml, bounded_options()).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default();
        // The caller adds the line, because it knows where the block begins.
        let message = message.split(" at line ").next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let message: String = message.chars().take(300).collect();
        Problem::new(usize::try_from(line).unwrap_or(1), message)
    })
}

/// Byte where the text of a page begins, after the front matter.
pub fn text_start(text: &str) -> usize {
    find_block(text).map_or(0, |(_, end)| end)
}

/// The YAML between the `---` marks at the very beginning, and the byte after the line of the second mark.
pub(super) fn find_block(text: &str) -> Option<(&str, usize)> {
    let mark = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let is_mark = |line: &str| line.trim_end() == "---";
    let first = text[mark..].split_inclusive('\n').next()?;
    if !is_mark(first) || !first.ends_with('\n') {
        return None;
    }
    let start = mark + first.len();
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if is_mark(line) {
            return Some((&text[start..at], at + line.len()));
        }
        at += line.len();
        if at - start > MAX_FRONT_MATTER_BYTES {
            break;
        }
    }
    None
}

/// Bytes of a hint, on either side of its name.
const MAX_HINT_BYTES: usize = 1_000;

/// Reads a strategy in a comment: `<!-- mcp_chunking_hint: {"chunk_by": "h3"} -->`.
fn read_hint(text: &str, problems: &mut Vec<Problem>) -> Option<WrittenStrategy> {
    const NAME: &str = "mcp_chunking_hint:";
    let written = memchr::memmem::find_iter(text.as_bytes(), NAME).filter_map(|at| {
        // Search near the name only, because a hostile text may repeat the name everywhere.
        let near = |from: usize| text.floor_char_boundary(from);
        text[near(at.saturating_sub(MAX_HINT_BYTES))..at]
            .trim_end()
            .strip_suffix("<!--")?;
        let start = at + NAME.len();
        let json = text[start..near(start + MAX_HINT_BYTES)].split_once("-->")?.0;
        Some((at, json.trim()))
    });
    let mut written = written.peekable();
    written.peek()?;
    // A hint inside a code block is an example, not a comment.
    let comments: Vec<Range<usize>> = Parser::new(text)
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .map(|(_, range)| range)
        .collect();
    let is_comment = |at: usize| {
        let next = comments.partition_point(|range| range.end <= at);
        comments.get(next).is_some_and(|range| range.contains(&at))
    };
    let (at, json) = written.find(|(at, _)| is_comment(*at))?;
    let read = serde_json::from_str::<WrittenStrategy>(json)
        .map_err(|error| error.to_string())
        .and_then(|written| written.check().map(|()| written));
    match read {
        Ok(written) => Some(written),
        Err(message) => {
            let message = message.split(" at line ").next().unwrap_or_default();
            let line = text[..at].matches('\n').count() + 1;
            problems.push(Problem::new(line, format!("mcp_chunking_hint: {message}")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::manifest::HeadingLevel;

    #[test]
    fn a_page_sets_its_title_labels_and_strategy() {
        let text = "---\ntitle: Retries \nmetadata:\n  version: 1.10\n  on: yes\nmcp_chunking_hint: h3\nother: [1]\n---\n# X\n";
        let front = FrontMatter::of(text);
        assert_eq!(&text[front.end..], "# X\n");
        assert_eq!(front.title.as_deref(), Some("Retries"));
        let rules = front.apply_to(PageRules::default());
        assert_eq!(rules.strategy.level, HeadingLevel::H3);
        // `1.10` stays a version and is no number; `yes` stays a word and is no boolean.
        let labels = rules.labels.iter().map(|(key, value)| format!("{key}={value}"));
        assert_eq!(labels.collect::<Vec<_>>(), ["on=yes", "version=1.10"]);
    }

    #[test]
    fn the_front_matter_wins_over_a_hint_in_a_comment() {
        let by = |text: &str| {
            FrontMatter::of(text)
                .apply_to(PageRules::default())
                .strategy
                .level
        };
        assert_eq!(
            by("# A\n<!-- mcp_chunking_hint: {\"chunk_by\": \"h1\"} -->\n"),
            HeadingLevel::H1
        );
        assert_eq!(
            by(
                "---\nmcp_chunking_hint: {chunk_by: file}\n---\n<!-- mcp_chunking_hint: {\"chunk_by\": \"h1\"} -->\n"
            ),
            HeadingLevel::File
        );
        assert_eq!(
            by("mcp_chunking_hint: {\"chunk_by\": \"h1\"} -->"),
            HeadingLevel::H2
        );
        // A hint inside code is an example.
        let hint = "<!-- mcp_chunking_hint: {\"chunk_by\": \"h1\"} -->";
        assert_eq!(by(&format!("Write `{hint}` there.")), HeadingLevel::H2);
        assert_eq!(by(&format!("```html\n{hint}\n```\n")), HeadingLevel::H2);
        assert_eq!(by(&format!("```html\n{hint}\n```\n\n{hint}\n")), HeadingLevel::H1);
    }

    #[test]
    fn broken_front_matter_is_reported_and_is_no_text() {
        let front = FrontMatter::of("---\ntitle: \"open\nmore: x\n---\ntext\n");
        assert_eq!(front.end, 29);
        let problems: Vec<String> = front
            .problems
            .iter()
            .map(|problem| format!("{}: {}", problem.line, problem.message))
            .collect();
        assert_eq!(problems.len(), 1);
        assert_eq!(
            problems,
            ["3: front matter: invalid indentation in multiline quoted scalar"]
        );

        let wrong = FrontMatter::of("<!-- mcp_chunking_hint: {\"chunk_by\": \"h7\"} -->");
        assert!(
            wrong.problems[0]
                .message
                .starts_with("mcp_chunking_hint: unknown variant `h7`")
        );
    }

    #[test]
    fn a_horizontal_rule_is_no_front_matter() {
        for text in [
            "---",
            "--- \ntext",
            "---\nnever closed\n",
            "text\n---\na: b\n---\n",
            "",
        ] {
            assert_eq!(FrontMatter::of(text), FrontMatter::default(), "{text:?}");
        }
        assert_eq!(FrontMatter::of("---\n---\ntext").end, 8);
        assert_eq!(FrontMatter::of("\u{feff}---\r\na: b\r\n---\r\ntext").end, 19);
    }

    #[test]
    fn yaml_alias_bombs_are_refused() {
        let mut bomb = String::from("---\na: &a [x, x, x, x, x, x, x, x, x]\n");
        for (one, next) in "abcdefgh".chars().zip("bcdefghi".chars()) {
            let inner = vec![format!("*{one}"); 9].join(", ");
            bomb.push_str(&format!("{next}: &{next} [{inner}]\n"));
        }
        bomb.push_str("---\n");
        assert_eq!(FrontMatter::of(&bomb).problems.len(), 1);
    }
}
