//! Symbols of a text refer to each other and to places of the text, and their stored form reads back as it
//! was written. Damaged bytes are refused without a panic.

use docent_core::language::Language;
use docent_core::symbols::{SymbolsReader, chunk_with_symbols, encode};

/// The first byte chooses the language, the rest is the text. The text is read as stored bytes too.
pub fn check(input: &[u8]) {
    let (selector, rest) = super::split_selector(input);
    if let Ok(reader) = SymbolsReader::new(rest) {
        let _ = reader.decode();
    }
    let Ok(text) = str::from_utf8(rest) else {
        return;
    };
    let language = Language::ALL[selector % Language::ALL.len()];
    let Some(mut symbols) = chunk_with_symbols(language, text).1 else {
        return;
    };
    symbols.normalise();
    let lines = text.lines().count().max(1);
    for definition in &symbols.definitions {
        assert!(definition.first_line >= 1, "{language}: lines count from 1");
        assert!(
            definition.last_line as usize <= lines,
            "{language}: a line behind the text"
        );
        assert!(
            definition.signature.end as usize <= text.len(),
            "{language}: a signature behind the text"
        );
        let parent = definition.parent.map_or(0, |parent| parent.0 as usize);
        assert!(
            parent < symbols.definitions.len(),
            "{language}: a parent that does not exist"
        );
    }
    for reference in &symbols.references {
        assert!(
            reference.at.line as usize <= lines,
            "{language}: a use behind the text"
        );
        assert!(
            (reference.name.0 as usize) < symbols.names.len(),
            "{language}: a name that does not exist"
        );
    }
    let bytes = encode(&symbols);
    let read = SymbolsReader::new(&bytes).and_then(|reader| reader.decode());
    assert_eq!(
        read.ok().as_ref(),
        Some(&symbols),
        "{language}: the stored form reads back differently"
    );
}
