"""Scores `find_references` and `find_symbol` of docent against the truth, by position.

Prints for each project and language: how many definitions `find_symbol` finds by name alone, and for `find_references` recall
(true uses found, exact and by name together), precision of exact (those that are true uses, in files that the language tool
read), and the share of true uses found as exact. `not found` counts definitions that are no target. `--failures` prints cases
of a kind: `missed` (a true use that is not found), `wrong` (exact, but no use), `weak` (a true use found by name only).
"""

import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import check
import truth
from projects import PROJECTS

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server  # noqa: E402

LIMIT = 100_000
ROLES = ("call", "member", "name", "import", "alias")
COLUMNS = ("symbols", "by `find_symbol`", "not found", "true uses", "recall", "precision of exact", "share as exact", "recall, mean of symbols")


def add_arguments(parser):
    parser.add_argument("docent", help="the docent program")
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--cache", required=True, help="the folder with the truths")
    parser.add_argument("--only", action="append", default=[], help="score this project only; may be repeated")
    parser.add_argument("--language", help="score projects of this language only")
    parser.add_argument("--half", choices=("tuned", "held out"), help="score projects of this half only")
    parser.add_argument("--symbol", help="score this symbol only: a name, or PATH:LINE of its definition")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print up to N cases of each kind of failure")
    parser.add_argument("--by-line", action="store_true", help="compare lines instead of columns, as for a peer without columns")
    parser.add_argument("--cli", action="store_true", help="ask by `docent references` instead of one server a project")
    parser.add_argument("--home", help="the folder for the index of docent; a temporary one unless given")
    parser.add_argument("--set", action="append", default=[], dest="settings", help="a setting of docent; may be repeated")
    parser.add_argument("--output", help="write the figures as JSON into this file")


def run(args):
    with tempfile.TemporaryDirectory() as temporary:
        home = args.home or temporary
        tallies, times = [], []
        for project in chosen(args):
            root = os.path.realpath(os.path.join(args.projects, project.name))
            known = truth.load(args.cache, project.name)
            symbols = [one for one in known["symbols"] if is_asked(one, args.symbol)]
            asker = (CommandLine if args.cli else Connection)(args.docent, root, home, args.settings)
            tally = Tally(project, known, args.by_line)
            for symbol in symbols:
                started = time.perf_counter()
                answer = asker.ask(symbol)
                times.append(1e3 * (time.perf_counter() - started))
                tally.add(symbol, *read_answer(answer))
                tally.add_definition(symbol, asker.find_symbol(symbol["name"]))
            asker.close()
            tallies.append(tally)
            print_failures(root, tally, args.failures)
        print_tables(tallies)
        times.sort()
        print(f"\n{len(times)} questions, p50 {times[len(times) // 2]:.1f} ms, p95 {times[int(0.95 * (len(times) - 1))]:.1f} ms")
        if args.output:
            with open(args.output, "w") as file:
                json.dump([tally.figures() for tally in tallies], file, indent=1)


def chosen(args):
    """The projects to score that have a truth."""
    for project in PROJECTS:
        asked = not args.only or project.name in args.only
        asked = asked and args.language in (None, project.language) and args.half in (None, project.half)
        if asked and os.path.exists(truth.path_of(args.cache, project.name)):
            yield project


def is_asked(symbol, wanted):
    return wanted in (None, symbol["name"], f"{symbol['path']}:{symbol['line']}")


def environment_of(home):
    """The environment of a docent whose cache and state are in the folder `home`."""
    folders = {"XDG_CACHE_HOME": os.path.join(home, "cache"), "XDG_STATE_HOME": os.path.join(home, "state")}
    return {**os.environ, "HOME": home, **folders}


