//! The symbol tools: definitions by name, and the uses of a definition.
//!
//! Both answer with short text, made to be read by a model, or with JSON if `format` says so. They declare no
//! output schema: it would cost every client tokens, and clients show the model structured content in place
//! of the text.

pub(super) mod find_references;
pub(super) mod find_symbol;

use docent_core::path::RepoPath;
use docent_engine::symbols::{Ground, SymbolContext, SymbolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments::Object;
use super::call::{Audience, Call};
use super::failure::{Dialect, Failure, FailureKind};
use crate::markdown::count;
use crate::tools::file_text::parse_path;

// The form of an answer about symbols. A doc comment would be listed with every argument of this type.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SymbolForm {
    #[default]
    Text,
    Json,
}

impl SymbolForm {
    /// The dialect of errors: that of the answer.
    fn choose_dialect(given: &Object) -> Option<Dialect> {
        (given.get("format")? == "json").then_some(Dialect::Json)
    }
}

/// The project of a call, as the engine's questions about symbols take it.
pub(crate) fn symbol_context<'a>(call: &Call<'a>) -> SymbolContext<'a> {
    SymbolContext {
        root: &call.project.root,
        index: &call.project.index,
        patience: call.project.search.patience,
        deadline: call.deadline,
        report: call.report,
        overlay: None,
    }
}

/// How many definitions or uses are listed. People can scroll, so they get everything unless they say
/// otherwise.
fn choose_limit(call: &Call<'_>, given: Option<usize>, default: usize) -> usize {
    given.unwrap_or(match call.audience {
        Audience::Client => default,
        Audience::Person => usize::MAX,
    })
}

/// The failure for a question that cannot be answered.
pub(crate) fn refuse_symbols(error: SymbolError) -> Failure {
    match error {
        SymbolError::Store(error) => Failure::new(FailureKind::Internal, "The index cannot be read")
            .details(error.to_string())
            .hint("Use grep_codebase for text search"),
        SymbolError::Expired(expired) => expired.into(),
    }
}

/// Checks the path that narrows a question, `FILE:LINE` included. `None` for the whole project.
fn narrow_path(path: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(path) = path.map(str::trim) else {
        return Ok(None);
    };
    let (file, line) = match path.rsplit_once(':') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
            (file, Some(line))
        }
        _ => (path, None),
    };
    let file = file.trim_end_matches(['/', '\\']);
    if matches!(file, "" | ".") && line.is_none() {
        return Ok(None);
    }
    let file: RepoPath = parse_path(file)?;
    Ok(Some(match line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_string(),
    }))
}

/// The ground of an answer of absence: `in 1,204 files; 2 files not parsed`.
fn describe_ground(ground: &Ground, by_name: usize) -> String {
    let files = |number: usize| {
        let plural = if number == 1 { "file" } else { "files" };
        format!("{} {plural}", count(number as u64))
    };
    let mut text = format!("in {}", files(ground.files));
    if by_name > 0 {
        let sites = if by_name == 1 { "site" } else { "sites" };
        text += &format!("; {} {sites} by name only", count(by_name as u64));
    }
    if ground.unparsed > 0 {
        text += &format!("; {} not parsed", files(ground.unparsed));
    }
    text
}
