#!/usr/bin/env python3
"""How often a folded function shows the lines that a fix changed.

    run.py collect FOLD OUT MIRROR…    writes OUT/NAME.jsonl: long functions that fixes changed, with their texts
    run.py score FOLD DATA.jsonl…      folds each function with the subject of its fix as the focus

FOLD is the example `fold` of docent-core, MIRROR a git directory named `owner+name` or `owner+name/repo`.
"""
import json
import random
import re
import subprocess
import sys
from pathlib import Path

MIN_LINES = 81
BUDGET = 0.35
MAX_FILES_OF_COMMIT = 10
MAX_FUNCTIONS_OF_PROJECT = 250
MAX_FIXES_OF_FUNCTION = 2
EXTENSIONS = "py rs go ts tsx js java c h cc cpp rb php kt cs".split()
FIX = re.compile(r"\b(fix|fixe[sd]|fixing|bugfix|bug)\b", re.I)
NOT_SOURCE = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|testdata|e2e|benches|benchmarks?|asv_bench|fixtures|vendor|deps"
    r"|third_party|node_modules)/|_test\.go$|(^|/)test_[^/]*\.py$|[._](test|spec)\.[a-z]+$|(^|/)tests?\.[a-z]+$"
)


def git(mirror, *arguments):
    return subprocess.run(["git", "-C", mirror, *arguments], capture_output=True, check=True).stdout


def fixes(mirror):
    """(commit, subject, {path: [hunk]}) of every fix of few files; a hunk is (first, count) before the fix."""
    command = ["git", "-C", mirror, "log", "--no-merges", "-i", "--grep=fix", "-p", "-U0", "--no-renames",
               "--no-color", "--no-ext-diff", "--format=%x01%H%x09%s", "--", *(f"*.{e}" for e in EXTENSIONS)]
    commit = subject = path = None
    files = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as log:
        for raw in log.stdout:
            if raw.startswith(b"\x01"):
                if commit and files and len(files) <= MAX_FILES_OF_COMMIT and FIX.search(subject):
                    yield commit, subject, files
                commit, subject = raw[1:].decode("utf-8", "replace").rstrip("\n").split("\t", 1)
                files, path = {}, None
            elif raw.startswith(b"diff --git "):
                path, in_header = None, True
            elif raw.startswith(b"--- ") and in_header:
                name = raw[4:].decode("utf-8", "replace").rstrip("\n")
                path = name[2:] if name.startswith("a/") else None
            elif raw.startswith(b"@@ "):
                in_header = False
                found = re.match(rb"@@ -(\d+)(?:,(\d+))? ", raw)
                if path and found:
                    files.setdefault(path, []).append((int(found[1]), int(found[2] or 1)))
    if commit and files and len(files) <= MAX_FILES_OF_COMMIT and FIX.search(subject):
        yield commit, subject, files


