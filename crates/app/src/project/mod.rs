//! A project, put together from its settings: everything that the tools read, search and write.
//!
//! Only composition happens here. A tool's `run` gets the [`Project`] and hands the parts on to engine
//! functions.
//!
//! Invariant: opening a project reads no project file and starts no work; the first call does.

mod linked;

use std::path::Path;
use std::sync::Arc;

use docent_core::docs::listing::ProjectTrust;
use docent_core::rank::boosts::BoostRules;
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::coverage::{Coverage, ReportScope};
use docent_engine::files::Root;
use docent_engine::git::Git;
use docent_engine::index::{Index, IndexOptions, Patience};
use docent_engine::links::Links;
use docent_engine::memory::Memory;
use docent_engine::sessions::Sessions;

use crate::settings::{Approval, DocsSettings, Settings};
pub(crate) use linked::{LinkedProject, LinkedProjects};

/// The parts of one project.
pub(crate) struct Project {
    pub(crate) root: Root,
    pub(crate) git: Arc<Git>,
    pub(crate) coverage: Coverage,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) index: Index,
    pub(crate) linked: LinkedProjects,
    pub(crate) search: SearchSettings,
    pub(crate) memory: Memory,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) approval: Approval,
    pub(crate) docs: DocsSettings,
    /// Whether the project's own descriptions may reach clients.
    pub(crate) trust: ProjectTrust,
    /// Some of the project's settings are ignored, because they are wrong.
    pub(crate) has_wrong_settings: bool,
    pub(crate) clock: Clock,
}

/// How searches are answered.
#[derive(Clone, Debug)]
pub(crate) struct SearchSettings {
    pub(crate) boosts: BoostRules,
    /// How long a search waits until changed files are indexed.
    pub(crate) patience: Patience,
}

/// How long the process runs, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// A server for the client that started it.
    Stdio,
    /// A server for every client that can reach it.
    Http,
    /// One command.
    SingleCall,
}

/// Resolves the settings of a linked project from its directory.
pub(crate) type ResolveSettings = Box<dyn Fn(&Path) -> anyhow::Result<Settings> + Send + Sync>;

impl Project {
    /// Puts a project together. `resolve` is called for linked projects, when a search includes them.
    pub(crate) fn open(settings: &Settings, mode: RunMode, resolve: ResolveSettings) -> Self {
        let Settings { root, clock, .. } = settings;
        let is_server = mode != RunMode::SingleCall;
        let accesses = Arc::new(Accesses::new(settings.folder.clone(), *clock));
        // A single call is answered sooner than a table of commits for the next one could be built.
        let git_folder = settings.folder.clone().filter(|_| is_server);
        let git = Arc::new(Git::new(
            root.clone(),
            settings.surroundings.clone(),
            *clock,
            git_folder,
        ));
        let options = IndexOptions {
            watch: settings.index.watch && is_server,
            // Fetching vectors from an embedding server takes longer than a single call lives.
            fills: is_server,
            git: Some(git.clone()),
            ..settings.index.clone()
        };
        // All projects share one embedding client, so that a query is sent to the server once.
        let remote = options.remote.clone();
        let open_linked = Box::new(move |path: &Path| {
            let mut settings = resolve(path)?;
            (settings.index.remote, settings.index.fills) = (remote.clone(), is_server);
            let (index, accesses) = open_index(&settings);
            Ok(LinkedProject {
                index,
                root: settings.root,
                accesses,
            })
        });
        let report_scope = match mode {
            RunMode::Http => ReportScope::Project,
            RunMode::Stdio | RunMode::SingleCall => ReportScope::Machine,
        };
        Self {
            git,
            coverage: Coverage::new(root.clone(), report_scope, *clock, settings.temporary.clone()),
            index: Index::new(root.clone(), settings.folder.clone(), accesses.clone(), options),
            accesses,
            linked: LinkedProjects::new(Links::new(settings.links.clone()), open_linked),
            search: SearchSettings {
                boosts: settings.boosts,
                patience: if is_server {
                    Patience::Moment
                } else {
                    Patience::UntilDone
                },
            },
            memory: open_memory(settings),
            sessions: Arc::new(Sessions::new(settings.state.clone(), *clock)),
            approval: settings.approval,
            docs: settings.docs.clone(),
            trust: settings.trust,
            has_wrong_settings: settings.has_project_warnings,
            root: root.clone(),
            clock: *clock,
        }
    }
}

impl Project {
    /// The notice about settings of the project that are ignored. It quotes none of them.
    pub(crate) fn settings_notice(&self) -> Option<String> {
        let sentence =
            "Part of the project's .context/config.toml is wrong and ignored; `docent doctor` says which";
        self.has_wrong_settings.then(|| sentence.to_owned())
    }
}

/// Opens the index of a project without a watcher: a server of that project, if one runs, has its own.
pub(crate) fn open_index(settings: &Settings) -> (Index, Arc<Accesses>) {
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

/// Opens the memory of a project. Entries that wait for approval are kept in the user's state directory.
pub(crate) fn open_memory(settings: &Settings) -> Memory {
    let pending = settings.state.as_ref().map(|state| state.join("pending"));
    Memory::new(settings.root.clone(), settings.clock, pending)
}
