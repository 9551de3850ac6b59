"""BM25 over windows of 40 lines: the plainest ranked search of code, for comparison."""

import collections
import math
import pathlib
import re

from definitions import GRAMMARS, extension_of
from visible import files_of

WINDOW = 40
MAX_BYTES = 1 << 20


def tokens(text):
    """Words in lower case; identifiers count whole and by their parts."""
    for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]+|\d+", text):
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)
        yield word.lower()
        if len(parts) > 1:
            yield from (part.lower() for part in parts)


class Windows:
    def __init__(self, root):
        self.places, self.lengths, self.has = [], [], collections.defaultdict(list)
        self.root = pathlib.Path(root)
        for path in sorted(files_of(str(root))):
            file = self.root / path
            if extension_of(path) in GRAMMARS and file.is_file() and file.stat().st_size < MAX_BYTES:
                lines = file.read_text("utf-8", "replace").splitlines()
                for start in range(0, len(lines), WINDOW):
                    self.add(path, start, lines[start : start + WINDOW])
        self.average = sum(self.lengths) / max(len(self.lengths), 1)

    def add(self, path, start, lines):
        number, counts = len(self.places), collections.Counter(tokens(path + "\n" + "\n".join(lines)))
        self.places.append((path, start + 1, lines))
        self.lengths.append(sum(counts.values()))
        for token, count in counts.items():
            self.has[token].append((number, count))

    def search(self, query, most, k1=1.2, b=0.75):
        scores = collections.Counter()
        for token in set(tokens(query)):
            found = self.has.get(token, ())
            weight = math.log(1 + (len(self.places) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                scores[number] += weight * count * (k1 + 1) / (count + k1 * (1 - b + b * self.lengths[number] / self.average))
        for number, _ in scores.most_common(most):
            yield self.places[number]

    def answer(self, query, most=12):
        parts = [f"{path}:{start}-{start + len(lines) - 1}\n" + "\n".join(lines) for path, start, lines in self.search(query, most)]
        return "\n\n".join(parts)
