//! Boosts: factors on a result's relevance that depend on the user, not on the query.
//!
//! A file that was shown recently, is in the module being worked in, or was shown often, comes first. How its
//! accesses are counted is left to the caller.

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
}

impl Default for BoostRules {
    fn default() -> Self {
        Self {
            recency_day: 1.5,
            recency_week: 1.2,
            module: 1.3,
            frequency: 1.5,
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
}

#[cfg(test)]
mod tests {
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
        };
        assert!((off.boosts(Some(Usage { age: 0, times: 90 }), true).product() - 1.0).abs() < f64::EPSILON);
    }
}
