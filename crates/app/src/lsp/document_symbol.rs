//! `textDocument/documentSymbol`: the definitions of one document, as a tree if the client shows trees.
//!
//! They come from the text as the client has it, and need no index.

use docent_engine::symbols::position::{OutlinedSymbol, outline_document};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolInformation};

use super::message::RequestFailure;
use super::ranges::{range, symbol_kind};
use super::served::RequestView;

/// A tree that is deeper than any person writes is cut, because clients walk it recursively.
const MAX_DEPTH: usize = 50;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, RequestFailure> {
    view.check_deadline()?;
    let uri = &params.text_document.uri;
    let (Some(path), Some(project)) = (view.served.locate(uri), &view.served.project) else {
        return Ok(None);
    };
    let open = view.documents.find(&path).map(|document| &document.file);
    let Some(symbols) = outline_document(&project.root, &path, open, view.served.client.encoding) else {
        return Ok(None);
    };
    Ok(Some(if view.served.client.has_symbol_tree {
        DocumentSymbolResponse::Nested(build_tree(&symbols))
    } else {
        let flat = symbols.iter().filter_map(|one| {
            let symbol = &one.symbol;
            #[expect(deprecated, reason = "the field has to be set")]
            Some(SymbolInformation {
                name: symbol.name.clone(),
                kind: symbol_kind(symbol.kind),
                tags: None,
                deprecated: None,
                location: view.location(&symbol.path, symbol.name_span)?,
                container_name: Some(symbol.scope.clone()).filter(|scope| !scope.is_empty()),
            })
        });
        DocumentSymbolResponse::Flat(flat.collect())
    }))
}

/// The definitions as a tree, each below the one around it.
fn build_tree(symbols: &[OutlinedSymbol]) -> Vec<DocumentSymbol> {
    let mut depths: Vec<usize> = Vec::with_capacity(symbols.len());
    let mut nodes: Vec<Option<DocumentSymbol>> = Vec::with_capacity(symbols.len());
    for one in symbols {
        let above = one.parent.and_then(|parent| depths.get(parent));
        depths.push(above.map_or(0, |depth| depth + 1));
        nodes.push(Some(document_symbol(one)));
    }
    let mut top = Vec::new();
    // Children come after what is around them, so the last ones are complete first.
    for at in (0..nodes.len()).rev() {
        let Some(mut node) = nodes[at].take() else {
            continue;
        };
        if let Some(children) = &mut node.children {
            children.reverse();
        }
        if depths[at] >= MAX_DEPTH {
            continue;
        }
        let parent = symbols[at]
            .parent
            .and_then(|parent| nodes.get_mut(parent)?.as_mut());
        match parent {
            Some(parent) => parent.children.get_or_insert_default().push(node),
            None => top.push(node),
        }
    }
    top.reverse();
    top
}

fn document_symbol(one: &OutlinedSymbol) -> DocumentSymbol {
    let symbol = &one.symbol;
    #[expect(deprecated, reason = "the field has to be set")]
    DocumentSymbol {
        // An empty name is an error for VS Code.
        name: if symbol.name.is_empty() {
            "?".to_owned()
        } else {
            symbol.name.clone()
        },
        detail: Some(symbol.signature.clone()).filter(|signature| !signature.is_empty()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: range(symbol.whole),
        selection_range: range(symbol.name_span),
        children: None,
    }
}
