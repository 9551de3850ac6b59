"""Localisation: whether the results of a search hold the files and functions that a fix changed.

    python3 eval/agent/run.py locate WORK --docent DOCENT [--python PYTHON] [--out FILE]

The questions are those of `run.py tasks prepare`, each asked by the subject of its commit. A tool gives ten places, a path and lines.
docent's are those of `context_search` in the contract form, JSON. Beside it stand BM25 over windows of 40 lines of code files, and
semble without its model. A file counts if a place is in a changed file; a function if a place has a line of a changed function.
Differences are paired over questions, with bootstrap intervals of 95 %.
"""

import json
import pathlib
import random
import subprocess
import sys

from docents import Docent
from screen import by_project
from windows import Windows

PLACES = 10
FIGURES = {"file first": ("file", 1), "file among ten": ("file", PLACES), "function first": ("function", 1), "function among ten": ("function", PLACES)}
DRAWS = 5000


def docent_places(args, root, questions):
    docent = Docent(args.docent, root, args.work / "home-locate", "contract")
    for question in questions:
        text = docent.fresh().ask("context_search", {"query": question, "limit": PLACES, "format": "json"})
        yield [(one.get("path"), one.get("startLine"), one.get("endLine")) for one in json.loads(text)["results"]]
    docent.close()


def window_places(_args, root, questions):
    windows = Windows(root)
    for question in questions:
        yield [(path, start, start + len(lines) - 1) for path, start, lines in windows.search(question, PLACES)]


def semble_places(args, root, questions):
    asked, answered = args.work / "locate-questions.jsonl", args.work / "locate-answers.jsonl"
    lines = [json.dumps({"root": str(root), "key": str(at), "query": query}) for at, query in enumerate(questions)]
    asked.write_text("".join(line + "\n" for line in lines), "utf-8")
    script = pathlib.Path(__file__).with_name("semble_answers.py")
    subprocess.run([args.python, script, asked, answered], check=True)
    for line in answered.read_text("utf-8").splitlines():
        results = json.loads(json.loads(line)["text"])["results"]
        yield [place_of(root, one) for one in results[:PLACES]]


def place_of(root, result):
    return result["file_path"].removeprefix(f"{root}/"), result["start_line"], result["end_line"]


TOOLS = {"docent": docent_places, "bm25": window_places, "semble": semble_places}


def ranks(functions, places):
    """The first rank with a changed file, and with a changed function, `None` if there is none."""

    def first(is_hit):
        return next((rank for rank, place in enumerate(places, 1) if any(is_hit(place, one) for one in functions)), None)

    def overlaps(place, one):
        path, start, end = place
        return path == one["path"] and start is not None and start <= one["end"] and end >= one["start"]

    return {"file": first(lambda place, one: place[0] == one["path"]), "function": first(overlaps)}


def is_within(rank, most):
    return rank is not None and rank <= most


def interval(differences):
    dice, count = random.Random(7), len(differences)
    means = sorted(sum(dice.choices(differences, k=count)) / count for _ in range(DRAWS))
    return means[DRAWS // 40], means[-DRAWS // 40 - 1]


def add_arguments(parser):
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has semble")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--out", type=pathlib.Path, help="writes the ranks of each question, by its number")


def run(args):
    rows = []
    for name, tasks in by_project(args.work).items():
        root = (args.work / "trees" / name).resolve()
        found = {tool: list(TOOLS[tool](args, root, [task["subject"] for task in tasks])) for tool in args.tools}
        for at, task in enumerate(tasks):
            rows.append({"id": task["id"], "repo": name, **{tool: ranks(task["functions"], found[tool][at]) for tool in args.tools}})
    report(rows, args.tools)
    if args.out:
        args.out.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def report(rows, tools):
    print(f"| {len(rows)} questions | " + " | ".join(FIGURES) + " |\n|---|" + "--:|" * len(FIGURES))
    hits = {tool: [[float(is_within(row[tool][what], most)) for row in rows] for what, most in FIGURES.values()] for tool in tools}
    for tool in tools:
        print(f"| {tool} | " + " | ".join(f"{100 * sum(of) / len(of):.1f}" for of in hits[tool]) + " |")
    for tool in tools[1:]:
        cells = []
        for mine, other in zip(hits[tools[0]], hits[tool]):
            differences = [one - two for one, two in zip(mine, other)]
            low, high = interval(differences)
            cells.append(f"{100 * sum(differences) / len(differences):+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")
        print(f"| {tools[0]} - {tool} | " + " | ".join(cells) + " |")
