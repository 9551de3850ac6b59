#!/usr/bin/env python3
"""120 questions as developers ask them, about six large projects in six languages.

    run.py docent BINARY MIRRORS WORK NAME [--only TEXT] [--misses]
    run.py table WORK NAME … [--misses]

`docent` asks a server in the compact form, one project after the other, and writes two ranks for each probe to
WORK/ranks/NAME.jsonl: that of the first result whose own lines are an expected place (`shown`), and that of the first result
that is one or lists one below it with its lines (`named`). MIRRORS has a bare repository OWNER+NAME/repo for each project;
trees go to WORK/trees.

A probe is good if the rank is at most three. `path` stands for any place of the file, `path:first-last` for one that shares
a line with the range. Of kinds that ask for a thing itself (`name`, `thing`) the place has to have the first line of the
range: a member further down does not count.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "agent"))

from docents import Docent  # noqa: E402

GOOD_RANK = 3
RESULTS = 10
ITSELF = {"name", "thing"}


def probes():
    lines = (HERE / "probes.jsonl").read_text("utf-8").splitlines()
    return [{"id": at, **json.loads(line)} for at, line in enumerate(lines, 1)]


def checkout(mirrors, work, project):
    """The tree of the project at the commit of `projects.json`, with its history."""
    tree = work / "trees" / project.split("/")[1]
    if not tree.is_dir():
        commit = json.loads((HERE / "projects.json").read_text("utf-8"))[project]
        mirror = (mirrors / project.replace("/", "+") / "repo").resolve()
        git = lambda *words: subprocess.run(["git", *map(str, words)], check=False, capture_output=True)  # noqa: E731
        git("clone", "-q", "--shared", "--no-checkout", mirror, tree)
        git("-C", tree, "update-ref", "--no-deref", "HEAD", commit)
        git("-C", tree, "read-tree", "HEAD")
        # A mirror can lack very large files; the others are written.
        git("-C", tree, "checkout-index", "-a", "-f")
    return tree


HEADING = re.compile(r"^(\S+?):(\d+)(?:-(\d+))? .*\d\.\d\d$")
LISTED = re.compile(r"^(\d+)(?:-(\d+))?: ")


def results_of(text):
    """The results of a compact answer: the path, and the places in their order, the result's own first."""
    results = []
    for line in text.splitlines():
        if heading := HEADING.match(line):
            results.append((heading[1], [(int(heading[2]), int(heading[3] or heading[2]))]))
        elif results and (listed := LISTED.match(line)):
            results[-1][1].append((int(listed[1]), int(listed[2] or listed[1])))
    return results


def is_hit(probe, path, start, end):
    for place in probe["expected"]:
        of, _, lines = place.partition(":")
        if of != path:
            continue
        if not lines:
            return True
        first, last = map(int, lines.split("-"))
        if start <= (first if probe["kind"] in ITSELF else last) and end >= first:
            return True
    return False


def rank_of(results, is_good):
    return next((rank for rank, result in enumerate(results, 1) if is_good(result)), None)


def ask(args):
    work = args.work.resolve()
    ranks = []
    for project in dict.fromkeys(probe["project"] for probe in probes()):
        chosen = [one for one in probes() if one["project"] == project and args.only in one["question"] + one["kind"] + project]
        if not chosen:
            continue
        tree = checkout(args.mirrors, work, project)
        docent = Docent(args.binary, tree, work / "home" / args.name, "compact")
        for probe in chosen:
            results = results_of(docent.fresh().ask("context_search", {"query": probe["question"], "limit": RESULTS}))
            shown = rank_of(results, lambda result: is_hit(probe, result[0], *result[1][0]))
            named = rank_of(results, lambda result: any(is_hit(probe, result[0], *place) for place in result[1]))
            places = [f"{path}:{places[0][0]}-{places[0][1]}" for path, places in results[:5]]
            ranks.append({"id": probe["id"], "project": project, "kind": probe["kind"], "shown": shown, "named": named, "places": places})
        docent.close()
    target = work / "ranks" / f"{args.name}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(json.dumps(one) + "\n" for one in ranks), "utf-8")
    args.names = [args.name]
    table(args)


def is_good(rank):
    return rank is not None and rank <= GOOD_RANK


def table(args):
    by_id = {probe["id"]: probe for probe in probes()}
    for name in args.names:
        rows = [json.loads(line) for line in (args.work / "ranks" / f"{name}.jsonl").read_text("utf-8").splitlines()]
        groups = collections.defaultdict(list)
        for row in rows:
            for key in ("all", row["kind"], row["project"]):
                groups[key].append((is_good(row["named"]), is_good(row["shown"])))
        print(f"{name}\n| | named | shown | of |\n|---|--:|--:|--:|")
        for key, good in groups.items():
            named, shown = (100 * sum(column) / len(good) for column in zip(*good))
            print(f"| {key} | {named:.0f} % | {shown:.0f} % | {len(good)} |")
        for row in rows if args.misses else []:
            if not is_good(row["named"]):
                probe = by_id[row["id"]]
                print(f"\n{row['id']} {row['project']} {row['kind']} rank {row['named']}: {probe['question'][:300]!r}")
                print(f"  expected {probe['expected']}\n  places   {row['places']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("docent")
    one.add_argument("binary")
    one.add_argument("mirrors", type=pathlib.Path)
    one.add_argument("work", type=pathlib.Path)
    one.add_argument("name")
    one.add_argument("--only", default="", help="probes whose question, kind or project has this text")
    one.add_argument("--misses", action="store_true")
    one.set_defaults(run=ask)
    one = commands.add_parser("table")
    one.add_argument("work", type=pathlib.Path)
    one.add_argument("names", nargs="+")
    one.add_argument("--misses", action="store_true")
    one.set_defaults(run=table)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
