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
    1-1 module (header)
    3-5 type Shelf | pub struct Shelf
    7-20 class Shelf | impl Shelf + method len 8-10 + method first 12-15 + method clear 17-19
    22-24 function empty | fn empty() -> Shelf
    ");
}

#[test]
fn typescript() {
    assert_snapshot!(show_broken_fixture("typescript.ts"), @"
    1-1 module (header)
    3-5 interface Copy | interface Copy
    7-9 function shelve | function shelve(copy: Copy): string
    11-14 function repair | function repair(copy: Copy): Copy
    16-20 class Workshop | class Workshop + method accept 17-19
    22-24 function discard | discard = (copy: Copy): boolean =>
    ");
}

#[test]
fn tsx() {
    assert_snapshot!(show_broken_fixture("tsx.tsx"), @"
    1-1 module (header)
    3-3 type Props | type Props = { title: string };
    5-7 function Header | function Header({ title }: Props)
    9-12 function Counter | function Counter({ title }: Props)
    14-16 function Footer | Footer = () =>
    18-20 function Page | function Page({ title }: Props)
    ");
}

#[test]
fn javascript() {
    assert_snapshot!(show_broken_fixture("javascript.js"), @"
    1-1 module (header)
    3-5 function readStock | function readStock(file)
    7-10 function countStock | function countStock(file)
    12-16 class Stock | class Stock + method add 13-15
    18-20 function isEmpty | isEmpty = (stock) =>
    22-24 function report | function report(stock)
    ");
}

#[test]
fn jsx() {
    assert_snapshot!(show_broken_fixture("jsx.jsx"), @"
    1-1 module (header)
    3-5 function Title | function Title({ text })
    7-10 function Hours | function Hours({ days })
    12-12 function Map | Map = () =>
    14-18 class Page | class Page extends React.Component + method render 15-17
    ");
}

#[test]
fn python() {
    assert_snapshot!(show_broken_fixture("python.py"), @"
    1-1 module (header)
    4-15 class Register | class Register: + method add 7-8 + method load 10-12 + method clear 14-15 // Names of members.
    18-19 function count | def count(register):
    22-23 function sync | async def sync(register):
    ");
}

#[test]
fn go() {
    assert_snapshot!(show_broken_fixture("go.go"), @"
    1-4 module
    6-10 type Fine | type Fine // Fine is what a member owes.
    12-12 method Fine.String | func (f Fine) String() string
    14-17 function Charge | func Charge(days int) Fine
    19-22 method Fine.Pay | func (f *Fine) Pay(cents int) // Pay settles the fine.
    24-24 type Ledger | type Ledger map[int][]Fine
    ");
}

#[test]
fn java() {
    assert_snapshot!(show_broken_fixture("java.java"), @"
    1-3 module (header)
    5-23 class Reminders | public class Reminders + method Reminders 9-11 + method send 13-18 + method size 20-22 // Broken on purpose: send() has an unfinished call.
    25-25 type Channel | enum Channel
    ");
}

#[test]
fn kotlin() {
    assert_snapshot!(show_broken_fixture("kotlin.kt"), @"
    1-1 module (header)
    3-16 class Guest | class Guest(val name: String) + method initials 5-7 + method greet 9-11 + method leave 13-15 // Broken on purpose: greet() has an unfinished call.
    18-20 function welcome | fun welcome(guest: Guest)
    22-24 class Door | object Door + method close 23-23
    ");
}

#[test]
fn scala() {
    assert_snapshot!(show_broken_fixture("scala.scala"), @"
    1-1 module (header)
    3-17 class Basket | class Basket(limit: Int) + method isFull 5-7 + method total 9-12 + method clear 14-16 // Broken on purpose: total() has an unfinished expression.
    19-21 class Checkout | object Checkout + method pay 20-20
    23-23 interface Receipt | trait Receipt + method text 23-23
    ");
}

#[test]
fn c() {
    assert_snapshot!(show_broken_fixture("c.c"), @"
    1-2 module
    4-7 type fine | struct fine
    9-12 function fine_is_open | static int fine_is_open(const struct fine *fine)
    14-28 function renew | int renew(struct loan *loan, long days) + function pay 23-26
    ");
}

#[test]
fn cpp() {
    assert_snapshot!(show_broken_fixture("cpp.cpp"), @"
    1-2 module
    4-11 class Desk | class Desk + method waiting 7-7
    13-15 method Desk.open | void Desk::open()
    17-21 method Desk.close | void Desk::close()
    23-25 method Desk.serve | int Desk::serve(int member)
    27-27 type Bell | enum class Bell
    ");
}

#[test]
fn csharp() {
    assert_snapshot!(show_broken_fixture("csharp.cs"), @"
    1-1 module (header)
    3-4 module Lending.Desk | namespace Lending.Desk (header)
    5-22 class Lending.Desk.Desk | public class Desk + method Open 10-13 + method Greet 15-19 + method Served 21-21 // Broken on purpose: Greet has an unfinished expression.
    24-24 type Lending.Desk.Bell | public enum Bell
    ");
}

#[test]
fn swift() {
    assert_snapshot!(show_broken_fixture("swift.swift"), @"
    1-1 module (header)
    3-8 class Hold | struct Hold + method describe 5-7
    10-13 function placeHold | func placeHold(_ member: Int) -> Hold
    15-17 function cancelHold | func cancelHold(_ hold: Hold) -> Bool
    19-23 class HoldQueue | final class HoldQueue + method next 20-22
    ");
}

#[test]
fn ruby() {
    assert_snapshot!(show_broken_fixture("ruby.rb"), @"
    1-1 module (header)
    3-15 class Reservation | class Reservation + method initialize 4-6 + method confirm 8-10 + method cancel 12-14
    17-17 module Desk | module Desk (header)
    18-20 function Desk.open? | def self.open?
    23-25 function opening_hours | def opening_hours
    ");
}

#[test]
fn php() {
    assert_snapshot!(show_broken_fixture("php.php"), @"
    1-5 module (header)
    7-22 class Counter | class Counter + method open 9-12 + method serve 14-17 + method close 19-21
    24-27 function queue_length | function queue_length(array $queue): int
    ");
}

#[test]
fn lua() {
    assert_snapshot!(show_broken_fixture("lua.lua"), @"
    1-3 module
    5-8 method M.open | function M.open(room)
    10-13 method M.count | function M.count(room)
    15-17 method M.close | function M.close(room)
    19-21 function helper | local function helper(x)
    23-23 block
    ");
}

#[test]
fn elixir() {
    assert_snapshot!(show_broken_fixture("elixir.ex"), @"
    1-2 module Branches.Van | defmodule Branches.Van
    4-6 function Branches.Van.load | def load(van, isbn)
    8-11 function Branches.Van.drive | def drive(van)
    13-15 function Branches.Van.unload | def unload(van)
    18-20 module Branches.Garage | defmodule Branches.Garage
    ");
}

#[test]
fn haskell() {
    assert_snapshot!(show_broken_fixture("haskell.hs"), @"
    1-3 module (header)
    5-5 type Card | data Card = Card { copies :: Int }
    7-9 function spare | spare :: Card -> Int
    11-12 block
    14-15 function borrow | borrow :: Card -> Card
    17-18 interface Labelled | class Labelled a where + method text 18-18
    ");
}

#[test]
fn zig() {
    assert_snapshot!(show_broken_fixture("zig.zig"), @r#"
    1-1 module (header)
    3-9 class Stamp | pub const Stamp = + method next 6-8
    11-14 function due | pub fn due(stamp: Stamp) u16
    16-18 function late | pub fn late(stamp: Stamp, today: u16) bool
    20-22 function late | test "late"
    "#);
}

#[test]
fn bash() {
    assert_snapshot!(show_broken_fixture("shellscript.sh"), @"
    1-2 module
    4-6 function open_desk | open_desk()
    8-12 block
    14-16 function close_desk | close_desk()
    18-20 function report | report()
    ");
}
