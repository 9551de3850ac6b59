"""CPU time of `docent sh` beside the programs, on the same trees in one run.

    python3 eval/shell/cpu.py DOCENT TREE … [--rounds 15]

Each command is run in turn with its program, `docent sh --plain` and `docent sh`, and the median of user and system time is shown in
milliseconds. Allowed are 1.3 times the program and 15 ms. A tree is a work tree of git. Patterns are words of the tree: one that is
frequent, one in between and one that is rare, drawn with a fixed seed from its files of code.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess

EXTENSIONS = {".rs", ".py", ".go", ".ts", ".js", ".java", ".c", ".h", ".rb"}


def cpu(words, tree):
    """User and system time of one run, in milliseconds."""
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen(words, cwd=tree, stdin=null, stdout=null, stderr=null)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
    return 1000 * (usage.ru_utime + usage.ru_stime)


def words_of(tree):
    """A frequent, a middling and a rare name of the tree."""
    listed = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True).stdout.splitlines()
    files = sorted(path for path in listed if pathlib.Path(path).suffix in EXTENSIONS)
    random.Random(25).shuffle(files)
    counts = collections.Counter()
    for path in files[:300]:
        file = tree / path
        if file.is_file():
            counts.update(re.findall(r"[A-Za-z_]\w{4,}", file.read_text("utf-8", "replace")))
    ranked = [word for word, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
    return ranked[3], ranked[200], ranked[len(ranked) // 4]


def commands(tree):
    frequent, middling, rare = words_of(tree)
    for word in (frequent, middling, rare):
        yield ["grep", "-rn", word, "."]
    yield ["grep", "-rn", "--include=*.*", f"{middling}\\|{rare}", "."]
    yield ["rg", "-n", middling]
    yield ["find", ".", "-name", "*.md"]
    yield ["git", "diff", "HEAD~1"]
    yield ["git", "log", "--oneline", "-20"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("trees", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    docent = os.path.abspath(args.docent)
    print("| tree | command | program | docent sh --plain | docent sh | allowed | |\n|---|---|--:|--:|--:|--:|---|")
    for tree in args.trees:
        for words in commands(tree):
            if not shutil.which(words[0]):
                continue
            ways = [words, [docent, "sh", "--plain", *words], [docent, "sh", *words]]
            times = [[] for _ in ways]
            for _ in range(args.rounds):
                for way, measured in zip(ways, times):
                    measured.append(cpu(way, tree))
            program, plain, short = (statistics.median(one) for one in times)
            allowed = 1.3 * program + 15
            mark = "" if short <= allowed else f"missed by {short - allowed:.0f}"
            print(f"| {tree.name} | `{' '.join(words)}` | {program:.0f} | {plain:.0f} | {short:.0f} | {allowed:.0f} | {mark} |")


if __name__ == "__main__":
    main()
