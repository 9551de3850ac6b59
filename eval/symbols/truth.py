"""Makes the truth of a project with a language tool, and keeps it as JSON.

The truth is a sample of up to 150 functions and methods of the project, drawn by a fixed seed from those with a use. For
each it has every use in project files: path, line and column (from 1, in characters) of the identifier, and a role.
"""

import json
import os
import subprocess

import by_lsp
import by_scip
import sources
from projects import BY_NAME, EXTENSIONS, PROJECTS

SAMPLE = 150


def add_arguments(parser):
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--cache", required=True, help="the folder for truths and indexes")
    parser.add_argument("--tools", required=True, help="the folder whose node_modules has scip-typescript and scip-python")
    parser.add_argument("--only", action="append", default=[], help="make the truth of this project only; may be repeated")
    parser.add_argument("--keep-index", action="store_true", help="read the SCIP index that is in the cache")


def run(args):
    os.makedirs(args.cache, exist_ok=True)
    for name in args.only or [project.name for project in PROJECTS]:
        project = BY_NAME[name]
        root = os.path.realpath(os.path.join(args.projects, name))
        texts = sources.Project(root, project.language, EXTENSIONS[project.language])
        truth = make(project, texts, args)
        truth = {"project": name, "language": project.language, "half": project.half, "commit": commit_of(root), **truth}
        with open(path_of(args.cache, name), "w") as file:
            json.dump(truth, file)
        uses = sum(len(symbol["uses"]) for symbol in truth["symbols"])
        print(f"{name}: {len(truth['symbols'])} symbols of {truth['population']}, {uses} uses, {len(truth['files'])} files", flush=True)


def make(project, texts, args):
    if project.language in ("TypeScript", "Python"):
        index = os.path.join(args.cache, f"{project.name}.scip")
        if not (args.keep_index and os.path.exists(index)):
            write = by_scip.index_typescript if project.language == "TypeScript" else by_scip.index_python
            index = write(project, texts.root, args.tools, os.path.realpath(args.cache))
        return from_scip(project, texts, index)
    return by_lsp.make(project, texts, SAMPLE, os.path.realpath(args.cache))


def from_scip(project, texts, index):
    files, symbols, places, shorthand, unresolved = by_scip.read(index, texts)
    named = sorted((one for one in symbols if one[3]), key=lambda one: sources.draw_order(project.name, one[2][0]))
    chosen = named[:SAMPLE]
    by_word = {}
    for place, keys in places.items():
        word = texts.source(place[0]).word(place[1], place[2])
        by_word.setdefault(word, []).append((place, sorted(keys)[0]))
    rows = []
    for name, kind, definitions, uses, neutral in chosen:
        own = {place for place, _ in uses} | set(definitions) | neutral
        others = [(place, key) for place, key in by_word.get(name, []) if place not in own]
        neutral = neutral | {place for place, _ in others if place in shorthand}
        rows.append(symbol_row(texts, name, kind, definitions, uses, others, neutral))
    places = [[path, line + 1, column + 1] for path, line, column in sorted(unresolved)]
    return {"population": len(named), "files": sorted(files), "symbols": rows, "unresolved": places}


def symbol_row(texts, name, kind, definitions, uses, others, neutral=()):
    """One symbol as the cache has it. Positions count from 1."""
    known = {tuple(place) for place in definitions}
    rows, bindings, places = [], set(neutral), set(uses)
    for (path, line, column), _ in uses:
        # scip-typescript may have the new name of `x as y` only.
        before = texts.source(path).word_before_alias(line, column)
        if before and before[1] == name:
            places.add(((path, line, before[0]), name))
    for place, word in sorted(places):
        path, line, column = place
        source = texts.source(path)
        if place in known:
            continue
        if source.is_alias_binding(line, column):
            bindings.add(place)
            continue
        role = source.role(line, column, len(word))
        rows.append([path, line + 1, column + 1, role if word == name else "alias"])
        if binding := source.alias_binding_after(line, column + len(word)):
            bindings.add((path, *binding))
    path, line, column = definitions[0]
    return {
        "name": name, "kind": kind, "path": path, "line": line + 1, "column": column + 1,
        "definitions": [[path, line + 1, column + 1] for path, line, column in sorted(known)],
        "uses": rows,
        # Neither uses nor wrong: the new name of `x as y`, about which the tools do not agree, and other unclear places.
        "neutral": [[path, line + 1, column + 1] for path, line, column in sorted(bindings)],
        # Other places with this name, and the symbol that is there according to the tool.
        "others": [[path, line + 1, column + 1, key] for (path, line, column), key in sorted(others)],
    }


def path_of(cache, name):
    return os.path.join(cache, f"{name}.json")


def load(cache, name):
    with open(path_of(cache, name)) as file:
        return json.load(file)


def commit_of(root):
    """The commit of the checkout: from git, or from the file `COMMIT` beside an unpacked archive."""
    if os.path.exists(root + ".commit"):
        with open(root + ".commit") as file:
            return file.read().strip()
    command = ["git", "-C", root, "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
