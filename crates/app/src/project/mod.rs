//! A project, put together: everything that the tools read, search and write.

pub(crate) mod linked;

use std::sync::Arc;

use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::coverage::Coverage;
use docent_engine::files::Root;
use docent_engine::git::Git;
use docent_engine::index::Index;
use docent_engine::memory::Memory;
use docent_engine::sessions::Sessions;

use crate::tools::{Approval, Docs, SearchSettings};
use linked::Linked;

/// What the tools are about.
pub(crate) struct Project {
    pub(crate) root: Root,
    pub(crate) git: Arc<Git>,
    pub(crate) coverage: Coverage,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) index: Index,
    pub(crate) linked: Linked,
    pub(crate) search: SearchSettings,
    pub(crate) memory: Memory,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) approval: Approval,
    pub(crate) docs: Docs,
    pub(crate) clock: Clock,
}
