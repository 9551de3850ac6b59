"""Functions of a source file with their lines, by tree-sitter's published grammars: the truth of this folder.

Leaves out types and variables. Independent of docent's own outline, which is measured against it.
"""

import collections
import functools

import tree_sitter
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript

Function = collections.namedtuple("Function", "name start end")

GRAMMARS = {
    "py": tree_sitter_python.language,
    "go": tree_sitter_go.language,
    "rs": tree_sitter_rust.language,
    "java": tree_sitter_java.language,
    "js": tree_sitter_javascript.language,
    "mjs": tree_sitter_javascript.language,
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
    "constructor_declaration",
}
VALUES = {"arrow_function", "function_expression"}
HOLDERS = {"class_definition", "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "impl_item", "trait_item"}


@functools.lru_cache
def parser(extension):
    return tree_sitter.Parser(tree_sitter.Language(GRAMMARS[extension]()))


def field_text(node, field):
    found = node.child_by_field_name(field)
    return found.text.decode("utf-8", "replace") if found else ""


def named_value(node):
    """Whether `node` gives a function value its name: `const name = () => …`, `name: function () …`."""
    if node.type not in {"variable_declarator", "pair", "public_field_definition", "field_definition"}:
        return False
    value = node.child_by_field_name("value")
    return value is not None and value.type in VALUES


def name_of(node):
    if node.type == "pair":
        return field_text(node, "key")
    if node.type == "impl_item":
        return field_text(node, "type").partition("<")[0]
    name = field_text(node, "name") or field_text(node, "property")
    if node.type == "method_declaration" and (receiver := field_text(node, "receiver")):
        kind = receiver.strip("()").partition("[")[0].split()[-1].lstrip("*")
        return f"{kind}.{name}"
    return name


def first_line(node):
    """The line of the signature's first word. Decorators, attributes and comments before it do not count."""
    outer = node.parent if node.type == "variable_declarator" else node
    return outer.start_point[0] + 1


def functions(text, extension):
    """All named functions, outer before inner, with qualified names and lines from 1."""
    found = []

    def visit(node, outside):
        inside = outside
        if node.type in FUNCTIONS or named_value(node):
            name = name_of(node)
            if name:
                inside = [*outside, name]
                found.append(Function(".".join(inside), first_line(node), node.end_point[0] + 1))
        elif node.type in HOLDERS:
            inside = [*outside, name_of(node)]
        for child in node.named_children:
            visit(child, inside)

    visit(parser(extension).parse(text.encode()).root_node, [])
    return found


def extension_of(path):
    return path.rpartition(".")[2] if "." in path else ""


def enclosing(found, line):
    """The innermost function with that line, or `None`."""
    around = [one for one in found if one.start <= line <= one.end]
    return min(around, key=lambda one: one.end - one.start, default=None)
