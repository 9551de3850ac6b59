//! The projects of a search: their indexes brought up to date, and how the user works on them.

use std::collections::HashMap;
use std::thread;

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::rank::boosts::{BoostRules, DAY, Usage, WEEK};
use jiff::{SignedDuration, Timestamp};

use super::{Candidate, RankedCandidate, SearchRequest};
use crate::accesses::Accesses;
use crate::files::Root;
use crate::index::{Corpus, Freshness, Index, Patience};

/// A project to search.
#[derive(Clone, Copy)]
pub struct SearchedProject<'a> {
    pub root: &'a Root,
    pub index: &'a Index,
    pub accesses: &'a Accesses,
}

/// Brings a corpus of all projects up to date, as far as patience reaches, and adds up their freshness.
pub(super) fn freshen_all(
    projects: &[SearchedProject<'_>],
    corpus: Corpus,
    request: &SearchRequest<'_>,
) -> Freshness {
    add_up(projects, |index| {
        index.freshen(corpus, request.patience, request.deadline, request.report)
    })
}

/// Adds up the freshness of all projects.
fn add_up(projects: &[SearchedProject<'_>], freshen: impl Fn(&Index) -> Freshness + Sync) -> Freshness {
    let freshen = &freshen;
    // In parallel: each index has its own worker, so all of them together take no longer than the slowest.
    let all: Vec<Freshness> = thread::scope(|scope| {
        let (first, others) = projects
            .split_first()
            .expect("a search has at least the caller's own project");
        let others: Vec<_> = others
            .iter()
            .map(|project| scope.spawn(move || freshen(project.index)))
            .collect();
        let mut all = vec![freshen(first.index)];
        all.extend(others.into_iter().filter_map(|other| other.join().ok()));
        all
    });
    let mut sum = Freshness {
        was_complete: true,
        ..Freshness::default()
    };
    for one in all {
        sum.files += one.files;
        sum.pending += one.pending;
        sum.missed += one.missed;
        sum.was_complete &= one.was_complete;
        sum.unknown |= one.unknown;
        sum.troubles.extend(one.troubles);
    }
    sum
}

/// The freshness of the code and of the history. A search for code does not wait for commits, unless it waits
/// for everything.
pub(super) fn freshen_code_and_history(
    projects: &[SearchedProject<'_>],
    request: &SearchRequest<'_>,
) -> (Freshness, Freshness) {
    if request.patience == Patience::UntilDone {
        // Commits are indexed after the code, by the same sync. A second request would scan all files again.
        let history = freshen_all(projects, Corpus::History, request);
        return (add_up(projects, |index| index.freshness(Corpus::Code)), history);
    }
    let code = freshen_all(projects, Corpus::Code, request);
    let history = match projects {
        [own, ..] if request.chunks.is_some() => {
            // A short history is read in the time that a search takes.
            if code.pending == 0 {
                own.index.await_history(request.deadline);
            }
            own.index.freshness(Corpus::History)
        }
        _ => freshen_all(projects, Corpus::History, request),
    };
    (code, history)
}

/// A project with the accesses of its files, as of one search.
pub(super) struct ProjectContext<'a> {
    pub(super) index: &'a Index,
    /// Accesses of the last week, by path.
    usage: HashMap<String, Usage>,
    /// The module that the user works in. `None` for linked projects.
    current_module: Option<String>,
    rules: BoostRules,
    /// Whether all commits were read once. Until then nothing that depends on commits counts, because it
    /// would change from one answer to the next.
    pub(super) has_history: bool,
}

impl<'a> ProjectContext<'a> {
    pub(super) fn read_all(
        projects: &[SearchedProject<'a>],
        request: &SearchRequest<'_>,
        now: Timestamp,
    ) -> Vec<Self> {
        projects
            .iter()
            .enumerate()
            .map(|(at, project)| {
                let (usage, last_module) = read_usage(project.accesses, now);
                // A new session most likely continues where the last one was.
                let current_module = request.current_module.map(str::to_owned).or(last_module);
                Self {
                    index: project.index,
                    usage,
                    current_module: current_module.filter(|_| at == 0),
                    rules: request.boosts,
                    has_history: project.index.has_history(),
                }
            })
            .collect()
    }

    /// Adds the usage and the boosts of this project, which is number `project` of those searched.
    pub(super) fn boost(&self, project: usize, candidate: Candidate, relevance: f64) -> RankedCandidate {
        let usage = self.usage.get(candidate.path_or_commit()).copied();
        let is_current = |module: &String| match &candidate {
            Candidate::Chunk(chunk) => {
                RepoPath::parse(&chunk.path).is_ok_and(|path| module_of(&path) == module)
            }
            Candidate::Discovery { stored, .. } => stored.discovery.module == *module,
        };
        let same_module = self.current_module.as_ref().is_some_and(is_current);
        RankedCandidate {
            project,
            boosts: self.rules.boosts(usage, same_module),
            candidate,
            relevance,
            score: relevance,
            is_use: false,
            usage,
        }
    }
}

/// The accesses of the last week by path, and the module of the file accessed last, if that was in the last
/// day.
fn read_usage(accesses: &Accesses, now: Timestamp) -> (HashMap<String, Usage>, Option<String>) {
    let since = now - SignedDuration::from_secs(WEEK);
    // Without statistics there are no boosts, but there are results.
    let accessed = accesses.since(since).unwrap_or_default();
    let last_module = accessed
        .first()
        .filter(|file| now.duration_since(file.last) <= SignedDuration::from_secs(DAY))
        .and_then(|file| RepoPath::parse(&file.path).ok())
        .map(|path| module_of(&path).to_owned());
    let usage = accessed.into_iter().map(|file| {
        let age = now.duration_since(file.last).as_secs().max(0);
        let times = file.times;
        (file.path, Usage { age, times })
    });
    (usage.collect(), last_module)
}
