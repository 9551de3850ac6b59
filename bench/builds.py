#!/usr/bin/env python3
"""Builds of docent side by side: the cost of a profile or a feature on hot paths.

usage: bench/builds.py --tree DIR [--large DIR] [--rounds 5] NAME=BINARY [NAME=BINARY …]

Each round measures every build once, in another order each time, so that a noisy machine is noisy for all of them. Medians are
printed, and beside each the ratio to the first build. For each build:
- the size of the binary;
- `docent index` of DIR from nothing, and of --large in the first round only: CPU time, user and system;
- spawn to the answer of the handshake, 20 starts a round;
- on a server with a complete index: CPU time of the server for 200 searches, 50 `grep_codebase`, 50 `git_log` of different
  files and 50 `read_file`, and the median time from request to answer of each.
Times by the clock suffer from other work on the machine; CPU times do so less. Linux only: CPU time is read from /proc.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict

from process import run
from server import Server

WORDS = """spawn task runtime worker queue shutdown timer sleep interval mutex semaphore channel receiver sender broadcast watch
buffer reader writer stream socket listener connect accept signal process child blocking pool thread local waker poll budget
schedule driver registration readiness error config builder handle context metrics trace""".split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", required=True, type=pathlib.Path)
    parser.add_argument("--large", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("builds", nargs="+", metavar="NAME=BINARY")
    options = parser.parse_args()
    builds = dict(build.split("=", 1) for build in options.builds)

    files = subprocess.run(["git", "-C", options.tree, "ls-files", "*.rs", "*.go", "*.py"], stdout=subprocess.PIPE, check=True)
    files = files.stdout.decode().split()[:50]
    measured = defaultdict(lambda: defaultdict(list))
    names = list(builds)
    for name, binary in builds.items():
        measured["binary, MB"][name].append(os.path.getsize(binary) / 1e6)
    for number in range(options.rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            with tempfile.TemporaryDirectory() as cache:
                measure(builds[name], options, number, files, cache, lambda what, value: measured[what][name].append(value))
    print("| | " + " | ".join(names) + " |\n|---|" + "--:|" * len(names))
    for what, values in measured.items():
        medians = [statistics.median(values[name]) for name in names]
        cells = [f"{medians[0]:.2f}"] + [f"{median:.2f} ({median / medians[0]:.2f})" for median in medians[1:]]
        print(f"| {what} | " + " | ".join(cells) + " |")


def measure(binary, options, number, files, cache, note):
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": cache}
    if options.large and number == 0:
        large = {**environment, "XDG_CACHE_HOME": f"{cache}/large"}
        note(f"index of {options.large.name}, CPU s", run([binary, "--root", options.large, "index"], large)[1]["cpu"])
    note(f"index of {options.tree.name}, CPU s", run([binary, "--root", options.tree, "index"], environment)[1]["cpu"])
    starts = []
    for _ in range(20):
        started = time.perf_counter()
        server = Server([binary, "serve", "--root", options.tree], environment)
        starts.append((time.perf_counter() - started) * 1e3)
        server.close()
    note("spawn to the first answer, ms", statistics.median(starts))

    unlimited = [f"--set=limit.{tool}=1000000" for tool in ("context_search", "grep_codebase", "git_log", "read_file")]
    server = Server([binary, "serve", "--root", options.tree, *unlimited], environment)
    server.call("context_search", {"query": "everything is indexed"})
    queries = [f"{one} {other}" for one in WORDS for other in WORDS if one < other][:: len(WORDS) * len(WORDS) // 2 // 200]
    for what, tool, arguments in [
        ("search", "context_search", [{"query": query} for query in queries]),
        ("grep", "grep_codebase", [{"pattern": f"{word}[a-z_]*\\("} for word in WORDS]),
        ("log", "git_log", [{"path": file} for file in files]),
        ("read", "read_file", [{"path": file} for file in files]),
    ]:
        for each in arguments[:5]:
            answer = server.call(tool, each)
            assert not answer.get("isError"), answer
        before, times = cpu(server.process.pid), []
        for each in arguments:
            started = time.perf_counter()
            server.call(tool, each)
            times.append((time.perf_counter() - started) * 1e3)
        note(f"{what}, CPU ms a call", (cpu(server.process.pid) - before) * 1e3 / len(arguments))
        note(f"{what}, p50 ms", statistics.median(times))
    server.close()


def cpu(process):
    """Seconds of CPU time that a process has used, to a hundredth."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
