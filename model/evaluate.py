"""Score a table on packages that training left out: does a query find its target among the package's targets?

    python evaluate.py --work DIR TABLE.bin [TABLE.bin ...]

About every 50th package is left out of training (common.left_out). For each with at least 30 pairs of a kind
(heading to section, sentence to the rest of its section, doc comment to code) each query is ranked against up
to 500 targets of that package; the figure is the mean over packages of the mean reciprocal rank. "hard" is the same with every word that the target holds taken out of the query: what is left is synonymy.
"""

import argparse
import json
import os
import struct

import numpy as np

from common import Pieces, left_out, words

SETS = {"heading": ("head",), "sentence": ("cloze",), "code": ("doc", "module")}


class Table:
    """A table read back from its file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            body = file.read()
        assert body[:4] == b"CSE1", "not a table"
        rows, width, length = struct.unpack("<III", body[4:16])
        self.pieces = Pieces(body[16:16 + length].decode().split("\n")[:rows])
        scales = np.frombuffer(body, "<f4", rows, 16 + length)
        values = np.frombuffer(body, "i1", rows * width, 16 + length + 4 * rows).reshape(rows, width)
        self.vectors = values * scales[:, None]

    def embed(self, texts):
        """Unit vectors of texts."""
        found = np.zeros((len(texts), self.vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            numbers = self.pieces.of_text(text, 400)
            if numbers:
                found[row] = self.vectors[numbers].mean(axis=0)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def without_shared_words(query, target):
    """The words of a query that its target does not have; None where fewer than two are left."""
    shared = set(words(target))
    kept = [word for word in words(query) if word not in shared]
    return " ".join(kept) if len(kept) >= 2 else None


def load(work):
    """Pairs of the left-out packages: {set: {package: [(query, target with its path)]}}."""
    found = {name: {} for name in SETS}
    with open(os.path.join(work, "pairs.jsonl")) as file:
        for line in file:
            package = line[2:line.index('"', 2)]
            if not left_out(package):
                continue
            package, language, kind, path, query, target = json.loads(line)
            for name, kinds in SETS.items():
                if kind in kinds and (language == "prose") == (name != "code"):
                    pairs = found[name].setdefault(package, [])
                    if len(pairs) < 500:
                        pairs.append((query, target + " " + path))
    return {name: {p: pairs for p, pairs in packages.items() if len(pairs) >= 30} for name, packages in found.items()}


def reciprocal_ranks(table, pairs, hard):
    targets = table.embed([target for _, target in pairs])
    queries = [without_shared_words(*pair) if hard else pair[0] for pair in pairs]
    chosen = [row for row, query in enumerate(queries) if query]
    if not chosen:
        return []
    scores = table.embed([queries[row] for row in chosen]) @ targets.T
    own = scores[np.arange(len(chosen)), chosen]
    return list(1.0 / (1 + (scores > own[:, None]).sum(axis=1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", required=True)
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args()
    sets = load(options.work)
    for path in options.tables:
        table, figures = Table(path), []
        for name, packages in sets.items():
            for hard in (False, True):
                ranks = [reciprocal_ranks(table, pairs, hard) for pairs in packages.values()]
                means = [np.mean(some) for some in ranks if some]
                figures.append(f"{name}{' hard' if hard else ''} {np.mean(means):.3f}")
        print(os.path.basename(path), "; ".join(figures), {name: len(packages) for name, packages in sets.items()})


if __name__ == "__main__":
    main()
