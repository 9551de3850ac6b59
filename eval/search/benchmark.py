"""The outside benchmark: asks its questions through the real server, and prints the scores.

    python3 eval/search/run.py benchmark DOCENT BENCHMARK TREES [--whole] [--only NAME…] [--out FILE] [--against FILE] [--answers FILE]

BENCHMARK is the folder with `ndcg.py`, `repos.json` and `annotations/`; TREES has the exported projects in `repos/`. A project without a
tree is left out. Each project is served over stdio with an index of its own. Each question is one `context_search` with ten results,
which are scored as they come.

--out      one line per question, by its number: its score and the rank of its first hit
--against  compare with such a file: which questions moved, and the mean difference with a bootstrap interval over projects
--answers  one line per question with its results, for the benchmark's own evaluator (`python3 BENCHMARK/ndcg.py FILE --base TREES`)
--whole    search whole repositories, with tests, documents and examples in place
"""

import argparse
import importlib.util
import json
import os
import random
import tempfile

from client import ask

CATEGORIES = ("architecture", "semantic", "symbol")
ASIDE = ("test", "spec", "doc", "example", "bench")


class Benchmark:
    """The questions and labels of the benchmark, for the projects that have a tree."""

    def __init__(self, folder, trees, only=()):
        spec = importlib.util.spec_from_file_location("ndcg", os.path.join(folder, "ndcg.py"))
        self.ndcg = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.ndcg)
        self.args = argparse.Namespace(match="strict", dedup_files=False, k=10)
        self.items, self.trees, self.roots = [], {}, {}
        with open(os.path.join(folder, "repos.json"), encoding="utf-8") as file:
            self.specs = json.load(file)
        for one in self.specs:
            name = one["name"]
            root = os.path.join(trees, "repos", name, one.get("benchmark_root") or "")
            if not os.path.isdir(root) or only and name not in only:
                continue
            self.trees[name] = self.ndcg.Tree(trees, one)
            self.roots[name] = os.path.abspath(root)
            with open(os.path.join(folder, "annotations", name + ".json"), encoding="utf-8") as file:
                self.items += [(name, item) for item in json.load(file)]

    def items_of(self, project):
        return [item for of, item in self.items if of == project]

    def score(self, project, item, results):
        """NDCG@10 of the results, and the ranks of those that hit."""
        value, hits, _ = self.ndcg.score(item, results, self.trees[project], self.args)
        return value, hits


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0


def overall(scores, projects, category=None):
    """The mean of the projects' means, as the benchmark counts. `scores` has (value, category) pairs by project."""
    means = []
    for project in projects:
        values = [value for value, kind in scores[project] if category in (None, kind)]
        if values:
            means.append(mean(values))
    return mean(means)


def is_aside(path):
    """Whether a path belongs to tests, documentation, examples or benchmarks."""
    path = path.lower()
    return any(part.startswith(ASIDE) for part in path.split("/")) or path.endswith(".md")


def add_arguments(parser):
    parser.add_argument("docent")
    parser.add_argument("benchmark")
    parser.add_argument("trees")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--out")
    parser.add_argument("--against")
    parser.add_argument("--answers")


def run(args):
    benchmark = Benchmark(args.benchmark, args.trees, args.only)
    roots = benchmark.roots
    if args.whole:
        roots = {project: os.path.abspath(os.path.join(args.trees, "repos", project)) for project in roots}
    scores, lines, answered, aside = {}, [], [], 0
    with tempfile.TemporaryDirectory(prefix="docent-eval-") as home:
        for project, root in roots.items():
            items = benchmark.items_of(project)
            answers = ask(os.path.abspath(args.docent), root, [item["query"] for item in items], home)
            for number, (item, results) in enumerate(zip(items, answers)):
                aside += bool(results) and is_aside(results[0]["path"])
                value, hits = benchmark.score(project, item, results)
                scores.setdefault(project, []).append((value, item["category"]))
                line = {"repo": project, "number": number, "category": item["category"], "ndcg": round(value, 4)}
                lines.append({**line, "first": hits[0] if hits else None})
                answered.append({"repo": project, "query": item["query"], "results": results})
    print("| | NDCG@10 by project |\n|---|--:|")
    print(f"| all | {overall(scores, scores):.4f} |")
    for kind in CATEGORIES:
        print(f"| {kind} | {overall(scores, scores, kind):.4f} |")
    if args.whole:
        print(f"\n{aside} of {len(lines)} questions have a test, a document or an example first")
    for path, written in ((args.out, lines), (args.answers, answered)):
        if path:
            write_lines(path, written)
    if args.against:
        compare(lines, args.against, {project: [item["query"] for item in benchmark.items_of(project)] for project in roots})


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def compare(lines, path, queries):
    """Prints the difference between these scores and those of an earlier `--out` file."""
    with open(path, encoding="utf-8") as file:
        before = {(one["repo"], one["number"]): one["ndcg"] for one in map(json.loads, file)}
    moved = {}
    for line in lines:
        key = (line["repo"], line["number"])
        if key in before:
            moved.setdefault(line["repo"], []).append((line["ndcg"] - before[key], line))
    means = [mean(by for by, _ in of) for of in moved.values()]
    dice = random.Random(1)
    drawn = sorted(mean(dice.choices(means, k=len(means))) for _ in range(2000))
    print(f"\ndifference {mean(means):+.4f} [{drawn[50]:+.4f}, {drawn[1949]:+.4f}]")
    both = sorted((pair for of in moved.values() for pair in of), key=lambda pair: pair[0])
    up, down = sum(by > 1e-4 for by, _ in both), sum(by < -1e-4 for by, _ in both)
    print(f"{up} questions up, {down} down; the most down and up:")
    for by, line in both[:5] + both[-5:]:
        print(f"  {by:+.3f} {line['repo']}: {queries[line['repo']][line['number']]}")
