"""Scores `find_references` in Rust and Java against 200 places that were judged by reading.

`--draw` draws the places by a fixed seed: a function or method of ctags, and one call or import with its name, in a file that
has the name of the type around the function, if there is one. A reader says whether it is a use of that function. The
verdicts do not depend on docent: `judged.jsonl` has them. A call of another overload of the same class (`overload`) is neither
a use nor wrong.
"""

import collections
import json
import os
import pathlib
import random
import re
import tempfile

import definitions
from score import Connection, read_answer, share

PROJECTS = {"ripgrep": "Rust", "tokio": "Rust", "gson": "Java", "commons-lang": "Java"}
HELD_OUT = ("tokio", "commons-lang")
PLACES = 50
VERDICTS = pathlib.Path(__file__).with_name("judged.jsonl")
# Comments, strings and characters. A lifetime of Rust is no character.
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'", re.S)


def add_arguments(parser):
    parser.add_argument("docent", help="the docent program")
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--only", action="append", default=[], help="score this project only; may be repeated")
    parser.add_argument("--draw", action="store_true", help="print the places with room for a verdict, without docent")
    parser.add_argument("--failures", action="store_true", help="print every place where docent is wrong")


def run(args):
    if args.draw:
        for name, language in PROJECTS.items():
            for place in draw(os.path.realpath(os.path.join(args.projects, name)), name, language):
                print(json.dumps(place))
        return
    by_project = collections.defaultdict(list)
    for line in VERDICTS.read_text().splitlines():
        place = json.loads(line)
        if not args.only or place["project"] in args.only:
            by_project[place["project"]].append(place)
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as home:
        for name, places in by_project.items():
            connection = Connection(args.docent, os.path.realpath(os.path.join(args.projects, name)), home, [])
            for place in places:
                judge(connection, place, counts[PROJECTS[name], name], args.failures)
            connection.close()
    print_table(counts)


def judge(connection, place, count, is_shown):
    path, line, _ = place["definition"]
    _, found, error = read_answer(connection.ask({"name": place["name"], "path": path, "line": line}))
    grade = found.get(tuple(place["place"]))
    is_found, is_exact = grade is not None, bool(grade and grade[0])
    count["places"] += 1
    if place["verdict"] == "overload":
        return
    if place["verdict"]:
        count.update({"uses": 1, "found": is_found, "exact": is_exact})
    count.update({"said exact": is_exact, "right": is_exact and place["verdict"]})
    if is_shown and (error or (not is_found if place["verdict"] else is_exact)):
        said = error or ("exact" if is_exact else "not found")
        print(f"{place['project']} {place['name']} {path}:{line}  {':'.join(map(str, place['place']))}  {said}")


def print_table(counts):
    columns = ("places", "true uses", "recall", "precision of exact", "share as exact")
    print("| language | project | half | " + " | ".join(columns) + " |\n" + "|---" * (3 + len(columns)) + "|")
    rows = []
    for language in dict.fromkeys(language for language, _ in counts):
        own = {name: count for (other, name), count in counts.items() if other == language}
        rows += [(language, name, "held out" if name in HELD_OUT else "tuned", count) for name, count in own.items()]
        rows.append((f"**{language}**", "all", "both", sum(own.values(), collections.Counter())))
    for language, name, half, count in rows:
        figures = (share(count["found"], count["uses"]), share(count["right"], count["said exact"]), share(count["exact"], count["uses"]))
        print(f"| {language} | {name} | {half} | {count['places']} | {count['uses']} | " + " | ".join(figures) + " |")


def draw(root, name, language):
    """Yields places: one for a function, and none in comments, strings and other definitions of the name."""
    files = definitions.choose_files(root, language)
    functions, lines, scopes = [], collections.defaultdict(set), {}
    tags_of = definitions.by_ctags(root, language, files, scopes)
    for path, tags in sorted(tags_of.items()):
        for (word, kind, _), at in tags.items():
            if kind in ("function", "method"):
                functions.append((word, path, at[0], scopes[path, at[0]]))
                lines[word].update((path, line) for line in at)
    occurrences, words = collections.defaultdict(list), {}
    for path in files:
        text = pathlib.Path(root, path).read_text(encoding="utf-8")
        code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        words[path] = set(re.findall(r"\w+", code))
        for line, content in enumerate(code.split("\n"), 1):
            is_import = re.match(r"\s*(?:pub(?:\([^)]*\))? )?(?:use|import)\b", content)
            for found in re.finditer(r"[^\W\d]\w*", content):
                is_call = re.match(r"\s*(?:::<[^()]*>)?\(", content[found.end():])
                if (is_call or is_import) and (path, line) not in lines[found[0]]:
                    occurrences[found[0]].append((path, line, found.start() + 1))
    dice = random.Random(f"places of {name}")
    dice.shuffle(functions)
    drawn = 0
    for word, path, line, scope in functions:
        likely = [place for place in occurrences[word] if place[0] == path or scope and scope in words[place[0]]]
        # A constructor of Java has the name of its class, and an import with that name means the class.
        if occurrences[word] and drawn < PLACES and word != scope:
            drawn += 1
            column = definitions.line_of(root, path, line).index(word) + 1
            yield {
                "project": name, "name": word, "definition": [path, line, column],
                "place": list(dice.choice(likely or occurrences[word])), "verdict": None,
            }
