"""Start: from the spawn to the first answer, and what the process holds a second later."""

import time

from ..figures import docent_first, ratio_to_docent, spread, table, tools_of
from ..registry import PEERS
from ..usage import cpu, resident

ABOUT = """From the spawn of the installed program (no npx or uvx, which add to it) to its answer to `initialize`;
memory and CPU one second later. docent, codegraph and server-filesystem are started for the repository,
which docent and codegraph have indexed; codegraph starts a background process, which counts.
code-index-mcp is started without a project, as its documentation recommends. semble loads its model
after the answer."""


def measure(bench):
    names = ["docent", *(name for name in PEERS if name != "rg")]
    for number in range(bench.options.rounds + 2):
        for name in bench.turns(names, number):
            began = time.perf_counter()
            tool = bench.serve(name)
            took = (time.perf_counter() - began) * 1e3
            time.sleep(1)
            pids = tool.processes()
            bench.record("start", name, number, ms=took, resident=resident(pids), cpu=cpu(pids) * 1e3, processes=len(pids))
            tool.close()


def tables(bench):
    if found := bench.of("start"):
        rows = []
        for name in docent_first(tools_of(found)):
            mine = bench.of("start", tool=name)
            figures = [spread([one[key] for one in mine], digits) for key, digits in (("ms", 1), ("cpu", 0), ("resident", 1))]
            rows.append([name, *figures, str(mine[-1]["processes"]), ratio_to_docent(bench, mine, lambda one: one["ms"]), ratio_to_docent(bench, mine, lambda one: one["resident"])])
        yield "Start", table(["tool", "first answer, ms", "CPU in the first second, ms", "resident, MiB", "processes", "time to docent's", "memory to docent's"], rows)
