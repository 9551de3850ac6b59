#!/usr/bin/env python3
"""From a whole issue to the files and functions that its fix changed: docent, and BM25 beside it.

    run.py prepare LOCAGENT MIRRORS WORK
    run.py docent BINARY WORK NAME [--count N] [--first CHARACTERS]
    run.py example BINARY WORK NAME [--count N] [--weights NAME=VALUE …]
    run.py bm25 WORK [--count N] [--first CHARACTERS]
    run.py table WORK NAME … [--misses N]

`docent` asks a server for each tree, `example` the program `search` of docent-engine, which takes weights. The index of a
tree is made once for each NAME, in WORK/cache/NAME. Ranks go to WORK/ranks/NAME.jsonl. `--first` asks with the beginning of
the issue alone, as the query.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "bench"))

import tasks as swe  # noqa: E402
from server import Server  # noqa: E402

RESULTS = 20
FUNCTION_RESULTS = 10


def ranks(task, results):
    """Ranks from 1 at which all gold files, among distinct files, and all gold functions are found; None if they are not."""
    files = list(dict.fromkeys(path for path, _, _ in results))
    places = [files.index(path) + 1 if path in files else None for path in task["files"]]

    def overlaps(function):
        path, first, last = function
        found = (at for at, (other, start, end) in enumerate(results, 1) if other == path and start <= last and end >= first)
        return next(found, None)

    functions = [overlaps(function) for function in task["functions"]]
    worst = lambda all_of: max(all_of) if all_of and None not in all_of else None  # noqa: E731
    return {"task": task["id"], "file": worst(places), "function": worst(functions), "has_functions": bool(functions)}


def question(task, first):
    """The arguments of the call: the whole issue as details, or its beginning as the query."""
    issue = "".join(c for c in task["issue"] if c.isprintable() or c in "\n\t").strip()
    if first:
        return {"query": issue[:first]}
    title = issue.splitlines()[0].strip()[:490]
    return {"query": title if len(title) > 2 else issue[:490], "details": issue[:20_000]}


def ask_server(binary, work, name, task, first):
    cache = work / "cache" / name / task["id"]
    environment = {**os.environ, "HOME": str(cache), "XDG_CACHE_HOME": str(cache / "cache"), "XDG_STATE_HOME": str(cache / "state")}
    command = [str(binary), "--root", str(work / "trees" / task["id"]), "--set", "limit.context_search=0", "--set", "answer.max_chars=1000000"]
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, "index"], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server([*command, "serve"], environment)
    started = time.monotonic()
    answer = server.call("context_search", {**question(task, first), "limit": RESULTS, "format": "json"})
    taken = (time.monotonic() - started) * 1e3
    server.close()
    text = answer["content"][0]["text"]
    if answer.get("isError"):
        sys.exit(f"{task['id']}: {text}")
    found = json.loads(text)["results"]
    return [(one["path"], one["startLine"], one["endLine"]) for one in found if one.get("startLine")], taken


def run_server(given, all_tasks):
    for task in all_tasks:
        results, taken = ask_server(pathlib.Path(given.binary).resolve(), given.work, given.name, task, given.first)
        yield {**ranks(task, results), "milliseconds": round(taken, 1)}


def run_example(given, all_tasks):
    questions, answers = (given.work / f"{given.name}-{part}.jsonl" for part in ("questions", "answers"))
    with questions.open("w") as out:
        for task in all_tasks:
            root = str((given.work / "trees" / task["id"]).resolve())
            out.write(json.dumps({"repo": task["id"], "root": root, **question(task, given.first)}) + "\n")
    cache = given.work / "cache" / f"{given.name.partition('@')[0]}-example"
    subprocess.run([given.binary, questions, answers, cache, *given.weights], check=True)
    for task, line in zip(all_tasks, answers.read_text().splitlines()):
        found = json.loads(line)["results"]
        yield ranks(task, [(one["path"], one["start_line"], one["end_line"]) for one in found if one["start_line"]])


def run_bm25(given, all_tasks):
    """Files by BM25 over files, functions by BM25 over functions."""
    for task in all_tasks:
        tree = given.work / "trees" / task["id"]
        files, functions = [], []
        for file in sorted(tree.rglob("*.py")):
            path = str(file.relative_to(tree))
            text = file.read_text("utf-8", "replace")
            lines = text.splitlines()
            files.append(((path, 1, len(lines)), f"{path}\n{text}"))
            for name, first, last in swe.functions_of(file):
                functions.append(((path, first, last), f"{path} {name}\n" + "\n".join(lines[first - 1 : last])))
        text = task["issue"][: given.first] if given.first else task["issue"]
        by_file, by_function = ranks(task, bm25(files, text)), ranks(task, bm25(functions, text))
        yield {**by_file, "function": by_function["function"]}


def tokens(text):
    """Words in lower case; identifiers count whole and by their parts."""
    for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]+|\d+", text):
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)
        yield word.lower()
        if len(parts) > 1:
            yield from (part.lower() for part in parts)


def bm25(documents, query, k1=1.2, b=0.75):
    wanted = set(tokens(query))
    counted = [collections.Counter(tokens(text)) for _, text in documents]
    lengths = [sum(counts.values()) for counts in counted]
    average = sum(lengths) / max(len(lengths), 1)
    scores = [0.0] * len(documents)
    for word in sorted(wanted):
        having = [at for at, counts in enumerate(counted) if word in counts]
        weight = math.log(1 + (len(documents) - len(having) + 0.5) / (len(having) + 0.5))
        for at in having:
            count = counted[at][word]
            scores[at] += weight * count * (k1 + 1) / (count + k1 * (1 - b + b * lengths[at] / average))
    best = sorted(range(len(documents)), key=lambda at: (-scores[at], documents[at][0]))[:RESULTS]
    return [documents[at][0] for at in best]


def measures(rows):
    """Shares in percent. Functions count where the fix changed one."""
    share = lambda all_of: 100 * sum(all_of) / max(len(all_of), 1)  # noqa: E731
    within = lambda rank, most: rank is not None and rank <= most  # noqa: E731
    functions = [within(row["function"], FUNCTION_RESULTS) for row in rows if row["has_functions"]]
    return [share([within(row["file"], most) for row in rows]) for most in (1, 5, 10)] + [share(functions)]


def interval(rows, other, at):
    """95 % of the differences of 2,000 samples with replacement, paired by task."""
    draw, pairs = random.Random(24), list(zip(rows, other))
    samples = []
    for _ in range(2000):
        sample = draw.choices(pairs, k=len(pairs))
        samples.append(measures([a for a, _ in sample])[at] - measures([b for _, b in sample])[at])
    samples.sort()
    return samples[50], samples[1949]


def table(given):
    loaded = {name: {row["task"]: row for row in map(json.loads, (given.work / "ranks" / f"{name}.jsonl").read_text().splitlines())} for name in given.names}
    common = sorted(set.intersection(*(set(rows) for rows in loaded.values())))
    print(f"{len(common)} tasks\n\n| | File@1 | @5 | @10 | Function@10 |\n|---|--:|--:|--:|--:|")
    first = [loaded[given.names[0]][task] for task in common]
    for name, by_task in loaded.items():
        rows = [by_task[task] for task in common]
        cells = []
        for at, value in enumerate(measures(rows)):
            cell = f"{value:.1f}"
            if name != given.names[0]:
                low, high = interval(first, rows, at)
                cell += f" ({low:+.1f} to {high:+.1f})"
            cells.append(cell)
        print(f"| {name} | " + " | ".join(cells) + " |")
    if given.misses:
        missed = [row for row in first if row["file"] is None or row["file"] > 5 or row["has_functions"] and not (row["function"] or 99) <= 10]
        for row in missed[: given.misses]:
            print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("locagent")
    one.add_argument("mirrors")
    for name in ("docent", "example", "bm25", "table"):
        other = commands.add_parser(name)
        if name in ("docent", "example"):
            other.add_argument("binary")
        other.add_argument("work", type=pathlib.Path)
        if name == "table":
            other.add_argument("names", nargs="+")
            other.add_argument("--misses", type=int, default=0)
            continue
        if name != "bm25":
            other.add_argument("name")
        if name == "example":
            other.add_argument("--weights", nargs="*", default=[])
        other.add_argument("--count", type=int)
        other.add_argument("--first", type=int)
    one.add_argument("work", type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "prepare":
        return swe.prepare(given.locagent, given.mirrors, given.work)
    if given.command == "table":
        return table(given)
    run = {"docent": run_server, "example": run_example, "bm25": run_bm25}[given.command]
    name = "bm25" if given.command == "bm25" else given.name
    rows = list(run(given, swe.load(given.work, given.count)))
    (given.work / "ranks").mkdir(exist_ok=True)
    (given.work / "ranks" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(f"{name}: {len(rows)} tasks  File@1 %.1f  @5 %.1f  @10 %.1f  Function@10 %.1f" % tuple(measures(rows)))


if __name__ == "__main__":
    main()
