//! The filters of a pipeline over the lines that a command prints, `grep -v` included.

use docent_core::shell::{OutputFilter, apply_filters};
use docent_engine::commands::search::{SearchError, filter_for};
use docent_engine::commands::{CharacterSet, grep_notice};

/// The lines that pass the filters of a pipeline.
pub(super) struct FilteredLines<T> {
    pub(super) kept: Vec<T>,
    /// The number that `wc -l` or `grep -c` prints in place of the lines.
    pub(super) count: Option<usize>,
    /// Messages of the filters.
    pub(super) errors: Vec<u8>,
    /// The last filter has selected a line, whether or not it printed it.
    pub(super) is_success: bool,
}

/// Applies the filters to lines, each with a value that stands for it.
pub(super) fn filter_lines<T: Clone>(
    mut lines: Vec<(&[u8], T)>,
    filters: &[OutputFilter],
    characters: CharacterSet,
) -> Result<FilteredLines<T>, SearchError> {
    let mut errors = Vec::new();
    let mut count = None;
    let mut is_success = !lines.is_empty();
    for filter in filters {
        let numbered = lines
            .iter()
            .enumerate()
            .map(|(at, (line, _))| (*line, at))
            .collect();
        match filter {
            OutputFilter::Without(request) => {
                let search = filter_for(request, characters)?;
                let has_nul = lines.iter().any(|(line, _)| line.contains(&0));
                lines.retain(|(line, _)| search.selects(line));
                is_success = !lines.is_empty();
                // grep takes input with a NUL byte for a binary file, and says only that it matches. Of other
                // input it leaves out the selected lines that are not text, and says so at the end.
                let selected = lines.len();
                if has_nul {
                    lines.clear();
                } else if matches!(characters, CharacterSet::Utf8) {
                    lines.retain(|(line, _)| std::str::from_utf8(line).is_ok());
                }
                if lines.len() < selected {
                    errors.extend(grep_notice(b"(standard input)"));
                    errors.push(b'\n');
                }
            }
            OutputFilter::CountMatching(request) => {
                let search = filter_for(request, characters)?;
                lines.retain(|(line, _)| search.selects(line));
                is_success = !lines.is_empty();
            }
            _ => {
                let kept = apply_filters(numbered, std::slice::from_ref(filter), |_, _| true);
                lines = kept.into_iter().map(|at| lines[at].clone()).collect();
                is_success = true;
            }
        }
        count = filter.prints_number().then_some(lines.len());
    }
    Ok(FilteredLines {
        kept: lines.into_iter().map(|(_, value)| value).collect(),
        count,
        errors,
        is_success,
    })
}
