//! The compact answer of `context_search`.
//!
//! Each result has a header `path:start-end kind Scoped.name score`. Below it are its lines, whole or folded,
//! or its head with the lines that match the query best, or nothing, as room allows.
//!
//! The room is spent in three steps. The best result gets a share for its code. Then as many results as fit
//! are listed with their heads, because a function that is not listed cannot be found: the first of a file
//! with a header, the others below it on one line each. The rest of the room goes to lines that match.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use docent_core::fold::{Focus, FoldBudget, FoldedPart, fold};
use docent_core::language::Language;
use docent_core::text::tokens::{ParsedQuery, words};

use super::{count_of, fold_marker, line_range, number_lines, place};
use crate::markdown::{cut, length};

/// A search with its results, the best first.
pub(crate) struct FoundParts<'a> {
    pub(crate) query: &'a str,
    pub(crate) parts: Vec<FoundPart>,
    /// Results that were found, before the limit.
    pub(crate) total: usize,
    /// Why there is no result.
    pub(crate) message: Option<String>,
    pub(crate) notices: Vec<String>,
}

/// One result.
#[derive(Default)]
pub(crate) struct FoundPart {
    /// Path and lines, or a commit.
    pub(crate) source: FoundIn,
    /// The words of the header between the place and the score: kind, name, and what is special about it.
    pub(crate) about: String,
    /// The linked project it is in. Empty for the caller's own.
    pub(crate) project: String,
    pub(crate) score: f64,
    /// Its factors, if they were asked for.
    pub(crate) ranking: Option<String>,
    pub(crate) text: String,
    pub(crate) language: Option<Language>,
    /// The line of its head and that line, if it is a definition.
    pub(crate) head: Option<(usize, String)>,
    /// Lines of the definitions that begin inside it.
    pub(crate) inner: Vec<RangeInclusive<usize>>,
}

/// The source of a result's text.
pub(crate) enum FoundIn {
    Code {
        path: String,
        first: usize,
        last: usize,
    },
    /// A decision, rule, pattern or issue. Its text is prose.
    Discovery(String),
}

impl Default for FoundIn {
    fn default() -> Self {
        Self::Discovery(String::new())
    }
}

/// Share of the room for the code of the best result, in percent.
const BODY_PERCENT: usize = 30;

/// Characters of the code of one result, even if there is room for more.
const MAX_BODY_CHARS: usize = 3_000;

/// The longest single line that is shown.
const MAX_LINE_CHARS: usize = 140;

/// Characters of a discovery's text.
const MAX_DISCOVERY_CHARS: usize = 240;

/// Files that are listed with a matching line from the start. Those after them get one if room is left.
const MAX_SECTIONS_WITH_LINE: usize = 4;

/// Matching lines of a result whose code is not shown.
const MAX_MATCHING_LINES: usize = 4;

/// Characters of the line that counts the results left out.
const LEFT_OUT_CHARS: usize = 60;

/// Writes the answer within `room` characters.
pub(crate) fn write(found: &FoundParts<'_>, room: usize) -> String {
    let mut tail = String::new();
    if let Some(message) = &found.message {
        let _ = writeln!(tail, "{message}");
    }
    for notice in &found.notices {
        let _ = writeln!(tail, "note: {notice}");
    }
    let reserved = length(&tail) + LEFT_OUT_CHARS;
    let scored = LineScores::new(found);
    let shown = share_room(found, &scored, room.saturating_sub(reserved));
    let mut text = String::new();
    for (at, section) in shown.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&section.text);
        text.push_str(&section.others);
    }
    let count: usize = shown.iter().map(|section| section.count).sum();
    if count < found.parts.len() {
        let _ = writeln!(
            text,
            "… {} of {}; maxChars shows more",
            count,
            count_of(found.total, "result", "results")
        );
    }
    text.push_str(&tail);
    cut(text.trim_end(), room, "\n… cut")
}

/// A result with the further results of its file, which need no header.
struct Section {
    part: usize,
    text: String,
    others: String,
    /// Results in it.
    count: usize,
}

