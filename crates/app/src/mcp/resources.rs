//! MCP resources: pages that a client can read without calling a tool, about the project, its modules and its
//! sessions.
//!
//! The list is fixed. Modules are one template, whose names a client gets by completion. The pages themselves
//! are made by `overview`.

use docent_core::docs::listing::{ProjectTrust, is_listable};
use docent_engine::deadline::Deadline;
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompletionInfo, ReadResourceResult, Reference, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use crate::markdown::shorten;
use crate::overview;
use crate::session::Session;
use crate::tools::dispatch::Dispatch;

const MARKDOWN: &str = "text/markdown";

const OVERVIEW: &str = "context://project/overview";
const CURRENT: &str = "context://session/current";
const RECENT: &str = "context://sessions/recent";
const MODULE: &str = "context://module/";
const MODULE_TEMPLATE: &str = "context://module/{name}";

/// Sessions on the page of recent ones.
const MAX_RECENT_SESSIONS: usize = 10;

/// The resources with a fixed address.
pub(crate) fn list() -> Vec<Resource> {
    [
        (
            OVERVIEW,
            "project-overview",
            "What this project is: languages, programs, modules, key files, recent activity",
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

/// The resources with a name in their address.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let about = "A module of the project: its files, what was read of it lately, and what is known of it";
    vec![
        ResourceTemplate::new(MODULE_TEMPLATE, "module")
            .with_description(about)
            .with_mime_type(MARKDOWN),
    ]
}

/// True if the address is one of a resource, or of a module that may exist.
pub(crate) fn is_known(uri: &str) -> bool {
    [OVERVIEW, CURRENT, RECENT].contains(&uri) || module_of(uri).is_some()
}

/// The text of a resource as it is now. `None` if it does not exist.
pub(crate) fn render(dispatch: &Dispatch, session: &Session, uri: &str) -> Option<String> {
    let project = &dispatch.project;
    let deadline: Deadline = dispatch.deadline();
    match uri {
        OVERVIEW => Some(overview::project_page(project, &deadline)),
        CURRENT => {
            let past = project.sessions.session(&session.id).ok().flatten();
            Some(overview::session_page(&past.unwrap_or_else(|| session.to_past())))
        }
        RECENT => Some(overview::sessions_page(
            &project.sessions.recent(MAX_RECENT_SESSIONS).unwrap_or_default(),
        )),
        uri => overview::module_page(project, &module_of(uri)?, &deadline),
    }
}

pub(crate) fn read(
    dispatch: &Dispatch,
    session: &Session,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    dispatch.check_project().map_err(|failure| {
        ErrorData::resource_not_found(failure.message, Some(json!({ "uri": shorten(uri) })))
    })?;
    let text = render(dispatch, session, uri).ok_or_else(|| not_found(uri))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The error for a resource that does not exist.
pub(crate) fn not_found(uri: &str) -> ErrorData {
    let uri = shorten(uri);
    ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({ "uri": uri })))
}

/// Completes the name of a module.
pub(crate) fn complete(dispatch: &Dispatch, request: &CompleteRequestParams) -> CompletionInfo {
    let is_module =
        matches!(&request.r#ref, Reference::Resource(template) if template.uri == MODULE_TEMPLATE);
    if !is_module || request.argument.name != "name" {
        return CompletionInfo::default();
    }
    let mut names = overview::module_names(&dispatch.project, &request.argument.value, &dispatch.deadline());
    // A module's page can be read under any name; the list has only those without room for a sentence.
    names.retain(|name| is_listable(name, ProjectTrust::Trusted));
    let total = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let has_more = names.len() > CompletionInfo::MAX_VALUES;
    names.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(names, Some(total), has_more).unwrap_or_default()
}

/// The module that an address names, percent-decoded.
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
