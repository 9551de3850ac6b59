//! LCOV reports: the result does not depend on how the bytes are fed, and its figures are possible ones.

use docent_core::coverage::lcov::{LcovError, LcovParser};
use docent_core::coverage::{FileNames, Report};

/// The first byte chooses the size of the pieces, the rest is the report.
pub fn check(input: &[u8]) {
    let (selector, bytes) = super::split_selector(input);
    let names = FileNames::new(["/a"]);
    let whole = parse(bytes, usize::MAX, &names);
    assert_eq!(
        parse(bytes, selector + 1, &names),
        whole,
        "fed in pieces of {}",
        selector + 1
    );
    let Ok(report) = whole else {
        return;
    };
    let files = report.files();
    assert!(
        files.iter().all(|file| file.lines.hit <= file.lines.found),
        "more lines hit than found"
    );
    assert!(
        files.is_sorted_by(|a, b| a.path < b.path),
        "a file is listed twice"
    );
    assert!(report.total().percent().tenths <= 1_000, "more than 100 %");
}

fn parse(bytes: &[u8], piece_bytes: usize, names: &FileNames) -> Result<Report, LcovError> {
    let mut parser = LcovParser::new(names);
    for piece in bytes.chunks(piece_bytes) {
        parser.feed(piece)?;
    }
    parser.finish()
}
