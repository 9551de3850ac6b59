//! What the project is, for the start of a session.
//!
//! Left out: what a scan or an index would have to find out first. A session must not wait for it.
//!
//! Invariant: at most [`MAX_CHARS`] characters, and no text of the project but its name.

use docent_core::memory::MemoryFile;

use super::{Lookup, settings};
use crate::markdown::{count, cut, inline_to};
use crate::project::{open_index, open_memory};
use crate::settings::{Settings, project_name};

/// Characters of the description.
const MAX_CHARS: usize = 600;

/// Languages that are named.
const MAX_LANGUAGES: usize = 5;

/// The description of the project around the working directory, for a client whose shell commands are
/// replaced or not.
pub(super) fn describe(rewrites: bool, variable: Lookup) -> Option<String> {
    let settings = settings(variable)?;
    let name = inline_to(&project_name(settings.root.path()), 60);
    let mut sentences = vec![describe_files(&settings, &name)];
    sentences.extend(describe_memory(&settings));
    if rewrites {
        sentences.push(
            "Where `docent sh` stands in for a command of the shell, `command grep …`, `\\grep …` or `DOCENT_RAW=1 \
             grep …` runs the program itself."
                .to_owned(),
        );
    }
    sentences.push(
        "`docent search 'words'` finds code by meaning, `docent symbol NAME` definitions, `docent outline PATH` what \
         a file has; `docent sh grep|rg|find|git …` answers in less text."
            .to_owned(),
    );
    Some(cut(&sentences.join(" "), MAX_CHARS, "…"))
}

fn describe_files(settings: &Settings, name: &str) -> String {
    let (index, _) = open_index(settings);
    match index.count_languages() {
        Ok(Some(languages)) if !languages.is_empty() => {
            let files: usize = languages.iter().map(|(_, files)| files).sum();
            let shown = languages.iter().take(MAX_LANGUAGES);
            let mut list: Vec<String> = shown
                .map(|(language, files)| format!("{} {}", count(*files as u64), inline_to(language, 30)))
                .collect();
            if languages.len() > MAX_LANGUAGES {
                list.push(format!("{} more languages", languages.len() - MAX_LANGUAGES));
            }
            let files = plural(files, "file", "files");
            format!(
                "docent has indexed the project {name}: {files} ({}).",
                list.join(", ")
            )
        }
        _ => format!("docent knows the project {name}; it has no index yet, the first search builds it."),
    }
}

/// How many entries the memory has, and how many wait for the user.
fn describe_memory(settings: &Settings) -> Vec<String> {
    let memory = open_memory(settings);
    let entries: usize = [MemoryFile::Decisions, MemoryFile::ProgressLog]
        .into_iter()
        .filter_map(|file| memory.read(file).ok())
        .map(|text| text.lines().filter(|line| !line.trim().is_empty()).count())
        .sum();
    let waiting = memory.pending().map_or(0, |pending| pending.len());
    let mut sentences = Vec::new();
    if entries > 0 {
        sentences.push(format!(
            "Its memory has {} (`docent memory list`).",
            plural(entries, "entry", "entries")
        ));
    }
    if waiting > 0 {
        sentences.push(format!(
            "{} for the user's approval (`docent memory pending`).",
            plural(waiting, "entry waits", "entries wait")
        ));
    }
    sentences
}

fn plural(number: usize, one: &str, more: &str) -> String {
    format!(
        "{} {}",
        count(number as u64),
        if number == 1 { one } else { more }
    )
}
