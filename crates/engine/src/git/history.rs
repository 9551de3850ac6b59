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
    table: Mutex<Option<Table>>,
    graph: Mutex<Arc<Graph>>,
    identities: Mutex<Option<(Stamp, Arc<Vec<Identity>>)>>,
    /// A worker is on its way.
    busy: AtomicBool,
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
            table: Mutex::default(),
            graph: Mutex::default(),
            identities: Mutex::default(),
            busy: AtomicBool::new(false),
        }
    }

    /// The directory with our commit graph, once there is one.
    pub(super) fn commit_graph(&self) -> Option<PathBuf> {
        let objects = self.folder.join("objects");
        objects.join("info/commit-graph").exists().then_some(objects)
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
        match self.answer(repository, query, span, deadline) {
            Ok(Some(commits)) => Ok(Some(commits)),
            Err(TableError::Git(error)) => Err(error),
            Ok(None) => {
                self.nudge(repository);
                Ok(None)
            }
            // A broken table is no reason to break the answer.
            Err(TableError::Sqlite(_) | TableError::Io(_)) => {
                *self
                    .table
                    .lock()
                    .expect("nothing panics while it holds the table") = None;
                self.nudge(repository);
                Ok(None)
            }
        }
    }

    fn answer(
        &self,
        repository: &Repository,
        query: &Query,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Option<Vec<Commit>>, TableError> {
        let graph = self
            .graph
            .lock()
            .expect("nothing panics while it holds the graph")
            .clone();
        let table = self
            .table
            .lock()
            .expect("nothing panics while it holds the table");
        let (Some(table), Some(from)) = (&*table, &span.from) else {
            return Ok(None);
        };
        let known = |number: Option<u32>| number.filter(|number| (*number as usize) < graph.len());
        let Some(start) = known(table.number(from)?) else {
            return Ok(None);
        };
        let without = match &span.without {
            None => None,
            // git simplifies differently at the edge of what is left out.
            Some(_) if query.path.is_some() || span.after.is_some() => return Ok(None),
            Some(id) => match known(table.number(id)?) {
                Some(number) => Some(number),
                None => return Ok(None),
            },
        };
        let limit = repository.limit(query.path.as_ref());
        let (touched, mut contents) = match &limit {
            None => (None, HashMap::new()),
            Some(path) => match table.touched(path, graph.len())? {
                Some(Touched { by_number, contents }) => (Some(by_number), contents),
                None => return Ok(None),
            },
        };
        let identities = self.identities(table, repository, deadline)?;
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
            let who = &identities[author];
            commit.author.clone_from(&who.name);
            commit.email.clone_from(&who.email);
            for parent in graph.parents(number) {
                commit.parents.push(table.id(*parent)?);
            }
            commits.push(commit);
        }
        Ok(Some(commits))
    }

    /// Everyone who committed, by the number the table gives them, as the mailmap of now calls them.
    fn identities(
        &self,
        table: &Table,
        repository: &Repository,
        deadline: &Deadline,
    ) -> Result<Arc<Vec<Identity>>, TableError> {
        let stamp = repository.runner.place().mailmap();
        let mut known = self
            .identities
            .lock()
            .expect("nothing panics while it holds the names");
        let authors = table.author_count()?;
        if let Some((of, identities)) = &*known
            && *of == stamp
            && identities.len() >= authors
        {
            return Ok(identities.clone());
        }
        let mut identities: Vec<Identity> = table
            .authors()?
            .into_iter()
            .map(|(name, email)| Identity { name, email })
            .collect();
        if stamp.exists() {
            map(&repository.runner, &mut identities, deadline)?;
        }
        let identities = Arc::new(identities);
        *known = Some((stamp, identities.clone()));
        Ok(identities)
    }

    /// Brings everything up to date beside the calls, unless that is under way.
    fn nudge(self: &Arc<Self>, repository: &Arc<Repository>) {
        if self.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (history, repository) = (self.clone(), repository.clone());
        thread::spawn(move || {
            // What fails here is tried again at the next call, which git answers.
            let _ = history.catch_up(&repository);
            history.busy.store(false, Ordering::Release);
        });
    }

    fn catch_up(&self, repository: &Repository) -> Result<(), TableError> {
        make_private(&self.folder)?;
        let mut table = Table::open(&self.folder)?;
        let mut graph = (**self
            .graph
            .lock()
            .expect("nothing panics while it holds the graph"))
        .clone();
        table.extend(&mut graph)?;
        self.publish(&graph, None);
        let Some(head) = repository.head(&Deadline::default())? else {
            return Ok(());
        };
        if table.number(&head)?.is_none()
            && let Some(_lock) = lock(&self.folder)?
        {
            if count(&repository.runner, &head, &Deadline::default())? > MOST_COMMITS {
                return Ok(());
            }
            let before = graph.len();
            table.extend(&mut graph)?;
            fill(
                &mut table,
                &repository.runner,
                &head,
                &graph,
                &Deadline::default(),
            )?;
            table.extend(&mut graph)?;
            self.publish(&graph, None);
            if self.commit_graph().is_none() || graph.len() - before > MOST_OUTSIDE_GRAPH {
                self.write_commit_graph(&repository.runner)?;
            }
        }
        self.publish(&graph, Some(table));
        Ok(())
    }

    fn publish(&self, graph: &Graph, table: Option<Table>) {
        *self
            .graph
            .lock()
            .expect("nothing panics while it holds the graph") = Arc::new(graph.clone());
        if table.is_some() {
            *self
                .table
                .lock()
                .expect("nothing panics while it holds the table") = table;
        }
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
