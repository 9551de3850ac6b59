//! `textDocument/implementation`: types that implement or extend the one at a position, methods that
//! override it.

use docent_engine::symbols::position::implementations;
use lsp_types::Location;
use lsp_types::request::GotoImplementationParams;

use super::message::RequestFailure;
use super::served::RequestView;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &GotoImplementationParams,
) -> Result<Option<Vec<Location>>, RequestFailure> {
    let found = view.ask(&params.text_document_position_params, implementations)?;
    let locations = view.locations_of(&found);
    Ok((!locations.is_empty()).then_some(locations))
}
