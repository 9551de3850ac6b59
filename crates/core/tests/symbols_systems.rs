//! Symbols of C, C++, Rust and Java, broken code included.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

mod symbol_listing;

use insta::assert_snapshot;
use symbol_listing::{list_broken_fixture, list_fixture, list_symbols};

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
    def 15 function compare: builtin (local) (declared)
    def 16 function lend: builtin (declared)
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
    34: type book
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

#[test]
fn rust() {
    assert_snapshot!(list_fixture("rust.rs"), @r#"
    def 7 constant MAX_COPIES: builtin
    def 9 macro stamp (declared)
    def 15 type Shelf
    def 16 field Shelf.books: [<Book>]
    def 17 field Shelf.reader: <Reader>
    def 18 field Shelf.extra
    def 21 type State
    def 22 constant State.OnShelf
    def 23 constant State.Lent
    def 23 field State.to: <Reader>
    def 24 constant State.Lost
    def 27 interface Lend < Clone
    def 28 method Lend.lend: <State> (declared)
    def 29 method Lend.lend_twice
    def 34 class Shelf
    def 35 method Shelf.new: <Shelf@34>
    def 39 method Shelf.first: <Book>
    def 43 method Shelf.tidy: <State>
    def 70 class Shelf < Lend
    def 71 method Shelf.lend: <State>
    def 77 function sweep
    def 84 module tests
    def 88 function tests.tidies
    import people of crate::people as "people" (handed on)
    import Person of crate::people::Person as "Reader" (handed on)
    import HashMap of std::collections::HashMap as "HashMap" (handed on)
    import module of mod store as "store" (handed on)
    import * of store::* as "" (handed on)
    import module of mod fines as "fines" (handed on)
    import * of super::* as "" (handed on)
    1: import people, import Person
    2: import HashMap
    11: call mark
    16: type Book
    17: type Reader
    23: type Reader
    24: type Book
    28: type Reader, type State
    30: call lend of this(Lend@27), name people, call anybody of people
    34: type Lend
    36: member books of ?, call new of Vec, member reader of ?
    39: type Book
    40: member books of this(Shelf@34)
    43: type HashMap, type Book, type State
    44: call first of this(Shelf@34)
    45: call open of this(Shelf@34).first(), name MAX_COPIES
    46: member books of this(Shelf@34), call iter of this(Shelf@34).books
    47: call close of this(Shelf@34).books[]
    49: member reader of this(Shelf@34)
    50: call read of this(Shelf@34).reader
    52: call state of this(Shelf@34)
    53: name State, member OnShelf of State, call sweep
    54: type State, type Lent of State, call remind of ?
    55: type State, type Lost of State, call drop
    57: type Shelf, call new of Shelf
    58: call first of Shelf.new()
    59: member extra of this(Shelf@34), call lend_twice of this(Shelf@34).extra
    60: call values of [<Book>], call map of [<Book>].values(), type Book, call close of <Book>
    61: call assert_eq, call sweep, call first of this(Shelf@34), member pages of this(Shelf@34).first(), name people, call count of people
    62: call stamp
    63: call audit of Shelf@34
    64: member people of crate, call find of crate.people
    65: member books of this(Shelf@34), call iter of this(Shelf@34).books, call map of this(Shelf@34).books, name Book, member open of Book
    66: name State, member OnShelf of State
    70: type Lend
    71: type Reader, type State
    72: call lend_twice of this(Shelf@70)
    73: type State, type Lent of State
    79: call cfg_fines
    80: name fines
    83: name test
    89: call sweep of self
    90: name Shelf, call new of Shelf, call tidy of Shelf.new()
    "#);
}

#[test]
fn broken_rust() {
    assert_snapshot!(list_broken_fixture("rust.rs"), @r#"
    def 3 type Shelf
    def 4 field Shelf.books: [<String>]
    def 7 class Shelf
    def 8 method Shelf.len: builtin
    def 12 method Shelf.first: <String>
    def 17 method Shelf.clear
    def 22 function empty: <Shelf>
    import fmt of std::fmt as "fmt" (handed on)
    1: import fmt
    9: member books of this(Shelf@7), call len of this(Shelf@7).books
    13: member books of this(Shelf@7), member get of this(Shelf@7).books
    18: member books of this(Shelf@7), call clear of this(Shelf@7).books
    22: type Shelf
    23: type Shelf, member books of ?, call new of Vec
    "#);
}

#[test]
fn java() {
    assert_snapshot!(list_fixture("java.java"), @r#"
    package library.shelf
    def 10 class Shelf < Furniture, Lend, Comparable
    def 11 field Shelf.MAX: builtin
    def 12 field Shelf.books: [<Book>]
    def 13 field Shelf.reader: <Reader>
    def 13 field Shelf.other: <Reader>
    def 15 type Shelf.State
    def 15 constant Shelf.State.ON_SHELF
    def 15 constant Shelf.State.LENT
    def 17 interface Shelf.Visitor
    def 18 method Shelf.Visitor.visit: builtin (declared)
    def 21 method Shelf.Shelf
    def 27 method Shelf.first: <Book>
    def 31 method Shelf.tidy: builtin
    import List of java.util.List as "List"
    import Book of library.books.Book as "Book"
    import sort of library.books.Books.sort as "sort"
    import * of library.people.* as ""
    3: import List
    4: import Book
    5: import sort
    9: type Stored
    10: type Book, type Furniture, type Lend, type Comparable, type Shelf
    12: type List, type Book, call ArrayList
    13: type Reader
    18: type Book
    21: type Reader
    22: name MAX
    23: member reader of this(Shelf@10)
    27: type Book
    28: name books, call get of books
    31: type Visitor, type IOException
    32: type Book, name books
    33: call open of <Book>
    34: call visit of <Visitor>
    36: name reader, call read of reader, call first
    37: call first of this(Shelf@10), call open of this(Shelf@10).first()
    38: type Shelf, type Book, call Shelf, name reader
    39: type var, type Shelf, call Visitor of Shelf
    40: call visit of Shelf.Visitor(), call first of <Shelf>
    41: name Book, call create of Book, call open of Book.create()
    42: name books, call forEach of books, call close of ?
    43: name books, call stream of books, call map of books.stream(), name Book, member open of Book, call map of books.stream().map(), member stamp of this(Shelf@10)
    44: type Reader, call invite
    45: call read of <Reader>
    46: type IOException
    47: call log of <IOException>
    49: name other, type Member, call join of <Member>
    50: name state
    51: name LENT, call sort, name books
    53: call paint of super(Shelf@10)
    54: name State, call valueOf of State
    55: type Member, name other, call join of <Member>
    "#);
}

#[test]
fn broken_java() {
    assert_snapshot!(list_broken_fixture("java.java"), @r#"
    package org.example.lending
    def 6 class Reminders
    def 7 field Reminders.queue: [<String>]
    def 9 method Reminders.Reminders
    def 13 method Reminders.send: builtin
    def 20 method Reminders.size: builtin
    def 25 type Channel
    def 25 constant Channel.LETTER
    def 25 constant Channel.MAIL
    import List of java.util.List as "List"
    3: import List
    7: type List
    9: type List
    10: member queue of this(Reminders@6)
    14: name queue, member add of queue, call trim of <String>
    15: name queue, call isEmpty of queue
    21: name queue, call size of queue
    "#);
}

#[test]
fn cpp() {
    assert_snapshot!(list_fixture("cpp.cpp"), @r#"
    def 4 type Books < vector (declared)
    def 6 module library
    def 8 type library.State
    def 8 constant library.State.OnShelf
    def 8 constant library.State.Lent
    def 11 class library.Shelf < Furniture, Lend
    def 13 method library.Shelf.Shelf
    def 14 method library.Shelf.~Shelf (declared)
    def 15 method library.Shelf.First: <Book>
    def 16 method library.Shelf.Make: <Shelf> (declared)
    def 17 method library.Shelf.Tidy: builtin (declared)
    def 20 field library.Shelf.books_: [<Book>]
    def 21 field library.Shelf.reader_: <Reader>
    def 22 field library.Shelf.other_: <Reader>
    def 22 field library.Shelf.third_: <Reader>
    def 23 field library.Shelf.kMax: builtin
    def 27 method library.Shelf.Tidy: builtin
    def 35 function library.Shelf.Tidy.close
    def 43 function library.helper: builtin (local)
    def 47 macro CHECKED
    import * of shelf.h as "" (handed on)
    import * of <vector> as "" (handed on)
    4: type std, type vector, type Book
    11: type Furniture, type Lend
    13: type Reader, member Furniture of ?, member reader_ of ?
    15: type Book, name books_
    16: type Shelf
    20: type std, type vector, type Book
    21: type std, type unique_ptr, type Reader
    22: type Reader
    27: type Shelf
    28: name books_, call Open of books_[]
    29: name reader_, call Read of reader_, call First
    30: call First of <Shelf>, call Open of <Shelf>.First()
    31: type Shelf, type Book, call Shelf, type Book, name other_
    32: type Shelf, call Make of Shelf
    33: call First of Shelf.Make()
    34: name library, name people, call Find of people, name State, member Lent of State
    35: type Book, call Close of <Book>
    36: type Book, call First of <Shelf>
    37: call Open of <Book>
    38: name std, call for_each of std, name books_, call begin of books_, name books_, call end of books_, name sweep
    39: call sweep, name kMax
    40: call Max
    47: name library, call check of library
    "#);
}

#[test]
fn broken_cpp() {
    assert_snapshot!(list_broken_fixture("cpp.cpp"), @r#"
    def 4 class Desk
    def 6 method Desk.open: builtin (declared)
    def 7 method Desk.waiting: builtin
    def 10 field Desk.waiting_: builtin
    def 13 method Desk.open: builtin
    def 17 method Desk.close: builtin
    def 23 method Desk.serve: builtin
    def 27 type Bell
    def 27 constant Bell.Quiet
    def 27 constant Bell.Loud
    import * of desk.h as "" (handed on)
    7: name waiting_
    13: name Desk
    14: name waiting_
    17: name Desk
    18: name waiting_
    19: name serve, name waiting_
    23: name Desk
    24: name waiting_
    "#);
}

#[test]
fn cuda_is_read_like_cpp() {
    let kernel = "__global__ void scale(float *row) { row[0] = twice(row[0]); }\n";
    assert_snapshot!(list_symbols(kernel, "kernel.cu"), @"
    def 1 function scale: <__global__>
    1: type __global__, name void, call twice
    ");
}
