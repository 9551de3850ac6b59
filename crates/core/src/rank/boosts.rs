//! Boosts: factors on a result's relevance that depend on the user, not on the query.
//!
//! A file that was read recently, is in the module being worked in, or was read often, comes first among
//! results that answer the query about equally well. How its accesses are counted is left to the caller.
//!
//! Windows keep the work of one question from deciding the next one. Results are sorted by relevance. The
//! first one opens a window, to which all results belong whose score is at most [`BoostRules::window`]
//! below its own; the next result opens the next window. Boosts reorder results inside a window, and never
//! across windows. Only closeness is judged, so an unrelated file that was just read cannot pass a better
//! answer.
//!
//! The score of a result is its relevance times its boosts, limited to the range of its window: at most the
//! lowest score of the window before it, and at least the best relevance of the window behind it. If the
//! limit acts, all three factors are lowered in proportion (of their logarithms), so that their product is
//! exact.
//!
//! Invariant: scores never increase along the order, and equal results keep their order.

/// How large each boost is. 1 turns it off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostRules {
    /// Multiplies results of files accessed in the last 24 hours: the current task goes on there.
    pub recency_day: f64,
    /// Multiplies results of files accessed in the last 7 days.
    pub recency_week: f64,
    /// Multiplies results in the module being worked in.
    pub module: f64,
    /// Upper bound of the frequency boost, so that a file that is read all the time does not win every
    /// search.
    pub frequency: f64,
    /// How far below the best score of its window the score of a result may be, as a fraction. At 0, boosts
    /// decide between equals only; at 1, all results are in one window.
    pub window: f64,
}

impl Default for BoostRules {
    fn default() -> Self {
        Self {
            recency_day: 1.5,
            recency_week: 1.2,
            module: 1.3,
            frequency: 1.5,
            window: 0.15,
        }
    }
}

/// The accesses of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Seconds since the last access.
    pub age: i64,
    /// Accesses in the last 7 days.
    pub times: u64,
}

/// The boosts of one result, each a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boosts {
    pub recency: f64,
    pub module: f64,
    pub frequency: f64,
}

/// A result before it is boosted.
#[derive(Clone, Copy, Debug)]
pub struct UnboostedResult {
    /// By the query alone, from 0 to 1.
    pub relevance: f64,
    pub boosts: Boosts,
    /// Results of a lower tier come before all of a higher one, whatever their relevance and boosts.
    pub tier: u8,
}

/// The place of a result in the final order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostedResult {
    /// Its position among the results before they were boosted.
    pub position: usize,
    /// The factors that acted.
    pub boosts: Boosts,
    /// The final score: relevance times the factors that acted.
    pub score: f64,
}

/// In seconds.
pub const DAY: i64 = 24 * 60 * 60;
pub const WEEK: i64 = 7 * DAY;

/// Accesses at which the frequency boost would be 2, without its upper bound.
const DOUBLING_ACCESSES: f64 = 100.0;

impl BoostRules {
    /// The boosts of a result in a file with these accesses.
    pub fn boosts(&self, usage: Option<Usage>, same_module: bool) -> Boosts {
        let recency = match usage {
            Some(Usage { age, .. }) if age <= DAY => self.recency_day,
            Some(Usage { age, .. }) if age <= WEEK => self.recency_week,
            _ => 1.0,
        };
        let times = usage.map_or(0, |usage| usage.times);
        let times = f64::from(u32::try_from(times).unwrap_or(u32::MAX));
        Boosts {
            recency,
            module: if same_module { self.module } else { 1.0 },
            frequency: (1.0 + times / DOUBLING_ACCESSES).min(self.frequency.max(1.0)),
        }
    }
}

impl Boosts {
    /// The factor by which they multiply a result's relevance.
    pub fn product(&self) -> f64 {
        self.recency * self.module * self.frequency
    }

    /// The same boosts, lowered or raised in proportion so that their product is `target`.
    fn with_product(self, target: f64) -> Self {
        let product = self.product();
        if product.to_bits() == target.to_bits() {
            return self;
        }
        let share = target.ln() / product.ln();
        // Without a boost there is no proportion: the logarithm of 1 cannot be divided by.
        if !share.is_finite() {
            return self;
        }
        Self {
            recency: self.recency.powf(share),
            module: self.module.powf(share),
            frequency: self.frequency.powf(share),
        }
    }
}

/// The final order of results: by tier, then by window, then by relevance times boosts.
pub fn order_by_boosts(results: &[UnboostedResult], window: f64) -> Vec<BoostedResult> {
    let mut sorted: Vec<usize> = (0..results.len()).collect();
    sorted.sort_by(|&a, &b| {
        let (a, b) = (&results[a], &results[b]);
        a.tier
            .cmp(&b.tier)
            .then_with(|| b.relevance.total_cmp(&a.relevance))
    });
    let mut ordered = Vec::with_capacity(results.len());
    let mut ceiling = f64::INFINITY;
    let mut rest = sorted.as_slice();
    while let Some(&best) = rest.first() {
        let best = &results[best];
        let floor = lowest_close_relevance(best.relevance, window);
        let is_inside = |&&at: &&usize| results[at].tier == best.tier && results[at].relevance >= floor;
        let (inside, behind) = rest.split_at(rest.iter().take_while(is_inside).count().max(1));
        let behind_best = behind.first().map_or(0.0, |&at| results[at].relevance);
        let scored = boost_window(results, inside, behind_best.min(ceiling), ceiling);
        ceiling = scored.last().map_or(ceiling, |last| last.score);
        ordered.extend(scored);
        rest = behind;
    }
    ordered
}

/// The lowest relevance that is close to `best`.
///
/// Closeness is a share of the score that a relevance was made of, because [`fusion::saturate`] squeezes high
/// scores together: relevances of 0.60 and 0.51 are scores of 1.5 and 1.04.
///
/// [`fusion::saturate`]: super::fusion::saturate
fn lowest_close_relevance(best: f64, window: f64) -> f64 {
    let share = 1.0 - window;
    if best >= 1.0 {
        return share;
    }
    let score = share * best / (1.0 - best);
    score / (score + 1.0)
}

/// The results of one window, ordered, with scores from `floor` to `ceiling`.
fn boost_window(
    results: &[UnboostedResult],
    inside: &[usize],
    floor: f64,
    ceiling: f64,
) -> Vec<BoostedResult> {
    let boosted = |at: usize| results[at].relevance * results[at].boosts.product();
    let mut inside = inside.to_vec();
    inside.sort_by(|&a, &b| boosted(b).total_cmp(&boosted(a)));
    let limit = |position: usize| {
        let UnboostedResult {
            relevance, boosts, ..
        } = results[position];
        let score = boosted(position).clamp(floor, ceiling);
        BoostedResult {
            position,
            boosts: if relevance > 0.0 {
                boosts.with_product(score / relevance)
            } else {
                boosts
            },
            score,
        }
    };
    inside.into_iter().map(limit).collect()
}

#[cfg(test)]
mod tests;
