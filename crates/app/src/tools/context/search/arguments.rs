//! The arguments of `context_search`, as its two contracts have them, and the form of answer each implies.

use std::sync::Arc;

use docent_core::chunk::ChunkKind;
use docent_core::discovery::DiscoveryKind;
use docent_engine::grep::FileFilter;
use schemars::JsonSchema;
use serde::Deserialize;

use super::compact;
use crate::project::LinkedProject;
use crate::settings::AnswerForm;
use crate::tools::arguments::{ArgumentProblem, Object, ProblemKind};
use crate::tools::call::Call;
use crate::tools::failure::{Failure, FailureKind};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Args {
    /// A question, a description or a name
    #[schemars(length(min = 3, max = 500))]
    pub(super) query: String,
    /// Filter by discovery type
    // The default stands only in the schema: a caller who names `all` gets the JSON of that contract.
    #[schemars(extend("default" = "all"))]
    pub(super) r#type: Option<Type>,
    /// Filter by module name
    pub(super) module: Option<String>,
    /// Maximum number of results to return
    // The default stands only in the schema: the compact form decides by room.
    #[schemars(range(min = 1, max = 20), extend("default" = 5))]
    pub(super) limit: Option<usize>,
    /// Search current project only or all linked projects (default: current)
    project_scope: Option<ProjectScope>,
    /// Filter by chunk types (default: all types)
    pub(super) chunk_type: Option<Vec<ChunkType>>,
    /// Default: markdown; JSON with type or module
    pub(super) format: Option<SearchFormat>,
    /// Directory or glob
    path: Option<String>,
    /// Characters of the answer
    #[schemars(range(min = 500, max = 100_000))]
    pub(super) max_chars: Option<usize>,
    /// Show the ranking
    pub(super) explain: Option<bool>,
    /// The whole issue, stack trace or log that the query is about
    #[schemars(length(max = MAX_REPORT_CHARS))]
    pub(super) details: Option<String>,
}

/// Characters of an issue, a stack trace or a log.
pub(super) const MAX_REPORT_CHARS: usize = 20_000;

/// Results of the contract form, if there is no `limit`.
const DEFAULT_LIMIT: usize = 5;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    All,
    Pattern,
    Rule,
    Decision,
    Issue,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProjectScope {
    Current,
    AllLinked,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChunkType {
    Function,
    Class,
    Method,
    Interface,
    Type,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SearchFormat {
    Markdown,
    Json,
}

impl SearchFormat {
    /// The form of the `format` argument; else that of the contract whose arguments are there.
    fn of(format: Option<Self>, has_json_arguments: bool, has_markdown_arguments: bool) -> Self {
        format.unwrap_or(if has_json_arguments && !has_markdown_arguments {
            Self::Json
        } else {
            Self::Markdown
        })
    }

    pub(super) fn of_object(given: &Object) -> Self {
        let has = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
        let format = given.get("format").and_then(|form| Self::deserialize(form).ok());
        Self::of(
            format,
            has("type") || has("module"),
            has("projectScope") || has("chunkType"),
        )
    }

    pub(super) fn of_arguments(args: &Args) -> Self {
        Self::of(
            args.format,
            args.r#type.is_some() || args.module.is_some(),
            args.project_scope.is_some() || args.chunk_type.is_some(),
        )
    }
}

impl Args {
    pub(super) fn limit(&self, form: AnswerForm) -> usize {
        self.limit.unwrap_or(match form {
            AnswerForm::Contract => DEFAULT_LIMIT,
            AnswerForm::Compact => compact::DEFAULT_LIMIT,
        })
    }

    /// The files that `path` selects. `None` without it.
    pub(super) fn paths(&self) -> Result<Option<FileFilter>, Failure> {
        let filter = self.path.as_deref().map(FileFilter::of_path).transpose();
        filter.map_err(|error| {
            Failure::new(FailureKind::Invalid, "path is not a valid glob").details(error.to_string())
        })
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The linked projects to search, and a sentence for each that cannot be opened.
    pub(super) fn neighbours(&self, call: &Call<'_>) -> (Vec<Arc<LinkedProject>>, Vec<String>) {
        if self.project_scope == Some(ProjectScope::AllLinked) {
            call.project.linked.open_all(call.project.root.path())
        } else {
            (Vec::new(), Vec::new())
        }
    }

    /// Whether to search chunks: a `type` other than `all` restricts the search to discoveries.
    pub(super) fn wants_chunks(&self) -> bool {
        self.discovery_kinds().is_empty()
    }

    /// Whether to search discoveries: `chunkType` restricts the search to chunks.
    pub(super) fn wants_discoveries(&self) -> bool {
        self.chunk_type.is_none()
    }

    /// Empty for any kind.
    pub(super) fn chunk_kinds(&self) -> Vec<ChunkKind> {
        self.chunk_type.iter().flatten().map(|kind| kind.kind()).collect()
    }

    /// Empty for any kind.
    pub(super) fn discovery_kinds(&self) -> &'static [DiscoveryKind] {
        self.r#type.map_or(&[], Type::kinds)
    }
}

impl Type {
    pub(super) fn kinds(self) -> &'static [DiscoveryKind] {
        match self {
            Self::All => &[],
            Self::Pattern => &[DiscoveryKind::Pattern],
            Self::Rule => &[DiscoveryKind::Rule],
            Self::Decision => &[DiscoveryKind::Decision],
            Self::Issue => &[DiscoveryKind::Issue],
        }
    }
}

impl ChunkType {
    fn kind(self) -> ChunkKind {
        match self {
            Self::Function => ChunkKind::Function,
            Self::Class => ChunkKind::Class,
            Self::Method => ChunkKind::Method,
            Self::Interface => ChunkKind::Interface,
            Self::Type => ChunkKind::Type,
        }
    }
}

/// Words a query that is too short as the contract does.
pub(super) fn reword_short_query(problems: &[ArgumentProblem], _: &Object) -> Option<Failure> {
    match problems {
        // The compact form asks for one character.
        [problem]
            if problem.path == ["query"]
                && problem.kind == ProblemKind::TooShort
                && problem.message.ends_with("3 characters") =>
        {
            Some(Failure::new(
                FailureKind::Invalid,
                "Query must be at least 3 characters",
            ))
        }
        _ => None,
    }
}
