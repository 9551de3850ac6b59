//! What kind of result a query asks for: tests, prose, examples, or a type instead of a function. Most
//! queries ask for none of them.
//!
//! A word alone is no wish: an issue about a test runner is about code, and "configuration" is a topic of
//! code more often than a file. So only a phrase that asks for them counts, or the word in a query of few
//! words.
//!
//! Invariant: a wish raises nothing by itself. It spares results of that kind the factor that lowers them; a
//! wish for tests or for a type also lowers the others.

/// The kinds of results that a query asks for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a set of kinds, each asked for or not"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    pub tests: bool,
    /// Documents and configuration.
    pub prose: bool,
    pub examples: bool,
    /// Changelogs and templates of issues.
    pub changes: bool,
    pub translations: bool,
    /// A class, an interface or another type itself, instead of a function that does something with it.
    pub types: bool,
}

/// In a query with at most so many words, each word is a wish: "auth tests".
const MAX_SHORT_WORDS: usize = 3;

const TEST_WORDS: &[&str] = &[
    "test", "tests", "spec", "specs", "fixture", "fixtures", "mock", "mocks", "testing",
];

const PROSE_WORDS: &[&str] = &[
    "doc",
    "docs",
    "documentation",
    "document",
    "documents",
    "readme",
    "guide",
    "guides",
    "config",
    "configs",
    "configuration",
    "setting",
    "settings",
    "changelog",
    "license",
    "licence",
    "manual",
];

const EXAMPLE_WORDS: &[&str] = &[
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "benchmark",
    "benchmarks",
];

const CHANGE_WORDS: &[&str] = &["changelog", "changelogs"];

const TRANSLATION_WORDS: &[&str] = &["translation", "translations", "locale", "locales", "i18n", "l10n"];

/// Phrases that ask for tests. `|` separates words that mean the same.
const TEST_PHRASES: &[&str] = &[
    "test|tests|spec|specs for|of|that|which|covering|checking|around",
    "test case|cases|suite|suites|coverage|fixture|fixtures|data|helper|helpers|file|files for|of|that",
    "unit|integration|regression|end-to-end|e2e|acceptance|functional test|tests",
    "is|are|covered|checked|verified|exercised by|in|with the|a|unit test|tests",
    "where|how is|are * tested",
    "which|what|where|any|all|find|show|list|existing test|tests",
    "where|which|what is|are the|a|any test|tests",
    "fixture|fixtures|mock|mocks for|of",
];

const PROSE_PHRASES: &[&str] = &[
    "doc|docs|documentation|readme|guide|manual|changelog|docstring on|for|of|about|to",
    "config|configuration|settings file|files",
    "config|settings of|for",
    "documented in|where",
    "where|which|what is|are|does|do * documented",
    "in|read|find|see the docs|documentation|readme|guide|manual|changelog",
];

const EXAMPLE_PHRASES: &[&str] = &[
    "example|examples|sample|samples|demo|demos of|for|showing|using|that|how",
    "usage|code|working example|examples",
    "benchmark|benchmarks of|for",
];

const CHANGE_PHRASES: &[&str] = &[
    "changelog|changelogs of|for|entry|entries",
    "release|releases notes|note",
    "what changed|changes in|since",
    "changed|new|removed|deprecated in version|release",
    "issue|request template|templates",
];

const TRANSLATION_PHRASES: &[&str] = &["translation|translations|locale|locales of|for|to|file|files"];

/// Beginnings of questions about a thing.
const TYPE_BEGINNINGS: &[&str] = &[
    "what is|are|was the|a|an",
    "what kind|sort of",
    "what holds|represents|models|wraps|stands",
    "what has|have|must|needs|should to|be implemented|be",
];

/// Phrases that name a kind of type.
const TYPE_PHRASES: &[&str] = &[
    "class|classes|interface|trait|struct|enum|protocol|record|mixin|dataclass that|which|for|of|behind|with|holding|representing|every|all|a|an|to",
    "base|abstract|parent|wrapper|data|generic class|type|trait|interface|struct",
    "interface|trait|protocol * implement|implements",
    "type that|which|for|of|holding|representing",
    "object that|which|holding|representing",
];

/// Words of a question about doing, whatever else it has.
const DOING_WORDS: &[&str] = &[
    "how",
    "where",
    "when",
    "why",
    "function",
    "functions",
    "method",
    "methods",
    "helper",
    "code",
    "called",
    "calls",
    "test",
    "tests",
];

