#!/usr/bin/env python3
"""Latency of the symbol tools on a large project, and the memory of the server.

usage: bench/symbols.py DOCENT PROJECT [--home DIR] [--symbols N] [--seed N]

Functions, methods and types are drawn from the outlines of random files. Each is asked for by `find_symbol`, `find_references`,
`read_file` with `symbol`, and its file by `read_file` with `outline`, in a server with a complete index. Printed: p50, p95 and
the worst in milliseconds, and the resident memory of the server before and after. Linux only: memory is read from /proc.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from server import Server

EXTENSIONS = {".go", ".rs", ".py", ".ts", ".js", ".c", ".java"}
TOOLS = ("find_symbol", "find_references", "read_file", "grep_codebase")


def resident_mb(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def draw_symbols(docent, project, environment, count, chance):
    """Functions, methods and types of random files, each with its path."""
    files = [path for path in project.rglob("*") if path.suffix in EXTENSIONS and path.is_file() and ".git" not in path.parts]
    files.sort()
    drawn = []
    while len(drawn) < count:
        path = chance.choice(files).relative_to(project)
        command = [docent, "--root", str(project), "outline", str(path), "--json"]
        answer = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=project)
        definitions = json.loads(answer.stdout)["definitions"] if answer.returncode == 0 else []
        definitions = [one for one in definitions if one["kind"] in ("function", "method", "class", "interface", "type")]
        if definitions:
            drawn.append((str(path), chance.choice(definitions)))
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--home", help="keeps the index between runs")
    parser.add_argument("--symbols", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": options.home or folder, "PATH": os.environ["PATH"]}
        command = [options.docent, "--root", str(options.project)]
        subprocess.run([*command, "index"], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        symbols = draw_symbols(options.docent, options.project, environment, options.symbols, chance)
        limits = [word for tool in TOOLS for word in ("--set", f"limit.{tool}=0")]
        server = Server([*command, *limits, "serve"], environment)
        # The first call waits until the watcher runs.
        server.call("context_search", {"query": "start"})
        server.call("context_search", {"query": "start again"})
        before = resident_mb(server.process)
        times = {}
        for path, symbol in symbols:
            name = symbol["name"]
            for label, tool, arguments in (
                ("find_symbol", "find_symbol", {"name": name}),
                ("find_references", "find_references", {"symbol": name, "path": f"{path}:{symbol['line']}"}),
                ("read_file symbol", "read_file", {"path": path, "symbol": name}),
                ("read_file outline", "read_file", {"path": path, "outline": True}),
            ):
                begun = time.perf_counter()
                server.call(tool, arguments)
                times.setdefault(label, []).append((1000 * (time.perf_counter() - begun), name))
        after = resident_mb(server.process)
        server.close()
    for label, measured in times.items():
        measured.sort()
        values = [value for value, _ in measured]
        p95 = values[int(0.95 * len(values))]
        worst = ", ".join(f"{name} {value:.0f}" for value, name in measured[-3:])
        print(f"{label:18} p50 {statistics.median(values):6.2f} ms, p95 {p95:6.2f} ms, worst: {worst}")
    print(f"resident memory {before:.0f} MB before, {after:.0f} MB after {len(symbols)} symbols")


if __name__ == "__main__":
    main()
