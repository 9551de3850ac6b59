#!/usr/bin/env python3
"""Measures whether a definition is found by its name.

    eval/names/run.py trees MIRRORS TREES                         export the projects at their pinned commits
    eval/names/run.py exact DOCENT TREES [--kind] [--out FILE]    names alone, in four groups and six languages
    eval/names/run.py phrases DOCENT TREES [--phrase TEXT …]      one-word names of ten projects inside a phrase

The names are drawn in the order of their hashes from the definitions that other tools find (`definitions.py`): outside tests and
examples, and defined once in the whole tree, whatever the case. A result counts if it is the first, of the right file, and shows
the definition by its own lines: it lies within them, the comments and decorators above included, or begins within three lines of
them. A class that holds the method does not count.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "search"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from definitions import definitions, is_aside  # noqa: E402
from server import Server  # noqa: E402

# Pinned commits, and for which of the two samples a project is used.
PROJECTS = json.loads((pathlib.Path(__file__).parent / "projects.json").read_text())

GROUPS = {"functions": 300, "methods of large classes": 300, "methods of small classes": 300, "nested functions": 100}
SMALL_CLASS_LINES = 30
PHRASES = ["{}", "where is {} defined", "class {}", "{}()", "`{}`", "what does {} do"]
NAMES_OF_PHRASES = 300
TOLERANCE = 3


def order_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def fold(name):
    return name.replace("_", "").lower()


def named_once(found):
    """Definitions that nothing else in the tree shares the name with, outside tests, in the order of their hashes."""
    counts = collections.Counter(fold(one.name) for one in found)
    kept = [one for one in found if counts[fold(one.name)] == 1 and not is_aside(one.path) and fit(one.name)]
    return sorted(kept, key=lambda one: order_of(f"{one.path} {one.name}"))


def fit(name):
    return len(name) >= 3 and not name.startswith("__") and re.fullmatch(r"\w+[?!]?", name)


def group_of(one):
    if one.around == "function":
        return "nested functions" if one.kind == "function" else None
    if one.kind == "function":
        return "functions"
    if one.kind == "method" and isinstance(one.around, int):
        return "methods of small classes" if one.around <= SMALL_CLASS_LINES else "methods of large classes"
    return None


def draw(queues, count):
    """Takes one of each queue in turn until there are `count`."""
    drawn = []
    while len(drawn) < count and any(queues):
        for queue in queues:
            if queue and len(drawn) < count:
                drawn.append(queue.pop(0))
    return drawn


def projects_of(sample):
    return [name for name, project in PROJECTS.items() if sample in project["samples"]]


def draw_exact(trees):
    """Of each group the same number of each language, and of each language the same number of each project."""
    pools = collections.defaultdict(list)
    for project in projects_of("exact"):
        for one in named_once(definitions(os.path.join(trees, project))):
            if group := group_of(one):
                pools[group, PROJECTS[project]["language"], project].append((project, group, one))
    languages = sorted({PROJECTS[project]["language"] for project in projects_of("exact")})
    for group, count in GROUPS.items():
        queues = [draw([pools[group, language, project] for project in projects_of("exact")], count) for language in languages]
        yield from draw(queues, count)


def draw_phrases(trees):
    """One-word names, of each project as many types as functions."""
    queues = []
    for project in projects_of("phrases"):
        words = [one for one in named_once(definitions(os.path.join(trees, project))) if re.fullmatch(r"[A-Z]?[a-z]{3,}", one.name)]
        kinds = [[one for one in words if (one.kind == "type") == is_type and one.around != "function"] for is_type in (True, False)]
        queues.append([(project, "types" if one.kind == "type" else "functions", one) for one in draw(kinds, NAMES_OF_PHRASES)])
    yield from draw(queues, NAMES_OF_PHRASES)


def is_found(result, one):
    if result.get("path") != one.path:
        return False
    start, end = result["startLine"], result["endLine"]
    is_within = start >= one.lead - TOLERANCE and end <= one.end + TOLERANCE and end >= one.lead
    begins_there = one.lead - TOLERANCE <= start <= one.start + TOLERANCE
    return is_within or begins_there


def rank_of(results, one):
    return next((rank for rank, result in enumerate(results, 1) if is_found(result, one)), None)


class Docent:
    """The servers of all projects, one at a time."""

    def __init__(self, docent, trees, home):
        self.docent, self.trees, self.home = docent, trees, home

    def ask(self, project, calls):
        environment = {**os.environ, "HOME": self.home, "XDG_CACHE_HOME": f"{self.home}/cache", "XDG_STATE_HOME": f"{self.home}/state"}
        flags = ["--root", os.path.join(self.trees, project), "--set", "limit.context_search=0"]
        subprocess.run([self.docent, *flags, "index"], env=environment, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        server = Server([self.docent, *flags, "serve"], environment)
        for call in calls:
            answer = server.call("context_search", {"limit": 10, "format": "json", **call})
            text = answer["content"][0]["text"]
            yield [] if answer.get("isError") else json.loads(text)["results"]
        server.close()


def ranks(docent, drawn, phrases, with_kind):
    """Rank by phrase, group and language: a list with one entry for each name."""
    found, by_project = collections.defaultdict(list), collections.defaultdict(list)
    for project, group, one in drawn:
        by_project[project].append((group, one))
    for project, names in by_project.items():
        asked = [(phrase, group, one) for phrase in phrases for group, one in names]
        calls = [{"query": phrase.format(one.name), **({"chunkType": [one.kind]} if with_kind else {})} for phrase, group, one in asked]
        for (phrase, group, one), results in zip(asked, docent.ask(project, calls)):
            rank = rank_of(results, one)
            found[phrase, group, PROJECTS[project]["language"]].append(rank)
            if rank != 1 and os.environ.get("SHOW_MISSES"):
                first = results[0] if results else {}
                shown = f"{first.get('path')}:{first.get('startLine')}-{first.get('endLine')}"
                print(project, group, phrase.format(one.name), rank, f"{one.path}:{one.start}-{one.end}", shown, file=sys.stderr)
        print(f"{project}: {len(names)} names", file=sys.stderr)
    return found


def table(found):
    """Rows: phrase, group, language, names, found first, found among ten."""
    totals = collections.defaultdict(list)
    for (phrase, group, language), of_language in found.items():
        totals[phrase, group, "all"] += of_language
        totals[phrase, group, language] += of_language
    rows = []
    for (phrase, group, language), places in sorted(totals.items()):
        first, ten = (sum(rank is not None and rank <= limit for rank in places) for limit in (1, 10))
        rows.append({"phrase": phrase, "group": group, "language": language, "names": len(places), "first": first, "ten": ten})
    return rows


def show(rows):
    print("| phrase | group | language | names | first | among ten |\n|---|---|---|--:|--:|--:|")
    for row in rows:
        first, ten = row["first"] / row["names"], row["ten"] / row["names"]
        print(f"| {row['phrase']} | {row['group']} | {row['language']} | {row['names']} | {first:.3f} | {ten:.3f} |")


def export_trees(args):
    for name, project in PROJECTS.items():
        target = os.path.join(args.trees, name)
        if not os.path.exists(target):
            os.makedirs(target)
            archive = subprocess.Popen(["git", "-C", os.path.join(args.mirrors, name, "repo"), "archive", project["commit"]], stdout=subprocess.PIPE)
            subprocess.run(["tar", "x", "-C", target], stdin=archive.stdout, check=True)


def measure(args):
    is_exact = args.command == "exact"
    drawn = list((draw_exact if is_exact else draw_phrases)(args.trees))
    phrases = ["{}"] if is_exact else args.phrase or PHRASES
    with tempfile.TemporaryDirectory() as home:
        rows = table(ranks(Docent(args.docent, args.trees, args.home or home), drawn, phrases, getattr(args, "kind", False)))
    show(rows)
    if args.out:
        pathlib.Path(args.out).write_text("".join(json.dumps(row) + "\n" for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    trees = commands.add_parser("trees")
    trees.add_argument("mirrors")
    trees.add_argument("trees")
    for name in ("exact", "phrases"):
        command = commands.add_parser(name)
        command.add_argument("docent")
        command.add_argument("trees")
        command.add_argument("--home", help="where the indexes are kept, else in a directory that is removed")
        command.add_argument("--out", help="write the table as JSON lines")
        if name == "exact":
            command.add_argument("--kind", action="store_true", help="ask with chunkType as well")
        else:
            command.add_argument("--phrase", action="append", help="a phrase with {} for the name, may be repeated")
    args = parser.parse_args()
    (export_trees if args.command == "trees" else measure)(args)


if __name__ == "__main__":
    main()
