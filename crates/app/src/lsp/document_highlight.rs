//! `textDocument/documentHighlight`: the places of a symbol in one document.

use docent_engine::symbols::position::uses_in_file;
use lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams};

use super::message::RequestFailure;
use super::ranges::range;
use super::served::RequestView;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, RequestFailure> {
    let found = view.ask(&params.text_document_position_params, uses_in_file)?;
    let highlights = found.iter().map(|one| DocumentHighlight {
        range: range(one.span),
        kind: Some(DocumentHighlightKind::TEXT),
    });
    let highlights: Vec<DocumentHighlight> = highlights.collect();
    Ok((!highlights.is_empty()).then_some(highlights))
}
