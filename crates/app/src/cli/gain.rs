//! `docent gain`: what `docent sh` and the Read hook saved, and what they would have saved in past sessions.
//!
//! Left out: counting, which is done where an answer is given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::clock::Clock;
use docent_engine::gain::{GainCounts, GainLog};
use serde_json::{Value, json};

use super::flags::{flag, variable};
use crate::markdown::count;
use crate::replay::{CallSum, Replay, ReplayCounts, replay_files};
use crate::settings::{ReadHook, Settings};
use crate::terminal::{self, TerminalPage};

/// Days in the chart.
const MAX_DAYS: usize = 14;

/// Reasons in the list.
const MAX_REASONS: usize = 15;

/// Lines that a file has at most without being large, where the Read hook is off.
const DEFAULT_LARGE_LINES: usize = 600;

/// Time for all transcripts.
const MAX_REPLAY_TIME: Duration = Duration::from_mins(10);

pub(super) fn command() -> Command {
    Command::new("gain")
        .about("Show what docent saved in place of grep, find and git, and which commands it left alone")
        .arg(flag("json", "Print it as JSON, with all days"))
        .arg(
            Arg::new("replay")
                .long("replay")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .num_args(0..)
                .help(
                    "Compute it for past sessions: transcripts of Claude Code and Codex, or directories of them; \
                     without any, your own",
                ),
        )
}

