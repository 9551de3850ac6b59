"""Index: from no index to a complete one on disk."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from ..bench import SEMBLE
from ..figures import docent_first, plain, ratio_to_docent, spread, succeeded, table, tools_of
from ..registry import PEERS
from ..tool import Tool
from ..usage import PeakWatch, cpu

ABOUT = """From no index to a complete one on disk. docent: `docent index`, all text files and by default the
messages of up to 10,000 commits, with vectors; “without commits” is the same with `index.max_commits=0`.
semble: the build that `semble search` does before it searches, code only (its default), 4 workers;
without its model the vectors have 8 numbers, so that its disk is understated. codegraph: `codegraph init
-y`, code only. code-index-mcp: server start, `set_project_path`, `build_deep_index`. probe has no index."""


def measure(bench):
    places = [("middle", bench.name, bench.options.rounds)]
    if bench.options.large:
        places.append(("large", bench.options.large.name, 1))
    for which, repository, rounds in places:
        names = ["docent", "docent, without commits", "semble", "code-index-mcp", *(["codegraph"] if which == "middle" else [])]
        for number in range(rounds):
            for name in bench.turns(names, number):
                root = bench.root(name) if which == "middle" else bench.options.large
                with tempfile.TemporaryDirectory(dir=bench.folder) as fresh:
                    fresh = pathlib.Path(fresh)
                    environment = {**bench.environment, "XDG_CACHE_HOME": str(fresh), "SEMBLE_CACHE_LOCATION": str(fresh), "TMPDIR": str(fresh)}
                    if name.startswith("docent"):
                        less = ["--set", "index.max_commits=0"] if "," in name else []
                        figures = run_to_end(bench, [bench.docent, "--root", str(root), *less, "index"], environment)
                    elif name == "semble":
                        figures = run_to_end(bench, [PEERS[name].path, str(SEMBLE), "index", str(root)], environment)
                    elif name == "codegraph":
                        shutil.rmtree(root / ".codegraph", ignore_errors=True)
                        figures = run_to_end(bench, [PEERS[name].path, "init", "-y", str(root)], environment)
                    else:
                        figures = index_by_calls(bench, root, environment)
                    if "failed" not in figures:
                        figures["disk"] = size(root / ".codegraph" if name == "codegraph" else fresh)
                    bench.record("index", name, number, repository=repository, **figures)


def run_to_end(bench, command, environment):
    """Runs a command until it ends or the time limit is reached."""
    began = time.perf_counter()
    with tempfile.TemporaryFile(dir=bench.folder) as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        with PeakWatch(process.pid, bench.options.limit) as watch:
            _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if watch.late:
            return {"failed": f"not finished in {bench.options.limit // 60} min"}
        if process.returncode:
            errors.seek(0)
            return {"failed": f"ended with {process.returncode}: {plain(errors.read().decode(errors='replace')[-150:])}"}
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": max(watch.peak, usage.ru_maxrss / 1024 if watch.peak == 0 else 0)}


def index_by_calls(bench, root, environment):
    """code-index-mcp builds its index when its tools are called."""
    began = time.perf_counter()
    tool = Tool(bench.command("code-index-mcp", str(root)), environment)
    try:
        with PeakWatch(tool.process.pid, bench.options.limit) as watch:
            tool.ask("set_project_path", {"path": str(root)})
            _, text = tool.ask("build_deep_index", {})
            wall, used = time.perf_counter() - began, cpu(tool.processes())
        return {"wall": wall, "cpu": used, "peak": watch.peak, "said": plain(text)}
    except (SystemExit, BrokenPipeError) as error:
        return {"failed": f"not finished in {bench.options.limit // 60} min" if watch.late else plain(error)}
    finally:
        tool.close()


def size(folder):
    """Megabytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def tables(bench):
    for repository in dict.fromkeys(one["repository"] for one in bench.of("index")):
        rows = []
        for name in docent_first(tools_of(bench.of("index", repository=repository))):
            mine = succeeded(bench.of("index", repository=repository, tool=name))
            if not mine:
                rows.append([name, bench.of("index", repository=repository, tool=name)[0]["failed"], *[""] * 5])
                continue
            figures = [spread([one[key] for one in mine], digits) for key, digits in (("cpu", 2), ("wall", 2), ("peak", 0), ("disk", 1))]
            rows.append([name, *figures, ratio_to_docent(bench, mine, lambda one: one["cpu"]), ratio_to_docent(bench, mine, lambda one: one["wall"])])
        yield f"Index of {repository}", table(["tool", "CPU, s", "wall, s", "peak, MiB", "disk, MB", "CPU to docent's", "wall to docent's"], rows)
