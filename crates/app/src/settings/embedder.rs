//! The embedding server that the settings name.
//!
//! Whether it can be reached is not checked here: a search goes on without it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use docent_engine::clock::Clock;
use docent_engine::embed::{ApiKey, Remote, RemoteOptions, Server};

use super::directories::embeddings_cache;
use super::{DefaultLimit, Environment, ResolvedSetting, ValueOrigin, Values};

/// Builds the client of the embedding server. `None` if the settings name no server.
pub(super) fn build_remote(
    values: Values<'_>,
    environment: Environment<'_>,
    clock: Clock,
) -> anyhow::Result<Option<Arc<Remote>>> {
    let text = |name: &str| values.text(name);
    let number = |name: &str| values.get(name).as_integer().unwrap_or_default();
    let Some(url) = text("embedder.url") else {
        return Ok(None);
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        bail!("embedder.url must begin with http:// or https://");
    }
    let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    if authority.contains(['@', '?', '#']) {
        bail!("embedder.url must have no user, question or fragment in it; a key belongs into embedder.key");
    }
    let Some(model) = text("embedder.model") else {
        bail!("embedder.url is set and embedder.model is not; which model should the server be asked for?");
    };
    let key = match (text("embedder.key"), text("embedder.key_file")) {
        (Some(key), _) => ApiKey::Given(key),
        (None, Some(file)) => ApiKey::File(PathBuf::from(file)),
        (None, None) => ApiKey::None,
    };
    Ok(Some(Arc::new(Remote::new(RemoteOptions {
        server: Server {
            url,
            model,
            dimensions: u32::try_from(number("embedder.dimensions"))
                .ok()
                .filter(|number| *number > 0),
            key,
        },
        folder: embeddings_cache(environment),
        batch: usize::try_from(number("embedder.batch"))
            .unwrap_or(usize::MAX)
            .clamp(1, 512),
        query_prefix: text("embedder.query_prefix").unwrap_or_default(),
        text_prefix: text("embedder.text_prefix").unwrap_or_default(),
        clock,
    }))))
}

/// Lowers the rate limits of tools that call a paid server, unless the user has set them.
pub(super) fn lower_limits(entries: &mut [ResolvedSetting], limits: &[DefaultLimit]) {
    for limit in limits {
        let name = limit.key();
        let unset = entries
            .iter_mut()
            .find(|entry| entry.key.name == name && entry.origin == ValueOrigin::Default);
        if let Some((entry, fewer)) = unset.zip(limit.per_minute_paid) {
            entry.value = i64::from(fewer).into();
        }
    }
}
