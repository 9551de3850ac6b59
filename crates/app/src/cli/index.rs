//! The commands about the index: build it, tell how it is, throw it away.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::Command;
use docent_engine::accesses::Accesses;
use docent_engine::deadline::Deadline;
use docent_engine::embed::{EmbeddingError, Remote};
use docent_engine::git::Git;
use docent_engine::index::{Corpus, Filled, Index, IndexOptions, IndexStatus, Patience, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::flag;
use super::print::{self, TerminalPage};
use crate::settings::Settings;
use crate::tools::markdown::count;

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("index")
            .about("Bring the index up to date; searches do so by themselves")
            .arg(flag("force", "Build it anew, whatever is there")),
        Command::new("status")
            .about("Show what is indexed, what is left out and why, and how fresh it is")
            .arg(flag("json", "Print it as JSON")),
        Command::new("clear")
            .about("Throw the index of this project away; nothing is lost but the time to build it"),
    ]
}

/// The index of a project for as long as it takes to look: whoever works there watches it.
pub(super) fn open(settings: &Settings) -> (Index, Arc<Accesses>) {
    let accesses = Arc::new(Accesses::new(settings.folder.clone(), settings.clock));
    let git = Git::new(
        settings.root.clone(),
        settings.surroundings.clone(),
        settings.clock,
        None,
    );
    let options = IndexOptions {
        watch: false,
        git: Some(Arc::new(git)),
        ..settings.index.clone()
    };
    let index = Index::new(
        settings.root.clone(),
        settings.folder.clone(),
        accesses.clone(),
        options,
    );
    (index, accesses)
}

/// `docent index`.
pub(super) fn build(settings: &Settings, force: bool) -> ExitCode {
    let (index, _) = open(settings);
    if force {
        index.renew();
    }
    let started = Instant::now();
    let bar = Bar::default();
    let report = |progress| bar.show(progress);
    let freshness = index.freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &report);
    drop(bar);
    let Progress {
        chunks, bytes, total, ..
    } = index.progress();
    let seconds = started.elapsed().as_secs_f64();
    let files = count(freshness.files as u64);
    print::announce(&if total == 0 {
        format!("{files} files are indexed; nothing has changed")
    } else {
        let changed = if total == freshness.files as u64 {
            String::new()
        } else {
            format!("; {} had changed", count(total))
        };
        format!(
            "{files} files are indexed{changed}: {} chunks in {seconds:.1} s, {}",
            count(chunks),
            rate(bytes, seconds)
        )
    });
    let history = index.freshen(
        Corpus::History,
        Patience::UntilDone,
        &Deadline::default(),
        &|_| {},
    );
    if history.files > 0 {
        print::announce(&format!(
            "{} commits are searched for fixes and decisions",
            count((history.files - history.pending) as u64)
        ));
    }
    for trouble in &freshness.troubles {
        print::complain(trouble);
    }
    if let Err(trouble) = fill(&index, settings) {
        print::complain(&trouble);
        return ExitCode::FAILURE;
    }
    if freshness.pending == 0 && freshness.troubles.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Has a model on a server learn what is indexed, where there is one.
fn fill(index: &Index, settings: &Settings) -> Result<(), String> {
    let Some(remote) = &settings.index.remote else {
        return Ok(());
    };
    let server = remote.server();
    let bar = Bar::default();
    let report = |filled: Filled| {
        let known = filled.files - filled.missing;
        bar.draw(
            known as u64,
            filled.files as u64,
            &format!(" known to {}", server.model),
        );
    };
    let before = remote.count().unwrap_or_default();
    let outcome = index.fill(&report);
    drop(bar);
    let asked = remote.count().unwrap_or_default().saturating_sub(before);
    print::announce(&format!("{} has given {} vectors", server.model, count(asked)));
    outcome.map_err(|trouble| format!("The embedding server {} {trouble}", server.host()))
}

/// `docent clear`.
pub(super) fn clear(settings: &Settings) -> anyhow::Result<ExitCode> {
    let was_there = open(settings).0.clear()?;
    print::announce(if was_there {
        "The index is gone; the next search builds it anew"
    } else {
        "There was no index"
    });
    Ok(ExitCode::SUCCESS)
}

