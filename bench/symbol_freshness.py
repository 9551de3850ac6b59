#!/usr/bin/env python3
"""Whether definitions and uses are right after every change, with several servers on one project.

usage: bench/symbol_freshness.py DOCENT [--edits N] [--servers N] [--files N] [--seed N] [--bound SECONDS]

A git repository of Python, Go and TypeScript files is changed at random: functions are added, removed, renamed and moved, files are
renamed and deleted, calls are added and removed, branches are switched. After each change, servers chosen at random are asked
for the definition and the uses of functions, and a model of the project says what is right. An answer that says in its notice
that it is behind is asked again until --bound; any other difference is a failure. Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from server import Server

LANGUAGES = ("py", "go", "ts")


class Project:
    """The model: for each file its functions, and for each function the functions that it calls."""

    def __init__(self, root, chance):
        self.root, self.chance, self.files, self.number = root, chance, {}, 0

    def new_name(self):
        self.number += 1
        return f"quokka{self.number}"

    def names(self, language=None):
        return [name for path, functions in self.files.items() if language in (None, path.rsplit(".", 1)[1]) for name in functions]

    def add_file(self):
        self.number += 1
        language = self.chance.choice(LANGUAGES)
        path = f"d{self.number % 7}/f{self.number}.{language}"
        self.files[path] = {}
        for _ in range(self.chance.randint(1, 5)):
            self.add_function(path)

    def add_function(self, path):
        callees = self.names(path.rsplit(".", 1)[1])
        count = min(len(callees), self.chance.randint(0, 3))
        self.files[path][self.new_name()] = self.chance.sample(callees, count)

    def home(self, name):
        return next((path for path, functions in self.files.items() if name in functions), None)

    def text(self, path):
        language = path.rsplit(".", 1)[1]
        outside = {}
        for callees in self.files[path].values():
            for callee in callees:
                home = self.home(callee)
                if home and home != path:
                    outside.setdefault(home, set()).add(callee)
        lines = ["package zoo", ""] if language == "go" else []
        for home, names in sorted(outside.items()):
            stem = home.rsplit(".", 1)[0]
            if language == "py":
                lines.append(f"from {stem.replace('/', '.')} import {', '.join(sorted(names))}")
            elif language == "ts":
                lines.append(f"import {{ {', '.join(sorted(names))} }} from \"../{stem}\";")
        for name, callees in self.files[path].items():
            if language == "py":
                lines += [f"def {name}():", *(f"    {callee}()" for callee in callees), "    return 1", ""]
            elif language == "go":
                lines += [f"func {name}() {{", *(f"\t{callee}()" for callee in callees), "}", ""]
            else:
                lines += [f"export function {name}() {{", *(f"  {callee}();" for callee in callees), "}", ""]
        return "\n".join(lines) + "\n"

    def write(self, path):
        target = self.root / path
        target.parent.mkdir(exist_ok=True)
        # As editors do it: a new file takes the place of the old one.
        draft = target.with_name(target.name + ".tmp~")
        draft.write_text(self.text(path))
        draft.rename(target)

    def write_all(self):
        for path in self.files:
            self.write(path)

    def snapshot(self):
        return {path: {name: list(callees) for name, callees in functions.items()} for path, functions in self.files.items()}

    def definition(self, name):
        """Path and line of a definition, None if there is none."""
        path = self.home(name)
        if path is None:
            return None
        keyword = {"py": f"def {name}(", "go": f"func {name}(", "ts": f"function {name}("}[path.rsplit(".", 1)[1]]
        lines = self.text(path).splitlines()
        return path, next(at + 1 for at, line in enumerate(lines) if keyword in line)

    def calls(self, name):
        """Path and line of every call."""
        found = set()
        for path in self.files:
            for at, line in enumerate(self.text(path).splitlines()):
                if line.strip().rstrip(";") == f"{name}()":
                    found.add((path, at + 1))
        return found


def git(root, *arguments):
    subprocess.run(["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True)


def drop_calls(project, name):
    """Files that called a function which is gone are written again without the calls."""
    changed = set()
    for path, functions in project.files.items():
        for callees in functions.values():
            while name in callees:
                callees.remove(name)
                changed.add(path)
    return changed


def change(project, chance, branches):
    """Makes one change, on disk and in the model. Returns the names it touched."""
    paths = list(project.files)
    path = chance.choice(paths)
    functions = project.files[path]
    kind = chance.choice(("add", "add", "remove", "rename", "move", "call", "call", "new file", "rename file", "delete file", "branch"))
    if kind == "add":
        project.add_function(path)
        touched = [list(functions)[-1]]
        project.write(path)
    elif kind == "remove" and functions:
        name = chance.choice(list(functions))
        del functions[name]
        touched = [name]
        for changed in drop_calls(project, name) | {path}:
            project.write(changed)
    elif kind == "rename" and functions:
        old, new = chance.choice(list(functions)), project.new_name()
        project.files[path] = {new if name == old else name: callees for name, callees in functions.items()}
        changed = {path}
        for other, others in project.files.items():
            for callees in others.values():
                if old in callees:
                    callees[:] = [new if name == old else name for name in callees]
                    changed.add(other)
        touched = [old, new]
        for other in changed:
            project.write(other)
    elif kind == "move" and functions:
        name = chance.choice(list(functions))
        target = chance.choice([other for other in paths if other.rsplit(".", 1)[1] == path.rsplit(".", 1)[1]])
        if target != path:
            project.files[target][name] = functions.pop(name)
        touched = [name]
        for other in project.files:
            project.write(other) if name in project.text(other) or other == path else None
    elif kind == "call" and functions:
        name = chance.choice(list(functions))
        callees = project.names(path.rsplit(".", 1)[1])
        functions[name] = chance.sample(callees, min(len(callees), chance.randint(0, 4)))
        touched = functions[name][:1] or [name]
        project.write(path)
    elif kind == "new file":
        before = set(project.files)
        project.add_file()
        (new,) = set(project.files) - before
        touched = list(project.files[new])[:2]
        project.write(new)
    elif kind == "rename file":
        new = path.rsplit("/", 1)[0] + f"/r{project.new_name()}." + path.rsplit(".", 1)[1]
        project.files = {new if name == path else name: value for name, value in project.files.items()}
        os.rename(project.root / path, project.root / new)
        touched = list(functions)[:2] or project.names()[:1]
        project.write_all()
    elif kind == "delete file" and len(paths) > 10:
        touched = list(functions)[:2] or project.names()[:1]
        del project.files[path]
        os.remove(project.root / path)
        changed = set().union(*(drop_calls(project, name) for name in functions)) if functions else set()
        for other in changed:
            project.write(other)
    elif kind == "branch":
        git(project.root, "add", "-A")
        git(project.root, "commit", "-qm", "state", "--allow-empty")
        current = branches["current"]
        branches["states"][current] = project.snapshot()
        other = chance.choice(list(branches["states"]) + ["new"])
        if other == "new":
            other = f"b{len(branches['states'])}"
            git(project.root, "checkout", "-qb", other)
            branches["states"][other] = project.snapshot()
        else:
            git(project.root, "checkout", "-q", other)
            project.files = {path: {n: list(c) for n, c in functions.items()} for path, functions in branches["states"][other].items()}
        branches["current"] = other
        touched = chance.sample(project.names(), 2)
    else:
        return "nothing", []
    return kind, touched


def ask(server, tool, arguments):
    answer = server.call(tool, {**arguments, "format": "json"})
    if answer.get("isError"):
        sys.exit(f"{tool} {arguments}: {answer}")
    return answer.get("structuredContent") or json.loads(answer["content"][0]["text"])


def check(server, project, name):
    """What is wrong about a name, and whether the answer said that it may be behind."""
    answer = ask(server, "find_symbol", {"name": name, "limit": 20})
    exact = {(found["path"], found["line"]) for found in answer["symbols"] if found["name"] == name}
    expected = project.definition(name)
    if exact != ({expected} if expected else set()):
        return f"definition of {name}: {sorted(exact)}, expected {expected}", "notice" in answer
    if expected is None:
        return None, False
    answer = ask(server, "find_references", {"symbol": name, "path": expected[0], "limit": 200})
    found = {(file["path"], use["line"]) for file in answer["files"] for use in file["uses"] if use["role"] == "call"}
    if found != project.calls(name):
        missing, extra = project.calls(name) - found, found - project.calls(name)
        return f"calls of {name}: missing {sorted(missing)}, extra {sorted(extra)}", "notice" in answer
    return None, False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent")
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bound", type=float, default=30, help="seconds within which an answer that is behind must be right")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        root = folder / "project"
        root.mkdir()
        project = Project(root, chance)
        for _ in range(args.files):
            project.add_file()
        project.write_all()
        git(root, "init", "-q", "-b", "main")
        (root / ".gitignore").write_text("*~\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        branches = {"current": "main", "states": {"main": project.snapshot()}}
        environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        command = [args.docent, "--root", str(root), "--set", "limit.find_symbol=0", "--set", "limit.find_references=0", "serve"]
        servers = [Server(command, environment) for _ in range(args.servers)]
        asked = late = 0
        failures, kinds, slowest = [], {}, 0.0
        edits = 0
        while edits < args.edits:
            kind, touched = change(project, chance, branches)
            if not touched:
                continue
            edits += 1
            kinds[kind] = kinds.get(kind, 0) + 1
            names = touched + chance.sample(project.names(), 1)
            for name in names:
                server = chance.choice(servers)
                begun = time.monotonic()
                wrong, is_behind = check(server, project, name)
                while wrong and is_behind and time.monotonic() - begun < args.bound:
                    late += 1
                    time.sleep(0.1)
                    wrong, is_behind = check(server, project, name)
                asked += 1
                slowest = max(slowest, time.monotonic() - begun)
                if wrong:
                    failures.append(f"edit {edits} ({kind}): {wrong}")
                    print(failures[-1], file=sys.stderr)
        for server in servers:
            server.close()
    print(f"{edits} edits with {args.servers} servers: {kinds}")
    print(f"{asked} names asked for, {len(failures)} wrong, {late} answers said that they were behind, slowest {slowest:.2f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
