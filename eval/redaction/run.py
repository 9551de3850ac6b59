"""False alarms of redaction on commit messages and lines of documentation.

usage: run.py REDACT REPOSITORY... [--show]

REDACT is the example of docent-core (`cargo build --release -p docent-core --example redact`), a REPOSITORY is
a clone, bare or not. From each repository it takes the same number of commit messages and of lines of its
`.md`, `.rst` and `.txt` files, 10,000 texts of both together, by a fixed seed. `--show` prints the flagged texts,
with the secrets replaced, for the reader to judge.
"""

import random
import subprocess
import sys
from pathlib import Path

TEXTS = 10_000


def git(repository, *arguments):
    command = ["git", "-C", repository, *arguments]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")


def commit_messages(repository):
    return [text.strip() for text in git(repository, "log", "-z", "--format=%B", "-n", "20000").split("\0")]


def doc_lines(repository):
    names = git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    names = sorted(name for name in names if Path(name).suffix in (".md", ".rst", ".txt"))
    random.Random(1).shuffle(names)
    lines = []
    for name in names[:600]:
        lines += [line.strip() for line in git(repository, "show", f"HEAD:{name}").splitlines()]
    return lines


def sample(texts, count):
    texts = sorted({text for text in texts if text and "\0" not in text})
    random.Random(1).shuffle(texts)
    return texts[:count]


def main():
    arguments = [one for one in sys.argv[1:] if one != "--show"]
    redact, repositories = arguments[0], arguments[1:]
    share = TEXTS // (2 * len(repositories))
    print("| repository | texts | refused (`find_secret`) | redacted (`redact`) |\n|---|---|---|---|")
    totals = [0, 0, 0]
    shown = []
    for repository in repositories:
        messages = sample(commit_messages(repository), share)
        lines = sample(doc_lines(repository), 2 * share - len(messages))
        texts = messages + lines
        result = subprocess.run(
            [redact, "flagged"], input="\0".join(texts).encode(), capture_output=True, check=True
        ).stdout.decode()
        flagged = [line for line in result.splitlines() if not line.startswith("texts\t")]
        refused = [line for line in flagged if line.startswith("refused")]
        counts = [len(texts), len(refused), len(flagged)]
        totals = [total + count for total, count in zip(totals, counts)]
        path = Path(repository).resolve()
        name = (path.parent if path.name in ("repo", ".git") else path).name.replace("+", "/")
        print(f"| {name} ({len(messages)} messages) | " + " | ".join(map(str, counts)) + " |")
        shown += flagged
    print("| all | " + " | ".join(map(str, totals)) + " |")
    print(f"\nshare: refused {totals[1] / totals[0]:.2%}, redacted {totals[2] / totals[0]:.2%}")
    if "--show" in sys.argv:
        print("\n".join(shown))


main()
