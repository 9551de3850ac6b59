//! Pages of markdown about the project, a module and its sessions, for models to start with.
//!
//! MCP resources and the command line show the same pages.

use std::sync::Arc;

use docent_core::discovery::DiscoveryKind;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::programs::Program;
use docent_core::purpose::introduction;
use docent_core::rank::boosts::WEEK;
use docent_engine::clock::rfc3339;
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::git::{Commit, LogQuery};
use docent_engine::index::Corpus;
use docent_engine::overview::{Module, Overview};
use docent_engine::search::discoveries_of_module;
use docent_engine::sessions::SessionRecord;
use jiff::SignedDuration;

use crate::markdown::{count, inline_to, note};
use crate::project::Project;
use crate::settings::project_name;
use crate::tools::freshness::{freshness_notices, history_notices};

/// Lines of each list.
const MAX_MODULES: usize = 30;
const MAX_LANGUAGES: usize = 8;
const MAX_FILES: usize = 10;
const MAX_COMMITS: usize = 5;

/// Files that stand for the purpose of a module that has no words for it.
const MAX_FILES_FOR_PURPOSE: usize = 3;

/// Characters of a purpose.
const MAX_PURPOSE_CHARS: usize = 160;

/// Discoveries of each kind on a module's page.
const MAX_DISCOVERIES: usize = 3;

/// The project: languages, programs, modules and what they are for, key files, recent activity.
pub(crate) fn project_page(project: &Project, deadline: &Deadline) -> String {
    let (overview, notes) = load_overview(project, deadline);
    let mut page = format!("# {}\n", inline_to(&project_name(project.root.path()), 100));
    if let Some(introduction) = read_introduction(&project.root, &overview) {
        page += &format!("\n{}\n", inline_to(&introduction, 400));
    }
    page += &format!(
        "\n{}: {}\n",
        count_files(overview.files),
        list_languages(&overview.languages)
    );

    add_list(
        &mut page,
        "Programs",
        list_programs(&overview.programs).into_iter(),
        MAX_FILES,
    );
    add_list(
        &mut page,
        "Modules",
        overview
            .by_size()
            .into_iter()
            .map(|(name, module)| format!("`{}`: {}", inline_to(name, 80), describe_module(module))),
        MAX_MODULES,
    );
    add_list(
        &mut page,
        "Key files",
        overview.key_files.iter().map(|path| code(path)),
        MAX_FILES,
    );
    add_list(
        &mut page,
        "Read this week",
        read_this_week(project, |_| true),
        MAX_COMMITS,
    );
    add_list(
        &mut page,
        "Last commits",
        last_commits(project, deadline),
        MAX_COMMITS,
    );
    page += "\n`context://module/{name}` tells more about a module.\n";
    page + &notes
}

/// A module: its files, those read this week, and its discoveries. `None` if there is no module of that name.
pub(crate) fn module_page(project: &Project, name: &str, deadline: &Deadline) -> Option<String> {
    let (overview, mut notes) = load_overview(project, deadline);
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
    let mut page = format!(
        "# Module {}\n\n{}",
        inline_to(name, 100),
        count_files(module.files)
    );
    if module.tests > 0 {
        page += &format!(", {} of them tests", count(module.tests as u64));
    }
    page += &format!(": {}\n", list_languages(&module.languages));
    if let Some(purpose) = &module.purpose {
        page += &format!("\n{}\n", inline_to(purpose, MAX_PURPOSE_CHARS));
    }
    let own: Vec<Program> = overview
        .programs
        .iter()
        .filter(|program| RepoPath::parse(&program.path).is_ok_and(|path| module_of(&path) == name))
        .cloned()
        .collect();
    add_list(&mut page, "Programs", list_programs(&own).into_iter(), MAX_FILES);
    add_list(
        &mut page,
        "Code",
        module.code.iter().map(|path| code(path)),
        MAX_FILES * 2,
    );
    if module.code.len() >= MAX_FILES * 2 {
        page += "- and others: these are the first by name\n";
    }
    let is_inside = |path: &RepoPath| module_of(path) == name;
    add_list(
        &mut page,
        "Read this week",
        read_this_week(project, is_inside),
        MAX_COMMITS,
    );
    let discoveries = discoveries_of_module(&project.index, name, MAX_DISCOVERIES).unwrap_or_default();
    add_list(
        &mut page,
        "What is known",
        discoveries.iter().map(|stored| {
            let discovery = &stored.discovery;
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
        MAX_DISCOVERIES * DiscoveryKind::ALL.len(),
    );
    Some(page + &notes)
}

/// The names of modules with this prefix, in order.
pub(crate) fn module_names(project: &Project, prefix: &str, deadline: &Deadline) -> Vec<String> {
    let (overview, _) = load_overview(project, deadline);
    let names = overview.modules.keys().filter(|name| name.starts_with(prefix));
    names.cloned().collect()
}

/// One session.
pub(crate) fn session_page(session: &SessionRecord) -> String {
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
    for (title, uses, max) in [
        ("Tools", &session.tools, 20),
        ("Files", &session.files, MAX_FILES * 2),
        ("Searches", &session.searches, MAX_FILES),
        ("Projects", &session.projects, MAX_FILES),
    ] {
        add_list(
            &mut page,
            title,
            uses.iter().map(|(name, times)| {
                let times = if *times == 1 {
                    String::new()
                } else {
                    format!(" × {}", count(*times))
                };
                format!("{}{times}", inline_to(name, 200))
            }),
            max,
        );
    }
    page
}

/// The last sessions, a few lines each.
pub(crate) fn sessions_page(sessions: &[SessionRecord]) -> String {
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
        let list_first = |uses: &[(String, u64)]| -> String {
            let shown: Vec<String> = uses
                .iter()
                .take(5)
                .map(|(name, _)| inline_to(name, 100))
                .collect();
            let more = uses.len().saturating_sub(shown.len());
            shown.join(", ")
                + &if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                }
        };
        for (title, uses) in [
            ("Files", &session.files),
            ("Searches", &session.searches),
            ("Projects", &session.projects),
        ] {
            if !uses.is_empty() {
                page += &format!("- {title}: {}\n", list_first(uses));
            }
        }
    }
    page
}

