//! The history of a server, which answers faster than git: the commit table, and a commit graph with
//! changed-path filters that git itself reads. Both lie in the user's cache, and a background thread keeps
//! them up to date.
//!
//! Invariant: an answer from the table is the answer that git would give now. If the table does not have the
//! commit, or cannot answer exactly, git answers.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::command::{Runner, stream};
use super::fill::fill;
use super::graph::{Graph, GraphWalk, NONE};
use super::location::GitFileStamp;
use super::log::{LogQuery, Span};
use super::table::{CommitTable, PathChanges, TableError, lock};
use super::{Commit, GitError, Repository, raw};
use crate::deadline::Deadline;
use crate::files::make_private;

/// The commit table and the commit graph of one repository.
#[derive(Debug)]
pub(super) struct CommitHistory {
    folder: PathBuf,
    loaded: Mutex<Option<Arc<LoadedTable>>>,
    /// An update is running.
    is_updating: AtomicBool,
    /// The head that could not be added to the table. It is not tried again.
    failed_head: Mutex<Option<String>>,
}

/// The table with its graph in memory. It is replaced as a whole; only the cached names change.
#[derive(Debug)]
struct LoadedTable {
    /// Idle connections to the table.
    tables: Mutex<Vec<CommitTable>>,
    identity: i64,
    folder: PathBuf,
    graph: Graph,
    names: Mutex<Option<Names>>,
}

/// All authors by their number in the table, after the mailmap with this stamp.
type Names = (GitFileStamp, Arc<Vec<Identity>>);

/// The answer of the table.
enum TableAnswer {
    Commits(Vec<Commit>),
    /// It has the commit, but only git can answer exactly.
    AskGit,
    /// It does not have the commit yet.
    Outdated,
}

/// An author after the mailmap.
#[derive(Clone, Debug)]
struct Identity {
    name: String,
    email: String,
}

/// Longer histories are left to git.
const MAX_COMMITS: u64 = 400_000;

/// An update that takes longer is given up.
const MAX_FILL_TIME: Duration = Duration::from_hours(1);

/// The commit graph is written again when it lacks more commits than this.
const MAX_COMMITS_OUTSIDE_GRAPH: usize = 1_000;

impl CommitHistory {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            loaded: Mutex::default(),
            is_updating: AtomicBool::new(false),
            failed_head: Mutex::default(),
        }
    }

    /// The object directory with our commit graph. `None` before it was written.
    pub(super) fn commit_graph(&self) -> Option<PathBuf> {
        let objects = self.folder.join("objects");
        let exists = objects.join("info/commit-graph").exists();
        exists.then_some(objects)
    }

    /// The commits of `query`, one more than requested. `None` if git has to answer.
    pub(super) fn log(
        self: &Arc<Self>,
        repository: &Arc<Repository>,
        query: &LogQuery,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Option<Vec<Commit>>, GitError> {
        if repository.runner.location().rewrites_history() {
            return Ok(None);
        }
        let answer = match self.loaded() {
            Some(loaded) => loaded.answer(repository, query, span, deadline),
            None => Ok(TableAnswer::Outdated),
        };
        match answer {
            Ok(TableAnswer::Commits(commits)) => return Ok(Some(commits)),
            Ok(TableAnswer::AskGit) => return Ok(None),
            Err(TableError::Git(error)) => return Err(error),
            Ok(TableAnswer::Outdated) => {}
            // A damaged table must not fail the call: git answers, and the table is loaded again.
            Err(_) => *locked(&self.loaded) = None,
        }
        self.update_in_background(repository);
        Ok(None)
    }

    fn loaded(&self) -> Option<Arc<LoadedTable>> {
        locked(&self.loaded).clone()
    }

    /// Starts an update of the table, unless one is running.
    fn update_in_background(self: &Arc<Self>, repository: &Arc<Repository>) {
        if self.is_updating.swap(true, Ordering::AcqRel) {
            return;
        }
        let (history, repository) = (self.clone(), repository.clone());
        thread::spawn(move || {
            let _guard = UpdateGuard(&history.is_updating);
            // Until this has succeeded, git answers.
            if let Err(error) = history.update(&repository)
                && error.is_damage()
            {
                let _ = CommitTable::remove(&history.folder);
            }
        });
    }

    fn update(&self, repository: &Repository) -> Result<(), TableError> {
        let deadline = Deadline::after(MAX_FILL_TIME);
        let Some(head) = repository.head(&deadline)? else {
            return Ok(());
        };
        if locked(&self.failed_head).as_ref() == Some(&head) {
            return Ok(());
        }
        make_private(&self.folder)?;
        let mut table = CommitTable::open(&self.folder)?;
        let mut graph = match self.loaded() {
            // Another process may have replaced the table that was loaded.
            Some(loaded) if loaded.identity == table.identity() => loaded.graph.clone(),
            _ => Graph::default(),
        };
        table.extend(&mut graph)?;
        let lock = match table.number(&head)? {
            Some(_) => None,
            None => lock(&self.folder)?,
        };
        if lock.is_some() {
            table.extend(&mut graph)?;
            let filled = match count_commits(&repository.runner, &head, &deadline)? {
                0..=MAX_COMMITS => fill(&mut table, &repository.runner, &head, &graph, &deadline),
                _ => Err(TableError::TooManyCommits),
            };
            if let Err(error) = filled {
                *locked(&self.failed_head) = Some(head);
                return Err(error);
            }
            table.extend(&mut graph)?;
        }
        let commits = graph.len();
        let in_commit_graph = table.in_commit_graph()?;
        *locked(&self.loaded) = Some(Arc::new(LoadedTable {
            identity: table.identity(),
            tables: Mutex::new(vec![table]),
            folder: self.folder.clone(),
            graph,
            names: Mutex::default(),
        }));
        let is_old = self.commit_graph().is_none() || commits > in_commit_graph + MAX_COMMITS_OUTSIDE_GRAPH;
        if lock.is_some() && is_old && repository.runner.location().is_listable() {
            self.write_commit_graph(&repository.runner, &deadline)?;
            CommitTable::open(&self.folder)?.set_in_commit_graph(commits)?;
        }
        Ok(())
    }

    /// Makes git write a commit graph into our folder, as if that were the repository's object directory.
    fn write_commit_graph(&self, runner: &Runner, deadline: &Deadline) -> Result<(), TableError> {
        let objects = self.folder.join("objects");
        fs::create_dir_all(objects.join("info"))?;
        let mut command = runner.clone().with_graph(Some(objects)).command("commit-graph");
        command.args(["write", "--reachable", "--changed-paths", "--no-progress"]);
        stream(command, None, deadline, |_| Ok(()))?;
        Ok(())
    }
}

