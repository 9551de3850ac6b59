//! Parsing with a budget: some broken texts take tree-sitter time or memory far beyond their size.
//!
//! Invariant: the time of a parse grows with the length of the text, and deeply nested text is not parsed at
//! all.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::grammar::Grammar;

/// Brackets of one kind that may be open at once. Beyond that the parser takes a thousand times the text's
/// size in memory.
const MAX_OPEN_BRACKETS: u32 = 5_000;

thread_local! {
    /// One parser per thread: its allocations serve the next file too.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses a text, or the given parts of it. `None` if it is nested too deeply, takes too long, or `stop` says
/// so.
pub(super) fn parse(
    grammar: &Grammar,
    text: &str,
    parts: &[tree_sitter::Range],
    stop: &dyn Fn() -> bool,
) -> Option<Tree> {
    if is_nested_too_deeply(text) {
        return None;
    }
    PARSER.with_borrow_mut(|parser| {
        parser
            .set_language(&grammar.syntax)
            .expect("the grammars are of this version");
        parser.reset();
        parser.set_included_ranges(parts).ok()?;
        parse_within_budget(parser, text, stop)
    })
}

fn parse_within_budget(parser: &mut Parser, text: &str, stop: &dyn Fn() -> bool) -> Option<Tree> {
    // The callback runs every hundred steps of the parser, which takes about one step per byte. The budget
    // allows ten times that.
    let mut callbacks_left = 1_000 + text.len() / 10;
    let mut progress = |_: &_| {
        callbacks_left = callbacks_left.saturating_sub(1);
        if callbacks_left == 0 || stop() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )
}

/// True if more brackets of one kind are open at once than people write.
fn is_nested_too_deeply(text: &str) -> bool {
    // Round, square, curly and angle brackets.
    let mut open = [0_u32; 4];
    for byte in text.bytes() {
        let kind = match byte {
            b'(' | b')' => 0,
            b'[' | b']' => 1,
            b'{' | b'}' => 2,
            b'<' | b'>' => 3,
            // The `<` of `a < b;` is no bracket.
            b';' => {
                open[3] = 0;
                continue;
            }
            _ => continue,
        };
        if matches!(byte, b'(' | b'[' | b'{' | b'<') {
            open[kind] += 1;
            if open[kind] > MAX_OPEN_BRACKETS {
                return true;
            }
        } else {
            open[kind] = open[kind].saturating_sub(1);
        }
    }
    false
}
