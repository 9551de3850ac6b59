//! The words of a report, each with a weight by where it stands and how often.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lines::{LineKind, ReportLine};
use crate::text::tokens::words;

/// A word to search for.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub word: String,
    pub weight: f32,
}

/// A mention in the title counts most. Example code is about the reporter's program, and a stack trace about
/// many files.
fn weight_of(kind: LineKind) -> f32 {
    match kind {
        LineKind::Title => 2.0,
        LineKind::Prose => 1.0,
        LineKind::Code => 0.4,
        LineKind::Output => 0.3,
    }
}

/// Half of the most that repeats of a word can add up to.
const SATURATION: f32 = 3.0;

/// The terms of a report in the order of their first mention.
pub(super) fn read_terms(lines: &[ReportLine<'_>]) -> Vec<Term> {
    let mut order: Vec<String> = Vec::new();
    let mut sums: HashMap<String, f32> = HashMap::new();
    for line in lines {
        let weight = weight_of(line.kind);
        let is_prose = matches!(line.kind, LineKind::Title | LineKind::Prose);
        let text = without_links(line.text);
        let content = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !(is_prose && is_function_word(word)))
            .filter(|word| !(line.kind == LineKind::Prose && is_evidence_word(word)));
        for word in words(&content.collect::<Vec<_>>().join(" ")) {
            if word.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let sum = sums.entry(word.clone()).or_insert_with(|| {
                order.push(word);
                0.0
            });
            *sum += weight;
        }
    }
    let weigh = |sum: f32| sum * (1.0 + SATURATION) / (sum + SATURATION);
    order
        .into_iter()
        .map(|word| Term {
            weight: weigh(sums[&word]),
            word,
        })
        .collect()
}

/// The `most` terms that tell most: by weight and rarity. `frequencies` has for each term in how many of the
/// `total` documents it is; a term in none is left out. The order of the terms stays.
pub fn select_terms(terms: &[Term], frequencies: &[u64], total: u64, most: usize) -> Vec<Term> {
    let rarity = |frequency: u64| {
        let number = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        (1.0 + (number(total) - number(frequency) + 0.5).max(0.0) / (number(frequency) + 0.5)).ln()
    };
    let mut known: Vec<(usize, f64)> = terms
        .iter()
        .zip(frequencies)
        .enumerate()
        .filter(|(_, (_, frequency))| **frequency > 0)
        .map(|(at, (term, frequency))| (at, f64::from(term.weight) * rarity(*frequency)))
        .collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    known.truncate(most);
    known.sort_by_key(|(at, _)| *at);
    known.into_iter().map(|(at, _)| terms[at].clone()).collect()
}

/// The line without addresses, whose words are those of other places.
fn without_links(line: &str) -> String {
    let is_link = |word: &&str| !word.contains("://");
    line.split(' ').filter(is_link).collect::<Vec<_>>().join(" ")
}

/// Words for what a report is shown by. They would find tests and documents. In a title they are the topic.
fn is_evidence_word(word: &str) -> bool {
    [
        "test",
        "tests",
        "tested",
        "testing",
        "testcase",
        "doc",
        "docs",
        "documentation",
        "documented",
        "readme",
    ]
    .iter()
    .any(|other| other.eq_ignore_ascii_case(word))
}

/// Words of any English text, and words of any report.
fn is_function_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().collect());
    WORDS.contains(word.to_ascii_lowercase().as_str())
}

const FUNCTION_WORDS: &str = "
    about above actual actually after again all already also although always am another any anything
    aren because been before behavior behaviour being below between both bug but can cannot case cause
    causes code com correct correctly could currently describe described description did didn do does
    doesn doing don done due each easy either encounter encountered even every example examples expect
    expected fact far few find fine fix fixed following follows found further get gets getting give
    given gives go going good got guess had happen happens has hasn have having he hello help her here
    hi his how however http https idea instead into issue issues its just know last least let like
    likely look looks made make makes many may maybe me means might minimal more most much must my
    necessary need needed needs never new no not note nothing now often ok once one only other others
    otherwise our out over own perhaps please possible possibly probably problem problems produce
    produces proposed provide quite rather really reason related report reported reproduce reproduced
    result results right same say says see seem seems seen several she should shouldn show shows similar
    simple simply since so some something somehow still such suggest sure take takes than thank thanks
    their them then there therefore these they thing things think those though through thus too tried
    try trying two unfortunately until up us use used uses using very via want was wasn way we well were
    what when where whether which while who whole why will within without won work works working would
    wouldn wrong yes yet you your
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_weighs_more_than_example_code() {
        let line = |kind, text| ReportLine { kind, text };
        let terms = read_terms(&[
            line(LineKind::Title, "The walrus sinks"),
            line(
                LineKind::Prose,
                "It should not sink, see https://example.com/lost",
            ),
            line(LineKind::Code, "sea = Sea(12345)"),
        ]);
        let words: Vec<&str> = terms.iter().map(|term| term.word.as_str()).collect();
        assert_eq!(words, ["walrus", "sink", "sea"]);
        assert!(
            terms[1].weight > terms[0].weight && terms[0].weight > terms[2].weight,
            "{terms:?}"
        );
    }

    #[test]
    fn rare_terms_are_kept_in_their_order() {
        let terms: Vec<Term> = ["common", "rare", "absent", "rarest"]
            .map(|word| Term {
                word: word.to_owned(),
                weight: 1.0,
            })
            .to_vec();
        let kept = select_terms(&terms, &[90, 3, 0, 1], 100, 2);
        assert_eq!(
            kept.iter().map(|term| term.word.as_str()).collect::<Vec<_>>(),
            ["rare", "rarest"]
        );
    }
}
