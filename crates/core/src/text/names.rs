//! Names in a phrase: words of a query that may be symbols although they are written like words.
//!
//! `Reporter` in "where is Reporter defined" and `run` in "the function run" are names; `run` in "how to run
//! tests" is not. Only the form is read here: a capital inside the phrase, parentheses, backquotes, or a word
//! beside it that speaks of definitions. Whether the project defines such a name, with exactly this case, is
//! for the caller to find out, so a word that only looks like a name costs nothing.
//!
//! Left out: names with inner capitals or underscores, which [`ParsedQuery`] knows by their form alone. They
//! are returned as well if the phrase asks for nothing but them.

use super::tokens::{ParsedQuery, QueryName, is_question_word, is_stop_word, words};

/// A word of a query that may be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossibleName<'a> {
    /// With its scope, if it has one.
    pub written: &'a str,
    /// The phrase asks for nothing but this name.
    pub is_whole: bool,
    /// Only its capital says so: it may be the name of a product.
    pub is_loose: bool,
}

/// Words that speak of definitions of any kind.
const DEFINITION_WORDS: [&str; 6] = [
    "defined",
    "declared",
    "definition",
    "declaration",
    "defines",
    "declares",
];

/// Kinds of types. A word in lower case beside one of them is no name: "the type system".
const TYPE_WORDS: [&str; 9] = [
    "class",
    "interface",
    "struct",
    "trait",
    "enum",
    "type",
    "module",
    "protocol",
    "object",
];

/// Kinds of functions.
const FUNCTION_WORDS: [&str; 7] = ["function", "method", "fn", "func", "def", "macro", "constructor"];

/// Words beside a name that say nothing about its subject.
const IDLE_WORDS: [&str; 10] = [
    "a", "symbol", "named", "called", "located", "source", "mean", "means", "i", "exactly",
];

/// Longer texts do not ask for one name, and their capitals are mostly those of sentences.
const MAX_WORDS: usize = 40;

/// Names that are looked up, at most.
const MAX_NAMES: usize = 8;

/// A word of the phrase without the punctuation around it.
#[derive(Clone, Copy)]
struct PhraseWord<'a> {
    text: &'a str,
    /// In backquotes, or with parentheses behind it.
    is_marked: bool,
    begins_sentence: bool,
}

/// The words of a query that may be names, in their order, each once.
pub fn possible_names(text: &str) -> Vec<PossibleName<'_>> {
    let phrase = read_words(text);
    if phrase.is_empty() || phrase.len() > MAX_WORDS {
        return Vec::new();
    }
    let mut found: Vec<PossibleName<'_>> = Vec::new();
    for (at, word) in phrase.iter().enumerate() {
        let is_known = found.iter().any(|one| one.written == word.text);
        if is_known || !is_identifier(word.text) {
            continue;
        }
        let Some(is_loose) = looks_like_name(&phrase, at) else {
            continue;
        };
        let others = phrase.iter().enumerate().filter(|(other, _)| *other != at);
        let is_whole = others
            .clone()
            .all(|(_, other)| is_idle(other.text) && !other.is_marked);
        found.push(PossibleName {
            written: word.text,
            is_whole,
            is_loose: is_loose && !is_whole,
        });
        if found.len() == MAX_NAMES {
            break;
        }
    }
    found
}

