//! Reports: an issue, a stack trace or the log of a test, read as a question.
//!
//! A report says where to look in several ways: words of its title and prose, names of symbols, paths and
//! frames of files, and texts that code has word for word. Each is read here as a value. Which paths are
//! files of the project, and which symbols it defines, is for the caller to find out.
//!
//! Left out: what trackers and templates add to every report, versions, and links to other places.
//!
//! Invariant: nothing here depends on a project, so a report reads the same everywhere.

mod frames;
mod lines;
mod names;
mod phrases;
mod resolve;
mod terms;

use crate::text::intent::Intent;
use crate::text::tokens::{ParsedQuery, fold_name};
use lines::{LineKind, ReportLine, read_lines};
pub use phrases::{Phrase, phrase_score, phrases_of_line};
pub use resolve::{PlaceResolver, ResolvedPlace, place_scores};
pub use terms::{Term, select_terms};

/// A report as a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IssueReport {
    /// Its first line.
    pub title: String,
    /// The title and the first prose, for a vector.
    pub summary: String,
    /// Words to search for, in the order of their first mention.
    pub terms: Vec<Term>,
    /// The most certain first.
    pub symbols: Vec<NamedSymbol>,
    /// Frames with the innermost first, then paths, then modules.
    pub places: Vec<NamedPlace>,
    pub phrases: Vec<Phrase>,
}

/// A symbol that a report names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSymbol {
    /// As the report writes it.
    pub name: String,
    /// In lower case, without underscores.
    pub folded: String,
    /// The enclosing name, folded the same way.
    pub scope: Option<String>,
    /// How sure the report is about it, about 1 at most.
    pub weight: f32,
}

/// A place in a file that a report names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    /// With `/`, as it is written otherwise: absolute, relative to anything, or a module's names.
    pub path: String,
    pub line: Option<u32>,
    pub function: Option<String>,
    pub source: PlaceSource,
}

/// Where a place was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceSource {
    Frame,
    Path,
    /// A dotted name, whose last parts may be symbols of the module.
    Module,
}

/// Characters of the summary. Vectors of longer texts are about everything.
const MAX_SUMMARY_CHARS: usize = 400;

/// One line with more characters is a report: nobody asks a question this long.
const MIN_REPORT_CHARS: usize = 300;

impl IssueReport {
    /// Whether a text is a report and not a question in a line.
    pub fn is_report(text: &str) -> bool {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        lines > 2 || text.chars().count() >= MIN_REPORT_CHARS
    }

    /// Reads a report. Its first line is the title.
    pub fn read(text: &str) -> Self {
        let lines = read_lines(text);
        let raw: Vec<&str> = text.lines().collect();
        let mut places = frames::read_frames(&raw);
        for place in names::read_places(&lines) {
            if places.iter().all(|known| !known.path.ends_with(&place.path)) {
                places.push(place);
            }
        }
        Self {
            title: title_of(&lines).to_owned(),
            summary: summarise(&lines),
            terms: terms::read_terms(&lines),
            symbols: names::read_symbols(&lines),
            places,
            phrases: phrases::read_phrases(&lines),
        }
    }

    /// The title as a query, for signals that compare few words with a path or a name.
    pub fn title_query(&self) -> ParsedQuery {
        ParsedQuery {
            names: Vec::new(),
            is_name: false,
            intent: Intent::of_report(),
            ..ParsedQuery::of(&self.title)
        }
    }

    /// How much a definition is one that the report names, from 0 to about 1.
    pub fn definition(&self, name: &str, enclosing: &str) -> f32 {
        /// Factors of a definition in another scope than the one named, and of one spelt otherwise.
        const OTHER_SCOPE: f32 = 0.5;
        const OTHER_SPELLING: f32 = 0.5;
        if name.is_empty() {
            return 0.0;
        }
        let folded = fold_name(name);
        let enclosing = fold_name(enclosing.rsplit('.').next().unwrap_or_default());
        let weigh = |symbol: &NamedSymbol| {
            let scope = match &symbol.scope {
                Some(scope) if *scope != enclosing => OTHER_SCOPE,
                _ => 1.0,
            };
            let spelling = if symbol.name == name { 1.0 } else { OTHER_SPELLING };
            symbol.weight * scope * spelling
        };
        self.symbols
            .iter()
            .filter(|symbol| symbol.folded == folded)
            .map(weigh)
            .fold(0.0, f32::max)
    }
}

fn title_of<'a>(lines: &[ReportLine<'a>]) -> &'a str {
    lines.first().map_or("", |line| line.text)
}

/// The title and the first prose.
fn summarise(lines: &[ReportLine<'_>]) -> String {
    let prose = lines
        .iter()
        .filter(|line| matches!(line.kind, LineKind::Title | LineKind::Prose));
    let mut summary = String::new();
    for line in prose {
        if summary.len() + line.text.len() > MAX_SUMMARY_CHARS && !summary.is_empty() {
            break;
        }
        summary.push_str(line.text);
        summary.push('\n');
    }
    summary.chars().take(MAX_SUMMARY_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Walrus.sink() loses its depth\n\n<!-- Thanks for reporting! -->\nWhen `read_depth` fails, the sea is lost.\n\n\
        ```\nTraceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/sea/cli.py\", line 3, in main\n    walrus.sink()\n  File \"/usr/lib/python3/site-packages/sea/walrus.py\", line 41, in sink\n    raise Lost(depth)\nsea.Lost: The depth of the walrus is not known\n```\n\n### Versions\nsea: 1.2.3\n";

    #[test]
    fn a_report_names_symbols_places_and_messages() {
        let report = IssueReport::read(REPORT);
        assert_eq!(report.title, "Walrus.sink() loses its depth");
        let places: Vec<&str> = report
            .places
            .iter()
            .map(|place| place.path.as_str())
            .take(2)
            .collect();
        assert_eq!(
            places,
            [
                "/usr/lib/python3/site-packages/sea/walrus.py",
                "/usr/lib/python3/site-packages/sea/cli.py"
            ]
        );
        let symbols: Vec<&str> = report
            .symbols
            .iter()
            .map(|one| one.name.as_str())
            .take(2)
            .collect();
        assert_eq!(symbols, ["sink", "read_depth"]);
        assert!(
            report
                .summary
                .starts_with("Walrus.sink() loses its depth\nWhen `read_depth`")
        );
        assert!(report.definition("sink", "sea.Walrus") > report.definition("sink", "sea.Seal"));
        assert!(
            report
                .terms
                .iter()
                .all(|term| !["thank", "version"].contains(&term.word.as_str()))
        );
    }

    #[test]
    fn a_question_in_a_line_is_no_report() {
        assert!(!IssueReport::is_report("how does the walrus sink"));
        assert!(!IssueReport::is_report("how does\nthe walrus sink"));
        assert!(IssueReport::is_report(REPORT));
    }
}
