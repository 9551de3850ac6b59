//! Tests of boosts: their factors, and the order within and across windows.

use proptest::prelude::*;

use super::*;

fn check(usage: Option<(i64, u64)>, same_module: bool, expected: [f64; 3]) {
    let usage = usage.map(|(age, times)| Usage { age, times });
    let boosts = BoostRules::default().boosts(usage, same_module);
    let factors = [boosts.recency, boosts.module, boosts.frequency];
    assert_eq!(format!("{factors:?}"), format!("{expected:?}"), "{usage:?}");
}

#[test]
fn each_boost_is_what_was_promised() {
    check(None, false, [1.0, 1.0, 1.0]);
    check(Some((0, 1)), false, [1.5, 1.0, 1.01]);
    check(Some((DAY, 15)), true, [1.5, 1.3, 1.15]);
    check(Some((DAY + 1, 20)), false, [1.2, 1.0, 1.2]);
    check(Some((WEEK, 50)), false, [1.2, 1.0, 1.5]);
    check(Some((WEEK + 1, 0)), true, [1.0, 1.3, 1.0]);
    check(Some((5, 5_000)), false, [1.5, 1.0, 1.5]);
}

#[test]
fn a_weight_of_one_turns_a_boost_off() {
    let off = BoostRules {
        recency_day: 1.0,
        recency_week: 1.0,
        module: 1.0,
        frequency: 1.0,
        ..BoostRules::default()
    };
    assert!((off.boosts(Some(Usage { age: 0, times: 90 }), true).product() - 1.0).abs() < f64::EPSILON);
}

/// A result with one boost. The others are off.
fn result(relevance: f64, recency: f64) -> UnboostedResult {
    UnboostedResult {
        relevance,
        boosts: Boosts {
            recency,
            module: 1.0,
            frequency: 1.0,
        },
        tier: 0,
    }
}

/// Position and score of each result in the final order.
fn order(results: &[UnboostedResult]) -> Vec<String> {
    let ordered = order_by_boosts(results, 0.15);
    let show = |one: &BoostedResult| format!("{} {:.3}", one.position, one.score);
    ordered.iter().map(show).collect()
}

#[test]
fn boosts_decide_between_close_results() {
    assert_eq!(
        order(&[result(0.62, 1.0), result(0.59, 1.5), result(0.585, 1.2)]),
        ["1 0.885", "2 0.702", "0 0.620"]
    );
}

#[test]
fn a_file_that_was_just_read_does_not_pass_a_better_answer() {
    assert_eq!(
        order(&[result(0.45, 1.95), result(0.62, 1.0)]),
        ["1 0.620", "0 0.620"]
    );
    assert_eq!(
        order(&[result(0.75, 1.0), result(0.51, 1.5), result(0.5, 1.0)]),
        ["0 0.750", "1 0.750", "2 0.500"]
    );
}

#[test]
fn a_window_is_measured_from_its_best_result() {
    // The third is close to the second, but not to the first, which opened the window.
    assert_eq!(
        order(&[result(0.6, 1.0), result(0.565, 1.0), result(0.55, 1.5)]),
        ["0 0.600", "1 0.565", "2 0.565"]
    );
}

#[test]
fn the_best_of_all_gains_its_whole_boost() {
    let ordered = order_by_boosts(&[result(0.6, 1.5), result(0.3, 1.0)], 0.15);
    assert!((ordered[0].boosts.recency - 1.5).abs() < f64::EPSILON);
    assert!((ordered[0].score - 0.9).abs() < 1e-12);
}

#[test]
fn a_lower_tier_comes_first() {
    let answer = result(1.0, 1.0);
    let other = UnboostedResult {
        tier: 1,
        ..result(0.95, 1.5)
    };
    assert_eq!(order(&[other, answer]), ["1 1.000", "0 1.000"]);
}

fn any_results() -> impl Strategy<Value = Vec<UnboostedResult>> {
    let any_result = (0.0_f64..1.0, 0.5_f64..2.0, 1.0_f64..1.3, 1.0_f64..1.5);
    let any_result = any_result.prop_map(|(relevance, recency, module, frequency)| UnboostedResult {
        relevance,
        boosts: Boosts {
            recency,
            module,
            frequency,
        },
        tier: 0,
    });
    prop::collection::vec(any_result, 0..40)
}

proptest! {
    #[test]
    fn every_result_has_one_place_and_scores_never_increase(results in any_results(), window in 0.0_f64..1.0) {
        let ordered = order_by_boosts(&results, window);
        let mut positions: Vec<usize> = ordered.iter().map(|one| one.position).collect();
        positions.sort_unstable();
        prop_assert_eq!(positions, (0..results.len()).collect::<Vec<_>>());
        prop_assert!(ordered.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn a_result_passes_only_results_within_the_window(results in any_results(), window in 0.0_f64..1.0) {
        let ordered = order_by_boosts(&results, window);
        for (at, one) in ordered.iter().enumerate() {
            let relevance = results[one.position].relevance;
            for passed in &ordered[at + 1..] {
                let better = results[passed.position].relevance;
                prop_assert!(relevance >= better * (1.0 - window) - 1e-12, "{relevance} passed {better}");
            }
        }
    }

    #[test]
    fn the_shown_factors_give_the_score(results in any_results(), window in 0.0_f64..1.0) {
        for one in order_by_boosts(&results, window) {
            let product = results[one.position].relevance * one.boosts.product();
            prop_assert!((product - one.score).abs() < 1e-9, "{product} {}", one.score);
        }
    }

    #[test]
    fn without_boosts_results_are_ordered_by_relevance(results in any_results(), window in 0.0_f64..1.0) {
        let plain: Vec<_> = results.iter().map(|one| result(one.relevance, 1.0)).collect();
        for one in order_by_boosts(&plain, window) {
            prop_assert!((one.score - plain[one.position].relevance).abs() < f64::EPSILON);
        }
    }
}
