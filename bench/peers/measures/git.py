"""git: log, diff and blame, every call a different one."""

import random
import statistics

import git as by_git

from ..figures import docent_first, percentile, ratio_to_docent, table, tools_of
from ..tool import Tool
from ..usage import children_cpu, cpu

ABOUT = """Every call is different. `git_log` of 5 and more commits: docent's also has the files that each commit
changed. `git_diff` of HEAD~n with the working directory: docent summarises more than 1,000 changed
lines, and its answer ends at 20,000 characters; mcp-server-git gives all lines. mcp-server-git has no
blame, so bare `git blame` of 41 lines takes its place. “Nothing kept” is a docent without a cache
directory; the other has built its table of commits, which a server does by itself in the background."""


def measure(bench):
    calls = 12 * bench.options.rounds
    root = bench.root("docent")
    chance = random.Random(1)
    bare = {name: value for name, value in bench.environment.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    tools = {"docent": bench.serve("docent"), "docent, nothing kept": Tool(bench.command("docent", str(root)), bare)}
    if bench.has("mcp-server-git"):
        tools["mcp-server-git"] = bench.serve("mcp-server-git")
    by_git.wait_for_table(tools["docent"])
    for name in list(tools)[1:]:
        tools[name].ask("git_log", {"repo_path": str(root)} if name == "mcp-server-git" else {})
    depth = int(by_git.output(root, "rev-list", "--count", "--first-parent", "HEAD"))
    used = {(call, name): 0.0 for call in ("git_log", "git_diff", "git_blame") for name in [*tools, "git"]}
    for at, path in enumerate(text_files(root, calls, chance, 100_000)):
        first = 1 + chance.randrange(max(1, (root / path).read_bytes().count(b"\n") - 41))
        back = f"HEAD~{1 + at % max(1, depth - 1)}"
        ours = {"git_log": {"maxCount": 5 + at}, "git_diff": {"ref1": back}, "git_blame": {"filePath": path, "startLine": first, "endLine": first + 40}}
        theirs = {"git_log": {"repo_path": str(root), "max_count": 5 + at}, "git_diff": {"repo_path": str(root), "target": back}}
        for call, arguments in ours.items():
            for name in bench.turns(list(tools), at):
                given = theirs.get(call) if name == "mcp-server-git" else arguments
                if given:
                    before = cpu([tools[name].process.pid])
                    took, text = tools[name].ask(call, given)
                    used[call, name] += cpu([tools[name].process.pid]) - before
                    bench.record("git", name, at, call=call, ms=took, bytes=len(text.encode()))
            if call == "git_blame":
                before = children_cpu()
                took = by_git.git(str(root), [*by_git.BLAME, f"-L{first},+41", "HEAD", "--", path])
                used[call, "git"] += children_cpu() - before
                bench.record("git", "git", at, call=call, ms=took)
    for (call, name), seconds in used.items():
        if bench.of("git", tool=name, call=call):
            bench.record("git-cpu", name, 0, call=call, cpu=seconds * 1e3 / calls)
    for tool in tools.values():
        tool.close()


def text_files(root, count, chance, most):
    """A sample of the tracked text files between 3,000 and `most` bytes."""
    names = [name for name in by_git.output(root, "ls-files").splitlines() if name.isascii() and (root / name).is_file()]
    names = [name for name in names if 3000 < (root / name).stat().st_size < most and b"\0" not in (root / name).read_bytes()]
    return chance.sample(names, min(count, len(names)))


def tables(bench):
    if bench.of("git"):
        rows = []
        for call in ("git_log", "git_diff", "git_blame"):
            for name in docent_first(tools_of(bench.of("git", call=call))):
                mine = bench.of("git", call=call, tool=name)
                every = [one["ms"] for one in mine]
                used = bench.of("git-cpu", call=call, tool=name)[0]["cpu"]
                size_of = f"{statistics.median(one['bytes'] for one in mine):,.0f}" if "bytes" in mine[0] else ""
                ratio = ratio_to_docent(bench, mine, lambda one: one["ms"])
                rows.append([f"{call}, {name}", f"{statistics.median(every):.1f}", f"{percentile(every, 0.95):.1f}", f"{used:.1f}", size_of, ratio])
        yield f"git in {bench.name}", table(["call", "p50, ms", "p95, ms", "CPU a call, ms", "bytes, median", "time to docent's"], rows)
