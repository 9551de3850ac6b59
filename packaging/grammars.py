"""Grammars with packed parse tables: 34 MB of the binary become 5 MB, and a grammar is unpacked when its language is first met.

A grammar crate is C code that `tree-sitter generate` wrote. Nearly all of it are tables of 16-bit words and of small
structs that consist of 16-bit words. `pack` copies such a crate and rewrites `parser.c`: the tables lie packed in the
read-only data, and `tree_sitter_LANGUAGE()` unpacks them into memory that takes no room in the file. The parser reads
the same words.

Left out: tables under 0.4 MB together, and the lexers, which are code.

Invariant: a table that would not unpack to its own words ends the build.
"""

import array
import re
import shutil
import sys

# Runs of equal words shorter than this are not worth two words of a reference.
MIN_RUN = 3
MAX_WORD = 0xFFFF
# Places with the same beginning that are compared for the longest run.
MAX_CANDIDATES = 8

# Tables with the declaration that begins each. The second form of a declaration is that of older grammars.
DECLARATIONS = {
    "ts_parse_table": ["uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT]"],
    "ts_small_parse_table": ["uint16_t ts_small_parse_table[]"],
    "ts_parse_actions": ["TSParseActionEntry ts_parse_actions[]"],
    "ts_lex_modes": ["TSLexerMode ts_lex_modes[STATE_COUNT]", "TSLexMode ts_lex_modes[STATE_COUNT]"],
    "ts_primary_state_ids": ["TSStateId ts_primary_state_ids[STATE_COUNT]"],
}
RETURN = "  return &language;\n"

UNPACKER = """
#include <stdlib.h>
#include <string.h>
#ifdef _MSC_VER
#include <intrin.h>
#define DOCENT_CLAIM(state) (_InterlockedCompareExchange(state, 1, 0) == 0)
#define DOCENT_IS_READY(state) (_InterlockedCompareExchange(state, 2, 2) == 2)
#define DOCENT_SET_READY(state) _InterlockedExchange(state, 2)
#else
#define DOCENT_CLAIM(state) __sync_bool_compare_and_swap(state, 0, 1)
#define DOCENT_IS_READY(state) (__atomic_load_n(state, __ATOMIC_ACQUIRE) == 2)
#define DOCENT_SET_READY(state) __atomic_store_n(state, 2, __ATOMIC_RELEASE)
#endif

/* The packed form is a list of steps: a count of words, these words, a length and a distance. The words are copied, then
 * as many words as the length says from that distance before. */
static void docent_unpack(const uint16_t *from, size_t packed, uint16_t *to, size_t words) {
  size_t read = 0, written = 0;
  while (read < packed) {
    size_t count = from[read++];
    if (packed - read < count + 2 || words - written < count) abort();
    memcpy(to + written, from + read, count * sizeof *to);
    read += count;
    written += count;
    size_t length = from[read++], distance = from[read++];
    if (words - written < length || distance > written || (length > 0 && distance == 0)) abort();
    /* Word by word, because the copied words may be among those to copy. */
    for (size_t end = written + length; written < end; written++) to[written] = to[written - distance];
  }
  if (written != words) abort();
}

#define DOCENT_UNPACK(table, words) \\
  docent_unpack(docent_##table, sizeof docent_##table / 2, (uint16_t *)table, \\
                sizeof table == 2 * (words) ? (words) : (abort(), 0))
"""

CALL = """
static void docent_unpack_tables(void) {
  static volatile long state;
  while (!DOCENT_IS_READY(&state)) {
    if (DOCENT_CLAIM(&state)) {
%s      DOCENT_SET_READY(&state);
    }
  }
}

"""


def pack(crate, out):
    """Copies the crate's folder to `out`, with packed tables. False, and no copy, for a crate without such tables."""
    parsers = [path for path in sorted(crate.rglob("parser.c")) if declares_tables(path)]
    if not parsers:
        return False
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(crate, out)
    for parser in parsers:
        source = parser.read_text("utf-8")
        (out / parser.relative_to(crate)).write_text(rewrite(source, parser), "utf-8", newline="\n")
    return True


def declares_tables(parser):
    return declaration(parser.read_text("utf-8"), "ts_parse_table") is not None


def declaration(source, table):
    return next((found for found in DECLARATIONS[table] if f"static const {found} = {{\n" in source), None)


