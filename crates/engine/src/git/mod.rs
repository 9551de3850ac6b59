//! The project's history, from the `git` command.
//!
//! Speed beyond git's own comes from what a server can keep: a process that answers questions about objects, a
//! commit graph beside the repository, a table of its commits, and answers that cannot change because they are
//! named by object ids. Nothing is ever written into the repository.

mod blame;
mod command;
mod diff;
mod fill;
mod graph;
mod history;
mod log;
mod messages;
mod objects;
mod patch;
mod place;
mod raw;
mod table;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use docent_core::path::RepoPath;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::clock::Clock;
use crate::deadline::{Deadline, Expired};
use crate::files::Root;

pub use blame::{Attribution, Blame, BlameRange, BlamedLine};
pub use command::{Surroundings, end_children};
pub use diff::{Detail, Diff, MAX_CHANGED_LINES, Patched, Sides};
pub use log::{Commit, CommitLog, LogQuery};
pub use messages::Heads;
pub use raw::{ChangeStatus, ChangedFile};

use command::Runner;
use history::CommitHistory;
use objects::Objects;
use place::{GitFileStamp, RepoLocation};

/// The history of one project. Opened at the first question, and again when the repository has changed under it.
#[derive(Debug)]
pub struct Git {
    root: Root,
    surroundings: Surroundings,
    clock: Clock,
    program: Option<PathBuf>,
    /// Set once the program has said that it is recent enough.
    is_recent: OnceLock<()>,
    open: Mutex<Option<Arc<Repository>>>,
    /// Only where a process stays long enough to profit from it.
    history: Option<Arc<CommitHistory>>,
    blamed: Cache<blame::Version, Arc<blame::BlamedVersion>, AnswerWeight>,
    compared: Cache<diff::Between, Arc<Diff>, AnswerWeight>,
    /// By object id, a hash of what it holds.
    contents: Cache<String, u64>,
}

/// What a kept answer weighs, in bytes.
#[derive(Clone, Debug)]
struct AnswerWeight;

impl Weighter<blame::Version, Arc<blame::BlamedVersion>> for AnswerWeight {
    fn weight(&self, _: &blame::Version, known: &Arc<blame::BlamedVersion>) -> u64 {
        known.weight()
    }
}

impl Weighter<diff::Between, Arc<Diff>> for AnswerWeight {
    fn weight(&self, _: &diff::Between, diff: &Arc<Diff>) -> u64 {
        diff.weight()
    }
}

