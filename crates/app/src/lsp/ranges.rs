//! Positions and ranges in the protocol's types.

use docent_core::symbols::SymbolKind;
use docent_core::text::positions::{TextPosition, TextSpan};
use lsp_types::{Position, Range};

pub(super) fn text_position(at: Position) -> TextPosition {
    TextPosition {
        line: at.line,
        column: at.character,
    }
}

pub(super) fn range(span: TextSpan) -> Range {
    let position = |at: TextPosition| Position::new(at.line, at.column);
    Range::new(position(span.start), position(span.end))
}

/// The protocol's kind that is nearest to a kind of symbols.
pub(super) fn symbol_kind(kind: SymbolKind) -> lsp_types::SymbolKind {
    match kind {
        // The protocol has no kind for macros; other servers call them functions, too.
        SymbolKind::Function | SymbolKind::Macro => lsp_types::SymbolKind::FUNCTION,
        SymbolKind::Method => lsp_types::SymbolKind::METHOD,
        SymbolKind::Class => lsp_types::SymbolKind::CLASS,
        SymbolKind::Interface => lsp_types::SymbolKind::INTERFACE,
        SymbolKind::Type => lsp_types::SymbolKind::STRUCT,
        SymbolKind::Module => lsp_types::SymbolKind::MODULE,
        SymbolKind::Field => lsp_types::SymbolKind::FIELD,
        SymbolKind::Constant => lsp_types::SymbolKind::CONSTANT,
        SymbolKind::Variable => lsp_types::SymbolKind::VARIABLE,
    }
}
