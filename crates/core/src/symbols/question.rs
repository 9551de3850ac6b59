//! Questions about a symbol in plain words: "who calls X", "where is X used", "tests for X".
//!
//! Only the form of the question is read here. Whether X is a name of the project is for the caller to find
//! out, so a sentence that happens to have such a form costs nothing.

/// The relation to a symbol that a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedUses {
    /// Functions that call it.
    Callers,
    /// Every use.
    Everywhere,
    /// Uses in tests.
    Tests,
    /// Types that implement or extend it.
    Implementations,
}

/// A question about a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolQuestion<'a> {
    pub asked: AskedUses,
    /// The name as it is written, with its scope if it has one.
    pub symbol: &'a str,
}

/// Forms of questions. `|` separates words that mean the same, `X` is the symbol.
const FORMS: &[(AskedUses, &str)] = &[
    (AskedUses::Callers, "who|what calls|invokes X"),
    (AskedUses::Callers, "who|what is|are calling|invoking X"),
    (
        AskedUses::Callers,
        "which|what functions|methods|places|files call|invoke X",
    ),
    (
        AskedUses::Callers,
        "which|what function|method|place|file calls|invokes X",
    ),
    (AskedUses::Callers, "where is|are X called|invoked"),
    (AskedUses::Callers, "where do|does call|invoke X"),
    (AskedUses::Callers, "callers|calls|invocations of|to X"),
    (AskedUses::Callers, "call sites|site of|for X"),
    (AskedUses::Callers, "X callers"),
    (AskedUses::Everywhere, "who|what uses|references X"),
    (
        AskedUses::Everywhere,
        "which|what functions|methods|classes|types|places|files|modules use|reference X",
    ),
    (AskedUses::Everywhere, "where is|are X used|referenced|needed"),
    (AskedUses::Everywhere, "where do|does use|reference X"),
    (AskedUses::Everywhere, "usages|usage|uses|references of|to|for X"),
    (AskedUses::Everywhere, "X usages|usage|references"),
    (AskedUses::Tests, "tests|test for|of X"),
    (AskedUses::Tests, "what|who tests|covers X"),
    (
        AskedUses::Tests,
        "which|what tests|test cover|covers|use|uses|call|calls|check|checks X",
    ),
    (AskedUses::Tests, "which|what test|tests X"),
    (AskedUses::Tests, "where|how is|are X tested|covered"),
    (
        AskedUses::Implementations,
        "what|who implements|extends|overrides X",
    ),
    (
        AskedUses::Implementations,
        "which|what classes|types|structs|objects implement|extend|override|subclass X",
    ),
    (
        AskedUses::Implementations,
        "which|what class|type|struct|object implements|extends|overrides|subclasses X",
    ),
    (AskedUses::Implementations, "what|who inherits X"),
    (AskedUses::Implementations, "which|what classes|types inherit X"),
    (
        AskedUses::Implementations,
        "implementations|implementors|implementers|subclasses|subtypes|overrides of|for X",
    ),
    (
        AskedUses::Implementations,
        "where is|are X implemented|overridden|extended",
    ),
];

/// Words that say nothing about the question.
const FILLERS: &[&str] = &[
    "a",
    "actually",
    "all",
    "an",
    "any",
    "being",
    "can",
    "class",
    "code",
    "codebase",
    "currently",
    "find",
    "from",
    "function",
    "get",
    "give",
    "here",
    "i",
    "in",
    "interface",
    "list",
    "me",
    "method",
    "our",
    "please",
    "project",
    "repo",
    "repository",
    "show",
    "struct",
    "symbol",
    "the",
    "this",
    "trait",
    "type",
    "unit",
    "us",
    "we",
];

/// Longer texts are no questions about one name.
const MAX_QUESTION_WORDS: usize = 16;

