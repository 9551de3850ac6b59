//! Uses inside the text of macros, which grammars leave unparsed: `#define F(x) render(x)`, `assert!(f(x))`.
//!
//! The text is cut into words. A word behind `.`, `->` or `::` is a member of the word before it; a word in
//! front of `(` is a call. Strings, comments and numbers are left out.

use tree_sitter::Node;

use super::reader::{MAX_NAME_BYTES, to_u32};
use super::walk::SymbolWalk;
use super::{Expression, ExpressionId, ReferenceRole, SourcePosition, Target};

/// Words of C and Rust that name no definition.
const KEYWORDS: &str = " if else for while do switch case default break continue return goto sizeof typeof static inline \
    const volatile extern struct union enum typedef void char short int long float double signed unsigned bool \
    true false NULL defined as async await dyn fn impl in let loop match mod move mut pub ref trait type unsafe \
    use where crate super str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 \
    __VA_ARGS__ __attribute__ __extension__ ";

/// A word of the text, or the sign between two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'t> {
    Word {
        text: &'t str,
        at: SourcePosition,
    },
    /// `.` or `->`
    Access,
    /// `::`
    PathSeparator,
    OpenParenthesis,
    /// The `!` of a macro call.
    Bang,
    Other,
}

impl<'a> SymbolWalk<'a> {
    /// Records the uses in the text of a node.
    pub(super) fn use_macro_text(&mut self, node: Node<'a>) {
        let parts = split_parts(self.reader.text_of(node), Self::position(node));
        // The value of the word before, and whether it is known that there is one.
        let mut receiver: Option<ExpressionId> = None;
        let mut is_member = false;
        for (at, part) in parts.iter().enumerate() {
            let Part::Word { text, at: place } = *part else {
                is_member = matches!(part, Part::Access | Part::PathSeparator);
                if !is_member {
                    receiver = None;
                }
                continue;
            };
            let following = parts.get(at + 1).copied().unwrap_or(Part::Other);
            let is_call = match following {
                Part::OpenParenthesis => true,
                Part::Bang => parts.get(at + 2) == Some(&Part::OpenParenthesis),
                _ => false,
            };
            receiver = if is_member {
                self.use_word_as_member(text, place, receiver, is_call)
            } else {
                let value = self.use_word(text, place, is_call);
                // A variable that the macro itself binds is no name of the file.
                let is_own_variable = following == Part::Access && !text.starts_with(char::is_uppercase);
                value.filter(|value| !(is_own_variable && self.is_free_name(*value)))
            };
            is_member = false;
        }
    }

    fn is_free_name(&self, value: ExpressionId) -> bool {
        let expression = self.reader.symbols.expressions.get(value.0 as usize);
        matches!(expression, Some(Expression::Name(_)))
    }

    /// Records a word as a name. Returns its value.
    fn use_word(&mut self, text: &'a str, at: SourcePosition, is_call: bool) -> Option<ExpressionId> {
        match text {
            "self" | "this" => return self.reader.this(),
            "Self" => {
                let class = self.reader.enclosing_type()?;
                return self.reader.keep(Expression::Definition(class));
            }
            _ if is_keyword(text) || text.len() > MAX_NAME_BYTES => return None,
            _ => {}
        }
        let name = self.reader.intern(text);
        if let Some(local) = self.reader.scopes.find(name) {
            let definition = local.and_then(|value| self.reader.symbols.expressions.get(value.0 as usize));
            if let Some(Expression::Definition(id)) = definition.copied()
                && self.is_name_of(id, name)
            {
                self.add_reference_at(at, name, role(is_call), Target::Definition(id));
            }
            return local;
        }
        self.add_reference_at(at, name, role(is_call), Target::Scope);
        self.reader.keep(Expression::Name(name))
    }

    /// Records a word as a member. Returns its value.
    fn use_word_as_member(
        &mut self,
        text: &'a str,
        at: SourcePosition,
        receiver: Option<ExpressionId>,
        is_call: bool,
    ) -> Option<ExpressionId> {
        if is_keyword(text) || text.len() > MAX_NAME_BYTES {
            return None;
        }
        let name = self.reader.intern(text);
        let role = if is_call {
            ReferenceRole::Call
        } else {
            ReferenceRole::Member
        };
        let target = receiver.map_or(Target::UnknownMember, Target::Member);
        self.add_reference_at(at, name, role, target);
        let receiver = receiver?;
        self.reader.keep(Expression::Member(receiver, name))
    }
}

