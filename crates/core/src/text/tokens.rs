//! The tokenizer: words of code and prose, for the index and for queries.
//!
//! An identifier yields its parts and itself: `readFile` and `read_file` both become `readfile`, `read` and
//! `file`. Parts are stemmed, so that `parsing` finds `Parser`; whole identifiers are kept, so that names are
//! found exactly. Only English is stemmed. Words in other scripts are kept as they are; Chinese, Japanese and
//! Thai character by character.
//!
//! Invariant: the words of a text are the words of its lines, and the same text gives the same words on every
//! machine.

use super::intent::Intent;

/// Words so common that they are neither indexed nor searched.
pub(super) fn is_stop_word(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "of"
            | "to"
            | "and"
            | "is"
            | "in"
            | "it"
            | "for"
            | "this"
            | "that"
            | "be"
            | "or"
            | "on"
            | "with"
            | "as"
            | "by"
            | "are"
            | "from"
            | "if"
            | "else"
            | "return"
            | "an"
            | "at"
    )
}

/// Words of questions that say nothing about their subject.
const QUESTION_WORDS: &[&str] = &[
    "how",
    "does",
    "do",
    "did",
    "what",
    "where",
    "which",
    "who",
    "why",
    "when",
    "can",
    "could",
    "should",
    "would",
    "we",
    "you",
    "our",
    "my",
    "its",
    "their",
    "they",
    "was",
    "were",
    "been",
    "being",
    "has",
    "have",
    "had",
    "will",
    "into",
    "about",
    "used",
    "using",
    "there",
    "these",
    "those",
    "then",
    "than",
    "so",
    "but",
    "not",
    "all",
    "any",
    "each",
    "such",
    "via",
    "between",
    "find",
    "show",
    "me",
    "please",
    "code",
    "implement",
    "implementation",
    "implemented",
    "handle",
    "handled",
    "work",
    "works",
    "get",
    "gets",
];

/// Longer parts are data. Longer identifiers are indexed by their parts only.
const MAX_PART_BYTES: usize = 64;

/// Appends the words of `text`, each followed by a space.
pub fn words_into(text: &str, into: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_word_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut ascii = true;
        while at < bytes.len() && is_word_byte(bytes[at]) {
            ascii &= bytes[at].is_ascii();
            at += 1;
        }
        if ascii {
            add_identifier(&text[start..at], into);
        } else {
            add_other_script(&text[start..at], into);
        }
    }
}

/// The words of `text`, in order.
pub fn words(text: &str) -> Vec<String> {
    let mut all = String::new();
    words_into(text, &mut all);
    all.split_terminator(' ').map(str::to_owned).collect()
}

fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES[usize::from(byte)]
}

/// The bytes of words: ASCII letters, digits and `_`, and every byte of a character beyond ASCII.
const WORD_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = u8::MAX;
    loop {
        table[byte as usize] = !byte.is_ascii() || byte.is_ascii_alphanumeric() || byte == b'_';
        if byte == 0 {
            break table;
        }
        byte -= 1;
    }
};

/// Appends the parts of an identifier and, if there are several, the whole.
fn add_identifier(text: &str, into: &mut String) {
    let name = text.as_bytes();
    let mut parts = 0;
    let mut start = 0;
    while start < name.len() {
        if name[start] == b'_' {
            start += 1;
            continue;
        }
        let end = part_end(name, start);
        if start == 0 && end == name.len() {
            // The commonest case: one part, which is the whole.
            add_part(text, into);
            return;
        }
        add_part(&text[start..end], into);
        parts += 1;
        start = end;
    }
    if parts > 1 && name.len() <= MAX_PART_BYTES {
        let before = into.len();
        for part in text.split('_') {
            into.push_str(part);
        }
        into[before..].make_ascii_lowercase();
        // With a single letter, as in `x_`, it is no compound.
        if into.len() - before > 2 {
            into.push(' ');
        } else {
            into.truncate(before);
        }
    }
}

/// The end of the part that begins at `start`. A part ends before an underscore, before a capital after a
/// small letter, and before the last of several capitals if a small letter follows (`HTTPServer`).
fn part_end(name: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < name.len() {
        let (before, here) = (name[at - 1], name[at]);
        let starts = here == b'_'
            || here.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || name.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if starts {
            return at;
        }
        at += 1;
    }
    at
}

/// Appends the stem of one part, unless it is a stop word, a single letter or data.
fn add_part(letters: &str, into: &mut String) {
    if !(2..=MAX_PART_BYTES).contains(&letters.len())
        || (letters.len() > 6 && letters.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return;
    }
    let start = into.len();
    into.push_str(letters);
    into[start..].make_ascii_lowercase();
    if is_stop_word(&into[start..]) {
        into.truncate(start);
        return;
    }
    let kept = stem(&into[start..]);
    into.truncate(start + kept.len);
    into.push_str(kept.ending);
    into.push(' ');
}

