//! The choice of lines: those with the largest sum of weights within the budget, found by dynamic
//! programming.
//!
//! A shown line yields its weight. A hidden line yields a part of its weight that falls with its distance to
//! the nearest shown line, because a reader of a nearby line opens the fold. Characters have a price; the
//! best selection for a price is found in one pass, and a search over prices finds the one that fills the
//! budget. What then remains is filled line by line.

/// The share of its weight that a hidden line yields, by its distance from the nearest shown line.
const NEARBY_YIELD: [f64; MAX_DISTANCE + 1] = [1.0, 0.5, 0.25, 0.2, 0.0, 0.0, 0.0];
const MAX_DISTANCE: usize = 6;
const PRICE_STEPS: usize = 30;

/// Lines to choose from, by row.
pub(super) struct Candidates<'a> {
    pub(super) weights: &'a [f64],
    /// Characters of each line, its end included.
    pub(super) costs: &'a [usize],
    /// Rows that are shown in any case.
    pub(super) signature: &'a [usize],
    pub(super) first_line: usize,
    pub(super) budget: usize,
}

pub(super) fn select_lines(candidates: &Candidates<'_>) -> Vec<bool> {
    let pass = Pass::new(candidates);
    let mut best = candidates.signature_only();
    // A character is never worth more than the heaviest line.
    let heaviest = candidates.weights.iter().fold(1e-9_f64, |a, b| a.max(*b));
    let (mut low, mut high) = ((heaviest * 1e-9).ln(), (heaviest * 20.0).ln());
    for _ in 0..PRICE_STEPS {
        let middle = f64::midpoint(low, high);
        let shown = pass.best_for_price(middle.exp());
        if candidates.chars(&shown) <= candidates.budget {
            best = shown;
            high = middle;
        } else {
            low = middle;
        }
    }
    candidates.fill(&mut best);
    best
}

impl Candidates<'_> {
    fn signature_only(&self) -> Vec<bool> {
        let mut shown = vec![false; self.weights.len()];
        for row in self.signature {
            shown[*row] = true;
        }
        shown
    }

    /// Characters of the folded form.
    fn chars(&self, shown: &[bool]) -> usize {
        let (mut chars, mut row) = (0, 0);
        for run in shown.chunk_by(|a, b| a == b) {
            chars += if run[0] {
                self.costs[row..row + run.len()].iter().sum()
            } else {
                self.marker_chars(row, run.len())
            };
            row += run.len();
        }
        chars
    }

    /// Characters of `… 24 lines 310-333` and the end of its line.
    fn marker_chars(&self, row: usize, count: usize) -> usize {
        let first = self.first_line + row;
        11 + digits(count) + digits(first) + digits(first + count - 1)
    }

    /// Shows further lines, those with most weight for their characters first, while they fit.
    fn fill(&self, shown: &mut [bool]) {
        let mut left = self.budget.saturating_sub(self.chars(shown));
        let mut order: Vec<usize> = (0..shown.len()).filter(|row| !shown[*row]).collect();
        let worth = |row: &usize| self.weights[*row] / (count_f64(self.costs[*row]));
        order.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.cmp(b)));
        for row in order {
            let Some(cost) = self.added_chars(shown, row) else {
                continue;
            };
            if cost <= left {
                left -= cost;
                shown[row] = true;
            }
        }
    }

    /// Characters that showing a line adds beside a shown one; `None` in the middle of a fold, which would
    /// be split.
    fn added_chars(&self, shown: &[bool], row: usize) -> Option<usize> {
        let above = row == 0 || shown[row - 1];
        let below = row + 1 == shown.len() || shown[row + 1];
        match (above, below) {
            (true, true) => Some(self.costs[row].saturating_sub(self.marker_chars(row, 1))),
            // The shorter fold may have one digit more or less.
            (true, false) | (false, true) => Some(self.costs[row] + 1),
            (false, false) => None,
        }
    }
}

/// The parts of the sums that do not depend on the price.
struct Pass<'a> {
    candidates: &'a Candidates<'a>,
    /// By row and distance: what the hidden lines after it yield, up to that distance.
    after: Vec<[f64; MAX_DISTANCE + 1]>,
    /// The same for the hidden lines before it.
    before: Vec<[f64; MAX_DISTANCE + 1]>,
    marker: f64,
    /// By row: the last signature row before it.
    fixed_before: Vec<Option<usize>>,
}

