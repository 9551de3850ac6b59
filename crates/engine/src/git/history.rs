//! What a server keeps to answer faster than git: the table of commits, and a commit graph with the paths that each
//! commit changed, which git itself reads. Both lie in the user's cache and are brought up to date beside the calls.
//!
//! Invariant: an answer from the table is the answer git would give now. The commit asked about must be in it; where the
//! table cannot tell exactly, git is asked.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rusqlite::ErrorCode;

use super::command::{Runner, stream};
use super::fill::fill;
use super::graph::{Graph, NONE, Walk};
use super::log::{Query, Span};
use super::place::Stamp;
use super::table::{Table, TableError, Touched, lock};
use super::{Commit, GitError, Repository, raw};
use crate::deadline::Deadline;

/// What is kept about one repository.
#[derive(Debug)]
pub(super) struct History {
    folder: PathBuf,
    kept: Mutex<Option<Kept>>,
    /// A worker is on its way.
    busy: AtomicBool,
    /// There are more commits than are kept.
    too_many: AtomicBool,
}

/// The table and what was read from it. A new one takes its place; it is never changed but for the names.
#[derive(Debug)]
struct Kept {
    table: Table,
    graph: Graph,
    /// Everyone who committed, by the number the table gives them, as the mailmap of that stamp calls them.
    identities: Option<(Stamp, Vec<Identity>)>,
}

/// What the table says.
enum Answer {
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
const MOST_COMMITS: u64 = 400_000;

/// So many commits that the commit graph does not have are no reason to write it anew.
const MOST_OUTSIDE_GRAPH: usize = 1_000;

impl History {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            kept: Mutex::default(),
            busy: AtomicBool::new(false),
            too_many: AtomicBool::new(false),
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
        query: &Query,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Option<Vec<Commit>>, GitError> {
        if repository.runner.place().rewrites_history() {
            return Ok(None);
        }
        let mut kept = self
            .kept
            .lock()
            .expect("nothing panics while it holds what is kept");
        let answer = match &mut *kept {
            Some(kept) => kept.answer(repository, query, span, deadline),
            None => Ok(Answer::NotYet),
        };
        match answer {
            Ok(Answer::Commits(commits)) => return Ok(Some(commits)),
            Ok(Answer::AskGit) => return Ok(None),
            Err(TableError::Git(error)) => return Err(error),
            Ok(Answer::NotYet) => {}
            // A broken table is no reason to break the answer.
            Err(TableError::Sqlite(_) | TableError::Io(_) | TableError::Busy) => *kept = None,
        }
        drop(kept);
        self.nudge(repository);
        Ok(None)
    }

    /// Brings everything up to date beside the calls, unless that is under way.
    fn nudge(self: &Arc<Self>, repository: &Arc<Repository>) {
        if self.too_many.load(Ordering::Acquire) || self.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (history, repository) = (self.clone(), repository.clone());
        thread::spawn(move || {
            let _done = Done(&history.busy);
            // What fails here is tried again at the next call; git answers until then.
            if let Err(TableError::Sqlite(error)) = history.catch_up(&repository)
                && let Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) = error.sqlite_error_code()
            {
                let _ = Table::remove(&history.folder);
            }
        });
    }

    fn catch_up(&self, repository: &Repository) -> Result<(), TableError> {
        let deadline = Deadline::default();
        make_private(&self.folder)?;
        let mut table = Table::open(&self.folder)?;
        let mut graph = self.graph_of(&table);
        table.extend(&mut graph)?;
        let Some(head) = repository.head(&deadline)? else {
            return Ok(());
        };
        if table.number(&head)?.is_none()
            && let Some(_lock) = lock(&self.folder)?
        {
            if count(&repository.runner, &head, &deadline)? > MOST_COMMITS {
                self.too_many.store(true, Ordering::Release);
                return Ok(());
            }
            let before = graph.len();
            table.extend(&mut graph)?;
            fill(&mut table, &repository.runner, &head, &graph, &deadline)?;
            table.extend(&mut graph)?;
            // Beside the calls as well, which can have the table meanwhile.
            self.keep(table, graph.clone());
            let is_old = self.commit_graph().is_none() || graph.len() - before > MOST_OUTSIDE_GRAPH;
            if is_old && repository.runner.place().is_listable() {
                self.write_commit_graph(&repository.runner)?;
            }
        } else {
            self.keep(table, graph);
        }
        Ok(())
    }