def rewrite(source, name):
    if source.count(RETURN) != 1:
        sys.exit(f"{name}: not written by a tree-sitter that is known here")
    values = Values(source)
    calls = []
    for table in DECLARATIONS:
        if (declared := declaration(source, table)) is None:
            continue
        words = values.words(table, declared)
        packed = pack_words(words)
        if unpack_words(packed) != words:
            sys.exit(f"{name}: {table} does not unpack to its own words")
        size = len(words) // (4 if table == "ts_parse_actions" else 1)
        numbers = ",".join(map(str, packed))
        unpacked = f"static {declared};\n".replace("[]", f"[{size}]")
        start, end = span(source, declared)
        source = source[:start] + f"{unpacked}static const uint16_t docent_{table}[] = {{{numbers}}};\n" + source[end:]
        calls.append(f"      DOCENT_UNPACK({table}, {len(words)});\n")
    start = source.index("#define LANGUAGE_VERSION")
    source = source[:start] + UNPACKER.lstrip() + "\n" + source[start:]
    # The function that returns the language is behind the last table.
    start = source.rindex('#ifdef __cplusplus\nextern "C" {')
    source = source[:start] + (CALL % "".join(calls)).lstrip() + source[start:]
    return source.replace(RETURN, f"  docent_unpack_tables();\n{RETURN}")


def span(source, declared):
    start = source.index(f"static const {declared} = {{\n")
    return start, source.index("\n};\n", start) + len("\n};\n")


