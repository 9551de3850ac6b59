//! Notifications: clients hear when the lists of tools or prompts change, or a resource that they subscribed
//! to. In the older era a connection listens for as long as it lives, in the newer one a request listens
//! until it is cancelled.
//!
//! Invariant: a notification is sent only if the content differs from the last that was announced.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_core::path::RepoPath;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};

use super::resources;
use crate::session::Session;
use crate::tools::dispatch::Dispatch;
use crate::tools::tool::ToolDescription;

/// How often a connection is checked for having closed.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// Changes within this time lead to one notification.
const UPDATE_DEBOUNCE: Duration = Duration::from_millis(250);

/// The resources that a client subscribed to, each with a hash of its last text.
#[derive(Clone, Default)]
pub(crate) struct Subscribed(Arc<Mutex<BTreeMap<String, u64>>>);

/// Bounded, because every change renders each of them.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 50;

impl Subscribed {
    /// Returns false if there are too many already.
    pub(crate) fn add(&self, uri: &str, text: &str) -> bool {
        let mut hashes = self.hashes();
        if hashes.len() >= MAX_SUBSCRIPTIONS && !hashes.contains_key(uri) {
            return false;
        }
        hashes.insert(uri.to_owned(), hash(text));
        true
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.hashes().remove(uri);
    }

    fn hashes(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the resources whose text has changed since the last call.
    fn take_changed(&self, dispatch: &Dispatch, session: &Session) -> Vec<String> {
        let before = self.hashes().clone();
        let mut changed = Vec::new();
        for (uri, old) in before {
            let new = hash(&resources::render(dispatch, session, &uri).unwrap_or_default());
            if new != old {
                let mut hashes = self.hashes();
                hashes.entry(uri.clone()).and_modify(|hash| *hash = new);
                changed.push(uri);
            }
        }
        changed
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The receiver of the notifications.
pub(crate) enum Listener {
    Connection(Peer<RoleServer>),
    Request(SubscriptionSink),
}

/// The client has disconnected.
struct ListenerGone;

impl Listener {
    fn is_gone(&self) -> bool {
        match self {
            Self::Connection(peer) => peer.is_transport_closed(),
            Self::Request(_) => false,
        }
    }

    async fn notify_tools_changed(&self) -> Result<(), ListenerGone> {
        match self {
            Self::Connection(peer) => peer.notify_tool_list_changed().await.map_err(|_| ListenerGone),
            // A request names the notifications that it wants.
            Self::Request(sink) if sink.accepted().tools_list_changed != Some(true) => Ok(()),
            Self::Request(sink) => sink.notify_tool_list_changed().await.map_err(|_| ListenerGone),
        }
    }

    async fn notify_prompts_changed(&self) -> Result<(), ListenerGone> {
        match self {
            Self::Connection(peer) => peer.notify_prompt_list_changed().await.map_err(|_| ListenerGone),
            Self::Request(sink) if sink.accepted().prompts_list_changed != Some(true) => Ok(()),
            Self::Request(sink) => sink.notify_prompt_list_changed().await.map_err(|_| ListenerGone),
        }
    }

    async fn notify_updated(&self, uri: String) -> Result<(), ListenerGone> {
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

/// The content of the lists of tools and prompts, as far as it can change.
struct ListedContent {
    tools: Vec<Option<ToolDescription>>,
    prompts: Vec<RepoPath>,
}

fn listed_content(dispatch: &Dispatch) -> ListedContent {
    let tools = dispatch
        .tools
        .iter()
        .map(|tool| tool.describe(&dispatch.project, true))
        .collect();
    let prompts = dispatch.project.index.docs(Duration::ZERO).templates.clone();
    ListedContent { tools, prompts }
}

/// Sends notifications for as long as the client listens.
pub(crate) async fn notify(
    dispatch: Arc<Dispatch>,
    session: Arc<Session>,
    listener: Listener,
    subscribed: Subscribed,
) {
    let mut changes = dispatch.changes();
    let mut seen = *changes.borrow_and_update();
    let mut announced = listed_content(&dispatch);
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return;
            },
            // Otherwise a closed connection would stay in memory until something changes.
            () = tokio::time::sleep(LIVENESS_CHECK_INTERVAL) => {}
        }
        if listener.is_gone() {
            return;
        }
        let changed = *changes.borrow_and_update();
        // Calls change no list.
        if changed.index != seen.index {
            let now = listed_content(&dispatch);
            if now.tools != announced.tools && listener.notify_tools_changed().await.is_err() {
                return;
            }
            if now.prompts != announced.prompts && listener.notify_prompts_changed().await.is_err() {
                return;
            }
            announced = now;
        }
        if changed == seen {
            continue;
        }
        seen = changed;
        if subscribed.hashes().is_empty() {
            continue;
        }
        tokio::time::sleep(UPDATE_DEBOUNCE).await;
        let updated = {
            let (dispatch, session, subscribed) = (dispatch.clone(), session.clone(), subscribed.clone());
            tokio::task::spawn_blocking(move || subscribed.take_changed(&dispatch, &session)).await
        };
        for uri in updated.unwrap_or_default() {
            if listener.notify_updated(uri).await.is_err() {
                return;
            }
        }
    }
}
