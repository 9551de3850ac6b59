"""What the scripts of this folder share: licences, exclusions, words and word pieces.

The splitting of text into words and of words into pieces is the contract between the table and the
program that reads it. Change neither without retraining the table.
"""

import re
import zlib

# ---------------------------------------------------------------------------------------------- licences

ALLOWED_LICENCES = {
    "mit", "mit-0", "expat", "x11", "apache-2.0", "apache-2", "apache2", "apache 2.0", "apache 2", "apache-2.0-only",
    "apache license 2.0", "apache license, version 2.0", "apache license version 2.0", "apache software license",
    "apache software license 2.0", "apache license", "asl 2.0", "asl-2.0",
    "bsd", "bsd license", "bsd-1-clause", "bsd-2-clause", "bsd-3-clause", "bsd-2", "bsd-3", "bsd-2-clauses",
    "bsd-3-clauses", "bsd 3-clause", "bsd 2-clause", "bsd 3-clause license", "bsd-3-clause license", "new bsd license",
    "new bsd", "modified bsd", "3-clause bsd", "3-clause bsd license", "bsd-like", "simplified bsd",
    "mit license", "the mit license", "the mit license (mit)", "mit license (mit)",
    "isc", "isc license", "isc license (iscl)", "zlib", "zlib/libpng", "unlicense", "the unlicense",
    "the unlicense (unlicense)", "0bsd", "cc0", "cc0-1.0", "psf", "psf-2.0", "python-2.0",
    "python software foundation license", "bsl-1.0", "boost software license 1.0 (bsl-1.0)",
}

ALLOWED_EXCEPTIONS = {"llvm-exception"}


def licence_allowed(expression):
    """Whether an SPDX expression, or a licence's ordinary name, is on the allow-list.

    `OR` (and the older `/`) needs one allowed side, `AND` needs both. What cannot be told is not allowed.
    """
    text = re.sub(r"\s+", " ", (expression or "").strip().lower())
    if not text or len(text) > 200:
        return False
    if text in ALLOWED_LICENCES:
        return True
    inner = _strip_outer_brackets(text)
    for separator, decide in ((" or ", any), ("/", any), (" and ", all)):
        parts = _split_outside_brackets(inner, separator)
        if len(parts) > 1:
            return decide(licence_allowed(part) for part in parts)
    base, _, exception = inner.partition(" with ")
    return base.strip() in ALLOWED_LICENCES and (not exception or exception.strip() in ALLOWED_EXCEPTIONS)


def _strip_outer_brackets(text):
    if text.startswith("(") and text.endswith(")") and "(" not in text[1:-1]:
        return text[1:-1].strip()
    return text


def _split_outside_brackets(text, separator):
    parts, depth, start, position = [], 0, 0, 0
    while position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0 and text.startswith(separator, position):
            parts.append(text[start:position])
            position += len(separator)
            start = position
            continue
        position += 1
    return parts + [text[start:]]


def deb_data(body):
    """The data.tar member of a .deb file, which is an `ar` archive."""
    position = 8
    while position < len(body):
        name, size = body[position:position + 16].decode().strip().rstrip("/"), int(body[position + 48:position + 58])
        if name.startswith("data.tar"):
            return body[position + 60:position + 60 + size]
        position += 60 + size + (size & 1)
    raise ValueError("no data in the package")


# ------------------------------------------------------------------------------------------- exclusions

# The projects the evaluations are made of, under every name a registry has for them.
EXCLUDED = set(
    """aiohttp fastapi flask httpx model2vec pydantic pydantic-core requests starlette axios express redux gin cobra
    chi gson commons-lang jackson-databind guzzle monolog laravel sinatra rack rails railties tokio trpc messagepack
    ktor cats alamofire click serde zod json nlohmann-json phoenix axum vitest newtonsoft-json dapper
    kotlinx-coroutines exposed circe http4s vapor plug ecto abseil abseil-cpp fmt fmtlib curl redis libuv bats
    bats-core aeson telescope lazy.nvim zig nvm bash-it pandoc xmonad mini.nvim zls zig-clap django semble
    commons-lang3 google-gson jackson2-databind jackson-core nlohmann-json3 illuminate guzzlehttp gin-gonic go-chi
    quart niquests asyncclick typer httpx2 pydantic-settings serde_core serde_derive tokio-util tokio-macros
    model2vec-rs redis-py hiredis
    tidb pingcap kotlin kotlin-dsl kotlinx astro astrojs clickhouse clickhouse-driver clickhouse-connect
    clickhouse-sqlalchemy mdbook rustc rust-book speakeasy docs-mcp speakeasy-api git notepad-plus-plus""".split()
)

EXCLUDED_PREFIXES = ("@astrojs/", "@trpc/", "@vitest/", "@speakeasy", "@clickhouse/", "tidb", "clickhouse", "@pingcap/",
                     "kotlin", "@kotlin")


def package_excluded(name):
    """Whether a package is one of the held-out projects, or a distributor's build of one.

    A distributor's name holds the project's ("golang-github-spf13-cobra"), so
    every run of its words is looked up. This throws out a few innocents too.
    """
    name = name.lower()
    if name in EXCLUDED or name.startswith(EXCLUDED_PREFIXES):
        return True
    if not re.match(r"(golang|haskell|ruby|php|lua|node|rust|erlang|elixir|lib|python3?)-?", name):
        return False
    parts = re.split(r"[-_/]", re.sub(r"^lib(ghc-)?", "", name))
    runs = {"-".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return bool(runs & EXCLUDED)


def left_out(package):
    """Whether training leaves a package out, so that a table can be scored on it: about one in fifty."""
    return zlib.crc32(package.encode()) % 50 == 0


# --------------------------------------------------------------------------------------- words and pieces

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def words(text):
    """The words of a text: runs of letters split at case changes, runs of digits; lower-cased. ASCII only."""
    return [word.lower() for word in WORD.findall(text)]


class Pieces:
    """Word pieces by greedy longest match, `##` before a piece that continues a word."""

    def __init__(self, vocabulary):
        self.index = {piece: number for number, piece in enumerate(vocabulary)}
        self.known = {}

    def of_word(self, word):
        """The piece numbers of one word. Where nothing matches, the rest of the word is dropped."""
        found = self.known.get(word)
        if found is None:
            found = self.known[word] = self._split(word)
        return found

    def _split(self, word):
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self.index.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                break
        return found

    def of_text(self, text, limit=None):
        """The piece numbers of a text, at most `limit` of them."""
        found = []
        for word in words(text):
            found += self.of_word(word)
            if limit and len(found) >= limit:
                return found[:limit]
        return found