class Values:
    """The words of the tables of a `parser.c`, whose text has names for symbols."""

    def __init__(self, source):
        self.source = source
        self.numbers = {name: int(number) for name, number in re.findall(r"(?m)^#define (\w+) (\d+)$", source)}
        self.numbers["ts_builtin_sym_end"] = 0
        for body in re.findall(r"(?ms)^enum \w* ?\{(.*?)^\};", source):
            self.numbers |= {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", body)}

    def words(self, table, declared):
        start, end = span(self.source, declared)
        body = self.source[self.source.index("\n", start) + 1 : end - len("};\n")]
        match table:
            case "ts_parse_table":
                return self.parse_table(body)
            case "ts_parse_actions":
                return self.parse_actions(body)
            case "ts_lex_modes":
                return self.lex_modes(body, 3 if declared.startswith("TSLexerMode") else 2)
            case _:
                return self.list(body)

    def parse_table(self, body):
        """The rows of the states one after the other, each with a word for every symbol."""
        symbols = self.numbers["SYMBOL_COUNT"]
        words = array.array("H", bytes(2 * symbols * self.numbers["LARGE_STATE_COUNT"]))
        rows = re.findall(r"(?ms)^  \[(?:STATE\()?(\d+)\)?\] = \{\n(.*?)^  \},", body)
        if len(rows) != self.numbers["LARGE_STATE_COUNT"]:
            sys.exit("a table whose rows are not understood")
        for state, row in rows:
            entries = re.findall(r"\[(\w+)\] = (?:ACTIONS|STATE)\((\d+)\),", row)
            if len(entries) != row.count("="):
                sys.exit(f"state {state} has an entry that is not understood")
            for symbol, value in entries:
                words[int(state) * symbols + self.number(symbol)] = int(value)
        return words

    def list(self, body):
        """Words one after the other. Some have their index before them."""
        words = array.array("H")
        for entry in body.split(","):
            found = re.fullmatch(r"\s*(?:\[(\d+)\] = )?(?:ACTIONS\((\d+)\)|STATE\((\d+)\)|(\w+))?\s*", entry)
            if found is None or (found[1] and int(found[1]) != len(words)):
                sys.exit(f"an entry that is not understood: {entry.strip()}")
            if value := found[2] or found[3] or found[4]:
                words.append(self.number(value))
        return words

    def parse_actions(self, body):
        """`TSParseActionEntry`: four words, as a little-endian C compiler lays the union out."""
        words = array.array("H")
        for line in body.splitlines():
            found = re.fullmatch(
                r"  \[(\d+)\] = \{\.entry = \{\.count = (\d+), \.reusable = (true|false)\}\},((?: +\w+\([^)]*\),)*)", line
            )
            if found is None or 4 * int(found[1]) != len(words):
                sys.exit(f"an action that is not understood: {line}")
            words.extend((int(found[2]) | (found[3] == "true") << 8, 0, 0, 0))
            for action, given in re.findall(r"(\w+)\(([^)]*)\),", found[4]):
                words.extend(self.action(action, [value.strip() for value in given.split(",")]))
        return words

    def action(self, action, given):
        match action:
            case "SHIFT":
                return (0, int(given[0]), 0, 0)
            case "SHIFT_EXTRA":
                return (0, 0, 1, 0)
            case "SHIFT_REPEAT":
                return (0, int(given[0]), 1 << 8, 0)
            case "REDUCE":
                symbol, children, precedence, production = given
                return (1 | int(children) << 8, self.number(symbol), int(precedence) & MAX_WORD, int(production))
            case "ACCEPT_INPUT":
                return (2, 0, 0, 0)
            case "RECOVER":
                return (3, 0, 0, 0)
        sys.exit(f"an action that is not understood: {action}")

    def lex_modes(self, body, fields):
        words = array.array("H")
        names = [".lex_state", ".external_lex_state", ".reserved_word_set_id"][:fields]
        modes = re.findall(r"\[(\d+)\] = \{([^}]*)\},", body)
        if len(modes) != body.count("\n"):
            sys.exit("a table of lexer modes that is not understood")
        for state, values in modes:
            # A state that is not listed has zeros.
            words.extend([0] * (int(state) * fields - len(words)))
            # A state at the end of a rule that is no token has no mode.
            if values.rstrip(",") == "(TSStateId)(-1)":
                words.extend((MAX_WORD, 0, 0)[:fields])
                continue
            given = dict(re.findall(r"(\.\w+) = (\d+)", values))
            if len(given) != values.count(",") + 1 or not set(given) <= set(names):
                sys.exit(f"a lexer mode that is not understood: {values}")
            words.extend(int(given.get(name, "0")) for name in names)
        return words + array.array("H", bytes(2 * (self.numbers["STATE_COUNT"] * fields - len(words))))

    def number(self, name):
        return int(name) if name.isdigit() else self.numbers[name]


def pack_words(words):
    """LZ77 on words: see the unpacker."""
    text = words.tobytes()
    packed = array.array("H")
    places = {}
    copied = at = 0
    while at < len(words):
        length, distance = longest_run(text, places.get(text[2 * at : 2 * at + 2 * MIN_RUN], ()), at)
        step = max(length, 1)
        # Not at every word of a long run: it has been there before.
        for place in range(at, at + step, max(1, step // MAX_CANDIDATES)):
            known = places.setdefault(text[2 * place : 2 * place + 2 * MIN_RUN], [])
            known.insert(0, place)
            del known[MAX_CANDIDATES:]
        if length:
            append_step(packed, words[copied:at], length, distance)
            copied = at + length
        at += step
    append_step(packed, words[copied:], 0, 0)
    return packed


def longest_run(text, candidates, at):
    longest = (0, 0)
    for place in candidates:
        if at - place <= MAX_WORD and (length := run_length(text, place, at)) > longest[0]:
            longest = (length, at - place)
    return longest if longest[0] >= MIN_RUN else (0, 0)


def run_length(text, place, at):
    """How many words from `at` on are those from `place` on."""
    length, step = 0, 64
    end = min(len(text) // 2 - at, MAX_WORD)
    while step:
        while (
            length + step <= end
            and text[2 * (place + length) : 2 * (place + length + step)]
            == text[2 * (at + length) : 2 * (at + length + step)]
        ):
            length += step
        step //= 4
    return length


def append_step(packed, literals, length, distance):
    while len(literals) > MAX_WORD:
        append_step(packed, literals[:MAX_WORD], 0, 0)
        literals = literals[MAX_WORD:]
    packed.append(len(literals))
    packed.extend(literals)
    packed.extend((length, distance))


def unpack_words(packed):
    words = array.array("H")
    at = 0
    while at < len(packed):
        count = packed[at]
        words.extend(packed[at + 1 : at + 1 + count])
        length, distance = packed[at + 1 + count : at + 3 + count]
        at += count + 3
        start = len(words) - distance
        while length > 0:
            part = words[start : start + length]
            words.extend(part)
            length -= len(part)
    return words
