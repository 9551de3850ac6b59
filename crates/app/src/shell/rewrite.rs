//! `docent rewrite`: a command line with the commands replaced that docent answers.

use std::path::Path;

/// A rewritten command line.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    /// The new line. `None` if nothing is replaced.
    pub(crate) line: Option<String>,
    /// Every command of the line is one of `docent sh` or a `cd`, so that the whole line only reads.
    pub(crate) only_reads: bool,
    /// The searches and lists that were left alone: the program and the reason.
    pub(crate) left_alone: Vec<(String, String)>,
}

/// Rewrites a line that a shell would run in `directory`. Any doubt leaves it as it is.
pub(crate) fn rewrite_line(line: &str, directory: &Path) -> Rewrite {
    let _ = (line, directory);
    Rewrite::default()
}
