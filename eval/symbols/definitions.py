"""Compares the definitions of `docent outline` with those of universal-ctags on 20 projects.

Counted are functions, methods, classes, structs, interfaces, traits, enums, types, macros, fields, enumerators, and
constants and variables outside of functions. A definition is found if docent has the name on that line or a neighbouring
one, as a callable, a type or a value. Vendored, generated, minified and unreadable files are left out.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

import sources
from score import environment_of, share

PROJECTS = {
    "zod": "TypeScript", "trpc": "TypeScript", "hono": "TypeScript",
    "click": "Python", "httpx": "Python", "django": "Python",
    "cobra": "Go", "chi": "Go", "gitleaks": "Go", "apimachinery": "Go",
    "jq": "C", "redis": "C", "curl": "C",
    "leveldb": "C++",
    "ripgrep": "Rust", "tokio": "Rust",
    "gson": "Java", "commons-lang": "Java",
    "axios": "JavaScript",
    "rails": "Ruby",
}
EXTENSIONS = {
    "TypeScript": (".ts", ".tsx"), "Python": (".py",), "Go": (".go",), "C": (".c", ".h"), "C++": (".cc", ".cpp", ".h", ".hpp"),
    "Rust": (".rs",), "Java": (".java",), "JavaScript": (".js", ".mjs", ".cjs"), "Ruby": (".rb",),
}
# The kinds of ctags that count, and the kind that they are reported as.
TYPES = {"class": "class", "struct": "struct", "union": "struct", "interface": "interface", "enum": "enum"}
KINDS = {
    "TypeScript": {**TYPES, "function": "function", "generator": "function", "method": "method", "alias": "type",
                   "constant": "constant", "variable": "variable", "property": "field", "enumerator": "enumerator"},
    "JavaScript": {"function": "function", "generator": "function", "method": "method", "getter": "method", "setter": "method",
                   "class": "class", "constant": "constant", "variable": "variable", "field": "field"},
    "Python": {"function": "function", "member": "method", "class": "class", "variable": "variable"},
    "Go": {**TYPES, "func": "function", "methodSpec": "method", "type": "type", "talias": "type", "const": "constant",
           "var": "variable", "member": "field"},
    "C": {**TYPES, "function": "function", "macro": "macro", "typedef": "type", "variable": "variable", "member": "field",
          "enumerator": "enumerator"},
    "Rust": {**TYPES, "interface": "trait", "function": "function", "method": "method", "macro": "macro", "typedef": "type",
             "variable": "constant", "field": "field", "enumerator": "enumerator"},
    "Java": {**TYPES, "annotation": "interface", "method": "method", "field": "field", "enumConstant": "enumerator"},
    "Ruby": {"class": "class", "module": "class", "method": "method", "singletonMethod": "method", "constant": "constant"},
}
KINDS["C++"] = KINDS["C"]
CALLABLE, TYPE, VALUE = "callable", "type", "value"
GROUPS = {
    **dict.fromkeys(("function", "method", "macro", "constructor"), CALLABLE),
    **dict.fromkeys(("class", "struct", "interface", "trait", "enum", "type", "module", "union"), TYPE),
    **dict.fromkeys(("field", "property", "constant", "variable", "enumerator"), VALUE),
}
# A constant may hold a function, a macro may be a value, and a JavaScript class may be a function.
ALSO = {"constant": {CALLABLE, TYPE}, "variable": {CALLABLE, TYPE}, "field": {CALLABLE}, "macro": {VALUE, TYPE}, "class": {CALLABLE}}
PASSED_OVER = ("vendor/", "node_modules/", "third_party/", "dist/", "deps/", ".min.js", "testdata/", "fixtures/")
MAX_FILES = 400


def add_arguments(parser):
    parser.add_argument("docent", help="the docent program")
    parser.add_argument("projects", metavar="PROJECTS", help="the folder with the projects, each under its name")
    parser.add_argument("--only", action="append", default=[], help="compare this project only; may be repeated")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print up to N missing definitions of each project")
    parser.add_argument("--no-docent", action="store_true", help="print only the definitions that ctags has, to look at them")


def run(args):
    by_project, by_kind, by_language = {}, collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as home:
        for name, language in PROJECTS.items():
            if args.only and name not in args.only:
                continue
            root = os.path.realpath(os.path.join(args.projects, name))
            files = choose_files(root, language)
            wanted = by_ctags(root, language, files)
            found = collections.defaultdict(list) if args.no_docent else by_docent(args.docent, root, home, files)
            misses, kinds = compare(wanted, found)
            by_project[name] = (language, len(files), kinds)
            for (kind, what), count in kinds.items():
                by_kind[kind, what] += count
                by_language[language, what] += count
            print_misses(root, name, misses, args.failures)
    print_tables(by_project, by_language, by_kind)


def choose_files(root, language):
    paths = sources.Project(root, language, EXTENSIONS[language]).paths()
    paths = [path for path in paths if not any(part in path for part in PASSED_OVER)]
    step = -(-len(paths) // MAX_FILES) or 1
    return [path for path in paths[::step] if is_readable(os.path.join(root, path))]


def is_readable(path):
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return False
    return len(text) < 1 << 20 and "generated" not in text[:2000].lower() and max(map(len, text.split("\n"))) < 5000


def by_ctags(root, language, files, scopes=None):
    """`{path: {(name, kind, scope): lines}}`. The lines of a value that is assigned several times are one definition.
    `scopes` receives the type around each definition, as `{(path, line): name}`."""
    command = ["ctags", "--output-format=json", "--fields=+nKsZ", "-L", "-", "-o", "-", f"--languages={language}"]
    command += [f"--map-{language}=+{extension}" for extension in EXTENSIONS[language]]
    printed = subprocess.run(command, input="\n".join(files), cwd=root, capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in printed.split("\n")[:-1]:
        tag = json.loads(line)
        kind = KINDS[language].get(tag.get("kind"))
        name = tag.get("name", "")
        if not kind or re.match(r"__anon|anonymous|_$", name, re.I):
            continue
        # A function of Go with a receiver has a scope.
        if kind == "function" and tag.get("scopeKind") in ("class", "struct", "interface", "type", "unknown"):
            kind = "method"
        text = line_of(root, tag["path"], tag["line"])
        if is_definition(language, kind, tag, text):
            group = tag.get("scope", "") if GROUPS[kind] == VALUE else tag["line"]
            found[tag["path"]][name, kind, group].append(tag["line"])
            if scopes is not None:
                scopes[tag["path"], tag["line"]] = last(tag.get("scope", ""))
    return found


LINES = {}


def line_of(root, path, line):
    place = os.path.join(root, path)
    if place not in LINES:
        LINES.clear()
        LINES[place] = pathlib.Path(place).read_text(encoding="utf-8").split("\n")
    return LINES[place][line - 1] if line <= len(LINES[place]) else ""


def is_definition(language, kind, tag, text):
    """Whether it is a definition that counts. ctags reports values of functions as well, and in TypeScript and JavaScript
    types that are only mentioned, object literals as classes, and properties as methods and fields."""
    name = re.escape(last(tag["name"]))
    if not re.search(rf"(?<![\w$]){name}(?![\w$])", text) and "operator" not in tag["name"]:
        return False
    if GROUPS[kind] == VALUE and tag.get("scopeKind") in ("function", "method", "member", "func"):
        return False
    if language in ("TypeScript", "JavaScript"):
        if kind == "type":
            return bool(re.match(rf"\s*(?:export\s+|declare\s+|default\s+)*type\s+{name}", text))
        if kind in ("constant", "variable"):
            declared = rf"(?:export\s+|declare\s+|default\s+)*(?:const|let|var)\s+(?:[\w$]+\s*,\s*)*{name}(?![\w$])"
            return not tag.get("scope") and bool(re.match(declared, text))
        if kind == "class":
            return bool(re.search(rf"\bclass\b|function {name}|{name}\W*[=:]\s*function", text))
        if kind == "field" and language == "JavaScript":
            # ctags also calls the names of destructured and shorthand objects fields.
            return tag.get("scopeKind") == "class" and bool(re.match(rf"\s*(?:static\s+)?#?{name}\s*(?:[=;]|$)", text))
        if kind == "field":
            return bool(re.search(rf"(?<![\w$.]){name}\s*[?!]?\s*(?:[:=;,)]|$)", text))
        if kind in ("function", "method"):
            return ("(" in text or "=>" in text or "<" in text) and not re.search(rf"{name}\W*[=:]\s*\(function", text)
    return True


def last(name):
    """The last word of `Foo::bar`, `a.b.c`, `~Foo` and `operator ==`."""
    if "operator" in name:
        return name[name.rindex("operator"):].replace(" ", "")
    return name.split("::")[-1].split(".")[-1].strip("~#\"' ")


def by_docent(docent, root, home, files):
    """`{path: [(name, lines, group)]}`, by one process a file."""
    environment = environment_of(home)

    def outline(path):
        command = [docent, "--root", root, "--set", "answer.max_chars=10000000", "outline", path, "--json"]
        printed = subprocess.run(command, env=environment, capture_output=True, text=True)
        return path, json.loads(printed.stdout)["definitions"] if printed.returncode == 0 else []

    found = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, definitions in pool.map(outline, files):
            for one in definitions:
                found[path].append((last(one["name"]), {one["line"], one["startLine"]}, GROUPS.get(one["kind"])))
    return found


def compare(wanted, found):
    misses, kinds = [], collections.Counter()
    for path, definitions in wanted.items():
        by_name = collections.defaultdict(list)
        for name, lines, group in found[path]:
            by_name[name].append((lines, group))
        for (name, kind, _), lines in definitions.items():
            near = {line + shift for line in lines for shift in (-1, 0, 1)}
            there = [group for own, group in by_name[last(name)] if own & near]
            allowed = {GROUPS[kind]} | ALSO.get(kind, set())
            is_found = any(group in allowed for group in there)
            kinds.update({(kind, "wanted"): 1, (kind, "found"): is_found})
            if not is_found:
                misses.append((kind, name, path, lines[0], "another kind" if there else "missing"))
    return misses, kinds


def print_misses(root, name, misses, count):
    if count:
        print(f"\n## {name}: {len(misses)} missing: {collections.Counter(miss[0] for miss in misses).most_common()}")
    random.Random(1).shuffle(misses)
    for kind, word, path, line, reason in misses[:count]:
        print(f"{kind} {word}  {path}:{line}  {reason}\n    {line_of(root, path, line).strip()[:160]}")


def print_tables(by_project, by_language, by_kind):
    print("\n| language | project | files | ctags | found | share |\n|---|---|---|---|---|---|")
    for name, (language, files, kinds) in by_project.items():
        wanted, found = (sum(count for (_, what), count in kinds.items() if what == word) for word in ("wanted", "found"))
        print(f"| {language} | {name} | {files:,} | {wanted:,} | {found:,} | {share(found, wanted)} |")
    print("\n| language | ctags | found | share |\n|---|---|---|---|")
    for language in dict.fromkeys(PROJECTS.values()):
        if wanted := by_language[language, "wanted"]:
            found = by_language[language, "found"]
            print(f"| {language} | {wanted:,} | {found:,} | {share(found, wanted)} |")
    print("\n| kind | ctags | found | share |\n|---|---|---|---|")
    for kind in dict.fromkeys(kind for kind, _ in by_kind):
        wanted, found = by_kind[kind, "wanted"], by_kind[kind, "found"]
        print(f"| {kind} | {wanted:,} | {found:,} | {share(found, wanted)} |")
    wanted, found = (sum(count for (_, what), count in by_kind.items() if what == word) for word in ("wanted", "found"))
    print(f"| **all** | {wanted:,} | {found:,} | **{share(found, wanted)}** |")
