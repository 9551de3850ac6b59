//! `write_memory_entry`: appends an entry to the project's memory, once the user approves it.
//!
//! Promise: `docs/behaviour.md`, memory.

use docent_core::memory::{EntryError, MAX_ENTRY_BYTES, MemoryEntry, MemoryFile};
use docent_core::text::reveal::reveal_part;
use docent_engine::clock::rfc3339;
use docent_engine::deadline::Expired;
use docent_engine::memory::{MemoryError, PendingError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::{AnswerForm, Approval};
use crate::tools::arguments::{ArgumentProblem, Object, ProblemKind};
use crate::tools::call::{Call, Reply};
use crate::tools::consent::{Consent, Question, Verdict};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Append an entry to a memory file, once the user approves it. Only supports append operations.";

pub(crate) fn tool() -> Tool {
    Tool::new("write_memory_entry", Group::Memory, ABOUT, run)
        .answers::<Output>()
        .adds()
        .cli("memory add", &["file", "entry"])
        .reword_problems(reword)
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Target memory file
    file: MemoryTarget,
    #[schemars(
        length(max = MAX_ENTRY_BYTES),
        description = r#"Content to append: markdown; for .jsonl one line, e.g. {"decision": "…", "why": "…", "module": "…"}"#
    )]
    entry: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum MemoryTarget {
    #[serde(rename = "progress_log.jsonl")]
    ProgressLog,
    #[serde(rename = "decisions.jsonl")]
    Decisions,
    #[serde(rename = "best_practices.md")]
    BestPractices,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    success: bool,
    bytes_written: u64,
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
    /// What the entry is called while it waits for approval
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let entry = MemoryEntry::new(args.file.file(), &args.entry).map_err(|error| refuse_entry(&error))?;
    let key = format!("{}\n{}", entry.file.name(), entry.text());
    if call.project.approval == Approval::Never {
        return append(call, &entry);
    }
    match &call.consent {
        Consent::Given => append(call, &entry),
        Consent::Nobody => queue(call, &entry, "This client cannot ask the user"),
        Consent::Answered { question, verdict } if *question == key => match verdict {
            Verdict::Accepted => append(call, &entry),
            Verdict::Declined => {
                call.project.memory.settle(&entry);
                Err(Failure::new(
                    FailureKind::Denied,
                    "The user declined the entry; nothing was written",
                ))
            }
            Verdict::Dismissed => queue(call, &entry, "The question was closed without an answer"),
            Verdict::Late => queue(call, &entry, "The user did not answer in time"),
            Verdict::Unanswered => queue(call, &entry, "The user could not be asked"),
        },
        // An answer to another question does not count.
        Consent::CanBeAsked | Consent::Answered { .. } => {
            // Queued first, so that the entry is not lost if the client never comes back.
            let _ = call.project.memory.queue(&entry, &call.session.author());
            let message = question_text(&entry);
            Ok(Reply::Ask(Question { key, message }))
        }
    }
}

/// The question with the entry as a quotation: every line is marked, so that none can pass for docent's own
/// words.
fn question_text(entry: &MemoryEntry) -> String {
    let (path, bytes) = (entry.file.path(), entry.text().len());
    let mut message = format!("Append these {bytes} bytes to {path}?\n\n");
    for line in reveal_part(entry.text()).lines() {
        message += &format!("> {line}\n");
    }
    message
}

fn append(call: &Call<'_>, entry: &MemoryEntry) -> Result<Reply, Failure> {
    let appended = match call
        .project
        .memory
        .append(entry, &call.session.author(), call.deadline)
    {
        Ok(appended) => appended,
        Err(MemoryError::Busy | MemoryError::Expired(Expired::TimedOut)) => {
            return queue(call, entry, "Another process holds the memory");
        }
        Err(error) => return Err(refuse_write(&error, entry.file)),
    };
    call.project.memory.settle(entry);
    Ok(reply(
        call.form,
        entry.file,
        &Output {
            success: true,
            bytes_written: appended.bytes,
            timestamp: rfc3339(appended.at),
            pending: None,
            notice: None,
        },
    ))
}

fn reply(form: AnswerForm, file: MemoryFile, output: &Output) -> Reply {
    match (form, &output.notice) {
        (AnswerForm::Contract, _) => Reply::json(output),
        (AnswerForm::Compact, Some(notice)) => Reply::Text(notice.clone()),
        (AnswerForm::Compact, None) => Reply::Text(format!(
            "{} bytes appended to {}",
            output.bytes_written,
            file.path()
        )),
    }
}

/// Queues an entry for approval, because the user cannot be asked now.
fn queue(call: &Call<'_>, entry: &MemoryEntry, why: &str) -> Result<Reply, Failure> {
    let id = call
        .project
        .memory
        .queue(entry, &call.session.author())
        .map_err(|error| {
            let kind = match error {
                PendingError::TooMany(_) => FailureKind::RateLimited,
                _ => FailureKind::Internal,
            };
            Failure::new(kind, "The entry cannot wait for approval")
                .details(error.to_string())
                .hint("The user can write it with `docent memory add`")
        })?;
    Ok(reply(
        call.form,
        entry.file,
        &Output {
            success: false,
            bytes_written: 0,
            timestamp: rfc3339(call.project.clock.now()),
            notice: Some(format!(
                "{why}, so nothing is written yet. Tell the user to run `docent memory approve {id}`; `docent memory pending` \
             shows what waits"
            )),
            pending: Some(id),
        },
    ))
}

/// The failure for an entry that is not valid.
fn refuse_entry(error: &EntryError) -> Failure {
    let kind = match error {
        EntryError::TooLarge(_) => FailureKind::TooLarge,
        EntryError::Secret(_) => FailureKind::Denied,
        _ => FailureKind::Invalid,
    };
    let failure = Failure::new(kind, "The entry was refused").details(error.to_string());
    match error {
        EntryError::Secret(_) => failure.hint("Say where the secret is kept instead of what it is"),
        EntryError::NotJson(_) | EntryError::NotAnObject => {
            failure.hint("An entry of a .jsonl file is like {\"decision\": \"…\", \"why\": \"…\"}")
        }
        EntryError::ManyLines(_) => failure.hint("Write line breaks inside strings as \\n"),
        _ => failure,
    }
}

/// Words an entry that is too long as the size check of [`MemoryEntry`] does. The schema counts characters,
/// of which a text never has more than bytes.
fn reword(problems: &[ArgumentProblem], _: &Object) -> Option<Failure> {
    let is_too_long =
        |problem: &ArgumentProblem| problem.path == ["entry"] && problem.kind == ProblemKind::TooLong;
    let problem = problems.iter().find(|problem| is_too_long(problem))?;
    Some(Failure::new(FailureKind::TooLarge, "The entry was refused").details(problem.message.clone()))
}

/// The failure for an entry that could not be written.
fn refuse_write(error: &MemoryError, file: MemoryFile) -> Failure {
    let kind = match error {
        MemoryError::File(error) => FailureKind::of(error),
        MemoryError::Busy | MemoryError::Io(_) => FailureKind::Internal,
        MemoryError::Expired(expired) => return (*expired).into(),
    };
    Failure::new(kind, "The entry was not written")
        .about("file", file.path().as_str())
        .details(error.to_string())
}

impl MemoryTarget {
    fn file(self) -> MemoryFile {
        match self {
            Self::ProgressLog => MemoryFile::ProgressLog,
            Self::Decisions => MemoryFile::Decisions,
            Self::BestPractices => MemoryFile::BestPractices,
        }
    }
}
