//! Folded functions: what is always shown, what fits, and properties over generated text.

use proptest::prelude::*;

use super::*;

const LANGUAGES: [Language; 5] = [
    Language::Python,
    Language::Rust,
    Language::TypeScript,
    Language::Go,
    Language::PlainText,
];

/// A function of a hundred lines with one line about retries.
fn long_function() -> String {
    let mut text = String::from("def deliver(queue, limit):\n    \"\"\"Deliver what is queued.\"\"\"\n");
    for number in 0..48 {
        text += &format!("    value_{number} = queue.take(limit)\n    emit(value_{number})\n");
        if number == 30 {
            text += "    if attempts > limit: retry_later(queue)\n";
        }
    }
    text + "    return queue\n"
}

fn shown_lines(parts: &[FoldedPart]) -> Vec<usize> {
    let shown = parts.iter().filter(|part| part.is_shown());
    shown.flat_map(|part| part.lines().clone()).collect()
}

/// Characters of the folded form.
fn folded_chars(text: &str, first_line: usize, parts: &[FoldedPart]) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let chars_of = |part: &FoldedPart| {
        let (first, last) = (*part.lines().start(), *part.lines().end());
        if part.is_shown() {
            let shown = &lines[first - first_line..=last - first_line];
            return shown.iter().map(|line| line.chars().count() + 1).sum();
        }
        format!("… {} lines {first}-{last}\n", last - first + 1)
            .chars()
            .count()
    };
    parts.iter().map(chars_of).sum()
}

fn assert_partition(parts: &[FoldedPart], first_line: usize, count: usize) {
    let mut next = first_line;
    for part in parts {
        assert_eq!(*part.lines().start(), next);
        assert!(part.lines().end() >= part.lines().start(), "a part has a line");
        next = part.lines().end() + 1;
    }
    assert_eq!(next, first_line + count, "every line is in a part");
    assert!(
        parts
            .windows(2)
            .all(|pair| pair[0].is_shown() != pair[1].is_shown())
    );
}

fn fold_by_share(text: &str, language: Language, focus: &Focus<'_>, share: f32) -> Vec<FoldedPart> {
    fold(text, 1, language, focus, FoldBudget::Share(share))
}

#[test]
fn shows_signature_documentation_and_matching_lines() {
    let text = long_function();
    let focus = Focus {
        question: "when does it retry",
        ..Focus::default()
    };
    for share in [0.1, 0.2, 0.35] {
        let shown = shown_lines(&fold_by_share(&text, Language::Python, &focus, share));
        let retry = text.lines().position(|line| line.contains("retry")).unwrap() + 1;
        assert!(
            [1, 2, retry].iter().all(|line| shown.contains(line)),
            "{share} {shown:?}"
        );
    }
}

#[test]
fn shows_given_lines_with_lines_around_them() {
    let text = long_function();
    let focus = Focus {
        lines: &[140, 170],
        ..Focus::default()
    };
    let parts = fold(&text, 101, Language::Python, &focus, FoldBudget::Chars(700));
    let shown = shown_lines(&parts);
    assert!(
        (138..=142).chain(168..=172).all(|line| shown.contains(&line)),
        "{shown:?}"
    );
}

#[test]
fn hides_no_long_run_within_a_third_of_the_characters() {
    let parts = fold_by_share(&long_function(), Language::Python, &Focus::default(), 0.35);
    let longest = parts
        .iter()
        .filter(|part| !part.is_shown())
        .map(|part| part.lines().clone().count());
    assert!(longest.max().unwrap() <= 10);
}

#[test]
fn a_text_within_the_budget_is_shown_whole() {
    let parts = fold(
        "a\nb\n",
        7,
        Language::PlainText,
        &Focus::default(),
        FoldBudget::Chars(4),
    );
    assert_eq!(parts, [FoldedPart::Shown(7..=8)]);
    assert!(fold("", 1, Language::Rust, &Focus::default(), FoldBudget::Chars(0)).is_empty());
}

#[test]
fn comments_are_shown_if_the_question_is_about_wording() {
    let mut text = long_function();
    let comment = "    # Teh quick way out.\n";
    text.insert_str(text.find("    value_20").unwrap(), comment);
    let row = text.lines().position(|line| line.contains("Teh")).unwrap() + 1;
    let focus = Focus {
        question: "fix typos",
        ..Focus::default()
    };
    assert!(shown_lines(&fold_by_share(&text, Language::Python, &focus, 0.2)).contains(&row));
}

#[test]
fn hostile_texts_are_bounded() {
    let nested_brackets = "{\n".repeat(10_000) + &"}\n".repeat(10_000);
    let nested_blocks: String = (0..2_000).map(|depth| " ".repeat(depth) + "if x:\n").collect();
    let texts = [
        "x".repeat(1 << 20),
        format!("fn f() {{\n{}\n}}\n", "a, ".repeat(350_000)),
        "let a = b(c);\n".repeat(100_000),
        "\n".repeat(100_000),
        "`\n`;\n".repeat(50_000),
        nested_brackets,
        nested_blocks,
    ];
    for text in &texts {
        for language in LANGUAGES {
            let parts = fold_by_share(text, language, &Focus::default(), 0.35);
            assert_partition(&parts, 1, text.lines().count());
        }
    }
}

proptest! {
    #[test]
    fn every_line_is_in_one_part_within_the_budget(
        lines in proptest::collection::vec("[ \t]{0,8}(if |for |return |# |)[a-z_(){}:=\",é]{0,30}", 0..120),
        question in "[a-z_ ]{0,20}",
        given in proptest::collection::vec(0_usize..300, 0..5),
        first_line in 1_usize..2_000,
        share in 0.0_f32..1.0,
        language in proptest::sample::select(&LANGUAGES[..]),
    ) {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let focus = Focus { question: &question, lines: &given };
        let parts = fold(&text, first_line, language, &focus, FoldBudget::Share(share));
        assert_partition(&parts, first_line, lines.len());
        prop_assert_eq!(&parts, &fold(&text, first_line, language, &focus, FoldBudget::Share(share)));
        let budget = FoldBudget::Share(share).chars(text.chars().count());
        let least = fold(&text, first_line, language, &focus, FoldBudget::Chars(0));
        let allowed = budget.max(folded_chars(&text, first_line, &least));
        prop_assert!(folded_chars(&text, first_line, &parts) <= allowed);
    }
}