    /// What was read from this very table before; another one may have been made in its place.
    fn graph_of(&self, table: &Table) -> Graph {
        let kept = self
            .kept
            .lock()
            .expect("nothing panics while it holds what is kept");
        match &*kept {
            Some(kept) if kept.table.identity() == table.identity() => kept.graph.clone(),
            _ => Graph::default(),
        }
    }

    fn keep(&self, table: Table, graph: Graph) {
        let kept = Kept {
            table,
            graph,
            identities: None,
        };
        *self
            .kept
            .lock()
            .expect("nothing panics while it holds what is kept") = Some(kept);
    }

    /// Has git write a commit graph into our folder, as if that were the repository's object directory.
    fn write_commit_graph(&self, runner: &Runner) -> Result<(), TableError> {
        let objects = self.folder.join("objects");
        fs::create_dir_all(objects.join("info"))?;
        let mut command = runner.clone().with_graph(Some(objects)).command("commit-graph");
        command.args(["write", "--reachable", "--changed-paths", "--no-progress"]);
        stream(command, None, &Deadline::default(), |_| Ok(()))?;
        Ok(())
    }
}

/// Says that a worker is done, however it ended.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Kept {
    fn answer(
        &mut self,
        repository: &Repository,
        query: &Query,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Answer, TableError> {
        self.name_authors(repository, deadline)?;
        let (table, graph) = (&self.table, &self.graph);
        let identities = self
            .identities
            .as_ref()
            .map_or(&[][..], |(_, identities)| identities);
        let known = |number: Option<u32>| number.filter(|number| (*number as usize) < graph.len());
        let Some(start) = span
            .from
            .as_ref()
            .map(|from| table.number(from))
            .transpose()?
            .and_then(known)
        else {
            return Ok(Answer::NotYet);
        };
        let without = match &span.without {
            None => None,
            // git simplifies differently at the edge of what is left out.
            Some(_) if query.path.is_some() || span.after.is_some() => return Ok(Answer::AskGit),
            Some(id) => match known(table.number(id)?) {
                Some(number) => Some(number),
                // On another branch, perhaps, which is not kept.
                None => return Ok(Answer::AskGit),
            },
        };
        let limit = repository.limit(query.path.as_ref());
        let (touched, mut contents) = match &limit {
            None => (None, HashMap::new()),
            Some(path) => match table.touched(path, graph.len())? {
                Some(Touched { by_number, contents }) => (Some(by_number), contents),
                None => return Ok(Answer::AskGit),
            },
        };
        let authors = query.author.as_ref().map(|wanted| {
            let wanted = wanted.to_ascii_lowercase();
            let is_wanted = |who: &Identity| who.full().to_ascii_lowercase().contains(&wanted);
            identities.iter().map(is_wanted).collect::<Vec<bool>>()
        });
        let walk = Walk {
            start,
            without,
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
            let found = found.map_or(0, |found| raw::content(&found.id));
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
        Ok(Answer::Commits(commits))
    }

    /// Learns the names again if the mailmap has changed.
    fn name_authors(&mut self, repository: &Repository, deadline: &Deadline) -> Result<(), TableError> {
        let stamp = repository.runner.place().mailmap();
        if self.identities.as_ref().is_some_and(|(of, _)| *of == stamp) {
            return Ok(());
        }
        let named = self.table.authors()?.into_iter();
        let mut identities: Vec<Identity> = named.map(|(name, email)| Identity { name, email }).collect();
        if stamp.exists() {
            map(&repository.runner, &mut identities, deadline)?;
        }
        self.identities = Some((stamp, identities));
        Ok(())
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

/// Makes a folder that only its owner can look into.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::io::Write as _;
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
                    content => write!(text, "M 100644 inline {path}\ndata 2\n{content}\n\n").unwrap(),
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
                    let query = Query {
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
                    let Answer::Commits(answer) = answer.unwrap() else {
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
