"""Write the trained vectors as the table that ships: one byte a value, one scale a row.

    python export.py --work DIR --vectors vectors.npy --out table.bin

Layout, little endian: "CSE1", u32 rows, u32 dimensions, u32 length of the vocabulary text, the vocabulary
(one piece a line), f32 scale of each row, i8 values row by row. Prints the SHA-256 of the file. Beside it goes
test_vectors.json: texts with their words and piece numbers, for whoever splits text in another language.
"""

import argparse
import hashlib
import json
import os
import struct

import numpy as np

from common import Pieces, words

SAMPLES = [
    "", " ", "a", "Z", "0", "getHTTPResponseCode", "HTTPServer", "XMLHttpRequest2", "parse_json_object", "snake__case_",
    "SCREAMING_SNAKE_CASE", "kebab-case-name", "i18n", "utf8", "sha256sum", "v1.2.3-rc4", "ABCdef", "abcDEF", "aBcDeF", "ABC",
    "src/core/rank.rs", "fn main() { println!(\"hello\"); }", "How do I retry a failed request?", "don't",
    "caf\u00e9 na\u00efve \u00dcber", "\u65e5\u672c\u8a9e text", "x" * 60, "qzxjvkqwzx", "antidisestablishmentarianism",
    "replicate data to MySQL-compatible databases", "1234567890123456789012345678901234567890", "a1b2C3D4", "\ttab\nline\r\n",
]


def quantised(vectors):
    """The scale of each row and its values from -127 to 127."""
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9).astype(np.float32) / np.float32(127)
    return scales, np.clip(np.round(vectors / scales[:, None]), -127, 127).astype(np.int8)


def table_bytes(vocabulary, vectors):
    """The whole file."""
    text = "".join(piece + "\n" for piece in vocabulary).encode("ascii")
    scales, values = quantised(vectors)
    head = b"CSE1" + struct.pack("<III", len(vocabulary), vectors.shape[1], len(text))
    return head + text + scales.astype("<f4").tobytes() + values.tobytes()


def test_vectors(vocabulary):
    """What the samples are split into."""
    pieces = Pieces(vocabulary)
    return [{"text": text, "words": words(text), "pieces": pieces.of_text(text)} for text in SAMPLES]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", required=True)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    with open(os.path.join(options.work, "vocabulary.txt")) as file:
        vocabulary = file.read().split("\n")
    body = table_bytes(vocabulary, np.load(options.vectors).astype(np.float32))
    with open(options.out, "wb") as file:
        file.write(body)
    beside = os.path.join(os.path.dirname(os.path.abspath(options.out)), "test_vectors.json")
    with open(beside, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(sample) for sample in test_vectors(vocabulary)) + "\n]\n")
    print(hashlib.sha256(body).hexdigest(), len(body), "bytes")


if __name__ == "__main__":
    main()
