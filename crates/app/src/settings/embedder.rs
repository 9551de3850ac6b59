//! The settings of a model on a server, put together.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use docent_engine::clock::Clock;
use docent_engine::embed::{ApiKey, Remote, RemoteOptions, Server};

use super::{Environment, ResolvedSetting, ValueOrigin, own, value};
use crate::tools::Tool;

/// The model that the settings name; nothing where they name none.
pub(super) fn remote(
    entries: &[ResolvedSetting],
    environment: Environment<'_>,
    clock: Clock,
) -> anyhow::Result<Option<Arc<Remote>>> {
    let text = |name: &str| Some(value(entries, name).as_str()?.to_owned()).filter(|text| !text.is_empty());
    let number = |name: &str| value(entries, name).as_integer().unwrap_or_default();
    let Some(url) = text("embedder.url") else {
        return Ok(None);
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        bail!("embedder.url must begin with http:// or https://");
    }
    let place = url.split_once("://").map_or(url.as_str(), |(_, place)| place);
    if place.contains(['@', '?', '#']) {
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
        folder: own(environment, "XDG_CACHE_HOME", ".cache", "embeddings"),
        batch: usize::try_from(number("embedder.batch"))
            .unwrap_or(usize::MAX)
            .clamp(1, 512),
        query_prefix: text("embedder.query_prefix").unwrap_or_default(),
        text_prefix: text("embedder.text_prefix").unwrap_or_default(),
        clock,
    }))))
}

/// Lowers how often tools may be called that ask a server which is paid, unless the user has set it.
pub(super) fn spare(entries: &mut [ResolvedSetting], tools: &[Tool]) {
    for tool in tools {
        let name = format!("limit.{}", tool.name);
        let unset = entries
            .iter_mut()
            .find(|entry| entry.key.name == name && entry.origin == ValueOrigin::Default);
        if let Some((entry, fewer)) = unset.zip(tool.per_minute_paid) {
            entry.value = i64::from(fewer).into();
        }
    }
}
