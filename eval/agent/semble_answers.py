"""semble's answers as its MCP server gives them: the part of screen.py that runs in semble's interpreter.

usage: PYTHON eval/agent/semble_answers.py QUESTIONS.jsonl ANSWERS.jsonl

Without its model, as in bench/semble_run.py: BM25 and semble's own ranking. Twenty results of ten lines, its default size.
"""

import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from semble_run import semble  # noqa: E402
from semble.utils import format_results  # noqa: E402


def main():
    questions, answers = sys.argv[1:]
    with open(questions, encoding="utf-8") as file:
        asked = [json.loads(line) for line in file]
    index = semble.SembleIndex.from_path(asked[0]["root"])
    with open(answers, "w", encoding="utf-8") as out:
        for one in asked:
            hits = index.search(one["query"], top_k=20, alpha=0.0)
            out.write(json.dumps({"key": one["key"], "text": json.dumps(format_results(one["query"], hits, 10))}) + "\n")


if __name__ == "__main__":
    main()
