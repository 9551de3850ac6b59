#!/usr/bin/env python3
"""For how many imports inside real projects `read_file` finds the right file, and how long it takes.

usage: eval/imports/resolve.py DOCENT REPOSITORIES [--misses N]

REPOSITORIES is a directory with the repositories named below, checked out. The script reads the imports itself, by regular
expressions and Python's own parser. An import counts if the project has a file for it: relative paths in JavaScript, TypeScript and Python,
`mod x;` in Rust, packages of the module in Go, classes of the repository in Java. It is found if a file it can mean is in docent's answer.
"""

import argparse
import ast
import collections
import os
import pathlib
import re
import statistics
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
from server import Server  # noqa: E402

PROJECTS = [
    ("TypeScript", "nest", ["ts", "tsx"]),
    ("TypeScript", "zod", ["ts", "tsx"]),
    ("JavaScript", "express", ["js"]),
    ("JavaScript", "webpack", ["js"]),
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


def docent_on(root, docent, *settings):
    command = [docent, "serve", "--root", root, "--set", "limit.read_file=0", *settings]
    return Server(command, {**os.environ, "XDG_CACHE_HOME": "/nonexistent"})


def read(server, path):
    """Calls a tool. Returns the result, and the seconds it took."""
    started = time.perf_counter()
    result = server.call("read_file", {"path": path, "includeDeps": True})
    return result, time.perf_counter() - started


def sources(root, extensions):
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules", "vendor", "testdata", "fixtures"))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names) if name.rsplit(".", 1)[-1] in extensions]
    return found[:: max(1, len(found) // MOST_FILES)]


def there(root, candidates):
    """The paths that exist as files."""
    paths = [os.path.normpath(path) for path in candidates]
    return {path for path in paths if not path.startswith("..") and os.path.isfile(os.path.join(root, path))}


def in_javascript(root, path, text):
    for written in re.findall(r"""^[^/*\n]*?(?:\bfrom|\brequire\(|\bimport\(|^import)\s*['"](\.{1,2}/[^'"]*)['"]""", text, re.M):
        base = os.path.join(os.path.dirname(path), written)
        endings = ["", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".json", "/index.ts", "/index.tsx", "/index.js"]
        bare = re.sub(r"\.[cm]?js$", "", base)
        yield written, there(root, [base + end for end in endings] + [bare + end for end in (".ts", ".tsx")])


def in_python(root, path, text):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = os.path.normpath(os.path.join(os.path.dirname(path), *[".."] * (node.level - 1)))
            base = os.path.join(folder, *(node.module or "").split("."))
            for name in node.names:
                inner = os.path.join(base, name.name)
                exact = there(root, [inner + ".py", inner + "/__init__.py"])
                yield f"{'.' * node.level}{node.module or ''}.{name.name}", exact or there(root, [base + ".py", base + "/__init__.py"])


def in_rust(root, path, text):
    folder, name = os.path.split(path)
    if name not in ("lib.rs", "main.rs", "mod.rs"):
        folder = os.path.join(folder, name.removesuffix(".rs"))
    for module in re.findall(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);", text, re.M):
        yield f"mod {module}", there(root, [f"{folder}/{module}.rs", f"{folder}/{module}/mod.rs"])


def in_go(root, path, text):
    module = re.search(r"^module (\S+)", pathlib.Path(root, "go.mod").read_text(), re.M)[1]
    for package in re.findall(rf'^\s*(?:import\s+)?(?:[\w.]+\s+)?"{re.escape(module)}/([^"]+)"$', text, re.M):
        folder = os.path.join(root, package)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        yield package, {f"{package}/{name}" for name in names if name.endswith(".go") and not name.endswith("_test.go")}


JAVA = {}


def in_java(root, path, text):
    if root not in JAVA:
        JAVA[root] = collections.defaultdict(set)
        for folder, _, names in os.walk(root):
            for name in names:
                if name.endswith(".java"):
                    JAVA[root][name].add(os.path.relpath(os.path.join(folder, name), root))
    for written in re.findall(r"^import (?:static )?([\w.]+);", text, re.M):
        parts = written.split(".")
        for length in range(len(parts), max(0, len(parts) - 3), -1):
            place = "/".join(parts[:length]) + ".java"
            files = {file for file in JAVA[root][place.rsplit("/", 1)[-1]] if ("/" + file).endswith("/" + place)}
            if files:
                yield written, files
                break


READERS = {"TypeScript": in_javascript, "JavaScript": in_javascript, "Python": in_python, "Rust": in_rust, "Go": in_go, "Java": in_java}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("repositories")
    parser.add_argument("--misses", type=int, default=0)
    options = parser.parse_args()
    print("| language | repository | files | imports | found | share | refused | p50 | p95 | p95 with 30 dependencies or more |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for language, repository, extensions in PROJECTS:
        root = os.path.realpath(os.path.join(options.repositories, repository))
        # All dependencies are counted with one server, and answers of the usual size timed with another.
        server = docent_on(root, options.docent, "--set", "answer.max_chars=100000000")
        usual = docent_on(root, options.docent)
        wanted, misses, times, long_times, files, refused = 0, [], [], [], 0, 0
        for path in sources(root, extensions):
            text = pathlib.Path(root, path).read_text(errors="replace")
            answer, _ = read(server, path)
            _, took = read(usual, path)
            files += 1
            refused += bool(answer.get("isError"))
            found = [] if answer.get("isError") else answer["structuredContent"]["dependencies"]
            imported = {one["path"] for one in found if one["type"] == "import"}
            for written, possible in READERS[language](root, path, text):
                possible.discard(path)
                if possible:
                    wanted += 1
                    if not possible & imported:
                        misses.append((path, written))
            times.append(took * 1e3)
            if len(imported) >= 30:
                long_times.append(took * 1e3)
        server.close()
        usual.close()
        p95 = lambda values: f"{sorted(values)[round(0.95 * (len(values) - 1))]:.1f} ms" if values else "-"
        share = 100 * (wanted - len(misses)) / max(1, wanted)
        print(f"| {language} | {repository} | {files:,} | {wanted:,} | {wanted - len(misses):,} | {share:.1f} % | {refused} "
              f"| {statistics.median(times):.1f} ms | {p95(times)} | {p95(long_times)} ({len(long_times)}) |", flush=True)
        for path, written in misses[:: max(1, len(misses) // max(1, options.misses))][: options.misses]:
            print("   ", written, path)


if __name__ == "__main__":
    main()
