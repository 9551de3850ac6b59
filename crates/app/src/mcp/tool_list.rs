//! The tools as `tools/list` shows them, in as few characters as the form of answers allows.
//!
//! Every client pays for the list with each session. Calls are validated against the tools' own schemas, so
//! that an argument that is not listed, or listed with fewer words, is accepted all the same.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool as Listed, ToolAnnotations};
use serde_json::Value;

use crate::project::Project;
use crate::settings::AnswerForm;
use crate::tools::arguments::Object;
use crate::tools::dispatch::Dispatch;
use crate::tools::docs::MAX_LIST_WAIT;
use crate::tools::tool::{Effect, Group, Tool};

/// All tools as `tools/list` shows them for this project.
pub(super) fn list_all(dispatch: &Dispatch) -> Vec<Listed> {
    dispatch.project.index.docs(MAX_LIST_WAIT);
    dispatch
        .tools
        .iter()
        .map(|tool| list_tool(tool, &dispatch.project, dispatch.form))
        .collect()
}

/// A tool as `tools/list` shows it. No tool is destructive, and none reaches beyond the machine.
pub(super) fn list_tool(tool: &Tool, project: &Project, form: AnswerForm) -> Listed {
    let reads_only = tool.effect == Effect::Nothing;
    let annotations = ToolAnnotations::new()
        .read_only(reads_only)
        .destructive(false)
        .idempotent(reads_only)
        .open_world(false);
    let (mut about, mut input) = match tool.describe(project, true) {
        Some(description) => (description.about, description.input),
        None => (tool.about.to_owned(), tool.input.as_ref().clone()),
    };
    match form {
        // Tools beyond the contracts have one form.
        AnswerForm::Contract if tool.group != Group::Symbols => shorten_extensions(tool.name, &mut input),
        AnswerForm::Contract | AnswerForm::Compact => shorten_for_models(tool.name, &mut about, &mut input),
    }
    let mut listed = Listed::new(tool.name, about, Arc::new(input)).with_annotations(annotations);
    if tool.comes_first {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
        listed = listed.with_meta(meta);
    }
    // The compact form is text, which has no schema.
    match &tool.output {
        Some(schema) if form == AnswerForm::Contract => listed.with_raw_output_schema(schema.clone()),
        _ => listed,
    }
}

/// The arguments that the contracts define. The contract form lists them as the contracts do.
const CONTRACT_ARGUMENTS: &[(&str, &[&str])] = &[
    (
        "context_search",
        &[
            "query",
            "type",
            "module",
            "limit",
            "projectScope",
            "chunkType",
            "format",
        ],
    ),
    ("read_file", &["path", "includeDeps", "maxDepth"]),
    (
        "grep_codebase",
        &["pattern", "filePattern", "caseSensitive", "limit"],
    ),
    ("read_repo_file", &["path", "encoding"]),
    ("git_log", &["filePath", "since", "until", "author", "maxCount"]),
    ("git_blame", &["filePath", "startLine", "endLine"]),
    ("git_diff", &["ref1", "ref2", "filePath", "summary"]),
];

/// Parts of a file, which models read with `read_file`. `read_repo_file` takes them too, unlisted.
const FILE_PARTS: &[&str] = &["symbol", "ranges", "outline", "focus", "again"];

/// Lists the arguments beyond the contracts by name, type and choices alone: the limit for the list is spent
/// on the contracts' descriptions and on the schemas of answers.
fn shorten_extensions(tool: &str, input: &mut Object) {
    let Some((_, known)) = CONTRACT_ARGUMENTS.iter().find(|(name, _)| *name == tool) else {
        return;
    };
    if tool == "read_repo_file" {
        remove_properties(input, FILE_PARTS);
    }
    for (name, property) in properties(input) {
        if !known.contains(&name.as_str()) {
            property.retain(|key, _| matches!(key.as_str(), "type" | "enum" | "items"));
        }
    }
}

/// A tool in the compact form.
struct ShortTool {
    name: &'static str,
    about: &'static str,
    /// Arguments with other descriptions than in the contract form; none if it is empty.
    described: &'static [(&'static str, &'static str)],
    /// Arguments that only matter to the contract form, or that others replace.
    unlisted: &'static [&'static str],
}

