//! Asking the indexes that `context_search` is about: brought up to date, with what is known of how their files are used.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use docent_core::chunk::ChunkKind;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::rank::Weights;
use docent_core::rank::boosts::{DAY, Usage, WEEK};
use docent_engine::accesses::Accesses;
use docent_engine::discoveries::{DiscoveryCandidate, DiscoveryRequest, discoveries};
use docent_engine::index::{Corpus, Freshness, Index, Patience, RerankSkipped};
use docent_engine::search::{FoundChunk, SearchRequest, SearchResult, SearchedProject, search};
use docent_engine::store::StoreError;
use jiff::{SignedDuration, Timestamp};

use super::search::Args;
use crate::project::LinkedProject;
use crate::tools::call::Call;
use crate::tools::failure::{Failure, FailureKind};

/// What a search looks at: this project, and those linked with it.
pub(super) struct Searched<'a> {
    indexes: Vec<&'a Index>,
    accesses: Vec<&'a Accesses>,
}

impl<'a> Searched<'a> {
    pub(super) fn new(call: &Call<'a>, neighbours: &'a [Arc<LinkedProject>]) -> Self {
        let mut searched = Self {
            indexes: vec![&call.project.index],
            accesses: vec![&call.project.accesses],
        };
        for neighbour in neighbours {
            searched.indexes.push(&neighbour.index);
            searched.accesses.push(&neighbour.accesses);
        }
        searched
    }

    /// Brings the indexes up to date as far as there is time, and searches. A damaged index is built anew once.
    pub(super) fn search(&self, call: &Call<'_>, args: &Args) -> Result<Answered, Failure> {
        let kinds: Vec<ChunkKind> = args.chunk_type.iter().flatten().map(|kind| kind.kind()).collect();
        let weights = Weights::default();
        let request = SearchRequest {
            query: &args.query,
            kinds: &kinds,
            module: args.module.as_deref(),
            weights: &weights,
            deadline: call.deadline,
        };
        let sought = DiscoveryRequest {
            query: &args.query,
            kinds: args.discoveries(),
            module: args.module.as_deref(),
        };
        let mut freshness = self.freshen(call, Corpus::Code);
        // Who asks for everything does not wait for commits, unless there is nobody to wait for them later.
        let history = if args.wants_code() && call.project.search.patience == Patience::Moment {
            call.project.index.freshness(Corpus::History)
        } else {
            self.freshen(call, Corpus::History)
        };
        // Now, because a file that was renamed takes its statistics along when it is indexed.
        let now = call.project.clock.now();
        let used: Vec<ProjectUsage> = self
            .accesses
            .iter()
            .map(|accesses| ProjectUsage::of(accesses, now))
            .collect();
        // A new session most likely goes on where the last one was.
        let module = call.session.module().or_else(|| used[0].module.clone());
        let places: Vec<SearchedProject<'_>> = self
            .indexes
            .iter()
            .zip(&used)
            .enumerate()
            .map(|(at, (index, used))| SearchedProject {
                index,
                usage: &used.files,
                module: module.as_deref().filter(|_| at == 0),
                rules: call.project.search.boosts,
            })
            .collect();
        let look = || -> Result<(SearchResult, Vec<DiscoveryCandidate>), StoreError> {
            let chunks = if args.wants_code() {
                search(&places, &request)?
            } else {
                SearchResult::default()
            };
            let discoveries = if args.wants_discoveries() {
                discoveries(&places, &sought)?
            } else {
                Vec::new()
            };
            Ok((chunks, discoveries))
        };
        let found = match look() {
            Err(StoreError::Damaged(_)) => {
                freshness = self.freshen(call, Corpus::Code);
                look()
            }
            found => found,
        };
        let (answer, discoveries) = found.map_err(|error| {
            Failure::new(FailureKind::Internal, "The index cannot be searched")
                .details(error.to_string())
                .hint("Use grep_codebase for text search")
        })?;
        Ok(Answered {
            freshness,
            history,
            chunks: answer.matches,
            discoveries,
            unordered: answer.unordered,
        })
    }

    /// How things stand with all of them together.
    fn freshen(&self, call: &Call<'_>, corpus: Corpus) -> Freshness {
        let mut all = Freshness {
            was_complete: true,
            ..Freshness::default()
        };
        // All at once: each has its own keeper, and together they take no longer than one.
        let standings: Vec<Freshness> = thread::scope(|scope| {
            let (first, others) = self.indexes.split_first().expect("the project itself is one");
            let ask = |index: &Index| {
                index.freshen(corpus, call.project.search.patience, call.deadline, call.report)
            };
            let others: Vec<_> = others
                .iter()
                .map(|index| scope.spawn(move || ask(index)))
                .collect();
            let mut standings = vec![ask(first)];
            standings.extend(others.into_iter().filter_map(|other| other.join().ok()));
            standings
        });
        for one in standings {
            all.files += one.files;
            all.pending += one.pending;
            all.missed += one.missed;
            all.was_complete &= one.was_complete;
            all.unknown |= one.unknown;
            all.troubles.extend(one.troubles);
        }
        all
    }
}

/// What was found, and how things stood.
pub(super) struct Answered {
    pub(super) freshness: Freshness,
    /// With what commits tell.
    pub(super) history: Freshness,
    pub(super) chunks: Vec<FoundChunk>,
    pub(super) discoveries: Vec<DiscoveryCandidate>,
    /// Why a model on a server had no say.
    pub(super) unordered: Option<RerankSkipped>,
}

/// How a project was worked on.
struct ProjectUsage {
    /// How files were read this week.
    files: HashMap<String, Usage>,
    /// The module of the one that was read last, in the last day.
    module: Option<String>,
}

impl ProjectUsage {
    fn of(accesses: &Accesses, now: Timestamp) -> Self {
        let since = now - SignedDuration::from_secs(WEEK);
        // Without statistics there are no boosts, which is no reason not to answer.
        let accessed = accesses.since(since).unwrap_or_default();
        let module = accessed
            .first()
            .filter(|file| now.duration_since(file.last) <= SignedDuration::from_secs(DAY))
            .and_then(|file| RepoPath::parse(&file.path).ok())
            .map(|path| module_of(&path).to_owned());
        let usage = accessed.into_iter().map(|file| {
            let age = now.duration_since(file.last).as_secs().max(0);
            (
                file.path,
                Usage {
                    age,
                    times: file.times,
                },
            )
        });
        Self {
            files: usage.collect(),
            module,
        }
    }
}
