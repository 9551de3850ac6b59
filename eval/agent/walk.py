"""A scripted agent: the characters it reads until lines of a function that the fix changed are on its screen.

    python3 eval/agent/run.py walk WORK --docent DOCENT [--form compact|contract]

Both agents know the question only, and follow a fixed policy of at most 12 calls and 60,000 characters of answers.

- docent: `context_search` of 4,000 characters; then for each of the best files its outline and the three definitions whose names
  share most words with the question; then `grep_codebase` by the rarest words.
- shell: a list of files by how many words of the question they have; then `sed -n` of 200 lines around the densest place of each of
  the best files, and second places after that.

An outline and a list of files never count as success: no line of a body is on them.
"""

import json
import pathlib
import re
import statistics
import sys

from docents import Docent
from screen import by_project
from shell import best_cluster, matching_lines, ranked_files, rg, globs, words_of
from visible import lines_of, sections, seen

MAX_CALLS = 12
MAX_CHARACTERS = 60_000
SEARCH_CHARACTERS = 4000
LISTED_FILES = 10
SPAN = 200
OUTLINE_ROW = re.compile(r"(\d+)\s*[-–]\s*(\d+)")


def readable(text):
    """The text of an answer. The contract form of some tools is JSON, in which a model reads escaped lines."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t") if text.startswith("{") else text


class Screen:
    """What one agent has read so far."""

    def __init__(self, root, functions):
        self.root, self.functions = root, functions
        self.characters = self.calls = 0
        self.found = False
        self.steps = []

    def show(self, step, text, counts=True, path=""):
        """Adds an answer, about `path` if it does not say so. Returns whether the agent goes on."""
        self.calls += 1
        self.characters += len(text)
        self.found = counts and seen(self.root, self.functions, f"{path}\n{readable(text)}").lines > 0
        self.steps.append([step, len(text)])
        return not self.found and self.calls < MAX_CALLS and self.characters < MAX_CHARACTERS

    def result(self):
        return {"found": self.found, "calls": self.calls, "characters": self.characters, "steps": self.steps}


def parts(text):
    return {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text) if len(part) > 2}


def best_definitions(outline, question, most):
    """Ranges of the outline's rows that share most words with the question."""
    wanted, rows = parts(question), []
    for line in outline.splitlines():
        if found := OUTLINE_ROW.search(line):
            rows.append((len(parts(line) & wanted), int(found[1]), int(found[2])))
    rows = [row for row in rows if row[0]]
    rows.sort(key=lambda row: (-row[0], row[2] - row[1]))
    return [(start, end) for _, start, end in rows[:most]]


def rarest(root, words):
    """The words that fewest lines have, those that none has left out."""
    counts = {}
    for word in words:
        found = rg(root, "-i", "-c", "--no-filename", "--fixed-strings", *globs(), "--", word, ".")
        if total := sum(int(line) for line in found.split()):
            counts[word] = total
    return sorted(counts, key=lambda word: (counts[word], word))


def with_docent(docent, form, root, question, screen):
    size = {"maxChars": SEARCH_CHARACTERS} if form == "compact" else {"limit": 5}
    answer = docent.ask("context_search", {"query": question, **size})
    if not screen.show("search", answer):
        return
    files = list(dict.fromkeys(path for path, _ in sections(str(root), answer) if path))
    for path in files[:3]:
        outline = docent.try_asking("read_file", {"path": path, "outline": True})
        if not screen.show(f"outline {path}", outline, counts=False):
            return
        for start, end in best_definitions(readable(outline), question, 3):
            text = docent.try_asking("read_file", {"path": path, "ranges": [f"{start}-{end}"]})
            if not screen.show(f"read {path}:{start}-{end}", text, path=path):
                return
    for word in rarest(root, words_of(question))[:2]:
        if not screen.show(f"grep {word}", docent.ask("grep_codebase", {"pattern": re.escape(word)})):
            return


def with_shell(root, question, screen):
    words = words_of(question)
    files = ranked_files(root, words)
    if not screen.show("rg", "\n".join(files[:LISTED_FILES]), counts=False):
        return
    taken = {}
    for turn in range(2):
        for path in files[:LISTED_FILES] if turn == 0 else files[:3]:
            matches = matching_lines(root, path, words)
            at = best_cluster(matches, SPAN, taken.setdefault(path, []))
            if at is None:
                continue
            taken[path].append(at)
            start = max(at - 10, 1)
            text = "\n".join(lines_of(str(root), path)[start - 1 : start - 1 + SPAN])
            if not screen.show(f"sed {path}:{start}", text, path=path):
                return


def add_arguments(parser):
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--form", choices=["contract", "compact"], default="compact")
    parser.add_argument("--out", type=pathlib.Path, help="adds the figures to this JSON file")


def walk(args):
    rows = []
    for name, tasks in by_project(args.work).items():
        root = (args.work / "trees" / name).resolve()
        docent = Docent(args.docent, root, args.work / "home", args.form)
        for task in tasks:
            one, other = Screen(root, task["functions"]), Screen(root, task["functions"])
            with_docent(docent.fresh(), args.form, root, task["subject"], one)
            with_shell(root, task["subject"], other)
            rows.append({"id": task["id"], "repo": name, "docent": one.result(), "shell": other.result()})
        docent.close()
    return rows


def figures(rows, who):
    read = [row[who]["characters"] for row in rows]
    found = 100 * sum(row[who]["found"] for row in rows) / len(rows)
    return {"success": round(found, 1), "sum": sum(read), "median": round(statistics.median(read)), "calls": round(sum(row[who]["calls"] for row in rows) / len(rows), 1)}


def run(args):
    rows = walk(args)
    (args.work / "raw" / f"walk-{args.form}.json").write_text(json.dumps(rows), "utf-8")
    table = {who: figures(rows, who) for who in ("docent", "shell")}
    print("| | success | characters, sum | median | calls |\n|---|--:|--:|--:|--:|")
    for who, one in table.items():
        print(f"| {who} | {one['success']} % | {one['sum']:,} | {one['median']:,} | {one['calls']} |")
    both = [row for row in rows if row["docent"]["found"] and row["shell"]["found"]]
    ratio = {"sum": table["docent"]["sum"] / table["shell"]["sum"], "median": table["docent"]["median"] / table["shell"]["median"]}
    if both:
        ratio["where both find it"] = sum(row["docent"]["characters"] for row in both) / sum(row["shell"]["characters"] for row in both)
    print("docent / shell: " + ", ".join(f"{what} {value:.2f}" for what, value in ratio.items()))
    if args.out:
        kept = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {}
        kept.setdefault("walk", {})[args.form] = {**table, "ratio": {what: round(value, 2) for what, value in ratio.items()}}
        args.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    sys.stdout.flush()