/// Reads a question about a symbol. `None` if the text has no such form.
pub fn parse_question(text: &str) -> Option<SymbolQuestion<'_>> {
    let words: Vec<&str> = text
        .split_whitespace()
        .take(MAX_QUESTION_WORDS + 1)
        .map(trim_word)
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() > MAX_QUESTION_WORDS {
        return None;
    }
    let matches = |words: &[&'_ str]| -> Option<(AskedUses, usize)> {
        FORMS
            .iter()
            .find_map(|(asked, form)| Some((*asked, match_form(form, words)?)))
    };
    // A form may have a word that is a filler in others: "which type implements X".
    let spare: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !FILLERS.contains(&word.to_lowercase().as_str()))
        .collect();
    let (asked, symbol) = match matches(&words) {
        Some((asked, at)) => (asked, words[at]),
        None => matches(&spare).map(|(asked, at)| (asked, spare[at]))?,
    };
    Some(SymbolQuestion { asked, symbol })
}

/// A word without the punctuation around it: `` `render()`? `` is `render`.
fn trim_word(word: &str) -> &str {
    let word = word.trim_matches(|c: char| matches!(c, '`' | '"' | '\'' | '?' | '!' | ',' | ';' | '.' | ':'));
    word.strip_suffix("()").unwrap_or(word)
}

/// The position of the symbol, if the words have this form.
fn match_form(form: &str, words: &[&str]) -> Option<usize> {
    let mut symbol = None;
    let mut rest = words.iter().enumerate();
    for part in form.split(' ') {
        let (at, word) = rest.next()?;
        if part == "X" {
            is_name(word).then_some(())?;
            symbol = Some(at);
        } else {
            part.split('|')
                .any(|choice| choice.eq_ignore_ascii_case(word))
                .then_some(())?;
        }
    }
    rest.next().is_none().then_some(symbol)?
}

/// Whether a word can be the name of a definition, with its scope.
fn is_name(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '#' | '@' | '!' | '?');
    word.chars().all(is_part) && word.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: AskedUses, symbol: &str, questions: &[&str]) {
        for question in questions {
            assert_eq!(
                parse_question(question),
                Some(SymbolQuestion { asked, symbol }),
                "{question}"
            );
        }
    }

    #[test]
    fn callers_are_asked_for_in_many_words() {
        check(
            AskedUses::Callers,
            "render",
            &[
                "who calls render",
                "Who calls `render()`?",
                "what calls the render function?",
                "which functions call render",
                "where is render called",
                "where is render called from?",
                "find all callers of render",
                "show me the call sites of render in this project",
                "render callers",
            ],
        );
    }

    #[test]
    fn uses_tests_and_implementations_are_told_apart() {
        check(
            AskedUses::Everywhere,
            "Row::render",
            &[
                "where is Row::render used?",
                "usages of Row::render",
                "all references to Row::render",
                "what uses Row::render",
                "where do we use Row::render",
                "Which files use the method Row::render?",
            ],
        );
        check(
            AskedUses::Tests,
            "Row.render",
            &[
                "tests for Row.render",
                "which tests cover Row.render",
                "unit tests of Row.render",
                "what tests Row.render?",
                "how is Row.render tested",
            ],
        );
        check(
            AskedUses::Implementations,
            "Shape",
            &[
                "what implements Shape",
                "which classes implement Shape?",
                "which classes implement the interface Shape",
                "which type implements Shape",
                "implementations of Shape",
                "subclasses of Shape",
                "what extends Shape",
                "which classes inherit from Shape",
            ],
        );
    }

    #[test]
    fn other_questions_are_left_to_the_search() {
        for question in [
            "",
            "render",
            "who calls",
            "where is the retry limit of uploads used",
            "how does rendering work",
            "why are tests slow",
            "where is the configuration loaded from disk",
            "tests for the retry of a failed upload",
            "what calls for a rewrite",
            "who calls 42",
            "calls render",
            "render is used where",
        ] {
            assert_eq!(parse_question(question), None, "{question}");
        }
    }
}
