//! What a server keeps to answer faster than git: the table of commits, and a commit graph with the paths that each
//! commit changed, which git itself reads. Both lie in the user's cache and are brought up to date beside the calls.
//!
//! Invariant: an answer from the table is the answer git would give now. The commit asked about must be in it; where the
//! table cannot tell exactly, git is asked.

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
use super::log::{LogQuery, Span};
use super::place::GitFileStamp;
use super::table::{CommitTable, TableError, Touched, lock};
use super::{Commit, GitError, Repository, raw};
use crate::deadline::Deadline;
use crate::files::make_private;

/// What is kept about one repository.
#[derive(Debug)]
pub(super) struct CommitHistory {
    folder: PathBuf,
    kept: Mutex<Option<Arc<LoadedTable>>>,
    /// A worker is on its way.
    busy: AtomicBool,
    /// The head that could not be brought into the table; it is not tried again.
    given_up: Mutex<Option<String>>,
}

/// The table and what was read from it. A new one takes its place; it is never changed but for the names.
#[derive(Debug)]
struct LoadedTable {
    /// Connections to the table that nobody uses just now.
    tables: Mutex<Vec<CommitTable>>,
    identity: i64,
    folder: PathBuf,
    graph: Graph,
    names: Mutex<Option<Names>>,
}

/// Everyone who committed, by the number the table gives them, as the mailmap of that stamp calls them.
type Names = (GitFileStamp, Arc<Vec<Identity>>);

/// What the table says.
enum TableAnswer {
    Commits(Vec<Commit>),
    /// It has the commit asked about, and git knows better.
    AskGit,
    /// It has to be brought up to date first.
    NotYet,
}

/// An author as the mailmap has it.
#[derive(Clone, Debug)]
struct Identity {
    name: String,
    email: String,
}

/// Histories beyond this are left to git.
const MAX_COMMITS: u64 = 400_000;

/// Beyond this the worker gives up.
const MAX_FILL_TIME: Duration = Duration::from_hours(1);

/// So many commits that the commit graph does not have are no reason to write it anew.
const MAX_COMMITS_OUTSIDE_GRAPH: usize = 1_000;

impl CommitHistory {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            kept: Mutex::default(),
            busy: AtomicBool::new(false),
            given_up: Mutex::default(),
        }
    }

    /// The directory with our commit graph, once there is one.
    pub(super) fn commit_graph(&self) -> Option<PathBuf> {
        let objects = self.folder.join("objects");
        let is_there = objects.join("info/commit-graph").exists();
        is_there.then_some(objects)
    }

    /// The commits that `query` asks for, one more than wanted; nothing where git has to be asked.
    pub(super) fn log(
        self: &Arc<Self>,
        repository: &Arc<Repository>,
        query: &LogQuery,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Option<Vec<Commit>>, GitError> {
        if repository.runner.place().rewrites_history() {
            return Ok(None);
        }
        let answer = match self.kept() {
            Some(kept) => kept.answer(repository, query, span, deadline),
            None => Ok(TableAnswer::NotYet),
        };
        match answer {
            Ok(TableAnswer::Commits(commits)) => return Ok(Some(commits)),
            Ok(TableAnswer::AskGit) => return Ok(None),
            Err(TableError::Git(error)) => return Err(error),
            Ok(TableAnswer::NotYet) => {}
            // A broken table is no reason to break the answer.
            Err(_) => *locked(&self.kept) = None,
        }
        self.nudge(repository);
        Ok(None)
    }

    fn kept(&self) -> Option<Arc<LoadedTable>> {
        locked(&self.kept).clone()
    }

    /// Brings everything up to date beside the calls, unless that is under way.
    fn nudge(self: &Arc<Self>, repository: &Arc<Repository>) {
        if self.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (history, repository) = (self.clone(), repository.clone());
        thread::spawn(move || {
            let _done = Done(&history.busy);
            // git answers until this is done, and where it cannot be.
            if let Err(error) = history.catch_up(&repository)
                && error.is_damage()
            {
                let _ = CommitTable::remove(&history.folder);
            }
        });
    }

    fn catch_up(&self, repository: &Repository) -> Result<(), TableError> {
        let deadline = Deadline::after(MAX_FILL_TIME);
        let Some(head) = repository.head(&deadline)? else {
            return Ok(());
        };
        if locked(&self.given_up).as_ref() == Some(&head) {
            return Ok(());
        }
        make_private(&self.folder)?;
        let mut table = CommitTable::open(&self.folder)?;
        let mut graph = match self.kept() {
            // Another table may have been made in the place of the one that was read.
            Some(kept) if kept.identity == table.identity() => kept.graph.clone(),
            _ => Graph::default(),
        };
        table.extend(&mut graph)?;
        let lock = match table.number(&head)? {
            Some(_) => None,
            None => lock(&self.folder)?,
        };
        if lock.is_some() {
            table.extend(&mut graph)?;
            let filled = match count(&repository.runner, &head, &deadline)? {
                0..=MAX_COMMITS => fill(&mut table, &repository.runner, &head, &graph, &deadline),
                _ => Err(TableError::TooManyCommits),
            };
            if let Err(error) = filled {
                *locked(&self.given_up) = Some(head);
                return Err(error);
            }
            table.extend(&mut graph)?;
        }
        let commits = graph.len();
        let in_commit_graph = table.in_commit_graph()?;
        *locked(&self.kept) = Some(Arc::new(LoadedTable {
            identity: table.identity(),
            tables: Mutex::new(vec![table]),
            folder: self.folder.clone(),
            graph,
            names: Mutex::default(),
        }));
        let is_old = self.commit_graph().is_none() || commits > in_commit_graph + MAX_COMMITS_OUTSIDE_GRAPH;
        if lock.is_some() && is_old && repository.runner.place().is_listable() {
            self.write_commit_graph(&repository.runner, &deadline)?;
            CommitTable::open(&self.folder)?.set_in_commit_graph(commits)?;
        }
        Ok(())
    }

    /// Has git write a commit graph into our folder, as if that were the repository's object directory.
    fn write_commit_graph(&self, runner: &Runner, deadline: &Deadline) -> Result<(), TableError> {
        let objects = self.folder.join("objects");
        fs::create_dir_all(objects.join("info"))?;
        let mut command = runner.clone().with_graph(Some(objects)).command("commit-graph");
        command.args(["write", "--reachable", "--changed-paths", "--no-progress"]);
        stream(command, None, deadline, |_| Ok(()))?;
        Ok(())
    }
}