/// An open repository.
#[derive(Debug)]
struct Repository {
    runner: Runner,
    objects: Objects,
    configuration: Option<GitFileStamp>,
    /// How many digits of an id are enough to know a commit by.
    digits: usize,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed")]
    NotInstalled,
    #[error("git {0} is too old")]
    TooOld(String),
    #[error("there is no repository")]
    NotARepository,
    #[error("the repository is not followed: {0}")]
    Refused(&'static str),
    #[error("the repository cannot be read")]
    Denied,
    #[error("the repository has no working tree")]
    Bare,
    #[error("no commit is called {0}")]
    UnknownReference(String),
    #[error("{0} cannot be a reference")]
    MalformedReference(String),
    #[error("{0} is neither a date nor a reference")]
    UnknownMoment(String),
    #[error("git does not track {0}")]
    Untracked(String),
    #[error("lines {start} to {end} of a file that has {lines}")]
    LineRange { start: usize, end: usize, lines: usize },
    #[error("objects are missing")]
    Incomplete,
    #[error("{0} is blocked")]
    Blocked(String),
    #[error("{0} is binary")]
    Binary(String),
    #[error("{0} is too large")]
    TooLarge(String),
    #[error(transparent)]
    Expired(#[from] Expired),
    #[error("too many files")]
    TooManyFiles,
    #[error("git failed: {0}")]
    Failed(&'static str),
    #[error("git stopped in the middle of its answer")]
    BrokenOff,
    #[error("git cannot be talked to: {0}")]
    Pipe(io::Error),
}

/// The first version that takes settings from the environment, which is how filters are switched off.
const OLDEST: (u32, u32) = (2, 31);

/// Bytes of answers that are kept, of each kind.
const MAX_CACHED_BYTES: u64 = 8 << 20;

/// Configuration beyond this is no configuration.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

impl Git {
    /// `folder` is where a server keeps what it learns; without one, every question goes to git.
    pub fn new(root: Root, surroundings: Surroundings, clock: Clock, folder: Option<PathBuf>) -> Self {
        let program = surroundings.program("git", root.path());
        Self {
            root,
            surroundings,
            clock,
            program,
            is_recent: OnceLock::new(),
            open: Mutex::default(),
            history: folder.map(|folder| Arc::new(CommitHistory::new(folder))),
            blamed: Cache::with_weighter(200, MAX_CACHED_BYTES, AnswerWeight),
            compared: Cache::with_weighter(200, MAX_CACHED_BYTES, AnswerWeight),
            contents: Cache::new(1_000),
        }
    }

    /// The repository as it is now. What was learned about it is kept while its configuration stays the same.
    fn repository(&self, deadline: &Deadline) -> Result<Arc<Repository>, GitError> {
        let place = RepoLocation::find(self.root.path())?;
        let graph = self.history.as_ref().and_then(|history| history.commit_graph());
        let graph = graph.filter(|_| place.is_listable());
        let mut open = self
            .open
            .lock()
            .expect("nothing panics while it holds the repository");
        if let Some(known) = &*open
            && *known.runner.place() == place
            && known.runner.graph() == graph.as_deref()
            && known.configuration.as_ref() == Some(&place.configuration())
        {
            return Ok(known.clone());
        }
        let program = self.program.clone().ok_or(GitError::NotInstalled)?;
        let runner = Runner::new(program, &self.surroundings, place, self.clock).with_graph(graph);
        if self.is_recent.get().is_none() {
            recent_enough(&runner, deadline)?;
            self.is_recent.get_or_init(|| ());
        }
        let repository = Arc::new(Repository::open(runner, deadline)?);
        *open = Some(repository.clone());
        Ok(repository)
    }
}

impl Repository {
    fn open(runner: Runner, deadline: &Deadline) -> Result<Self, GitError> {
        let place = runner.place();
        let before = place.configuration();
        let mut list = runner.command("config");
        list.args(["--list", "-z", "--includes"]);
        let bytes = command::whole(list, MAX_CONFIG_BYTES, deadline)?;
        let configuration = Configuration::read(&bytes)?;
        configuration.names(place)?;
        place.has_no_links_out()?;
        // Included files may change unseen, so nothing is kept where there are any.
        let stamp = (!configuration.includes).then_some(before);
        let runner = runner.overriding(configuration.overrides);
        let objects = Objects::new(runner.clone());
        let mut repository = Self {
            runner,
            objects,
            configuration: stamp,
            digits: 7,
        };
        if repository.head(deadline)?.is_some() {
            let mut short = repository.runner.command("rev-parse");
            short.args(["--short", "HEAD"]);
            repository.digits = command::text(short, 100, deadline)?.trim_end().len();
        }
        Ok(repository)
    }

    /// The commit checked out, if there is one yet.
    fn head(&self, deadline: &Deadline) -> Result<Option<String>, GitError> {
        self.find("HEAD", deadline)
    }

    /// The commit a caller's reference means.
    fn commit(&self, reference: &str, deadline: &Deadline) -> Result<String, GitError> {
        check_reference(reference)?;
        self.find(reference, deadline)?
            .ok_or_else(|| GitError::UnknownReference(reference.to_owned()))
    }

    fn find(&self, reference: &str, deadline: &Deadline) -> Result<Option<String>, GitError> {
        if reference.contains(":/") || reference.contains("{/") {
            return self.search(reference, deadline);
        }
        let name = format!("{reference}^{{commit}}");
        let found = self.objects.find(&name, deadline)?;
        Ok(found.filter(|found| found.kind == "commit").map(|found| found.id))
    }

    /// A search through messages takes its time, so it gets a process of its own.
    fn search(&self, reference: &str, deadline: &Deadline) -> Result<Option<String>, GitError> {
        let mut command = self.runner.command("rev-parse");
        command.args(["--verify", "--quiet", "--end-of-options", reference]);
        let (id, code) = command::output(command, 1_000, deadline)?;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        let found = if code == Some(0) && objects::is_id(&id) {
            self.objects.find(&format!("{id}^{{commit}}"), deadline)?
        } else {
            None
        };
        Ok(found.map(|found| found.id))
    }

    /// As much of an id as it is known by.
    fn short(&self, id: &str) -> String {
        id.get(..self.digits).unwrap_or(id).to_owned()
    }

    /// A file of the project as git names it.
    fn path(&self, path: &RepoPath) -> String {
        self.runner.place().in_repository(path.as_str())
    }
}

/// What could be an option, or more than one line, is no reference.
fn check_reference(reference: &str) -> Result<(), GitError> {
    let is_fine =
        !reference.starts_with('-') && !reference.contains(char::is_control) && reference.len() <= 1_000;
    if is_fine {
        Ok(())
    } else {
        Err(GitError::MalformedReference(reference.to_owned()))
    }
}

fn recent_enough(runner: &Runner, deadline: &Deadline) -> Result<(), GitError> {
    let text = command::text(runner.command("version"), 1_000, deadline)?;
    let version = text.trim().strip_prefix("git version ").unwrap_or(text.trim());
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if (major, minor) < OLDEST {
        return Err(GitError::TooOld(version.to_owned()));
    }
    Ok(())
}

/// What the repository's configuration says that matters here.
#[derive(Debug, Default)]
struct Configuration {
    work_tree: Option<String>,
    includes: bool,
    overrides: Vec<(String, String)>,
}

impl Configuration {
    /// `KEY\nVALUE\0` for each entry.
    fn read(bytes: &[u8]) -> Result<Self, GitError> {
        let mut configuration = Self::default();
        for entry in bytes.split(|byte| *byte == 0) {
            let key = entry.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let value = String::from_utf8_lossy(entry.get(key.len() + 1..).unwrap_or_default());
            // A name that is not text could not be switched off by name.
            let key = str::from_utf8(key).map_err(|_| GitError::Refused("its configuration is not UTF-8"))?;
            if key == "core.worktree" {
                configuration.work_tree = Some(value.into_owned());
            } else if key.starts_with("include.") || key.starts_with("includeif.") {
                configuration.includes = true;
            } else if let Some(filter) = key.strip_prefix("filter.")
                && let Some((name, _)) = filter.rsplit_once('.')
            {
                for (what, value) in [
                    ("clean", ""),
                    ("smudge", ""),
                    ("process", ""),
                    ("required", "false"),
                ] {
                    configuration
                        .overrides
                        .push((format!("filter.{name}.{what}"), value.to_owned()));
                }
            }
        }
        configuration.overrides.sort();
        configuration.overrides.dedup();
        Ok(configuration)
    }

    /// A submodule's directory names its work tree; nobody's may name another.
    fn names(&self, place: &RepoLocation) -> Result<(), GitError> {
        let Some(named) = &self.work_tree else {
            return if place.needs_worktree {
                Err(place::STRANGER)
            } else {
                Ok(())
            };
        };
        let end = place.git_dir.join(named).canonicalize().ok();
        if end.is_some() && end == place.work_tree {
            Ok(())
        } else {
            Err(GitError::Refused("its core.worktree leads to another directory"))
        }
    }
}
