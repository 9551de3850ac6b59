"""Truth for Go from gopls and for C from clangd, for a sample of functions and methods.

Go: `textDocument/definition` is asked at every identifier with the name, and the uses of a symbol are the places whose
definition it is. `references` is not used, because for a method it adds the uses through interfaces. A call through an
interface is therefore a use of the interface's method.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess

import lsp
import sources

FUNCTION, METHOD, INTERFACE, CLASS, STRUCT = 12, 6, 11, 5, 23


def make(project, texts, sample, work):
    import truth

    client, files = (start_gopls if project.language == "Go" else start_clangd)(project, texts, work)
    candidates = list_definitions(client, texts, files)
    candidates.sort(key=lambda one: sources.draw_order(project.name, one[2]))
    resolve = resolve_by_definition if project.language == "Go" else resolve_by_references
    occurrences = index_words(texts, files)
    rows, drawn, known = [], 0, {}
    for name, kind, place in candidates:
        if len(rows) == sample:
            break
        drawn += 1
        definitions, uses, others = resolve(client, texts, occurrences, known, name, place)
        if uses:
            rows.append(truth.symbol_row(texts, name, kind, definitions, uses, others))
    unjudged = {}
    if project.language == "C":
        headers = {use[0] for row in rows for use in row["uses"]} - set(files)
        for path in headers:
            client.open(path, "c", texts.source(path).text)
        files = sorted(headers.union(files))
        unjudged = unjudged_lines(client, texts, files)
    client.close()
    # Candidates without a use do not count, so the number of those with one is known only for the part that was drawn.
    return {"population": len(candidates), "drawn": drawn, "files": files, "symbols": rows, "unjudged": unjudged}


def start_gopls(project, texts, work):
    copy = copy_module(texts.root, os.path.join(work, "copies", project.name), os.path.join(work, "modules"))
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    listing = subprocess.run(["go", "list", "-e", "-json", "./..."], cwd=copy, env=environment, capture_output=True, text=True)
    files, decoder, rest = [], json.JSONDecoder(), listing.stdout.strip()
    while rest:
        package, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        folder = os.path.relpath(package["Dir"], copy) if package.get("Dir") else "."
        for key in ("GoFiles", "CgoFiles", "TestGoFiles", "XTestGoFiles"):
            files += [os.path.normpath(os.path.join(folder, name)) for name in package.get(key) or []]
    client = lsp.Client(["gopls", "serve"], copy, environment=environment)
    client.wait_for_progress("setting up workspace")
    return client, sorted(set(files))


def copy_module(root, copy, modules):
    """A fresh copy whose modules do without a network. A dependency that lies in the folder `modules` under its path is used;
    without the others, code that uses them does not resolve in part."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True)
    dependencies = {}
    for folder, folders, names in os.walk(modules):
        if "go.mod" in names:
            place = os.path.join(copy + ".modules", os.path.relpath(folder, modules))
            dependencies[os.path.relpath(folder, modules)] = place
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place, symlinks=True)
            folders.clear()
    for place in [copy, *dependencies.values()]:
        for folder, _, names in os.walk(place):
            if "go.mod" in names:
                restrict_module(os.path.join(folder, "go.mod"), dependencies)
    return copy


def restrict_module(path, dependencies):
    """Rewrites a `go.mod`: only dependencies that are there, and a version of the language that every Go reads."""
    with open(path) as file:
        text = file.read()
    lines = [f"module {re.search(r'^module (.+)$', text, re.M)[1]}", "go 1.19"]
    for module in sorted(set(re.findall(r"^\s*(?:require\s+)?([\w.-]+\.[\w./-]+) v", text, re.M))):
        if module in dependencies:
            version = "v" + (re.search(r"/v(\d+)$", module) or [0, "0"])[1]
            lines.append(f"require {module} {version}.0.0")
    lines += [f"replace {module} => {place}" for module, place in sorted(dependencies.items())]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def list_definitions(client, texts, files):
    """Functions and methods, methods of interfaces included: `(name, kind, place)`."""
    found = []
    for path in files:
        source = texts.source(path)
        [symbols] = client.ask([("textDocument/documentSymbol", {"textDocument": {"uri": client.uri(path)}})])
        stack = [(symbol, None) for symbol in symbols or []]
        while stack:
            symbol, parent = stack.pop()
            stack += [(child, symbol["kind"]) for child in symbol.get("children") or []]
            if symbol["kind"] not in (FUNCTION, METHOD):
                continue
            start = symbol["selectionRange"]["start"]
            column = source.column(start["line"], start["character"], "utf-16")
            name = source.word(start["line"], column)
            # gopls names a method `(*T).Name`; the selection is the name itself.
            if name and name == re.split(r"[.)]", symbol["name"])[-1] and name not in ("_", "main", "init"):
                kind = "method" if symbol["kind"] == METHOD else "function"
                found.append((name, kind, (path, start["line"], column)))
    return sorted(set(found), key=lambda one: one[2])


