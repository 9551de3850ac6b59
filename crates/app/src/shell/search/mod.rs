//! `docent sh grep …`, `docent sh rg …`: a text search.
//!
//! The lines are those that the program prints. Output for machines (`-c`, `-l`, `-o` …) is printed as it is;
//! lines are printed as they are while they are few, and else grouped by file and definition.
//!
//! Invariant: each line that the program prints is shown, or counted under its file.

mod context;
mod counts;
mod definitions;
mod files;
mod functions;
mod list;
mod names;
mod nearby;
mod plain;
mod render;

pub(crate) use names::searched_names;
use std::borrow::Cow;

use docent_core::shell::search::{LineSearchRequest, SearchOutput, SearchProgram};
use docent_engine::commands::search::{LineSearch, SearchError};
use docent_engine::commands::{STANDARD_INPUT, has_readable_input};

use super::{ShellAnswer, ShellContext};
use plain::PlainOutput;

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &LineSearchRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let mut request = Cow::Borrowed(request);
    let has_no_path = request.program == SearchProgram::Ripgrep && request.operands.is_empty();
    if has_no_path && has_readable_input() {
        request.to_mut().operands = vec![STANDARD_INPUT.to_owned()];
    }
    let request = request.as_ref();
    let project = &context.project;
    let search = match LineSearch::new(request, context.characters, &project.shown) {
        Ok(search) => search,
        Err(error) => return Ok(refuse(&error)),
    };
    let found = match search.run(&context.directory) {
        Ok(found) => found,
        Err(error) => return Ok(refuse(&error)),
    };
    let quiet = request.output == SearchOutput::Nothing;
    let status = match (found.is_success, found.has_error) {
        (true, true) if quiet => 0,
        (_, true) => 2,
        (true, false) => 0,
        (false, false) => 1,
    };
    let errors: &[String] = if context.options.with_errors {
        &found.errors
    } else {
        &[]
    };
    let output = PlainOutput::print(request, &found, errors, &context.directory);
    let filtered = output.select(&context.options.filters, context.characters)?;
    let selected = filtered.kept;
    let mut answer = ShellAnswer {
        status: context.status(status, !selected.is_empty()),
        plain_chars: output.count_chars(&selected),
        ..ShellAnswer::default()
    };
    for error in found.errors.iter().filter(|_| !context.options.with_errors) {
        answer.err.extend_from_slice(error.as_bytes());
        answer.err.push(b'\n');
    }
    answer.err.extend_from_slice(&filtered.errors);
    if let Some(count) = filtered.count {
        answer.out = format!("{count}\n").into_bytes();
        answer.plain_chars = answer.out.len() as u64;
        return Ok(answer);
    }
    answer.out = if context.options.is_plain {
        output.join(&render::without_hidden(&output, &selected))
    } else if request.output == SearchOutput::Lines {
        let mut text = render::render(&output, &selected, &search, context);
        if selected.is_empty() && context.options.filters.is_empty() && !found.has_error {
            text.extend(nearby::explain(request, context).into_bytes());
        }
        text
    } else {
        render::render_exact(&output, &selected)
    };
    Ok(answer)
}

/// The answer if the search cannot be made here.
fn refuse(error: &SearchError) -> ShellAnswer {
    ShellAnswer {
        err: format!("docent sh: {error}. Run the program itself\n").into_bytes(),
        status: 2,
        ..ShellAnswer::default()
    }
}