class CommandLine:
    """Asks by one process a symbol."""

    def __init__(self, docent, root, home, settings):
        self.environment = environment_of(home)
        flags = ["--root", root, "--set", "answer.max_chars=10000000"]
        listed = subprocess.run([docent, "--root", root, "config"], env=self.environment, capture_output=True, text=True)
        for limit in ("limit.find_references", "limit.find_symbol"):
            if limit in listed.stdout:
                flags += ["--set", f"{limit}=0"]
        self.command = [docent, *flags, *[word for setting in settings for word in ("--set", setting)]]
        subprocess.run([*self.command, "index"], env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, symbol):
        place = f"{symbol['path']}:{symbol['line']}"
        return self.run("references", symbol["name"], "--path", place)

    def find_symbol(self, name):
        return self.run("symbol", name)

    def run(self, *words):
        command = [*self.command, *words, "--limit", str(LIMIT), "--json"]
        answer = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return json.loads(answer.stdout) if answer.returncode == 0 else {"error": answer.stderr.strip()}

    def close(self):
        pass


class Connection(CommandLine):
    """Asks one server for all symbols."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.server = Server([*self.command, "serve"], self.environment)

    def ask(self, symbol):
        place = f"{symbol['path']}:{symbol['line']}"
        return self.call("find_references", {"symbol": symbol["name"], "path": place})

    def find_symbol(self, name):
        return self.call("find_symbol", {"name": name})

    def call(self, tool, arguments):
        answer = self.server.call(tool, {**arguments, "limit": LIMIT, "format": "json"})
        if answer.get("isError"):
            return {"error": answer["content"][0]["text"]}
        return answer.get("structuredContent") or json.loads(answer["content"][0]["text"])

    def close(self):
        self.server.close()


def read_answer(answer):
    """The places of the targets, and `{place: (is exact, role)}` of the uses."""
    if "error" in answer:
        return set(), {}, answer["error"]
    targets = {(one["path"], one["line"]) for one in answer["targets"]}
    found = {}
    for file in answer["files"]:
        for use in file["uses"]:
            found[file["path"], use["line"], use["column"]] = (use["grade"] == "exact", use["role"])
    return targets, found, "cut" if answer.get("truncated") else None


class Tally:
    """Counts of one project."""

    def __init__(self, project, known, by_line=False):
        self.project, self.files, self.by_line = project, set(known["files"]), by_line
        self.unjudged = {path: set(lines) for path, lines in known.get("unjudged", {}).items()}
        self.unresolved = {self.place(place) for place in known.get("unresolved", [])}
        self.counts, self.errors = collections.Counter(), collections.Counter()
        self.by_role = collections.Counter()
        self.recalls = []
        self.failures = {"missed": [], "wrong": [], "weak": []}

    def place(self, place):
        return (place[0], place[1], 0 if self.by_line else place[2])

    def add(self, symbol, targets, found, error=None):
        definitions = {self.place(place) for place in symbol["definitions"]}
        neutral = definitions | {self.place(place) for place in symbol["neutral"]}
        uses = {self.place(use): use[3] for use in symbol["uses"]}
        others = {self.place(other): other[3] for other in symbol["others"]}
        by_place = {}
        for place, (is_exact, role) in found.items():
            known = by_place.get(self.place(place), (False, role))
            by_place[self.place(place)] = (is_exact or known[0], role)
        found = by_place
        self.counts["symbols"] += 1
        self.counts["not found"] += not targets & {place[:2] for place in definitions}
        if error:
            self.errors[error[:120]] += 1
        hits = 0
        for place, role in uses.items():
            is_found, is_exact = place in found, found.get(place, (False,))[0]
            hits += is_found
            self.counts.update({"uses": 1, "found": is_found, "exact": is_exact})
            self.by_role.update({(role, "uses"): 1, (role, "found"): is_found, (role, "exact"): is_exact})
            if not is_exact:
                self.failures["weak" if is_found else "missed"].append((symbol, place, role))
        self.recalls.append(hits / len(uses))
        for place, (is_exact, role) in found.items():
            is_right = place in uses
            is_judged = place[0] in self.files and place[1] not in self.unjudged.get(place[0], ())
            is_judged = is_judged and place not in self.unresolved
            if not is_exact or not is_right and (place in neutral or not is_judged):
                continue
            self.counts.update({"said exact": 1, "right": is_right})
            if not is_right:
                self.counts["another symbol" if place in others else "no symbol"] += 1
                self.failures["wrong"].append((symbol, place, f"{role} -> {others.get(place, 'no symbol there')}"))

    def add_definition(self, symbol, answer):
        places = {(one["path"], one["line"], one["column"]) for one in answer.get("symbols", [])}
        self.counts["defined"] += bool(places & {tuple(place) for place in symbol["definitions"]})
        self.counts["asked"] += 1

    def figures(self):
        project = self.project
        return {
            "project": project.name, "language": project.language, "half": project.half, **self.counts,
            "mean recall": statistics.mean(self.recalls) if self.recalls else None,
            "roles": {f"{role} {what}": count for (role, what), count in self.by_role.items()},
        }


def merge(tallies):
    counts, by_role, recalls = collections.Counter(), collections.Counter(), []
    for tally in tallies:
        counts.update(tally.counts)
        by_role.update(tally.by_role)
        recalls += tally.recalls
    return counts, by_role, recalls


def share(part, whole):
    return f"{part / whole:.3f}" if whole else "-"


def print_tables(tallies):
    print("\n| language | project | half | " + " | ".join(COLUMNS) + " |\n" + "|---" * (3 + len(COLUMNS)) + "|")
    languages = dict.fromkeys(tally.project.language for tally in tallies)
    for language in languages:
        own = [tally for tally in tallies if tally.project.language == language]
        for tally in own:
            print_row(language, tally.project.name, tally.project.half, [tally])
        for half in ("tuned", "held out"):
            part = [tally for tally in own if tally.project.half == half]
            if part and len(own) > 1:
                print_row(f"**{language}**", "all", half, part)
        if len({tally.project.half for tally in own}) > 1:
            print_row(f"**{language}**", "all", "both", own)
    print("\n| language | role | true uses | recall | share as exact |\n|---|---|---|---|---|")
    for language in languages:
        _, by_role, _ = merge([tally for tally in tallies if tally.project.language == language])
        for role in ROLES:
            if uses := by_role[role, "uses"]:
                print(f"| {language} | {role} | {uses:,} | {share(by_role[role, 'found'], uses)} | {share(by_role[role, 'exact'], uses)} |")
    print("\n| language | said exact | right | another symbol there | no symbol there |\n|---|---|---|---|---|")
    for language in languages:
        counts, _, _ = merge([tally for tally in tallies if tally.project.language == language])
        numbers = [counts[key] for key in ("said exact", "right", "another symbol", "no symbol")]
        print(f"| {language} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    for tally in tallies:
        for error, count in tally.errors.most_common(5):
            print(f"\n{tally.project.name}: {count} answers: {error}")


def print_row(language, name, half, tallies):
    counts, _, recalls = merge(tallies)
    numbers = [
        f"{counts['symbols']:,}", share(counts["defined"], counts["asked"]), f"{counts['not found']:,}", f"{counts['uses']:,}", share(counts["found"], counts["uses"]),
        share(counts["right"], counts["said exact"]), share(counts["exact"], counts["uses"]),
        f"{statistics.mean(recalls):.3f}" if recalls else "-",
    ]
    print(f"| {language} | {name} | {half} | " + " | ".join(numbers) + " |")


def print_failures(root, tally, count):
    """Prints a sample of each kind of failure, at most three of one symbol."""
    for kind, cases in tally.failures.items() if count else ():
        random.Random(1).shuffle(cases)
        shown, by_symbol = 0, collections.Counter()
        print(f"\n## {tally.project.name}: {kind}, {len(cases)} in all")
        for symbol, (path, line, column), role in cases:
            definition = f"{symbol['path']}:{symbol['line']}"
            by_symbol[definition] += 1
            if by_symbol[definition] > 3:
                continue
            print(f"{symbol['name']} ({symbol['kind']}, {definition})  {path}:{line}:{column}  {role}")
            print(f"    {check.source_line(root, path, line)}")
            shown += 1
            if shown == count:
                break