/// Locks a mutex, also after a panic: the values are replaced as a whole, so none is left half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks the update as ended when its thread ends, panics included.
struct UpdateGuard<'a>(&'a AtomicBool);

impl Drop for UpdateGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl LoadedTable {
    /// Answers with a connection from the pool or a new one, so that calls do not wait for each other.
    fn answer(
        &self,
        repository: &Repository,
        query: &LogQuery,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<TableAnswer, TableError> {
        let idle = locked(&self.tables).pop();
        let table = match idle {
            Some(table) => table,
            None => CommitTable::open(&self.folder)?,
        };
        if table.identity() != self.identity {
            return Ok(TableAnswer::Outdated);
        }
        let answer = self.answer_from(&table, repository, query, span, deadline)?;
        locked(&self.tables).push(table);
        Ok(answer)
    }

    fn answer_from(
        &self,
        table: &CommitTable,
        repository: &Repository,
        query: &LogQuery,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<TableAnswer, TableError> {
        let graph = &self.graph;
        let in_graph = |number: Option<u32>| number.filter(|number| (*number as usize) < graph.len());
        let number_of = |id: &String| table.number(id).map(in_graph);
        let Some(start) = span.from.as_ref().map(number_of).transpose()?.flatten() else {
            return Ok(TableAnswer::Outdated);
        };
        let limit = repository.path_limit(query.path.as_ref());
        let without = span.without.as_ref().map(number_of).transpose()?;
        // Git simplifies history differently at the edge of the excluded commits. Also, the excluded commit
        // may be on a branch that the table does not have.
        if without.is_some_and(|number| number.is_none() || limit.is_some()) {
            return Ok(TableAnswer::AskGit);
        }
        let identities = self.identities(table, repository, deadline)?;
        let (changed, mut contents) = match &limit {
            None => (None, HashMap::new()),
            Some(path) => match table.changes_of(path, graph.len())? {
                Some(PathChanges { by_number, contents }) => (Some(by_number), contents),
                None => return Ok(TableAnswer::AskGit),
            },
        };
        let authors = query.author.as_ref().map(|author| {
            let author = author.to_ascii_lowercase();
            let matches = |identity: &Identity| identity.full().to_ascii_lowercase().contains(&author);
            identities.iter().map(matches).collect::<Vec<bool>>()
        });
        let walk = GraphWalk {
            start,
            without: without.flatten(),
            after: span.after,
            before: span.before,
            authors: authors.as_deref(),
            touched: changed.as_deref(),
            skip: query.skip,
            count: query.count + 1,
        };
        let path = limit.unwrap_or_default();
        let mut content_at = |commit: u32| -> Result<u64, TableError> {
            if let Some(content) = contents.get(&commit) {
                return Ok(*content);
            }
            let name = format!("{}:{path}", table.id(commit)?);
            let object = repository.objects.find(&name, deadline)?;
            // The table has every content of a single file, so this is a directory.
            let content = object.map_or(0, |object| raw::fingerprint("040000", &object.id));
            contents.insert(commit, content);
            Ok(content)
        };
        let numbers = graph.walk(&walk, deadline, |merge, version| {
            let before = match version {
                NONE => 0,
                version => content_at(version)?,
            };
            Ok::<_, TableError>(content_at(merge)? == before)
        })?;
        let mut commits = Vec::new();
        for number in numbers {
            let (mut commit, author) = table.commit(number)?;
            if let Some(identity) = identities.get(author) {
                commit.author.clone_from(&identity.name);
                commit.email.clone_from(&identity.email);
            }
            for parent in graph.parents(number) {
                commit.parents.push(table.id(*parent)?);
            }
            commits.push(commit);
        }
        Ok(TableAnswer::Commits(commits))
    }

    /// All authors after the mailmap, cached until the mailmap changes.
    fn identities(
        &self,
        table: &CommitTable,
        repository: &Repository,
        deadline: &Deadline,
    ) -> Result<Arc<Vec<Identity>>, TableError> {
        let stamp = repository.runner.location().mailmap();
        if let Some((cached, names)) = &*locked(&self.names)
            && *cached == stamp
        {
            return Ok(names.clone());
        }
        let authors = table.authors()?.into_iter();
        let mut identities: Vec<Identity> = authors.map(|(name, email)| Identity { name, email }).collect();
        if stamp.exists() {
            apply_mailmap(&repository.runner, &mut identities, deadline)?;
        }
        let identities = Arc::new(identities);
        *locked(&self.names) = Some((stamp, identities.clone()));
        Ok(identities)
    }
}

impl Identity {
    fn full(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }
}

/// Replaces names and addresses by those of the mailmap.
fn apply_mailmap(runner: &Runner, identities: &mut [Identity], deadline: &Deadline) -> Result<(), GitError> {
    let input: String = identities.iter().map(|identity| identity.full() + "\n").collect();
    let mut command = runner.command("check-mailmap");
    command.arg("--stdin");
    let mapped = stream(command, Some(input.as_bytes()), deadline, |out| {
        let mut text = Vec::new();
        std::io::Read::read_to_end(out, &mut text).map_err(GitError::Pipe)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    })?;
    for (identity, line) in identities.iter_mut().zip(mapped.lines()) {
        if let Some((name, email)) = line.rsplit_once('<') {
            name.trim_end().clone_into(&mut identity.name);
            email.trim_end_matches('>').clone_into(&mut identity.email);
        }
    }
    Ok(())
}

fn count_commits(runner: &Runner, head: &str, deadline: &Deadline) -> Result<u64, GitError> {
    let mut command = runner.command("rev-list");
    command.args(["--count", head]);
    let text = super::command::read_text(command, 100, deadline)?;
    Ok(text.trim().parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use docent_core::access::Access;
    use docent_core::path::RepoPath;

    use crate::clock::Clock;
    use crate::files::Root;
    use crate::git::{ChangeStatus, Git, GitEnvironment};

    /// A pseudo-random generator with a fixed seed.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % sides
        }
    }

    /// Input of `git fast-import`: many merges over few files with few contents, so that sides often agree by
    /// chance.
    fn history(seed: u64, commits: u64) -> String {
        let mut dice = Dice(seed);
        let mut text = String::new();
        for number in 1..=commits {
            let time = 1_700_000_000 + number * 100 - dice.roll(350);
            let (name, email) = [("Ann", "ann@x"), ("Bob", "bob@x"), ("ann", "old@x")]
                [usize::try_from(dice.roll(3)).unwrap()];
            write!(
                text,
                "commit refs/heads/main\nmark :{number}\nauthor {name} <{email}> {time} +0200\n"
            )
            .unwrap();
            write!(
                text,
                "committer C <c@x> {time} +0000\ndata 3\nc{:02}\n",
                number % 100
            )
            .unwrap();
            if number > 1 {
                let near = |dice: &mut Dice| number - 1 - dice.roll(number.min(6) - 1).min(number - 2);
                let first = near(&mut dice);
                writeln!(text, "from :{first}").unwrap();
                let mut parents = vec![first];
                for _ in 0..dice.roll(3) {
                    let other = near(&mut dice);
                    if !parents.contains(&other) {
                        parents.push(other);
                        writeln!(text, "merge :{other}").unwrap();
                    }
                }
            }
            for _ in 0..dice.roll(3) {
                let path = ["a", "b", "d/x", "d/y", "d/e/z"][usize::try_from(dice.roll(5)).unwrap()];
                match dice.roll(6) {
                    0 => writeln!(text, "D {path}").unwrap(),
                    content => {
                        let mode = if dice.roll(4) == 0 { "100755" } else { "100644" };
                        write!(text, "M {mode} inline {path}\ndata 2\n{content}\n\n")
                    }
                    .unwrap(),
                }
            }
            text.push('\n');
        }
        text
    }

    fn program(name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .env_remove("GIT_DIR")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    fn import(root: &Path, history: &str) {
        assert!(
            program("git")
                .args(["init", "-q", "-b", "main"])
                .arg(root)
                .status()
                .unwrap()
                .success()
        );
        let mut import = program("git")
            .args(["fast-import", "--quiet"])
            .current_dir(root)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        import
            .stdin
            .take()
            .unwrap()
            .write_all(history.as_bytes())
            .unwrap();
        assert!(import.wait().unwrap().success());
    }

    #[expect(clippy::disallowed_methods, reason = "git is where it is on this machine")]
    fn search_path() -> Vec<PathBuf> {
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect()
    }

    type Fact = (Commit, Vec<(ChangeStatus, String, Option<String>)>);

    /// The fields that both answers must agree in. The table has no modes and no ids of contents.
    fn facts(commits: &[Commit]) -> Vec<Fact> {
        let names = |commit: &Commit| {
            let files = commit.files.iter();
            files
                .map(|file| (file.status, file.path.clone(), file.from.clone()))
                .collect()
        };
        let without_files = |commit: &Commit| Commit {
            files: Vec::new(),
            ..commit.clone()
        };
        commits
            .iter()
            .map(|commit| (without_files(commit), names(commit)))
            .collect()
    }

    #[test]
    fn the_table_answers_as_git_does() {
        let deadline = Deadline::default();
        for seed in 0..12 {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().join("project");
            import(&root, &history(seed, 120));
            fs::write(root.join(".mailmap"), "Ann <ann@x> <old@x>\n").unwrap();
            let environment = GitEnvironment {
                search: search_path(),
                temporary: directory.path().to_owned(),
                ..GitEnvironment::default()
            };
            let root = Root::open(&root, Access::new([]).unwrap()).unwrap();
            let git = Git::new(
                root,
                environment,
                Clock::System,
                Some(directory.path().join("cache")),
            );
            let location = git.check_trust().unwrap().location;
            let repository = git.open(location, &deadline).unwrap();
            let history = git.history.clone().unwrap();
            history.update(&repository).unwrap();
            for path in [
                None,
                Some("a"),
                Some("b"),
                Some("d"),
                Some("d/x"),
                Some("d/e"),
                Some("d/e/z"),
                Some("none"),
            ] {
                for (author, since, until) in [
                    (None, None, None),
                    (Some("ann"), None, None),
                    (Some("BOB <bob"), Some("@1700004000"), None),
                    (None, Some("@1700003000"), Some("@1700009000")),
                    (None, None, Some("HEAD~3")),
                    (None, Some("HEAD~7"), None),
                ] {
                    let query = LogQuery {
                        path: path.map(|path| RepoPath::parse(path).unwrap()),
                        since: since.map(str::to_owned),
                        until: until.map(str::to_owned),
                        author: author.map(str::to_owned),
                        contains: None,
                        skip: usize::from(author.is_some()),
                        count: 100,
                    };
                    let span = repository.span(&query, &deadline).unwrap();
                    let answer = history.loaded.lock().unwrap().as_mut().unwrap().answer(
                        &repository,
                        &query,
                        &span,
                        &deadline,
                    );
                    let expected = repository
                        .log_from_git(&query, span.from.as_ref().unwrap(), &span, &deadline)
                        .unwrap();
                    let TableAnswer::Commits(answer) = answer.unwrap() else {
                        assert!(
                            path.is_some() && since == Some("HEAD~7"),
                            "{query:?} was left to git"
                        );
                        continue;
                    };
                    let (answer, expected) = (facts(&answer), facts(&expected));
                    let differs = answer.iter().zip(&expected).find(|(ours, gits)| ours != gits);
                    assert_eq!(differs, None, "seed {seed}, {query:?}");
                    assert_eq!(answer.len(), expected.len(), "seed {seed}, {query:?}");
                }
            }
        }
    }
}
