"""Definitions of a tree with their lines: by tree-sitter's published grammars, and by universal-ctags for Ruby and PHP.

Independent of docent's own outline, which is measured against it. Leaves out variables and fields, functions that are values of an
object literal, members of anonymous classes, and declarations without a body.
"""

import collections
import functools
import json
import os
import re
import subprocess

import tree_sitter
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript

# `around` is "" at the top level, "function" inside a function, else the number of lines of the class around it.
Definition = collections.namedtuple("Definition", "name kind path lead start end around")

GRAMMARS = {
    "py": tree_sitter_python.language,
    "go": tree_sitter_go.language,
    "rs": tree_sitter_rust.language,
    "java": tree_sitter_java.language,
    "js": tree_sitter_javascript.language,
    "ts": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
}
FUNCTIONS = {
    "function_definition",
    "function_declaration",
    "generator_function_declaration",
    "method_declaration",
    "method_definition",
    "function_item",
}
VALUES = {"arrow_function", "function_expression"}
TYPES = {
    "class_definition",
    "class_declaration",
    "abstract_class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "type_alias_declaration",
    "trait_item",
    "struct_item",
    "enum_item",
    "union_item",
    "type_item",
    "type_spec",
}
UNNAMED = {"object", "object_creation_expression"}
COMMENT = re.compile(r'\s*(//|/\*|\*|#|@|""")')
ASIDE = re.compile(r"(^|/)(tests?|testing|specs?|__tests__|fixtures?|examples?|samples?|vendor|node_modules|benches|benchmarks?|docs?|[\w-]*test[\w-]*)/", re.I)
ALSO_ASIDE = re.compile(r"(^|/)(test_[^/]*|[^/]*(_test|_spec|\.spec|\.test|Tests?|Mock\w*)\.\w+)$|\.min\.|\.d\.ts$")


@functools.lru_cache
def parser(extension):
    return tree_sitter.Parser(tree_sitter.Language(GRAMMARS[extension]()))


def field_text(node, field):
    found = node.child_by_field_name(field)
    return found.text.decode("utf-8", "replace") if found else ""


def lead_of(lines, start):
    """The first line of the comments and decorators above a definition, with at most one blank line between."""
    at, blanks = start - 1, 0
    while at > 0 and (COMMENT.match(lines[at - 1]) or not lines[at - 1].strip() and blanks == 0):
        blanks += not lines[at - 1].strip()
        at -= 1
    return at + 1


def by_grammar(text, path, extension):
    found, lines = [], text.split("\n")

    def add(node, kind, around):
        name = field_text(node, "name") or field_text(node, "property")
        outer = node.parent if node.type == "variable_declarator" else node
        start, end = outer.start_point[0] + 1, node.end_point[0] + 1
        if name:
            found.append(Definition(name, kind, path, lead_of(lines, start), start, end, around))

    def visit(node, around):
        inside = around
        value = node.child_by_field_name("value") if node.type in {"variable_declarator", "public_field_definition"} else None
        is_named_value = value is not None and value.type in VALUES
        if node.type in FUNCTIONS or is_named_value:
            is_method = isinstance(around, int) or node.type == "method_declaration" and extension == "go"
            if around is not None and (is_named_value or node.child_by_field_name("body")):
                add(node, "method" if is_method else "function", around)
            inside = None if around is None else "function"
        elif node.type in TYPES or node.type == "impl_item":
            if node.type != "impl_item":
                add(node, "type", around)
            inside = node.end_point[0] - node.start_point[0] + 1
        elif node.type in UNNAMED:
            inside = None
        for child in node.named_children:
            visit(child, inside)

    visit(parser(extension).parse(text.encode()).root_node, "")
    return found


KINDS = {"class": "type", "module": "type", "interface": "type", "trait": "type", "enum": "type"}
METHODS = {"method", "singletonMethod", "function"}


def by_ctags(root, language):
    """The definitions of all files of a language that universal-ctags finds."""
    command = ["ctags", "-R", f"--languages={language}", "--output-format=json", "--fields=+neKS", "-f", "-", "."]
    output = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=True).stdout
    files = collections.defaultdict(list)
    for line in output.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in KINDS or tag.get("kind") in METHODS:
            files[os.path.normpath(tag["path"])].append(tag)
    for path, tags in sorted(files.items()):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            yield from of_tags(path, file.read().split("\n"), sorted(tags, key=lambda tag: tag["line"]))


def of_tags(path, lines, tags):
    open_tags = []
    for tag in tags:
        start = tag["line"]
        end = tag.get("end") or end_by_indent(lines, start)
        if end is None:
            continue
        open_tags = [one for one in open_tags if one[2] >= start]
        outer = open_tags[-1] if open_tags else None
        kind = KINDS.get(tag["kind"]) or ("method" if outer and outer[0] != "module" else "function")
        around = "" if outer is None or outer[0] == "module" else "function" if outer[0] in METHODS else outer[2] - outer[1] + 1
        yield Definition(tag["name"], kind, path, lead_of(lines, start), start, end, around)
        open_tags.append((tag["kind"], start, end))


def end_by_indent(lines, start):
    """The line of the bracket that closes a definition of formatted code; `None` for a declaration without a body."""
    margin = re.match(r"\s*", lines[start - 1])[0]
    for at in range(start - 1, len(lines)):
        if lines[at].rstrip().endswith(";") and "{" not in "".join(lines[start - 1 : at + 1]):
            return None
        if "{" in lines[start - 1] and lines[start - 1].rstrip().endswith("}"):
            return start
        if at >= start and re.match(rf"{margin}\}}", lines[at]):
            return at + 1
    return None


def definitions(root):
    """All definitions of a tree, in the order of paths and lines."""
    found = [*by_ctags(root, "Ruby"), *by_ctags(root, "PHP")]
    for folder, directories, names in os.walk(root):
        directories.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            extension = name.rpartition(".")[2].replace("mjs", "js")
            if extension in GRAMMARS and os.path.isfile(path) and os.path.getsize(path) < 1 << 20:
                with open(path, encoding="utf-8", errors="replace") as file:
                    found += by_grammar(file.read(), os.path.relpath(path, root), extension)
    return found


def is_aside(path):
    """True for tests, examples, documentation and foreign code."""
    return bool(ASIDE.search(path) or ALSO_ASIDE.search(path))
