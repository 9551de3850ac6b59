//! The project's history, from the `git` command.
//!
//! A server is faster than git alone because it keeps a `git cat-file` process open, a commit graph and a
//! table of commits in the user's cache, and answers that cannot change because object ids name them.
//!
//! Invariant: nothing is written into the repository.

mod blame;
mod command;
mod diff;
mod fill;
mod graph;
mod history;
mod inspect;
mod last_change;
mod last_edit;
mod line_log;
mod links;
mod location;
mod log;
mod messages;
mod objects;
mod past;
mod patch;
mod pickaxe;
mod raw;
mod reference;
mod staged;
mod stores;
mod submodule;
mod table;
mod user;
mod work_tree;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use docent_core::path::RepoPath;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::clock::Clock;
use crate::deadline::{Deadline, Expired};
use crate::files::Root;

pub use blame::{Attribution, Blame, BlameRange, BlamedLine};
pub use command::{GitEnvironment, end_children};
pub use diff::{Diff, DiffDetail, DiffSides, FileDiff, MAX_CHANGED_LINES, PatchLimit};
pub use inspect::InspectedCommit;
pub use line_log::{LineChange, LineHistory, LineSelection};
pub use log::{Commit, CommitLog, LogQuery};
pub use messages::Heads;
pub use past::{ModifiedFile, PastCommit, PastFile};
pub use raw::{ChangeStatus, ChangedFile};
pub use reference::MIN_ID_DIGITS;
pub use staged::PendingFiles;
pub(crate) use stores::unquote;
pub use user::{GitText, OutputTrait, SettingUse, UserGit, find_top};

use command::Runner;
use history::CommitHistory;
use location::{GitFileStamp, RepoLocation};
use objects::Objects;

/// The history of one project. The repository is opened at the first call, and again after it was replaced.
#[derive(Debug)]
pub struct Git {
    root: Root,
    environment: GitEnvironment,
    clock: Clock,
    program: Option<PathBuf>,
    /// Set after `git version` was recent enough.
    is_recent: OnceLock<()>,
    open: Mutex<Option<Arc<Repository>>>,
    /// `None` in processes that end too soon to profit from it.
    history: Option<Arc<CommitHistory>>,
    blamed: Cache<blame::BlameKey, Arc<blame::BlamedVersion>, AnswerWeight>,
    diffs: Cache<diff::CommitPair, Arc<Diff>, AnswerWeight>,
    /// Hashes of blobs, by object id.
    content_hashes: Cache<String, u64>,
    last_changes: Cache<String, last_change::KnownChange>,
    /// By the hash of the checked out commit, the path and the text.
    last_edits: Cache<u64, Option<log::Commit>>,
    /// Open submodules, by their directories.
    submodules: Mutex<HashMap<String, Arc<Self>>>,
    /// How often git took too long to find the last change of a file.
    slow_searches: AtomicU32,
    /// How often git took too long to find the last edit of a definition.
    slow_edits: AtomicU32,
}

/// Weighs cached answers in bytes.
#[derive(Clone, Debug)]
struct AnswerWeight;

impl Weighter<blame::BlameKey, Arc<blame::BlamedVersion>> for AnswerWeight {
    fn weight(&self, _: &blame::BlameKey, blamed: &Arc<blame::BlamedVersion>) -> u64 {
        blamed.weight()
    }
}

impl Weighter<diff::CommitPair, Arc<Diff>> for AnswerWeight {
    fn weight(&self, _: &diff::CommitPair, diff: &Arc<Diff>) -> u64 {
        diff.weight()
    }
}

/// An open repository.
#[derive(Debug)]
struct Repository {
    runner: Runner,
    objects: Objects,
    configuration: Option<GitFileStamp>,
    /// Digits of an abbreviated commit id, for these packs. `None` before the first commit.
    id_digits: Mutex<Option<(GitFileStamp, usize)>>,
}

