"""Scores codegraph (npm `@colbymchenry/codegraph`) against the same truth, line by line.

The uses of a symbol are the edges to it in codegraph's database: calls, references, imports and instantiations. An edge has
the place where the calling expression begins and no grade, so lines are compared, and every edge counts as exact.
`score --by-line` gives docent's figures in the same measure.
"""

import os
import shutil
import sqlite3
import subprocess

import truth
from score import Tally, chosen, environment_of, is_asked, print_failures, print_tables

EDGES = """
    SELECT nodes.file_path, edges.line, edges.kind FROM edges JOIN nodes ON nodes.id = edges.source
    WHERE edges.target = ? AND edges.kind IN ('calls', 'references', 'imports', 'instantiates') AND edges.line IS NOT NULL
"""


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
        tally = Tally(project, known, by_line=True)
        for symbol in known["symbols"]:
            if is_asked(symbol, args.symbol):
                tally.add(symbol, *uses_of(database, symbol))
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


def uses_of(database, symbol):
    """The nearest node with the name in the file of the definition, and the lines of the edges to it."""
    nodes = database.execute(
        "SELECT id, start_line FROM nodes WHERE name = ? AND file_path = ? AND kind NOT IN ('import', 'file', 'export')",
        (symbol["name"], symbol["path"]),
    ).fetchall()
    # A decorator may begin some lines before the name, and a signature end some lines after it.
    near = sorted((abs(line - symbol["line"]), node, line) for node, line in nodes if abs(line - symbol["line"]) <= 10)
    if not near:
        return set(), {}
    _, node, line = near[0]
    found = {(path, at, 0): (True, kind) for path, at, kind in database.execute(EDGES, (node,))}
    return {(symbol["path"], symbol["line"])}, found
