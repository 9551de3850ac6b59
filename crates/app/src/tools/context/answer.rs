//! The answer of `context_search` on paper: markdown as one contract shows it, JSON as the other does, both within the
//! size an answer may have.

use super::found::SearchEntry;
use super::search::Output;
use crate::markdown::{cut, fence, inline_to, length};
use crate::tools::budget::{fit, json_length, notice};

/// Characters around the results, and around the code of each.
const FRAME: usize = 600;
const FENCES: usize = 110;

/// Characters of code that are worth showing; with less room, fewer results are shown.
const MIN_SHOWN_CODE_CHARS: usize = 160;

/// The answer in markdown.
pub(super) fn markdown(output: &Output, mut notices: Vec<String>, room: usize) -> String {
    let mut text = format!("# Search Results for \"{}\"\n", inline_to(&output.query, 500));
    if let Some(message) = &output.message {
        text += &format!("\n{message}.\n");
    }
    let notes: usize = notices.iter().map(|notice| length(notice) + 20).sum();
    let mut left = room.saturating_sub(FRAME + length(&text) + notes);
    let mut shown = 0;
    for (at, found) in output.results.iter().enumerate() {
        let share = left / (output.results.len() - at);
        let (head, tail) = (head(at + 1, found), tail(found));
        let frame = length(&head) + length(&tail) + FENCES;
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
    notices.extend(hidden(shown, output.results.len()));
    for notice in notices {
        text += &format!("\n> Notice: {notice}\n");
    }
    cut(text.trim_end(), room, "\n> Notice: The answer is cut here")
}

fn hidden(shown: usize, all: usize) -> Option<String> {
    (shown < all).then(|| {
        format!("{shown} of {all} results fit into this answer; ask for fewer, or raise answer.max_chars")
    })
}

/// What stands before the code of a result.
fn head(number: usize, found: &SearchEntry) -> String {
    let score = found.score;
    let mut title = inline_to(&found.title(), 120);
    if title.is_empty() {
        title.clone_from(&found.kind);
    }
    let place = inline_to(&found.whereabouts(), 300);
    let generated = if found.generated { " (generated)" } else { "" };
    let mut head = format!(
        "\n## Result {number}: {title} ({place}) [Score: {score:.2}]\n\n**Type**: {}{generated}  \n",
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

/// What stands behind it.
fn tail(found: &SearchEntry) -> String {
    let ranking = &found.ranking;
    let recency = match found.age {
        Some(age) if age <= docent_core::rank::boosts::DAY => "accessed <24h ago",
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

/// A factor with one decimal, or two where it needs them.
fn factor(number: f64) -> String {
    let short = format!("{number:.2}");
    match short.strip_suffix('0') {
        Some(shorter) => shorter.to_owned(),
        None => short,
    }
}

/// The code between fences, cut after a line where there is no room for all of it, and then how to get the rest.
fn code(found: &SearchEntry, room: usize) -> String {
    let content = found.content.as_str();
    let (shown, more) = if length(content) <= room {
        (content.to_owned(), String::new())
    } else {
        let mut used = 0;
        let lines: Vec<&str> = content
            .lines()
            .take_while(|line| {
                used += length(line) + 1;
                used <= room
            })
            .collect();
        let next = found.place.as_ref().map_or(1, |place| place.start_line as usize) + lines.len();
        let more = content.lines().count() - lines.len();
        let plural = if more == 1 { "line" } else { "lines" };
        let more = if found.is_discovery() {
            format!("… {more} more {plural}\n")
        } else if found.is_linked {
            format!("… {more} more {plural}, in that project\n")
        } else {
            let last = found.place.as_ref().map_or(next, |place| place.end_line as usize);
            format!("… {more} more {plural}: read_file with startLine {next} and endLine {last}\n")
        };
        let shown = match lines.as_slice() {
            [] => cut(content.lines().next().unwrap_or_default(), room, "…"),
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

/// The answer in JSON.
pub(super) fn json(mut output: Output, mut notices: Vec<String>, room: usize) -> String {
    let contents: Vec<String> = output
        .results
        .iter_mut()
        .map(|found| std::mem::take(&mut found.content))
        .collect();
    let fields: Vec<usize> = output
        .results
        .iter()
        .map(|found| length(&serde_json::json!(found).to_string()))
        .collect();
    let notes: usize = notices.iter().map(|notice| json_length(notice) + 2).sum();
    let mut left = room.saturating_sub(FRAME + notes + json_length(&output.query));
    let mut shown = 0;
    let mut shortened = 0;
    for (at, content) in contents.iter().enumerate() {
        let share = left / (contents.len() - at);
        if share < fields[at] + MIN_SHOWN_CODE_CHARS && at > 0 {
            break;
        }
        let (kept, text) = fit(content, share.saturating_sub(fields[at] + 2), Into::into);
        shortened += usize::from(kept < content.len());
        left = left.saturating_sub(fields[at] + json_length(&text));
        output.results[at].content = text.into_owned();
        shown += 1;
    }
    notices.extend(hidden(shown, output.results.len()));
    if shortened > 0 {
        notices.push(format!(
            "The content of {shortened} of the results is cut; read_file shows the rest of this project's"
        ));
    }
    output.results.truncate(shown);
    output.notice = notice(&notices);
    serde_json::json!(output).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit() {
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