fn role(is_call: bool) -> ReferenceRole {
    if is_call {
        ReferenceRole::Call
    } else {
        ReferenceRole::Name
    }
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword == word)
}

/// The words of a text and the signs that matter between them. `start` is the place of its first byte.
fn split_parts(text: &str, start: SourcePosition) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let bytes = text.as_bytes();
    let mut line = start.line;
    // The byte of the text that has column `first_column`.
    let (mut line_start, mut first_column) = (0, start.column);
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let following = bytes.get(at + 1).copied();
        let (end, part) = match (byte, following) {
            (b' ' | b'\t' | b'\r' | b'\n' | b'\\', _) => (at + 1, None),
            (b'"', _) => (end_of_string(bytes, at), Some(Part::Other)),
            (b'\'', _) => (end_of_character(bytes, at), Some(Part::Other)),
            (b'/', Some(b'/')) => (find_from(text, at, "\n"), None),
            (b'/', Some(b'*')) => (find_from(text, at + 2, "*/") + 2, None),
            (b'-', Some(b'>')) => (at + 2, Some(Part::Access)),
            (b':', Some(b':')) => (at + 2, Some(Part::PathSeparator)),
            (b'.', Some(b'.')) => (at + 2, Some(Part::Other)),
            (b'.', _) => (at + 1, Some(Part::Access)),
            (b'(', _) => (at + 1, Some(Part::OpenParenthesis)),
            (b'!', _) => (at + 1, Some(Part::Bang)),
            // A parameter of a macro of Rust.
            (b'$', _) => (end_of_word(bytes, at + 1), Some(Part::Other)),
            (b'0'..=b'9', _) => (end_of_word(bytes, at), Some(Part::Other)),
            _ if is_word(byte) => {
                let end = end_of_word(bytes, at);
                let place = SourcePosition {
                    line,
                    column: to_u32(at - line_start).saturating_add(first_column),
                };
                let word = text.get(at..end).map(|text| Part::Word { text, at: place });
                (end, word)
            }
            _ => (at + 1, Some(Part::Other)),
        };
        parts.extend(part);
        let end = end.min(bytes.len());
        for newline in (at..end).filter(|at| bytes[*at] == b'\n') {
            line = line.saturating_add(1);
            (line_start, first_column) = (newline + 1, 0);
        }
        at = end;
    }
    parts
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn end_of_word(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| is_word(**byte)).count()
}

fn find_from(text: &str, at: usize, wanted: &str) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find(wanted).map_or(text.len(), |found| at + found)
}

/// The end of a string, quotes included.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The end of `'c'`. A quote alone is a lifetime of Rust.
fn end_of_character(bytes: &[u8], start: usize) -> usize {
    let is_escaped = bytes.get(start + 1) == Some(&b'\\');
    let longest = if is_escaped { 12 } else { 5 };
    let content = start + 2 + usize::from(is_escaped);
    let end = (content..start + longest).find(|at| bytes.get(*at) == Some(&b'\''));
    match end {
        Some(end) => end + 1,
        None => start + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(&str, u32, u32)> {
        let start = SourcePosition { line: 3, column: 10 };
        let parts = split_parts(text, start).into_iter();
        parts
            .filter_map(|part| match part {
                Part::Word { text, at } => Some((text, at.line, at.column)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn words_have_their_places() {
        assert_eq!(
            words("do { f(x); \\\n  g(); }"),
            [("do", 3, 10), ("f", 3, 15), ("x", 3, 17), ("g", 4, 2),]
        );
    }

    #[test]
    fn strings_comments_and_numbers_have_no_words() {
        assert_eq!(
            words("\"a \\\" b\" 'c' '\\n' /* d\n */ 0x1f 12u f // e"),
            [("f", 4, 13)]
        );
        assert_eq!(words("&'a T"), [("a", 3, 12), ("T", 3, 14)]);
    }

    #[test]
    fn an_open_string_ends_with_the_text() {
        assert_eq!(words("f \"a b"), [("f", 3, 10)]);
        assert_eq!(words("f /* g"), [("f", 3, 10)]);
        assert_eq!(words("'\\"), []);
    }
}