class Blobs:
    """Texts of files at commits, through one `git cat-file`."""

    def __init__(self, mirror):
        self.cat = subprocess.Popen(["git", "-C", mirror, "cat-file", "--batch"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def read(self, name):
        self.cat.stdin.write(name.encode() + b"\n")
        self.cat.stdin.flush()
        head = self.cat.stdout.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            return None
        data = self.cat.stdout.read(int(head[2]))
        self.cat.stdout.read(1)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None


class Functions:
    """Functions of a text, through one process of the example."""

    def __init__(self, fold):
        self.process = subprocess.Popen([fold, "functions", str(MIN_LINES)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def of(self, path, text):
        self.process.stdin.write(json.dumps({"path": path, "text": text}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def changed_lines(hunks, first, last):
    """The lines of a function that a fix changed; the two beside it for an insertion."""
    lines = set()
    for start, count in hunks:
        if count:
            lines.update(n for n in range(start, start + count) if first <= n <= last)
        elif first <= start and start + 1 <= last:
            lines.update((start, start + 1))
    return lines


def collect(fold, out, mirrors):
    Path(out).mkdir(parents=True, exist_ok=True)
    for mirror in map(Path, mirrors):
        named = mirror.parent if mirror.name == "repo" else mirror
        blobs, functions, seen, kept = Blobs(mirror), Functions(fold), {}, []
        candidates = [(commit, subject, path, hunks) for commit, subject, files in fixes(mirror)
                      for path, hunks in sorted(files.items()) if not NOT_SOURCE.search(path)]
        random.Random(1).shuffle(candidates)
        for commit, subject, path, hunks in candidates:
            if len(kept) >= MAX_FUNCTIONS_OF_PROJECT:
                break
            text = blobs.read(f"{commit}^:{path}")
            if text is None or text.count("\n") < MIN_LINES or "\r" in text or len(text) > 1_000_000:
                continue
            lines = text.split("\n")
            taken = set()
            # Innermost first: a change belongs to the smallest long function around it.
            for name, first, last in sorted(functions.of(path, text), key=lambda f: f[2] - f[1]):
                changed = changed_lines(hunks, first, last) - taken
                taken |= changed
                if not changed or seen.get((path, name), 0) >= MAX_FIXES_OF_FUNCTION:
                    continue
                seen[path, name] = seen.get((path, name), 0) + 1
                kept.append({"project": named.name, "commit": commit, "path": path, "name": name, "first": first,
                             "last": last, "changed": sorted(changed), "focus": subject,
                             "text": "\n".join(lines[first - 1:last]) + "\n"})
        (Path(out) / f"{named.name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        print(f"{named.name}: {len(candidates)} changed files, {len(kept)} functions")


def folded_chars(row, shown):
    """Characters of the folded form: exact lines, and a marker for each fold."""
    lines = row["text"].split("\n")[:-1]
    chars, fold_start = 0, None
    for number, line in enumerate([*lines, None], row["first"]):
        if line is not None and number not in shown:
            fold_start = fold_start or number
            continue
        if fold_start:
            chars += len(f"… {number - fold_start} lines {fold_start}-{number - 1}\n")
            fold_start = None
        if line is not None:
            chars += len(line) + 1
    return chars


def score(fold, files):
    print("| project | functions | lines, median | changed lines, median | characters, mean | over budget "
          "| changed line visible | within 3 lines |\n|---|---|---|---|---|---|---|---|")
    total = []
    for file in files:
        rows = [json.loads(line) for line in Path(file).read_text().splitlines()]
        asked = "".join(json.dumps({**row, "budget": BUDGET}) + "\n" for row in rows)
        answers = subprocess.run([fold, "show"], input=asked.encode(), capture_output=True, check=True).stdout
        measured = []
        for row, answer in zip(rows, answers.splitlines(), strict=True):
            shown = set()
            for first, last in json.loads(answer):
                shown.update(range(first, last + 1))
            share = folded_chars(row, shown) / len(row["text"])
            distance = min(abs(line - at) for line in row["changed"] for at in shown)
            measured.append((row["last"] - row["first"] + 1, len(row["changed"]), share, distance))
        total += measured
        print_row(Path(file).stem, measured)
    print_row("all", total)


def print_row(name, measured):
    count = len(measured)
    middle = lambda at: sorted(row[at] for row in measured)[count // 2]
    share = sum(row[2] for row in measured) / count
    over = sum(row[2] > BUDGET for row in measured)
    visible = sum(row[3] == 0 for row in measured) / count
    near = sum(row[3] <= 3 for row in measured) / count
    print(f"| {name} | {count} | {middle(0)} | {middle(1)} | {share:.3f} | {over} | {100 * visible:.1f} % "
          f"| {100 * near:.1f} % |")


if __name__ == "__main__":
    if len(sys.argv) > 4 and sys.argv[1] == "collect":
        collect(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) > 3 and sys.argv[1] == "score":
        score(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
