//! The commands about the index: `docent index`, `docent status` and `docent clear`.
//!
//! Searches keep the index up to date by themselves; nobody has to run these.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::deadline::Deadline;
use docent_engine::embed::{EmbeddingError, Remote};
use docent_engine::index::{Corpus, Filled, Index, IndexStatus, Patience, Progress};
use serde_json::json;

use super::flags::flag;
use super::progress::{IndexProgress, format_rate, format_size};
use crate::markdown::count;
use crate::project::open_index;
use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("index")
            .about("Bring the index up to date; searches do so by themselves")
            .arg(flag("force", "Rebuild it from scratch"))
            .arg(
                Arg::new("export")
                    .long("export")
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .conflicts_with("import")
                    .help("Then append it to FILE, for `--import` on another machine"),
            )
            .arg(
                Arg::new("import")
                    .long("import")
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .conflicts_with("force")
                    .help("Begin with the index in FILE: only files that differ are read"),
            )
            .arg(
                Arg::new("digest")
                    .long("digest")
                    .value_name("SHA256")
                    .requires("import")
                    .help("Import only the export with this digest, as `--export` has printed it"),
            ),
        Command::new("status")
            .about("Show what is indexed, what is left out and why, and how fresh it is")
            .arg(flag("json", "Print it as JSON")),
        Command::new("clear")
            .about("Throw the index of this project away; nothing is lost but the time to build it")
            .arg(flag(
                "older",
                "Only indexes of earlier versions, which this one does not use",
            )),
    ]
}

/// `docent index`.
pub(super) fn build(settings: &Settings, given: &ArgMatches) -> ExitCode {
    let (index, _) = open_index(settings);
    let file = |name: &str| given.get_one::<PathBuf>(name);
    if let Some(file) = file("import") {
        let digest = given.get_one::<String>("digest").map(String::as_str);
        match index.import(file, digest) {
            Ok(imported) => terminal::announce(&format!(
                "{} files are as in {}. Its digest: {}",
                count(imported.files as u64),
                file.display(),
                imported.digest
            )),
            Err(error) => return fail(&format!("{} cannot be imported: {error}", file.display())),
        }
    }
    let outcome = if given.get_flag("force") {
        rebuild(&index, settings)
    } else {
        bring_up_to_date(&index, settings)
    };
    let Some(file) = file("export").filter(|_| outcome == ExitCode::SUCCESS) else {
        return outcome;
    };
    match index.export(file) {
        Ok(exported) => terminal::announce(&format!(
            "{} has the index, {}. Its digest: {}",
            file.display(),
            format_size(exported.bytes),
            exported.digest
        )),
        Err(error) => {
            return fail(&format!(
                "The index cannot be exported to {}: {error}",
                file.display()
            ));
        }
    }
    outcome
}

fn fail(trouble: &str) -> ExitCode {
    terminal::complain(trouble);
    ExitCode::FAILURE
}

/// Builds the index from the files.
pub(super) fn rebuild(index: &Index, settings: &Settings) -> ExitCode {
    index.rebuild();
    bring_up_to_date(index, settings)
}

/// Builds or updates the index, and says what was done.
pub(super) fn bring_up_to_date(index: &Index, settings: &Settings) -> ExitCode {
    let started = Instant::now();
    let bar = IndexProgress::default();
    let report = |progress| bar.show(progress);
    let freshness = index.freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &report);
    let seconds = started.elapsed().as_secs_f64();
    let Progress {
        chunks,
        bytes,
        changed,
        ..
    } = index.progress();
    let report = |_| bar.show_history();
    let history = index.freshen(
        Corpus::History,
        Patience::UntilDone,
        &Deadline::default(),
        &report,
    );
    drop(bar);
    let files = count(freshness.files as u64);
    terminal::announce(&if changed == 0 {
        format!("{files} files are indexed; nothing has changed")
    } else {
        let how_many = if changed == freshness.files as u64 {
            String::new()
        } else {
            format!("; {} had changed", count(changed))
        };
        format!(
            "{files} files are indexed{how_many}: {} chunks in {seconds:.1} s, {}",
            count(chunks),
            format_rate(bytes, seconds)
        )
    });
    if let adopted @ 1.. = index.adopted_files() {
        terminal::announce(&format!(
            "{} files were as in another working tree of this repository, and taken over from its index",
            count(adopted)
        ));
    }
    if history.files > 0 {
        terminal::announce(&format!(
            "{} commits are searched for fixes and decisions",
            count((history.files - history.pending) as u64)
        ));
    }
    for trouble in &freshness.troubles {
        terminal::complain(trouble);
    }
    if let Err(trouble) = fill_vectors(index, settings) {
        terminal::complain(&trouble);
        return ExitCode::FAILURE;
    }
    if freshness.pending == 0 && freshness.troubles.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Fetches the missing vectors from the embedding server, if there is one.
