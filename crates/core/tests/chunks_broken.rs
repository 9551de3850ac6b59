//! Chunks of files with a syntax error in the middle: the definitions before and after it are still found.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

mod fixture;

use fixture::show_broken_fixture;
use insta::assert_snapshot;

#[test]
fn rust() {
    assert_snapshot!(show_broken_fixture("rust.rs"), @"
    1-2 module
    3-6 type Shelf | pub struct Shelf
    7-21 class Shelf | impl Shelf
    22-24 function empty | fn empty() -> Shelf
    ");
}

#[test]
fn typescript() {
    assert_snapshot!(show_broken_fixture("typescript.ts"), @"
    1-2 module
    3-6 interface Copy | interface Copy
    7-10 function shelve | function shelve(copy: Copy): string
    11-15 function repair | function repair(copy: Copy): Copy
    16-21 class Workshop | class Workshop
    22-24 function discard | discard = (copy: Copy): boolean =>
    ");
}

#[test]
fn tsx() {
    assert_snapshot!(show_broken_fixture("tsx.tsx"), @"
    1-2 module
    3-4 type Props | type Props = { title: string };
    5-8 function Header | function Header({ title }: Props)
    9-13 function Counter | function Counter({ title }: Props)
    14-17 function Footer | Footer = () =>
    18-20 function Page | function Page({ title }: Props)
    ");
}

#[test]
fn javascript() {
    assert_snapshot!(show_broken_fixture("javascript.js"), @"
    1-2 module
    3-6 function readStock | function readStock(file)
    7-11 function countStock | function countStock(file)
    12-17 class Stock | class Stock
    18-21 function isEmpty | isEmpty = (stock) =>
    22-24 function report | function report(stock)
    ");
}

#[test]
fn jsx() {
    assert_snapshot!(show_broken_fixture("jsx.jsx"), @"
    1-2 module
    3-6 function Title | function Title({ text })
    7-11 function Hours | function Hours({ days })
    12-13 function Map | Map = () =>
    14-18 class Page | class Page extends React.Component
    ");
}

#[test]
fn python() {
    assert_snapshot!(show_broken_fixture("python.py"), @"
    1-3 module
    4-17 class Register | class Register: // Names of members.
    18-21 function count | def count(register):
    22-23 function sync | async def sync(register):
    ");
}

#[test]
fn go() {
    assert_snapshot!(show_broken_fixture("go.go"), @"
    1-5 module
    6-11 type Fine | type Fine // Fine is what a member owes.
    12-13 method Fine.String | func (f Fine) String() string
    14-18 function Charge | func Charge(days int) Fine
    19-23 method Fine.Pay | func (f *Fine) Pay(cents int) // Pay settles the fine.
    24-24 type Ledger | type Ledger map[int][]Fine
    ");
}

#[test]
fn java() {
    assert_snapshot!(show_broken_fixture("java.java"), @"
    1-4 module
    5-24 class Reminders | public class Reminders // Broken on purpose: send() has an unfinished call.
    25-25 type Channel | enum Channel
    ");
}

#[test]
fn kotlin() {
    assert_snapshot!(show_broken_fixture("kotlin.kt"), @"
    1-2 module
    3-17 class Guest | class Guest(val name: String) // Broken on purpose: greet() has an unfinished call.
    18-21 function welcome | fun welcome(guest: Guest)
    22-24 class Door | object Door
    ");
}

#[test]
fn scala() {
    assert_snapshot!(show_broken_fixture("scala.scala"), @"
    1-2 module
    3-18 class Basket | class Basket(limit: Int) // Broken on purpose: total() has an unfinished expression.
    19-22 class Checkout | object Checkout
    23-23 interface Receipt | trait Receipt
    ");
}

#[test]
fn c() {
    assert_snapshot!(show_broken_fixture("c.c"), @"
    1-3 module
    4-8 type fine | struct fine
    9-13 function fine_is_open | static int fine_is_open(const struct fine *fine)
    14-28 function renew | int renew(struct loan *loan, long days)
    ");
}

#[test]
fn cpp() {
    assert_snapshot!(show_broken_fixture("cpp.cpp"), @"
    1-3 module
    4-12 class Desk | class Desk
    13-16 method Desk.open | void Desk::open()
    17-22 method Desk.close | void Desk::close()
    23-26 method Desk.serve | int Desk::serve(int member)
    27-27 type Bell | enum class Bell
    ");
}

#[test]
fn csharp() {
    assert_snapshot!(show_broken_fixture("csharp.cs"), @"
    1-2 module
    3-4 module Lending.Desk | namespace Lending.Desk
    5-23 class Lending.Desk.Desk | public class Desk // Broken on purpose: Greet has an unfinished expression.
    24-25 type Lending.Desk.Bell | public enum Bell
    ");
}

#[test]
fn swift() {
    assert_snapshot!(show_broken_fixture("swift.swift"), @"
    1-2 module
    3-9 class Hold | struct Hold
    10-14 function placeHold | func placeHold(_ member: Int) -> Hold
    15-18 function cancelHold | func cancelHold(_ hold: Hold) -> Bool
    19-23 class HoldQueue | final class HoldQueue
    ");
}

#[test]
fn ruby() {
    assert_snapshot!(show_broken_fixture("ruby.rb"), @"
    1-2 module
    3-16 class Reservation | class Reservation
    17-17 module Desk | module Desk
    18-22 function Desk.open? | def self.open?
    23-25 function opening_hours | def opening_hours
    ");
}

#[test]
fn php() {
    assert_snapshot!(show_broken_fixture("php.php"), @"
    1-6 module
    7-23 class Counter | class Counter
    24-27 function queue_length | function queue_length(array $queue): int
    ");
}

#[test]
fn lua() {
    assert_snapshot!(show_broken_fixture("lua.lua"), @"
    1-4 module
    5-9 method M.open | function M.open(room)
    10-14 method M.count | function M.count(room)
    15-18 method M.close | function M.close(room)
    19-21 function helper | local function helper(x)
    22-23 block
    ");
}

#[test]
fn elixir() {
    assert_snapshot!(show_broken_fixture("elixir.ex"), @"
    1-3 module Branches.Van | defmodule Branches.Van
    4-7 function Branches.Van.load | def load(van, isbn)
    8-12 function Branches.Van.drive | def drive(van)
    13-17 function Branches.Van.unload | def unload(van)
    18-20 module Branches.Garage | defmodule Branches.Garage
    ");
}

#[test]
fn haskell() {
    assert_snapshot!(show_broken_fixture("haskell.hs"), @"
    1-4 module
    5-6 type Card | data Card = Card { copies :: Int }
    7-9 function spare | spare :: Card -> Int
    10-13 block
    14-16 function borrow | borrow :: Card -> Card
    17-18 interface Labelled | class Labelled a where
    ");
}

#[test]
fn zig() {
    assert_snapshot!(show_broken_fixture("zig.zig"), @r#"
    1-2 module
    3-10 class Stamp | pub const Stamp =
    11-15 function due | pub fn due(stamp: Stamp) u16
    16-19 function late | pub fn late(stamp: Stamp, today: u16) bool
    20-22 function late | test "late"
    "#);
}

#[test]
fn bash() {
    assert_snapshot!(show_broken_fixture("shellscript.sh"), @"
    1-3 module
    4-6 function open_desk | open_desk()
    7-13 block
    14-17 function close_desk | close_desk()
    18-20 function report | report()
    ");
}
