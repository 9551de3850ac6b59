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
    if year.len() != 4 || !has_digits(year, 4) || !has_digits(month, 2) || !has_digits(day, 2) {
        return Day::Other;
    }
    let number = |text: &str| text.parse::<i16>().unwrap_or(0);
    let (year, month, day) = (number(year), number(month), number(day));
    if is_calendar_day(year, month, day)
        && let (Ok(month), Ok(day)) = (month.try_into(), day.try_into())
    {
        Day::Real(year, month, day)
    } else {
        Day::Impossible
    }
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
    if let Some(seconds) = text.strip_prefix('@') {
        return (1..=12).contains(&seconds.len()) && seconds.bytes().all(|byte| byte.is_ascii_digit());
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
    if numbers.iter().any(|number| number.len() > 12) {
        return false;
    }
    let has = |word| words.contains(&word);
    for part in text.split([' ', 'T', 't', ',']) {
        match parse_day(part) {
            Day::Real(..) => return !has(DateWord::Unit),
            Day::Impossible => return false,
            Day::Other => {}
        }
    }
    let is_seconds = (9..=12).contains(&text.len()) && numbers == [text];
    is_seconds
        || has(DateWord::Moment)
        || has(DateWord::Name)
        || (has(DateWord::Unit) && (has(DateWord::Count) || !numbers.is_empty()))
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
        ] {
            check(text, None);
        }
    }
}
