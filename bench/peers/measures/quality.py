"""Quality: NDCG@10 of answers to labelled questions."""

import json
import pathlib
import re
import shutil
import statistics
import subprocess

from benchmark import Benchmark, mean

from ..figures import docent_first, table, tools_of
from ..registry import PEERS

ABOUT = """NDCG@10 of the files in the answers as they come, over the first projects of the outside benchmark in
five languages that all tools know. docent's weights were chosen on this benchmark
(eval/search/README.md), so it has an advantage here. docent and semble are asked for ten results,
codegraph for ten files; probe answers with as much as fits 8,000 tokens. code-index-mcp does not rank
and is left out."""


def measure(bench):
    if not bench.options.eval:
        return
    benchmark = Benchmark(*bench.options.eval)
    specs = [spec for spec in benchmark.specs if spec["name"] in benchmark.trees]
    specs = [next(spec for spec in specs if spec["language"].lower() == language) for language in ("python", "typescript", "rust", "go", "java")]
    for spec in specs:
        project = spec["name"]
        source = pathlib.Path(bench.options.eval[1], "repos", project, spec.get("benchmark_root") or "").resolve()
        items = benchmark.items_of(project)
        for name in bench.turns(["docent", "semble", "probe", "codegraph"], 0):
            root = bench.folder / "eval" / name / project
            shutil.copytree(source, root, symlinks=True)
            if name == "codegraph":
                command = [PEERS[name].path, "init", "-y", str(root)]
                subprocess.run(command, env=bench.environment, check=True, capture_output=True)
            tool = bench.serve(name, root)
            scores = []
            for item in items:
                results = ranked(name, tool, item["query"], str(root))
                for one in results:
                    one["path"] = one["path"].removeprefix(f"{root}/")
                scores.append(benchmark.score(project, item, results)[0])
            tool.close()
            bench.record("quality", name, 0, project=project, language=spec["language"], questions=len(items), ndcg=mean(scores))


def ranked(name, tool, query, root):
    """The results of a question, in the form of the benchmark's evaluator."""
    if name == "docent":
        _, text = tool.ask("context_search", {"query": query, "limit": 10, "format": "json"})
        return [
            {"path": one.get("path", f"commit {one.get('commit')}"), "start_line": one.get("startLine"), "end_line": one.get("endLine")}
            for one in json.loads(text)["results"]
        ]
    if name == "semble":
        _, text = tool.ask("search", {"query": query, "repo": root, "top_k": 10})
        return [{"path": one["file_path"], "start_line": one["start_line"], "end_line": one["end_line"]} for one in flat(json.loads(text))]
    if name == "probe":
        _, text = tool.ask("search_code", {"query": query, "path": root})
        return [{"path": path} for path in dict.fromkeys(re.findall(r'<file path="([^"]+)"', text))]
    _, text = tool.ask("codegraph_explore", {"query": query, "maxFiles": 10})
    return [{"path": path} for path in dict.fromkeys(re.findall(r"^\*\*`([^`]+)`\*\*", text, re.MULTILINE))]


def flat(answer):
    """semble's results, whose chunks may be nested objects."""
    return [{**one, **one.get("chunk", {})} for one in answer.get("results", [])]


def tables(bench):
    if found := bench.of("quality"):
        projects = list(dict.fromkeys(one["project"] for one in found))
        rows = []
        for name in docent_first(tools_of(found)):
            by = {one["project"]: one["ndcg"] for one in bench.of("quality", tool=name)}
            rows.append([name, f"{statistics.mean(by.values()):.3f}", *(f"{by[project]:.3f}" for project in projects)])
        questions = sum(one["questions"] for one in bench.of("quality", tool="docent"))
        titles = [f"{one['project']} ({one['language']})" for one in bench.of("quality", tool="docent")]
        yield f"Quality, {questions} questions", table(["tool", "NDCG@10, mean of projects", *titles], rows)
