//! Dates as git reads them, and only those: git takes whatever it cannot read for the present moment, so text is
//! looked at before git gets it.
//!
//! Invariant: every word of a date that is let through is one git knows, and its digits can be a date or a time. A
//! day without a time is the whole day: git would put the present time of day in, and answer differently at noon
//! and at night.

/// Which end of a day is meant where no time is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Start,
    End,
}

/// `text` as git reads it reliably; nothing if it is no date.
pub fn for_git(text: &str, edge: Edge) -> Option<String> {
    let text = text.trim();
    if text.len() > 100
        || text
            .chars()
            .any(|c| !c.is_ascii_alphanumeric() && !" -/.:,+@_".contains(c))
    {
        return None;
    }
    match whole_day(text) {
        Day::Real(day) => {
            let time = match edge {
                Edge::Start => "00:00:00",
                Edge::End => "23:59:59",
            };
            return Some(format!("{day} {time}"));
        }
        Day::Impossible => return None,
        Day::Other => {}
    }
    if text.eq_ignore_ascii_case("today") {
        return Some(if edge == Edge::Start { "midnight" } else { "now" }.into());
    }
    is_date(text).then(|| text.to_owned())
}

/// What a text is, taken for a day and nothing else.
enum Day {
    /// As `2025-01-31`.
    Real(String),
    /// Written like a day, and in no calendar.
    Impossible,
    Other,
}

fn whole_day(text: &str) -> Day {
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
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(year), number(month), number(day));
    if is_day(year, month, day) {
        Day::Real(format!("{year:04}-{month:02}-{day:02}"))
    } else {
        Day::Impossible
    }
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1970..=2099).contains(&year) && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// What a word of a date is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// A moment on its own: `yesterday`.
    Moment,
    /// A month or a day of the week, which is a moment too.
    Name,
    Unit,
    /// A number as a word, or `last`.
    Count,
    /// Belongs to a time, a zone or an ordinal, and means nothing alone.
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
        } else if let Some(word) = word(&run.to_ascii_lowercase()) {
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
        match whole_day(part) {
            Day::Real(_) => return !has(Word::Unit),
            Day::Impossible => return false,
            Day::Other => {}
        }
    }
    let is_seconds = (9..=12).contains(&text.len()) && numbers == [text];
    is_seconds
        || has(Word::Moment)
        || has(Word::Name)
        || (has(Word::Unit) && (has(Word::Count) || !numbers.is_empty()))
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

fn word(word: &str) -> Option<Word> {
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
        return Some(Word::Name);
    }
    if UNITS.contains(&word.strip_suffix('s').unwrap_or(word)) {
        return Some(Word::Unit);
    }
    match word {
        "now" | "yesterday" | "noon" | "midnight" | "tea" | "never" => Some(Word::Moment),
        "last" | "one" | "two" | "three" | "four" | "five" | "six" | "seven" | "eight" | "nine" | "ten" => {
            Some(Word::Count)
        }
        "ago" | "time" | "am" | "pm" | "t" | "z" | "utc" | "gmt" | "est" | "edt" | "cst" | "cdt" | "mst"
        | "mdt" | "pst" | "pdt" | "cet" | "cest" | "met" | "bst" | "jst" | "ist" | "st" | "nd" | "rd"
        | "th" => Some(Word::Particle),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(for_git(text, Edge::Start).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn a_day_is_the_whole_day() {
        check("2025-01-31", Some("2025-01-31 00:00:00"));
        check("2025/1/3", Some("2025-01-03 00:00:00"));
        check("20250131", Some("2025-01-31 00:00:00"));
        assert_eq!(
            for_git("2025-01-31", Edge::End).as_deref(),
            Some("2025-01-31 23:59:59")
        );
        check("today", Some("midnight"));
    }

    #[test]
    fn what_git_knows_is_passed_on() {
        for text in [
            "30 days ago",
            "2.weeks.ago",
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
            check(text, Some(text));
        }
    }

    #[test]
    fn what_is_no_date_is_not_taken_for_now() {
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
