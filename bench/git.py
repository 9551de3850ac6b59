#!/usr/bin/env python3
"""git_log, git_blame and git_diff beside the bare git commands that give the same facts, and beside peers.

usage: bench/git.py DOCENT REPOSITORY [--calls N] [--seed S] [--hot FILE] [--mcp-server-git CMD] [--cyanheads CMD]

Every call is different; git, docent and the peers make each in turn, so that load on the machine hits all of them.
Peers are MCP servers over stdio: mcp-server-git (PyPI) and @cyanheads/git-mcp-server (npm). REPOSITORY needs a working
tree. Times are of the caller: for git from its start to its end, for servers from request to answer.
"""

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time

from server import Server

LOG = ["log", "--raw", "-c", "-M", "-z", "--no-abbrev", "--full-diff", "--format=%H%x00%P%x00%aN%x00%aE%x00%as%x00%s"]
DIFF = ["diff", "--raw", "-U3", "-z", "-M", "--no-abbrev"]
BLAME = ["blame", "--porcelain"]


def timed(server, tool, arguments):
    """Milliseconds from request to answer, which must not be an error."""
    started = time.perf_counter()
    result = server.call(tool, arguments)
    took = (time.perf_counter() - started) * 1e3
    assert not result.get("isError"), (tool, arguments, result)
    return took


def git(root, arguments):
    """Milliseconds of a bare git command, started as cheaply as Python can."""
    sink = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    started = time.perf_counter()
    process = os.posix_spawn("/usr/bin/env", ["env", "git", "-C", root, *arguments], os.environ, file_actions=[sink])
    status = os.waitpid(process, 0)[1]
    took = (time.perf_counter() - started) * 1e3
    assert status == 0, arguments
    return took


