#!/usr/bin/env python3
"""Draws what two agents read for the same question, one with grep and one with docent: an SVG made from real runs.

usage: docs/recording/question.py DOCENT OUT.svg DIR [--questions N]

Runs `docent compare --json` in the repository at DIR, whose name the picture has: ripgrep's for the one that is kept. Of the questions that both agents answer, the picture shows
the one with the median ratio of characters, so it is neither the best nor the worst of them. The area of a box is what one call printed.
"""

import argparse
import json
import pathlib
import subprocess
from xml.sax.saxutils import escape

WIDE, ROOM, GAP, TOP = 860, 24, 28, 92
COLUMN = (WIDE - 2 * ROOM - GAP) // 2
TALLEST = 330
LINE = 15
STYLE = """text{font-family:ui-monospace,Menlo,"Cascadia Mono","DejaVu Sans Mono","Liberation Mono",monospace;font-size:12px;fill:#e6edf3}
.q{font-size:15px;font-weight:bold}.t{font-size:14px;font-weight:bold}.d{fill:#8b949e}.n{font-size:14px}"""
COLOURS = {"grep": ("#5a2a27", "#ff7b72"), "docent": ("#1c4428", "#7ee787")}


def chosen(compared):
    """The question with the median ratio, of those that both agents answer."""
    both = [one for one in compared["questions"] if one["docent"]["right"] and one["grep"]["right"]]
    if not both:
        raise SystemExit("no question is answered by both agents")
    both.sort(key=lambda one: (one["docent"]["characters"] / one["grep"]["characters"], one["commit"]))
    return both[len(both) // 2]


def shortened(text, most):
    return text if len(text) <= most else text[: most - 1] + "…"


def column(left, title, who, agent, scale):
    """The calls of one agent below each other."""
    fill, edge = COLOURS[who]
    parts, top = [f'<text class="t" x="{left}" y="{TOP - 12}">{escape(title)}</text>'], TOP
    for command, characters in agent["steps"]:
        high = max(characters * scale, 3)
        parts.append(f'<rect x="{left}" y="{top:.1f}" width="{COLUMN}" height="{high:.1f}" fill="{fill}" stroke="{edge}"/>')
        if high >= LINE:
            label = shortened(command, 44)
            parts.append(f'<text x="{left + 8}" y="{top + 12:.1f}">{escape(label)}</text>')
            parts.append(f'<text class="d" x="{left + COLUMN - 8}" y="{top + 12:.1f}" text-anchor="end">{characters:,}</text>')
        top += high + 3
    calls = len(agent["steps"])
    summary = f"{agent['characters']:,} characters in {calls} call{'s' * (calls != 1)}"
    parts.append(f'<text class="n" x="{left}" y="{top + 18:.1f}" fill="{edge}">{summary}</text>')
    return parts, top + 18


def picture(question, place):
    largest = max(question[who]["characters"] for who in COLOURS)
    scale = TALLEST / largest
    grep, end_of_grep = column(ROOM, "with grep and sed", "grep", question["grep"], scale)
    docent, end_of_docent = column(ROOM + COLUMN + GAP, "with docent", "docent", question["docent"], scale)
    high = round(max(end_of_grep, end_of_docent) + ROOM)
    asked = shortened(question["question"], 84)
    said = f"{question['grep']['characters']:,} characters with grep, {question['docent']['characters']:,} with docent"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE}" height="{high}" role="img">
<title>The same question with grep and with docent</title>
<desc>Both agents look for the function that answers: {escape(question["question"])} They read {said}.</desc>
<style>{STYLE}</style>
<rect x=".5" y=".5" width="{WIDE - 1}" height="{high - 1}" rx="9" fill="#0d1117" stroke="#484f58"/>
<text class="q" x="{ROOM}" y="32">“{escape(asked)}”</text>
<text class="d" x="{ROOM}" y="52">until a line of the function is on the screen; a box is what one call printed; {escape(place)}</text>
{chr(10).join(grep + docent)}
</svg>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--questions", type=int, default=50)
    asked = parser.parse_args()
    command = [asked.docent.resolve(), "--root", asked.root, "compare", "--json", "--questions", str(asked.questions)]
    compared = json.loads(subprocess.check_output(command))
    asked.out.write_text(picture(chosen(compared), f"{asked.root.resolve().name} at {compared['base'][:9]}"), encoding="utf-8")


if __name__ == "__main__":
    main()
