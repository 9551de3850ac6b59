#!/usr/bin/env python3
"""Asks docent the questions of an outside benchmark, through the real binary, and writes the answers in its form.

usage: eval/search/run.py DOCENT EVAL TREES OUT.jsonl [--only NAME…]

EVAL has `repos.json` and `annotations/NAME.json`, TREES the exported repositories (`TREES/repos/NAME`). The labels stay there; only figures
come back. Each tree is served below its benchmark_root with a cache of its own, and every question asks for ten results as JSON.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server


def ask(server, query):
    while True:
        result = server.call("context_search", {"query": query, "limit": 10, "format": "json"})
        text = result["content"][0]["text"]
        if result.get("isError"):
            sys.exit(f"{query}: {text}")
        answer = json.loads(text)
        # While the index is being built the answer says so.
        if "index is being built" not in answer.get("notice", "") and "in time" not in answer.get("notice", ""):
            return answer["results"]


def main():
    parser = argparse.ArgumentParser()
    for name in ("docent", "eval", "trees", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    repositories = json.loads((given.eval / "repos.json").read_text())
    with tempfile.TemporaryDirectory() as home, given.out.open("w") as out:
        environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "DOCENT_LIMIT_CONTEXT_SEARCH": "0"}
        for repository in repositories:
            name = repository["name"]
            if given.only and name not in given.only:
                continue
            root = given.trees / "repos" / name / (repository["benchmark_root"] or "")
            server = Server([str(given.docent), "--root", str(root), "serve"], environment)
            for item in json.loads((given.eval / "annotations" / f"{name}.json").read_text()):
                results = [
                    {"path": found["path"], "start_line": found["startLine"], "end_line": found["endLine"]}
                    for found in ask(server, item["query"])
                ]
                out.write(json.dumps({"repo": name, "query": item["query"], "results": results}) + "\n")
            server.close()


main()
