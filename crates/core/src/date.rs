//! Dates in the spellings that git understands, checked before git sees them: git takes any text that it
//! cannot read for the present moment.
//!
//! Invariant: every word of an accepted date is known to git, and its digits can be a date or a time. A day
//! without a time is a separate value, the whole day, because git would add the present time of day and
//! answer differently at noon and at night.

/// A date as a caller wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Date {
    /// A whole day.
    Day {
        year: i16,
        month: i8,
        day: i8,
    },
    Today,
    /// A number of seconds before now.
    Ago(i64),
    /// A day whose year comes last. Git decides which number is the month, by the separator and by the date
    /// of today.
    YearLast {
        text: String,
        /// The days that it can mean, as year, month and day.
        days: Vec<(i16, i8, i8)>,
    },
    /// Any other spelling that git understands.
    Text(String),
}

impl Date {
    /// Parses a date; `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_usual = |c: char| c.is_ascii_alphanumeric() || " -/.:,+@_".contains(c);
        if text.len() > 100 || !text.chars().all(is_usual) {
            return None;
        }
        match parse_day(text) {
            Day::Real(year, month, day) => return Some(Self::Day { year, month, day }),
            Day::YearLast(days) => {
                let text = text.to_owned();
                return Some(Self::YearLast { text, days });
            }
            Day::Impossible => return None,
            Day::Other => {}
        }
        if text.eq_ignore_ascii_case("today") {
            return Some(Self::Today);
        }
        parse_ago(text).or_else(|| is_date(text).then(|| Self::Text(text.to_owned())))
    }
}

/// Parses `30 days ago`, for units whose length does not depend on the calendar.
fn parse_ago(text: &str) -> Option<Date> {
    let mut words = text.split([' ', '.']).filter(|word| !word.is_empty());
    let (count, unit, last) = (words.next()?, words.next()?, words.next()?);
    let seconds = match unit.to_ascii_lowercase().trim_end_matches('s') {
        "second" => 1,
        "minute" => 60,
        "hour" => 3_600,
        "day" => 86_400,
        "week" => 604_800,
        _ => return None,
    };
    let count: i64 = count.parse().ok().filter(|count| (0..100_000).contains(count))?;
    (last.eq_ignore_ascii_case("ago") && words.next().is_none()).then_some(Date::Ago(count * seconds))
}

/// A text read as a day.
enum Day {
    Real(i16, i8, i8),
    /// `12/31/2023` or `31.12.2023`, with the days that it can mean.
    YearLast(Vec<(i16, i8, i8)>),
    /// Written like a day that no calendar has.
    Impossible,
    Other,
}

fn parse_day(text: &str) -> Day {
    let numbers: Vec<&str> = if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        vec![&text[..4], &text[4..6], &text[6..]]
    } else {
        text.split(['-', '/', '.']).collect()
    };
    let [year, month, day] = numbers[..] else {
        return Day::Other;
    };
    let has_digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let number = |text: &str| text.parse::<i16>().unwrap_or(0);
    let is_year_last = has_digits(year, 2) && has_digits(month, 2) && has_digits(day, 4) && {
        // `1.2.3` is rather a version, and `1/2/3` is no date of anyone.
        let has_slashes = text.contains('/');
        day.len() == 4 || (day.len() == 2 && (has_slashes || (year.len() == 2 && month.len() == 2)))
    };
    if is_year_last {
        let (first, second) = (number(year), number(month));
        let days: Vec<_> = [(first, second), (second, first)]
            .into_iter()
            .filter_map(|(month, day_of_month)| real_day(full_year(number(day))?, month, day_of_month))
            .collect();
        return if days.is_empty() {
            Day::Impossible
        } else {
            Day::YearLast(days)
        };
    }
    if year.len() != 4 || !has_digits(year, 4) || !has_digits(month, 2) || !has_digits(day, 2) {
        return Day::Other;
    }
    match real_day(number(year), number(month), number(day)) {
        Some((year, month, day)) => Day::Real(year, month, day),
        None => Day::Impossible,
    }
}

