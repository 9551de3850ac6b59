"""Sessions: whether questions asked one after the other, with files read in between, are answered as well as each by itself.

    python3 eval/search/run.py sessions DOCENT BENCHMARK TREES [--only NAME…] [--set KEY=VALUE…]

BENCHMARK and TREES are those of `run.py benchmark`. The questions of a project are shuffled, with a fixed seed, into sessions of five.
Each session has a server with its own state. After each answer, `read_file` reads the file of the first result, as an agent does; so
the boosts of what was read act on the next question, which is about something else. `fresh` asks each question in a session by itself.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from benchmark import Benchmark, mean
from client import result_of
from server import Server

QUESTIONS = 5


class Project:
    """A project with its index, and as many servers as there are sessions."""

    def __init__(self, docent, root, home, settings):
        self.home = home
        self.flags = ["--root", root, "--set", "limit.context_search=0", *(word for one in settings for word in ("--set", one))]
        self.docent = docent
        self.sessions = 0
        subprocess.run([docent, *self.flags, "index"], env=self.environment(), check=True, stderr=subprocess.DEVNULL)

    def environment(self):
        """The cache has the index and the accesses of files. Each session has a copy of the one that has no accesses."""
        folder = os.path.join(self.home, f"session-{self.sessions}")
        if self.sessions:
            shutil.copytree(os.path.join(self.home, "session-0"), folder)
        cache, state = os.path.join(folder, "cache"), os.path.join(folder, "state")
        return {**os.environ, "HOME": folder, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": state}

    def session(self, queries):
        """Yields the results of each query. The first result of each is read before the next query."""
        self.sessions += 1
        server = Server([self.docent, *self.flags, "serve"], self.environment())
        for query in queries:
            answer = server.call("context_search", {"query": query, "limit": 10, "format": "json"})
            text = answer["content"][0]["text"]
            if answer.get("isError"):
                sys.exit(f"{query}: {text}")
            results = [result_of(found) for found in json.loads(text)["results"]]
            yield results
            if results:
                server.call("read_file", {"path": results[0]["path"]})
        server.close()
        shutil.rmtree(os.path.join(self.home, f"session-{self.sessions}"))


def add_arguments(parser):
    parser.add_argument("docent")
    parser.add_argument("benchmark")
    parser.add_argument("trees")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", dest="settings")


def run(args):
    benchmark = Benchmark(args.benchmark, args.trees, args.only)
    print("| project | questions | fresh | in a session | moved up | moved down |\n|---|--:|--:|--:|--:|--:|")
    rows = []
    for name, root in benchmark.roots.items():
        items = benchmark.items_of(name)
        random.Random(16).shuffle(items)
        with tempfile.TemporaryDirectory(prefix="docent-eval-") as home:
            project = Project(os.path.abspath(args.docent), root, home, args.settings)
            fresh, later = [], []
            for first in range(0, len(items), QUESTIONS):
                some = items[first : first + QUESTIONS]
                queries = [item["query"] for item in some]
                alone = [results for query in queries for results in project.session([query])]
                for item, one, other in zip(some, alone, list(project.session(queries))):
                    fresh.append(benchmark.score(name, item, one)[0])
                    later.append(benchmark.score(name, item, other)[0])
        up, down = (sum(sign * (b - a) > 1e-6 for a, b in zip(fresh, later)) for sign in (1, -1))
        rows.append((mean(fresh), mean(later)))
        print(f"| {name} | {len(items)} | {mean(fresh):.4f} | {mean(later):.4f} | {up} | {down} |", flush=True)
    print(f"| mean | | {mean(a for a, _ in rows):.4f} | {mean(b for _, b in rows):.4f} | | |")
