"""Memory: entries of one writer, and of four at once."""

import contextlib
import json
import pathlib
import statistics
import tempfile
import threading
import time

from ..figures import docent_first, percentile, ratio_to_docent, spread, table, tools_of
from ..tool import Tool
from ..usage import cpu

ABOUT = """docent `write_memory_entry` (`memory.approval=never`) syncs to the disk and stores the author of each
entry. server-memory `create_entities` writes its whole file each time and does not sync. One writer
comes first. Then four servers with one client each write at once to the same file, as four clients of
one project would."""


def measure(bench):
    names = ["docent", "server-memory"]

    def writer(name, place):
        command = [bench.docent, "serve", "--root", str(place), "--set", "memory.approval=never"] if name == "docent" else bench.command(name, "")
        return Tool(command, {**bench.environment, "MEMORY_FILE_PATH": str(place / "memory.jsonl")})

    def write_all(tool, name, numbers, times):
        for number in numbers:
            with contextlib.suppress(SystemExit):
                times.append(tool.ask(*entry_call(name, number))[0])

    for number in range(bench.options.rounds):
        for name in bench.turns(names, number):
            for writers in (1, 4):
                with tempfile.TemporaryDirectory(dir=bench.folder) as place:
                    place = pathlib.Path(place)
                    (place / ".git").mkdir()
                    tools = [writer(name, place) for _ in range(writers)]
                    times = []
                    before = sum(cpu(tool.processes()) for tool in tools)
                    began = time.perf_counter()
                    each = 200 // writers
                    threads = [threading.Thread(target=write_all, args=(tool, name, range(at * each, at * each + each), times)) for at, tool in enumerate(tools)]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                    wall = time.perf_counter() - began
                    used = (sum(cpu(tool.processes()) for tool in tools) - before) * 1e3 / (each * writers)
                    for tool in tools:
                        tool.close()
                    figures = {"ms": [round(took, 3) for took in times], "wall": wall, "cpu": used, "sent": each * writers}
                    bench.record("memory", name, number, writers=writers, acknowledged=len(times), present=count_entries(name, place), **figures)


def entry_call(name, number):
    """The tool and the arguments that write an entry."""
    text = f"Entry {number}: the cache is thrown away when the configuration changes, because old entries have other keys"
    if name == "docent":
        return "write_memory_entry", {"file": "decisions.jsonl", "entry": json.dumps({"id": number, "decision": text, "why": "measured"})}
    return "create_entities", {"entities": [{"name": f"entry {number}", "entityType": "decision", "observations": [text, "measured"]}]}


def count_entries(name, place):
    """How many entries are in the file, each counted once."""
    file = place / (".context/memory/decisions.jsonl" if name == "docent" else "memory.jsonl")
    found = set()
    for line in file.read_text("utf-8").splitlines() if file.exists() else []:
        with contextlib.suppress(ValueError):
            one = json.loads(line)
            found.add(one.get("id", one.get("name")))
    return len(found)


def tables(bench):
    if found := bench.of("memory"):
        rows = []
        for writers in (1, 4):
            for name in docent_first(tools_of(found)):
                mine = bench.of("memory", tool=name, writers=writers)
                every = [took for one in mine for took in one["ms"]]
                lost = [one["acknowledged"] - one["present"] for one in mine]
                figures = [f"{statistics.median(every):.2f}", f"{percentile(every, 0.95):.2f}", spread([one["sent"] / one["wall"] for one in mine], 0)]
                figures += [f"{statistics.mean(one['cpu'] for one in mine):.2f}", spread([one["acknowledged"] for one in mine], 0), spread(lost, 0)]
                rows.append([f"{name}, {writers} writer{'s' * (writers > 1)}", *figures, ratio_to_docent(bench, mine, lambda one: statistics.median(one["ms"]))])
        head = ["tool", "p50, ms", "p95, ms", "entries a second", "CPU an entry, ms", "of 200 acknowledged", "of these lost", "time to docent's"]
        yield "Memory", table(head, rows)