/// Words of the compact form. The answers and the instructions explain the rest.
const SHORT_TOOLS: &[ShortTool] = &[
    ShortTool {
        name: "context_search",
        about: "Code, docs and recorded decisions that answer a question. Start here.",
        described: &[
            ("query", "Question, name, whole issue or stack trace"),
            ("type", "Recorded knowledge only"),
            ("module", ""),
            ("limit", ""),
            ("projectScope", ""),
            ("chunkType", ""),
        ],
        unlisted: &["format", "explain", "details"],
    },
    ShortTool {
        name: "read_file",
        about: "A text file, or parts of it. Read parts, not whole files.",
        described: &[
            ("path", ""),
            ("includeDeps", "With its imports"),
            ("startLine", ""),
            ("endLine", ""),
            ("symbol", "This definition"),
            ("ranges", "\"10-20\", \"40-\""),
            ("outline", "Definitions of a file or directory"),
        ],
        unlisted: &["maxDepth"],
    },
    ShortTool {
        name: "grep_codebase",
        about: "Exact text or regex (ripgrep's dialect) over all files, with the functions around matches.",
        described: &[
            ("pattern", ""),
            ("filePattern", "Glob, e.g. **/*.ts"),
            ("caseSensitive", ""),
            ("limit", ""),
        ],
        unlisted: &[],
    },
    ShortTool {
        name: "hello",
        about: "Tests the connection.",
        described: &[],
        unlisted: &["name"],
    },
    ShortTool {
        name: "read_repo_file",
        about: "Any file by its bytes.",
        described: &[("path", ""), ("encoding", ""), ("offset", "First byte")],
        unlisted: FILE_PARTS,
    },
    ShortTool {
        name: "write_memory_entry",
        about: "Append to the project's memory, once the user approves.",
        described: &[
            ("file", ""),
            (
                "entry",
                "Markdown; for .jsonl one object, e.g. {\"decision\": \"…\", \"why\": \"…\", \"module\": \"…\"}",
            ),
        ],
        unlisted: &[],
    },
    ShortTool {
        name: "git_log",
        about: "Commits: what changed, when, why, by whom.",
        described: &[
            ("filePath", "File or directory"),
            ("since", "Date or tag: '2025-01-01', '30 days ago', 'v1.0'"),
            ("until", ""),
            ("author", ""),
            ("maxCount", ""),
            ("skip", ""),
        ],
        unlisted: &[],
    },
    ShortTool {
        name: "git_blame",
        about: "The commit behind each line of a file.",
        described: &[("filePath", ""), ("startLine", ""), ("endLine", "")],
        unlisted: &[],
    },
    ShortTool {
        name: "git_diff",
        about: "Changes between two references, or to the working directory.",
        described: &[
            ("ref1", "Default: what is not staged"),
            ("ref2", "Default: working directory"),
            ("filePath", "File or directory"),
            ("summary", "Counts only"),
            ("offset", "Lines to skip"),
        ],
        unlisted: &[],
    },
    ShortTool {
        name: "search_docs",
        // Empty: the description names this project's documentation.
        about: "",
        described: &[("query", ""), ("limit", ""), ("cursor", "From a previous answer")],
        unlisted: &[],
    },
    ShortTool {
        name: "get_doc",
        about: "A section of the documentation, and those around it.",
        described: &[
            ("chunk_id", "From search_docs"),
            ("context", "Sections before and after"),
        ],
        unlisted: &[],
    },
    ShortTool {
        name: "get_overall_coverage",
        about: "Line coverage of the project, worst files first.",
        described: &[("lcovPath", "LCOV report, e.g. coverage/lcov.info")],
        unlisted: &[],
    },
    ShortTool {
        name: "get_file_coverage",
        about: "Line coverage of these files.",
        described: &[("lcovPath", ""), ("filePaths", "")],
        unlisted: &[],
    },
    ShortTool {
        name: "start_coverage_snapshot",
        about: "Keep the coverage before a change.",
        described: &[("lcovPath", "")],
        unlisted: &[],
    },
    ShortTool {
        name: "end_coverage_snapshot",
        about: "Coverage since a snapshot, by file.",
        described: &[("snapshotId", ""), ("lcovPath", "")],
        unlisted: &[],
    },
    ShortTool {
        name: "find_symbol",
        about: "",
        described: &[],
        unlisted: &["format"],
    },
    ShortTool {
        name: "find_references",
        about: "",
        described: &[],
        unlisted: &["format"],
    },
];

/// Bounds that models keep to anyway, and defaults, of which the compact form has others.
const UNLISTED_KEYWORDS: [&str; 5] = ["minimum", "minLength", "maxLength", "pattern", "default"];

/// A maximum above this is there for safety, and no caller gets near it.
const MAX_LISTED_MAXIMUM: u64 = 1_000;

fn shorten_for_models(tool: &str, about: &mut String, input: &mut Object) {
    let short = SHORT_TOOLS.iter().find(|short| short.name == tool);
    if let Some(short) = short.filter(|short| !short.about.is_empty()) {
        short.about.clone_into(about);
    }
    // The contract's second sentence, which says when to search documentation. The instructions do.
    if tool == "search_docs"
        && let Some(end) = about.rfind(". Use this to find")
    {
        about.truncate(end + 1);
    }
    remove_properties(input, short.map_or(&[], |short| short.unlisted));
    for (name, property) in properties(input) {
        property.retain(|key, value| {
            let is_far = key == "maximum" && value.as_u64().is_some_and(|max| max > MAX_LISTED_MAXIMUM);
            !is_far && !UNLISTED_KEYWORDS.contains(&key.as_str())
        });
        let described = short.and_then(|short| short.described.iter().find(|(known, _)| known == name));
        match described {
            Some((_, "")) => drop(property.shift_remove("description")),
            Some((_, text)) => drop(property.insert("description".to_owned(), (*text).into())),
            None => {}
        }
    }
}

fn remove_properties(input: &mut Object, names: &[&str]) {
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// The properties of a schema that are objects themselves.
fn properties(input: &mut Object) -> impl Iterator<Item = (&String, &mut Object)> {
    input
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
        .filter_map(|(name, property)| Some((name, property.as_object_mut()?)))
}
