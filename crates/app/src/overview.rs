//! The project, a module of it, and the sessions that worked on it, each on a page of markdown that a model can begin with.

use std::sync::Arc;

use docent_core::boost::WEEK;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_engine::clock::rfc3339;
use docent_engine::deadline::Deadline;
use docent_engine::discoveries::known_of;
use docent_engine::files::Root;
use docent_engine::git::{Commit, LogQuery};
use docent_engine::index::Corpus;
use docent_engine::overview::Overview;
use docent_engine::sessions::SessionRecord;
use jiff::SignedDuration;

use crate::tools::dispatch::Project;
use crate::tools::freshness::{freshness_notices, history_notices};
use crate::tools::linked::project_name;
use crate::tools::markdown::{count, inline_to, note};

/// Lines of each list.
const MODULES: usize = 30;
const LANGUAGES: usize = 8;
const FILES: usize = 10;
const COMMITS: usize = 5;
const KNOWN: usize = 3;

/// What this project is: languages, modules, where it begins, what to read, what happened last.
pub(crate) fn project(project: &Project, deadline: &Deadline) -> String {
    let (overview, notes) = look(project, deadline);
    let mut page = format!("# {}\n", inline_to(&project_name(project.root.path()), 100));
    if let Some(said) = introduction(&project.root, &overview) {
        page += &format!("\n{}\n", inline_to(&said, 400));
    }
    page += &format!("\n{}: {}\n", files(overview.files), shares(&overview.languages));

    list(
        &mut page,
        "Modules",
        overview.by_size().into_iter().map(|(name, module)| {
            let files = files(module.files);
            format!(
                "`{}`: {files}, {}",
                inline_to(name, 80),
                shares(&module.languages)
            )
        }),
        MODULES,
    );
    list(
        &mut page,
        "Entry points",
        overview.entries.iter().map(|path| code(path)),
        FILES,
    );
    list(
        &mut page,
        "Key files",
        overview.key_files.iter().map(|path| code(path)),
        FILES,
    );
    list(
        &mut page,
        "Read this week",
        read_this_week(project, |_| true),
        COMMITS,
    );
    list(&mut page, "Last commits", commits(project, deadline), COMMITS);
    page += "\n`context://module/{name}` tells more about a module.\n";
    page + &notes
}

/// A module: its files, what was read of it, what is known of it. Nothing where there is none of that name.
pub(crate) fn module(project: &Project, name: &str, deadline: &Deadline) -> Option<String> {
    let (overview, mut notes) = look(project, deadline);
    let history = project
        .index
        .freshen(Corpus::History, project.search.patience, deadline, &|_| {});
    for sentence in history_notices(&history, true) {
        notes += &note(&sentence);
    }
    let module = overview.modules.get(name);
    if module.is_none() && !notes.is_empty() {
        let name = inline_to(name, 100);
        return Some(format!("# Module {name}\n\nNothing is known of it yet.\n{notes}"));
    }
    let module = module?;
    let mut page = format!("# Module {}\n\n{}", inline_to(name, 100), files(module.files));
    if module.tests > 0 {
        page += &format!(", {} of them tests", count(module.tests as u64));
    }
    page += &format!(": {}\n", shares(&module.languages));
    list(
        &mut page,
        "Entry points",
        module.entries.iter().map(|path| code(path)),
        FILES,
    );
    list(
        &mut page,
        "Code",
        module.code.iter().map(|path| code(path)),
        FILES * 2,
    );
    if module.code.len() >= FILES * 2 {
        page += "- and others: these are the first by name\n";
    }
    let is_inside = |path: &RepoPath| module_of(path) == name;
    list(
        &mut page,
        "Read this week",
        read_this_week(project, is_inside),
        COMMITS,
    );
    let known = known_of(&project.index, name, KNOWN).unwrap_or_default();
    list(
        &mut page,
        "What is known",
        known.iter().map(|note| {
            let discovery = &note.discovery;
            let first = discovery.content.lines().next().unwrap_or_default();
            let day = discovery.date.as_deref().and_then(|date| date.get(..10));
            let day = day.map(|day| format!(" {}", inline_to(day, 10)));
            format!(
                "{}{}: {}",
                discovery.kind.name(),
                day.unwrap_or_default(),
                inline_to(first, 200)
            )
        }),
        KNOWN * 4,
    );
    Some(page + &notes)
}

/// The names of modules that begin like this, in order.
pub(crate) fn module_names(project: &Project, begin: &str, deadline: &Deadline) -> Vec<String> {
    let (overview, _) = look(project, deadline);
    let names = overview.modules.keys().filter(|name| name.starts_with(begin));
    names.cloned().collect()
}

/// One session.
pub(crate) fn session(session: &SessionRecord) -> String {
    let mut page = format!("# Session {}\n\n", inline_to(&session.id, 60));
    if let Some(client) = &session.client {
        page += &format!("- Client: {}\n", inline_to(client, 100));
    }
    page += &format!(
        "- Started: {}\n- Last heard of: {}\n",
        rfc3339(session.started),
        rfc3339(session.last)
    );
    if let Some(ended) = session.ended {
        page += &format!("- Ended: {}\n", rfc3339(ended));
    }
    for (title, used, most) in [
        ("Tools", &session.tools, 20),
        ("Files", &session.files, FILES * 2),
        ("Searches", &session.searches, FILES),
        ("Projects", &session.projects, FILES),
    ] {
        list(
            &mut page,
            title,
            used.iter().map(|(name, times)| {
                let times = if *times == 1 {
                    String::new()
                } else {
                    format!(" × {}", count(*times))
                };
                format!("{}{times}", inline_to(name, 200))
            }),
            most,
        );
    }
    page
}

