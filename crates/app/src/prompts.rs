//! The project's templates as MCP prompts.

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

use crate::tools::dispatch::Project;
use crate::tools::docs::MAX_LIST_WAIT;
use crate::tools::failure::brief;
use crate::tools::markdown::inline_to;

/// Characters of what a prompt says of itself.
const ABOUT_CHARS: usize = 200;

/// The prompts there are, by name.
pub(crate) fn listed(project: &Project) -> Vec<Listed> {
    let view = fresh(project);
    let known = prompts(&project.root, &view.templates).known;
    known.iter().map(|(name, prompt)| list(name, prompt)).collect()
}

/// The documentation, brought up to date.
fn fresh(project: &Project) -> Arc<View> {
    let index = &project.index;
    index.freshen(
        Corpus::Docs,
        project.search.patience,
        &Deadline::default(),
        &|_| {},
    );
    index.docs(MAX_LIST_WAIT)
}

fn list(name: &str, prompt: &Prompt) -> Listed {
    let about = |text: &Option<String>| text.as_deref().map(|text| inline_to(text, ABOUT_CHARS));
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

/// A prompt with what was given for its gaps.
pub(crate) fn filled(
    project: &Project,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let wrong = |message: String| ErrorData::invalid_params(message, None);
    let view = fresh(project);
    let prompts = prompts(&project.root, &view.templates);
    let Some(prompt) = prompts.known.get(&request.name) else {
        return Err(wrong(format!("there is no prompt {}", brief(&request.name))));
    };
    let given: BTreeMap<String, String> = request
        .arguments
        .iter()
        .flatten()
        .map(|(name, value)| (name.clone(), said(value)))
        .collect();
    let missing = prompt.missing_arguments(&given);
    if !missing.is_empty() {
        return Err(wrong(format!("the prompt needs {}", missing.join(", "))));
    }
    let messages = prompt.fill_gaps(&given).into_iter().map(|message| {
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
        .map(|text| inline_to(text, ABOUT_CHARS));
    Ok(result)
}

fn said(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