def index_words(texts, files):
    """Every place of every identifier, comments and strings included: the language server tells those apart."""
    places = {}
    for path in files:
        source = texts.source(path)
        for line, text in enumerate(source.lines):
            for found in re.finditer(r"[^\W\d]\w*", text):
                places.setdefault(found[0], []).append((path, line, found.start()))
    return places


def resolve_by_definition(client, texts, occurrences, known, name, place):
    if name not in known:
        places = occurrences[name]
        questions = [
            ("textDocument/definition", lsp.position(client.uri(path), line, texts.source(path).utf16(line, column)))
            for path, line, column in places
        ]
        known[name] = list(zip(places, [locations(client, texts, answer) for answer in client.ask(questions)]))
    uses = [(at, name) for at, targets in known[name] if place in targets and at != place]
    others = [(at, "{}:{}:{}".format(*targets[0])) for at, targets in known[name] if targets and place not in targets]
    return [place], uses, others


def locations(client, texts, answer):
    answer = [answer] if isinstance(answer, dict) else answer or []
    found = []
    for one in answer:
        path, start = client.path(one["uri"]), one["range"]["start"]
        inside = not os.path.isabs(path)
        column = texts.source(path).column(start["line"], start["character"], "utf-16") if inside else start["character"]
        found.append((path, start["line"], column))
    return found



def start_clangd(project, texts, work):
    """Starts clangd on a copy with a compilation database, and waits for its index."""
    copy = os.path.join(work, "copies", project.name)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(texts.root, copy, symlinks=True)
    patterns = project.settings["sources"]
    units = [path for path in texts.paths() if path.endswith(".c") and any(fnmatch.fnmatch(path, one) for one in patterns)]
    units = [path for path in units if not any(fnmatch.fnmatch(path, one) for one in project.settings.get("without", []))]
    flags = ["clang", "-std=gnu11", *project.settings.get("flags", [])]
    commands = [{"directory": copy, "file": path, "arguments": [*flags, "-c", path]} for path in units]
    with open(os.path.join(copy, "compile_commands.json"), "w") as file:
        json.dump(commands, file)
    command = ["clangd", "--background-index", "--limit-references=0", "--limit-results=0", "-j=2", "--log=error"]
    client = lsp.Client(command, copy)
    # The index starts with the first open file.
    client.open(units[0], "c", texts.source(units[0]).text)
    client.wait_for_progress("index", silence=300)
    for path in units[1:]:
        client.open(path, "c", texts.source(path).text)
    return client, units


def resolve_by_references(client, texts, occurrences, known, name, place):
    """The uses of a C function. A declaration is neither a use nor wrong, as the definition."""
    path, line, column = place
    question = lsp.position(client.uri(path), line, texts.source(path).utf16(line, column))
    answers = client.ask([
        ("textDocument/references", {**question, "context": {"includeDeclaration": is_included}}) for is_included in (True, False)
    ])
    everything, uses = ({at for at in locations(client, texts, answer) if not os.path.isabs(at[0])} for answer in answers)
    # docent reads files by their ending; redis includes a table as `commands.def`.
    uses = {at for at in uses if at[0].endswith(texts.extensions)}
    everything = {at for at in everything if at[0].endswith(texts.extensions)}
    definitions = [place, *sorted(everything - uses - {place})]
    uses = [(at, name) for at in sorted(uses - set(definitions)) if texts.source(at[0]).word(at[1], at[2]) == name]
    return definitions, uses, []


def unjudged_lines(client, texts, files):
    """Lines that clangd does not resolve: those that the preprocessor leaves out, and the bodies of macros."""
    found = {}
    for path in files:
        source, lines = texts.source(path), set()
        [answer] = client.ask([("textDocument/semanticTokens/full", {"textDocument": {"uri": client.uri(path)}})])
        line, data = 0, (answer or {}).get("data", [])
        for index in range(0, len(data), 5):
            line += data[index]
            if client.legend[data[index + 3]] == "comment":
                lines.add(line + 1)
        is_macro = False
        for number, text in enumerate(source.lines, 1):
            is_macro = is_macro or bool(re.match(r"\s*#\s*define\b", text))
            if is_macro:
                lines.add(number)
            is_macro = is_macro and text.rstrip().endswith("\\")
        found[path] = sorted(lines)
    return found