/// The last sessions, a few lines each.
pub(crate) fn sessions(sessions: &[SessionRecord]) -> String {
    let mut page = String::from("# Recent sessions\n");
    if sessions.is_empty() {
        page += "\nNone is remembered yet.\n";
    }
    for session in sessions {
        let calls: u64 = session.tools.iter().map(|(_, times)| times).sum();
        let client = session.client.as_deref().unwrap_or("command line");
        page += &format!(
            "\n## {} {}\n\n- {} until {}, {} {}\n",
            inline_to(client, 60),
            inline_to(&session.id, 60),
            rfc3339(session.started),
            rfc3339(session.ended.unwrap_or(session.last)),
            count(calls),
            if calls == 1 { "call" } else { "calls" },
        );
        let few = |used: &[(String, u64)]| -> String {
            let shown: Vec<String> = used
                .iter()
                .take(5)
                .map(|(name, _)| inline_to(name, 100))
                .collect();
            let more = used.len().saturating_sub(shown.len());
            shown.join(", ")
                + &if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                }
        };
        for (title, used) in [
            ("Files", &session.files),
            ("Searches", &session.searches),
            ("Projects", &session.projects),
        ] {
            if !used.is_empty() {
                page += &format!("- {title}: {}\n", few(used));
            }
        }
    }
    page
}

/// The project as it is now, and what could not be looked at.
pub(crate) fn look(project: &Project, deadline: &Deadline) -> (Arc<Overview>, String) {
    let freshness = project
        .index
        .freshen(Corpus::Code, project.search.patience, deadline, &|_| {});
    let overview = project.index.overview().unwrap_or_default();
    let notes = freshness_notices(&freshness)
        .iter()
        .map(|sentence| note(sentence))
        .collect();
    (overview, notes)
}

/// `1 file`, `2 files`.
fn files(number: usize) -> String {
    format!(
        "{} {}",
        count(number as u64),
        if number == 1 { "file" } else { "files" }
    )
}

fn list(page: &mut String, title: &str, lines: impl Iterator<Item = String>, most: usize) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    *page += &format!("\n## {title}\n\n");
    for line in lines.iter().take(most) {
        *page += &format!("- {line}\n");
    }
    if lines.len() > most {
        *page += &format!("- and {} more\n", count((lines.len() - most) as u64));
    }
}

fn code(path: &str) -> String {
    format!("`{}`", inline_to(path, 200))
}

/// `rust 120, markdown 8, and 3 more`.
fn shares(languages: &[(String, usize)]) -> String {
    let shown: Vec<String> = languages
        .iter()
        .take(LANGUAGES)
        .map(|(language, files)| format!("{language} {}", count(*files as u64)))
        .collect();
    match languages.len().saturating_sub(shown.len()) {
        0 if shown.is_empty() => "nothing that can be searched".to_owned(),
        0 => shown.join(", "),
        more => format!("{}, and {more} more languages", shown.join(", ")),
    }
}

/// What the readme says first, below its title.
pub(crate) fn introduction(root: &Root, overview: &Overview) -> Option<String> {
    const MAX_README_BYTES: u64 = 1 << 20;
    let readme = overview
        .key_files
        .iter()
        .find(|path| path.to_ascii_lowercase().starts_with("readme"))?;
    let content = root.read(&RepoPath::parse(readme).ok()?, MAX_README_BYTES).ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    // Badges, pictures, markup and headings say nothing; nor does a paragraph that begins with one of them.
    let is_mark = |c: char| "#<[!|>=-*`.:\"~_+".contains(c);
    let paragraphs = text.split("\n\n").map(|block| {
        let lines: Vec<&str> = block
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        // A line below which there is nothing but a line is a heading.
        match lines.as_slice() {
            [_, line, rest @ ..] if line.chars().all(|c| "=-~^".contains(c)) => rest.join(" "),
            lines => lines.join(" "),
        }
    });
    let mut said =
        paragraphs.filter(|said| !said.is_empty() && !said.starts_with(is_mark) && said.contains(' '));
    said.next()
}

/// Files that were read in the last seven days, the most read first.
fn read_this_week(project: &Project, counts: impl Fn(&RepoPath) -> bool) -> impl Iterator<Item = String> {
    let since = project.clock.now() - SignedDuration::from_secs(WEEK);
    let mut accessed = project.accesses.since(since).unwrap_or_default();
    accessed.retain(|file| RepoPath::parse(&file.path).is_ok_and(|path| counts(&path)));
    accessed.sort_by(|a, b| {
        b.times
            .cmp(&a.times)
            .then_with(|| b.last.cmp(&a.last))
            .then_with(|| a.path.cmp(&b.path))
    });
    accessed.into_iter().map(|file| {
        let times = if file.times == 1 {
            "once".to_owned()
        } else {
            format!("{} times", count(file.times))
        };
        format!("{} ({times})", code(&file.path))
    })
}

/// The last commits, where there is a history.
fn commits(project: &Project, deadline: &Deadline) -> impl Iterator<Item = String> {
    let query = LogQuery {
        count: COMMITS,
        ..LogQuery::default()
    };
    let log = project.git.log(&query, deadline).unwrap_or_default();
    log.commits.into_iter().map(
        |Commit {
             short,
             date,
             author,
             subject,
             ..
         }| {
            format!(
                "`{short}` {date} {}: {}",
                inline_to(&author, 60),
                inline_to(&subject, 150)
            )
        },
    )
}
