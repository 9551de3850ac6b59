"""semble over questions, inside one process: the part of search.py that runs in semble's interpreter.

usage: PYTHON bench/semble_run.py QUESTIONS.jsonl ANSWERS.jsonl

BM25 and semble's own ranking, without a model: vectors are constant and weigh nothing. Its usage statistics after every search are turned off. The index is in memory only: nothing is read from its cache, and nothing saved. Prints JSON.
"""

import importlib.metadata
import itertools
import json
import os
import resource
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy  # noqa: E402
from semble.index import index as semble  # noqa: E402


class Stub:
    """Stands in for the model."""

    dim = 8

    def encode(self, texts, **_):
        vectors = numpy.zeros((len(texts), self.dim), dtype=numpy.float32)
        vectors[:, 0] = 1
        return vectors


semble.load_model = lambda model_path=None: (Stub(), "stub")
semble.get_validated_cache = lambda *_, **__: None
semble.load_previous_for_incremental = lambda *_, **__: None
semble.save_search_stats = lambda *_, **__: None


def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main():
    questions, answers = sys.argv[1:]
    with open(questions, encoding="utf-8") as file:
        asked = [json.loads(line) for line in file]
    figures = {"trees": 0, "files": 0, "chunks": 0, "index_wall": 0, "index_cpu": 0}
    figures["version"] = importlib.metadata.version("semble")
    took = []
    with open(answers, "w", encoding="utf-8") as out:
        for root, group in itertools.groupby(asked, lambda question: question["root"]):
            wall, used = time.perf_counter(), cpu()
            index = semble.SembleIndex.from_path(root)
            figures["index_wall"] += time.perf_counter() - wall
            figures["index_cpu"] += cpu() - used
            figures["trees"] += 1
            figures["files"] += index.stats.indexed_files
            figures["chunks"] += index.stats.total_chunks
            for question in group:
                started = time.perf_counter()
                hits = [hit.chunk for hit in index.search(question["query"], top_k=10, alpha=0.0)]
                took.append((time.perf_counter() - started) * 1e3)
                results = [{"path": hit.file_path, "start_line": hit.start_line, "end_line": hit.end_line} for hit in hits]
                out.write(json.dumps({"repo": question["repo"], "query": question["query"], "results": results}) + "\n")
    took.sort()
    shares = {f"p{share}": took[min(len(took) * share // 100, len(took) - 1)] for share in (50, 95)}
    print(json.dumps({**figures, "queries": len(took), **shares, "max": took[-1]}))


if __name__ == "__main__":
    main()
