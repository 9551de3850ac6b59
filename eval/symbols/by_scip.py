"""Truth for TypeScript and Python from scip-typescript and scip-python, in bulk.

A symbol is a function or a method by its SCIP descriptor (`name().`), or a TypeScript constant or property that holds a
function. Its uses are all occurrences of the symbol that are not definitions. scip-python calls overloads after the first
one and new values of the name uses; they are definitions. scip-typescript puts the method of an interface on the member of an object literal that
implements it, and only the property on `{x}`; neither is a use, and neither is wrong. An occurrence whose text is not the name
counts only if an import of that file binds the text: scip-python sometimes puts a symbol on a neighbouring word.
"""

import collections
import json
import os
import re
import shutil
import subprocess

import scip

METHOD = re.compile(r"(?:`([^`]+)`|([\w$+-]+))\((?:\+\d+)?\)\.$")
TERM = re.compile(r"(?:`([^`]+)`|([\w$+-]+))\.$")
FUNCTION_VALUE = re.compile(r"\s*[?!]?\s*(?::[^;]{0,400}?)?=\s*(?:async\s*)?(?:function\b|\(|<|[\w$]+\s*=>)")
ENCODINGS = {0: "utf-16", 1: "utf-8", 2: "utf-16", 3: "utf-32"}


def index_typescript(project, root, tools, work):
    """Writes an index of the project. The configuration stays outside of the project, so that docent does not see it."""
    options = {
        "target": "es2022", "lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"], "module": "preserve",
        "moduleResolution": "bundler", "strict": True, "skipLibCheck": True, "noEmit": True, "esModuleInterop": True,
        "allowImportingTsExtensions": True, "resolveJsonModule": True, "types": ["node"],
        "typeRoots": [os.path.join(os.path.dirname(root), "node_modules", "@types")],
        **project.settings.get("options", {}),
    }
    paths = project.settings.get("paths", {})
    options["paths"] = {name: [os.path.join(root, place) for place in places] for name, places in paths.items()}
    include = [os.path.join(root, folder, "**", end) for folder in project.settings["include"] for end in ("*.ts", "*.tsx")]
    configuration = os.path.join(work, f"{project.name}.tsconfig.json")
    with open(configuration, "w") as file:
        json.dump({"compilerOptions": options, "include": include}, file, indent=1)
    output = os.path.join(work, f"{project.name}.scip")
    command = [tool(tools, "scip-typescript"), "index", "--cwd", root, "--no-progress-bar", "--output", output, configuration]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return output


def index_python(project, root, tools, work):
    """Writes an index of a copy in which `src/package` is `package`. scip-python would otherwise give one module two names,
    and resolve no import of the package."""
    copy = copy_project(root, os.path.join(work, "copies", project.name), project.settings.get("include"))
    if os.path.isdir(os.path.join(copy, "src")) and not os.path.exists(os.path.join(copy, "src", "__init__.py")):
        for name in os.listdir(os.path.join(copy, "src")):
            if not os.path.exists(os.path.join(copy, name)):
                os.rename(os.path.join(copy, "src", name), os.path.join(copy, name))
    # An empty environment: with the packages of this machine, uses could resolve to an installed copy of the project.
    environment = os.path.join(work, "environment.json")
    with open(environment, "w") as file:
        file.write("[]")
    output = os.path.join(work, f"{project.name}.scip")
    command = [tool(tools, "scip-python"), "index", "--cwd", copy, "--quiet", "--project-name", project.name,
               "--project-version", "0", "--environment", environment, "--output", output]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "NODE_OPTIONS": "--max-old-space-size=8192"})
    return output


def copy_project(root, copy, folders=None):
    """A fresh copy of a project, or of some folders, without settings that make the indexer leave out files."""
    shutil.rmtree(copy, ignore_errors=True)
    skip = shutil.ignore_patterns("pyproject.toml", "pyrightconfig.json", "node_modules", ".codegraph")
    for folder in folders or ["."]:
        shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder), symlinks=True, ignore=skip, dirs_exist_ok=True)
    return copy


