#!/usr/bin/env python3
"""The evaluation of speakeasy-api/docs-mcp, run with docent, and the ids of its chunks compared with docent's.

usage: eval/docs/peer.py --docent BINARY --peer CHECKOUT [--peer-chunks FILE.json]

CHECKOUT is a copy of the peer's repository; nothing of it is kept here. A case is an entry of any JSON list below packages/eval/fixtures
that has a query and the chunk to be found. Its corpus is the directory of its list, if that has a manifest; otherwise the first corpus
that has the expected file and heading. If none has them, no tool can answer the case: it is shown and not counted.
Every corpus is copied and served from there, with a separate home and cache. search_docs is asked for five results, with the filters of
the case. An expected id may leave out the first headings of the path (`retries.md#backoff` for `retries.md#guide/backoff`).

FILE.json is the output of peer_chunks.mjs: {corpus: {file: [ids in order]}}, a corpus being a directory below CHECKOUT or anywhere.
docent's ids are those of the delimiters of get_doc, walking through each file. Not compared are ids with letters beyond ASCII, which docent
keeps and the peer drops, and those the peer gives twice in one file.

Exit status 1 if a case is not among the first five or an id differs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from process import run  # noqa: E402
from server import Server  # noqa: E402

SHOWN = 5
NO_LIMITS = {"DOCENT_LIMIT_SEARCH_DOCS": "0", "DOCENT_LIMIT_GET_DOC": "0", "DOCENT_ANSWER_MAX_CHARS": "100000000"}
DELIMITER = re.compile(r"^--- Chunk: (.+) \(Chunk (\d+) of (\d+)\) \((Target|Context: [+-]\d+)\) ---$", re.MULTILINE)


@contextlib.contextmanager
def serve(docent, corpus):
    """A docent server on an indexed copy of the corpus."""
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns("node_modules", ".git")
        root = shutil.copytree(corpus, pathlib.Path(folder) / "corpus", ignore=ignored)
        environment = {**os.environ, **NO_LIMITS, "HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache"}
        run([docent, "--root", str(root), "index"], environment)
        server = Server([docent, "--root", str(root), "serve"], environment)
        try:
            yield server
        finally:
            server.close()


def find_corpora(peer):
    """Directories with a manifest, and without one above it."""
    manifests = [path.parent for path in peer.rglob(".docs-mcp.json") if "node_modules" not in path.parts]
    return sorted(place for place in manifests if not any(other in place.parents for other in manifests))


def find_cases(peer):
    """Each case with the path of its list."""
    for path in sorted((peer / "packages/eval/fixtures").rglob("*.json")):
        listed = json.loads(path.read_text("utf-8"))
        for case in listed if isinstance(listed, list) else []:
            expected = case.get("expectedChunkId") or case.get("expected_chunk_id")
            if expected and case.get("query"):
                yield path, {**case, "filters": case.get("filters") or {}, "expected": expected}


def has(corpus, expected):
    """Whether the corpus has the file and a heading with the last slug."""
    file, _, headings = expected.partition("#")
    if not (corpus / file).is_file():
        return False
    titles = re.findall(r"^#+ +(.+?) *$", (corpus / file).read_text("utf-8"), re.MULTILINE)
    slugs = (re.sub(r"[ -]+", "-", re.sub(r"[^a-z0-9 -]", "", title.lower())).strip("-") for title in titles)
    return not headings or headings.rsplit("/")[-1] in slugs


def fits(found, expected):
    file, _, headings = expected.partition("#")
    return found == expected or found.startswith(f"{file}#") and found.endswith(f"/{headings}")


def rank(server, case):
    """The rank from 1 to 5, or `None`; and the text of an error."""
    result = server.call("search_docs", {"query": case["query"], "limit": SHOWN, **case["filters"]})
    text = result["content"][0]["text"]
    if result.get("isError"):
        return None, text
    ids = [hit["chunk_id"] for hit in json.loads(text)["hits"]]
    return next((place for place, found in enumerate(ids, 1) if fits(found, case["expected"])), None), ""


def evaluate(docent, peer):
    """Prints each case with its rank. Returns how many were not found."""
    corpora, by_corpus, unanswerable = find_corpora(peer), {}, []
    for path, case in find_cases(peer):
        homes = [path.parent] if path.parent in corpora else [corpus for corpus in corpora if has(corpus, case["expected"])]
        by_corpus.setdefault(homes[0], []).append(case) if homes else unanswerable.append(case)
    ranks = []
    for corpus, cases in by_corpus.items():
        print(f"\n{corpus.relative_to(peer)}")
        with serve(docent, corpus) as server:
            for case in cases:
                place, trouble = rank(server, case)
                ranks.append(place)
                print(f"  {place or '-'}  {case['name']}: {case['expected']} {trouble}".rstrip())
    if unanswerable:
        print("\nin no corpus, not counted")
    for case in unanswerable:
        print(f"     {case['name']}: {case['expected']}")
    found = [place for place in ranks if place]
    mean = sum(1 / place for place in found) / max(len(ranks), 1)
    print(f"\n{len(found)} of {len(ranks)} among the first {SHOWN}, {found.count(1)} first, mean reciprocal rank {mean:.3f}")
    return len(ranks) - len(found)


def walk(server, file, starts):
    """All ids of a file in order, from the first of `starts` that is known; empty if none is."""
    ids, total, asked = {}, 1, set()

    def ask(name):
        nonlocal total
        asked.add(name)
        result = server.call("get_doc", {"chunk_id": name, "context": 5})
        if result.get("isError"):
            return
        # A page on this very format may have such lines in its text.
        lines = [line for line in DELIMITER.findall(result["content"][0]["text"]) if line[0].partition("#")[0] == file]
        total = next(int(line[2]) for line in lines if line[3] == "Target")
        ids.update((int(line[1]), line[0]) for line in lines if int(line[2]) == total)

    for start in starts:
        if not ids:
            ask(start)
    while ids and len(ids) < total:
        ends = [ids[end] for end in (max(ids), min(ids)) if 1 < end < total and ids[end] not in asked]
        if not ends:
            break
        ask(ends[0])
    return [ids.get(number) for number in range(1, total + 1)] if ids else []


def differences(theirs, ours):
    """Pairs of ids that should be the same but differ, and how many were compared. A file cut differently is one difference, not many."""
    if len(theirs) != len(ours):
        return [(f"cut into {len(theirs)}", f"cut into {len(ours)}" if ours else "unknown to docent")], 1
    seen, pairs = set(), []
    for their, our in zip(theirs, ours):
        if (our or "").isascii() and their not in seen:
            pairs.append((their, our))
        seen.add(their)
    return [(their, our) for their, our in pairs if their != our], len(pairs)


def compare(docent, peer, listed):
    """Prints ids that differ. Returns how many."""
    wrong = 0
    for corpus, files in listed.items():
        compared = here = 0
        with serve(docent, peer / corpus) as server:
            for file, theirs in files.items():
                differ, looked = differences(theirs, walk(server, file, theirs))
                compared, here = compared + looked, here + len(differ)
                for their, our in differ:
                    print(f"  {file}: peer {their}, docent {our}")
        print(f"{corpus}: {len(files)} files, {sum(map(len, files.values()))} ids, {compared} compared, {here} differ")
        wrong += here
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--peer", type=pathlib.Path, required=True)
    parser.add_argument("--peer-chunks", type=pathlib.Path)
    options = parser.parse_args()
    docent, peer = str(pathlib.Path(options.docent).resolve()), options.peer.resolve()
    wrong = evaluate(docent, peer)
    if options.peer_chunks:
        print()
        wrong += compare(docent, peer, json.loads(options.peer_chunks.read_text("utf-8")))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
