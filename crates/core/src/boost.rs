//! What somebody works on comes first: how much more a result counts for when, where and how often its file was read.

/// How much each boost may give. 1 turns it off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostRules {
    /// Read in the last 24 hours.
    pub day: f64,
    /// Read in the last 7 days.
    pub week: f64,
    /// In the module being worked in.
    pub module: f64,
    /// The most that frequent reading can give.
    pub frequency: f64,
}

impl Default for BoostRules {
    fn default() -> Self {
        Self {
            day: 1.5,
            week: 1.2,
            module: 1.3,
            frequency: 1.5,
        }
    }
}

/// How a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Seconds since the last time.
    pub age: i64,
    /// In the last 7 days.
    pub times: u64,
}

/// The factors of one result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boosts {
    pub recency: f64,
    pub module: f64,
    pub frequency: f64,
}

pub const DAY: i64 = 24 * 60 * 60;
pub const WEEK: i64 = 7 * DAY;

/// Reads that would double a result, if frequency could.
const DOUBLING: f64 = 100.0;

impl BoostRules {
    pub fn boosts(&self, usage: Option<Usage>, same_module: bool) -> Boosts {
        let recency = match usage {
            Some(Usage { age, .. }) if age <= DAY => self.day,
            Some(Usage { age, .. }) if age <= WEEK => self.week,
            _ => 1.0,
        };
        let times = usage.map_or(0, |usage| usage.times);
        let times = f64::from(u32::try_from(times).unwrap_or(u32::MAX));
        Boosts {
            recency,
            module: if same_module { self.module } else { 1.0 },
            frequency: (1.0 + times / DOUBLING).min(self.frequency.max(1.0)),
        }
    }
}

impl Boosts {
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
            day: 1.0,
            week: 1.0,
            module: 1.0,
            frequency: 1.0,
        };
        assert!((off.boosts(Some(Usage { age: 0, times: 90 }), true).product() - 1.0).abs() < f64::EPSILON);
    }
}