impl<'a> Pass<'a> {
    fn new(candidates: &'a Candidates<'a>) -> Self {
        let weights = candidates.weights;
        let count = weights.len();
        let mut fixed_before = Vec::with_capacity(count + 1);
        let mut last = None;
        for row in 0..=count {
            fixed_before.push(last);
            if candidates.signature.contains(&row) {
                last = Some(row);
            }
        }
        let sums = |weight_at: &dyn Fn(usize) -> Option<f64>| {
            let mut sums = [0.0; MAX_DISTANCE + 1];
            for distance in 1..=MAX_DISTANCE {
                let weight = weight_at(distance).unwrap_or_default();
                sums[distance] = sums[distance - 1] + weight * NEARBY_YIELD[distance];
            }
            sums
        };
        let after = (0..count).map(|row| sums(&|distance| weights.get(row + distance).copied()));
        let before =
            (0..count).map(|row| sums(&|distance| row.checked_sub(distance).map(|row| weights[row])));
        Self {
            candidates,
            after: after.collect(),
            before: before.collect(),
            marker: count_f64(candidates.marker_chars(count / 2, 12.min(count))),
            fixed_before,
        }
    }

    /// The best selection if each character costs `price`.
    fn best_for_price(&self, price: f64) -> Vec<bool> {
        let count = self.candidates.weights.len();
        let marker = self.marker * price;
        // By row: the best sum up to a shown row, and the shown row before it.
        let mut sums = vec![f64::NEG_INFINITY; count];
        let mut previous: Vec<Option<usize>> = vec![None; count];
        // The best row for a fold so long that its middle yields nothing.
        let mut far: Option<(f64, usize)> = None;
        let mut next_far = 0;
        for row in 0..=count {
            let fixed = self.fixed_before[row];
            while next_far + 2 * MAX_DISTANCE < row {
                let sum = sums[next_far] + self.after[next_far][MAX_DISTANCE];
                if far.is_none_or(|(best, at)| sum > best || fixed.is_some_and(|fixed| at < fixed)) {
                    far = Some((sum, next_far));
                }
                next_far += 1;
            }
            let before = |distance: usize| self.before.get(row).map_or(0.0, |before| before[distance]);
            let mut best = (f64::NEG_INFINITY, None);
            if fixed.is_none() && row > 0 {
                best = (before(MAX_DISTANCE.min(row)) - marker, None);
            } else if row == 0 {
                best = (0.0, None);
            }
            if let Some((sum, at)) = far.filter(|(_, at)| fixed.is_none_or(|fixed| *at >= fixed)) {
                let sum = sum + before(MAX_DISTANCE) - marker;
                if sum > best.0 {
                    best = (sum, Some(at));
                }
            }
            let nearest = row
                .saturating_sub(2 * MAX_DISTANCE)
                .max(fixed.unwrap_or_default());
            for (at, sum) in sums.iter().enumerate().take(row).skip(nearest) {
                let hidden = row - at - 1;
                let mut sum = *sum;
                if hidden > 0 {
                    // Below the last line there is no shown one.
                    let half = if row == count { 0 } else { hidden / 2 };
                    sum += self.after[at][(hidden - half).min(MAX_DISTANCE)] + before(half) - marker;
                }
                if sum > best.0 {
                    best = (sum, Some(at));
                }
            }
            if row == count {
                return path_to(best.1, &previous);
            }
            sums[row] = best.0 + self.candidates.weights[row] - price * count_f64(self.candidates.costs[row]);
            previous[row] = best.1;
        }
        Vec::new()
    }
}

/// The shown rows, followed back from the last.
fn path_to(last: Option<usize>, previous: &[Option<usize>]) -> Vec<bool> {
    let mut shown = vec![false; previous.len()];
    let mut at = last;
    while let Some(row) = at {
        shown[row] = true;
        at = previous[row];
    }
    shown
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or_default() as usize + 1
}

#[expect(clippy::cast_precision_loss, reason = "counts of characters are below 2^52")]
fn count_f64(count: usize) -> f64 {
    count as f64
}