/// What a mutex holds. A call that panicked has left it as good as it was: everything in them is replaced whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that a worker is done, however it ended.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl LoadedTable {
    /// Answers with a connection of its own, so that calls do not wait for each other.
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
            return Ok(TableAnswer::NotYet);
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
        let known = |number: Option<u32>| number.filter(|number| (*number as usize) < graph.len());
        let number_of = |id: &String| table.number(id).map(known);
        let Some(start) = span.from.as_ref().map(number_of).transpose()?.flatten() else {
            return Ok(TableAnswer::NotYet);
        };
        let limit = repository.limit(query.path.as_ref());
        let without = span.without.as_ref().map(number_of).transpose()?;
        // git simplifies differently at the edge of what is left out; and that may be on a branch which is not kept.
        if without.is_some_and(|number| number.is_none() || limit.is_some()) {
            return Ok(TableAnswer::AskGit);
        }
        let identities = self.names(table, repository, deadline)?;
        let (touched, mut contents) = match &limit {
            None => (None, HashMap::new()),
            Some(path) => match table.touched(path, graph.len())? {
                Some(Touched { by_number, contents }) => (Some(by_number), contents),
                None => return Ok(TableAnswer::AskGit),
            },
        };
        let authors = query.author.as_ref().map(|wanted| {
            let wanted = wanted.to_ascii_lowercase();
            let is_wanted = |who: &Identity| who.full().to_ascii_lowercase().contains(&wanted);
            identities.iter().map(is_wanted).collect::<Vec<bool>>()
        });
        let walk = GraphWalk {
            start,
            without: without.flatten(),
            after: span.after,
            before: span.before,
            authors: authors.as_deref(),
            touched: touched.as_deref(),
            skip: query.skip,
            count: query.count + 1,
        };
        let path = limit.unwrap_or_default();
        let mut content = |commit: u32| -> Result<u64, TableError> {
            if let Some(known) = contents.get(&commit) {
                return Ok(*known);
            }
            let name = format!("{}:{path}", table.id(commit)?);
            let found = repository.objects.find(&name, deadline)?;
            // Of a single file everything is known, so this is a directory.
            let found = found.map_or(0, |found| raw::content("040000", &found.id));
            contents.insert(commit, found);
            Ok(found)
        };
        let numbers = graph.walk(&walk, deadline, |merge, version| {
            let before = match version {
                NONE => 0,
                // The same, and of a single file it is known.
                version => content(version)?,
            };
            Ok::<_, TableError>(content(merge)? == before)
        })?;
        let mut commits = Vec::new();
        for number in numbers {
            let (mut commit, author) = table.commit(number)?;
            if let Some(who) = identities.get(author) {
                commit.author.clone_from(&who.name);
                commit.email.clone_from(&who.email);
            }
            for parent in graph.parents(number) {
                commit.parents.push(table.id(*parent)?);
            }
            commits.push(commit);
        }
        Ok(TableAnswer::Commits(commits))
    }

    fn names(
        &self,
        table: &CommitTable,
        repository: &Repository,
        deadline: &Deadline,
    ) -> Result<Arc<Vec<Identity>>, TableError> {
        let stamp = repository.runner.place().mailmap();
        if let Some((of, names)) = &*locked(&self.names)
            && *of == stamp
        {
            return Ok(names.clone());
        }
        let named = table.authors()?.into_iter();
        let mut identities: Vec<Identity> = named.map(|(name, email)| Identity { name, email }).collect();
        if stamp.exists() {
            map(&repository.runner, &mut identities, deadline)?;
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

/// Asks git what the mailmap makes of everyone.
fn map(runner: &Runner, identities: &mut [Identity], deadline: &Deadline) -> Result<(), GitError> {
    let input: String = identities.iter().map(|who| who.full() + "\n").collect();
    let mut command = runner.command("check-mailmap");
    command.arg("--stdin");
    let mapped = stream(command, Some(input.as_bytes()), deadline, |out| {
        let mut text = Vec::new();
        std::io::Read::read_to_end(out, &mut text).map_err(GitError::Pipe)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    })?;
    for (who, line) in identities.iter_mut().zip(mapped.lines()) {
        if let Some((name, email)) = line.rsplit_once('<') {
            name.trim_end().clone_into(&mut who.name);
            email.trim_end_matches('>').clone_into(&mut who.email);
        }
    }
    Ok(())
}

fn count(runner: &Runner, head: &str, deadline: &Deadline) -> Result<u64, GitError> {
    let mut command = runner.command("rev-list");
    command.args(["--count", head]);
    let text = super::command::text(command, 100, deadline)?;
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
    use crate::git::{Git, Surroundings};

    /// Numbers that look random and are the same every time.
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

    /// A history with many merges over few files of few contents, so that sides often agree by chance, for `git
    /// fast-import`.
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

    /// The table's answers are git's, whatever history looks like.
    #[test]
    fn the_table_answers_as_git_does() {
        let deadline = Deadline::default();
        for seed in 0..12 {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().join("project");
            import(&root, &history(seed, 120));
            fs::write(root.join(".mailmap"), "Ann <ann@x> <old@x>\n").unwrap();
            let surroundings = Surroundings {
                search: search_path(),
                variables: Vec::new(),
            };
            let root = Root::open(&root, Access::new([]).unwrap()).unwrap();
            let git = Git::new(
                root,
                surroundings,
                Clock::System,
                Some(directory.path().join("cache")),
            );
            let repository = git.repository(&deadline).unwrap();
            let kept = git.history.clone().unwrap();
            kept.catch_up(&repository).unwrap();
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
                        skip: usize::from(author.is_some()),
                        count: 100,
                    };
                    let span = repository.span(&query, &deadline).unwrap();
                    let answer = kept.kept.lock().unwrap().as_mut().unwrap().answer(
                        &repository,
                        &query,
                        &span,
                        &deadline,
                    );
                    let expected = repository
                        .ask_git(&query, span.from.as_ref().unwrap(), &span, &deadline)
                        .unwrap();
                    let TableAnswer::Commits(answer) = answer.unwrap() else {
                        assert!(
                            path.is_some() && since == Some("HEAD~7"),
                            "{query:?} was left to git"
                        );
                        continue;
                    };
                    let facts = |commits: &[Commit]| -> Vec<_> {
                        let names = |commit: &Commit| -> Vec<_> {
                            commit
                                .files
                                .iter()
                                .map(|file| (file.status, file.path.clone(), file.from.clone()))
                                .collect()
                        };
                        let fact = |commit: &Commit| Commit {
                            files: Vec::new(),
                            ..commit.clone()
                        };
                        commits
                            .iter()
                            .map(|commit| (fact(commit), names(commit)))
                            .collect()
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
