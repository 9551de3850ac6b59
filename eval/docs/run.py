#!/usr/bin/env python3
"""Asks docent 150 questions about three documentations, and reports the rank of the section that answers each.

usage: eval/docs/run.py DOCENT CORPORA --out DIR [--example EXAMPLE]

CORPORA has a directory for each corpus that README.md names. DOCENT is called over MCP, like by a client. EXAMPLE is the engine's
example `docs` (`cargo build --release -p docent-engine --example docs`): with it, words alone and similarity alone are measured, and
textbook BM25 over the same sections (heading and text, k1 1.2, b 0.75, words in lower case, no weights).

A question is scored by the first of five results that is its section, or another one that is labelled as an answer: NDCG@5 is 1/log2(1+rank),
MRR@5 is 1/rank. Writes results.json with the rank of every question, and results.md.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench"))
from server import Server  # noqa: E402

SHOWN = 5


def questions():
    return [json.loads(line) for line in (HERE / "questions.jsonl").read_text().splitlines()]


def ask_docent(docent, corpora, asked):
    """The ids of the results of search_docs, for every question."""
    answers = {}
    for corpus in sorted({question["corpus"] for question in asked}):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "DOCENT_LIMIT_SEARCH_DOCS": "0"}
            root = str(corpora / corpus)
            # A search on the command line waits until all pages are indexed.
            subprocess.run([docent, "--root", root, "docs", "anything"], env=environment, capture_output=True, check=True)
            server = Server([docent, "--root", root, "serve"], environment)
            for question in asked:
                if question["corpus"] == corpus:
                    result = server.call("search_docs", {"query": question["question"], "limit": SHOWN})
                    hits = json.loads(result["content"][0]["text"])["hits"]
                    answers[question["question"]] = [hit["chunk_id"] for hit in hits]
            server.close()
    return answers


def ask_example(example, corpora, asked, ways):
    """The same inside one process, by the other methods."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lines = [json.dumps({"root": str(corpora / question["corpus"]), "question": question["question"]}) for question in asked]
        (folder / "questions").write_text("\n".join(sorted(lines)) + "\n")
        subprocess.run([example, "ask", folder / "questions", folder / "answers", folder / "cache", ways], check=True, capture_output=True)
        answers = [json.loads(line) for line in (folder / "answers").read_text().splitlines()]
    return {answer["question"]: answer["ids"] for answer in answers}


def words(text):
    return re.findall(r"\w+", text.lower())


def ask_bm25(example, corpora, asked):
    """Textbook BM25 over the sections as docent cuts them."""
    answers = {}
    for corpus in sorted({question["corpus"] for question in asked}):
        dumped = subprocess.run([example, "dump", corpora / corpus], check=True, capture_output=True, text=True).stdout
        sections = [json.loads(line) for line in dumped.splitlines()]
        lengths, postings = [], collections.defaultdict(list)
        for number, section in enumerate(sections):
            counts = collections.Counter(words(f"{section['heading']} {section['text']}"))
            lengths.append(sum(counts.values()))
            for word, count in counts.items():
                postings[word].append((number, count))
        mean = sum(lengths) / len(lengths)
        for question in asked:
            if question["corpus"] != corpus:
                continue
            scores = collections.Counter()
            for word in set(words(question["question"])):
                found = postings.get(word, [])
                rarity = math.log(1 + (len(sections) - len(found) + 0.5) / (len(found) + 0.5))
                for number, count in found:
                    scores[number] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths[number] / mean))
            answers[question["question"]] = [sections[number]["id"] for number, _ in scores.most_common(SHOWN)]
    return answers


def rank(question, ids):
    right = {question["expected"], *question.get("also", [])}
    return next((place for place, found in enumerate(ids[:SHOWN], 1) if found in right), None)


def ndcg(place):
    return 1 / math.log2(1 + place) if place else 0.0


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def interval(differences):
    """The bootstrap interval of the mean, 95 %."""
    chance = random.Random(0)
    means = sorted(mean(chance.choices(differences, k=len(differences))) for _ in range(5_000))
    return means[125], means[-126]


def report(asked, ranks):
    """Two tables: by kind of question for each method, and docent's by corpus."""
    lines = ["| way of looking | all | direct | paraphrased | MRR@5 | found |", "|---|--:|--:|--:|--:|--:|"]
    for way, places in ranks.items():
        by_kind = [mean(ndcg(place) for place, question in zip(places, asked) if kind in ("all", question["kind"])) for kind in ("all", "direct", "paraphrased")]
        reciprocal = mean(1 / place if place else 0 for place in places)
        found = sum(place is not None for place in places)
        lines.append(f"| {way} | " + " | ".join(f"{value:.3f}" for value in by_kind) + f" | {reciprocal:.3f} | {found} of {len(asked)} |")
    lines += ["", "| docent, NDCG@5 | direct | paraphrased |", "|---|--:|--:|"]
    for corpus in sorted({question["corpus"] for question in asked}):
        cells = [mean(ndcg(place) for place, question in zip(ranks["docent"], asked) if (question["corpus"], question["kind"]) == (corpus, kind)) for kind in ("direct", "paraphrased")]
        lines.append(f"| {corpus} | {cells[0]:.3f} | {cells[1]:.3f} |")
    if "BM25" in ranks:
        for kind in ("direct", "paraphrased"):
            pairs = [(ndcg(ours), ndcg(theirs)) for ours, theirs, question in zip(ranks["docent"], ranks["BM25"], asked) if question["kind"] == kind]
            low, high = interval([ours - theirs for ours, theirs in pairs])
            lines += ["", f"docent above BM25, {kind}: {mean(ours - theirs for ours, theirs in pairs):+.3f} [{low:+.3f}, {high:+.3f}]"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("corpora", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--example")
    given = parser.parse_args()
    asked, corpora = questions(), given.corpora.resolve()
    answers = {"docent": ask_docent(given.docent, corpora, asked)}
    if given.example:
        for way in ("words", "meaning"):
            answers[f"{way} alone"] = ask_example(given.example, corpora, asked, way)
        answers["BM25"] = ask_bm25(given.example, corpora, asked)
    ranks = {way: [rank(question, ids[question["question"]]) for question in asked] for way, ids in answers.items()}
    given.out.mkdir(parents=True, exist_ok=True)
    text = report(asked, ranks)
    (given.out / "results.md").write_text(text)
    rows = [{"question": question["question"], **{way: places[at] for way, places in ranks.items()}} for at, question in enumerate(asked)]
    (given.out / "results.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(text)


main()
