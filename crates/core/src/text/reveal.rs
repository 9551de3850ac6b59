//! Makes invisible characters visible, so that text from files cannot hide instructions from the person who
//! reads it.
//!
//! Shown as `\u{…}`: control characters other than tabs and line ends, bidirectional controls, zero-width
//! characters, tag characters and stray variation selectors. Joiners and selectors inside emoji and in
//! scripts that join letters are left alone, and so is a byte order mark at the start.
//!
//! Invariant: text without such characters is returned as it is, without a copy.

use std::borrow::Cow;
use std::fmt::Write;

/// `text`, a whole file, with its invisible characters written out.
pub fn reveal(text: &str) -> Cow<'_, str> {
    reveal_after(None, text)
}

/// The same for a part of a file, where a byte order mark is invisible at the start too.
pub fn reveal_part(text: &str) -> Cow<'_, str> {
    reveal_after(Some('\n'), text)
}

/// The first invisible character of a text.
pub fn find_hidden_char(text: &str) -> Option<char> {
    let mut before = None;
    text.char_indices().find_map(|(at, c)| {
        let after = text[at + c.len_utf8()..].chars().next();
        let hidden = is_hidden(c, before, after);
        before = Some(c);
        hidden.then_some(c)
    })
}

fn reveal_after(mut before: Option<char>, text: &str) -> Cow<'_, str> {
    if !text.bytes().any(can_begin_hidden_char) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next();
        if is_hidden(c, before, after) {
            shown.push_str(&text[copied..at]);
            write!(shown, "\\u{{{:X}}}", u32::from(c)).expect("writing to a String does not fail");
            copied = at + c.len_utf8();
        }
        before = Some(c);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// True for a byte that can begin a character for which [`is_hidden`] may be true. Plain text passes at the
/// speed of a byte scan.
fn can_begin_hidden_char(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => false,
        // C0; C1 and soft hyphen; grapheme joiner; Arabic letter mark; Hangul and Mongolian; general
        // punctuation; the other Hangul filler; selectors and BOM; music; tags.
        0x00..=0x1f | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf0 | 0xf3 => true,
        _ => false,
    }
}

fn is_hidden(c: char, before: Option<char>, after: Option<char>) -> bool {
    match c {
        '\n' | '\t' => false,
        // Alone it would let a terminal overwrite the line.
        '\r' => after != Some('\n'),
        '\u{feff}' => before.is_some(),
        '\u{200c}' | '\u{200d}' => {
            !(before.is_some_and(may_touch_joiner) && after.is_some_and(may_touch_joiner))
        }
        '\u{fe00}'..='\u{fe0f}' => !before.is_some_and(|b| {
            b != '\u{fe0f}' && (may_touch_joiner(b) || b.is_ascii_digit() || matches!(b, '#' | '*'))
        }),
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

/// True for a character that may stand beside a joiner: a letter beyond ASCII, a symbol, or the selector
/// between an emoji and its joiner.
fn may_touch_joiner(c: char) -> bool {
    !c.is_ascii()
        && (c == '\u{fe0f}'
            || !matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' | '\u{200b}'..='\u{200f}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(reveal(text), expected);
    }

    #[test]
    fn ordinary_text_is_untouched() {
        for text in [
            "",
            "fn main() {}\r\n\tok",
            "Grüße, мир, 世界",
            "⚠\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}👩\u{200d}👧",
            "می\u{200c}خواهم",
            "\u{feff}bom",
        ] {
            assert!(matches!(reveal(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_revealed_in_a_part_of_a_file() {
        assert_eq!(reveal_part("\u{feff}x"), r"\u{FEFF}x");
    }

    #[test]
    fn invisible_characters_are_written_out() {
        check("a\u{202e}b\u{2066}c", r"a\u{202E}b\u{2066}c");
        check("x\u{200b}y\u{feff}z", r"x\u{200B}y\u{FEFF}z");
        check("hi\u{e0041}\u{e0042}", r"hi\u{E0041}\u{E0042}");
        check("\u{1b}[31mred\u{0}\u{9b}", r"\u{1B}[31mred\u{0}\u{9B}");
        check("seen\rhidden\r\n", "seen\\u{D}hidden\r\n");
        check("a\u{200d}b", r"a\u{200D}b");
        check("😀\u{fe0e}\u{fe01}\u{fe02}", "😀\u{fe0e}\\u{FE01}\\u{FE02}");
        check("😀\u{e0100}", r"😀\u{E0100}");
        check("😀\u{fe0f}\u{fe0f}", "😀\u{fe0f}\\u{FE0F}");
        check(
            "a\u{3164}\u{115f}\u{ffa0}\u{34f}\u{180b}",
            r"a\u{3164}\u{115F}\u{FFA0}\u{34F}\u{180B}",
        );
    }

    proptest! {
        #[test]
        fn the_byte_scan_misses_no_hidden_character(text in any::<String>()) {
            let slow: String = text.char_indices().map(|(at, c)| {
                let before = text[..at].chars().next_back();
                let after = text[at + c.len_utf8()..].chars().next();
                if is_hidden(c, before, after) { format!("\\u{{{:X}}}", u32::from(c)) } else { c.to_string() }
            }).collect();
            prop_assert_eq!(reveal(&text), slow);
        }
    }
}