/// `None` for a word that is no name, else whether only its capital says that it is one.
fn looks_like_name(phrase: &[PhraseWord<'_>], at: usize) -> Option<bool> {
    let PhraseWord {
        text,
        is_marked,
        begins_sentence,
    } = phrase[at];
    if is_marked || phrase.len() == 1 {
        return Some(false);
    }
    if is_common(text) {
        return None;
    }
    let is_capitalised = text.starts_with(|c: char| c.is_uppercase());
    let is_written_like_code =
        text.contains(['_', '.', ':', '#', '$']) || text.chars().skip(1).any(char::is_uppercase);
    let word = |at: Option<usize>| at.and_then(|at| phrase.get(at)).map_or("", |one| one.text);
    let (before, behind) = (word(at.checked_sub(1)), word(Some(at + 1)));
    let before_that = word(at.checked_sub(2));
    let is_any = |list: &[&str], word: &str| list.iter().any(|one| one.eq_ignore_ascii_case(word));
    let is_named = is_written_like_code
        || is_any(&DEFINITION_WORDS, behind)
        || is_any(&FUNCTION_WORDS, before)
        || is_any(&FUNCTION_WORDS, behind)
        || is_any(&TYPE_WORDS, before) && (is_capitalised || phrase.len() == 2)
        || is_any(&TYPE_WORDS, behind) && is_capitalised
        || before.eq_ignore_ascii_case("of") && is_any(&DEFINITION_WORDS, before_that)
        // "what does parse do", "what is parse": no other word is left to be the subject.
        || (0..phrase.len()).all(|other| other == at || is_idle(phrase[other].text));
    (is_named || is_capitalised && !begins_sentence).then_some(!is_named)
}

/// The words of a text, without the punctuation around them.
fn read_words(text: &str) -> Vec<PhraseWord<'_>> {
    let mut begins_sentence = true;
    let mut found = Vec::new();
    for written in text.split_whitespace().take(MAX_WORDS + 1) {
        let is_end = written.ends_with(['.', '!', '?', ':']);
        let core =
            written.trim_matches(|c: char| matches!(c, '"' | '\'' | '?' | '!' | ',' | ';' | '.' | ':'));
        let unquoted = core.trim_matches('`');
        let name = match unquoted.find('(') {
            Some(open) if unquoted.ends_with(')') && open > 0 => &unquoted[..open],
            _ => unquoted.trim_matches(['(', ')']),
        };
        if !name.is_empty() {
            found.push(PhraseWord {
                text: name,
                is_marked: unquoted.len() < core.len()
                    || unquoted.len() > name.len() && unquoted.ends_with(')'),
                begins_sentence,
            });
            begins_sentence = is_end;
        }
    }
    found
}

fn is_identifier(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '#');
    word.chars().all(is_part) && word.chars().any(char::is_alphabetic)
}

fn is_common(word: &str) -> bool {
    is_question_word(word) || is_stop_word(&word.to_lowercase()) || is_idle_word(word)
}

fn is_idle_word(word: &str) -> bool {
    IDLE_WORDS.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Whether a word beside a name says nothing about another subject.
fn is_idle(word: &str) -> bool {
    let mut kinds = DEFINITION_WORDS.iter().chain(&TYPE_WORDS).chain(&FUNCTION_WORDS);
    is_common(word) || kinds.any(|one| one.eq_ignore_ascii_case(word))
}

impl ParsedQuery {
    /// Adds a name that the project defines.
    pub fn add_name(&mut self, name: &PossibleName<'_>) {
        let Some(found) = QueryName::of(name.written) else {
            return;
        };
        if name.is_whole {
            // The words around the name would find other chunks.
            self.words = words(name.written);
            self.names.retain(|other| other.written == found.written);
            self.is_name = true;
        }
        let found = QueryName {
            is_loose: name.is_loose,
            ..found
        };
        if !self.names.iter().any(|other| other.written == found.written) {
            self.names.push(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `!` marks a name that is the whole query.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = possible_names(text)
            .iter()
            .map(|one| format!("{}{}", one.written, if one.is_whole { "!" } else { "" }))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_word_beside_a_word_of_definitions_may_be_a_name() {
        check("where is Reporter defined", &["Reporter!"]);
        check("class Reporter", &["Reporter!"]);
        check("Reporter class", &["Reporter!"]);
        check("the function parse", &["parse!"]);
        check("definition of parse", &["parse!"]);
        check("what does parse do", &["parse!"]);
        check("word()", &["word!"]);
        check("`word`", &["word!"]);
        check("where is `word` used by the reader", &["word"]);
    }

    #[test]
    fn a_capital_inside_a_phrase_may_begin_a_name() {
        check("how does the Reporter write lines", &["Reporter"]);
        check("Reporter writes lines twice", &[]);
        check("where is HttpClient defined", &["HttpClient!"]);
    }

    #[test]
    fn words_of_a_sentence_are_no_names() {
        check("how are routes matched", &[]);
        check("the type system of queries", &[]);
        check("a function to parse dates", &[]);
    }
}