/// Git's reading of a year of two digits.
fn full_year(year: i16) -> Option<i16> {
    match year {
        0..38 => Some(2000 + year),
        38..=70 => None,
        71..100 => Some(1900 + year),
        _ => Some(year),
    }
}

fn real_day(year: i16, month: i16, day: i16) -> Option<(i16, i8, i8)> {
    if !is_calendar_day(year, month, day) {
        return None;
    }
    Some((year, month.try_into().ok()?, day.try_into().ok()?))
}

fn is_calendar_day(year: i16, month: i16, day: i16) -> bool {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1970..=2099).contains(&year) && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// The kind of a word in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateWord {
    /// A moment by itself: `yesterday`.
    Moment,
    /// A month or a day of the week, which is a moment by itself too.
    Name,
    Unit,
    /// A number word, or `last`.
    Count,
    /// A part of a time, a zone or an ordinal, meaningless alone.
    Particle,
}

fn is_date(text: &str) -> bool {
    if is_seconds(text) {
        return true;
    }
    let mut words = Vec::new();
    let mut numbers = Vec::new();
    for run in runs(text) {
        if run.as_bytes()[0].is_ascii_digit() {
            numbers.push(run);
        } else if let Some(word) = classify_word(&run.to_ascii_lowercase()) {
            words.push(word);
        } else {
            return false;
        }
    }
    if text.starts_with('@') || numbers.iter().any(|number| number.len() > 12) {
        return false;
    }
    let has = |word| words.contains(&word);
    for part in text.split([' ', 'T', 't', ',']) {
        match parse_day(part) {
            Day::Real(..) | Day::YearLast(_) => return !has(DateWord::Unit),
            Day::Impossible => return false,
            Day::Other => {}
        }
    }
    has(DateWord::Moment)
        || has(DateWord::Name)
        || (has(DateWord::Unit) && (has(DateWord::Count) || !numbers.is_empty()))
        || is_time_of_day(text)
}

/// Seconds since 1970: `1704067200`, `@1704067200`, either with a zone such as `+0000` behind it, which
/// changes nothing.
fn is_seconds(text: &str) -> bool {
    let has_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (seconds, zone) = match text.split_once(' ') {
        Some((seconds, zone)) => (seconds, Some(zone)),
        None => (text, None),
    };
    let is_zone = |zone: &str| zone.len() == 5 && zone.strip_prefix(['+', '-']).is_some_and(has_digits);
    if !zone.is_none_or(is_zone) {
        return false;
    }
    match seconds.strip_prefix('@') {
        Some(seconds) => seconds.len() <= 12 && has_digits(seconds),
        // Git reads a shorter number as a day, a month or a year.
        None => (9..=12).contains(&seconds.len()) && has_digits(seconds),
    }
}

/// A time of today: `10:30`, `10:30:15`, `6pm`.
fn is_time_of_day(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let half = ["am", "pm"].iter().find_map(|half| lower.strip_suffix(half));
    let has_half = half.is_some();
    let parts: Vec<&str> = half.unwrap_or(&lower).trim_end().split(':').collect();
    let is_within = |text: &str, most: u32| {
        matches!(text.len(), 1 | 2)
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|number| number <= most)
    };
    let is_hour = |text: &str| is_within(text, if has_half { 12 } else { 23 });
    match parts[..] {
        [hour] => has_half && is_hour(hour),
        [hour, minute] => is_hour(hour) && minute.len() == 2 && is_within(minute, 59),
        [hour, minute, second] => {
            is_hour(hour) && minute.len() == 2 && is_within(minute, 59) && is_within(second, 60)
        }
        _ => false,
    }
}

/// Runs of digits and runs of letters.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let digits = rest.bytes().next()?.is_ascii_digit();
            let end = rest
                .bytes()
                .position(|byte| byte.is_ascii_digit() != digits)
                .unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            rest = after;
            Some(run)
        })
    })
}

