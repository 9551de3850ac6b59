//! A definition as answers show it: its fields in JSON, and its lines in text.
//!
//! Invariant: every field is bounded and has no invisible characters, whatever the file says.

use docent_engine::symbols::FoundSymbol;
use serde::Serialize;

use crate::compact::line_range;
use crate::markdown::inline_to;

/// Characters of a name, a signature and a line of documentation.
const MAX_NAME_CHARS: usize = 200;
const MAX_SIGNATURE_CHARS: usize = 300;
const MAX_DOC_CHARS: usize = 200;

/// Characters of a path. Paths of the operating system are not much longer.
const MAX_PATH_CHARS: usize = 4_096;

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SymbolEntry {
    pub(crate) name: String,
    /// Names around it joined by `.`, empty at the top level.
    pub(crate) scope: String,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    /// Position of its name.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) signature: String,
    pub(crate) doc: String,
}

impl SymbolEntry {
    pub(crate) fn new(found: &FoundSymbol) -> Self {
        Self {
            name: inline_to(&found.name, MAX_NAME_CHARS),
            scope: inline_to(&found.scope, MAX_NAME_CHARS),
            kind: found.kind.name().to_owned(),
            path: inline_to(found.path.as_str(), MAX_PATH_CHARS),
            start_line: found.first_line,
            end_line: found.last_line,
            line: found.line,
            column: found.column,
            signature: inline_to(&found.signature, MAX_SIGNATURE_CHARS),
            doc: inline_to(&found.doc, MAX_DOC_CHARS),
        }
    }

    /// Its name with its scope: `Row.render`.
    pub(crate) fn qualified_name(&self) -> String {
        qualify(&self.scope, &self.name)
    }

    /// Its place: `src/row.ts:10-20`.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.path, show_lines(self.start_line, self.end_line))
    }

    /// One line for a list: `src/row.ts:10-20 method Row.render`.
    pub(crate) fn headline(&self) -> String {
        format!("{} {} {}", self.address(), self.kind, self.qualified_name())
    }
}

/// A name with its scope.
pub(crate) fn qualify(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    }
}

/// A range of lines: `10-20`, or `10` for one line.
pub(crate) fn show_lines(first: u32, last: u32) -> String {
    line_range(first as usize, last as usize)
}