/// A repository that may be read, and the stamp of its object stores.
#[derive(Debug, PartialEq, Eq)]
struct TrustedRepository {
    location: RepoLocation,
    stores: GitFileStamp,
}

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed")]
    NotInstalled,
    #[error("git {0} is too old")]
    TooOld(String),
    #[error("there is no repository")]
    NotARepository,
    #[error("the repository is not trusted: {0}")]
    Refused(&'static str),
    #[error("its objects lie in a store that is not allowed")]
    ForeignStore,
    #[error("a bare repository that is not allowed")]
    BareNotAllowed,
    #[error("the project directory was moved or replaced")]
    Moved,
    #[error("the repository changed while it was read")]
    Changing,
    #[error("the repository cannot be read")]
    Denied,
    #[error("the repository has no working tree")]
    Bare,
    #[error("no commit is called {0}")]
    UnknownReference(String),
    #[error("{0} has too few digits for a commit id")]
    ShortId(String),
    #[error("{0} names no commit, because there is none yet")]
    NoCommits(String),
    #[error("{0} names no commit of this shallow clone")]
    NotInShallow(String),
    #[error("{0} cannot be a reference")]
    MalformedReference(String),
    #[error("{0} is neither a date nor a reference")]
    UnknownDateOrReference(String),
    #[error("git does not track {0}")]
    Untracked(String),
    #[error("git does not track {0}, because there is no commit yet")]
    UntrackedYet(String),
    #[error("lines {start} to {end} of a file that has {lines}")]
    LineRange { start: usize, end: usize, lines: usize },
    #[error("lines {first} to {last} are in no commit")]
    Uncommitted { first: usize, last: usize },
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
    Truncated,
    #[error("git cannot be run: {0}")]
    Pipe(io::Error),
}

/// The first version that reads settings from `GIT_CONFIG_COUNT`, by which filters are switched off.
const MIN_GIT_VERSION: (u32, u32) = (2, 31);

/// Attempts at an answer while the repository's directories or stores change, as `git gc` changes them.
const MAX_ATTEMPTS: usize = 3;

/// Size of each cache of answers.
const MAX_CACHED_BYTES: u64 = 8 << 20;

/// Longer output of `git config --list` is an error.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

impl Git {
    /// `folder` is the directory of a server's commit table. Without one, every call runs git.
    pub fn new(root: Root, environment: GitEnvironment, clock: Clock, folder: Option<PathBuf>) -> Self {
        let program = environment.find_program("git", root.path());
        Self {
            root,
            environment,
            clock,
            program,
            is_recent: OnceLock::new(),
            open: Mutex::default(),
            history: folder.map(|folder| Arc::new(CommitHistory::new(folder))),
            blamed: Cache::with_weighter(200, MAX_CACHED_BYTES, AnswerWeight),
            diffs: Cache::with_weighter(200, MAX_CACHED_BYTES, AnswerWeight),
            content_hashes: Cache::new(1_000),
            last_changes: Cache::new(5_000),
            last_edits: Cache::new(1_000),
            submodules: Mutex::default(),
            slow_searches: AtomicU32::new(0),
            slow_edits: AtomicU32::new(0),
        }
    }

    /// Answers from the repository as it is now. The checks are repeated afterwards: git reads by path, so a
    /// directory that was replaced in between could have shown another repository.
    fn answer<T>(
        &self,
        deadline: &Deadline,
        read: impl Fn(&Arc<Repository>) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.check_trust()?;
            let repository = self.open(before.location.clone(), deadline)?;
            let answer = read(&repository);
            let after = self.check_trust();
            if after.as_ref().is_ok_and(|after| *after == before) {
                return answer;
            }
            // A process that stays open may have opened another store.
            *self.lock_open() = None;
            after?;
        }
        Err(GitError::Changing)
    }

    /// Finds the repository, and refuses it if git would read another one through it.
    fn check_trust(&self) -> Result<TrustedRepository, GitError> {
        if !self.root.is_still_there() {
            return Err(GitError::Moved);
        }
        let allowed = &self.environment.allowed_directories;
        let location = RepoLocation::find(self.root.path(), allowed)?;
        let stores = stores::check_stores(&location.common, allowed)?;
        Ok(TrustedRepository { location, stores })
    }

    fn lock_open(&self) -> MutexGuard<'_, Option<Arc<Repository>>> {
        self.open
            .lock()
            .expect("nothing panics while it holds the repository")
    }

    /// The repository of `location`. It stays open while its location and configuration are the same.
    fn open(&self, location: RepoLocation, deadline: &Deadline) -> Result<Arc<Repository>, GitError> {
        let graph = self.history.as_ref().and_then(|history| history.commit_graph());
        let graph = graph.filter(|_| location.is_listable());
        let mut open = self.lock_open();
        if let Some(opened) = &*open
            && *opened.runner.location() == location
            && opened.runner.graph() == graph.as_deref()
            && opened.configuration.as_ref() == Some(&location.configuration())
        {
            return Ok(opened.clone());
        }
        let program = self.program.clone().ok_or(GitError::NotInstalled)?;
        let runner = Runner::new(program, &self.environment, location, self.clock).with_graph(graph);
        if self.is_recent.get().is_none() {
            check_version(&runner, deadline)?;
            self.is_recent.get_or_init(|| ());
        }
        let repository = Arc::new(Repository::open(runner, deadline)?);
        *open = Some(repository.clone());
        Ok(repository)
    }
}