/// Appends the lower-case words of a run with characters beyond ASCII. Scripts without spaces yield single
/// characters.
fn add_other_script(run: &str, into: &mut String) {
    let mut word = String::new();
    let end = |word: &mut String, into: &mut String| {
        if word.is_ascii() {
            add_identifier(word, into);
        } else if !word.is_empty() && word.len() <= MAX_PART_BYTES {
            into.extend(word.chars().filter(|&c| c != '_').flat_map(char::to_lowercase));
            into.push(' ');
        }
        word.clear();
    };
    for c in run.chars() {
        if is_unspaced(c) {
            end(&mut word, into);
            into.push(c);
            into.push(' ');
        } else if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            end(&mut word, into);
        }
    }
    end(&mut word, into);
}

/// True for scripts that put no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3_ffff)
}

/// A stem: the first `len` bytes of the word, and an ending in place of the rest.
struct Stem {
    len: usize,
    ending: &'static str,
}

/// Cuts the endings of English: `routes`, `routing`, `routed`, `router` and `route` become `rout`.
fn stem(word: &str) -> Stem {
    let whole = |word: &str| Stem {
        len: word.len(),
        ending: "",
    };
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return whole(word);
    }
    let mut word = singular(word);
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 1) {
        return Stem {
            len: rest.len(),
            ending: "y",
        };
    }
    for ending in ["ing", "ed"] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= 3
            && rest.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            word = without_double_consonant(rest);
            break;
        }
    }
    for (ending, least, kept) in [
        ("ization", 3, "iz"),
        ("isation", 3, "iz"),
        ("ation", 3, "at"),
        ("sion", 4, "s"),
        ("tion", 3, "t"),
        ("ment", 4, ""),
        ("able", 5, ""),
        ("ible", 5, ""),
        ("er", 4, ""),
        ("or", 4, ""),
    ] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= least
        {
            let len = if kept.is_empty() {
                without_e(rest).len()
            } else {
                rest.len()
            };
            return Stem { len, ending: kept };
        }
    }
    whole(without_e(word))
}

fn singular(word: &str) -> &str {
    if word.ends_with("ies") || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    for ending in ["xes", "ches", "shes", "sses", "zzes"] {
        if word.len() > ending.len() + 1 && word.ends_with(ending) {
            return &word[..word.len() - 2];
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if rest.len() >= 3 => rest,
        _ => word,
    }
}

/// `running` becomes `run`, but `calling` stays `call`.
fn without_double_consonant(word: &str) -> &str {
    match word.as_bytes() {
        [.., a, b] if a == b && !b"lszaeiou".contains(a) && word.len() > 3 => &word[..word.len() - 1],
        _ => word,
    }
}

fn without_e(word: &str) -> &str {
    match word.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest,
        _ => word,
    }
}

/// A query, split into words and names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedQuery {
    /// Words to search for, each once, in order.
    pub words: Vec<String>,
    /// Names in the query that are written like code, with inner capitals, underscores or a scope. A query of
    /// a single word is a name too.
    pub names: Vec<QueryName>,
    /// True if the whole query is one name.
    pub is_name: bool,
    /// The kinds of files that it asks for.
    pub intent: Intent,
}

/// A name in a query that is written like code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryName {
    /// As the query writes it.
    pub written: String,
    /// In lower case, without underscores.
    pub folded: String,
    /// The enclosing name, folded the same way: `foo` of `Foo::bar`.
    pub scope: Option<String>,
    /// Only a capital letter and a definition of the project say that it is a name.
    pub is_loose: bool,
}

impl ParsedQuery {
    pub fn of(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let content = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !is_question_word(word));
        let content: String = content.flat_map(|word| [word, " "]).collect();
        let content = self::words(&content);
        for word in if content.is_empty() {
            self::words(text)
        } else {
            content
        } {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let parts: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || "_.:#$".contains(c)))
            .map(|part| part.trim_matches(|c: char| ".:#$".contains(c)))
            .filter(|part| !part.is_empty())
            .collect();
        let is_single = parts.len() == 1;
        let names: Vec<QueryName> = parts
            .iter()
            .filter(|part| is_single || is_written_like_code(part))
            .filter_map(|part| QueryName::of(part))
            .collect();
        Self {
            words,
            is_name: is_single && !names.is_empty(),
            names,
            intent: Intent::of(text),
        }
    }

    /// True if the query has a word of this stem.
    pub fn has_word(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word == stem)
    }
}