def tool(tools, name):
    return os.path.join(tools, "node_modules", ".bin", name)


def name_of(symbol, documentation, source, line, end):
    """Name and kind if the symbol is a function or a method, by its descriptor and the text of its definition."""
    # A function inside of a function is left out: its uses are in sight of it.
    if "()." in symbol.rstrip(".").removesuffix("()"):
        return None, None
    if found := METHOD.search(symbol):
        name = found[1] or found[2]
        return name, "method" if re.search(r"#[^/#]*$", symbol) else "function"
    if found := TERM.search(symbol):
        name = found[1] or found[2]
        signature = re.search(rf"{re.escape(name)}\??: ([(<])[\s\S]*=>", documentation)
        offset = source.starts[line] + end
        if signature and FUNCTION_VALUE.match(source.text[offset : offset + 1000]):
            return name, "method" if "#" in symbol else "function"
    return None, None


def read(index, project):
    """All functions and methods with their uses. Returns `(files, symbols, places, shorthand, unresolved)`; `places` maps a
    position to the symbols there, with which a wrong answer can be explained."""
    definitions, uses = collections.defaultdict(list), collections.defaultdict(list)
    symbols, files, places, properties, locals_used = {}, [], collections.defaultdict(set), set(), []
    for document in scip.read_index(index):
        path = place_in_project(project, document.path)
        files.append(path)
        source = project.source(path)
        encoding = ENCODINGS[document.encoding]
        for one in document.occurrences:
            column = source.column(one.line, one.start, encoding)
            word = source.word(one.line, column)
            if not word:
                continue
            key = f"{path} {one.symbol}" if one.symbol.startswith("local ") else one.symbol
            place = (path, one.line, column)
            places[place].add(key)
            if not one.roles & scip.DEFINITION and not is_definition_in_python(source, one.line, column):
                uses[key].append((place, word))
                if project.language == "TypeScript" and one.symbol.startswith("local "):
                    locals_used.append((place, key))
                continue
            definitions[key].append(place)
            documentation = document.documentation.get(one.symbol, "")
            if "(property) " in documentation[:20]:
                properties.add(place)
            name, kind = name_of(one.symbol, documentation, source, one.line, column + len(word))
            if name and name == word and one.line not in nested_lines(source):
                symbols.setdefault(key, (name, kind))
    rows = []
    for key, (name, kind) in symbols.items():
        own = [(place, word) for place, word in uses[key] if is_use(project, name, place, word)]
        members = {place for place, word in own if is_member(project, place, word)}
        rows.append((name, kind, definitions[key], [use for use in own if use[0] not in members], members))
    shorthand = {place for place in properties if is_shorthand(project, place, project.source(place[0]).word(*place[1:]))}
    # A local symbol without a definition stands for a name that scip-typescript does not resolve: `z.x` behind `export {x} from`.
    unresolved = {place for place, key in locals_used if key not in definitions}
    return files, rows, places, shorthand, unresolved


def is_shorthand(project, place, word):
    path, line, column = place
    return project.source(path).is_shorthand(line, column, len(word))


def is_member(project, place, word):
    path, line, column = place
    return project.language == "TypeScript" and project.source(path).is_object_member(line, column, len(word))


def is_definition_in_python(source, line, column):
    """Whether it is a later overload (`def x`) or a new value (`x = …`) of a name, which scip-python calls a use."""
    text = source.lines[line]
    is_function = re.search(r"(?:^|\s)def\s+$", text[:column])
    is_value = not text[:column].strip() and re.match(r"\w+\s*(?::[^=]+)?=(?!=)", text[column:])
    return source.language == "Python" and bool(is_function or is_value)


def nested_lines(source):
    return source.nested_functions if source.language == "Python" else ()


def place_in_project(project, path):
    """The path of a document in the project; that of a copy may lack the folder `src`."""
    return path if os.path.exists(os.path.join(project.root, path)) else os.path.join("src", path)


def is_use(project, name, place, word):
    return word == name or project.source(place[0]).binds_alias(word)
