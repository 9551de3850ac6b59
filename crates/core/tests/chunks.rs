//! Chunks of one typical file per language.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

mod fixture;

use fixture::show_fixture;
use insta::assert_snapshot;

#[test]
fn rust() {
    assert_snapshot!(show_fixture("rust.rs"), @"
    1-10 module
    12-12 type Minute | pub type Minute = u16;
    14-19 function span | macro_rules! span { ($from:expr, $to:expr) => { Span { from:… // Defines a constant span.
    21-26 type Span | pub struct Span // A stretch of one day.
    28-32 type HoursError | pub enum HoursError
    34-41 class HoursError | impl Display for HoursError + method fmt 35-40
    43-51 interface Openable | pub trait Openable + method is_open 45-45 + method is_closed 47-50 // Whatever can say whether it is open.
    53-55 type Week | pub struct Week<K: Ord>
    57-57 class Week | impl<K: Ord + Clone> Week<K> (header)
    58-60 method Week.new | pub fn new() -> Self
    62-66 method Week.add | pub fn add(&mut self, day: K, span: Span) -> Result<(), Hour… + function check 64-66 // Adds a span, keeping the day's spans sorted and apart.
    68-78 function Week.add.clash | fn clash(spans: &[Span], new: Span) -> Option<Span>
    80-90 method Week.add (2)
    93-96 function fetch_holidays | pub async fn fetch_holidays(year: u16) -> Vec<String>
    98-100 module tests | mod tests (header)
    102-106 function tests.refuses_backwards_spans | fn refuses_backwards_spans()
    109-109 block
    ");
}

#[test]
fn typescript() {
    assert_snapshot!(show_fixture("typescript.ts"), @r#"
    1-9 module
    11-11 type Isbn | type Isbn = `978-${string}`;
    13-19 interface Reservation | interface Reservation + method cancel 18-18 // A place in a queue.
    21-25 type Outcome | enum Outcome
    27-27 module ./members | module "./members" (header)
    28-30 interface ./members.Member | interface Member
    33-34 module Rules | namespace Rules
    36-38 function Rules.allows | function allows(member: Member): boolean
    41-43 function logged | function logged(target: unknown, context: ClassMethodDecorat…
    45-48 class Desk | abstract class Desk + method constructor 47-47
    50-53 class ReservationDesk | class ReservationDesk<T extends Reservation> extends Desk // Hands out copies as they come back.
    55-57 method ReservationDesk.constructor | constructor(branch: string, private readonly days = HOLD_DAY…
    59-61 method ReservationDesk.served | get served(): number
    63-65 method ReservationDesk.onReady | onReady = (listener: (r: T) => void): void =>
    67-69 method ReservationDesk.open | async open(): Promise<void>
    71-72 block ReservationDesk
    73-79 method ReservationDesk.reserve | reserve(isbn: Isbn, item: T, front = false): Outcome + function position 77-79
    81-92 function ReservationDesk.reserve.expiry | expiry = (from: Date): Date =>
    94-98 method ReservationDesk.reserve (2)
    101-101 block
    103-105 function isExpired | function isExpired(r: Reservation, now = new Date()): boolea…
    107-109 function drain | async function* drain<T>(items: T[]): AsyncGenerator<T>
    "#);
}

#[test]
fn tsx() {
    assert_snapshot!(show_fixture("tsx.tsx"), @"
    1-6 module
    8-12 type Spine | type Spine = { id: number; title: string; colour?: string; }…
    14-18 interface ShelfProps | interface ShelfProps<T extends Spine> + method onPick 17-17
    20-23 type Order | enum Order
    25-32 function SpineButton | SpineButton = memo(function SpineButton({ spine, pick }: { s… // One spine; a click picks it.
    34-34 function Empty | Empty = () =>
    36-36 function compare | compare = <T extends Spine,>(a: T, b: T): number =>
    38-43 function usePicks | function usePicks(limit = 12) + function add 41-41 // Keeps the newest list of picks, at most twelve.
    45-58 function Shelf | function Shelf<T extends Spine>({ spines, heading, onPick }:… + function handlePick 55-58
    60-72 function Shelf.rows | function rows(): T[][]
    74-90 function Shelf (2)
    92-102 class ShelfBoundary | class ShelfBoundary extends React.Component<{ children: Reac… + method getDerivedStateFromError 95-97 + method render 99-101
    104-106 block
    ");
}

#[test]
fn javascript() {
    assert_snapshot!(show_fixture("javascript.js"), @"
    1-11 module
    13-19 function fit | function fit(text, width = WIDTH) // Pads or cuts a text to the width of a label. @param {string}…
    21-21 function initials | initials = (name) =>
    23-25 function shorten | shorten = function (title)
    27-27 class LabelError | class LabelError extends Error
    29-32 class Sheet | class Sheet // A sheet that fills up label by label.
    34-37 method Sheet.constructor | constructor(printer)
    39-41 method Sheet.full | get full()
    43-45 method Sheet.title | set title(text)
    47-51 method Sheet.from | static from(books, printer)
    53-54 method Sheet.add | add(book) + function code 54-54
    56-69 function Sheet.add.lines | function lines()
    71-73 method Sheet.add (2)
    75-77 method Sheet.[Symbol.iterator] | *[Symbol.iterator]()
    79-84 method Sheet.print | async print()
    87-87 block
    88-90 function plain | plain(label)
    91-91 function html | html: (label) =>
    94-96 function Sheet.prototype.format | Sheet.prototype.format = function (name)
    98-104 function booksIn | async function* booksIn(file)
    106-106 block
    ");
}

#[test]
fn jsx() {
    assert_snapshot!(show_fixture("jsx.jsx"), @"
    1-6 module
    8-20 function reducer | function reducer(state, action) // Moves the form from one state to the next.
    22-26 function Field | Field = ({ label, ...rest }) =>
    28-38 function Progress | function Progress({ step })
    40-48 function withTimeout | withTimeout = (Inner, seconds) => + function Timed 41-48
    50-52 function SignUp | function SignUp({ onDone }) + function set 52-52
    54-66 function SignUp.submit | async function submit(event)
    68-77 function SignUp (2)
    79-94 class Kiosk | class Kiosk extends React.Component + method handleDone 82-84 + method componentDidMount 86-88 + method render 90-93
    96-98 block
    ");
}

#[test]
fn python() {
    assert_snapshot!(show_fixture("python.py"), @r#"
    1-13 module
    15-15 function polite | polite = lambda name:
    18-21 class Channel | class Channel(Protocol): + method send 21-21 // Anything a letter can be sent through.
    24-33 class Overdue | class Overdue: + method urgent 31-33
    36-42 class Outbox | class Outbox(Generic[T]): // Letters waiting to go out. Letters are sent in batches, olde…
    44-45 class Outbox.Full | class Full(Exception): // Raised when the outbox takes no more.
    47-49 method Outbox.__init__ | def __init__(self, channel: Channel) -> None:
    51-52 method Outbox.__len__ | def __len__(self) -> int:
    54-56 method Outbox.for_printer | def for_printer(cls, name: str = "lp0") -> "Outbox":
    58-63 method Outbox.put | def put(self, item: Overdue, template: str) -> None: + function fill 62-63 // Fill in the template and queue the letter.
    65-75 function Outbox.put.wrap | def wrap(text: str, width: int = 72) -> str:
    77-79 method Outbox.put (2)
    81-86 method Outbox.flush | async def flush(self) -> int:
    89-94 class Printer | class Printer: + method __init__ 90-90 + method send 92-94
    97-98 block
    101-103 function due_for_letter | def due_for_letter(items: list[Overdue]) -> list[Overdue]:
    106-107 block
    "#);
}

#[test]
fn go() {
    assert_snapshot!(show_fixture("go.go"), @"
    1-19 module
    20-20 type CopyID | CopyID string
    21-23 block
    25-29 interface Reminder | type Reminder + method Remind 27-27 + method Close 28-28 // Reminder sends a notice to one member.
    31-36 type Loan | type Loan // Loan is one copy in the hands of one member.
    38-42 type Index | type Index[K comparable, V any] // Index maps a key to the values seen under it.
    44-45 type Set | type Set = map[CopyID]struct{} // Set is an alias kept for old callers.
    47-55 method Index.Add | func (ix *Index[K, V]) Add(key K, value V) // Add appends one value.
    57-59 function now | now Clock = func() time.Time
    61-62 method Loan.Overdue | func (l Loan) Overdue(t time.Time) bool // Overdue tells whether the loan is late at t.
    64-68 type Desk | type Desk // Desk hands copies out and takes them back.
    70-73 function NewDesk | func NewDesk(r Reminder) *Desk // NewDesk returns a desk with nothing on loan.
    75-83 method Desk.Lend | func (d *Desk) Lend(id CopyID, member int) (*Loan, error) // Lend hands out one copy.
    85-87 method Desk.RemindAll | func (d *Desk) RemindAll(ctx context.Context) (failed int) + function late 87-87 // RemindAll writes to every member with a late loan.
    88-99 function Desk.RemindAll.send | send := func(l *Loan)
    100-106 method Desk.RemindAll (2)
    108-108 function init | func init()
    110-110 block
    ");
}

#[test]
fn java() {
    assert_snapshot!(show_fixture("java.java"), @r#"
    1-12 module
    14-17 interface DeskCall | @interface DeskCall // Marks methods that the desk terminal calls.
    19-26 interface Item | sealed interface Item permits Book, Recording + method title 21-21 + method isRare 23-25 // Something that can be lent.
    28-34 class Book | record Book(String title, int pages) implements Item + method Book 29-33
    36-36 class Recording | record Recording(String title, int minutes) implements Item
    38-57 type Tier | enum Tier + method limit 42-45 + method Tier 50-52 + method limit 54-56
    59-65 class Member | public class Member<T extends Item> // A member with a card. @param <T> what this member borrows
    66-66 method Member.LENDABLE | private static final Predicate<Item> LENDABLE = item ->
    68-70 block Member
    72-85 class Member.Loan | static final class Loan<I extends Item> + method Loan 77-80 + method isLate 82-84 // One loan of one item.
    87-90 method Member.Member | public Member(String name, Tier tier)
    92-98 method Member.borrow | @DeskCall("borrow") public synchronized boolean borrow(T ite…
    100-102 method Member.countLate | public CompletableFuture<Integer> countLate(LocalDate today)
    104-107 method Member.toString | @Override public String toString()
    109-109 block
    "#);
}

#[test]
fn kotlin() {
    assert_snapshot!(show_fixture("kotlin.kt"), @"
    1-12 module
    14-15 type GuestListener | typealias GuestListener = (String) -> Unit // Called when a guest joins or leaves.
    17-22 class Mood | enum class Mood(val stars: Int) + method label 21-21
    24-28 interface Venue | sealed interface Venue + method describe 27-27
    30-32 class ReadingRoom | data class ReadingRoom(override val city: String, val floor:… + method describe 31-31
    34-38 class Online | data object Online : Venue + method city 35-35 + method describe 37-37
    40-41 class Isbn | @JvmInline value class Isbn(val digits: String)
    43-50 class Meeting | class Meeting<B : Any>(val book: B, private val date: LocalD… // One evening of the club. @property book what everybody shoul…
    52-54 method Meeting.constructor | constructor(book: B) : this(book, LocalDate.now())
    56-59 method Meeting.free | val free: Int
    61-63 method Meeting.onChange | fun onChange(listener: GuestListener)
    65-66 method Meeting.join | suspend fun join(name: String): Boolean + function known 66-66
    68-79 function Meeting.join.announce | fun announce()
    81-86 method Meeting.join (2)
    88-90 class Meeting.Minutes | inner class Minutes(private val lines: List<String>) + method print 89-89
    92-94 class Meeting.companion | companion object + method about 93-93
    97-97 function shorten | val shorten =
    99-101 function byLength | val byLength =
    103-103 method String.toIsbn | fun String.toIsbn(): Isbn
    105-107 method List.secondOrNull | fun <T> List<T>.secondOrNull(): T?
    109-109 block
    ");
}

#[test]
fn scala() {
    assert_snapshot!(show_fixture("scala.scala"), @"
    1-7 module
    9-10 type Cents | opaque type Cents = Long // A price in cents.
    12-12 type Ranking | type Ranking[A] = Map[A, Int]
    14-20 type Format | enum Format(val weight: Int) + method isHeavy 18-18
    21-23 interface Supplier | trait Supplier[F[_]] + method name 22-22 + method quote 23-23
    25-25 class Title | final case class Title(name: String, format: Format)
    27-35 class Title | object Title + method parse 30-34
    37-38 class byName | given byName: Ordering[Title] with + method compare 38-38
    40-40 block
    41-41 function slug | def slug: String =
    43-47 block
    48-49 class WishList | class WishList(budget: Long)(implicit ec: ExecutionContext)
    51-51 method WishList.popular | private val popular =
    53-53 method WishList.this | def this() =
    55-59 method WishList.wish | @throws[IllegalArgumentException] def wish(title: Title): Un…
    61-61 method WishList.+= | def +=(title: Title): Unit =
    63-64 method WishList.order | def order(supplier: Supplier[Future]): Future[List[Title]] = + function affordable 64-64
    66-77 function WishList.order.pick | def pick(candidates: List[(Title, Long)]): List[Title] =
    79-83 method WishList.order (2)
    85-88 class WishList.Stats | object Stats + method total 87-87 // Counts wishes by format.
    91-96 function report | @main def report(): Unit =
    ");
}

#[test]
fn c() {
    assert_snapshot!(show_fixture("c.c"), @r"
    1-11 module
    12-12 function DAYS_LATE | #define DAYS_LATE(due, today)
    13-18 function SWAP | #define SWAP(type, a, b) \
    20-21 type loan_state | enum loan_state // How a copy left the shelf.
    23-30 type loan | struct loan // One copy in the hands of one member.
    32-35 type shelf_t | typedef struct { struct loan *head; size_t count; } shelf_t;
    37-40 type money | union money
    42-43 type loan_visitor | typedef int (*loan_visitor)(struct loan *loan, void *ctx); // Returns non-zero to stop the walk.
    45-49 block
    51-72 function shelf_lend | struct loan *shelf_lend(shelf_t *shelf, int member_id, const… // Lends one copy. The new loan goes to the front of the list, …
    74-77 function shelf_is_full | static int shelf_is_full(const shelf_t *shelf)
    79-85 function shelf_find | struct loan *shelf_find(shelf_t *shelf, const char *isbn)
    87-95 function shelf_each | int shelf_each(shelf_t *shelf, loan_visitor visit, void *ctx… // Walks all loans; stops when the visitor says so.
    97-97 block
    98-101 function shelf_dump | static void shelf_dump(const shelf_t *shelf)
    104-108 function shelf_fine | long shelf_fine(const struct loan *loan, long today)
    110-110 block (header)
    ");
}

#[test]
fn cpp() {
    assert_snapshot!(show_fixture("cpp.cpp"), @r"
    1-8 module
    10-11 function REQUIRE_OPEN | #define REQUIRE_OPEN(branch) \
    13-15 module lending.catalogue | namespace lending::catalogue
    17-17 type lending.catalogue.Shelfmark | using Shelfmark = std::string;
    18-18 type lending.catalogue.Ref | using Ref = std::shared_ptr<T>;
    19-19 type lending.catalogue.ChangeHook | typedef void (*ChangeHook)(const Shelfmark &mark);
    21-21 type lending.catalogue.Medium | enum class Medium : unsigned char
    23-24 block lending.catalogue
    25-25 interface lending.catalogue.Shelved | concept Shelved = requires(const T &t) { t.shelfmark(); };
    27-34 class lending.catalogue.Title | struct Title + method operator< 32-32 + method shelfmark 33-33
    36-40 class lending.catalogue.Catalogue | class Catalogue // Keeps the titles of one branch and who waits for them.
    41-41 method lending.catalogue.Catalogue.Catalogue | explicit Catalogue(std::string branch) : branch_(std::move(b…
    42-49 block lending.catalogue.Catalogue
    50-54 method lending.catalogue.Catalogue.select | std::vector<Title> select(Pred pred) const
    56-56 block lending.catalogue.Catalogue
    57-64 class lending.catalogue.Catalogue.Queue | class Queue + method push 59-59 + method full 60-60
    66-69 method lending.catalogue.Catalogue.add | void add(Title title)
    71-71 method lending.catalogue.Catalogue.operator bool | operator bool() const
    73-77 block lending.catalogue.Catalogue
    79-83 method lending.catalogue.Catalogue.find | const Title *Catalogue::find(const Shelfmark &mark) const
    85-86 method lending.catalogue.Catalogue.reserve | bool Catalogue::reserve(const Shelfmark &mark, int member) + function isKnown 86-86
    87-98 function lending.catalogue.Catalogue.reserve.enqueue | auto enqueue = [this, member](const Shelfmark &m)
    99-100 method lending.catalogue.Catalogue.reserve (2)
    102-104 function lending.catalogue.print | void print(std::ostream &out, const T &item)
    106-106 function lending.catalogue.byName | static const auto byName = [](const Title &a, const Title &b…
    108-108 block lending.catalogue
    110-110 function catalogue_version | int catalogue_version(void)
    ");
}

#[test]
fn csharp() {
    assert_snapshot!(show_fixture("csharp.cs"), @r#"
    1-5 module
    7-8 module Lending.Fines | namespace Lending.Fines (header)
    9-10 type Lending.Fines.PaymentHandler | public delegate void PaymentHandler(object sender, decimal a… // <summary>Called after each payment.</summary>
    12-12 type Lending.Fines.FineReason | public enum FineReason
    14-18 class Lending.Fines.Money | public readonly record struct Money(decimal Amount) + method + 16-16 + method decimal 17-17
    20-24 interface Lending.Fines.IFinePolicy | public interface IFinePolicy + method DailyRate 23-23
    26-28 class Lending.Fines.Fine | [Serializable] public sealed record Fine(int Member, FineRea… // <summary>One fine of one member.</summary>
    30-37 class Lending.Fines.FineLedger | public class FineLedger<TPolicy> : IDisposable where TPolicy… // <summary> Keeps all open fines and works out what each membe…
    38-38 method Lending.Fines.FineLedger._round | private readonly Func<decimal, decimal> _round = amount =>
    40-43 method Lending.Fines.FineLedger.FineLedger | public FineLedger(TPolicy policy)
    45-45 block Lending.Fines.FineLedger
    47-47 method Lending.Fines.FineLedger.Count | public int Count
    49-52 method Lending.Fines.FineLedger.this | public IReadOnlyList<Fine> this[int member]
    54-57 method Lending.Fines.FineLedger.Cap | public decimal Cap
    59-66 method Lending.Fines.FineLedger.Add | public void Add(Fine fine)
    68-69 method Lending.Fines.FineLedger.Pay | [Obsolete("use PayAsync")] public bool Pay(int member)
    71-73 method Lending.Fines.FineLedger.PayAsync | public async Task<decimal> PayAsync(int member, DateOnly tod… + function Days 73-73
    75-87 function Lending.Fines.FineLedger.PayAsync.Due | decimal Due(Fine fine)
    89-94 method Lending.Fines.FineLedger.PayAsync (2)
    96-96 method Lending.Fines.FineLedger.Dispose | public void Dispose()
    98-102 class Lending.Fines.FineLedger.Row | private struct Row + method ToString 101-101
    105-105 block (header)
    "#);
}

#[test]
fn swift() {
    assert_snapshot!(show_fixture("swift.swift"), @"
    1-8 module
    10-10 type Barcode | typealias Barcode = String
    12-18 interface Shelvable | protocol Shelvable: AnyObject + method isMisplaced 16-16 + method init 17-17 // Something that can stand on a shelf.
    20-35 type ScanFailure | enum ScanFailure: Error + method isRetryable 25-30 + method explain 32-34 // Why a scan was refused.
    37-44 class SpineLabel | struct SpineLabel: Comparable, Hashable + method < 41-43
    46-47 class ShelfScanner | @MainActor final class ShelfScanner<Source: Sequence> where …
    48-52 class ShelfScanner.Gap | struct Gap + method width 51-51
    54-55 block ShelfScanner
    56-56 method ShelfScanner.count | var count: Int
    57-57 block ShelfScanner
    59-61 method ShelfScanner.init | init(source: Source)
    63-66 method ShelfScanner.init | convenience init?(path: String) where Source == [Barcode]
    68-70 method ShelfScanner.deinit | deinit
    72-74 method ShelfScanner.scan | @discardableResult func scan() async throws -> [Gap] // Reads every label and reports the gaps between neighbours.
    75-85 function ShelfScanner.scan.parse | func parse(_ code: Barcode) throws -> SpineLabel
    86-91 method ShelfScanner.scan (2) + function tooWide 86-86
    93-96 block ShelfScanner
    98-100 class Array | extension Array where Element == SpineLabel + method sections 99-99
    102-104 function normalise | let normalise =
    106-108 function merge | func merge<T: Comparable>(_ left: [T], _ right: [T]) -> [T]
    110-110 block
    ");
}

#[test]
fn ruby() {
    assert_snapshot!(show_fixture("ruby.rb"), @"
    1-9 module
    11-12 module Lending | module Lending
    13-13 module Lending.Overdue | module Overdue (header)
    14-16 function Lending.Overdue.overdue? | def overdue?(today = Date.today)
    18-18 function Lending.Overdue.days_late | def days_late(today = Date.today) =
    21-21 class Lending.FineError | class FineError < StandardError; end
    23-27 class Lending.Receipt | Receipt = Struct.new(:member, :cents) + method to_s 24-26
    29-37 class Lending.Loan | class Loan // One copy in one member's hands.
    39-44 method Lending.Loan.parse | def self.parse(line)
    46-46 block Lending.Loan
    47-49 method Lending.Loan.blank | def blank
    52-57 method Lending.Loan.initialize | def initialize(member, title, due_on)
    59-61 method Lending.Loan.<=> | def <=>(other)
    63-69 method Lending.Loan.fine | def fine(today = Date.today) // The fine so far, after the days of grace.
    71-75 method Lending.Loan.renewals= | def renewals=(count)
    77-79 method Lending.Loan.receipt | define_method(:receipt)
    81-81 block Lending.Loan
    83-85 method Lending.Loan.ledger_key | def ledger_key
    87-91 class Lending.Loan.Note | class Note + method initialize 88-90
    95-95 block
    97-100 function print_total | def print_total(loans)
    102-102 function shout | shout = ->(text)
    104-105 block
    ");
}

#[test]
fn php() {
    assert_snapshot!(show_fixture("php.php"), @"
    1-16 module
    18-24 interface Blockable | interface Blockable + method block 21-21 + method isBlocked 23-23 // Anything that can be blocked at the desk.
    26-34 class KeepsHistory | trait KeepsHistory + method remember 30-33
    36-48 type Tier | enum Tier: string + method limit 41-47
    50-53 class Document | abstract class Document
    55-60 class Card | #[Entity(table: 'cards')] final class Card extends Document …
    62-68 method Card.__construct | public function __construct( private readonly string $holder…
    70-75 method Card.block | public function block(string $reason): void // Blocks the card; the reason shows at the counter.
    77-80 method Card.isBlocked | public function isBlocked(): bool
    82-85 method Card.number | protected function number(): string
    88-92 function usable_cards | function usable_cards(array $cards): array // @param Card[] $cards
    94-97 function $greet | $greet = function (string $holder) use (&$seen): string
    99-99 function $initials | $initials = fn (string $name) =>
    101-106 class $guest | $guest = new class + method name 102-105
    108-108 block
    ");
}

#[test]
fn lua() {
    assert_snapshot!(show_fixture("lua.lua"), @"
    1-16 module
    18-24 method Seat.new | function Seat.new(number, window)
    26-34 method Seat.take | function Seat:take(member, hours) // Take the seat for a number of hours.
    36-38 method Seat.is_free | function Seat:is_free()
    40-42 method Seat.__tostring | Seat.__tostring = function(self)
    44-44 block
    46-48 function by_number | local function by_number(a, b)
    50-52 block
    54-58 method M.assign | function M.assign(member, wish) + function suits 56-58 // Picks a free seat, a window seat if the member asks for one.
    60-72 function M.assign.rank | local function rank(seat)
    74-81 method M.assign (2)
    83-87 function empty_all | empty_all = function()
    89-89 block
    90-92 function on_close | on_close = function()
    93-96 function on_report | on_report = function(out)
    99-101 method M.util.round | function M.util.round(hours)
    103-103 function reset | function reset()
    105-105 block
    ");
}

#[test]
fn elixir() {
    assert_snapshot!(show_fixture("elixir.ex"), @r#"
    1-3 module
    5-8 interface Branches.Routable | defprotocol Branches.Routable + method destination 6-7
    10-18 module Branches.Transfer | defmodule Branches.Transfer
    20-21 type Branches.Transfer.status | @type status :: :packed | :moving | :arrived
    22-22 type Branches.Transfer.key | @typep key :: {String.t(), integer()}
    24-24 block Branches.Transfer
    26-31 module Branches.Transfer.Label | defmodule Label
    33-39 function Branches.Transfer.start | def start(isbn, opts \\ []) // Starts a transfer. The van picks it up within a day.
    41-45 function Branches.Transfer.init | def init({isbn, opts})
    47-48 block Branches.Transfer
    50-57 function Branches.Transfer.handle_call | def handle_call({:move, van}, _from, %{status: :packed} = st…
    59-63 block Branches.Transfer
    65-70 function Branches.Transfer.with_van | defmacro with_van(van, do: block)
    72-74 block Branches.Transfer
    76-78 function Branches.Transfer.via | defp via(isbn)
    81-83 module Branches.Routable | defimpl Branches.Routable, for: Branches.Transfer
    85-92 module Branches.TransferTest | defmodule Branches.TransferTest
    93-95 function Branches.TransferTest.two weeks are fine | test "two weeks are fine"
    97-100 function Branches.TransferTest.more is late | test "more is late", %{isbn: isbn}
    104-104 block
    "#);
}

#[test]
fn haskell() {
    assert_snapshot!(show_fixture("haskell.hs"), @"
    1-13 module
    14-14 function pageSize | pageSize = 20
    16-16 type Isbn | type Isbn = String
    18-19 type Shelf | newtype Shelf = Shelf { shelfName :: String } deriving (Eq, …
    21-27 type Query | data Query = Title String | Author String | And Query Query … // What a reader may ask for.
    29-34 type Card | data Card = Card { isbn :: Isbn , title :: String , author :…
    36-41 interface Ranked | class Ranked a where + method rank 38-38 + method rank 39-39 + method describe 41-41 // Things that can be ranked against a query.
    43-50 class Card | instance Ranked Card where + method rank 44-46 + method rank 47-47 + method rank 48-48 + method describe 50-50
    52-53 class Card | instance Show Card where + method show 53-53
    55-56 type Key | type family Key a where Key Card = Isbn
    58-63 function matches | matches :: Query -> Card -> Bool // Does the card answer the query?
    65-66 block
    68-85 function search | search :: Map.Map Isbn Card -> Query -> [Card] + function score 74-84 // All matching cards, best first.
    87-87 block
    89-90 function <+> | (<+>) :: Query -> Query -> Query
    92-103 block
    ");
}

#[test]
fn zig() {
    assert_snapshot!(show_fixture("zig.zig"), @r#"
    1-10 module
    11-14 type LedgerError | pub const LedgerError =
    16-27 type Kind | pub const Kind = + method sign 21-26
    29-32 type Amount | const Amount =
    34-37 class Header | const Header =
    39-39 block
    40-45 class Ledger | pub const Ledger =
    47-55 class Ledger.Entry | pub const Entry = + method weight 52-54
    57-62 method Ledger.init | pub fn init(allocator: Allocator) Self
    64-66 method Ledger.deinit | pub fn deinit(self: *Self) void
    68-76 method Ledger.add | pub fn add(self: *Self, member: u32, kind: Kind, amount: Amo… // Adds an entry, or refuses it when the book is full.
    78-89 method Ledger.balance | pub fn balance(self: *const Self, member: u32) i64 + class Sum 79-87 + method over 80-86
    92-94 function Ring | fn Ring(comptime T: type) type
    96-100 block
    102-107 function payments lower the balance | test "payments lower the balance"
    108-108 block (header)
    "#);
}

#[test]
fn bash() {
    assert_snapshot!(show_fixture("shellscript.sh"), @"
    1-12 module
    14-18 function die | die() // Print a message and leave.
    20-25 function usage | function usage
    27-27 function run | run()
    29-38 function dump_branch | dump_branch() + function checksum 36-38 // Dump one branch's database into the target directory. Argume…
    40-52 function dump_branch.verify | verify()
    54-56 function dump_branch (2)
    58-64 block
    66-75 function overdue_digest | function overdue_digest()
    77-80 function prune | prune()
    82-87 block
    ");
}
