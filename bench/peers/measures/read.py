"""Reading: whole files, each once."""

import random
import statistics

from ..figures import percentile, ratio_to_docent, table, tools_of
from ..usage import cpu
from .git import text_files

ABOUT = """Each file is read once by each tool. `read_file` of docent is JSON with the content, language, module,
role and last change; `read_repo_file` is JSON with the content and its size; server-filesystem's
`read_text_file` is the content itself. Bytes are those of the text part; all three send it again as
structured content."""


def measure(bench):
    root = bench.root("docent")
    docent = bench.serve("docent")
    tools = {"docent read_file": (docent, "read_file"), "docent read_repo_file": (docent, "read_repo_file")}
    if bench.has("server-filesystem"):
        tools["server-filesystem"] = (bench.serve("server-filesystem"), "read_text_file")
    files = text_files(root, 40 * bench.options.rounds + 1, random.Random(2), 18_000)
    used = dict.fromkeys(tools, 0.0)
    for at, path in enumerate(files):
        for name in sorted(tools, key=lambda name: (list(tools).index(name) + at) % 3):
            tool, call = tools[name]
            before = cpu([tool.process.pid])
            arguments = {"path": str(root / path)} if name == "server-filesystem" else {"path": path}
            took, text = tool.ask(call, arguments)
            used[name] += cpu([tool.process.pid]) - before
            if at:
                bench.record("read", name, at, ms=took, bytes=len(text.encode()))
    for name, (tool, _) in tools.items():
        bench.record("read-cpu", name, 0, cpu=used[name] * 1e3 / len(files))
        tool.close()


def tables(bench):
    if found := bench.of("read"):
        rows = []
        for name in tools_of(sorted(found, key=lambda one: not one["tool"].startswith("docent"))):
            mine = bench.of("read", tool=name)
            every = [one["ms"] for one in mine]
            used = bench.of("read-cpu", tool=name)[0]["cpu"]
            ratio = ratio_to_docent(bench, mine, lambda one: one["ms"], "docent read_file")
            figures = [f"{statistics.median(every):.2f}", f"{percentile(every, 0.95):.2f}", f"{used:.2f}", f"{statistics.median(one['bytes'] for one in mine):,.0f}"]
            rows.append([name, *figures, ratio])
        yield f"Reading {len(mine)} files of {bench.name}", table(["tool", "p50, ms", "p95, ms", "CPU a call, ms", "bytes, median", "time to docent's read_file"], rows)
