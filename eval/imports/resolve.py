#!/usr/bin/env python3
"""How many of the imports inside a project `read_file` finds the files of, in real repositories, and how long it takes.

usage: eval/imports/resolve.py DOCENT REPOSITORIES [--misses N]

REPOSITORIES is a directory with the repositories named below, checked out. An import is one inside the project when it says so:
a relative path, `crate::`, the module of go.mod, a package that the repository declares.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

PROJECTS = [
    ("TypeScript", "nest", ["ts", "tsx"]),
    ("TypeScript", "zod", ["ts", "tsx"]),
    ("Python", "django", ["py"]),
    ("Python", "flask", ["py"]),
    ("Rust", "tokio", ["rs"]),
    ("Rust", "ripgrep", ["rs"]),
    ("Go", "kubernetes", ["go"]),
    ("Go", "gin", ["go"]),
    ("Java", "commons-lang", ["java"]),
    ("Java", "guava", ["java"]),
]
MOST_FILES = 400


class Server:
    def __init__(self, docent, root, *settings):
        command = [docent, "serve", "--root", root, "--set", "limit.read_file=0", *settings]
        environment = {**os.environ, "XDG_CACHE_HOME": "/nonexistent"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.number = 0
        client = {"name": "eval", "version": "0"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def request(self, method, params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def read(self, path):
        started = time.perf_counter()
        arguments = {"path": path, "includeDeps": True}
        answer = self.request("tools/call", {"name": "read_file", "arguments": arguments})["result"]
        return answer, time.perf_counter() - started


def sources(root, extensions):
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules", "vendor", "testdata", "fixtures"))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names) if name.rsplit(".", 1)[-1] in extensions]
    return found[:: max(1, len(found) // MOST_FILES)]


def packages(root, language):
    """What imports of the project's own begin with."""
    if language == "Go":
        return tuple(re.findall(r"^module (\S+)", pathlib.Path(root, "go.mod").read_text(), re.M))
    if language == "Java":
        declared = set()
        for path in sources(root, ["java"]):
            text = pathlib.Path(root, path).read_text(errors="replace")
            declared |= {name + "." for name in re.findall(r"^package ([\w.]+);", text, re.M)}
        return tuple(declared)
    return {"Rust": ("crate",)}.get(language, (".",))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("docent")
    parser.add_argument("repositories")
    parser.add_argument("--misses", type=int, default=0)
    options = parser.parse_args()
    print("| language | repository | files | resolved | not | share | p50 | p95 | p95 of files with 30 dependencies or more |")
    print("|---|---|---|---|---|---|---|---|---|")
    for language, repository, extensions in PROJECTS:
        root = os.path.realpath(os.path.join(options.repositories, repository))
        # All dependencies are counted with one server, and answers of the usual size timed with another.
        server, usual = Server(options.docent, root, "--set", "answer.max_chars=100000000"), Server(options.docent, root)
        own = packages(root, language)
        resolved, misses, times, long_times, files = 0, [], [], [], 0
        for path in sources(root, extensions):
            answer, _ = server.read(path)
            _, took = usual.read(path)
            if answer.get("isError"):
                continue
            files += 1
            found = answer["structuredContent"]["dependencies"]
            imported = [one for one in found if one["type"] == "import"]
            resolved += len(imported)
            misses += [(path, one["path"]) for one in found if one["type"] == "external" and one["path"].startswith(own)]
            times.append(took * 1e3)
            if len(imported) >= 30:
                long_times.append(took * 1e3)
        server.process.stdin.close()
        usual.process.stdin.close()
        p95 = lambda values: f"{sorted(values)[round(0.95 * (len(values) - 1))]:.1f} ms" if values else "-"
        share = 100 * resolved / max(1, resolved + len(misses))
        print(f"| {language} | {repository} | {files:,} | {resolved:,} | {len(misses):,} | {share:.1f} % "
              f"| {statistics.median(times):.1f} ms | {p95(times)} | {p95(long_times)} ({len(long_times)}) |", flush=True)
        for miss, count in collections.Counter(name for _, name in misses).most_common(options.misses):
            print("   ", count, miss, next(path for path, name in misses if name == miss))


if __name__ == "__main__":
    main()