fn fill_vectors(index: &Index, settings: &Settings) -> Result<(), String> {
    let Some(remote) = &settings.index.remote else {
        return Ok(());
    };
    let server = remote.server();
    let bar = IndexProgress::default();
    let report = |filled: Filled| {
        let known = filled.files - filled.missing;
        bar.draw(
            known as u64,
            filled.files as u64,
            &format!(
                "{} of {} files known to {}",
                count(known as u64),
                count(filled.files as u64),
                server.model
            ),
        );
    };
    let before = remote.count().unwrap_or_default();
    let outcome = index.fill(&report);
    drop(bar);
    let received = remote.count().unwrap_or_default().saturating_sub(before);
    terminal::announce(&format!("{} has given {} vectors", server.model, count(received)));
    outcome.map_err(|trouble| format!("The embedding server {} {trouble}", server.host()))
}

/// `docent clear`.
pub(super) fn clear(settings: &Settings, only_older: bool) -> anyhow::Result<ExitCode> {
    if only_older {
        let removed = open_index(settings).0.clear_older()?;
        terminal::announce(&match removed.as_slice() {
            [] => "There was no index of an earlier version".to_owned(),
            removed => format!(
                "These indexes of earlier versions are gone: {}",
                removed.join(", ")
            ),
        });
        return Ok(ExitCode::SUCCESS);
    }
    let existed = open_index(settings).0.clear()?;
    terminal::announce(if existed {
        "The index is gone; the next search rebuilds it"
    } else {
        "There was no index"
    });
    Ok(ExitCode::SUCCESS)
}

