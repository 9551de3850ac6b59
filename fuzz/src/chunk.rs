//! Chunks cover their text: every line is in exactly one chunk, in order, and ids are unique and stable.

use docent_core::chunk;
use docent_core::language::Language;

/// The first byte chooses the language, the rest is the text.
pub fn check(input: &[u8]) {
    let (selector, text) = super::split_selector(input);
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let language = Language::ALL[selector % Language::ALL.len()];
    let chunks = chunk::chunk(language, text).chunks;
    let mut next_line = 1;
    for chunk in &chunks {
        assert_eq!(
            *chunk.lines.start(),
            next_line,
            "{language}: a line is missing or in two chunks"
        );
        assert!(
            chunk.lines.end() >= chunk.lines.start(),
            "{language}: an empty chunk"
        );
        next_line = chunk.lines.end() + 1;
    }
    assert_eq!(
        next_line - 1,
        text.lines().count(),
        "{language}: the last chunk does not end with the text"
    );
    let mut ids: Vec<u64> = chunks.iter().map(|chunk| chunk.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), chunks.len(), "{language}: two chunks have one id");
    assert_eq!(
        chunk::chunk(language, text).chunks,
        chunks,
        "{language}: another result for the same text"
    );
}