impl Repository {
    fn open(runner: Runner, deadline: &Deadline) -> Result<Self, GitError> {
        let location = runner.location();
        let before = location.configuration();
        let mut list = runner.command("config");
        list.args(["--list", "-z", "--includes"]);
        let bytes = command::read_bytes(list, MAX_CONFIG_BYTES, deadline)?;
        let configuration = Configuration::parse(&bytes)?;
        configuration.check_work_tree(location)?;
        links::check_links(&location.git_dir, &location.common, deadline)?;
        // We do not see changes of included files. With any, the repository is opened for every call.
        let stamp = (!configuration.includes).then_some(before);
        let runner = runner.with_overrides(configuration.overrides);
        let objects = Objects::new(runner.clone());
        Ok(Self {
            runner,
            objects,
            configuration: stamp,
            id_digits: Mutex::default(),
        })
    }

    /// The commit that is checked out. `None` before the first commit.
    fn head(&self, deadline: &Deadline) -> Result<Option<String>, GitError> {
        self.find_commit("HEAD", deadline)
    }

    /// The commit that a caller's reference names.
    fn resolve_commit(&self, reference: &str, deadline: &Deadline) -> Result<String, GitError> {
        check_reference(reference)?;
        self.find_commit(reference, deadline)?
            .ok_or_else(|| self.explain_unknown(reference, GitError::UnknownReference, deadline))
    }

    /// Resolves a search through commit messages. It may be slow, so it gets its own process.
    fn search_messages(&self, reference: &str, deadline: &Deadline) -> Result<Option<String>, GitError> {
        let mut command = self.runner.command("rev-parse");
        command.args(["--verify", "--quiet", "--end-of-options", reference]);
        let (id, code) = command::read_output(command, 1_000, deadline)?;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        let commit = if code == Some(0) && objects::is_id(&id) {
            self.objects.find(&format!("{id}^{{commit}}"), deadline)?
        } else {
            None
        };
        Ok(commit.map(|commit| commit.id))
    }

    /// The number of digits that git abbreviates commit ids to. It grows with the number of packed objects,
    /// so it is read again when packs have changed.
    fn id_digits(&self, deadline: &Deadline) -> Result<usize, GitError> {
        let packs = self.runner.location().packs();
        let known = self
            .id_digits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((of_packs, digits)) = known
            && of_packs == packs
        {
            return Ok(digits);
        }
        if self.head(deadline)?.is_none() {
            return Ok(MIN_ID_DIGITS);
        }
        let mut short = self.runner.command("rev-parse");
        short.args(["--short", "HEAD"]);
        let digits = command::read_text(short, 100, deadline)?.trim_end().len();
        *self.id_digits.lock().unwrap_or_else(PoisonError::into_inner) = Some((packs, digits));
        Ok(digits)
    }

    /// The error for a reference that names no commit, with the reason if the repository itself is one.
    fn explain_unknown(
        &self,
        reference: &str,
        otherwise: impl FnOnce(String) -> GitError,
        deadline: &Deadline,
    ) -> GitError {
        let name = reference.to_owned();
        match self.head(deadline) {
            Err(error) => error,
            Ok(None) => GitError::NoCommits(name),
            Ok(Some(_)) if self.runner.location().is_shallow() => GitError::NotInShallow(name),
            Ok(Some(_)) => otherwise(name),
        }
    }

    /// The path of a project file relative to the repository.
    fn repo_path(&self, path: &RepoPath) -> String {
        self.runner.location().in_repository(path.as_str())
    }
}

/// Refuses text that git could read as an option or as more than one line.
fn check_reference(reference: &str) -> Result<(), GitError> {
    let is_valid =
        !reference.starts_with('-') && !reference.contains(char::is_control) && reference.len() <= 1_000;
    if is_valid {
        Ok(())
    } else {
        Err(GitError::MalformedReference(reference.to_owned()))
    }
}

fn check_version(runner: &Runner, deadline: &Deadline) -> Result<(), GitError> {
    let text = command::read_text(runner.command("version"), 1_000, deadline)?;
    let version = text.trim().strip_prefix("git version ").unwrap_or(text.trim());
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if (major, minor) < MIN_GIT_VERSION {
        return Err(GitError::TooOld(version.to_owned()));
    }
    Ok(())
}

/// The settings of the repository that matter here.
#[derive(Debug, Default)]
struct Configuration {
    work_tree: Option<String>,
    includes: bool,
    overrides: Vec<(String, String)>,
}

