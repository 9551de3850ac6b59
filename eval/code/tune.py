"""Chooses the weights of code search on some of the outside benchmark's projects, and reports them on the others.

    cargo build --release -p docent-engine --example search
    python3 eval/code/tune.py BENCHMARK TREES [--example PATH] [--folds 2] [--rounds 2]

BENCHMARK is the folder with `ndcg.py`, `repos.json` and `annotations/`; TREES has the exported projects in `repos/`. Projects are
dealt into folds by their names' hashes. For each fold the weights are chosen on the other folds, one weight at a time, each
step kept where it gains; what is reported for a project was chosen without it. In the end the same is done with all of them,
which is what ships.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zlib

STEPS = {
    "meaning": [0.0, 0.5, 0.8, 1.0, 1.3, 1.6, 2.0],
    "named": [0.0, 0.1, 0.3, 0.6],
    "near": [0.3, 0.4, 0.5, 0.6, 0.7],
    "file": [0.3, 0.45, 0.6, 0.8, 1.0],
    "outline": [0.7, 0.85, 1.0],
    "again": [0.3, 0.5, 0.7],
    "stem": [0.3, 0.5, 0.7, 0.9, 1.1],
    "directory": [0.0, 0.1, 0.2, 0.35, 0.5],
    "name": [0.0, 0.15, 0.3, 0.5],
    "defines": [1.0, 1.5, 2.0, 2.6],
    "mentions": [0.4, 0.8, 1.2],
    "called": [0.3, 0.6, 0.9],
    "prose": [0.3, 0.45, 0.6],
    "test": [0.3, 0.4, 0.55],
}
START = {
    "meaning": 1.0, "named": 0.3, "near": 0.5, "file": 0.6, "outline": 0.85, "again": 0.5, "stem": 0.7, "directory": 0.2, "name": 0.15, "defines": 2.0,
    "mentions": 0.8, "called": 0.6, "prose": 0.45, "test": 0.4,
}


class Benchmark:
    def __init__(self, folder, trees, example):
        spec = importlib.util.spec_from_file_location("ndcg", os.path.join(folder, "ndcg.py"))
        self.ndcg = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.ndcg)
        self.example = example
        self.cache = tempfile.mkdtemp(prefix="docent-tune-")
        self.args = argparse.Namespace(match="strict", dedup_files=False, k=10)
        self.items, self.trees, questions = [], {}, []
        for one in json.load(open(os.path.join(folder, "repos.json"), encoding="utf-8")):
            root = os.path.join(trees, "repos", one["name"], one.get("benchmark_root") or "")
            if not os.path.isdir(root):
                continue
            self.trees[one["name"]] = self.ndcg.Tree(trees, one)
            for item in json.load(open(os.path.join(folder, "annotations", one["name"] + ".json"), encoding="utf-8")):
                self.items.append((one["name"], item))
                questions.append({"repo": one["name"], "root": os.path.abspath(root), "query": item["query"]})
        self.questions = os.path.join(self.cache, "questions.jsonl")
        with open(self.questions, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(one) + "\n" for one in questions)
        self.known = {}

    def scores(self, weights):
        """By project, the mean NDCG@10 of its questions."""
        key = tuple(sorted(weights.items()))
        if key not in self.known:
            answers = os.path.join(self.cache, "answers.jsonl")
            given = [f"{name}={value}" for name, value in weights.items()]
            index = os.path.join(self.cache, "index")
            subprocess.run([self.example, self.questions, answers, index, *given], check=True, stdout=subprocess.DEVNULL)
            found = [json.loads(line)["results"] for line in open(answers, encoding="utf-8")]
            by_project = {}
            for (project, item), results in zip(self.items, found):
                value, _, _ = self.ndcg.score(item, results, self.trees[project], self.args)
                by_project.setdefault(project, []).append((value, item["category"]))
            self.known[key] = by_project
        return self.known[key]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0


def overall(scores, projects, category=None):
    """The mean of the projects' means, as the benchmark counts."""
    means = []
    for project in projects:
        values = [value for value, kind in scores[project] if category in (None, kind)]
        if values:
            means.append(mean(values))
    return mean(means)


def choose(benchmark, projects, rounds):
    weights, best = dict(START), overall(benchmark.scores(START), projects)
    for _ in range(rounds):
        before = best
        for name, values in STEPS.items():
            for value in values:
                tried = {**weights, name: value}
                score = overall(benchmark.scores(tried), projects)
                if score > best + 1e-4:
                    weights, best = tried, score
        if best - before < 1e-3:
            break
    return weights, best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark")
    parser.add_argument("trees")
    parser.add_argument("--example", default="target/release/examples/search")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    benchmark = Benchmark(args.benchmark, args.trees, args.example)
    projects = sorted(benchmark.trees)
    fold_of = {project: zlib.crc32(project.encode()) % args.folds for project in projects}
    start = benchmark.scores(START)
    print(f"{len(projects)} projects, start {overall(start, projects):.4f}")
    held_out = {}
    for fold in range(args.folds):
        inside = [project for project in projects if fold_of[project] != fold]
        outside = [project for project in projects if fold_of[project] == fold]
        weights, best = choose(benchmark, inside, args.rounds)
        scores = benchmark.scores(weights)
        held_out.update({project: scores[project] for project in outside})
        changed = {name: value for name, value in weights.items() if START[name] != value}
        print(
            f"fold {fold}: chosen on {len(inside)}: {best:.4f} (start {overall(start, inside):.4f}); on the other {len(outside)}: "
            f"{overall(scores, outside):.4f} (start {overall(start, outside):.4f}); {changed}"
        )
        sys.stdout.flush()
    by_category = {kind: overall(held_out, projects, kind) for kind in ("architecture", "semantic", "symbol")}
    print(f"held out: {overall(held_out, projects):.4f}", {kind: round(value, 4) for kind, value in by_category.items()})
    weights, best = choose(benchmark, projects, args.rounds)
    scores = benchmark.scores(weights)
    by_category = {kind: round(overall(scores, projects, kind), 4) for kind in ("architecture", "semantic", "symbol")}
    print(f"all: {best:.4f}", by_category, {name: value for name, value in weights.items() if START[name] != value})


if __name__ == "__main__":
    main()
