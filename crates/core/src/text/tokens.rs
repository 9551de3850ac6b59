//! The words of code and prose, as the index keeps them and as queries ask for them.
//!
//! An identifier counts as a whole and in its parts: `readFile` and `read_file` are both `readfile`, `read` and `file`.
//! Parts are cut to their stem, so that `parsing` finds `Parser`; wholes are kept, so that names are found exactly.
//! Stems are English only; words of other languages and scripts are kept as they are, Chinese and its kin letter by letter.
//!
//! Invariant: the words of a text are those of its lines together, and the same text gives the same words everywhere.

/// Words that stand everywhere and tell nothing; neither kept nor asked for.
fn is_empty(word: &str) -> bool {
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

/// Words of questions, which say nothing about what is asked for.
const ASKING: &[&str] = &[
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

/// Parts beyond this are data, and identifiers beyond it are found by their parts only.
const MAX_PART_BYTES: usize = 64;

/// Appends the words of `text`, a space behind each.
pub fn words_into(text: &str, into: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_inside(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut ascii = true;
        while at < bytes.len() && is_inside(bytes[at]) {
            ascii &= bytes[at].is_ascii();
            at += 1;
        }
        if ascii {
            identifier(&text[start..at], into);
        } else {
            other_script(&text[start..at], into);
        }
    }
}

/// The words of `text`, in order.
pub fn words(text: &str) -> Vec<String> {
    let mut all = String::new();
    words_into(text, &mut all);
    all.split_terminator(' ').map(str::to_owned).collect()
}

fn is_inside(byte: u8) -> bool {
    INSIDE[usize::from(byte)]
}

/// Bytes that words are made of; of other scripts than ours, any.
const INSIDE: [bool; 256] = {
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

/// The parts of an identifier and, where there are several, the whole.
fn identifier(text: &str, into: &mut String) {
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
            part(text, into);
            return;
        }
        part(&text[start..end], into);
        parts += 1;
        start = end;
    }
    if parts > 1 && name.len() <= MAX_PART_BYTES {
        let before = into.len();
        for piece in text.split('_') {
            into.push_str(piece);
        }
        into[before..].make_ascii_lowercase();
        // One with a single letter (`x_`) is no compound.
        if into.len() - before > 2 {
            into.push(' ');
        } else {
            into.truncate(before);
        }
    }
}

/// Where the part that begins at `start` ends: before an underscore, before a capital after a small letter, and before the
/// last of several capitals that a small letter follows (`HTTPServer`).
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

fn part(letters: &str, into: &mut String) {
    if !(2..=MAX_PART_BYTES).contains(&letters.len())
        || (letters.len() > 6 && letters.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return;
    }
    let start = into.len();
    into.push_str(letters);
    into[start..].make_ascii_lowercase();
    if is_empty(&into[start..]) {
        into.truncate(start);
        return;
    }
    let kept = stem(&into[start..]);
    into.truncate(start + kept.len);
    into.push_str(kept.ending);
    into.push(' ');
}

/// Runs of letters and digits beyond ASCII, in small letters; those of scripts without spaces one by one.
fn other_script(run: &str, into: &mut String) {
    let mut word = String::new();
    let end = |word: &mut String, into: &mut String| {
        if word.is_ascii() {
            identifier(word, into);
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

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3_ffff)
}

/// What is kept of a word: its beginning, and what stands for the rest.
struct TruncatedWord {
    len: usize,
    ending: &'static str,
}

/// Cuts the endings off that English gives one word: `routes`, `routing`, `routed`, `router` and `route` are `rout`.
fn stem(word: &str) -> TruncatedWord {
    let whole = |word: &str| TruncatedWord {
        len: word.len(),
        ending: "",
    };
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return whole(word);
    }
    let mut word = singular(word);
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 1) {
        return TruncatedWord {
            len: rest.len(),
            ending: "y",
        };
    }
    for ending in ["ing", "ed"] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= 3
            && rest.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            word = undoubled(rest);
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
            return TruncatedWord { len, ending: kept };
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

/// `running` is `run`, but `calling` is `call`.
fn undoubled(word: &str) -> &str {
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

/// What somebody asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedQuery {
    /// Words to look for, each once, in order.
    pub words: Vec<String>,
    /// Names in the query that are written like code: the whole query where it is one word, and what has capitals
    /// inside, underscores or a scope, as `words` joins them.
    pub names: Vec<Name>,
    /// Everything the query says is one name.
    pub is_name: bool,
}

/// A name that a query asks for by writing it as code does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it was written.
    pub written: String,
    /// In small letters, without underscores.
    pub joined: String,
    /// What it stands in, the same way: `foo` of `Foo::bar`.
    pub scope: Option<String>,
}

