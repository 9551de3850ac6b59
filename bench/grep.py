#!/usr/bin/env python3
"""grep_codebase on a warm server beside ripgrep, in one run: median wall time of each, and whether the totals agree.

usage: bench/grep.py DOCENT TREE [--rg RG] [--rounds N]

ripgrep counts twice: over the same files (hidden ones too, without the directories and names docent never searches), which
gives the total to compare, and with its defaults (`rg --ignore-case --count`), which saves it the globs. Its process start is part
of its time, as for a client that runs `rg`. The rounds take turns, so that load on the machine hits all.
"""

import argparse
import platform
import statistics
import subprocess
import time

from server import Server

PATTERNS = ["TODO", "func New[A-Z]", "xyznonexistent123", "interface.*Context", r"[a-z]+Error\b", "return", "^import", "jwt"]
DIRECTORIES = ["node_modules", ".git", "dist", "build", ".next", ".context", "secrets", "__pycache__"]
NAMES = [".env", ".env.*", "*.key", "*.pem", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "credentials*", ".netrc", ".npmrc", ".pypirc"]


def grep(server, pattern):
    return server.call("grep_codebase", {"pattern": pattern})["structuredContent"]


def ripgrep(rg, pattern, tree):
    command = [rg, "--no-config", "--ignore-case", "--hidden", "--count", "--no-filename", "--no-require-git"]
    for name in DIRECTORIES:
        command += ["--iglob", f"!**/{name}/**"]
    for name in NAMES:
        command += ["--iglob", f"!{name}"]
    output = subprocess.run([*command, "--regexp", pattern, tree], stdout=subprocess.PIPE, check=False).stdout
    return sum(int(line) for line in output.split())


def plain_ripgrep(rg, pattern, tree):
    command = [rg, "--no-config", "--ignore-case", "--count", "--regexp", pattern, tree]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def timed(work):
    started = time.perf_counter()
    result = work()
    return (time.perf_counter() - started) * 1e3, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("tree")
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    version = subprocess.run([options.rg, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    print(f"{platform.machine()}, {platform.system()} {platform.release()}; {version}; {options.rounds} rounds, median ms\n")
    print("| pattern | docent | rg, same files | ratio | rg as it comes | ratio | matches | rg's | files |\n|---|---|---|---|---|---|---|---|---|")
    settings = ["--set", "limit.grep_codebase=0", "--set", "log.level=error"]
    server = Server([options.docent, "serve", "--root", options.tree, *settings], errors=None)
    ratios, plain_ratios = [], []
    for pattern in PATTERNS:
        ours, theirs, plain = [], [], []
        for _ in range(options.rounds):
            took, found = timed(lambda: grep(server, pattern))
            ours.append(took)
            took, counted = timed(lambda: ripgrep(options.rg, pattern, options.tree))
            theirs.append(took)
            plain.append(timed(lambda: plain_ripgrep(options.rg, pattern, options.tree))[0])
        mine, other, bare = (statistics.median(times) for times in (ours, theirs, plain))
        ratios.append(mine / other)
        plain_ratios.append(mine / bare)
        row = [f"`{pattern}`", f"{mine:.0f}", f"{other:.0f}", f"{mine / other:.2f}", f"{bare:.0f}", f"{mine / bare:.2f}"]
        row += [str(found["totalMatches"]), str(counted), str(found["filesSearched"])]
        print("| " + " | ".join(row) + " |", flush=True)
    server.close()
    means = (statistics.geometric_mean(values) for values in (ratios, plain_ratios))
    print("\ngeometric means of the ratios: " + ", ".join(f"{mean:.2f}" for mean in means))


if __name__ == "__main__":
    main()
