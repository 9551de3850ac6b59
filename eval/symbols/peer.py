"""Scores codegraph (npm `@colbymchenry/codegraph`) against the same truth, line by line.

The uses of a symbol are the edges to it in codegraph's database: calls, references, imports and instantiations. An edge has
the place where the calling expression begins, which may be lines before the name. The script takes the next place of the name
from there, and compares lines. An edge has no grade and counts as exact. `score --by-line` gives docent's figures in the
same measure.
"""

import collections
import os
import re
import shutil
import sqlite3
import subprocess

import sources
import truth
from projects import EXTENSIONS
from score import Tally, chosen, environment_of, is_asked, print_failures, print_tables

EDGES = """
    SELECT nodes.file_path, edges.line, edges.col, edges.kind FROM edges JOIN nodes ON nodes.id = edges.source
    WHERE edges.target = ? AND edges.kind IN ('calls', 'references', 'imports', 'instantiates') AND edges.line IS NOT NULL
    ORDER BY edges.id
"""

MAX_EXPRESSION_CHARACTERS = 3000


def add_arguments(parser):
    parser.add_argument("codegraph", help="the codegraph program")
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--cache", required=True, help="the folder with the truths, and for copies that codegraph indexes")
    parser.add_argument("--only", action="append", default=[], help="score this project only; may be repeated")
    parser.add_argument("--language", help="score projects of this language only")
    parser.add_argument("--half", choices=("tuned", "held out"), help="score projects of this half only")
    parser.add_argument("--symbol", help="score this symbol only: a name, or PATH:LINE of its definition")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print up to N cases of each kind of failure")


def run(args):
    tallies = []
    for project in chosen(args):
        root = os.path.realpath(os.path.join(args.projects, project.name))
        known = truth.load(args.cache, project.name)
        database = sqlite3.connect(index(args.codegraph, root, os.path.join(os.path.realpath(args.cache), "codegraph", project.name)))
        texts = sources.Project(root, project.language, EXTENSIONS[project.language])
        tally = Tally(project, known, by_line=True)
        for symbol in known["symbols"]:
            if is_asked(symbol, args.symbol):
                tally.add(symbol, *uses_of(database, texts, symbol))
        tallies.append(tally)
        print_failures(root, tally, args.failures)
    print_tables(tallies)


def index(codegraph, root, copy):
    """Indexes a copy, because codegraph writes into the project. Returns the path of its database."""
    database = os.path.join(copy, ".codegraph", "codegraph.db")
    if not os.path.exists(database):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy, symlinks=True)
        environment = {**environment_of(copy + ".home"), "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0"}
        os.makedirs(environment["HOME"], exist_ok=True)
        subprocess.run([codegraph, "init", copy], env=environment, check=True, stdout=subprocess.DEVNULL)
    return database


def uses_of(database, texts, symbol):
    """The nearest node with the name in the file of the definition, and the lines of the edges to it."""
    nodes = database.execute(
        "SELECT id, start_line FROM nodes WHERE name = ? AND file_path = ? AND kind NOT IN ('import', 'file', 'export')",
        (symbol["name"], symbol["path"]),
    ).fetchall()
    # A decorator may begin some lines before the name, and a signature end some lines after it.
    near = sorted((abs(line - symbol["line"]), node, line) for node, line in nodes if abs(line - symbol["line"]) <= 10)
    if not near:
        return set(), {}
    _, node, _ = near[0]
    found, repeated = {}, collections.Counter()
    for path, line, column, kind in database.execute(EDGES, (node,)):
        # Calls of one chain begin at the same place: the second one means the second place of the name.
        at = line_of_name(texts, symbol["name"], path, line, column or 0, repeated[path, line, column])
        repeated[path, line, column] += 1
        found[path, at, 0] = (True, kind)
    return {(symbol["path"], symbol["line"])}, found


def line_of_name(texts, name, path, line, column, number):
    """The line of the name behind a place, or the line of the place if the name does not follow."""
    if not os.path.exists(os.path.join(texts.root, path)):
        return line
    source = texts.source(path)
    start = source.starts[min(line, len(source.lines)) - 1] + column
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    places = [found.start() for found in word.finditer(source.text, start, start + MAX_EXPRESSION_CHARACTERS)]
    if not places:
        return line
    return source.line_of(places[min(number, len(places) - 1)])[0] + 1