pub(super) fn run(
    settings: &Settings,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    if let Some(files) = given.get_many::<PathBuf>("replay") {
        let mut places: Vec<PathBuf> = files.cloned().collect();
        if places.is_empty() {
            places = own_transcript_folders();
        }
        let files = list_transcripts(&places);
        let (counts, left_out) = replay(settings, &files, MAX_REPLAY_TIME);
        if counts.all.calls == 0 {
            terminal::complain("there is no transcript with a tool call");
            return Ok(ExitCode::FAILURE);
        }
        if given.get_flag("json") {
            page.json(&counts.json())?;
        } else {
            show_replay(&counts, left_out, &mut page)?;
        }
        page.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let log = settings
        .state
        .as_deref()
        .map(|state| GainLog::new(state, settings.clock));
    let counts = log.map_or_else(|| Ok(GainCounts::default()), |log| log.read())?;
    if given.get_flag("json") {
        page.json(&to_json(&counts))?;
    } else if counts.is_empty() {
        page.prose(
            "Nothing was counted in this project yet. `docent setup` installs the hooks that ask docent.",
        )?;
    } else {
        show(&counts, &mut page)?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// What the Read hook would have saved in the newest of the user's own sessions. `None` without
/// transcripts.
pub(super) fn describe_read_gain(settings: &Settings) -> Option<String> {
    const MAX_TRANSCRIPTS: usize = 200;
    const MAX_TIME: Duration = Duration::from_secs(5);
    let mut files = list_transcripts(&own_transcript_folders());
    files.truncate(MAX_TRANSCRIPTS);
    let (counts, _) = replay(settings, &files, MAX_TIME);
    (counts.all.chars > 0).then(|| {
        format!(
            "in {} past sessions, {} of whole large files gave {} of all characters; it would have saved {} of these",
            count(counts.transcripts),
            plural(counts.large_reads.calls, "read", "reads"),
            percent(counts.large_reads.chars, counts.all.chars),
            percent(counts.large_reads_saved, counts.large_reads.chars)
        )
    })
}

fn replay(settings: &Settings, files: &[PathBuf], time: Duration) -> (ReplayCounts, usize) {
    let max_lines = match settings.read_hook {
        ReadHook::Outline { max_lines } => max_lines,
        ReadHook::Off => DEFAULT_LARGE_LINES,
    };
    let replay = Replay::new(&settings.root, max_lines, &variable);
    replay_files(replay, files, (Clock::System.stopwatch(), time))
}

/// The folders in which Claude Code and Codex keep the user's sessions.
fn own_transcript_folders() -> Vec<PathBuf> {
    let folder = |name: &str, below_home: &str| {
        let named = variable(name).map(PathBuf::from);
        named.or_else(|| Some(PathBuf::from(variable("HOME")?).join(below_home)))
    };
    [
        folder("CLAUDE_CONFIG_DIR", ".claude").map(|folder| folder.join("projects")),
        folder("CODEX_HOME", ".codex").map(|folder| folder.join("sessions")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Transcripts in these places, the newest first. A place may be a file.
fn list_transcripts(places: &[PathBuf]) -> Vec<PathBuf> {
    const MAX_DEPTH: usize = 6;
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut folders: Vec<(PathBuf, usize)> = Vec::new();
    for place in places {
        if place.is_dir() {
            folders.push((place.clone(), 0));
        } else {
            found.push((modified(place), place.clone()));
        }
    }
    while let Some((folder, depth)) = folders.pop() {
        #[expect(clippy::disallowed_methods, reason = "a folder that the user has named")]
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.is_ok_and(|kind| kind.is_dir()) {
                if depth < MAX_DEPTH {
                    folders.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push((modified(&path), path));
            }
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

fn modified(path: &Path) -> SystemTime {
    let metadata = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    metadata.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn show(counts: &GainCounts, page: &mut TerminalPage) -> std::io::Result<()> {
    let mut programs: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    let mut days: BTreeMap<String, usize> = BTreeMap::new();
    for answer in &counts.answers {
        let sums = programs.entry(&answer.program).or_default();
        for (sum, number) in sums
            .iter_mut()
            .zip([answer.calls, answer.plain_chars, answer.shown_chars])
        {
            *sum += number;
        }
        let saved = usize::try_from(answer.plain_chars.saturating_sub(answer.shown_chars));
        *days.entry(answer.day.to_string()).or_default() += saved.unwrap_or_default();
    }
    if !programs.is_empty() {
        page.heading("Answered by docent")?;
        page.line(&row(["program", "calls", "its output", "shown", "saved"]))?;
        let mut all = [0; 3];
        for (program, sums) in &programs {
            page.line(&sums_row(program, *sums))?;
            for (sum, number) in all.iter_mut().zip(sums) {
                *sum += number;
            }
        }
        page.line(&sums_row("all", all))?;
        page.heading("Characters saved by day")?;
        let largest = days.values().copied().max().unwrap_or_default();
        for (day, saved) in days.iter().rev().take(MAX_DAYS).rev() {
            page.bar(day, 10, *saved, largest)?;
        }
    }
    let mut reasons: BTreeMap<(String, String), u64> = BTreeMap::new();
    for count in &counts.left_alone {
        let key = (count.program.clone(), count.reason.clone());
        *reasons.entry(key).or_default() += count.calls;
    }
    show_reasons(&reasons, page)
}

/// Why commands were left alone, the most frequent reason first.
fn show_reasons(reasons: &BTreeMap<(String, String), u64>, page: &mut TerminalPage) -> std::io::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by(|(a, calls), (b, others)| others.cmp(calls).then_with(|| a.cmp(b)));
    page.heading("Left to the program")?;
    for ((program, reason), calls) in sorted.iter().take(MAX_REASONS) {
        page.line(&format!("  {:>9}  {program}: {reason}", count(**calls)))?;
    }
    if sorted.len() > MAX_REASONS {
        let more = plural((sorted.len() - MAX_REASONS) as u64, "reason", "reasons");
        page.dim(&format!("{more} more: --json has all"))?;
    }
    Ok(())
}

fn show_replay(counts: &ReplayCounts, left_out: usize, page: &mut TerminalPage) -> std::io::Result<()> {
    let sessions = plural(counts.transcripts, "transcript", "transcripts");
    page.heading(&format!(
        "{sessions}, {}",
        plural(counts.all.calls, "call", "calls")
    ))?;
    page.line(&row(["", "calls", "characters", "of all", ""]))?;
    for (name, sum) in [
        ("reads", counts.reads),
        ("searches", counts.searches),
        ("git", counts.git),
        ("whole files", counts.whole_reads),
        ("large files", counts.large_reads),
        ("all", counts.all),
    ] {
        let CallSum { calls, chars } = sum;
        let share = percent(chars, counts.all.chars);
        page.line(&row([name, &count(calls), &count(chars), &share, ""]))?;
    }
    page.heading("The Read hook")?;
    page.prose(&format!(
        "It would have shown the head and the outline of {} in place of {} characters, and saved {} of these; for \
         files that were edited later, 200 lines are counted on top. {} of the outlines are estimated, because the \
         files are not here as they were.",
        plural(counts.large_reads.calls, "large file", "large files"),
        count(counts.large_reads.chars),
        percent(counts.large_reads_saved, counts.large_reads.chars),
        count(counts.outlines_estimated)
    ))?;
    page.heading("Command lines")?;
    page.line(&row(["program", "lines", "rewritten", "of all", ""]))?;
    for (program, [all, rewritten]) in &counts.lines {
        let share = percent(*rewritten, *all);
        page.line(&row([program, &count(*all), &count(*rewritten), &share, ""]))?;
    }
    show_reasons(&counts.left_alone, page)?;
    if left_out > 0 {
        let files = plural(left_out as u64, "older transcript", "older transcripts");
        page.note(&format!("{files} left out for want of time"))?;
    }
    Ok(())
}

fn row([name, a, b, c, d]: [&str; 5]) -> String {
    format!("  {name:12} {a:>9} {b:>13} {c:>13} {d:>7}")
        .trim_end()
        .to_owned()
}

fn sums_row(name: &str, [calls, plain, shown]: [u64; 3]) -> String {
    let saved = percent(plain.saturating_sub(shown), plain);
    row([name, &count(calls), &count(plain), &count(shown), &saved])
}

fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{} %", (part * 100 + whole / 2) / whole),
    }
}

fn plural(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

fn to_json(counts: &GainCounts) -> Value {
    let answers = counts.answers.iter().map(|count| {
        json!({
            "day": count.day.to_string(),
            "program": count.program,
            "calls": count.calls,
            "plainChars": count.plain_chars,
            "shownChars": count.shown_chars,
        })
    });
    let left_alone = counts.left_alone.iter().map(|count| {
        json!({
            "day": count.day.to_string(),
            "program": count.program,
            "reason": count.reason,
            "calls": count.calls,
        })
    });
    json!({
        "answers": answers.collect::<Vec<_>>(),
        "leftAlone": left_alone.collect::<Vec<_>>(),
    })
}
