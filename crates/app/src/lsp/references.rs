//! `textDocument/references`: the uses of the symbol at a position.
//!
//! The protocol has no grades, so that uses by name alone are listed only if no other definition has the
//! name.

use docent_engine::symbols::position::references;
use lsp_types::{Location, ReferenceParams};

use super::message::RequestFailure;
use super::served::RequestView;

/// Uses of one answer. Nobody reads more.
const MAX_USES: usize = 5_000;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &ReferenceParams,
) -> Result<Option<Vec<Location>>, RequestFailure> {
    let with_definitions = params.context.include_declaration;
    let found = view.ask(&params.text_document_position, |context, query| {
        references(context, query, with_definitions, MAX_USES)
    })?;
    let locations = found.iter().filter_map(|one| view.location(&one.path, one.span));
    let locations: Vec<Location> = locations.collect();
    Ok((!locations.is_empty()).then_some(locations))
}
