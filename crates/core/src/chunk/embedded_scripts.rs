//! Pages that hold script: where it stands in them.

use tree_sitter::Point;

/// Scripts of a page.
const MAX_SCRIPTS: usize = 100;

/// The parts of a page that are script.
pub(super) fn scripts(text: &str) -> Vec<tree_sitter::Range> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut here = (0, Point { row: 0, column: 0 });
    while parts.len() < MAX_SCRIPTS
        && let Some(open) = text[from..].find("<script").map(|at| from + at)
    {
        let Some(start) = text[open..].find('>').map(|at| open + at + 1) else {
            break;
        };
        let Some(end) = text[start..].find("</script").map(|at| start + at) else {
            break;
        };
        here = (start, after(text, here, start));
        let start_point = here.1;
        here = (end, after(text, here, end));
        parts.push(tree_sitter::Range {
            start_byte: start,
            end_byte: end,
            start_point,
            end_point: here.1,
        });
        from = end;
    }
    parts
}

/// The place of a byte, counted on from one before it.
fn after(text: &str, (from, point): (usize, Point), at: usize) -> Point {
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
