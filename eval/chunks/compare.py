#!/usr/bin/env python3
"""Definitions that universal-ctags finds in real repositories, and how many of them docent finds as well.

usage: eval/chunks/compare.py OUTLINE REPOSITORIES [--language NAME] [--misses N]

OUTLINE is the example `outline` of docent-core, REPOSITORIES a directory with the repositories named below, checked out.
Two definitions are the same if name, line and kind (callable or type) are. A line may differ by one, because ctags and docent may count a name
on the next line. Vendored, minified and generated files are skipped for both.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess

LANGUAGES = {
    "Rust": (["rs"], ["ripgrep", "tokio", "clap", "serde", "bat"]),
    "Python": (["py"], ["django", "flask", "requests", "pytest", "fastapi"]),
    "Go": (["go"], ["gin", "cobra", "hugo", "prometheus", "kubernetes"]),
    "Java": (["java"], ["gson", "commons-lang", "mockito", "guava", "spring-petclinic"]),
    "C": (["c", "h"], ["redis", "git", "curl", "libuv", "jq"]),
    "C++": (["cc", "cpp", "hpp", "cxx", "h"], ["notepad-plus-plus", "leveldb", "json", "fmt", "googletest"]),
    "TypeScript": (["ts", "tsx"], ["core", "nest", "zod", "trpc", "date-fns"]),
    "JavaScript": (["js", "mjs", "cjs"], ["express", "lodash", "webpack", "axios", "Chart.js"]),
}
# The kinds of ctags for functions, classes, methods and the like, without its guesses about types that are only mentioned (`alias`).
KINDS = {
    "Rust": {"function", "method", "struct", "enum", "interface", "macro"},
    "Python": {"function", "member", "class"},
    "Go": {"func", "struct", "interface"},
    "Java": {"method", "class", "interface", "enum"},
    "C": {"function", "struct", "union", "enum"},
    "C++": {"function", "class", "struct", "union", "enum"},
    "TypeScript": {"function", "method", "class", "interface", "enum", "generator"},
    "JavaScript": {"function", "method", "class", "generator"},
}
# Kinds of ctags and docent that are callable. Everything else is a type.
FUNCTIONS = {"function", "method", "member", "func", "macro", "generator"}
PASSED_OVER = ["/vendor/", "/node_modules/", "/third_party/", "/dist/", "/deps/", ".min.js", "/testdata/", "/fixtures/"]
MOST_FILES = 1500


def sources(root, extensions):
    found = []
    for folder, folders, names in os.walk(os.path.realpath(root)):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.rsplit(".", 1)[-1] in extensions and not any(part in path for part in PASSED_OVER):
                found.append(path)
    step = max(1, len(found) // MOST_FILES)
    return [path for path in found[::step] if readable(path)]


def readable(path):
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return False
    head = text[:2000].lower()
    return len(text) < 1 << 20 and "generated" not in head and max(map(len, text.split("\n")), default=0) < 5000


def by_ctags(language, files):
    listing = "\n".join(files)
    command = ["ctags", "--output-format=json", "--fields=+nKz", "-L", "-", "-o", "-", f"--languages={language}"]
    command += [f"--map-{language}=+.{extension}" for extension in LANGUAGES[language][0]]
    printed = subprocess.run(command, input=listing, capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(set)
    for line in printed.split("\n")[:-1]:
        tag = json.loads(line)
        name = tag.get("name", "")
        if tag.get("kind") in KINDS[language] and not name.startswith(("__anon", "anonymous", "Anonymous")):
            found[tag["path"]].add((name, tag["line"], tag["kind"]))
    return found


def by_docent(outline, files):
    found = collections.defaultdict(set)
    for start in range(0, len(files), 500):
        command = [outline, "definitions", *files[start:start + 500]]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in printed.split("\n")[:-1]:
            path, row, kind, name, _ = line.split("\t")
            found[path].add((name, int(row), kind in FUNCTIONS))
    return found


def last(name):
    """The last word of `Foo::bar`, `a.b.c`, `~Foo` and `operator ==`."""
    if "operator" in name:
        return name[name.rindex("operator"):].replace(" ", "")
    return name.split("::")[-1].split(".")[-1].strip("~#\"' ")


def is_definition(language, kind, name, path, row):
    """Whether it is a real definition. ctags also reports, in JavaScript, an object literal or the result of a call as a class or
    function, and any property as a method; in C++, a word in the name of a test case."""
    if language not in ("JavaScript", "C++"):
        return True
    line = pathlib.Path(path).read_text(encoding="utf-8").split("\n")[row - 1]
    if language == "C++":
        return not line.startswith("TEST_CASE(")
    if re.search(rf"{re.escape(name)}\W*[=:]\s*\(function", line):
        return False
    if kind == "class":
        return re.search(rf"\bclass\b|function {re.escape(name)}|{re.escape(name)}\W*[=:]\s*function", line)
    return "(" in line or "=>" in line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outline")
    parser.add_argument("repositories")
    parser.add_argument("--language")
    parser.add_argument("--misses", type=int, default=0)
    options = parser.parse_args()
    print("| language | repository | files | ctags | found | recall |\n|---|---|---|---|---|---|")
    for language, (extensions, repositories) in LANGUAGES.items():
        if options.language and options.language != language:
            continue
        total = hits = 0
        misses = []
        for repository in repositories:
            files = sources(os.path.join(options.repositories, repository), extensions)
            theirs, ours = by_ctags(language, files), by_docent(options.outline, files)
            wanted = found = 0
            for path, tags in theirs.items():
                known = {(last(name), row, is_function) for name, row, is_function in ours.get(path, ())}
                rows = {row for _, row, _ in known}
                for name, row, kind in tags:
                    if not is_definition(language, kind, name, path, row):
                        continue
                    wanted += 1
                    # `TEST_IMPL(x) {` defines x; ctags names it by the macro.
                    by_macro = language in ("C", "C++") and name.isupper() and row in rows
                    # A JavaScript class may be a function, and ctags says class either way.
                    kinds = (True, False) if language == "JavaScript" else (kind in FUNCTIONS,)
                    near = [(last(name), row + shift, is_function) for shift in (0, 1, -1) for is_function in kinds]
                    if by_macro or any(one in known for one in near):
                        found += 1
                    else:
                        misses.append((kind, name, f"{path}:{row}"))
            total, hits = total + wanted, hits + found
            share = f"{100 * found / wanted:.2f} %" if wanted else "-"
            print(f"| {language} | {repository} | {len(files):,} | {wanted:,} | {found:,} | {share} |", flush=True)
        print(f"| **{language}** | all | | {total:,} | {hits:,} | **{100 * hits / max(total, 1):.2f} %** |", flush=True)
        if options.misses:
            print(collections.Counter(kind for kind, *_ in misses).most_common())
            for miss in misses[:: max(1, len(misses) // options.misses)]:
                print("   ", *miss)


if __name__ == "__main__":
    main()
