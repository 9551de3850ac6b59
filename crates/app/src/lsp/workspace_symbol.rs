//! `workspace/symbol`: definitions of the project by name.

use docent_engine::symbols::position::find_placed;
use lsp_types::{SymbolInformation, WorkspaceSymbolParams};

use super::message::RequestFailure;
use super::ranges::symbol_kind;
use super::served::RequestView;

/// Definitions of one answer. Clients ask once more while the user types.
const MAX_SYMBOLS: usize = 200;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &WorkspaceSymbolParams,
) -> Result<Option<Vec<SymbolInformation>>, RequestFailure> {
    let encoding = view.served.client.encoding;
    let found = view.with_context(|context| find_placed(context, &params.query, encoding, MAX_SYMBOLS))?;
    let symbols = found.into_iter().filter_map(|one| {
        #[expect(deprecated, reason = "the field has to be set")]
        Some(SymbolInformation {
            kind: symbol_kind(one.kind),
            tags: None,
            deprecated: None,
            location: view.location(&one.path, one.name_span)?,
            container_name: Some(one.scope).filter(|scope| !scope.is_empty()),
            name: one.name,
        })
    });
    Ok(Some(symbols.collect()))
}
