//! Telling clients of what has changed: the lists of tools and prompts, and the resources they have subscribed to. A
//! connection of the older era is told as long as it is there; in the newer one a request listens until it is cancelled.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_core::path::RepoPath;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};

use crate::mcp::resources;
use crate::session::Session;
use crate::tools::Shape;
use crate::tools::dispatch::Dispatch;

/// How often it is looked whether a client is still there.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// What follows within this time is told together.
const UPDATE_DEBOUNCE: Duration = Duration::from_millis(250);

/// The resources a client wants to hear of, each with what tells its last text from another.
#[derive(Clone, Default)]
pub(crate) struct Subscribed(Arc<Mutex<BTreeMap<String, u64>>>);

/// More would only be read through with every change.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 50;

impl Subscribed {
    /// False where there are too many already.
    pub(crate) fn add(&self, uri: &str, text: &str) -> bool {
        let mut known = self.known();
        if known.len() >= MAX_SUBSCRIPTIONS && !known.contains_key(uri) {
            return false;
        }
        known.insert(uri.to_owned(), mark(text));
        true
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.known().remove(uri);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those whose text is another than before.
    fn changed(&self, dispatch: &Dispatch, session: &Session) -> Vec<String> {
        let before = self.known().clone();
        let mut changed = Vec::new();
        for (uri, old) in before {
            let new = mark(&resources::text(dispatch, session, &uri).unwrap_or_default());
            if new != old {
                let mut known = self.known();
                known.entry(uri.clone()).and_modify(|known| *known = new);
                changed.push(uri);
            }
        }
        changed
    }
}

fn mark(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Whom to tell.
pub(crate) enum Listener {
    Connection(Peer<RoleServer>),
    Request(SubscriptionSink),
}

/// They do not listen any more.
struct ListenerGone;

impl Listener {
    fn is_gone(&self) -> bool {
        match self {
            Self::Connection(peer) => peer.is_transport_closed(),
            Self::Request(_) => false,
        }
    }

    async fn tools_changed(&self) -> Result<(), ListenerGone> {
        match self {
            Self::Connection(peer) => peer.notify_tool_list_changed().await.map_err(|_| ListenerGone),
            // What was not asked for is not sent.
            Self::Request(sink) if sink.accepted().tools_list_changed != Some(true) => Ok(()),
            Self::Request(sink) => sink.notify_tool_list_changed().await.map_err(|_| ListenerGone),
        }
    }

    async fn prompts_changed(&self) -> Result<(), ListenerGone> {
        match self {
            Self::Connection(peer) => peer.notify_prompt_list_changed().await.map_err(|_| ListenerGone),
            Self::Request(sink) if sink.accepted().prompts_list_changed != Some(true) => Ok(()),
            Self::Request(sink) => sink.notify_prompt_list_changed().await.map_err(|_| ListenerGone),
        }
    }

    async fn updated(&self, uri: String) -> Result<(), ListenerGone> {
        match self {
            Self::Connection(peer) => {
                let updated = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(updated)
                    .await
                    .map_err(|_| ListenerGone)
            }
            Self::Request(sink) => sink.notify_resource_updated(uri).await.map_err(|_| ListenerGone),
        }
    }
}

/// What lists are made of.
type Lists = (Vec<Option<Shape>>, Vec<RepoPath>);

fn lists(dispatch: &Dispatch) -> Lists {
    let shapes = dispatch
        .tools
        .iter()
        .map(|tool| tool.shape(&dispatch.project, true))
        .collect();
    let templates = dispatch.project.index.docs(Duration::ZERO).templates.clone();
    (shapes, templates)
}

/// Tells of changes as long as somebody listens.
pub(crate) async fn tell(
    dispatch: Arc<Dispatch>,
    session: Arc<Session>,
    listener: Listener,
    subscribed: Subscribed,
) {
    let mut changes = dispatch.changes();
    let mut seen = *changes.borrow_and_update();
    let mut told = lists(&dispatch);
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return;
            },
            // Who has left is not waited for until something changes.
            () = tokio::time::sleep(LIVENESS_CHECK_INTERVAL) => {}
        }
        if listener.is_gone() {
            return;
        }
        let changed = *changes.borrow_and_update();
        // What a call did concerns no list.
        if changed.index != seen.index {
            let now = lists(&dispatch);
            if now.0 != told.0 && listener.tools_changed().await.is_err() {
                return;
            }
            if now.1 != told.1 && listener.prompts_changed().await.is_err() {
                return;
            }
            told = now;
        }
        if changed == seen {
            continue;
        }
        seen = changed;
        if subscribed.known().is_empty() {
            continue;
        }
        tokio::time::sleep(UPDATE_DEBOUNCE).await;
        let looked = {
            let (dispatch, session, subscribed) = (dispatch.clone(), session.clone(), subscribed.clone());
            tokio::task::spawn_blocking(move || subscribed.changed(&dispatch, &session)).await
        };
        for uri in looked.unwrap_or_default() {
            if listener.updated(uri).await.is_err() {
                return;
            }
        }
    }
}
