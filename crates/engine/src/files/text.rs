//! The text of a file, from its bytes.

/// Decodes UTF-8, with replacement characters for invalid bytes.
pub(crate) fn lossy_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Decodes the content of a project file as `grep` does: UTF-16 if it begins with a byte order mark of that,
/// which is left out, otherwise UTF-8.
pub(crate) fn decode_file(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, units @ ..] => decode_utf16(units, u16::from_le_bytes),
        [0xfe, 0xff, units @ ..] => decode_utf16(units, u16::from_be_bytes),
        _ => lossy_text(bytes),
    }
}

/// Whether the content begins with a byte order mark of UTF-16.
pub(crate) fn has_utf16_mark(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = bytes.as_chunks::<2>();
    let decoded = char::decode_utf16(units.iter().map(|pair| unit(*pair)));
    let text = decoded.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
    // Half a character at the end.
    text.chain(rest.iter().map(|_| char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Whether a text is that of a binary file: it has a NUL in the beginning, as git and ripgrep look for it.
pub(crate) fn is_binary(text: &[u8]) -> bool {
    const SEARCHED_BYTES: usize = 8_000;
    text[..text.len().min(SEARCHED_BYTES)].contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(decode_file(bytes.to_vec()), expected);
    }

    #[test]
    fn a_byte_order_mark_tells_the_encoding() {
        check(b"\xff\xfew\x00\xe4\x00\n\x00", "w\u{e4}\n");
        check(b"\xfe\xff\x00w\x00\xe4\x00\n", "w\u{e4}\n");
        check(b"\xff\xfe\x3d\xd8\x3a\xdc", "\u{1f43a}");
        check(b"w\xc3\xa4\n", "w\u{e4}\n");
        check(b"", "");
        check(b"\xff\xfe", "");
    }

    #[test]
    fn wrong_bytes_are_replaced() {
        check(b"\xff\xfew\x00\x00\xd8", "w\u{fffd}");
        check(b"\xff\xfew\x00x", "w\u{fffd}");
        check(b"\xffw", "\u{fffd}w");
    }

    #[test]
    fn text_of_four_bytes_a_character_is_binary() {
        let text = decode_file(b"\xff\xfe\x00\x00w\x00\x00\x00".to_vec());
        assert!(is_binary(text.as_bytes()));
    }
}