def output(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout


def logs(root, count, chance):
    """Arguments for docent and for git: paths, pages, authors, dates."""
    names = [name for name in output(root, "ls-files").splitlines() if name.isascii()]
    authors = list(dict.fromkeys(output(root, "log", "-3000", "--format=%ae").split()))
    for at in range(count):
        kind = at % 4
        if kind == 0:
            path = chance.choice(names)
            yield {"filePath": path}, ["-10", "HEAD", "--", path]
        elif kind == 1:
            skip = chance.randrange(3000)
            yield {"skip": skip, "maxCount": 20}, ["-20", f"--skip={skip}", "HEAD"]
        elif kind == 2:
            author = chance.choice(authors)
            yield {"author": author}, ["-10", "--use-mailmap", "-F", "-i", f"--author={author}", "HEAD"]
        else:
            year, month = chance.randrange(2012, 2024), chance.randrange(1, 13)
            day = f"{year}-{month:02}-01"
            yield {"until": day}, ["-10", f"--until={day} 23:59:59", "HEAD"]


def blames(root, count, chance):
    names = [name for name in output(root, "ls-files", "*.c", "*.py", "*.rs", "*.h").splitlines() if name.isascii()]
    while count:
        name = chance.choice(names)
        with open(os.path.join(root, name), "rb") as file:
            lines = file.read().count(b"\n")
        if lines < 60:
            continue
        count -= 1
        first = chance.randrange(1, lines - 50)
        arguments = {"filePath": name, "startLine": first, "endLine": first + 40}
        yield arguments, [f"-L{first},{first + 40}", "HEAD", "--", name]


def diffs(root, count, chance):
    commits = output(root, "rev-list", "-4000", "--first-parent", "HEAD").split()
    for _ in range(count):
        new = chance.randrange(len(commits) - 20)
        old = new + chance.randrange(1, 8)
        ends = [commits[old], commits[new]]
        yield {"ref1": ends[0], "ref2": ends[1]}, ends


def row(name, times, base=None):
    ordered = sorted(times)
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    ratio = f"{statistics.median(times) / statistics.median(base):.2f}" if base else ""
    print(f"| {name} | {statistics.median(times):.2f} ms | {p95:.2f} ms | {ratio} |")


def wait_for_table(server):
    """Waits for the table of commits: it is ready when a call that git would take long for is answered at once."""
    for _ in range(600):
        timed(server, "git_log", {"maxCount": 1})
        if min(timed(server, "git_log", {"skip": 2000, "maxCount": 1}) for _ in range(3)) < 2:
            return
        time.sleep(0.5)
    raise SystemExit("the table of commits was not ready in five minutes")


def beside_git(options, bare, kept):
    """docent without and with its caches, beside git."""
    print("| what | p50 | p95 | to git |\n|---|---|---|---|")
    for tool, command, calls in [("git_log", LOG, logs), ("git_blame", BLAME, blames), ("git_diff", DIFF, diffs)]:
        by_git, first, with_table, again = [], [], [], []
        for arguments, words in calls(options.repository, options.calls, random.Random(options.seed)):
            by_git.append(git(options.repository, command + words))
            first.append(timed(bare, tool, arguments))
            with_table.append(timed(kept, tool, arguments))
            again.append(timed(kept, tool, arguments))
        row(f"git {command[0]}", by_git)
        row(f"{tool}, nothing kept", first, by_git)
        row(f"{tool}, first call of a server that has the table", with_table, by_git)
        row(f"{tool}, repeated", again, by_git)


def hot_file(options, bare, kept):
    """A file with very many revisions; docent asks git only about lines that the answer has room for."""
    name = options.hot
    times = {"git blame": [], "git_blame, nothing kept": [], "git_blame": [], "git_blame, repeated": []}
    with open(os.path.join(options.repository, name), "rb") as file:
        lines = file.read().count(b"\n")
    for at in range(6):
        first = 1 + lines * at // 6
        arguments = {"filePath": name, "startLine": first}
        times["git blame"].append(git(options.repository, BLAME + [f"-L{first},", "HEAD", "--", name]))
        times["git_blame, nothing kept"].append(timed(bare, "git_blame", arguments))
        times["git_blame"].append(timed(kept, "git_blame", arguments))
        times["git_blame, repeated"].append(timed(kept, "git_blame", arguments))
    print(f"\n{name}: six calls, each for all lines from another one on\n")
    print("| what | p50 | p95 | to git |\n|---|---|---|---|")
    for what, measured in times.items():
        row(what, measured, times["git blame"])


def beside_peers(options, kept, environment):
    root = os.path.abspath(options.repository)
    peers = {}
    if options.mcp_server_git:
        peers["mcp-server-git"] = Server(options.mcp_server_git.split() + ["--repository", root], environment)
    if options.cyanheads:
        peers["@cyanheads/git-mcp-server"] = Server(options.cyanheads.split(), environment)
    if not peers:
        return
    chance = random.Random(options.seed + 1)
    blame_calls = list(blames(root, options.calls, chance))
    times = {tool: {name: [] for name in ["docent", *peers]} for tool in ["git_log", "git_blame", "git_diff"]}
    for at in range(options.calls):
        count = 5 + at
        back = f"HEAD~{1 + at}"
        blame = blame_calls[at][0]
        calls = {
            "docent": [("git_log", {"maxCount": count}), ("git_blame", blame), ("git_diff", {"ref1": back})],
            "mcp-server-git": [
                ("git_log", {"repo_path": root, "max_count": count}),
                None,
                ("git_diff", {"repo_path": root, "target": back}),
            ],
            "@cyanheads/git-mcp-server": [
                ("git_log", {"path": root, "maxCount": count}),
                ("git_blame", {"path": root, **blame}),
                ("git_diff", {"path": root, "target": back}),
            ],
        }
        for name, server in [("docent", kept), *peers.items()]:
            for call in filter(None, calls[name]):
                times[call[0]][name].append(timed(server, *call))
    print("\n| what | p50 | p95 | to docent |\n|---|---|---|---|")
    for tool, by in times.items():
        for name, measured in by.items():
            if measured:
                row(f"{tool}, {name}", measured, by["docent"] if name != "docent" else None)
    for server in peers.values():
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("repository")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hot")
    parser.add_argument("--mcp-server-git")
    parser.add_argument("--cyanheads")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        homeless = {name: value for name, value in environment.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        command = [options.docent, "serve", "--root", options.repository]
        bare = Server(command, homeless)
        kept = Server(command, {**environment, "XDG_CACHE_HOME": cache})
        timed(bare, "git_log", {})
        wait_for_table(kept)
        beside_git(options, bare, kept)
        if options.hot:
            hot_file(options, bare, kept)
        beside_peers(options, kept, {**environment, "MCP_TRANSPORT_TYPE": "stdio"})
        for server in (bare, kept):
            server.close()


if __name__ == "__main__":
    main()
