#!/usr/bin/env python3
"""Whether docent indexes a project of very many tiny files completely, and at which cost.

usage: bench/files.py DOCENT [--files 100000] [--work DIR]

Each file holds one line with a word of its own. The script indexes the project from nothing, looks for the word of one file,
changes that file, looks for its new word, and compares the number of indexed files with the number of files. It fails if an
answer is wrong. `cargo test` does the same with 10,000 files.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

from process import run

PER_DIRECTORY = 500


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent", metavar="DOCENT")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--work", help="directory for the project and its index (default: the system's temporary directory)")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        folder = pathlib.Path(folder)
        project = folder / "project"
        for number in range(options.files):
            file = path(project, number)
            if number % PER_DIRECTORY == 0:
                file.parent.mkdir(parents=True)
            file.write_text(f"walrus{number}\n")
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "DOCENT_ROOT": str(project)}
        docent = os.path.abspath(options.docent)

        print("| what | wall | CPU | peak memory |\n|---|--:|--:|--:|")
        row(f"index of {options.files:,} files", run([docent, "index"], environment)[1])
        asked = options.files // 4 * 3 + 1
        row("first search", find(docent, environment, project, asked, f"walrus{asked}"))
        path(project, asked).write_text("narwhal\n")
        row("search after one change", find(docent, environment, project, asked, "narwhal"))
        indexed = json.loads(run([docent, "status", "--json"], environment)[0])["indexed"]
        if indexed != options.files:
            sys.exit(f"{indexed:,} files are indexed, not {options.files:,}")


def path(project, number):
    return project / f"d{number // PER_DIRECTORY}" / f"f{number}.txt"


def find(docent, environment, project, number, word):
    """Searches for a word that one file contains, and checks the answer. Returns the cost of the search."""
    arguments = json.dumps({"query": word, "format": "json"})
    output, cost = run([docent, "call", "context_search", arguments], environment)
    paths = [result["path"] for result in json.loads(output)["results"]]
    expected = path(project, number).relative_to(project).as_posix()
    if paths[:1] != [expected]:
        sys.exit(f"{word} was found in {paths}, not in {expected}")
    return cost


def row(what, cost):
    print(f"| {what} | {cost['wall']:.2f} s | {cost['cpu']:.2f} s | {cost['peak']:.0f} MiB |", flush=True)


if __name__ == "__main__":
    main()
