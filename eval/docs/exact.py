#!/usr/bin/env python3
"""Reads every section of documentations with get_doc, and compares the joined sections with the files.

usage: eval/docs/exact.py DOCENT EXAMPLE CORPUS…

EXAMPLE is the engine's example `docs`, which lists the ids (`cargo build --release -p docent-engine --example docs`). Ids must be unique, the
position in every delimiter right, and the sections of a page, joined, the page itself. docent escapes invisible characters
(`\\u{200B}`), and the script does the same before it compares. It also counts the findings of `docent docs check`.
Exit status 1 if anything differs.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server  # noqa: E402

DELIMITER = re.compile(r"--- Chunk: (.+) \(Chunk (\d+) of (\d+)\) \(Target\) ---\n")


def unescaped(text):
    return re.sub(r"\\u\{([0-9A-F]+)\}", lambda found: chr(int(found[1], 16)), text)


def pages(example, corpus):
    """The ids of each page, in order."""
    dumped = subprocess.run([example, "dump", corpus], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in dumped.splitlines():
        section = json.loads(line)
        found.setdefault(section["path"], []).append(section["id"])
    return found


def compare(server, corpus, page, ids):
    """The error of a page, or `None`."""
    text = ""
    for place, wanted in enumerate(ids, 1):
        answer = server.call("get_doc", {"chunk_id": wanted})["content"][0]["text"]
        head = DELIMITER.match(answer)
        if head is None or (head[1], int(head[2]), int(head[3])) != (wanted, place, len(ids)):
            return f"{wanted}: {answer[:200]!r}"
        text += answer[head.end():]
    written = (corpus / page).read_bytes().decode("utf-8", "replace")
    return None if text == written or unescaped(text) == unescaped(written) else f"{page}: the sections are not the page"


def main():
    docent, example, *corpora = sys.argv[1:]
    wrong = []
    for corpus in map(pathlib.Path, corpora):
        with tempfile.TemporaryDirectory() as home:
            limits = {"DOCENT_LIMIT_GET_DOC": "0", "DOCENT_ANSWER_MAX_CHARS": "100000000"}
            environment = {**os.environ, **limits, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
            command = [docent, "--root", str(corpus.resolve())]
            subprocess.run([*command, "index"], env=environment, check=True, capture_output=True)
            checked = subprocess.run([*command, "docs", "check"], env=environment, capture_output=True, text=True).stdout.splitlines()
            known = pages(example, corpus)
            ids = [one for sections in known.values() for one in sections]
            server = Server([*command, "serve"], environment)
            differing = [found for page, sections in known.items() if (found := compare(server, corpus, page, sections))]
            server.close()
        if len(set(ids)) < len(ids):
            differing.append(f"{len(ids) - len(set(ids))} ids are there twice")
        print(f"{corpus.name}: {len(known)} pages, {len(ids)} sections, {len(differing)} differ; check finds {len(checked)}")
        print("".join(f"  {line}\n" for line in differing[:10] + checked[:10]), end="")
        wrong += differing
    sys.exit(bool(wrong))


main()
