//! Scripts inside the pages of Vue and Svelte: the byte ranges that are parsed.

use tree_sitter::Point;

/// Scripts that are read from one page.
const MAX_SCRIPTS: usize = 100;

/// Finds the contents of the `<script>` elements of a page.
pub(super) fn find_scripts(text: &str) -> Vec<tree_sitter::Range> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut position = (0, Point { row: 0, column: 0 });
    while parts.len() < MAX_SCRIPTS
        && let Some(open) = text[from..].find("<script").map(|at| from + at)
    {
        let Some(start) = text[open..].find('>').map(|at| open + at + 1) else {
            break;
        };
        let Some(end) = text[start..].find("</script").map(|at| start + at) else {
            break;
        };
        position = (start, advance_point(text, position, start));
        let start_point = position.1;
        position = (end, advance_point(text, position, end));
        parts.push(tree_sitter::Range {
            start_byte: start,
            end_byte: end,
            start_point,
            end_point: position.1,
        });
        from = end;
    }
    parts
}

/// Row and column of a byte, counted on from an earlier one.
fn advance_point(text: &str, (from, point): (usize, Point), at: usize) -> Point {
    let between = &text[from..at];
    match between.rfind('\n') {
        None => Point {
            row: point.row,
            column: point.column + between.len(),
        },
        Some(end) => Point {
            row: point.row + between.matches('\n').count(),
            column: between.len() - end - 1,
        },
    }
}