fn classify_word(word: &str) -> Option<DateWord> {
    const NAMES: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "sunday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
    ];
    const UNITS: &[&str] = &["second", "minute", "hour", "day", "week", "month", "year"];
    if NAMES.iter().any(|name| word.len() >= 3 && name.starts_with(word)) {
        return Some(DateWord::Name);
    }
    if UNITS.contains(&word.strip_suffix('s').unwrap_or(word)) {
        return Some(DateWord::Unit);
    }
    match word {
        "now" | "yesterday" | "noon" | "midnight" | "tea" | "never" => Some(DateWord::Moment),
        "last" | "one" | "two" | "three" | "four" | "five" | "six" | "seven" | "eight" | "nine" | "ten" => {
            Some(DateWord::Count)
        }
        "ago" | "time" | "am" | "pm" | "t" | "z" | "utc" | "gmt" | "est" | "edt" | "cst" | "cdt" | "mst"
        | "mdt" | "pst" | "pdt" | "cet" | "cest" | "met" | "bst" | "jst" | "ist" | "st" | "nd" | "rd"
        | "th" => Some(DateWord::Particle),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "`check(text, Some(…))` reads better"
    )]
    fn check(text: &str, expected: Option<Date>) {
        assert_eq!(Date::parse(text), expected, "{text:?}");
    }

    #[test]
    fn a_day_is_the_whole_day() {
        let day = |year, month, day| Some(Date::Day { year, month, day });
        check("2025-01-31", day(2025, 1, 31));
        check("2025/1/3", day(2025, 1, 3));
        check("20250131", day(2025, 1, 31));
        check("2024-02-29", day(2024, 2, 29));
        check("today", Some(Date::Today));
    }

    #[test]
    fn a_day_with_the_year_last_lists_what_it_can_mean() {
        for (text, days) in [
            ("12/31/2023", &[(2023, 12, 31)][..]),
            ("31/12/2023", &[(2023, 12, 31)]),
            ("31.12.2023", &[(2023, 12, 31)]),
            ("01.02.2024", &[(2024, 1, 2), (2024, 2, 1)]),
            ("1/2/24", &[(2024, 1, 2), (2024, 2, 1)]),
            ("31-12-99", &[(1999, 12, 31)]),
        ] {
            let days = days.to_vec();
            check(
                text,
                Some(Date::YearLast {
                    text: text.into(),
                    days,
                }),
            );
        }
    }

    #[test]
    fn simple_times_ago_are_counted() {
        check("30 days ago", Some(Date::Ago(30 * 86_400)));
        check("2.weeks.ago", Some(Date::Ago(14 * 86_400)));
        check("1 Hour ago", Some(Date::Ago(3_600)));
    }

    #[test]
    fn spellings_that_git_knows_are_passed_on() {
        for text in [
            "3 months ago",
            "30 days",
            "yesterday",
            "last month",
            "one year ago",
            "last friday",
            "noon yesterday",
            "Jan 5 2024",
            "5 March 2024 3pm",
            "2025-01-01 12:30",
            "2025-01-01T12:30:00Z",
            "2025-01-01T12:30:00+02:00",
            "Thu, 07 Apr 2005 22:13:13 +0200",
            "@1700000000",
            "1700000000",
            "1704067200 +0000",
            "@1704067200 -0500",
            "12/31/2023 10:00",
            "31.12.2023 10:00:00 +0200",
            "10:30",
            "10:30:15",
            "6pm",
            "tea time",
        ] {
            check(text, Some(Date::Text(text.into())));
        }
    }

    #[test]
    fn other_text_is_not_taken_for_the_present() {
        for text in [
            "",
            "   ",
            "nonsense",
            "v1.0.0",
            "1.0",
            "main",
            "deadbee",
            "2025-13-01",
            "2025-02-30",
            "2025-02-30 10:00",
            "soon",
            "30",
            "30 moons ago",
            "--output=x",
            "days",
            "ago",
            "1234567",
            "2025-01-01; rm",
            "2025\n01",
            "1.2.3",
            "1.2.34",
            "30/02/2024",
            "99/99/2024",
            "12/31/2023 5 days",
            "1704067200 0000",
            "1704067200 +00",
            "@",
            "@x",
            "25:00",
            "10:99",
            "13pm",
            "pm",
        ] {
            check(text, None);
        }
    }
}