/// The sections that fit, the best first, each with the lines that fit.
fn share_room(found: &FoundParts<'_>, scored: &LineScores, room: usize) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut left = room;
    for (part, one) in found.parts.iter().enumerate() {
        let same_file = sections
            .iter()
            .position(|section| found.parts[section.part].shares_file_with(one));
        let text = match same_file {
            Some(_) => one.write_row(scored, part),
            None if part == 0 => one.write_with_code(
                found.query,
                (room * BODY_PERCENT / 100).min(MAX_BODY_CHARS),
                scored,
                0,
            ),
            None => one.write_brief(scored, part, usize::from(sections.len() < MAX_SECTIONS_WITH_LINE)),
        };
        let cost = length(&text);
        if cost + 1 > left && part > 0 {
            break;
        }
        left = left.saturating_sub(cost + 1);
        match same_file {
            Some(at) => {
                sections[at].others.push_str(&text);
                sections[at].count += 1;
            }
            None => sections.push(Section {
                part,
                text,
                others: String::new(),
                count: 1,
            }),
        }
    }
    spend_rest(found, scored, &mut sections, left);
    sections
}

/// Gives the room that is left to lines that match, the best results first, and then to the code of the best.
fn spend_rest(found: &FoundParts<'_>, scored: &LineScores, sections: &mut [Section], mut left: usize) {
    for lines in 1..=MAX_MATCHING_LINES {
        for section in sections.iter_mut().skip(1) {
            let longer = found.parts[section.part].write_brief(scored, section.part, lines);
            section.lengthen(longer, &mut left);
        }
    }
    for section in sections {
        let room = (length(&section.text) + left).min(MAX_BODY_CHARS);
        let longer = found.parts[section.part].write_with_code(found.query, room, scored, section.part);
        section.lengthen(longer, &mut left);
    }
}

impl Section {
    /// Takes the longer text if there is room for it.
    fn lengthen(&mut self, longer: String, left: &mut usize) {
        let added = length(&longer).saturating_sub(length(&self.text));
        if added > 0 && added <= *left {
            *left -= added;
            self.text = longer;
        }
    }
}

impl FoundPart {
    fn header(&self) -> String {
        let place = match &self.source {
            FoundIn::Code { path, first, last } => place(path, *first, *last),
            FoundIn::Discovery(place) => place.clone(),
        };
        let mut header = place;
        if !self.about.is_empty() {
            let _ = write!(header, " {}", self.about);
        }
        if !self.project.is_empty() {
            let _ = write!(header, " in {}", self.project);
        }
        let _ = writeln!(header, " {:.2}", self.score);
        if let Some(ranking) = &self.ranking {
            let _ = writeln!(header, "{ranking}");
        }
        header
    }

    /// Whether another result can be listed below this one, without a header. An explained one has its own.
    fn shares_file_with(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (FoundIn::Code { path, .. }, FoundIn::Code { path: others, .. }) => {
                path == others && self.project == other.project && other.ranking.is_none()
            }
            _ => false,
        }
    }

    /// Its lines and its head, or its best line: `551-572: def add_task_queue(self, queue,`.
    fn write_row(&self, scored: &LineScores, at: usize) -> String {
        let FoundIn::Code { first, last, .. } = self.source else {
            return self.write_brief(scored, at, 0);
        };
        let row = scored.best_lines(at, 1).first().copied().unwrap_or_default();
        let line = match &self.head {
            Some((_, head)) => head,
            None => self.text.lines().nth(row).unwrap_or_default(),
        };
        format!(
            "{}: {}\n",
            line_range(first, last),
            cut(line.trim(), MAX_LINE_CHARS, "…")
        )
    }

    /// Header, head, and at most `lines` lines that match.
    fn write_brief(&self, scored: &LineScores, at: usize, lines: usize) -> String {
        let mut text = self.header();
        let FoundIn::Code { first, .. } = self.source else {
            let _ = writeln!(text, "{}", self.shorten_prose());
            return text;
        };
        let mut numbers: Vec<usize> = scored
            .best_lines(at, lines)
            .into_iter()
            .map(|row| first + row)
            .collect();
        for number in numbers.clone() {
            let innermost = self.inner.iter().filter(|inner| inner.contains(&number));
            if let Some(inner) = innermost.min_by_key(|inner| inner.end() - inner.start()) {
                numbers.push(*inner.start());
            }
        }
        if let Some((head, _)) = &self.head {
            numbers.push(*head);
        } else if numbers.is_empty() {
            numbers.push(first);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let rows: Vec<&str> = self.text.lines().collect();
        for number in numbers {
            let line = match &self.head {
                Some((head, line)) if number == *head => Some(line.as_str()),
                _ => number.checked_sub(first).and_then(|row| rows.get(row).copied()),
            };
            if let Some(line) = line.map(str::trim).filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "{number}: {}", cut(line, MAX_LINE_CHARS, "…"));
            }
        }
        text
    }

    /// Header and lines, folded to fit into `room` characters; brief if even that is too long.
    fn write_with_code(&self, query: &str, room: usize, scored: &LineScores, at: usize) -> String {
        let FoundIn::Code { first, .. } = self.source else {
            return self.write_brief(scored, at, 0);
        };
        let header = self.header();
        let mut start = header.clone();
        if let Some((head, line)) = self.head.as_ref().filter(|(head, _)| *head < first) {
            let _ = writeln!(start, "{head}: {}", cut(line.trim(), MAX_LINE_CHARS, "…"));
        }
        let whole = number_lines(first, &self.text, |_| false);
        if length(&start) + length(&whole) <= room {
            return start + &whole;
        }
        let language = self.language.unwrap_or(Language::PlainText);
        // A margin costs about two characters a line, which the fold does not count.
        let budget = room.saturating_sub(length(&start)) * 9 / 10;
        let focus = Focus {
            question: query,
            ..Focus::default()
        };
        let parts = fold(&self.text, first, language, &focus, FoldBudget::Chars(budget));
        let rows: Vec<&str> = self.text.lines().collect();
        let mut body = String::new();
        for part in parts {
            let (from, to) = part.lines().clone().into_inner();
            match part {
                FoldedPart::Shown(_) => {
                    let shown = rows.get(from - first..=to - first).unwrap_or_default();
                    // The line end keeps an empty last line.
                    body.push_str(&number_lines(from, &(shown.join("\n") + "\n"), |_| false));
                }
                FoldedPart::Folded(_) => {
                    let _ = writeln!(body, "{}", fold_marker(from, to));
                }
            }
        }
        if length(&start) + length(&body) <= room {
            return start + &body;
        }
        self.write_brief(scored, at, MAX_MATCHING_LINES)
    }

    /// The text of a discovery on one line.
    fn shorten_prose(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        cut(&text, MAX_DISCOVERY_CHARS, "…")
    }
}

