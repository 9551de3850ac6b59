"""Scores `docent lsp` against the truth, by position: definitions at uses, and references of definitions.

Definitions: at every sampled use (up to `--uses` of each symbol, in the order of a hash of their places) the server is asked
for the definition. It is right if a place in the answer is a definition of the symbol, wrong if there is an answer and none of
its places is one, and missed if there is no answer. `alone` counts answers that have one place, which is right.

References: at the definition of each symbol the server is asked for its uses. Recall is the share of true uses that it lists. Of
the listed places in files that the language tool has read, it is counted how many are true, belong to another symbol, or have no
symbol that the tool knows, such as members of values without a type.
"""

import collections
import hashlib
import os
import tempfile

import lsp
import score
import truth


def add_arguments(parser):
    parser.add_argument("docent", help="the docent program")
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--cache", required=True, help="the folder with the truths")
    parser.add_argument("--only", action="append", default=[], help="score this project only; may be repeated")
    parser.add_argument("--language", help="score projects of this language only")
    parser.add_argument("--half", choices=("tuned", "held out"), help="score projects of this half only")
    parser.add_argument("--uses", type=int, default=10, help="uses of each symbol at which the definition is asked for")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print up to N wrong and missed definitions")
    parser.add_argument("--home", help="the folder for the index of docent; a temporary one unless given")


def run(args):
    rows = []
    for project in score.chosen(args):
        root = os.path.realpath(os.path.join(args.projects, project.name))
        known = truth.load(args.cache, project.name)
        with tempfile.TemporaryDirectory() as temporary:
            asker = Editor(args.docent, root, args.home or temporary)
            rows.append((project, measure(asker, project, known, args)))
            asker.close()
    print("\n| language | project | half | uses asked | right | wrong | missed | alone | true uses | recall | listed | true | another symbol there | no symbol there |")
    print("|---" * 14 + "|")
    for project, counts in rows:
        shares = [score.share(counts[key], counts["asked"]) for key in ("right", "wrong", "missed", "alone")]
        print(
            f"| {project.language} | {project.name} | {project.half} | {counts['asked']:,} | " + " | ".join(shares)
            + f" | {counts['uses']:,} | {score.share(counts['found'], counts['uses'])}"
            + f" | {counts['listed']:,} | {counts['true']:,} | {counts['another']:,} | {counts['no symbol']:,} |"
        )


class Editor:
    """A client of `docent lsp` with a complete index. Places count from 1, columns in characters."""

    def __init__(self, docent, root, home):
        asker = score.CommandLine(docent, root, home, [])
        # Positions in UTF-16 would have to be converted; the client of this folder offers no encoding.
        self.client = lsp.Client([docent, "lsp"], root, environment=asker.environment)
        self.lines = {}

    def params(self, path, line, column):
        text = self.source_line(path, line)
        units = len(text[: column - 1].encode("utf-16-le")) // 2
        return {"textDocument": {"uri": self.client.uri(path)}, "position": {"line": line - 1, "character": units}}

    def source_line(self, path, line):
        if path not in self.lines:
            with open(os.path.join(self.client.root, path), encoding="utf-8", errors="replace", newline="\n") as file:
                self.lines[path] = file.read().split("\n")
        return self.lines[path][line - 1]

    def place(self, location):
        path, start = self.client.path(location["uri"]), location["range"]["start"]
        text = self.source_line(path, start["line"] + 1)
        before = text.encode("utf-16-le")[: 2 * start["character"]].decode("utf-16-le")
        return path, start["line"] + 1, len(before) + 1

    def ask(self, method, places, **more):
        requests = [(f"textDocument/{method}", {**self.params(*place), **more}) for place in places]
        return [{self.place(one) for one in answer or []} for answer in self.client.ask(requests)]

    def close(self):
        self.client.process.kill()


def measure(asker, project, known, args):
    counts, failures = collections.Counter(), []
    tally = score.Tally(project, known)
    for symbol in known["symbols"]:
        definitions = {tuple(place[:3]) for place in symbol["definitions"]}
        neutral = definitions | {tuple(place[:3]) for place in symbol["neutral"]}
        uses = {tuple(use[:3]) for use in symbol["uses"]}
        others = {tuple(other[:3]) for other in symbol["others"]}
        drawn = sorted(uses, key=lambda place: hashlib.sha256(repr(place).encode()).digest())[: args.uses]
        for place, found in zip(drawn, asker.ask("definition", drawn)):
            verdict = "missed" if not found else "right" if found & definitions else "wrong"
            counts.update({"asked": 1, verdict: 1, "alone": len(found) == 1 and verdict == "right"})
            if verdict != "right":
                failures.append((verdict, symbol["name"], place, sorted(found)[:3]))
        listed = set()
        for answer in asker.ask("references", sorted(definitions), context={"includeDeclaration": False}):
            listed |= answer
        counts.update({"uses": len(uses), "found": len(uses & listed)})
        for place in listed:
            is_judged = place[0] in tally.files and place[1] not in tally.unjudged.get(place[0], ()) and place not in tally.unresolved
            if place in uses or place not in neutral and is_judged:
                kind = "true" if place in uses else "another" if place in others else "no symbol"
                counts.update({"listed": 1, kind: 1})
    for verdict, name, place, found in failures[: args.failures]:
        print(f"{project.name}: {verdict} {name} at {place}: {found}")
        print(f"    {asker.source_line(place[0], place[1]).strip()}")
    return counts
