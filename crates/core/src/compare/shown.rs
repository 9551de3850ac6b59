//! Whether an answer shows a line of a function, the same for every agent.
//!
//! A line counts below the heading of its file: the last path of the project named before it, or on it. Short
//! lines and lines that the file has elsewhere too do not count.
//!
//! Invariant: a range, a name or a path alone shows nothing.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Shorter lines are in every function.
const MIN_LINE_CHARS: usize = 8;

/// A line of this length counts inside another one too.
const MIN_INNER_CHARS: usize = 25;

static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\w@.+~-]+(?:/[\w@.+~-]+)*\.\w+").expect("a literal pattern"));

/// A number before a line, as `grep -n`, `cat -n` and docent print it.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*[>*]?\s*(?:\S+?[:-])?\d+\s*[:|\t│-]?").expect("a literal pattern"));

/// The paths that a heading may have.
pub type KnownPaths = HashSet<String>;

/// A function to be found, by the lines that only it has.
#[derive(Clone, Debug, Default)]
pub struct FunctionLines {
    pub path: String,
    own: HashSet<String>,
}

impl FunctionLines {
    /// The function in these lines of a file, counted from 1.
    pub fn new(path: &str, text: &str, first: usize, last: usize) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let start = first.saturating_sub(1).min(lines.len());
        let end = last.clamp(start, lines.len());
        let outside: HashSet<&str> = lines[..start].iter().chain(&lines[end..]).copied().collect();
        let own = lines[start..end]
            .iter()
            .filter(|line| line.chars().count() >= MIN_LINE_CHARS && !outside.contains(*line))
            .map(|line| (*line).to_owned())
            .collect();
        Self {
            path: path.to_owned(),
            own,
        }
    }

    /// Without lines of its own it could never be found.
    pub fn can_be_seen(&self) -> bool {
        !self.own.is_empty()
    }

    fn is_on(&self, line: &str) -> bool {
        let plain = NUMBER.replace(line, "");
        [line.trim(), plain.trim()].into_iter().any(|text| {
            let start = text.trim_end_matches(['…', '.']);
            self.own.contains(text)
                || (text.len() > start.len()
                    && start.chars().count() >= MIN_INNER_CHARS
                    && self.own.iter().any(|own| own.starts_with(start)))
        }) || self
            .own
            .iter()
            .any(|own| own.chars().count() >= MIN_INNER_CHARS && line.contains(own.as_str()))
    }
}

/// Whether an answer shows a line of one of the functions. `about` is the file of an answer that does not
/// name it.
pub fn shows_function(
    functions: &[FunctionLines],
    known: &KnownPaths,
    about: Option<&str>,
    answer: &str,
) -> bool {
    let mut path: Option<String> = about.map(str::to_owned);
    answer.lines().any(|line| {
        let named = PATH
            .find_iter(line)
            .map(|found| found.as_str().trim_start_matches("./"))
            .find(|found| known.contains(*found));
        if let Some(named) = named {
            path = Some(named.to_owned());
        }
        functions
            .iter()
            .any(|function| path.as_deref() == Some(function.path.as_str()) && function.is_on(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import air\n\ndef dive(depth):\n    pressure = depth * 9.81\n    return pressure\n\ndef rise():\n    return pressure\n";

    fn check(answer: &str, about: Option<&str>, expected: bool) {
        let functions = [FunctionLines::new("sea/dive.py", TEXT, 3, 5)];
        let known: KnownPaths = ["sea/dive.py", "sea/rise.py"].map(str::to_owned).into();
        assert_eq!(
            shows_function(&functions, &known, about, answer),
            expected,
            "{answer}"
        );
    }

    #[test]
    fn a_line_counts_below_the_heading_of_its_file() {
        check(
            "sea/dive.py:3-5 function dive\n3\tdef dive(depth):\n4\t    pressure = depth * 9.81\n",
            None,
            true,
        );
        check("sea/dive.py:4:    pressure = depth * 9.81", None, true);
        check("sea/rise.py\n4\t    pressure = depth * 9.81\n", None, false);
        check("4\t    pressure = depth * 9.81\n", None, false);
        check("    pressure = depth * 9.81\n", Some("sea/dive.py"), true);
    }

    #[test]
    fn a_range_a_name_and_a_line_of_others_show_nothing() {
        check("sea/dive.py:3-5 dive", None, false);
        check("sea/dive.py\n5\t    return pressure\n", None, false);
    }

    #[test]
    fn a_function_without_lines_of_its_own_cannot_be_seen() {
        assert!(!FunctionLines::new("a.py", "x = 1\nx = 1\n", 1, 1).can_be_seen());
        assert!(FunctionLines::new("sea/dive.py", TEXT, 3, 5).can_be_seen());
    }
}
