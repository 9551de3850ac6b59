//! `initialize`: the root, what the client can, and what this server answers.
//!
//! Left out on purpose: formatting, diagnostics, completion and renaming. A server that knows types does
//! them better, and nothing is promised that is not answered.

use std::path::PathBuf;

use docent_core::text::positions::PositionEncoding;
use lsp_types::{
    CallHierarchyServerCapability, FoldingRangeProviderCapability, HoverProviderCapability,
    ImplementationProviderCapability, InitializeResult, OneOf, PositionEncodingKind, ServerCapabilities,
    ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};
use serde_json::Value;

use super::uri::path_of;

/// What the client said of itself. Its other capabilities do not matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientTraits {
    /// Its first folder that is a directory of this machine.
    pub(super) folder: Option<PathBuf>,
    /// The process that started this one, if it said so.
    pub(super) process: Option<i32>,
    pub(super) encoding: PositionEncoding,
    /// It shows symbols of a document as a tree.
    pub(super) has_symbol_tree: bool,
    pub(super) has_markdown: bool,
    /// It shows the progress of work that it did not ask for.
    pub(super) has_progress: bool,
}

impl ClientTraits {
    /// Reads the parameters of `initialize`. Fields that are missing or wrong count as not given.
    pub(super) fn of(params: &Value) -> Self {
        let capability = |path: &str| params.pointer(&format!("/capabilities{path}"));
        let has = |path: &str| capability(path).and_then(Value::as_bool).unwrap_or(false);
        let contains = |path: &str, word: &str| {
            let list = capability(path).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == word))
        };
        Self {
            folder: find_folder(params),
            process: params["processId"].as_i64().and_then(|id| i32::try_from(id).ok()),
            encoding: choose_encoding(capability("/general/positionEncodings")),
            has_symbol_tree: has("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            has_markdown: contains("/textDocument/hover/contentFormat", "markdown"),
            has_progress: has("/window/workDoneProgress"),
        }
    }

    /// The answer to `initialize`.
    pub(super) fn result(&self) -> InitializeResult {
        let encoding = match self.encoding {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        };
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        };
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(encoding),
                text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
                document_symbol_provider: Some(OneOf::Left(true)),
                workspace_symbol_provider: Some(OneOf::Left(true)),
                definition_provider: Some(OneOf::Left(true)),
                references_provider: Some(OneOf::Left(true)),
                implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
                hover_provider: Some(HoverProviderCapability::Simple(true)),
                call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
                document_highlight_provider: Some(OneOf::Left(true)),
                folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "docent".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        }
    }
}

/// UTF-8 if the client knows it, because then nothing has to be converted; else the first that is known.
fn choose_encoding(offered: Option<&Value>) -> PositionEncoding {
    let known = |name: &Value| match name.as_str() {
        Some("utf-8") => Some(PositionEncoding::Utf8),
        Some("utf-16") => Some(PositionEncoding::Utf16),
        Some("utf-32") => Some(PositionEncoding::Utf32),
        _ => None,
    };
    let offered: Vec<PositionEncoding> = offered
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(known)
        .collect();
    if offered.contains(&PositionEncoding::Utf8) {
        return PositionEncoding::Utf8;
    }
    offered.first().copied().unwrap_or_default()
}

fn find_folder(params: &Value) -> Option<PathBuf> {
    let folders = params["workspaceFolders"].as_array().into_iter().flatten();
    let uris = folders.map(|folder| &folder["uri"]).chain([&params["rootUri"]]);
    let named = uris.filter_map(|uri| path_of(uri.as_str()?));
    let path = params["rootPath"].as_str().map(PathBuf::from);
    named.chain(path).find(|path| path.is_absolute() && path.is_dir())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn utf_8_is_preferred_and_utf_16_is_the_default() {
        let check = |offered: Value, expected: PositionEncoding| {
            let params = json!({ "capabilities": { "general": { "positionEncodings": offered } } });
            assert_eq!(ClientTraits::of(&params).encoding, expected);
        };
        check(json!(["utf-16", "utf-8"]), PositionEncoding::Utf8);
        check(json!(["utf-32", "utf-16"]), PositionEncoding::Utf32);
        check(json!(["ebcdic"]), PositionEncoding::Utf16);
        check(json!([]), PositionEncoding::Utf16);
        check(json!("utf-8"), PositionEncoding::Utf16);
        check(Value::Null, PositionEncoding::Utf16);
    }

    #[test]
    fn the_first_folder_that_exists_is_the_root() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().canonicalize().unwrap();
        let uri = super::super::uri::uri_of(&here).unwrap();
        let uri = uri.as_str();
        let check = |params: Value, expected: bool| {
            let folder = ClientTraits::of(&params).folder;
            assert_eq!(folder, expected.then(|| here.clone()), "{params}");
        };
        let folders = json!([{ "uri": "untitled:x" }, { "uri": "file:///absent/x" }, { "uri": uri }]);
        check(json!({ "workspaceFolders": folders }), true);
        check(json!({ "workspaceFolders": null, "rootUri": uri }), true);
        check(json!({ "rootPath": here.to_str().unwrap() }), true);
        check(json!({ "rootPath": "relative" }), false);
        check(json!({ "rootUri": 7 }), false);
        check(json!(null), false);
    }
}
