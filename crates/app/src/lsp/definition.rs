//! `textDocument/definition`: the definitions of the symbol at a position. At a definition, that is the
//! definition itself; at the path of an import, the imported file.

use docent_engine::symbols::position::definitions;
use lsp_types::{GotoDefinitionParams, Location};

use super::message::RequestFailure;
use super::served::RequestView;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &GotoDefinitionParams,
) -> Result<Option<Vec<Location>>, RequestFailure> {
    let found = view.ask(&params.text_document_position_params, definitions)?;
    let locations = view.locations_of(&found);
    Ok((!locations.is_empty()).then_some(locations))
}