/// Phrases that ask for code, whatever else the query has.
const CODE_PHRASES: &[&str] = &[
    "which|what function|method|code|class|line|place",
    "function|method|code that|which",
    "where * decided|done|changed|checked|computed|handled|happen|happens",
    "not the tests|test|docs|documentation|examples",
];

impl Intent {
    /// The wish of a query in a line.
    pub fn of(text: &str) -> Self {
        let words = lower_words(text);
        if has_phrase(&words, CODE_PHRASES) {
            return Self::default();
        }
        let is_short = words.len() <= MAX_SHORT_WORDS;
        let has = |listed: &[&str]| is_short && words.iter().any(|word| listed.contains(&word.as_str()));
        Self {
            tests: has(TEST_WORDS) || has_phrase(&words, TEST_PHRASES),
            prose: has(PROSE_WORDS) || has_phrase(&words, PROSE_PHRASES),
            examples: has(EXAMPLE_WORDS) || has_phrase(&words, EXAMPLE_PHRASES),
            changes: has(CHANGE_WORDS) || has_phrase(&words, CHANGE_PHRASES),
            translations: has(TRANSLATION_WORDS) || has_phrase(&words, TRANSLATION_PHRASES),
            types: asks_for_type(&words),
        }
    }

    /// The wish of a report: none, because a report is about the code behind an error.
    pub fn of_report() -> Self {
        Self::default()
    }
}

fn asks_for_type(words: &[String]) -> bool {
    let is_about_doing = words.iter().any(|word| DOING_WORDS.contains(&word.as_str()));
    let begins = || TYPE_BEGINNINGS.iter().any(|phrase| begins_with(words, phrase));
    !is_about_doing && (begins() || has_phrase(words, TYPE_PHRASES))
}

fn lower_words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn has_phrase(words: &[String], phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| (0..words.len()).any(|at| begins_with(&words[at..], phrase)))
}

/// Whether words begin with a phrase. `*` in it stands for one to four words.
fn begins_with(words: &[String], phrase: &str) -> bool {
    const MAX_GAP: usize = 4;
    let (first, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
    if first == "*" {
        return (1..=MAX_GAP.min(words.len())).any(|gap| begins_with(&words[gap..], rest));
    }
    match words.split_first() {
        Some((word, others)) => {
            first.split('|').any(|choice| choice == word) && (rest.is_empty() || begins_with(others, rest))
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, queries: &[&str]) {
        for query in queries {
            let intent = Intent::of(query);
            let kinds = [
                (intent.tests, "tests"),
                (intent.prose, "prose"),
                (intent.examples, "examples"),
                (intent.types, "types"),
            ];
            let shown: Vec<&str> = kinds
                .iter()
                .filter(|(is_asked, _)| *is_asked)
                .map(|(_, name)| *name)
                .collect();
            assert_eq!(shown.join(" "), expected, "{query}");
        }
    }

    #[test]
    fn a_phrase_asks_for_tests_prose_or_examples() {
        check(
            "tests",
            &[
                "auth tests",
                "tests for the walrus parser in the sea module",
                "the test that checks how a walrus sinks",
                "where is the test of the walrus",
                "how is the walrus parser tested",
                "unit tests around sinking and floating",
            ],
        );
        check(
            "prose",
            &[
                "deployment docs",
                "docs on how to deploy a walrus",
                "where is the retry policy documented",
            ],
        );
        check(
            "examples",
            &[
                "example of a custom walrus handler",
                "show me examples for the sea client",
            ],
        );
    }

    #[test]
    fn a_question_about_a_thing_asks_for_its_type() {
        check(
            "types",
            &[
                "what is the walrus cache",
                "interface that every walrus source has to implement",
                "base class for walrus plugins",
                "the trait a walrus has to implement",
                "what holds the fish while a walrus eats",
            ],
        );
        check(
            "",
            &[
                "what is called when a walrus sinks",
                "how does the walrus class sink",
                "sink a walrus of another class",
                "where is the interface of the walrus used",
            ],
        );
    }

    #[test]
    fn a_word_that_only_looks_like_a_wish_is_none() {
        check(
            "",
            &[
                "how does the test runner collect modules",
                "how skip aborts a test without marking it as a failure",
                "server startup initialization and configuration loading",
                "the document parser crashes for this example in python",
                "how are spec objects merged into one plugin",
                "in a unit test of the sea the walrus sinks; which function lets it",
                "the documentation for walruses says they sink, where is that decided",
            ],
        );
    }
}
