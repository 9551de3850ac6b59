//! `textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `callHierarchy/outgoingCalls`.
//!
//! An item is asked about by the place of its name, so that nothing is kept between the requests.

use docent_core::symbols::SymbolKind;
use docent_engine::symbols::position::{
    PlacedCall, PlacedSymbol, definitions, incoming_calls, outgoing_calls,
};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, Range,
    TextDocumentIdentifier, TextDocumentPositionParams,
};

use super::message::RequestFailure;
use super::ranges::{range, symbol_kind};
use super::served::RequestView;

pub(super) fn prepare(
    view: &RequestView<'_>,
    params: &CallHierarchyPrepareParams,
) -> Result<Option<Vec<CallHierarchyItem>>, RequestFailure> {
    let found = view.ask(&params.text_document_position_params, definitions)?;
    let callable = found.iter().filter(|one| {
        !matches!(
            one.kind,
            SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Module
        )
    });
    let items: Vec<CallHierarchyItem> = callable.filter_map(|one| item(view, one)).collect();
    Ok((!items.is_empty()).then_some(items))
}

pub(super) fn incoming(
    view: &RequestView<'_>,
    params: &CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>, RequestFailure> {
    let calls = view.ask(&place_of(&params.item), incoming_calls)?;
    let calls = calls.iter().filter_map(|call| {
        Some(CallHierarchyIncomingCall {
            from: neighbour(view, call)?,
            from_ranges: call.calls.iter().map(|span| range(*span)).collect(),
        })
    });
    Ok(Some(calls.collect()))
}

pub(super) fn outgoing(
    view: &RequestView<'_>,
    params: &CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>, RequestFailure> {
    let calls = view.ask(&place_of(&params.item), outgoing_calls)?;
    let calls = calls.iter().filter_map(|call| {
        Some(CallHierarchyOutgoingCall {
            to: neighbour(view, call)?,
            from_ranges: call.calls.iter().map(|span| range(*span)).collect(),
        })
    });
    Ok(Some(calls.collect()))
}

fn place_of(item: &CallHierarchyItem) -> TextDocumentPositionParams {
    TextDocumentPositionParams {
        text_document: TextDocumentIdentifier {
            uri: item.uri.clone(),
        },
        position: item.selection_range.start,
    }
}

/// The caller or callee of a call. Calls at the top level of a file come from the file.
fn neighbour(view: &RequestView<'_>, call: &PlacedCall) -> Option<CallHierarchyItem> {
    match &call.symbol {
        Some(symbol) => item(view, symbol),
        None => Some(CallHierarchyItem {
            name: call.path.file_name().to_owned(),
            kind: lsp_types::SymbolKind::FILE,
            tags: None,
            detail: Some(call.path.to_string()),
            uri: view.uri(&call.path)?,
            range: Range::default(),
            selection_range: Range::default(),
            data: None,
        }),
    }
}

fn item(view: &RequestView<'_>, symbol: &PlacedSymbol) -> Option<CallHierarchyItem> {
    Some(CallHierarchyItem {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        tags: None,
        detail: Some(symbol.scope.clone()).filter(|scope| !scope.is_empty()),
        uri: view.uri(&symbol.path)?,
        range: range(symbol.whole),
        selection_range: range(symbol.name_span),
        data: None,
    })
}
