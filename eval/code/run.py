"""Asks the outside benchmark's questions through the real server, and prints what it scores.

    python3 eval/code/run.py DOCENT BENCHMARK TREES [--out FILE] [--against FILE]

BENCHMARK is the folder with `ndcg.py`, `repos.json` and `annotations/`; TREES has the exported projects in `repos/`. Every project is
served over stdio by a docent with a cache of its own, every question is one `context_search` with ten results, and what comes
back is scored as it comes. `--out` keeps one line a question, by its number, with its score and the rank of its first hit; `--against` compares with
such a file: which questions moved, and the mean difference with a bootstrap interval over projects.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tune import Benchmark, mean, overall  # noqa: E402


def ask(docent, root, queries, home, settings=()):
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": os.path.join(home, "cache"), "XDG_STATE_HOME": os.path.join(home, "state")}
    flags = ["--root", root, "--set", "limit.context_search=0", *settings]
    subprocess.run([docent, *flags, "index"], env=environment, check=True, stderr=subprocess.DEVNULL)
    server = subprocess.Popen(
        [docent, *flags, "serve"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    last = 0

    def request(method, params):
        nonlocal last
        last += 1
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": last, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        while True:
            message = json.loads(server.stdout.readline())
            if message.get("id") == last:
                return message["result"]

    request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "eval", "version": "0"}})
    for query in queries:
        answer = request("tools/call", {"name": "context_search", "arguments": {"query": query, "limit": 10, "format": "json"}})
        results = json.loads(answer["content"][0]["text"])["results"]
        yield [
            {"path": one.get("path", f"commit {one.get('commit')}"), "start_line": one.get("startLine"), "end_line": one.get("endLine")}
            for one in results
        ]
    server.stdin.close()
    server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("benchmark")
    parser.add_argument("trees")
    parser.add_argument("--out")
    parser.add_argument("--against")
    parser.add_argument("--whole", action="store_true", help="search whole repositories, with tests, documents and examples in place")
    args = parser.parse_args()
    benchmark = Benchmark(args.benchmark, args.trees, None)
    roots = {one["repo"]: one["root"] for one in map(json.loads, open(benchmark.questions, encoding="utf-8"))}
    if args.whole:
        roots = {project: os.path.abspath(os.path.join(args.trees, "repos", project)) for project in roots}
    scores, lines, aside = {}, [], 0
    with tempfile.TemporaryDirectory(prefix="docent-eval-") as home:
        for project, root in roots.items():
            items = [item for of, item in benchmark.items if of == project]
            answers = list(ask(os.path.abspath(args.docent), root, [item["query"] for item in items], home))
            for number, (item, results) in enumerate(zip(items, answers)):
                first = results[0]["path"].lower() if results else ""
                aside += any(part.startswith(("test", "spec", "doc", "example", "bench")) for part in first.split("/")) or first.endswith(".md")
                value, hits, _ = benchmark.ndcg.score(item, results, benchmark.trees[project], benchmark.args)
                scores.setdefault(project, []).append((value, item["category"]))
                lines.append({"repo": project, "number": number, "category": item["category"], "ndcg": round(value, 4), "first": hits[0] if hits else None})
    print("| | NDCG@10 by project |\n|---|--:|")
    print(f"| all | {overall(scores, scores):.4f} |")
    for kind in ("architecture", "semantic", "symbol"):
        print(f"| {kind} | {overall(scores, scores, kind):.4f} |")
    if args.whole:
        print(f"\n{aside} of {len(lines)} questions have a test, a document or an example first")
    if args.out:
        with open(args.out, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if args.against:
        compare(lines, args.against, {project: [item["query"] for of, item in benchmark.items if of == project] for project in roots})


def compare(lines, path, queries):
    before = {(one["repo"], one["number"]): one["ndcg"] for one in map(json.loads, open(path, encoding="utf-8"))}
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


if __name__ == "__main__":
    main()