/// A name in lower case without separators, as [`words_into`] indexes whole identifiers.
pub fn fold_name(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A name without the mark at its end that Ruby allows and queries do not keep: `empty?`, `save!`.
pub fn without_mark(name: &str) -> &str {
    name.trim_end_matches(['?', '!', '='])
}

/// Compares the word as written, before stemming, because a handler is something else than to handle.
pub(super) fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS
        .iter()
        .any(|other| other.eq_ignore_ascii_case(word))
}

fn is_written_like_code(word: &str) -> bool {
    let inner_capital = word
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    inner_capital
        || word.trim_matches('_').contains('_')
        || word.contains("::")
        || word.contains('#')
        || word.contains('.')
        || (capitals > 1 && word.len() > 3 && word.bytes().any(|byte| byte.is_ascii_lowercase()))
}

impl QueryName {
    pub(super) fn of(part: &str) -> Option<Self> {
        let mut steps = part
            .split(|c: char| ".:#$".contains(c))
            .filter(|step| !step.is_empty())
            .rev();
        let written = steps.next()?;
        let folded = fold_name(written);
        (folded.len() > 1).then(|| Self {
            written: written.to_owned(),
            folded,
            scope: steps.next().map(fold_name),
            is_loose: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(words(text).join(" "), expected, "{text}");
    }

    #[test]
    fn an_identifier_yields_its_parts_and_itself() {
        check("readFile", "read fil readfile");
        check("read_file(x)", "read fil readfile");
        check("HTTPServer", "http serv httpserver");
        check("__init__", "init");
        check("utf8 sha256Sum", "utf8 sha256 sum sha256sum");
        check("a.b->c[i]", "");
        check("MAX_SIZE = 1024;", "max siz maxsize 1024");
    }

    #[test]
    fn words_of_one_family_have_one_stem() {
        for family in [
            "route routes routing routed router",
            "parse parser parsing parsed",
            "handle handler handlers handling",
            "validate validation validated",
            "serialize serializer serialization serializable",
            "query queries",
            "connect connection connections connected connector",
            "run running",
            "manage manager management",
            "buffer buffering buffered",
            "match matches matching matcher",
            "iterate iterator iteration",
        ] {
            let mut stems: Vec<String> = family.split(' ').flat_map(words).collect();
            stems.dedup();
            assert_eq!(stems.len(), 1, "{family}: {stems:?}");
        }
    }

    #[test]
    fn words_that_differ_stay_different() {
        check(
            "user use string thing this bus class process",
            "user use string thing bus class process",
        );
        check("sing king need feed", "sing king need feed");
    }

    #[test]
    fn other_scripts_are_words_too() {
        check("größe_ändern Ünïcode", "größeändern ünïcode");
        check("认证 token", "认 证 token");
        check("naïve—dash", "naïve dash");
    }

    #[test]
    fn long_data_yields_no_words() {
        check(&"ab1".repeat(40), "");
        let long = "a_name_that_says_everything_about_what_it_tests_and_is_longer_than_any_limit_could_be";
        assert!(words(long).contains(&"everyth".to_owned()), "{:?}", words(long));
        check("1234567 12345", "12345");
    }

    #[test]
    fn question_words_are_left_out_of_a_query() {
        let query = ParsedQuery::of("how does the router handle errors");
        assert_eq!(query.words, ["rout", "error"]);
        assert_eq!(query.names, []);
        assert!(!query.is_name);
        assert_eq!(ParsedQuery::of("how does it work").words, ["how", "doe", "work"]);
        assert_eq!(ParsedQuery::of("worker queue").words, ["work", "queu"]);
        assert_eq!(ParsedQuery::of("the request handler").words, ["request", "handl"]);
    }

    #[test]
    fn names_show_by_how_they_are_written() {
        let names = |text: &str| -> Vec<String> {
            ParsedQuery::of(text)
                .names
                .into_iter()
                .map(|name| match name.scope {
                    Some(scope) => format!("{scope}/{}", name.folded),
                    None => name.folded,
                })
                .collect()
        };
        assert_eq!(names("HandlerStack"), ["handlerstack"]);
        assert_eq!(names("where is HandlerStack resolved"), ["handlerstack"]);
        assert_eq!(names("Foo::bar_baz"), ["foo/barbaz"]);
        assert_eq!(names("`read_file` and JSONParser."), ["readfile", "jsonparser"]);
        assert_eq!(names("connect"), ["connect"]);
        assert_eq!(names("How are requests retried"), [] as [&str; 0]);
        assert!(ParsedQuery::of("connect").is_name);
    }
}
