//! The answer of `context_search` in markdown, as its contract shows it, within the size an answer may have.

use docent_core::rank::boosts::DAY;

use super::entry::{Output, SearchEntry};
use super::notices::explain_hidden;
use super::{FRAME_CHARS, MIN_SHOWN_CODE_CHARS};
use crate::markdown::{cut, fence, inline_to, length};

/// Characters reserved for the fences around the code of a result.
const FENCE_CHARS: usize = 110;

/// Writes the answer. Each result gets its share of the room that is left.
pub(super) fn write(output: &Output, mut notices: Vec<String>, budget: usize) -> String {
    let mut text = format!("# Search Results for \"{}\"\n", inline_to(&output.query, 500));
    if let Some(message) = &output.message {
        text += &format!("\n{message}.\n");
    }
    let notes: usize = notices.iter().map(|notice| length(notice) + 20).sum();
    let mut left = budget.saturating_sub(FRAME_CHARS + length(&text) + notes);
    let mut shown = 0;
    for (at, found) in output.results.iter().enumerate() {
        let share = left / (output.results.len() - at);
        let (head, tail) = (head(at + 1, found), tail(found));
        let frame = length(&head) + length(&tail) + FENCE_CHARS;
        if share < frame + MIN_SHOWN_CODE_CHARS && at > 0 {
            break;
        }
        let section = head + &code(found, share.saturating_sub(frame)) + &tail;
        left = left.saturating_sub(length(&section));
        if at > 0 {
            text += "\n---\n";
        }
        text += &section;
        shown += 1;
    }
    notices.extend(explain_hidden(shown, output.results.len()));
    for notice in notices {
        text += &format!("\n> Notice: {notice}\n");
    }
    cut(text.trim_end(), budget, "\n> Notice: The answer is cut here")
}

/// The text before the code of a result.
fn head(number: usize, found: &SearchEntry) -> String {
    let score = found.ranking.r#final;
    let mut title = inline_to(&found.title(), 120);
    if title.is_empty() {
        title.clone_from(&found.kind);
    }
    let address = inline_to(&found.address(), 300);
    let generated = if found.generated { " (generated)" } else { "" };
    let mut head = format!(
        "\n## Result {number}: {title} ({address}) [Score: {score:.2}]\n\n**Type**: {}{generated}  \n",
        found.kind
    );
    let mut line = |name: &str, value: &str| head += &format!("**{name}**: {}  \n", inline_to(value, 200));
    if found.is_discovery() {
        line("Module", &found.module);
        for (name, value) in [
            ("Date", &found.date),
            ("Session", &found.session),
            ("Source", &found.origin),
        ] {
            if let Some(value) = value {
                line(name, value);
            }
        }
        if !found.also_in.is_empty() {
            line("Also in", &found.also_in.join(", "));
        }
    }
    line("Project", &found.project);
    head + &format!("**Last Accessed**: {}\n", accessed(found))
}

/// The text behind the code of a result.
fn tail(found: &SearchEntry) -> String {
    let ranking = &found.ranking;
    let recency = match found.age {
        Some(age) if age <= DAY => "accessed <24h ago",
        Some(_) => "accessed in the last 7 days",
        None => "not accessed in the last 7 days",
    };
    let module = if ranking.module > 1.0 {
        "same module as current work"
    } else {
        "not the module being worked in"
    };
    let times = found.accesses_this_week;
    let accesses = if times == 1 { "access" } else { "accesses" };
    format!(
        "\n**Ranking Details**:\n- Semantic Score: {:.2}\n- Recency Boost: ×{} ({recency})\n- Module Boost: ×{} ({module})\n\
         - Frequency Boost: ×{} ({times} {accesses} this week)\n- **Final Score**: {:.2}\n",
        ranking.semantic,
        factor(ranking.recency),
        factor(ranking.module),
        factor(ranking.frequency),
        ranking.r#final,
    )
}

/// A factor with one decimal, or two if the second is not 0.
fn factor(number: f64) -> String {
    let short = format!("{number:.2}");
    match short.strip_suffix('0') {
        Some(shorter) => shorter.to_owned(),
        None => short,
    }
}

/// The code between fences, cut after a line if there is no room for all of it, with how to get the rest.
fn code(found: &SearchEntry, budget: usize) -> String {
    let content = found.content.as_str();
    let (shown, more) = if length(content) <= budget {
        (content.to_owned(), String::new())
    } else {
        let mut used = 0;
        let lines: Vec<&str> = content
            .lines()
            .take_while(|line| {
                used += length(line) + 1;
                used <= budget
            })
            .collect();
        let next = found.lines.as_ref().map_or(1, |lines| lines.start_line as usize) + lines.len();
        let more = content.lines().count() - lines.len();
        let plural = if more == 1 { "line" } else { "lines" };
        let more = if found.is_discovery() {
            format!("… {more} more {plural}\n")
        } else if found.is_linked {
            format!("… {more} more {plural}, in that project\n")
        } else {
            let last = found.lines.as_ref().map_or(next, |lines| lines.end_line as usize);
            format!("… {more} more {plural}: read_file with startLine {next} and endLine {last}\n")
        };
        let shown = match lines.as_slice() {
            [] => cut(content.lines().next().unwrap_or_default(), budget, "…"),
            lines => lines.join("\n"),
        };
        (shown, more)
    };
    let fence = fence(&shown);
    format!("\n{fence}{}\n{shown}\n{fence}\n{more}", found.language)
}

fn accessed(found: &SearchEntry) -> String {
    let Some(age) = found.age else {
        return "not in the last 7 days".to_owned();
    };
    let times = match found.accesses_this_week {
        1 => "once this week".to_owned(),
        times => format!("{times} times this week"),
    };
    format!("{} ({times})", ago(age))
}

/// A time ago, in the largest unit that fits.
fn ago(seconds: i64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    match units.into_iter().find(|(length, _)| seconds >= *length) {
        None => "just now".to_owned(),
        Some((length, unit)) => {
            let count = seconds / length;
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {unit}{plural} ago")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_largest_unit() {
        let shown: Vec<String> = [0, 59, 60, 7_200, 86_400, 600_000].map(ago).to_vec();
        assert_eq!(
            shown,
            [
                "just now",
                "just now",
                "1 minute ago",
                "2 hours ago",
                "1 day ago",
                "6 days ago"
            ]
        );
    }

    #[test]
    fn factors_are_short() {
        let shown: Vec<String> = [1.0, 1.5, 1.15, 1.01].map(factor).to_vec();
        assert_eq!(shown, ["1.0", "1.5", "1.15", "1.01"]);
    }
}
