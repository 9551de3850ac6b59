"""Chooses the weights of the ranking on some of the outside benchmark's projects, and reports them on the others.

    cargo build --release -p docent-engine --example search
    python3 eval/search/run.py tune BENCHMARK TREES [--example PATH] [--folds 2] [--rounds 2]

BENCHMARK is the folder with `ndcg.py`, `repos.json` and `annotations/`; TREES has the exported projects in `repos/`. Projects are dealt into
folds by the hash of their names. For each fold the weights are chosen on the other folds, one weight at a time, and a step is kept if
it gains. The weights reported for a project were therefore chosen without it. A last line reports the weights chosen on all projects.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

from benchmark import CATEGORIES, Benchmark, overall, write_lines

STEPS = {
    "similarity": [0.0, 0.5, 0.8, 1.0, 1.3, 1.6, 2.0],
    "similarity_of_names": [0.0, 0.1, 0.3, 0.6],
    "min_similarity_ratio": [0.3, 0.4, 0.5, 0.6, 0.7],
    "file_matches": [0.3, 0.45, 0.6, 0.8, 1.0],
    "non_function": [0.65, 0.75, 0.85, 1.0],
    "block": [0.4, 0.6, 0.8],
    "older_version": [0.7, 1.0],
    "same_file_penalty": [0.5, 0.65, 0.75, 0.85],
    "first_files": [1, 3, 4, 5, 6],
    "closeness": [0.5, 1.0, 2.0],
    "file_coverage": [0.0, 0.3, 0.5, 0.8],
    "file_rarity": [0.0, 0.4, 0.7, 1.0],
    "function_similarity": [0.5, 1.0, 1.5],
    "function_name": [0.0, 0.5, 1.0],
    "definition_of_loose_name": [0.0, 0.4, 0.8],
    "stem_match": [0.3, 0.5, 0.7, 0.9, 1.1],
    "directory_match": [0.0, 0.1, 0.2, 0.35, 0.5],
    "name_match": [0.0, 0.15, 0.3, 0.5],
    "definition": [1.0, 1.5, 2.0, 2.6],
    "definition_in_sentence": [0.4, 0.8, 1.2],
    "stem_is_name": [0.3, 0.6, 0.9],
    "prose": [0.3, 0.45, 0.6],
    "test": [0.3, 0.4, 0.55],
}
START = {
    "similarity": 1.0,
    "similarity_of_names": 0.3,
    "min_similarity_ratio": 0.5,
    "file_matches": 0.6,
    "non_function": 0.75,
    "block": 0.6,
    "older_version": 0.7,
    "same_file_penalty": 0.75,
    "first_files": 5,
    "closeness": 1.0,
    "file_coverage": 0.5,
    "file_rarity": 0.7,
    "function_similarity": 1.0,
    "function_name": 0.5,
    "definition_of_loose_name": 0.4,
    "stem_match": 0.7,
    "directory_match": 0.2,
    "name_match": 0.15,
    "definition": 2.0,
    "definition_in_sentence": 0.8,
    "stem_is_name": 0.6,
    "prose": 0.45,
    "test": 0.4,
}


class Search:
    """The example `search`: answers all questions inside one process, with any weights, from an index that it keeps."""

    def __init__(self, benchmark, example, folder):
        self.benchmark, self.example, self.known = benchmark, example, {}
        self.questions, self.answers = os.path.join(folder, "questions.jsonl"), os.path.join(folder, "answers.jsonl")
        self.index = os.path.join(folder, "index")
        questions = [{"repo": name, "root": benchmark.roots[name], "query": item["query"]} for name, item in benchmark.items]
        write_lines(self.questions, questions)

    def scores(self, weights):
        """By project, the NDCG@10 and the category of each of its questions."""
        key = tuple(sorted(weights.items()))
        if key not in self.known:
            given = [f"{name}={value}" for name, value in weights.items()]
            command = [self.example, self.questions, self.answers, self.index, *given]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            with open(self.answers, encoding="utf-8") as file:
                answered = [json.loads(line)["results"] for line in file]
            by_project = {}
            for (project, item), results in zip(self.benchmark.items, answered):
                value, _ = self.benchmark.score(project, item, results)
                by_project.setdefault(project, []).append((value, item["category"]))
            self.known[key] = by_project
        return self.known[key]


def choose(search, projects, rounds):
    """Coordinate ascent from `START`: the weights that score best on these projects, and that score."""
    weights, best = dict(START), overall(search.scores(START), projects)
    for _ in range(rounds):
        before = best
        for name, values in STEPS.items():
            for value in values:
                tried = {**weights, name: value}
                score = overall(search.scores(tried), projects)
                if score > best + 1e-4:
                    weights, best = tried, score
        if best - before < 1e-3:
            break
    return weights, best


def add_arguments(parser):
    parser.add_argument("benchmark")
    parser.add_argument("trees")
    parser.add_argument("--example", default="target/release/examples/search")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)


def changed(weights):
    return {name: value for name, value in weights.items() if START[name] != value}


def by_category(scores, projects):
    return {kind: round(overall(scores, projects, kind), 4) for kind in CATEGORIES}


def run(args):
    benchmark = Benchmark(args.benchmark, args.trees)
    folder = tempfile.mkdtemp(prefix="docent-tune-")
    try:
        report(Search(benchmark, args.example, folder), sorted(benchmark.trees), args)
    finally:
        shutil.rmtree(folder)


def report(search, projects, args):
    fold_of = {project: zlib.crc32(project.encode()) % args.folds for project in projects}
    start = search.scores(START)
    print(f"{len(projects)} projects, start {overall(start, projects):.4f}")
    held_out = {}
    for fold in range(args.folds):
        inside = [project for project in projects if fold_of[project] != fold]
        outside = [project for project in projects if fold_of[project] == fold]
        weights, best = choose(search, inside, args.rounds)
        scores = search.scores(weights)
        held_out.update({project: scores[project] for project in outside})
        print(
            f"fold {fold}: chosen on {len(inside)}: {best:.4f} (start {overall(start, inside):.4f}); on the other {len(outside)}: "
            f"{overall(scores, outside):.4f} (start {overall(start, outside):.4f}); {changed(weights)}"
        )
        sys.stdout.flush()
    print(f"held out: {overall(held_out, projects):.4f}", by_category(held_out, projects))
    weights, best = choose(search, projects, args.rounds)
    print(f"all: {best:.4f}", by_category(search.scores(weights), projects), changed(weights))
