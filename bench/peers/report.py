"""The page of a run: machine and versions, the tables of all measures, and the plots."""

import contextlib
import datetime
import hashlib
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import textwrap

import git as by_git
import plot

from .figures import docent_first, spread, succeeded, tools_of
from .measures import MEASURES
from .registry import PEERS, resolved

# Measures that have a plot of their own name.
PLOTTED = ("start", "index", "search")


def report(bench, about, minutes):
    """Writes README.md and the plots from the records so far."""
    loads = [one["load"] for one in bench.records]
    peers_in = "\n".join(f"| {name} | {peer.registry} {peer.package} {peer.version} | {peer.about} | {peer.note} |" for name, peer in PEERS.items())
    repositories = "; ".join(f"{name}: {one['files']:,} files, {one['commits']:,} commits, at {one['commit']}" for name, one in about["repositories"].items())
    versions, rounds = about["versions"], bench.options.rounds
    intro = (
        f"Made by `bench/run`, {about['date']}, in {minutes:.0f} minutes. {about['cpu']}, {about['cores']} cores, {about['memory']}, {about['kernel']}; "
        f"load average {spread(loads)}; the machine is shared. Figures are medians, with their range in brackets. “To docent's” is the tool's "
        f"figure divided by docent's of the same round: above 1, docent took less. {repositories}. {rounds} rounds; {rounds + 2} of start, "
        f"{2 * rounds} of exact search, and of the large repository 1 of index and 2 of search. docent {versions['docent']}; git {versions['git']}, "
        f"Node {versions['node']}, Python {versions['python']}. Raw figures: raw.jsonl."
    )
    lines = [
        "# docent beside its peers\n",
        textwrap.fill(intro, 120, break_long_words=False, break_on_hyphens=False) + "\n",
        "| peer | package | purpose | note |\n|---|---|---|---|\n" + peers_in + "\n",
    ]
    for name, measure in MEASURES.items():
        for at, (title, text) in enumerate(measure.tables(bench)):
            lines.append(f"## {title}\n")
            if at == 0:
                lines.append(measure.ABOUT + "\n")
                if name in PLOTTED:
                    lines.append(f"![{name}]({name}.svg)\n")
            lines.append(text)
    failed = [f"{one['measure']} {one.get('repository', '')}, {one['tool']}, round {one['round'] + 1}: {one['failed']}" for one in bench.records if "failed" in one]
    if bench.missing + failed:
        lines.append("## Not measured\n\n" + "\n".join(f"- {line}" for line in bench.missing + failed) + "\n")
    (bench.options.out / "README.md").write_text("\n".join(lines), "utf-8")
    note = f"{about['date'][:10]}; median, the line from least to most; {about['cores']} cores, load {min(loads):.1f} to {max(loads):.1f}"
    for name, text in plots(bench, note):
        (bench.options.out / name).write_text(text, "utf-8")
    for path in bench.options.out.iterdir():
        leaked = [word for word in (str(bench.folder), str(pathlib.Path.home()), platform.node()) if len(word) > 5 and word in path.read_text("utf-8")]
        if leaked:
            print(f"{path.name} contains a path or a name of this machine", file=sys.stderr)


def plots(bench, note):
    def bar(name, values):
        return name, statistics.median(values), min(values), max(values)

    found = bench.of("start")
    if found:
        names = docent_first(tools_of(found))
        panels = [("Spawn to the first answer", "ms", [bar(name, [one["ms"] for one in bench.of("start", tool=name)]) for name in names])]
        panels.append(("Resident when idle", "MiB", [bar(name, [one["resident"] for one in bench.of("start", tool=name)]) for name in names]))
        yield "start.svg", plot.bars(panels, note)
    for measure, title, unit, value in (
        ("index", "CPU for the index of", "s", lambda one: [one["cpu"]]),
        ("search", "A question to a warm server, median, of", "ms", lambda one: [statistics.median(one["ms"])]),
    ):
        panels = []
        for repository in dict.fromkeys(one["repository"] for one in bench.of(measure)):
            found = succeeded(bench.of(measure, repository=repository))
            rows = [bar(name, [number for one in found if one["tool"] == name for number in value(one)]) for name in docent_first(tools_of(found))]
            panels.append((f"{title} {repository}", unit, rows))
        if panels:
            yield f"{measure}.svg", plot.bars(panels, note)


def machine(bench):
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", info)
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    versions = {"docent": f"{first_line(bench.docent, '--version').split()[-1]}, sha256 {hashlib.sha256(pathlib.Path(bench.docent).read_bytes()).hexdigest()[:12]}"}
    versions |= {name: resolved(name) for name in PEERS if bench.has(name)}
    versions |= {"git": first_line("git", "--version").split()[-1], "node": first_line("node", "--version"), "python": platform.python_version()}
    repositories = {}
    for root in filter(None, (bench.options.repository.resolve(), bench.options.large)):
        files = len(by_git.output(root, "ls-files").splitlines())
        repositories[root.name] = {"files": files, "commit": by_git.output(root, "rev-parse", "HEAD").strip()[:12], "commits": int(by_git.output(root, "rev-list", "--count", "HEAD"))}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory": f"{gigabytes:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "versions": versions,
        "repositories": repositories,
    }


def first_line(*command):
    """The first line that a command prints, `none` if it cannot be started."""
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().partition("\n")[0]
    return "none"
