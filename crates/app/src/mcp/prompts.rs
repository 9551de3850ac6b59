//! MCP prompts: the project's templates, listed and filled.
//!
//! How a template is parsed is in `core::docs::prompt`.

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_core::docs::listing::{ProjectTrust, is_listable};
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

use crate::markdown::{length, quote_project_text, shorten};
use crate::project::Project;
use crate::tools::docs::MAX_LIST_WAIT;

/// The description of a prompt in a project that is not trusted.
const GENERIC_DESCRIPTION: &str = "A prompt template of the project";

/// Characters of a prompt's name, its folders included.
const MAX_NAME_CHARS: usize = 200;

/// The prompts, by name. Those whose names have room for a sentence are not listed, and can still be used.
pub(crate) fn list(project: &Project) -> Vec<Listed> {
    let view = freshen_docs(project);
    let prompts = prompts(&project.root, &view.templates);
    prompts
        .known
        .iter()
        .filter(|(name, prompt)| is_listed(name, prompt, project.trust))
        .map(|(name, prompt)| list_prompt(name, prompt, project.trust))
        .collect()
}

fn is_listed(name: &str, prompt: &Prompt, trust: ProjectTrust) -> bool {
    // The folders of a template are part of its name, and each is a name by itself.
    let mut names = name
        .split('/')
        .chain(prompt.arguments.iter().map(|argument| argument.name.as_str()));
    length(name) <= MAX_NAME_CHARS && names.all(|name| is_listable(name, trust))
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

fn list_prompt(name: &str, prompt: &Prompt, trust: ProjectTrust) -> Listed {
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut listed = PromptArgument::new(&argument.name).with_required(argument.required);
        listed.title = show_title(argument.title.as_deref(), trust);
        listed.description = show_description(argument.description.as_deref(), trust);
        listed
    });
    let arguments: Vec<PromptArgument> = arguments.collect();
    let generic = (trust == ProjectTrust::Untrusted).then(|| GENERIC_DESCRIPTION.to_owned());
    let mut listed = Listed::new(
        name,
        show_description(prompt.description.as_deref(), trust).or(generic),
        (!arguments.is_empty()).then_some(arguments),
    );
    listed.title = show_title(prompt.title.as_deref(), trust);
    listed
}

/// The title that a trusted project gives, if it is a name and no sentence.
fn show_title(title: Option<&str>, trust: ProjectTrust) -> Option<String> {
    let title = title.filter(|title| trust == ProjectTrust::Trusted && is_listable(title, trust))?;
    Some(title.to_owned())
}

/// The description that a trusted project gives, as a quotation.
fn show_description(text: Option<&str>, trust: ProjectTrust) -> Option<String> {
    let text = text.filter(|_| trust == ProjectTrust::Trusted)?;
    Some(format!("The project says: {}", quote_project_text(text)))
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
    result.description = show_description(prompt.description.as_deref(), project.trust);
    Ok(result)
}

/// A string as it is, any other value as JSON.
fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
