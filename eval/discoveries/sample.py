"""Draws the discoveries that are judged by reading, and counts the verdicts.

    cargo run --release -p docent-engine --example discoveries -- REPOSITORY > all.jsonl
    python3 eval/discoveries/sample.py draw all.jsonl NAME > judged.jsonl
    python3 eval/discoveries/sample.py keep judged.jsonl > eval/discoveries/samples/NAME.jsonl
    python3 eval/discoveries/sample.py count eval/discoveries/samples/*.jsonl

`draw` takes 100 of a project's discoveries, the same number from each source as far as possible, so that rare ones are judged
too. A line has docent's fields (`kind`, `source`, `module`, `content`, `place`) and room for a verdict: true, or false with the
reason. `keep` leaves out the text, which belongs to the projects; its place and a hash identify it.
`count` prints the share of true ones, by project and by source.
"""

import collections
import hashlib
import json
import random
import sys

SIZE = 100
SEED = 9


def draw(path, name):
    everything = [json.loads(line) for line in open(path, encoding="utf-8")]
    by_source = collections.defaultdict(list)
    for one in everything:
        by_source[one["source"], one["kind"]].append(one)
    dice = random.Random(SEED)
    for found in by_source.values():
        dice.shuffle(found)
    taken = []
    while len(taken) < min(SIZE, len(everything)):
        for key in sorted(by_source):
            if by_source[key] and len(taken) < SIZE:
                taken.append(by_source[key].pop())
    for number, one in enumerate(taken, 1):
        kept = {key: one.get(key) for key in ("kind", "source", "module", "date", "title", "content", "place", "lines")}
        print(json.dumps({"project": name, "number": number, **kept, "verdict": None, "reason": ""}, ensure_ascii=False))


def keep(path):
    for line in open(path, encoding="utf-8"):
        one = json.loads(line)
        one["content"] = hashlib.sha256(one["content"].encode()).hexdigest()[:16]
        del one["title"]
        print(json.dumps(one, ensure_ascii=False))


def count(paths):
    by_project, by_source = collections.Counter(), collections.Counter()
    true = collections.Counter()
    for path in paths:
        for line in open(path, encoding="utf-8"):
            one = json.loads(line)
            source = f"{one['source']} → {one['kind']}"
            by_project[one["project"]] += 1
            by_source[source] += 1
            if one["verdict"] is True:
                true[one["project"]] += 1
                true[source] += 1
            elif one["verdict"] is not False:
                sys.exit(f"{path}: number {one['number']} has no verdict")
    for title, counts in (("project", by_project), ("source", by_source)):
        print(f"| {title} | judged | true | share |\n|---|---|---|---|")
        for name, judged in sorted(counts.items()):
            print(f"| {name} | {judged} | {true[name]} | {true[name] / judged:.0%} |")
        print()
    judged = sum(by_project.values())
    print(f"{sum(true[name] for name in by_project)} of {judged} are true")


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "draw":
        draw(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3 and sys.argv[1] == "keep":
        keep(sys.argv[2])
    elif len(sys.argv) >= 3 and sys.argv[1] == "count":
        count(sys.argv[2:])
    else:
        sys.exit(__doc__)
