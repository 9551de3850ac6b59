"""Sizes of everyday answers in characters: medians over 20 calls of four tools on each of three projects.

    python3 eval/agent/run.py sizes MIRRORS WORK --docent DOCENT [--form compact|contract]

The calls are drawn from the projects themselves, always the same ones: words that 50 to 500 lines have, subjects of the latest fixes,
functions of 5 to 120 lines, and files with at least ten commits.
"""

import collections
import json
import pathlib
import random
import re
import statistics
import sys

from definitions import GRAMMARS, extension_of, functions
from docents import Docent
from shell import STOP
from tasks import ASIDE, FIX, IDLE, git, mirror_of, question_of
from visible import files_of, lines_of

PROJECTS = ("go-gitea/gitea", "expressjs/express", "pallets/flask")
CALLS = 20
COMMON = (50, 500)
FUNCTION_LINES = (5, 120)
COMMITS = 10
AIMS = {"grep": 2500, "search": 2200, "read": 1.1, "log": 2000}


def check_out(args, name):
    root = (args.work / "sizes" / name.partition("/")[2]).resolve()
    if not root.exists():
        git(args.work, "clone", "-q", str(mirror_of(args.mirrors, name).resolve()), str(root))
    return root


def code_of(root):
    return sorted(path for path in files_of(str(root)) if extension_of(path) in GRAMMARS and not ASIDE.search(path) and (root / path).is_file())


def common_words(root, dice):
    """Words of the code that many lines have; in a small project the most common ones."""
    counts = collections.Counter()
    for path in code_of(root):
        for line in lines_of(str(root), path):
            counts.update({word for word in re.findall(r"[A-Za-z_]{4,}", line) if word.lower() not in STOP})
    found = sorted(word for word, count in counts.items() if COMMON[0] <= count <= COMMON[1])
    return dice.sample(found, CALLS) if len(found) >= CALLS else [word for word, _ in counts.most_common(CALLS)]


def subjects(root):
    found = []
    for commit in git(root, "rev-list", "--no-merges", "--max-count=3000", "HEAD").split():
        subject = git(root, "show", "-s", "--format=%s", commit).strip()
        if FIX.search(subject) and not IDLE.search(subject) and len(subject.split()) >= 4:
            found.append(question_of(root, commit)[0])
            if len(found) == CALLS:
                break
    return found


def some_functions(root, dice):
    """Functions with a name that their file has once."""
    found = []
    for path in code_of(root):
        text = "\n".join(lines_of(str(root), path))
        all_here = functions(text, extension_of(path))
        names = collections.Counter(one.name for one in all_here)
        found += [(path, one) for one in all_here if names[one.name] == 1 and FUNCTION_LINES[0] <= one.end - one.start + 1 <= FUNCTION_LINES[1]]
    return dice.sample(found, min(CALLS, len(found)))


def some_files(root, dice):
    paths, found = code_of(root), []
    dice.shuffle(paths)
    for path in paths:
        if len(git(root, "log", f"--max-count={COMMITS}", "--format=%h", "--", path).split()) == COMMITS:
            found.append(path)
            if len(found) == CALLS:
                break
    return found


def measure(args, name):
    root, dice = check_out(args, name), random.Random(5)
    docent = Docent(args.docent, root, args.work / "home", args.form)
    sizes = {"grep": [len(docent.ask("grep_codebase", {"pattern": word})) for word in common_words(root, dice)]}
    sizes["search"] = [len(docent.fresh().ask("context_search", {"query": query[:500]})) for query in subjects(root)]
    sizes["read"] = []
    for path, one in some_functions(root, dice):
        own = sum(len(line) + 1 for line in lines_of(str(root), path)[one.start - 1 : one.end])
        try:
            sizes["read"].append(len(docent.ask("read_file", {"path": path, "symbol": one.name})) / own)
        except ValueError as error:
            print(error, file=sys.stderr)  # Files that docent refuses to show by their names.
    sizes["log"] = [len(docent.ask("git_log", {"filePath": path, "maxCount": COMMITS})) for path in some_files(root, dice)]
    docent.close()
    return sizes


def add_arguments(parser):
    parser.add_argument("mirrors")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--form", choices=["contract", "compact"], default="compact")
    parser.add_argument("--out", type=pathlib.Path, help="adds the figures to this JSON file")


def run(args):
    print("| project | grep of a common word | search | read of a symbol, of its lines | log of ten commits |\n|---|--:|--:|--:|--:|")
    table = {}
    for name in PROJECTS:
        sizes = measure(args, name)
        row = {what: round(statistics.median(values), 2) for what, values in sizes.items() if values}
        table[name] = row
        print(f"| {name} | " + " | ".join(f"{row.get(what, '–'):,}" for what in AIMS) + " |")
        sys.stdout.flush()
    print("| aim | " + " | ".join(f"≤ {aim:,}" for aim in AIMS.values()) + " |")
    if args.out:
        kept = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {}
        kept.setdefault("sizes", {})[args.form] = table
        args.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
