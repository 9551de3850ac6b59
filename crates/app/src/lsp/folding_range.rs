//! `textDocument/foldingRange`: lines of a document that can be folded away.

use docent_core::symbols::{FoldKind, FoldableLines};
use docent_engine::symbols::position::fold_document;
use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};

use super::message::RequestFailure;
use super::served::RequestView;

pub(super) fn answer(
    view: &RequestView<'_>,
    params: &FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, RequestFailure> {
    view.check_deadline()?;
    let uri = &params.text_document.uri;
    let (Some(path), Some(project)) = (view.served.locate(uri), &view.served.project) else {
        return Ok(None);
    };
    let open = view.documents.find(&path).map(|document| &document.file);
    let folds = fold_document(&project.root, &path, open);
    Ok(folds.map(|folds| folds.into_iter().map(folding_range).collect()))
}

fn folding_range(fold: FoldableLines) -> FoldingRange {
    FoldingRange {
        start_line: fold.first,
        end_line: fold.last,
        kind: match fold.kind {
            FoldKind::Code => None,
            FoldKind::Comment => Some(FoldingRangeKind::Comment),
            FoldKind::Imports => Some(FoldingRangeKind::Imports),
        },
        ..FoldingRange::default()
    }
}
