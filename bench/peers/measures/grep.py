"""Exact search: `grep_codebase` beside `rg`."""

import statistics

import grep as by_grep

from ..figures import docent_first, ratio_to_docent, spread, table, tools_of
from ..registry import PEERS
from ..tool import Tool
from ..usage import children_cpu, cpu

PATTERNS = [*by_grep.PATTERNS, "TODO|FIXME|XXX", r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b"]

ABOUT = """docent `grep_codebase` on a warm server, which answers with the first matches and the exact total, and a
process of `rg` that counts: over the same files (“same files”: hidden ones too, without the paths that
docent never searches), and with its defaults (“as it comes”: `rg --ignore-case --count`). The figures
are sums over all patterns of a round. docent has `index.watch=false` here, because rg's reading would
wake its watcher during the measurement."""


def measure(bench):
    places = [(bench.name, bench.root("docent"), 2 * bench.options.rounds)]
    if bench.options.large:
        places.append((bench.options.large.name, bench.options.large, 2))
    rg = PEERS["rg"].path
    if not rg:
        return
    for repository, root, rounds in places:
        server = Tool([*bench.command("docent", str(root)), "--set", "index.watch=false"], bench.environment)
        beside = str(bench.root("rg") if root == bench.root("docent") else root)
        by_grep.grep(server, "warm")
        runs = {
            "docent": lambda pattern: by_grep.grep(server, pattern)["totalMatches"],
            "rg, same files": lambda pattern: by_grep.ripgrep(rg, pattern, beside),
            "rg, as it comes": lambda pattern: by_grep.plain_ripgrep(rg, pattern, beside),
        }
        for number in range(rounds):
            figures = {name: {"ms": [], "cpu": [], "matches": []} for name in runs}
            for at, pattern in enumerate(PATTERNS):
                for name in sorted(runs, key=lambda name: (list(runs).index(name) + at + number) % 3):
                    before = cpu([server.process.pid]) if name == "docent" else children_cpu()
                    took, matches = by_grep.timed(lambda: runs[name](pattern))
                    after = cpu([server.process.pid]) if name == "docent" else children_cpu()
                    for key, value in (("ms", round(took, 2)), ("cpu", round((after - before) * 1e3, 1)), ("matches", matches)):
                        figures[name][key].append(value)
            for name, one in figures.items():
                bench.record("grep", name, number, repository=repository, patterns=PATTERNS, total=sum(one["ms"]), total_cpu=sum(one["cpu"]), **one)
        server.close()


def tables(bench):
    for repository in dict.fromkeys(one["repository"] for one in bench.of("grep")):
        found = bench.of("grep", repository=repository)
        rows = []
        for name in docent_first(tools_of(found)):
            mine = bench.of("grep", repository=repository, tool=name)
            figures = [spread([one[key] for one in mine], 0) for key in ("total", "total_cpu")]
            figures += [ratio_to_docent(bench, mine, lambda one: one["total"]), ratio_to_docent(bench, mine, lambda one: one["total_cpu"])]
            rows.append([name, *figures, "" if "comes" in name else f"{sum(mine[-1]['matches']):,}"])
        for at, pattern in enumerate(PATTERNS):
            by = {name: statistics.median(one["ms"][at] for one in bench.of("grep", repository=repository, tool=name)) for name in tools_of(found)}
            cell = "`" + pattern.replace("|", "\\|") + "`"
            others = ", ".join(f"{name.partition(', ')[2]} {took / by['docent']:.2f}" for name, took in by.items() if name != "docent")
            rows.append([f"{cell}: docent", f"{by['docent']:.0f}", "", others, "", ""])
        yield f"Exact search in {repository}", table(["tool", f"{len(PATTERNS)} patterns, wall, ms", "CPU, ms", "wall to docent's", "CPU to docent's", "matches"], rows)
