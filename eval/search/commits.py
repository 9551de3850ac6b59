"""From the subject of a commit to the files it changed: questions in the words of developers.

    python3 eval/search/run.py commits DOCENT WORK REPOSITORY… [--questions 30] [--back 400] [--out FILE]

Each repository is checked out as it was `back` commits ago. The questions are subjects of later commits that changed one to five files
of code which existed already, so neither the code nor any message in the index knows of them. The targets are the changed
files; the score is NDCG@10 over files. docent answers twice, with and without commits in the index. The baseline is an agent
without docent: `rg` for each word of the subject, files ordered by how many of the words they contain, then by how often.
"""

import collections
import math
import os
import random
import re
import subprocess
import sys
import tempfile

from benchmark import mean, write_lines
from client import ask

CODE = re.compile(r"\.(c|cc|cpp|cs|ex|go|h|hpp|hs|java|js|jsx|kt|lua|php|py|rb|rs|scala|swift|ts|tsx|zig)$")
ASIDE = re.compile(r"(^|/)(tests?|spec|specs|__tests__|testdata|examples?|docs?|vendor|benches|bench)(/|$)|[._-](test|spec)s?\.|_test\.", re.I)
IDLE = re.compile(r"^(merge|bump|release|update (dep|change|read)|chore|docs?|ci|test|style|build|revert|version|v?\d)|typo|changelog|readme|lint", re.I)
STOP = set("the a an and or of to in on for with from by is are be as at it this that when if not no use add fix fixes fixed make".split())


def git(repository, *words):
    return subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True, text=True, errors="replace").stdout


def questions(repository, back, most, dice):
    """The commit to search in, and up to `most` later commits with their subjects and changed files, shuffled."""
    ids = git(repository, "rev-list", "--first-parent", f"--max-count={back + 1}", "HEAD").split()
    base = ids[-1]
    there = set(git(repository, "ls-tree", "-r", "--name-only", base).splitlines())
    found = []
    for id in git(repository, "rev-list", "--no-merges", f"{base}..HEAD").split():
        subject, *paths = git(repository, "show", "--no-renames", "--name-only", "--format=%s", id).strip().splitlines()
        subject = re.sub(r"\s*\(#\d+\)|^\w+(\([^)]*\))?!?:\s*", "", subject)
        code = {path for path in paths if path in there and CODE.search(path) and not ASIDE.search(path)}
        if 1 <= len(code) <= 5 and len(subject.split()) >= 4 and len(subject) <= 200 and not IDLE.search(subject):
            found.append({"id": id, "query": subject, "files": sorted(code)})
    dice.shuffle(found)
    return base, found[:most]


def ndcg(files, targets):
    shown = list(dict.fromkeys(files))[:10]
    gain = sum(1 / math.log2(rank + 1) for rank, file in enumerate(shown, 1) if file in targets)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(targets)) + 1))


def by_words(root, query):
    """Files by how many words of the query they contain, then by how often: what `rg` alone can tell."""
    words = {word.lower() for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", query)} - STOP
    has, often = collections.Counter(), collections.Counter()
    for word in words:
        lines = subprocess.run(["rg", "-i", "-c", "--fixed-strings", "--", word, "."], cwd=root, capture_output=True, text=True).stdout
        for line in lines.splitlines():
            path, count = line.rsplit(":", 1)
            has[path.removeprefix("./")] += 1
            often[path.removeprefix("./")] += int(count)
    return sorted(has, key=lambda path: (-has[path], -often[path], path))


def add_arguments(parser):
    parser.add_argument("docent")
    parser.add_argument("work")
    parser.add_argument("repository", nargs="+")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--back", type=int, default=400)
    parser.add_argument("--out")


def run(args):
    docent, dice, rows, lines = os.path.abspath(args.docent), random.Random(9), [], []
    for repository in args.repository:
        name = os.path.basename(repository.rstrip("/"))
        base, asked = questions(repository, args.back, args.questions, dice)
        root = os.path.join(os.path.abspath(args.work), name)
        if not os.path.isdir(root):
            subprocess.run(["git", "clone", "-q", "--no-checkout", os.path.abspath(repository), root], check=True)
            git(root, "checkout", "-q", "--detach", base)
        queries = [one["query"] for one in asked]
        scores = {}
        for way, settings in {"docent": [], "without commits": ["--set", "index.max_commits=0"]}.items():
            with tempfile.TemporaryDirectory(prefix="docent-eval-") as home:
                answers = list(ask(docent, root, queries, home, settings))
                scores[way] = [ndcg([one["path"] for one in results], one_asked["files"]) for one_asked, results in zip(asked, answers)]
        scores["rg"] = [ndcg(by_words(root, one["query"]), one["files"]) for one in asked]
        rows.append((name, base[:7], len(asked), *(mean(scores[way]) for way in ("docent", "without commits", "rg"))))
        print("| {} | {} | {} | {:.3f} | {:.3f} | {:.3f} |".format(*rows[-1]))
        sys.stdout.flush()
        for at, one in enumerate(asked):
            lines.append({"repo": name, "base": base, "commit": one["id"], "files": one["files"], **{way: round(scores[way][at], 4) for way in scores}})
    print("| mean | | {} | {:.3f} | {:.3f} | {:.3f} |".format(sum(row[2] for row in rows), *(mean(row[at] for row in rows) for at in (3, 4, 5))))
    if args.out:
        write_lines(args.out, lines)