/// Brings the index up to date and loads the overview, with notices about its freshness.
pub(crate) fn load_overview(project: &Project, deadline: &Deadline) -> (Arc<Overview>, String) {
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

/// A line for each file that programs begin in, with the names of these.
fn list_programs(programs: &[Program]) -> Vec<String> {
    group_programs(programs)
        .into_iter()
        .map(|(path, names)| {
            let names: Vec<String> = names.iter().map(|name| code(name)).collect();
            format!("{}: {}", names.join(", "), code(path))
        })
        .collect()
}

/// Programs by the file that they begin in, in their order. Several scripts of one manifest are a group.
pub(crate) fn group_programs(programs: &[Program]) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for program in programs {
        match groups.iter_mut().find(|(path, _)| *path == program.path) {
            Some((_, names)) => names.push(&program.name),
            None => groups.push((&program.path, vec![&program.name])),
        }
    }
    groups
}

/// What a module is for, and how large it is. Without a purpose, its first files stand for it.
pub(crate) fn describe_module(module: &Module) -> String {
    let size = match module.tests {
        0 => count_files(module.files),
        tests if tests == module.files => format!("{}, tests", count_files(module.files)),
        tests => format!(
            "{}, {} of them tests",
            count_files(module.files),
            count(tests as u64)
        ),
    };
    if let Some(purpose) = &module.purpose {
        return format!("{} ({size})", inline_to(purpose, MAX_PURPOSE_CHARS));
    }
    let names: Vec<String> = module
        .code
        .iter()
        .take(MAX_FILES_FOR_PURPOSE)
        .map(|path| inline_to(path.rsplit('/').next().unwrap_or(path), 60))
        .collect();
    let more = if module.code.len() > names.len() {
        ", …"
    } else {
        ""
    };
    match names.as_slice() {
        [] => size,
        names => format!("{size}: {}{more}", names.join(", ")),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count_files(number: usize) -> String {
    format!(
        "{} {}",
        count(number as u64),
        if number == 1 { "file" } else { "files" }
    )
}

/// Adds a section with the first lines, if there are any.
fn add_list(page: &mut String, title: &str, lines: impl Iterator<Item = String>, max: usize) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    *page += &format!("\n## {title}\n\n");
    for line in lines.iter().take(max) {
        *page += &format!("- {line}\n");
    }
    if lines.len() > max {
        *page += &format!("- and {} more\n", count((lines.len() - max) as u64));
    }
}

fn code(path: &str) -> String {
    format!("`{}`", inline_to(path, 200))
}

/// `rust 120, markdown 8, and 3 more`.
fn list_languages(languages: &[(String, usize)]) -> String {
    let shown: Vec<String> = languages
        .iter()
        .take(MAX_LANGUAGES)
        .map(|(language, files)| format!("{language} {}", count(*files as u64)))
        .collect();
    match languages.len().saturating_sub(shown.len()) {
        0 if shown.is_empty() => "nothing that can be searched".to_owned(),
        0 => shown.join(", "),
        more => format!("{}, and {more} more languages", shown.join(", ")),
    }
}

/// The first paragraph of the readme, below its title.
pub(crate) fn read_introduction(root: &Root, overview: &Overview) -> Option<String> {
    const MAX_README_BYTES: u64 = 1 << 20;
    let readme = overview
        .key_files
        .iter()
        .find(|path| path.to_ascii_lowercase().starts_with("readme"))?;
    let content = root.read(&RepoPath::parse(readme).ok()?, MAX_README_BYTES).ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    introduction(&text)
}

/// Files that were read in the last seven days, the most read first.
fn read_this_week(
    project: &Project,
    is_included: impl Fn(&RepoPath) -> bool,
) -> impl Iterator<Item = String> {
    let since = project.clock.now() - SignedDuration::from_secs(WEEK);
    let mut accessed = project.accesses.since(since).unwrap_or_default();
    accessed.retain(|file| RepoPath::parse(&file.path).is_ok_and(|path| is_included(&path)));
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

/// The last commits; empty without a repository.
fn last_commits(project: &Project, deadline: &Deadline) -> impl Iterator<Item = String> {
    let query = LogQuery {
        count: MAX_COMMITS,
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
