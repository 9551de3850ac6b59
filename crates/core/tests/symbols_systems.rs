//! Symbols of C, C++, Rust and Java, broken code included.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

mod symbol_listing;

use insta::assert_snapshot;
use symbol_listing::{list_broken_fixture, list_fixture};

#[test]
fn c() {
    assert_snapshot!(list_fixture("c.c"), @r#"
    def 4 macro MAX_COPIES
    def 5 macro LEND
    def 7 type shelf < shelf (declared)
    def 8 field shelf.first: <book>
    def 8 field shelf.last: <book>
    def 9 field shelf.sort: builtin
    def 10 field shelf.widths: builtin
    def 12 type visitor < builtin (declared)
    def 13 type state
    def 13 constant state.ON_SHELF
    def 13 constant state.LENT: MAX_COPIES
    def 15 function compare (local) (declared)
    def 16 function lend (declared)
    def 17 variable limit: builtin (local)
    def 19 function lend: builtin
    def 30 function compare: builtin (local)
    def 32 variable sorters: <sorter>
    def 34 function old_style: builtin
    def 38 function fine: builtin
    import * of shelf.h as "" (handed on)
    import * of <stdio.h> as "" (handed on)
    5: call lend, call count, name MAX_COPIES
    8: type book
    9: type book, type book
    10: name MAX_COPIES
    12: type book
    13: name MAX_COPIES
    15: type book, type book
    16: type book
    17: name MAX_COPIES
    19: type book
    21: type shelf, call find_shelf
    22: name limit
    23: member first of <shelf>, member state of <shelf>.first, name LENT
    25: call sort of <shelf>, name compare
    26: call LEND, call stamp
    27: type shelf, member widths of <shelf>
    30: type book, type book, member pages of <book>, member pages of <book>
    32: type sorter, member sort of ?, name compare, member name of ?, name compare
    35: call compare
    37: name HAVE_FINES
    38: name limit
    "#);
}

#[test]
fn broken_c() {
    assert_snapshot!(list_broken_fixture("c.c"), @r#"
    def 4 type fine
    def 5 field fine.cents
    def 6 field fine.paid: builtin
    def 9 function fine_is_open: builtin (local)
    def 14 function renew: builtin
    def 23 function pay: builtin
    import * of shelf.h as "" (handed on)
    9: type fine
    11: member paid of <fine>, member cents of <fine>
    14: type loan
    17: call report, member isbn of <loan>
    19: member due of <loan>
    23: type fine
    25: member paid of <fine>
    28: type fine
    "#);
}
