#!/usr/bin/env python3
"""Indexing and searching beside semble, on the trees of an outside benchmark, and beside parsing alone.

usage: bench/search.py --trees DIR --eval DIR --example SEARCH --semble PYTHON [--outline OUTLINE] [--rounds N] [--out FILE]

DIR/repos/NAME has the exported trees; the folder of --eval has repos.json and annotations/NAME.json. SEARCH and OUTLINE are
examples: `cargo build --release -p docent-engine --example search`, `… -p docent-core --example outline`. PYTHON is the
interpreter of an environment that has semble (PyPI, MIT; made for 0.7.0).

In every round each tool has its turn, in a new process with an empty cache; the first one changes. Files are in the page cache.
- docent's index CPU is that of a run that builds and asks, minus that of a second one, which finds the index in place and only
  asks. Work that both do is not in it: start, scan the tree, open the index. The CPU of whole runs includes it, with the questions.
- docent indexes all text and writes the index to disk; semble, by default, takes code only, and keeps the index in memory. Its
  index time is that of `from_path`, without the start of Python. It has no model here: BM25 and its ranking (semble_run.py).
- docent uses all cores, semble one, which is its default; so CPU compares the work, and wall time what a user waits for.
- Parsing alone is tree-sitter with docent's grammars over all files that have one (`outline speed`): seconds of one core by the
  clock, or its share of that program's CPU time if that is less, because the clock runs on while others use the core.
--answers DIR gets the answers of both in the last round, for the benchmark's own evaluator.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import sys
import tempfile

from process import run

HERE = pathlib.Path(__file__).resolve().parent
OURS = re.compile(r"trees (\d+)  built in ([\d.]+) s  queries (\d+)  p50 ([\d.]+) ms  p95 ([\d.]+) ms  max ([\d.]+) ms")
PARSE = re.compile(r"(\d+) files, ([\d.]+) MB, (\d+) chunks.* parse ([\d.]+) MB/s, .* ratio ([\d.]+)")
# Title, unit and name of each figure.
ROWS = [
    ("index, CPU", "s", "index_cpu"),
    ("index, wall", "s", "index_wall"),
    ("query, p50", "ms", "p50"),
    ("query, p95", "ms", "p95"),
    ("query, most", "ms", "max"),
    ("whole run, CPU", "s", "cpu"),
    ("whole run, wall", "s", "wall"),
    ("whole run, peak memory", "MiB", "peak"),
]


def questions(trees, labels, only, path):
    """Writes all questions, tree by tree. Returns the trees."""
    roots = []
    with open(path, "w", encoding="utf-8") as out:
        for spec in json.loads((labels / "repos.json").read_text("utf-8")):
            name = spec["name"]
            if only and name not in only:
                continue
            root = (trees / "repos" / name / (spec["benchmark_root"] or "")).resolve()
            if not root.is_dir():
                sys.exit(f"{name} has no tree")
            roots.append(str(root))
            for item in json.loads((labels / "annotations" / f"{name}.json").read_text("utf-8")):
                out.write(json.dumps({"repo": name, "root": str(root), "query": item["query"]}) + "\n")
    if not roots or only and len(roots) < len(set(only)):
        sys.exit("no such trees")
    return roots


def into_page_cache(roots):
    return sum(len(path.read_bytes()) for root in roots for path in pathlib.Path(root).rglob("*") if path.is_file())


def ours_once(example, asked, answers, cache):
    output, used = run([example, str(asked), str(answers), str(cache)])
    if not (found := OURS.search(output)):
        sys.exit(f"not understood: {output}")
    trees, queries = int(found[1]), int(found[3])
    named = dict(zip(("index_wall", "p50", "p95", "max"), map(float, found.group(2, 4, 5, 6))))
    return {"trees": trees, "queries": queries, **named, **used}


def ours(options, asked, answers, folder):
    """A run that builds the index, and one that uses it."""
    built = ours_once(options.example, asked, answers, folder / "cache")
    kept = ours_once(options.example, asked, folder / "again.jsonl", folder / "cache")
    size = sum(path.stat().st_size for path in (folder / "cache").rglob("*") if path.is_file())
    return {**built, "index_cpu": built["cpu"] - kept["cpu"], "disk": size / 1e6, "kept": kept}


def theirs(options, asked, answers, folder):
    environment = {**os.environ, "SEMBLE_CACHE_LOCATION": str(folder / "cache"), "SEMBLE_INDEX_WORKERS": "0"}
    output, used = run([options.semble, str(HERE / "semble_run.py"), str(asked), str(answers)], environment)
    return {**json.loads(output), **used}


def parse_alone(outline, roots):
    output, used = run([outline, "speed", *roots])
    if not (found := PARSE.search(output)):
        sys.exit(f"not understood: {output}")
    megabytes, clock, ratio = float(found[2]), float(found[2]) / float(found[4]), float(found[5])
    # The program cuts every file to see whether it can, then parses it, then cuts it again.
    share = used["cpu"] / (1 + 2 * ratio)
    seconds = {"clock": clock, "share": share, "parse": min(clock, share)}
    return {"files": int(found[1]), "megabytes": megabytes, **seconds, "ratio": ratio}


def spread(values, digits=2):
    """The median, with the range in brackets."""
    middle = f"{statistics.median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def table(rounds, version):
    print(f"| what | docent | semble {version} | semble's to docent's |\n|---|--:|--:|--:|")
    for what, unit, name in ROWS:
        mine, other = ([one[who][name] for one in rounds] for who in ("docent", "semble"))
        digits = 0 if unit == "MiB" else 2
        ratios = [theirs / max(ours, 1e-9) for ours, theirs in zip(mine, other)]
        print(f"| {what} | {spread(mine, digits)} {unit} | {spread(other, digits)} {unit} | {spread(ratios)} |")
    if "parse" in rounds[0]:
        parse = [one["parse"]["parse"] for one in rounds]
        mine, other = ([one[who]["index_cpu"] / one["parse"]["parse"] for one in rounds] for who in ("docent", "semble"))
        print(f"| index CPU to parsing alone ({spread(parse)} s) | {spread(mine)} | {spread(other)} | |")
        print(f"| parsing and cutting to parsing alone | {spread([one['parse']['ratio'] for one in rounds])} | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=pathlib.Path, required=True)
    parser.add_argument("--eval", type=pathlib.Path, required=True)
    parser.add_argument("--example", required=True)
    parser.add_argument("--semble", required=True)
    parser.add_argument("--outline")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="names of trees, for a short run")
    parser.add_argument("--answers", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kept = options.answers or folder / "answers"
        kept.mkdir(parents=True, exist_ok=True)
        asked = folder / "questions.jsonl"
        roots = questions(options.trees, options.eval, options.only, asked)
        megabytes = into_page_cache(roots) / 1e6
        for number in range(options.rounds):
            one = {"load": os.getloadavg()[0]}
            turns = [("docent", ours), ("semble", theirs)]
            for who, work in turns if number % 2 == 0 else reversed(turns):
                with tempfile.TemporaryDirectory(dir=folder) as fresh:
                    one[who] = work(options, asked, kept / f"{who}.jsonl", pathlib.Path(fresh))
            if options.outline:
                one["parse"] = parse_alone(options.outline, roots)
            rounds.append(one)
            print(f"round {number + 1}, load {one['load']:.1f}", file=sys.stderr)
    last = rounds[-1]
    loads = spread([one["load"] for one in rounds], 1)
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}"}
    print(f"{machine['machine']}, {machine['cores']} cores, {machine['system']}; load {loads}; median of {len(rounds)} rounds")
    theirs_has = f"semble has {last['semble']['files']:,} files and {last['semble']['chunks']:,} chunks of them in its index"
    print(f"{last['docent']['trees']} trees, {megabytes:.1f} MB, {last['docent']['queries']} questions; {theirs_has}\n")
    table(rounds, last["semble"]["version"])
    again = [one["docent"]["kept"]["index_wall"] for one in rounds]
    print(f"\ndocent's indexes have {last['docent']['disk']:.1f} MB on disk; finding all in place takes {spread(again)} s.")
    if options.out:
        options.out.write_text(json.dumps({**machine, "megabytes": megabytes, "rounds": rounds}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
