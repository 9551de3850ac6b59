//! The project that is served, and what a request sees of it.

use std::path::PathBuf;

use docent_core::path::RepoPath;
use docent_core::text::positions::TextSpan;
use docent_engine::deadline::{Deadline, Expired};
use docent_engine::symbols::position::{PlacedSymbol, PositionQuery};
use docent_engine::symbols::{SymbolContext, SymbolError};
use lsp_types::{Location, TextDocumentPositionParams, Uri};

use super::documents::DocumentSet;
use super::initialize::ClientTraits;
use super::message::{RequestFailure, code};
use super::ranges::{range, text_position};
use super::uri::{path_of, uri_of};
use crate::project::Project;

/// The project of the client. It is missing if the client has opened no folder: then nothing is answered
/// about.
pub(super) struct ServedProject {
    pub(super) project: Option<Project>,
    pub(super) client: ClientTraits,
}

/// One request: the project, and the open documents as they were when it came.
pub(super) struct RequestView<'a> {
    pub(super) served: &'a ServedProject,
    pub(super) documents: &'a DocumentSet,
    pub(super) deadline: &'a Deadline,
}

impl ServedProject {
    /// The path of a document inside the project. `None` outside.
    pub(super) fn locate(&self, uri: &Uri) -> Option<RepoPath> {
        let path = path_of(uri.as_str())?;
        let project = self.project.as_ref()?;
        project.root.relative(&path)
    }

    /// The root as the client writes it.
    fn base(&self) -> Option<PathBuf> {
        let root = self.project.as_ref()?.root.path();
        let folder = self.client.folder.as_deref();
        let is_same = |folder: &&std::path::Path| folder.canonicalize().is_ok_and(|path| path == root);
        Some(folder.filter(is_same).unwrap_or(root).to_owned())
    }
}

impl RequestView<'_> {
    /// Asks about the symbol at a position. The default value for a document outside of the project.
    pub(super) fn ask<T: Default>(
        &self,
        asked: &TextDocumentPositionParams,
        question: impl FnOnce(&SymbolContext<'_>, PositionQuery<'_>) -> Result<T, SymbolError>,
    ) -> Result<T, RequestFailure> {
        let Some(path) = self.served.locate(&asked.text_document.uri) else {
            return Ok(T::default());
        };
        self.with_context(|context| {
            let query = PositionQuery {
                path: &path,
                at: text_position(asked.position),
                encoding: self.served.client.encoding,
                open: self.documents.find(&path).map(|document| &document.file),
            };
            question(context, query)
        })
    }

    /// Fails if the request was cancelled.
    pub(super) fn check_deadline(&self) -> Result<(), RequestFailure> {
        self.deadline.check().map_err(|expired| refuse(expired.into()))
    }

    /// Asks about the project. The default value if there is none.
    pub(super) fn with_context<T: Default>(
        &self,
        question: impl FnOnce(&SymbolContext<'_>) -> Result<T, SymbolError>,
    ) -> Result<T, RequestFailure> {
        let Some(project) = &self.served.project else {
            return Ok(T::default());
        };
        let overlay = self.documents.overlay();
        let context = SymbolContext {
            root: &project.root,
            index: &project.index,
            patience: project.search.patience,
            deadline: self.deadline,
            report: &|_| {},
            overlay: Some(&overlay),
        };
        question(&context).map_err(refuse)
    }

    /// The URI of a file: that of the client, if it has the file open.
    pub(super) fn uri(&self, path: &RepoPath) -> Option<Uri> {
        if let Some(open) = self.documents.find(path) {
            return Some(open.uri.clone());
        }
        uri_of(&self.served.base()?.join(path.as_str()))
    }

    pub(super) fn location(&self, path: &RepoPath, span: TextSpan) -> Option<Location> {
        Some(Location::new(self.uri(path)?, range(span)))
    }

    pub(super) fn locations_of(&self, symbols: &[PlacedSymbol]) -> Vec<Location> {
        let locations = symbols
            .iter()
            .filter_map(|one| self.location(&one.path, one.name_span));
        locations.collect()
    }
}

/// The failure for a question that cannot be answered.
fn refuse(error: SymbolError) -> RequestFailure {
    match error {
        SymbolError::Expired(Expired::Cancelled) => {
            RequestFailure::new(code::REQUEST_CANCELLED, "the request was cancelled")
        }
        SymbolError::Expired(expired) => RequestFailure::new(code::REQUEST_FAILED, expired.to_string()),
        SymbolError::Store(error) => {
            RequestFailure::new(code::REQUEST_FAILED, format!("the index cannot be read: {error}"))
        }
    }
}
