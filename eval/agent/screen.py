"""Function on the screen: whether the first N characters of an answer show a line of a function that the fix changed.

    python3 eval/agent/run.py screen WORK TOOL… [--docent DOCENT] [--python PYTHON] [--codegraph CODEGRAPH]

TOOL is contract, compact, semble, bm25, rg or codegraph. Answers are kept below WORK/raw; delete a folder there to ask again. The
questions are those of `run.py tasks prepare`; each is asked by the subject of the commit, and with its first paragraph if it has one.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from docents import Docent
from shell import search_with_context
from tasks import short_name
from visible import seen
from windows import Windows

SIZES = (2000, 4000, 8000)
MAX_QUERY = 500  # of context_search
TOOLS = ("contract", "compact", "semble", "bm25", "rg", "codegraph")


def variants(task):
    """Pairs of a key and a query."""
    yield f"{task['id']}", task["subject"]
    if task["paragraph"]:
        yield f"{task['id']}+", (task["subject"] + ". " + task["paragraph"])[:MAX_QUERY]


def by_project(work):
    groups = {}
    for task in json.loads((work / "questions.json").read_text("utf-8")):
        groups.setdefault(short_name(task["repo"]), []).append(task)
    return groups


def contract(args, root, asked):
    docent = Docent(args.docent, root, args.work / "home", "contract")
    for key, query in asked:
        yield key, docent.fresh().ask("context_search", {"query": query, "limit": 10})
    docent.close()


def compact(args, root, asked):
    """One answer for each size, since the compact form chooses what fits."""
    docent = Docent(args.docent, root, args.work / "home", "compact")
    for key, query in asked:
        yield key, {str(size): docent.fresh().ask("context_search", {"query": query, "maxChars": size}) for size in SIZES}
    docent.close()


def semble(args, root, asked):
    questions, answers = args.work / "semble-questions.jsonl", args.work / "semble-answers.jsonl"
    questions.write_text("".join(json.dumps({"root": str(root), "key": key, "query": query}) + "\n" for key, query in asked), "utf-8")
    script = pathlib.Path(__file__).with_name("semble_answers.py")
    subprocess.run([args.python, script, questions, answers], check=True)
    for line in answers.read_text("utf-8").splitlines():
        one = json.loads(line)
        yield one["key"], one["text"]


def bm25(_args, root, asked):
    windows = Windows(root)
    for key, query in asked:
        yield key, windows.answer(query)


def rg(_args, root, asked):
    for key, query in asked:
        yield key, search_with_context(root, query)


def codegraph(args, root, asked):
    from server import Server

    copy = args.work / "codegraph" / root.name
    if not (copy / ".codegraph").exists():
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        subprocess.run([args.codegraph, "init", "-y", copy], check=True, stdout=subprocess.DEVNULL)
    server = Server([args.codegraph, "serve", "--mcp", "--path", copy])
    for key, query in asked:
        yield key, server.call("codegraph_explore", {"query": query, "maxFiles": 10})["content"][0]["text"]
    server.close()
    end_daemon(copy / ".codegraph" / "daemon.pid")
    shutil.rmtree(copy)


def end_daemon(file):
    """Ends the daemon that this run's codegraph server started for its copy of the project."""
    if file.exists() and (found := re.search(r"\d+", file.read_text("utf-8"))):
        try:
            os.kill(int(found[0]), signal.SIGTERM)
        except ProcessLookupError:
            pass


def answers(args, tool, name, root, asked):
    """Stored answers of a tool about one project, asked for first if there are none."""
    file = args.work / "raw" / tool / f"{name}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(dict(globals()[tool](args, root, asked))), "utf-8")
    return json.loads(file.read_text("utf-8"))


def cut(tool, answer, size):
    text = answer[str(size)] if isinstance(answer, dict) else answer
    text = text[:size]
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t") if tool == "semble" else text


def score(args, tool):
    """Rows of one tool: for every task and variant, what is seen at each size."""
    rows = []
    for name, tasks in by_project(args.work).items():
        root = (args.work / "trees" / name).resolve()
        found = answers(args, tool, name, root, [pair for task in tasks for pair in variants(task)])
        for task in tasks:
            for key, _ in variants(task):
                for size in SIZES:
                    lines, ranges, files = seen(root, task["functions"], cut(tool, found[key], size))
                    rows.append({"key": key, "repo": name, "size": size, "line": lines > 0, "range": ranges > 0, "file": files > 0})
    return rows


def share(rows, what):
    return 100 * sum(row[what] for row in rows) / max(len(rows), 1)


def add_arguments(parser):
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("tool", nargs="+", choices=TOOLS)
    parser.add_argument("--docent")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--codegraph")
    parser.add_argument("--out", type=pathlib.Path, help="adds the figures to this JSON file")


def run(args):
    print("| tool | question | " + " | ".join(f"{size:,}" for size in SIZES) + " | range named, 4,000 | file named, 4,000 | line or range, 4,000 |")
    print("|---|---|" + "--:|" * 6)
    kept = json.loads(args.out.read_text("utf-8")) if args.out and args.out.exists() else {}
    for tool in args.tool:
        rows = score(args, tool)
        (args.work / "raw" / tool / "rows.json").write_text(json.dumps(rows), "utf-8")
        for label, longer in (("subject", False), ("and paragraph", True)):
            some = [row for row in rows if row["key"].endswith("+") == longer]
            by_size = {size: [row for row in some if row["size"] == size] for size in SIZES}
            at = by_size[4000]
            either = 100 * sum(row["line"] or row["range"] for row in at) / max(len(at), 1)
            figures = [*(share(by_size[size], "line") for size in SIZES), share(at, "range"), share(at, "file"), either]
            print(f"| {tool} | {label} ({len(at)}) | " + " | ".join(f"{one:.1f}" for one in figures) + " |")
            names = [*(str(size) for size in SIZES), "range", "file", "either"]
            kept.setdefault("screen", {}).setdefault(tool, {})[label] = dict(zip(names, (round(one, 1) for one in figures)))
        sys.stdout.flush()
    if args.out:
        args.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
