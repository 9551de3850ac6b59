//! MCP prompts: the project's templates, listed and filled.
//!
//! How a template is parsed is in `core::docs::prompt`.

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_core::docs::prompt::{MessageRole, Prompt};
use docent_core::text::reveal::reveal_part;
use docent_engine::deadline::Deadline;
use docent_engine::docs::prompts;
use docent_engine::index::{Corpus, View};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt as Listed, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

use crate::markdown::{inline_to, shorten};
use crate::project::Project;
use crate::tools::docs::MAX_LIST_WAIT;

/// Characters of a prompt's title or description.
const MAX_ABOUT_CHARS: usize = 200;

/// The prompts, by name.
pub(crate) fn list(project: &Project) -> Vec<Listed> {
    let view = freshen_docs(project);
    let prompts = prompts(&project.root, &view.templates);
    prompts
        .known
        .iter()
        .map(|(name, prompt)| list_prompt(name, prompt))
        .collect()
}

/// Brings the documentation up to date and returns its view.
fn freshen_docs(project: &Project) -> Arc<View> {
    let index = &project.index;
    index.freshen(
        Corpus::Docs,
        project.search.patience,
        &Deadline::default(),
        &|_| {},
    );
    index.docs(MAX_LIST_WAIT)
}

fn list_prompt(name: &str, prompt: &Prompt) -> Listed {
    let about = |text: &Option<String>| text.as_deref().map(|text| inline_to(text, MAX_ABOUT_CHARS));
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut listed = PromptArgument::new(&argument.name).with_required(argument.required);
        listed.title = about(&argument.title);
        listed.description = about(&argument.description);
        listed
    });
    let arguments: Vec<PromptArgument> = arguments.collect();
    let mut listed = Listed::new(
        name,
        about(&prompt.description),
        (!arguments.is_empty()).then_some(arguments),
    );
    listed.title = about(&prompt.title);
    listed
}

/// Fills a prompt with its arguments.
pub(crate) fn fill(
    project: &Project,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let invalid = |message: String| ErrorData::invalid_params(message, None);
    let view = freshen_docs(project);
    let prompts = prompts(&project.root, &view.templates);
    let Some(prompt) = prompts.known.get(&request.name) else {
        return Err(invalid(format!("there is no prompt {}", shorten(&request.name))));
    };
    let arguments: BTreeMap<String, String> = request
        .arguments
        .iter()
        .flatten()
        .map(|(name, value)| (name.clone(), to_text(value)))
        .collect();
    let missing = prompt.missing_arguments(&arguments);
    if !missing.is_empty() {
        return Err(invalid(format!("the prompt needs {}", missing.join(", "))));
    }
    let messages = prompt.fill_gaps(&arguments).into_iter().map(|message| {
        let role = match message.role {
            MessageRole::User => Role::User,
            MessageRole::Assistant => Role::Assistant,
        };
        PromptMessage::new_text(role, reveal_part(&message.text))
    });
    let mut result = GetPromptResult::new(messages.collect());
    result.description = prompt
        .description
        .as_deref()
        .map(|text| inline_to(text, MAX_ABOUT_CHARS));
    Ok(result)
}

/// A string as it is, any other value as JSON.
fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