impl Configuration {
    /// Parses the output of `git config --list -z`: `KEY\nVALUE\0` for each entry.
    fn parse(bytes: &[u8]) -> Result<Self, GitError> {
        let mut configuration = Self::default();
        for entry in bytes.split(|byte| *byte == 0) {
            let key = entry.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let value = String::from_utf8_lossy(entry.get(key.len() + 1..).unwrap_or_default());
            // A filter whose name is not UTF-8 could not be switched off by its name.
            let key = str::from_utf8(key).map_err(|_| GitError::Refused("its configuration is not UTF-8"))?;
            // A newer git takes an address here, which may lead to the references of another repository.
            if key == "extensions.refstorage" && !["files", "reftable"].contains(&&*value) {
                return Err(GitError::Refused("its references lie in another place"));
            }
            if key == "core.worktree" {
                configuration.work_tree = Some(value.into_owned());
            } else if key.starts_with("include.") || key.starts_with("includeif.") {
                configuration.includes = true;
            } else if let Some(filter) = key.strip_prefix("filter.")
                && let Some((name, _)) = filter.rsplit_once('.')
            {
                for (setting, value) in [
                    ("clean", ""),
                    ("smudge", ""),
                    ("process", ""),
                    ("required", "false"),
                ] {
                    configuration
                        .overrides
                        .push((format!("filter.{name}.{setting}"), value.to_owned()));
                }
            }
        }
        configuration.overrides.sort();
        configuration.overrides.dedup();
        Ok(configuration)
    }

    /// The git directory of a submodule must name this work tree, and no other one may name another work
    /// tree.
    fn check_work_tree(&self, location: &RepoLocation) -> Result<(), GitError> {
        let Some(named) = &self.work_tree else {
            return if location.needs_worktree {
                Err(location::NOT_LINKED_BACK)
            } else {
                Ok(())
            };
        };
        let target = location.git_dir.join(named).canonicalize().ok();
        if target.is_some() && target == location.work_tree {
            Ok(())
        } else {
            Err(GitError::Refused("its core.worktree leads to another directory"))
        }
    }
}

/// The first `digits` of a commit id.
fn shorten(id: &str, digits: usize) -> String {
    id.get(..digits).unwrap_or(id).to_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use docent_core::access::Access;

    #[expect(clippy::disallowed_methods, reason = "git is where it is on this machine")]
    fn open_new(root: &Path) -> Git {
        let mut init = Command::new("git");
        init.env_remove("GIT_DIR").args(["init", "-q"]).arg(root);
        assert!(init.status().unwrap().success());
        let environment = GitEnvironment {
            search: std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect(),
            ..GitEnvironment::default()
        };
        let root = Root::open(root, Access::new([]).unwrap()).unwrap();
        Git::new(root, environment, Clock::System, None)
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the times of a directory are set by its handle"
    )]
    fn an_answer_counts_only_if_the_repository_stays_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        let git = open_new(&root);
        let answer = |during: &dyn Fn()| {
            git.answer(&Deadline::default(), |_| {
                during();
                Ok(())
            })
        };
        assert!(answer(&|| {}).is_ok());
        let list = root.join(".git/objects/info/alternates");
        let rounds = Cell::new(0);
        // A store that is there only while git reads leaves its trace in the stamps.
        let add_and_remove = || {
            fs::write(&list, "/\n").unwrap();
            fs::remove_file(&list).unwrap();
            // Two changes within a tick of the file system's clock would have the same time.
            rounds.set(rounds.get() + 1);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(rounds.get());
            let folder = fs::File::open(list.parent().unwrap()).unwrap();
            folder.set_modified(time).unwrap();
        };
        assert!(matches!(answer(&add_and_remove), Err(GitError::Changing)));
        let add = || fs::write(&list, "/\n").unwrap();
        assert!(matches!(answer(&add), Err(GitError::ForeignStore)));
        fs::remove_file(&list).unwrap();
        assert!(answer(&|| {}).is_ok());
        let aside = directory.path().join("aside");
        let replace = || fs::rename(&root, &aside).unwrap();
        assert!(matches!(answer(&replace), Err(GitError::Moved)));
        fs::create_dir(&root).unwrap();
        assert!(matches!(answer(&|| {}), Err(GitError::Moved)));
    }

    #[test]
    fn references_in_another_place_are_refused() {
        let parse =
            |value: &str| Configuration::parse(format!("extensions.refstorage\n{value}\0").as_bytes());
        assert!(parse("files").is_ok() && parse("reftable").is_ok());
        assert!(matches!(parse("files:///home/other"), Err(GitError::Refused(_))));
    }
}
