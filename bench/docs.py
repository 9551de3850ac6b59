#!/usr/bin/env python3
"""The documentation tools beside those of speakeasy-api/docs-mcp, over the same pages: build, disk, start, memory and answers.

usage: bench/docs.py --docent BINARY --corpus DIR… [--peer CHECKOUT] [--rounds N] --out DIR

CHECKOUT is a copy of the peer's repository with its packages core, cli and server built (`tsc -p tsconfig.build.json` in each). Either
side can be left out. The `.md` pages of all corpora are copied into one directory, without hidden ones and prompt templates, so that
both read the same pages; all of them are in the page cache. In every round each tool has its turn, with its own home; the first one changes:
- building the index from nothing: wall, CPU with all child processes, peak memory of the largest process; for docent until the
  documentation is complete;
- bytes on disk beside those of the pages; the peer also leaves a copy of all chunks as JSON, which its server does not read;
- spawn of the server to its answer to tools/list, median of five starts;
- 200 searches for different headings of the corpus, ten results each, from request to answer, after 20 others; the headings have two
  words or more and are drawn with a fixed seed;
- memory of the server after that: peak, current, and the part of it that is not mapped files.
docent has vectors, and its disk includes the index of code search; the peer is built without embeddings (`--embedding-provider none`), full
text only. Writes docs.json and docs.md. Linux only: memory is read from /proc.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import sys
import tempfile
import time

from process import run
from server import Server

SEARCHES, BEFORE, STARTS = 200, 20, 5
# Title, unit, digits and name of each figure.
ROWS = [
    ("build, wall", "s", 2, "build_wall"),
    ("build, CPU", "s", 2, "build_cpu"),
    ("build, peak memory", "MiB", 0, "build_peak"),
    ("index on disk", "MB", 1, "disk"),
    ("index to corpus", "", 2, "disk_ratio"),
    ("spawn to tools/list", "ms", 0, "start"),
    ("search_docs, p50", "ms", 2, "p50"),
    ("search_docs, p95", "ms", 2, "p95"),
    ("searches with a hit, of 200", "", 0, "with_hits"),
    ("memory of the server, most", "MiB", 0, "VmHWM"),
    ("memory of the server, after", "MiB", 0, "VmRSS"),
    ("of it no file", "MiB", 0, "RssAnon"),
]


def gather(corpora, root):
    """Copies the pages. Returns their number and their bytes."""
    pages = size = 0
    for corpus in corpora:
        for page in sorted(corpus.rglob("*.md")):
            place = page.relative_to(corpus)
            if any(part.startswith(".") for part in place.parts) or page.name.endswith(".template.md") or not page.is_file():
                continue
            target = root / corpus.name / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(page, target)
            pages, size = pages + 1, size + len(target.read_bytes())
    return pages, size


def questions(root):
    """Headings of the corpus, drawn with a fixed seed."""
    found = set()
    for page in root.rglob("*.md"):
        text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text("utf-8", "replace"), flags=re.MULTILINE | re.DOTALL)
        found.update(re.findall(r"^#{1,6} +(\w.*?\w)[ #]*$", text, re.MULTILINE))
    found = sorted(heading for heading in found if len(heading.split()) > 1)
    if len(found) < SEARCHES + BEFORE:
        sys.exit(f"{len(found)} headings are not enough")
    return random.Random(0).sample(found, SEARCHES + BEFORE)


def bytes_in(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        sizes = dict(line.split(":", 1) for line in status)
    return {name: int(sizes[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS", "RssAnon")}


def docent(options, root, folder):
    """Builds the index. Returns its cost, the directories written, and the command and environment that serve it."""
    environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "DOCENT_LIMIT_SEARCH_DOCS": "0"}
    command = [options.docent, "--root", str(root)]
    # A search on the command line waits until all pages are indexed, and not for the code.
    used = run([*command, "docs", "anything"], environment)[1]
    run([*command, "index"], environment)
    return used, {"disk": bytes_in(folder / "cache")}, [*command, "serve"], environment


def peer(options, root, folder):
    environment = {**os.environ, "HOME": str(folder)}
    packages = options.peer / "packages"
    build = ["build", "--docs-dir", str(root), "--out", str(folder / "index"), "--embedding-provider", "none"]
    used = run(["node", str(packages / "cli/dist/index.js"), *build], environment)[1]
    copied = (folder / "index/chunks.json").stat().st_size
    sizes = {"disk": bytes_in(folder / "index") - copied, "chunks_json": copied}
    return used, sizes, ["node", str(packages / "server/dist/bin.js"), "--index-dir", str(folder / "index")], environment


def started(command, environment):
    """Starts a server and lists its tools. Returns it, and the time until then."""
    begun = time.perf_counter()
    server = Server(command, environment)
    tools = server.request("tools/list", {})["result"]["tools"]
    took = (time.perf_counter() - begun) * 1e3
    if not any(tool["name"] == "search_docs" for tool in tools):
        sys.exit(f"{os.path.basename(command[0])} has no search_docs")
    return server, took


def ask(server, query):
    """Times a search. Returns milliseconds, and whether it had a result."""
    begun = time.perf_counter()
    result = server.call("search_docs", {"query": query})
    took = (time.perf_counter() - begun) * 1e3
    if result.get("isError"):
        sys.exit(f"{query}: {result['content'][0]['text']}")
    return took, bool(json.loads(result["content"][0]["text"])["hits"])


def measure(side, options, root, size, asked, folder):
    used, sizes, command, environment = side(options, root, folder)
    figures = {f"build_{name}": value for name, value in used.items()} | {name: value / 1e6 for name, value in sizes.items()}
    figures["disk_ratio"] = sizes["disk"] / size
    starts = []
    for _ in range(STARTS):
        server, took = started(command, environment)
        starts.append(took)
        if len(starts) < STARTS:
            server.close()
    answers = [ask(server, query) for query in asked][BEFORE:]
    times = sorted(took for took, _ in answers)
    figures |= {"start": statistics.median(starts), "p50": statistics.median(times), "p95": times[round(0.95 * (len(times) - 1))]}
    figures |= {"with_hits": sum(hit for _, hit in answers), **memory(server.process.pid)}
    server.close()
    return figures


def spread(values, unit, digits):
    """The median, with the range in brackets."""
    middle = f"{statistics.median(values):.{digits}f} {unit}".rstrip()
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def table(rounds, sides):
    both = len(sides) == 2
    lines = [f"| what | {' | '.join(sides)} |" + (" peer's to docent's |" if both else ""), "|---|" + "--:|" * (len(sides) + both)]
    for what, unit, digits, name in ROWS:
        values = [[one[side][name] for one in rounds] for side in sides]
        cells = [spread(value, unit, digits) for value in values]
        if both:
            ours, theirs = map(statistics.median, values)
            cells.append(f"{theirs / ours:.2f}" if ours else "")
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return lines


def versions(options):
    told = {}
    if options.docent:
        told["docent"] = run([options.docent, "--version"])[0].split()[-1]
    if options.peer:
        told["peer"] = json.loads((options.peer / "packages/cli/package.json").read_text("utf-8"))["version"]
        told["node"] = run(["node", "--version"])[0].strip()
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docent")
    parser.add_argument("--corpus", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    sides = {name: side for name, side in (("docent", docent), ("peer", peer)) if getattr(options, name)}
    if not sides:
        parser.error("neither --docent nor --peer")
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name) / "corpus"
        pages, size = gather([corpus.resolve() for corpus in options.corpus], root)
        asked = questions(root)
        time.sleep(3)  # docent compares a file that was written just now by content.
        for number in range(options.rounds):
            one = {"load": os.getloadavg()[0]}
            for side in sides if number % 2 == 0 else reversed(sides):
                with tempfile.TemporaryDirectory(dir=name) as fresh:
                    one[side] = measure(sides[side], options, root, size, asked, pathlib.Path(fresh))
            rounds.append(one)
            print(f"round {number + 1}, load {one['load']:.1f}", file=sys.stderr)
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}"}
    about = {**machine, **versions(options), "pages": pages, "bytes": size}
    loads = spread([one["load"] for one in rounds], "", 1)
    lines = [
        f"{machine['machine']}, {machine['cores']} cores, {machine['system']}; load {loads}; rounds: {len(rounds)}, medians",
        f"{pages:,} pages, {size / 1e6:.1f} MB; {', '.join(f'{name} {number}' for name, number in versions(options).items())}",
        "",
        *table(rounds, list(sides)),
    ]
    if "peer" in sides:
        lines += ["", f"The peer's chunks.json, not counted, has {rounds[-1]['peer']['chunks_json']:.1f} MB."]
    print("\n".join(lines))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "docs.json").write_text(json.dumps({**about, "rounds": rounds}, indent=1) + "\n", "utf-8")
    (options.out / "docs.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
