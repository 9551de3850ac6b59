//! The names of the project that a pattern may mean: `lend`, `foo\|bar`, `def lend(`, `Library::lend`.
//!
//! Left out: patterns that match parts of names or several words.
//!
//! Invariant: a name has at least [`MIN_NAME_CHARS`] letters, digits and underscores, and nothing else.

use docent_core::shell::search::{LineSearchRequest, PatternSyntax};

/// Names of one search that are looked up.
const MAX_NAMES: usize = 6;

/// A shorter word is hardly the name of a definition that is worth a line.
const MIN_NAME_CHARS: usize = 3;

/// Words in front of a name where it is defined.
const KEYWORDS: [&str; 29] = [
    "abstract",
    "async",
    "class",
    "const",
    "def",
    "default",
    "enum",
    "export",
    "final",
    "fn",
    "func",
    "function",
    "impl",
    "interface",
    "let",
    "macro_rules!",
    "mod",
    "module",
    "private",
    "protected",
    "protocol",
    "pub",
    "public",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "var",
];

/// What stands for space between a keyword and a name.
const SPACES: [&str; 6] = ["[[:space:]]+", "\\s+", "\\s*", " +", " *", " "];

/// A part of a pattern at either end that matches no letter of a name.
const STARTS: [&str; 10] = ["^", "\\b", "\\<", "\\s*", "\\s+", ".*", "\\.", "\\(", " *", " "];
const ENDS: [&str; 13] = [
    "$", "\\b", "\\>", "\\s*", "\\s+", ".*", "\\(", "\\)", " *", "(", ":", "=", " ",
];

/// A name that is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchedName {
    pub(crate) name: String,
    /// The type, module or package in front of it: `Library` in `Library::lend`.
    pub(crate) qualifier: Option<String>,
}

/// The names that the patterns of a search mean, each once.
pub(crate) fn searched_names(request: &LineSearchRequest) -> Vec<SearchedName> {
    let mut names: Vec<SearchedName> = Vec::new();
    if request.inverted {
        return names;
    }
    for pattern in &request.patterns {
        for part in alternatives(pattern, request.syntax) {
            if let Some(name) = read_name(part)
                && !names.iter().any(|other| other.name == name.name)
            {
                names.push(name);
            }
        }
    }
    names.truncate(MAX_NAMES);
    names
}

/// Whether a line looks as if it defined one of the names: a keyword stands before it, or the receiver of a
/// Go method.
pub(super) fn looks_like_definition(line: &[u8], names: &[SearchedName]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else {
        return false;
    };
    names.iter().any(|one| {
        line.find(&one.name).is_some_and(|at| {
            let (before, behind) = (line[..at].trim_end(), &line[at + one.name.len()..]);
            let ends_name = !behind.starts_with(|char: char| char.is_alphanumeric() || char == '_');
            let last = before.split_whitespace().next_back().unwrap_or_default();
            let is_method = before.trim_start().starts_with("func (") && before.ends_with(')');
            ends_name && before.len() < at && (KEYWORDS.contains(&last) || is_method)
        })
    })
}

/// The parts of a pattern between its bars. Bars inside of groups divide it too, so that a part may have an
/// open parenthesis, which [`read_name`] drops.
fn alternatives(pattern: &str, syntax: PatternSyntax) -> Vec<&str> {
    match syntax {
        PatternSyntax::Basic => pattern.split("\\|").collect(),
        PatternSyntax::Extended | PatternSyntax::Rust | PatternSyntax::Perl => pattern.split('|').collect(),
        PatternSyntax::Fixed => vec![pattern],
    }
}

/// The name in a part of a pattern. `None` if there is more in it than a name and what may stand around one.
fn read_name(part: &str) -> Option<SearchedName> {
    let mut text = part.trim();
    loop {
        let before = text;
        for start in STARTS {
            text = text.strip_prefix(start).unwrap_or(text);
        }
        text = text.trim_start_matches('(');
        for keyword in KEYWORDS {
            let rest = text.strip_prefix(keyword);
            text = rest
                .and_then(|rest| SPACES.iter().find_map(|space| rest.strip_prefix(space)))
                .unwrap_or(text);
        }
        for end in ENDS {
            text = text.strip_suffix(end).unwrap_or(text);
        }
        text = text.trim_end_matches(')');
        if text == before {
            break;
        }
    }
    let plain = text.replace("\\.", ".").replace("::", ".").replace("->", ".");
    let (before, name) = match plain.rsplit_once('.') {
        Some((before, name)) => (before.rsplit('.').next(), name),
        None => (None, plain.as_str()),
    };
    let is_name = |text: &str| {
        text.chars().all(|char| char.is_alphanumeric() || char == '_')
            && !text.starts_with(|char: char| char.is_numeric())
    };
    if name.chars().count() < MIN_NAME_CHARS || !is_name(name) || !before.is_none_or(is_name) {
        return None;
    }
    let is_relative = |before: &&str| !["", "self", "Self", "cls", "this", "super", "crate"].contains(before);
    Some(SearchedName {
        name: name.to_owned(),
        qualifier: before.filter(is_relative).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, syntax: PatternSyntax, expected: &[&str]) {
        let names: Vec<String> = alternatives(pattern, syntax)
            .into_iter()
            .filter_map(read_name)
            .map(|one| match one.qualifier {
                Some(qualifier) => format!("{qualifier} > {}", one.name),
                None => one.name,
            })
            .collect();
        assert_eq!(names, expected, "{pattern}");
    }

    #[test]
    fn lines_that_define_a_name_are_known_by_their_keyword() {
        let names = [SearchedName {
            name: "lend".to_owned(),
            qualifier: None,
        }];
        for (line, expected) in [
            ("    def lend(self):", true),
            ("pub fn lend()", true),
            ("func (l *Library) lend() {", true),
            ("class lend:", true),
            ("fn lender()", false),
            ("lend()", false),
            ("return lend", false),
            ("fn prelend()", false),
        ] {
            assert_eq!(looks_like_definition(line.as_bytes(), &names), expected, "{line}");
        }
    }

    #[test]
    fn names_are_read_out_of_patterns() {
        use PatternSyntax::{Basic, Extended, Fixed, Rust};
        check("lend", Basic, &["lend"]);
        check(r"\blend\b", Extended, &["lend"]);
        check(r"\<lend\>", Basic, &["lend"]);
        check(r"lend\|give_back", Basic, &["lend", "give_back"]);
        check("lend|give_back", Rust, &["lend", "give_back"]);
        check("(lend|give_back)\\(", Rust, &["lend", "give_back"]);
        check("^def lend(", Basic, &["lend"]);
        check(r"^\s*(async )?def lend\(", Extended, &[]);
        check(r"class\s+Library", Extended, &["Library"]);
        check("pub fn lend", Rust, &["lend"]);
        check("func lend", Basic, &["lend"]);
        check(r"def lend\|class Library", Basic, &["lend", "Library"]);
        check(r"self\.lend(", Basic, &["lend"]);
        check("Library::lend", Fixed, &["Library > lend"]);
        check(r"Library\.lend", Basic, &["Library > lend"]);
        check(r"\.lend\(", Rust, &["lend"]);
        check("lend.*book", Basic, &[]);
        check("a short sentence", Basic, &[]);
        check("404", Basic, &[]);
        check("ab", Basic, &[]);
        check("", Basic, &[]);
        check("lend|give_back", Basic, &[]);
    }
}