impl ParsedQuery {
    pub fn of(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let telling = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !is_asking(word));
        let told: String = telling.flat_map(|word| [word, " "]).collect();
        let told = self::words(&told);
        for word in if told.is_empty() { self::words(text) } else { told } {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let pieces: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || "_.:#$".contains(c)))
            .map(|piece| piece.trim_matches(|c: char| ".:#$".contains(c)))
            .filter(|piece| !piece.is_empty())
            .collect();
        let alone = pieces.len() == 1;
        let names: Vec<Name> = pieces
            .iter()
            .filter(|piece| alone || is_written_as_code(piece))
            .filter_map(|piece| Name::of(piece))
            .collect();
        Self {
            words,
            is_name: alone && !names.is_empty(),
            names,
        }
    }

    /// True when the query has a word of this stem.
    pub fn says(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word == stem)
    }
}

/// Joins a name as [`words_into`] does for the whole of an identifier.
pub fn joined(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Looked at as it is written: a handler is something else than to handle.
fn is_asking(word: &str) -> bool {
    ASKING.iter().any(|asking| asking.eq_ignore_ascii_case(word))
}

fn is_written_as_code(piece: &str) -> bool {
    let inner_capital = piece
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let capitals = piece.bytes().filter(u8::is_ascii_uppercase).count();
    inner_capital
        || piece.trim_matches('_').contains('_')
        || piece.contains("::")
        || piece.contains('#')
        || piece.contains('.')
        || (capitals > 1 && piece.len() > 3 && piece.bytes().any(|byte| byte.is_ascii_lowercase()))
}

impl Name {
    fn of(piece: &str) -> Option<Self> {
        let mut steps = piece
            .split(|c: char| ".:#$".contains(c))
            .filter(|step| !step.is_empty())
            .rev();
        let written = steps.next()?;
        let joined_name = joined(written);
        (joined_name.len() > 1).then(|| Self {
            written: written.to_owned(),
            joined: joined_name,
            scope: steps.next().map(joined),
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
    fn identifiers_count_whole_and_in_parts() {
        check("readFile", "read fil readfile");
        check("read_file(x)", "read fil readfile");
        check("HTTPServer", "http serv httpserver");
        check("__init__", "init");
        check("utf8 sha256Sum", "utf8 sha256 sum sha256sum");
        check("a.b->c[i]", "");
        check("MAX_SIZE = 1024;", "max siz maxsize 1024");
    }

    #[test]
    fn words_of_one_family_are_one() {
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
    fn data_is_no_word() {
        check(&"ab1".repeat(40), "");
        let long = "a_name_that_says_everything_about_what_it_tests_and_is_longer_than_any_limit_could_be";
        assert!(words(long).contains(&"everyth".to_owned()), "{:?}", words(long));
        check("1234567 12345", "12345");
    }

    #[test]
    fn a_question_is_its_content() {
        let query = ParsedQuery::of("how does the router handle errors");
        assert_eq!(query.words, ["rout", "error"]);
        assert_eq!(query.names, []);
        assert!(!query.is_name);
        assert_eq!(ParsedQuery::of("how does it work").words, ["how", "doe", "work"]);
        assert_eq!(ParsedQuery::of("worker queue").words, ["work", "queu"]);
        assert_eq!(ParsedQuery::of("the request handler").words, ["request", "handl"]);
    }

    #[test]
    fn names_are_known_by_how_they_are_written() {
        let names = |text: &str| -> Vec<String> {
            ParsedQuery::of(text)
                .names
                .into_iter()
                .map(|name| match name.scope {
                    Some(scope) => format!("{scope}/{}", name.joined),
                    None => name.joined,
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
