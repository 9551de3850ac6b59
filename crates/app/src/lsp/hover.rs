//! `textDocument/hover`: signature, place, last commit and documentation of the symbol at a position.

use docent_engine::symbols::position::hover;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::message::RequestFailure;
use super::served::RequestView;
use crate::compact::hover::{HoverForm, show_hover};

pub(super) fn answer(view: &RequestView<'_>, params: &HoverParams) -> Result<Option<Hover>, RequestFailure> {
    let (found, total) = view.ask(&params.text_document_position_params, hover)?;
    if found.is_empty() {
        return Ok(None);
    }
    let (form, kind) = if view.served.client.has_markdown {
        (HoverForm::Markdown, MarkupKind::Markdown)
    } else {
        (HoverForm::Plain, MarkupKind::PlainText)
    };
    let edit = view.served.project.as_ref().and_then(|project| {
        let [one] = found.as_slice() else { return None };
        project.git.last_edit(&one.symbol.path, &one.text, view.deadline)
    });
    let value = show_hover(&found, total, edit.as_ref(), form);
    Ok(Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: None,
    }))
}