/// `docent status`.
pub(super) fn show_status(
    settings: &Settings,
    as_json: bool,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let index = open_index(settings).0;
    let status = index.status();
    let server = index.filled();
    if as_json {
        let mut json = status_json(&status, settings.index.embedder.name());
        if let Some((remote, filled)) = settings.index.remote.as_ref().zip(server) {
            json["server"] = server_json(remote, filled);
        }
        page.json(&json)?;
    } else {
        write_status(&status, settings, server, &mut page)?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Width of the names at the beginning of a row.
const NAME_WIDTH: usize = 10;

fn write_status(
    status: &IndexStatus,
    settings: &Settings,
    server: Option<Result<Filled, EmbeddingError>>,
    page: &mut TerminalPage,
) -> io::Result<()> {
    let freshness = &status.freshness;
    let number = |count_of: usize| count(count_of as u64);
    let root = settings.root.path().display().to_string();
    page.row("project", NAME_WIDTH, &root, "")?;
    let of = format!("of {} in the project", number(freshness.files));
    page.row("files", NAME_WIDTH, &number(status.indexed), &of)?;
    page.row("chunks", NAME_WIDTH, &count(status.chunks), "")?;
    let sections = format!("with {} sections", count(status.sections));
    page.row("pages", NAME_WIDTH, &number(status.pages), &sections)?;
    let fresh = match freshness.pending {
        0 if freshness.files > 0 => "up to date".to_owned(),
        0 => "there is nothing to index".to_owned(),
        _ if !freshness.was_complete && status.chunks == 0 => {
            "not built yet; a search or `docent index` builds it".to_owned()
        }
        pending => format!(
            "{} files have changed; the next search takes them in",
            number(pending)
        ),
    };
    page.row("freshness", NAME_WIDTH, &fresh, "")?;
    write_embedders(settings, server, page)?;
    if let Some(process) = &status.writer {
        page.row(
            "writer",
            NAME_WIDTH,
            &format!("process {process}"),
            "is changing the index now",
        )?;
    }
    match &status.folder {
        Some(folder) => page.row(
            "on disk",
            NAME_WIDTH,
            &format_size(status.bytes_on_disk),
            &shorten_home(
                folder.ancestors().nth(2).unwrap_or(folder),
                settings.home.as_deref(),
            ),
        )?,
        None => page.row("on disk", NAME_WIDTH, "nothing", "")?,
    }
    write_languages(status, page)?;
    write_left_out(status, page)?;
    freshness
        .troubles
        .iter()
        .try_for_each(|trouble| page.note(trouble))
}

/// The bundled embedder, and the embedding server if there is one.
fn write_embedders(
    settings: &Settings,
    server: Option<Result<Filled, EmbeddingError>>,
    page: &mut TerminalPage,
) -> io::Result<()> {
    let embedder = settings.index.embedder.name();
    page.row("embedder", NAME_WIDTH, embedder, "built in")?;
    let Some((remote, filled)) = settings.index.remote.as_ref().zip(server) else {
        return Ok(());
    };
    let about = match filled {
        Ok(Filled { files, missing }) => format!(
            "knows {} of {} files",
            count((files - missing) as u64),
            count(files as u64)
        ),
        Err(trouble) => trouble.to_string(),
    };
    let server = remote.server();
    let aside = format!("at {}, {about}", server.host());
    page.row("server", NAME_WIDTH, &server.model, &aside)
}

/// Paths in one line, each cut at its beginning: one that is too long to be read fills pages.
fn shorten_paths(paths: &[String]) -> String {
    const MAX_SHOWN_CHARS: usize = 60;
    let shorten = |path: &String| match path.char_indices().rev().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("…{} (path of {} bytes)", &path[at..], path.len()),
        None => path.clone(),
    };
    paths.iter().map(shorten).collect::<Vec<_>>().join(", ")
}

/// Files and directories that are not indexed, and why; and indexes that this version does not use.
fn write_left_out(status: &IndexStatus, page: &mut TerminalPage) -> io::Result<()> {
    for (note, files, first) in &status.notes {
        let more = if *files > first.len() { ", …" } else { "" };
        let aside = format!("{}{more}", first.join(", "));
        page.row(note, NAME_WIDTH, &count(*files as u64), &aside)?;
    }
    if status.unnameable > 0 {
        page.row(
            "left out",
            NAME_WIDTH,
            &count(status.unnameable),
            "names that are not UTF-8 or cannot be written as a path, and paths that are too long",
        )?;
    }
    if status.freshness.missed > 0 {
        page.row(
            "unreadable",
            NAME_WIDTH,
            &count(status.freshness.missed),
            &format!("directories: {}", shorten_paths(&status.unreadable_directories)),
        )?;
    }
    for other in &status.others {
        page.note(&format!(
            "{other} is an index of another version or with other settings; it is left alone. `docent clear --older` \
             deletes those of earlier versions"
        ))?;
    }
    Ok(())
}

/// Languages by their number of files: bars on a terminal, all on one line in a pipe.
fn write_languages(status: &IndexStatus, page: &mut TerminalPage) -> io::Result<()> {
    const MAX_SHOWN_LANGUAGES: usize = 8;
    if !page.is_terminal() {
        let all: Vec<String> = status
            .languages
            .iter()
            .map(|(name, files)| format!("{name} {}", count(*files as u64)))
            .collect();
        return page.row("languages", NAME_WIDTH, &all.join(", "), "");
    }
    let shown = &status.languages[..status.languages.len().min(MAX_SHOWN_LANGUAGES)];
    let largest = shown.first().map_or(0, |(_, files)| *files);
    for (name, files) in shown {
        page.bar(name, 16, *files, largest)?;
    }
    match status.languages.len() - shown.len() {
        0 => Ok(()),
        more => page.dim(&format!("  and {more} more languages")),
    }
}

/// A path with the user's home written as `~`.
fn shorten_home(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(
        || path.display().to_string(),
        |below| format!("~/{}", below.display()),
    )
}

fn status_json(status: &IndexStatus, embedder: &str) -> serde_json::Value {
    let notes = status
        .notes
        .iter()
        .map(|(why, files, first)| json!({ "why": why, "files": files, "first": first }));
    json!({
        "files": status.freshness.files,
        "indexed": status.indexed,
        "chunks": status.chunks,
        "pages": status.pages,
        "sections": status.sections,
        "pending": status.freshness.pending,
        "languages": status.languages.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "notes": notes.collect::<Vec<_>>(),
        "unnameable": status.unnameable,
        "unreadableDirectories": status.unreadable_directories,
        "bytesOnDisk": status.bytes_on_disk,
        "folder": status.folder,
        "writer": status.writer,
        "embedder": embedder,
        "others": status.others,
        "troubles": status.freshness.troubles,
    })
}

fn server_json(remote: &Remote, filled: Result<Filled, EmbeddingError>) -> serde_json::Value {
    let (filled, trouble) = match filled {
        Ok(filled) => (filled, None),
        Err(trouble) => (Filled::default(), Some(trouble.to_string())),
    };
    json!({
        "url": remote.server().url,
        "model": remote.server().model,
        "files": filled.files,
        "missing": filled.missing,
        "vectors": remote.count().unwrap_or_default(),
        "kept": remote.file(),
        "trouble": trouble,
    })
}