/// How well each line of each result matches the query.
struct LineScores {
    /// By result and row: the query's words in the line, by their position in the query.
    matches: Vec<Vec<Vec<usize>>>,
    /// By position in the query: the rarer a word is among the results' lines, the more.
    weights: Vec<f64>,
}

impl LineScores {
    fn new(found: &FoundParts<'_>) -> Self {
        let query = ParsedQuery::of(found.query);
        let matching = |line: &str| -> Vec<usize> {
            let line: HashSet<String> = words(line).into_iter().collect();
            let in_line = |(at, word): (usize, &String)| line.contains(word).then_some(at);
            query.words.iter().enumerate().filter_map(in_line).collect()
        };
        let matches: Vec<Vec<Vec<usize>>> = found
            .parts
            .iter()
            .map(|part| part.text.lines().map(matching).collect())
            .collect();
        let lines = matches.iter().flatten();
        let weight = |word: usize| {
            let count = lines.clone().filter(|line| line.contains(&word)).count();
            1.0 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
                .max(1.0)
                .sqrt()
        };
        let weights = (0..query.words.len()).map(weight).collect();
        Self { matches, weights }
    }

    /// The rows of a result that add most words of the query, at most `count`, each by what it adds to those
    /// before it. A word that was shown counts a quarter, so that lines with other words come first.
    fn best_lines(&self, part: usize, count: usize) -> Vec<usize> {
        const SEEN_FACTOR: f64 = 0.25;
        let rows = &self.matches[part];
        let mut seen: HashSet<usize> = HashSet::new();
        let mut best: Vec<usize> = Vec::new();
        while best.len() < count {
            let score = |row: usize| -> f64 {
                let weigh =
                    |word: &usize| self.weights[*word] * if seen.contains(word) { SEEN_FACTOR } else { 1.0 };
                rows[row].iter().map(weigh).sum()
            };
            let candidates = (0..rows.len()).filter(|row| !rows[*row].is_empty() && !best.contains(row));
            // The first of equals.
            let Some(row) = candidates.rev().max_by(|a, b| score(*a).total_cmp(&score(*b))) else {
                break;
            };
            seen.extend(&rows[row]);
            best.push(row);
        }
        best
    }
}

/// The note behind a header of a chunk that is a part of a definition: `part 2 of 3 of 380-520`.
pub(crate) fn part_of(part: usize, parts: usize, first: usize, last: usize) -> String {
    format!("part {part} of {parts} of {}", line_range(first, last))
}
