//! Names in messages, and paths put together.

use super::*;

#[test]
fn names_in_messages_are_quoted_as_the_locale_has_it() {
    assert_eq!(quote(b"nope", Charset::PlainUtf8), "\u{2018}nope\u{2019}");
    assert_eq!(quote(b"nope", Charset::Bytes), "'nope'");
    assert_eq!(quote(b"a\\b\n\xff", Charset::Bytes), r"'a\\b\n\377'");
}

#[test]
fn a_path_that_ends_with_a_slash_gets_no_second_one() {
    assert_eq!(join(b".", b"a"), b"./a");
    assert_eq!(join(b"a//", b"b"), b"a//b");
}