/// `docent status`.
pub(super) fn status(settings: &Settings, as_json: bool, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let index = open(settings).0;
    let status = index.status();
    let server = index.filled();
    if as_json {
        let mut json = json(&status, settings.index.embedder.name());
        if let Some((remote, filled)) = settings.index.remote.as_ref().zip(server) {
            json["server"] = server_json(remote, filled);
        }
        page.json(&json)?;
    } else {
        write(&status, settings, server, &mut page)?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn write(
    status: &IndexStatus,
    settings: &Settings,
    server: Option<Result<Filled, EmbeddingError>>,
    page: &mut TerminalPage,
) -> std::io::Result<()> {
    const WIDTH: usize = 10;
    let freshness = &status.freshness;
    let number = |count_of: usize| count(count_of as u64);
    let root = settings.root.path().display().to_string();
    page.row("project", WIDTH, &root, "")?;
    let of = format!("of {} in the project", number(freshness.files));
    page.row("files", WIDTH, &number(status.indexed), &of)?;
    page.row("chunks", WIDTH, &count(status.chunks), "")?;
    let sections = format!("with {} sections", count(status.sections));
    page.row("pages", WIDTH, &number(status.pages), &sections)?;
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
    page.row("freshness", WIDTH, &fresh, "")?;
    let embedder = settings.index.embedder.name();
    page.row("embedder", WIDTH, embedder, "built in")?;
    if let Some((remote, filled)) = settings.index.remote.as_ref().zip(server) {
        let about = match filled {
            Ok(Filled { files, missing }) => {
                format!("knows {} of {} files", number(files - missing), number(files))
            }
            Err(trouble) => trouble.to_string(),
        };
        let host = remote.server().host();
        page.row(
            "server",
            WIDTH,
            &remote.server().model,
            &format!("at {host}, {about}"),
        )?;
    }
    if let Some(process) = &status.writer {
        page.row(
            "writer",
            WIDTH,
            &format!("process {process}"),
            "is changing the index now",
        )?;
    }
    match &status.folder {
        Some(folder) => page.row(
            "on disk",
            WIDTH,
            &size(status.bytes_on_disk),
            &shortened(
                folder.ancestors().nth(2).unwrap_or(folder),
                settings.home.as_deref(),
            ),
        )?,
        None => page.row("on disk", WIDTH, "nothing", "")?,
    }
    languages(status, WIDTH, page)?;
    for (note, files, first) in &status.notes {
        let more = if *files > first.len() { ", …" } else { "" };
        page.row(
            note,
            WIDTH,
            &number(*files),
            &format!("{}{more}", first.join(", ")),
        )?;
    }
    if status.unnameable > 0 {
        page.row(
            "left out",
            WIDTH,
            &count(status.unnameable),
            "names that are not UTF-8 or cannot be written as a path",
        )?;
    }
    if freshness.missed > 0 {
        page.row("unreadable", WIDTH, &count(freshness.missed), "directories")?;
    }
    for other in &status.others {
        page.note(&format!(
            "{other} is an index of another version or with other settings; it is left alone"
        ))?;
    }
    freshness
        .troubles
        .iter()
        .try_for_each(|trouble| page.note(trouble))
}

/// Languages by how many files they have: bars where a person looks, else all of them on a line.
fn languages(status: &IndexStatus, width: usize, page: &mut TerminalPage) -> std::io::Result<()> {
    const MAX_SHOWN_LANGUAGES: usize = 8;
    if !page.is_terminal() {
        let all: Vec<String> = status
            .languages
            .iter()
            .map(|(name, files)| format!("{name} {}", count(*files as u64)))
            .collect();
        return page.row("languages", width, &all.join(", "), "");
    }
    let shown = &status.languages[..status.languages.len().min(MAX_SHOWN_LANGUAGES)];
    let most = shown.first().map_or(0, |(_, files)| *files);
    for (name, files) in shown {
        page.bar(name, 16, *files, most)?;
    }
    match status.languages.len() - shown.len() {
        0 => Ok(()),
        more => page.dim(&format!("  and {more} more languages")),
    }
}

/// A path as people write it, from their home on.
fn shortened(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(
        || path.display().to_string(),
        |below| format!("~/{}", below.display()),
    )
}

fn json(status: &IndexStatus, embedder: &str) -> serde_json::Value {
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

/// How far an index is, drawn on a terminal and nowhere else.
pub(super) struct Bar {
    bar: Mutex<Option<ProgressBar>>,
    started: Instant,
}

impl Default for Bar {
    fn default() -> Self {
        Self {
            bar: Mutex::default(),
            started: Instant::now(),
        }
    }
}

impl Bar {
    pub(super) fn show(&self, progress: Progress) {
        let Progress {
            done,
            total,
            chunks,
            bytes,
        } = progress;
        let rate = rate(bytes, self.started.elapsed().as_secs_f64());
        let message = match chunks {
            0 => String::new(),
            chunks => format!(" · {} chunks · {rate}", count(chunks)),
        };
        self.draw(done, total, &message);
    }

    fn draw(&self, done: u64, total: u64, message: &str) {
        if !std::io::stderr().is_terminal() || total == 0 {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{bar:24} {pos}/{len} files{msg}").expect("a literal template");
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
        });
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(message.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(super) fn rate(bytes: u64, seconds: f64) -> String {
    format!("{:.1} MB/s", bytes as f64 / 1e6 / seconds.max(0.001))
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(super) fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
