//! Answers of `grep_codebase` over generated files: each line once, each match shown or counted.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A class with a method, as matches in both often are.
const CLASS: &str = "import x\n\nclass A:\n    x = 1\n\n    def f(self):\n        x()\n\n    y = x\n";

fn answer<'a>(text: &str, definitions: &[(usize, usize)], lines: &[usize]) -> GrepAnswer<'a> {
    let rows: Vec<&str> = text.lines().collect();
    let definition = |(first, last): &(usize, usize)| EnclosingDefinition {
        first: *first,
        last: *last,
        name_line: *first,
        name: format!("d{first}"),
    };
    let matched = |line: &usize| GrepMatch {
        line: *line,
        text: rows[line - 1].to_owned(),
    };
    GrepAnswer {
        pattern: "x",
        total: lines.len() as u64,
        files_searched: 1,
        context_lines: 0,
        files: vec![GrepFile {
            path: "a.py",
            total: lines.len() as u64,
            language: Language::Python,
            text: text.to_owned(),
            matches: lines.iter().map(matched).collect(),
            definitions: definitions.iter().map(definition).collect(),
        }],
        unread: Vec::new(),
        notices: &[],
        budget: 20_000,
    }
}

/// How often each line of the file is in an answer, and the number of matches that are only counted.
fn lines_in(answer: &str) -> (BTreeMap<usize, usize>, u64) {
    let mut lines = BTreeMap::new();
    let mut counted = 0;
    let mut next = 0;
    for line in answer.lines().skip(2) {
        if let Some(rest) = line.strip_prefix("… ") {
            if let Some((number, _)) = rest.split_once(" more ") {
                counted += number.parse::<u64>().unwrap();
            }
        } else if let Some((margin, _)) = line.split_once('\t') {
            next = margin.parse().unwrap_or(next);
            *lines.entry(next).or_default() += 1;
            next += 1;
        } else if let Some((number, _)) = line.split_once(": ") {
            *lines.entry(number.parse().unwrap()).or_default() += 1;
        }
    }
    (lines, counted)
}

#[test]
fn a_class_and_its_method_are_shown_once() {
    let answer = answer(CLASS, &[(3, 9), (6, 7)], &[1, 4, 7, 9]);
    assert_eq!(
        write(&answer),
        "4 matches in 1 file\na.py\n1\timport x\n\t\n3-9 d3\n3\tclass A:\n4\t    x = 1\n5\t\n\t    def f(self):\n\
         7\t        x()\n\t\n9\t    y = x\n"
    );
}

#[test]
fn lines_around_matches_of_neighbours_are_shown_once() {
    let mut answer = answer(CLASS, &[(3, 9), (6, 7)], &[1, 4, 7, 9]);
    answer.context_lines = 2;
    answer.unread = vec![("b.py", 2)];
    assert_eq!(
        write(&answer),
        "4 matches in 2 files\na.py\n1\timport x\n\t\n\tclass A:\n3-9 d3\n4\t    x = 1\n5\t\n\t    def f(self):\n\
         6-7 d6\n7\t        x()\n\t\n3-9 d3\n9\t    y = x\n… 2 more in 1 file: b.py 2\n"
    );
}

#[test]
fn an_empty_line_at_the_end_of_the_context_is_shown() {
    let mut answer = answer("a\nx\n\nb\n", &[], &[2]);
    answer.context_lines = 1;
    assert_eq!(write(&answer), "1 match in 1 file\na.py\n1\ta\n2\tx\n\t\n");
}

#[test]
fn matches_shown_as_context_are_not_counted_again() {
    let mut answer = answer(&"x\n".repeat(60), &[], &(1..=9).collect::<Vec<_>>());
    answer.context_lines = 2;
    answer.unread = vec![("b.py", 2)];
    let text = write(&answer);
    assert!(text.contains("\n8\tx\n… 1 more 9\n"), "{text}");
}

proptest! {
    #[test]
    fn each_line_is_shown_once_and_each_match_shown_or_counted(
        count in 1_usize..120,
        cuts in prop::collection::vec((1_usize..120, 1_usize..60, 1_usize..30), 0..5),
        matches in prop::collection::btree_set(1_usize..120, 1..12),
        context_lines in 0_usize..5,
        has_unread: bool,
        budget in 2_000_usize..20_000,
    ) {
        let text: String = (1..=count).map(|line| if line % 4 == 0 { "\n".to_owned() } else { format!("    line {line} x\n") }).collect();
        // Definitions beside each other, each with one inside.
        let mut definitions = Vec::new();
        let mut next = 1;
        for (gap, length, inner) in cuts {
            let (first, last) = (next + gap % 9, next + gap % 9 + length);
            if last > count { break; }
            definitions.push((first, last));
            definitions.push(((first + inner).min(last), last));
            next = last + 1;
        }
        let matches: Vec<usize> = matches.into_iter().filter(|line| *line <= count).collect();
        prop_assume!(!matches.is_empty());
        let mut answer = answer(&text, &definitions, &matches);
        answer.context_lines = context_lines;
        answer.budget = budget;
        if has_unread {
            answer.unread = vec![("b.py", 1)];
            answer.total += 1;
        }
        let shown = write(&answer);
        let (lines, counted) = lines_in(&shown);
        prop_assert!(lines.values().all(|times| *times == 1), "{shown}");
        let matching = matches.iter().filter(|line| lines.contains_key(line)).count() as u64;
        prop_assert_eq!(matching + counted, answer.total, "{}", shown);
        prop_assert!(length(&shown) <= budget, "{shown}");
    }
}
