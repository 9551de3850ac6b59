//! The pages a client can read without calling a tool: the project, its modules, and the sessions that worked on it.
//!
//! The list is always the same; which modules there are is told by completion.

use docent_engine::deadline::Deadline;
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompletionInfo, ReadResourceResult, Reference, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use crate::overview;
use crate::session::Session;
use crate::tools::dispatch::Dispatch;
use crate::tools::failure::brief;

const MARKDOWN: &str = "text/markdown";

const OVERVIEW: &str = "context://project/overview";
const CURRENT: &str = "context://session/current";
const RECENT: &str = "context://sessions/recent";
const MODULE: &str = "context://module/";
const MODULE_TEMPLATE: &str = "context://module/{name}";

/// Sessions that are told of.
const SESSIONS: usize = 10;

/// The resources there are.
pub(crate) fn listed() -> Vec<Resource> {
    [
        (
            OVERVIEW,
            "project-overview",
            "What this project is: languages, modules, entry points, key files, recent activity",
        ),
        (
            CURRENT,
            "current-session",
            "What this session has read, searched and called",
        ),
        (
            RECENT,
            "recent-sessions",
            "The last sessions of this project, and what they worked on",
        ),
    ]
    .into_iter()
    .map(|(uri, name, about)| {
        Resource::new(uri, name)
            .with_description(about)
            .with_mime_type(MARKDOWN)
    })
    .collect()
}

/// Those with a name to fill in.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let about = "A module of the project: its files, what was read of it lately, and what is known of it";
    vec![
        ResourceTemplate::new(MODULE_TEMPLATE, "module")
            .with_description(about)
            .with_mime_type(MARKDOWN),
    ]
}

/// Whether there can be a resource of this address.
pub(crate) fn is_known(uri: &str) -> bool {
    [OVERVIEW, CURRENT, RECENT].contains(&uri) || module_of(uri).is_some()
}

/// A resource as it is now; nothing where there is none.
pub(crate) fn text(dispatch: &Dispatch, session: &Session, uri: &str) -> Option<String> {
    let project = &dispatch.project;
    let deadline: Deadline = dispatch.deadline();
    match uri {
        OVERVIEW => Some(overview::project(project, &deadline)),
        CURRENT => {
            let past = project.sessions.session(&session.id).ok().flatten();
            Some(overview::session(&past.unwrap_or_else(|| session.begun())))
        }
        RECENT => Some(overview::sessions(
            &project.sessions.recent(SESSIONS).unwrap_or_default(),
        )),
        uri => overview::module(project, &module_of(uri)?, &deadline),
    }
}

pub(crate) fn read(
    dispatch: &Dispatch,
    session: &Session,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let text = text(dispatch, session, uri).ok_or_else(|| missing(uri))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// There is no such resource.
pub(crate) fn missing(uri: &str) -> ErrorData {
    let uri = brief(uri);
    ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({ "uri": uri })))
}

/// Names that a client could go on with.
pub(crate) fn completed(dispatch: &Dispatch, request: &CompleteRequestParams) -> CompletionInfo {
    let is_module =
        matches!(&request.r#ref, Reference::Resource(template) if template.uri == MODULE_TEMPLATE);
    if !is_module || request.argument.name != "name" {
        return CompletionInfo::default();
    }
    let mut names = overview::module_names(&dispatch.project, &request.argument.value, &dispatch.deadline());
    let total = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let has_more = names.len() > CompletionInfo::MAX_VALUES;
    names.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(names, Some(total), has_more).unwrap_or_default()
}

/// The module that an address names, decoded.
fn module_of(uri: &str) -> Option<String> {
    let name = uri.strip_prefix(MODULE)?;
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_decoded() {
        for (uri, expected) in [
            ("context://module/auth", Some("auth")),
            ("context://module/my%20app", Some("my app")),
            ("context://module/b%C3%BCcher", Some("bücher")),
            ("context://module/", None),
            ("context://module/%zz", None),
            ("context://other/auth", None),
        ] {
            assert_eq!(module_of(uri).as_deref(), expected, "{uri}");
        }
    }
}
