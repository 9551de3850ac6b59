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
    1-11 module
    12-13 type Minute | pub type Minute = u16;
    14-20 function span | macro_rules! span { ($from:expr, $to:expr) => { Span { from:… // Defines a constant span.
    21-27 type Span | pub struct Span // A stretch of one day.
    28-33 type HoursError | pub enum HoursError
    34-42 class HoursError | impl Display for HoursError
    43-52 interface Openable | pub trait Openable // Whatever can say whether it is open.
    53-56 type Week | pub struct Week<K: Ord>
    57-57 class Week | impl<K: Ord + Clone> Week<K>
    58-61 method Week.new | pub fn new() -> Self
    62-67 method Week.add | pub fn add(&mut self, day: K, span: Span) -> Result<(), Hour… // Adds a span, keeping the day's spans sorted and apart.
    68-78 function Week.add.clash | fn clash(spans: &[Span], new: Span) -> Option<Span>
    79-92 method Week.add (2)
    93-97 function fetch_holidays | pub async fn fetch_holidays(year: u16) -> Vec<String>
    98-101 module tests | mod tests
    102-107 function tests.refuses_backwards_spans | fn refuses_backwards_spans()
    108-109 block
    ");
}

#[test]
fn typescript() {
    assert_snapshot!(show_fixture("typescript.ts"), @r#"
    1-10 module
    11-12 type Isbn | type Isbn = `978-${string}`;
    13-20 interface Reservation | interface Reservation // A place in a queue.
    21-26 type Outcome | enum Outcome
    27-27 module ./members | module "./members"
    28-32 interface ./members.Member | interface Member
    33-35 module Rules | namespace Rules
    36-40 function Rules.allows | function allows(member: Member): boolean
    41-44 function logged | function logged(target: unknown, context: ClassMethodDecorat…
    45-49 class Desk | abstract class Desk
    50-54 class ReservationDesk | class ReservationDesk<T extends Reservation> extends Desk // Hands out copies as they come back.
    55-58 method ReservationDesk.constructor | constructor(branch: string, private readonly days = HOLD_DAY…
    59-62 method ReservationDesk.served | get served(): number
    63-66 method ReservationDesk.onReady | onReady = (listener: (r: T) => void): void =>
    67-69 method ReservationDesk.open | async open(): Promise<void>
    70-72 block ReservationDesk
    73-80 method ReservationDesk.reserve | reserve(isbn: Isbn, item: T, front = false): Outcome
    81-92 function ReservationDesk.reserve.expiry | expiry = (from: Date): Date =>
    93-99 method ReservationDesk.reserve (2)
    100-102 block
    103-106 function isExpired | function isExpired(r: Reservation, now = new Date()): boolea…
    107-109 function drain | async function* drain<T>(items: T[]): AsyncGenerator<T>
    "#);
}

#[test]
fn tsx() {
    assert_snapshot!(show_fixture("tsx.tsx"), @"
    1-7 module
    8-13 type Spine | type Spine = { id: number; title: string; colour?: string; }…
    14-19 interface ShelfProps | interface ShelfProps<T extends Spine>
    20-24 type Order | enum Order
    25-33 function SpineButton | SpineButton = memo(function SpineButton({ spine, pick }: { s… // One spine; a click picks it.
    34-35 function Empty | Empty = () =>
    36-37 function compare | compare = <T extends Spine,>(a: T, b: T): number =>
    38-44 function usePicks | function usePicks(limit = 12) // Keeps the newest list of picks, at most twelve.
    45-59 function Shelf | function Shelf<T extends Spine>({ spines, heading, onPick }:…
    60-72 function Shelf.rows | function rows(): T[][]
    73-91 function Shelf (2)
    92-102 class ShelfBoundary | class ShelfBoundary extends React.Component<{ children: Reac…
    103-106 block
    ");
}

#[test]
fn javascript() {
    assert_snapshot!(show_fixture("javascript.js"), @"
    1-12 module
    13-20 function fit | function fit(text, width = WIDTH) // Pads or cuts a text to the width of a label. @param {string}…
    21-22 function initials | initials = (name) =>
    23-26 function shorten | shorten = function (title)
    27-28 class LabelError | class LabelError extends Error
    29-33 class Sheet | class Sheet // A sheet that fills up label by label.
    34-38 method Sheet.constructor | constructor(printer)
    39-42 method Sheet.full | get full()
    43-46 method Sheet.title | set title(text)
    47-52 method Sheet.from | static from(books, printer)
    53-55 method Sheet.add | add(book)
    56-69 function Sheet.add.lines | function lines()
    70-74 method Sheet.add (2)
    75-78 method Sheet.[Symbol.iterator] | *[Symbol.iterator]()
    79-85 method Sheet.print | async print()
    86-87 block
    88-90 function plain | plain(label)
    91-93 function html | html: (label) =>
    94-97 function Sheet.prototype.format | Sheet.prototype.format = function (name)
    98-104 function booksIn | async function* booksIn(file)
    105-106 block
    ");
}

#[test]
fn jsx() {
    assert_snapshot!(show_fixture("jsx.jsx"), @"
    1-7 module
    8-21 function reducer | function reducer(state, action) // Moves the form from one state to the next.
    22-27 function Field | Field = ({ label, ...rest }) =>
    28-39 function Progress | function Progress({ step })
    40-49 function withTimeout | withTimeout = (Inner, seconds) =>
    50-53 function SignUp | function SignUp({ onDone })
    54-66 function SignUp.submit | async function submit(event)
    67-78 function SignUp (2)
    79-94 class Kiosk | class Kiosk extends React.Component
    95-98 block
    ");
}

#[test]
fn python() {
    assert_snapshot!(show_fixture("python.py"), @r#"
    1-14 module
    15-17 function polite | polite = lambda name:
    18-23 class Channel | class Channel(Protocol): // Anything a letter can be sent through.
    24-35 class Overdue | class Overdue:
    36-43 class Outbox | class Outbox(Generic[T]): // Letters waiting to go out. Letters are sent in batches, olde…
    44-46 class Outbox.Full | class Full(Exception): // Raised when the outbox takes no more.
    47-50 method Outbox.__init__ | def __init__(self, channel: Channel) -> None:
    51-53 method Outbox.__len__ | def __len__(self) -> int:
    54-57 method Outbox.for_printer | def for_printer(cls, name: str = "lp0") -> "Outbox":
    58-64 method Outbox.put | def put(self, item: Overdue, template: str) -> None: // Fill in the template and queue the letter.
    65-75 function Outbox.put.wrap | def wrap(text: str, width: int = 72) -> str:
    76-80 method Outbox.put (2)
    81-88 method Outbox.flush | async def flush(self) -> int:
    89-94 class Printer | class Printer:
    95-100 block
    101-103 function due_for_letter | def due_for_letter(items: list[Overdue]) -> list[Overdue]:
    104-107 block
    "#);
}

#[test]
fn go() {
    assert_snapshot!(show_fixture("go.go"), @"
    1-19 module
    20-20 type CopyID | CopyID string
    21-24 block
    25-30 interface Reminder | type Reminder // Reminder sends a notice to one member.
    31-37 type Loan | type Loan // Loan is one copy in the hands of one member.
    38-43 type Index | type Index[K comparable, V any] // Index maps a key to the values seen under it.
    44-46 type Set | type Set = map[CopyID]struct{} // Set is an alias kept for old callers.
    47-56 method Index.Add | func (ix *Index[K, V]) Add(key K, value V) // Add appends one value.
    57-60 function now | now Clock = func() time.Time
    61-63 method Loan.Overdue | func (l Loan) Overdue(t time.Time) bool // Overdue tells whether the loan is late at t.
    64-69 type Desk | type Desk // Desk hands copies out and takes them back.
    70-74 function NewDesk | func NewDesk(r Reminder) *Desk // NewDesk returns a desk with nothing on loan.
    75-84 method Desk.Lend | func (d *Desk) Lend(id CopyID, member int) (*Loan, error) // Lend hands out one copy.
    85-87 method Desk.RemindAll | func (d *Desk) RemindAll(ctx context.Context) (failed int) // RemindAll writes to every member with a late loan.
    88-99 function Desk.RemindAll.send | send := func(l *Loan)
    100-107 method Desk.RemindAll (2)
    108-108 function init | func init()
    109-110 block
    ");
}

#[test]
fn java() {
    assert_snapshot!(show_fixture("java.java"), @r#"
    1-13 module
    14-18 interface DeskCall | @interface DeskCall // Marks methods that the desk terminal calls.
    19-27 interface Item | sealed interface Item permits Book, Recording // Something that can be lent.
    28-35 class Book | record Book(String title, int pages) implements Item
    36-37 class Recording | record Recording(String title, int minutes) implements Item
    38-58 type Tier | enum Tier
    59-65 class Member | public class Member<T extends Item> // A member with a card. @param <T> what this member borrows
    66-66 method Member.LENDABLE | private static final Predicate<Item> LENDABLE = item ->
    67-71 block Member
    72-86 class Member.Loan | static final class Loan<I extends Item> // One loan of one item.
    87-91 method Member.Member | public Member(String name, Tier tier)
    92-99 method Member.borrow | @DeskCall("borrow") public synchronized boolean borrow(T ite…
    100-103 method Member.countLate | public CompletableFuture<Integer> countLate(LocalDate today)
    104-108 method Member.toString | @Override public String toString()
    109-109 block
    "#);
}

#[test]
fn kotlin() {
    assert_snapshot!(show_fixture("kotlin.kt"), @"
    1-13 module
    14-16 type GuestListener | typealias GuestListener = (String) -> Unit // Called when a guest joins or leaves.
    17-23 class Mood | enum class Mood(val stars: Int)
    24-29 interface Venue | sealed interface Venue
    30-33 class ReadingRoom | data class ReadingRoom(override val city: String, val floor:…
    34-39 class Online | data object Online : Venue
    40-42 class Isbn | @JvmInline value class Isbn(val digits: String)
    43-51 class Meeting | class Meeting<B : Any>(val book: B, private val date: LocalD… // One evening of the club. @property book what everybody shoul…
    52-55 method Meeting.constructor | constructor(book: B) : this(book, LocalDate.now())
    56-60 method Meeting.free | val free: Int
    61-64 method Meeting.onChange | fun onChange(listener: GuestListener)
    65-67 method Meeting.join | suspend fun join(name: String): Boolean
    68-79 function Meeting.join.announce | fun announce()
    80-87 method Meeting.join (2)
    88-91 class Meeting.Minutes | inner class Minutes(private val lines: List<String>)
    92-96 class Meeting.companion | companion object
    97-98 function shorten | val shorten =
    99-102 function byLength | val byLength =
    103-104 method String.toIsbn | fun String.toIsbn(): Isbn
    105-107 method List.secondOrNull | fun <T> List<T>.secondOrNull(): T?
    108-109 block
    ");
}

#[test]
fn scala() {
    assert_snapshot!(show_fixture("scala.scala"), @"
    1-8 module
    9-11 type Cents | opaque type Cents = Long // A price in cents.
    12-13 type Ranking | type Ranking[A] = Map[A, Int]
    14-20 type Format | enum Format(val weight: Int)
    21-24 interface Supplier | trait Supplier[F[_]]
    25-26 class Title | final case class Title(name: String, format: Format)
    27-36 class Title | object Title
    37-39 class byName | given byName: Ordering[Title] with
    40-40 block
    41-41 function slug | def slug: String =
    42-47 block
    48-50 class WishList | class WishList(budget: Long)(implicit ec: ExecutionContext)
    51-52 method WishList.popular | private val popular =
    53-54 method WishList.this | def this() =
    55-60 method WishList.wish | @throws[IllegalArgumentException] def wish(title: Title): Un…
    61-62 method WishList.+= | def +=(title: Title): Unit =
    63-65 method WishList.order | def order(supplier: Supplier[Future]): Future[List[Title]] =
    66-77 function WishList.order.pick | def pick(candidates: List[(Title, Long)]): List[Title] =
    78-84 method WishList.order (2)
    85-90 class WishList.Stats | object Stats // Counts wishes by format.
    91-96 function report | @main def report(): Unit =
    ");
}

#[test]
fn c() {
    assert_snapshot!(show_fixture("c.c"), @r"
    1-11 module
    12-12 function DAYS_LATE | #define DAYS_LATE(due, today)
    13-19 function SWAP | #define SWAP(type, a, b) \
    20-22 type loan_state | enum loan_state // How a copy left the shelf.
    23-31 type loan | struct loan // One copy in the hands of one member.
    32-36 type shelf_t | typedef struct { struct loan *head; size_t count; } shelf_t;
    37-41 type money | union money
    42-43 type loan_visitor | typedef int (*loan_visitor)(struct loan *loan, void *ctx); // Returns non-zero to stop the walk.
    44-50 block
    51-73 function shelf_lend | struct loan *shelf_lend(shelf_t *shelf, int member_id, const… // Lends one copy. The new loan goes to the front of the list, …
    74-78 function shelf_is_full | static int shelf_is_full(const shelf_t *shelf)
    79-86 function shelf_find | struct loan *shelf_find(shelf_t *shelf, const char *isbn)
    87-95 function shelf_each | int shelf_each(shelf_t *shelf, loan_visitor visit, void *ctx… // Walks all loans; stops when the visitor says so.
    96-97 block
    98-103 function shelf_dump | static void shelf_dump(const shelf_t *shelf)
    104-108 function shelf_fine | long shelf_fine(const struct loan *loan, long today)
    109-110 block
    ");
}

#[test]
fn cpp() {
    assert_snapshot!(show_fixture("cpp.cpp"), @r"
    1-9 module
    10-12 function REQUIRE_OPEN | #define REQUIRE_OPEN(branch) \
    13-16 module lending.catalogue | namespace lending::catalogue
    17-17 type lending.catalogue.Shelfmark | using Shelfmark = std::string;
    18-18 type lending.catalogue.Ref | using Ref = std::shared_ptr<T>;
    19-20 type lending.catalogue.ChangeHook | typedef void (*ChangeHook)(const Shelfmark &mark);
    21-21 type lending.catalogue.Medium | enum class Medium : unsigned char
    22-24 block lending.catalogue
    25-26 interface lending.catalogue.Shelved | concept Shelved = requires(const T &t) { t.shelfmark(); };
    27-35 class lending.catalogue.Title | struct Title
    36-40 class lending.catalogue.Catalogue | class Catalogue // Keeps the titles of one branch and who waits for them.
    41-41 method lending.catalogue.Catalogue.Catalogue | explicit Catalogue(std::string branch) : branch_(std::move(b…
    42-49 block lending.catalogue.Catalogue
    50-54 method lending.catalogue.Catalogue.select | std::vector<Title> select(Pred pred) const
    55-56 block lending.catalogue.Catalogue
    57-65 class lending.catalogue.Catalogue.Queue | class Queue
    66-70 method lending.catalogue.Catalogue.add | void add(Title title)
    71-71 method lending.catalogue.Catalogue.operator bool | operator bool() const
    72-78 block lending.catalogue.Catalogue
    79-84 method lending.catalogue.Catalogue.find | const Title *Catalogue::find(const Shelfmark &mark) const
    85-86 method lending.catalogue.Catalogue.reserve | bool Catalogue::reserve(const Shelfmark &mark, int member)
    87-98 function lending.catalogue.Catalogue.reserve.enqueue | auto enqueue = [this, member](const Shelfmark &m)
    99-101 method lending.catalogue.Catalogue.reserve (2)
    102-105 function lending.catalogue.print | void print(std::ostream &out, const T &item)
    106-106 function lending.catalogue.byName | static const auto byName = [](const Title &a, const Title &b…
    107-109 block lending.catalogue
    110-110 function catalogue_version | int catalogue_version(void)
    ");
}

#[test]
fn csharp() {
    assert_snapshot!(show_fixture("csharp.cs"), @r#"
    1-6 module
    7-8 module Lending.Fines | namespace Lending.Fines
    9-11 type Lending.Fines.PaymentHandler | public delegate void PaymentHandler(object sender, decimal a… // <summary>Called after each payment.</summary>
    12-13 type Lending.Fines.FineReason | public enum FineReason
    14-19 class Lending.Fines.Money | public readonly record struct Money(decimal Amount)
    20-25 interface Lending.Fines.IFinePolicy | public interface IFinePolicy
    26-29 class Lending.Fines.Fine | [Serializable] public sealed record Fine(int Member, FineRea… // <summary>One fine of one member.</summary>
    30-37 class Lending.Fines.FineLedger | public class FineLedger<TPolicy> : IDisposable where TPolicy… // <summary> Keeps all open fines and works out what each membe…
    38-39 method Lending.Fines.FineLedger._round | private readonly Func<decimal, decimal> _round = amount =>
    40-43 method Lending.Fines.FineLedger.FineLedger | public FineLedger(TPolicy policy)
    44-46 block Lending.Fines.FineLedger
    47-48 method Lending.Fines.FineLedger.Count | public int Count
    49-53 method Lending.Fines.FineLedger.this | public IReadOnlyList<Fine> this[int member]
    54-58 method Lending.Fines.FineLedger.Cap | public decimal Cap
    59-67 method Lending.Fines.FineLedger.Add | public void Add(Fine fine)
    68-70 method Lending.Fines.FineLedger.Pay | [Obsolete("use PayAsync")] public bool Pay(int member)
    71-74 method Lending.Fines.FineLedger.PayAsync | public async Task<decimal> PayAsync(int member, DateOnly tod…
    75-87 function Lending.Fines.FineLedger.PayAsync.Due | decimal Due(Fine fine)
    88-95 method Lending.Fines.FineLedger.PayAsync (2)
    96-97 method Lending.Fines.FineLedger.Dispose | public void Dispose()
    98-104 class Lending.Fines.FineLedger.Row | private struct Row
    105-105 block
    "#);
}

#[test]
fn swift() {
    assert_snapshot!(show_fixture("swift.swift"), @"
    1-9 module
    10-11 type Barcode | typealias Barcode = String
    12-19 interface Shelvable | protocol Shelvable: AnyObject // Something that can stand on a shelf.
    20-36 type ScanFailure | enum ScanFailure: Error // Why a scan was refused.
    37-45 class SpineLabel | struct SpineLabel: Comparable, Hashable
    46-47 class ShelfScanner | @MainActor final class ShelfScanner<Source: Sequence> where …
    48-52 class ShelfScanner.Gap | struct Gap
    53-55 block ShelfScanner
    56-56 method ShelfScanner.count | var count: Int
    57-58 block ShelfScanner
    59-62 method ShelfScanner.init | init(source: Source)
    63-67 method ShelfScanner.init | convenience init?(path: String) where Source == [Barcode]
    68-71 method ShelfScanner.deinit | deinit
    72-74 method ShelfScanner.scan | @discardableResult func scan() async throws -> [Gap] // Reads every label and reports the gaps between neighbours.
    75-85 function ShelfScanner.scan.parse | func parse(_ code: Barcode) throws -> SpineLabel
    86-91 method ShelfScanner.scan (2)
    92-97 block ShelfScanner
    98-101 class Array | extension Array where Element == SpineLabel
    102-105 function normalise | let normalise =
    106-108 function merge | func merge<T: Comparable>(_ left: [T], _ right: [T]) -> [T]
    109-110 block
    ");
}

#[test]
fn ruby() {
    assert_snapshot!(show_fixture("ruby.rb"), @"
    1-10 module
    11-12 module Lending | module Lending
    13-13 module Lending.Overdue | module Overdue
    14-17 function Lending.Overdue.overdue? | def overdue?(today = Date.today)
    18-20 function Lending.Overdue.days_late | def days_late(today = Date.today) =
    21-22 class Lending.FineError | class FineError < StandardError; end
    23-28 class Lending.Receipt | Receipt = Struct.new(:member, :cents)
    29-38 class Lending.Loan | class Loan // One copy in one member's hands.
    39-44 method Lending.Loan.parse | def self.parse(line)
    45-46 block Lending.Loan
    47-51 method Lending.Loan.blank | def blank
    52-58 method Lending.Loan.initialize | def initialize(member, title, due_on)
    59-62 method Lending.Loan.<=> | def <=>(other)
    63-70 method Lending.Loan.fine | def fine(today = Date.today) // The fine so far, after the days of grace.
    71-76 method Lending.Loan.renewals= | def renewals=(count)
    77-79 method Lending.Loan.receipt | define_method(:receipt)
    80-82 block Lending.Loan
    83-86 method Lending.Loan.ledger_key | def ledger_key
    87-93 class Lending.Loan.Note | class Note
    94-96 block
    97-101 function print_total | def print_total(loans)
    102-102 function shout | shout = ->(text)
    103-105 block
    ");
}

#[test]
fn php() {
    assert_snapshot!(show_fixture("php.php"), @"
    1-17 module
    18-25 interface Blockable | interface Blockable // Anything that can be blocked at the desk.
    26-35 class KeepsHistory | trait KeepsHistory
    36-49 type Tier | enum Tier: string
    50-54 class Document | abstract class Document
    55-61 class Card | #[Entity(table: 'cards')] final class Card extends Document …
    62-69 method Card.__construct | public function __construct( private readonly string $holder…
    70-76 method Card.block | public function block(string $reason): void // Blocks the card; the reason shows at the counter.
    77-81 method Card.isBlocked | public function isBlocked(): bool
    82-87 method Card.number | protected function number(): string
    88-93 function usable_cards | function usable_cards(array $cards): array // @param Card[] $cards
    94-98 function $greet | $greet = function (string $holder) use (&$seen): string
    99-100 function $initials | $initials = fn (string $name) =>
    101-106 class $guest | $guest = new class
    107-108 block
    ");
}

#[test]
fn lua() {
    assert_snapshot!(show_fixture("lua.lua"), @"
    1-17 module
    18-25 method Seat.new | function Seat.new(number, window)
    26-35 method Seat.take | function Seat:take(member, hours) // Take the seat for a number of hours.
    36-39 method Seat.is_free | function Seat:is_free()
    40-42 method Seat.__tostring | Seat.__tostring = function(self)
    43-45 block
    46-48 function by_number | local function by_number(a, b)
    49-53 block
    54-59 method M.assign | function M.assign(member, wish) // Picks a free seat, a window seat if the member asks for one.
    60-72 function M.assign.rank | local function rank(seat)
    73-82 method M.assign (2)
    83-87 function empty_all | empty_all = function()
    88-89 block
    90-92 function on_close | on_close = function()
    93-98 function on_report | on_report = function(out)
    99-102 method M.util.round | function M.util.round(hours)
    103-103 function reset | function reset()
    104-105 block
    ");
}

#[test]
fn elixir() {
    assert_snapshot!(show_fixture("elixir.ex"), @r#"
    1-4 module
    5-9 interface Branches.Routable | defprotocol Branches.Routable
    10-19 module Branches.Transfer | defmodule Branches.Transfer
    20-21 type Branches.Transfer.status | @type status :: :packed | :moving | :arrived
    22-22 type Branches.Transfer.key | @typep key :: {String.t(), integer()}
    23-25 block Branches.Transfer
    26-32 module Branches.Transfer.Label | defmodule Label
    33-40 function Branches.Transfer.start | def start(isbn, opts \\ []) // Starts a transfer. The van picks it up within a day.
    41-45 function Branches.Transfer.init | def init({isbn, opts})
    46-49 block Branches.Transfer
    50-57 function Branches.Transfer.handle_call | def handle_call({:move, van}, _from, %{status: :packed} = st…
    58-64 block Branches.Transfer
    65-70 function Branches.Transfer.with_van | defmacro with_van(van, do: block)
    71-75 block Branches.Transfer
    76-80 function Branches.Transfer.via | defp via(isbn)
    81-84 module Branches.Routable | defimpl Branches.Routable, for: Branches.Transfer
    85-92 module Branches.TransferTest | defmodule Branches.TransferTest
    93-96 function Branches.TransferTest.two weeks are fine | test "two weeks are fine"
    97-102 function Branches.TransferTest.more is late | test "more is late", %{isbn: isbn}
    103-104 block
    "#);
}

#[test]
fn haskell() {
    assert_snapshot!(show_fixture("haskell.hs"), @"
    1-13 module
    14-15 function pageSize | pageSize = 20
    16-17 type Isbn | type Isbn = String
    18-20 type Shelf | newtype Shelf = Shelf { shelfName :: String } deriving (Eq, …
    21-28 type Query | data Query = Title String | Author String | And Query Query … // What a reader may ask for.
    29-35 type Card | data Card = Card { isbn :: Isbn , title :: String , author :…
    36-42 interface Ranked | class Ranked a where // Things that can be ranked against a query.
    43-51 class Card | instance Ranked Card where
    52-54 class Card | instance Show Card where
    55-57 type Key | type family Key a where Key Card = Isbn
    58-63 function matches | matches :: Query -> Card -> Bool // Does the card answer the query?
    64-67 block
    68-85 function search | search :: Map.Map Isbn Card -> Query -> [Card] // All matching cards, best first.
    86-88 block
    89-90 function <+> | (<+>) :: Query -> Query -> Query
    91-103 block
    ");
}

#[test]
fn zig() {
    assert_snapshot!(show_fixture("zig.zig"), @r#"
    1-10 module
    11-15 type LedgerError | pub const LedgerError =
    16-28 type Kind | pub const Kind =
    29-33 type Amount | const Amount =
    34-37 class Header | const Header =
    38-39 block
    40-46 class Ledger | pub const Ledger =
    47-56 class Ledger.Entry | pub const Entry =
    57-63 method Ledger.init | pub fn init(allocator: Allocator) Self
    64-67 method Ledger.deinit | pub fn deinit(self: *Self) void
    68-77 method Ledger.add | pub fn add(self: *Self, member: u32, kind: Kind, amount: Amo… // Adds an entry, or refuses it when the book is full.
    78-91 method Ledger.balance | pub fn balance(self: *const Self, member: u32) i64
    92-94 function Ring | fn Ring(comptime T: type) type
    95-101 block
    102-107 function payments lower the balance | test "payments lower the balance"
    108-108 block
    "#);
}

#[test]
fn bash() {
    assert_snapshot!(show_fixture("shellscript.sh"), @"
    1-13 module
    14-19 function die | die() // Print a message and leave.
    20-26 function usage | function usage
    27-28 function run | run()
    29-39 function dump_branch | dump_branch() // Dump one branch's database into the target directory. Argume…
    40-52 function dump_branch.verify | verify()
    53-56 function dump_branch (2)
    57-65 block
    66-76 function overdue_digest | function overdue_digest()
    77-80 function prune | prune()
    81-87 block
    ");
}
