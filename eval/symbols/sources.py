"""Source texts of a project: reading, units of columns, and the role of an identifier by the text around it."""

import ast
import bisect
import functools
import hashlib
import os
import re

IDENTIFIER = {
    "TypeScript": re.compile(r"#?[\w$]+"),
    "Python": re.compile(r"\w+"),
    "Go": re.compile(r"\w+"),
    "C": re.compile(r"\w+"),
}
TYPESCRIPT_IMPORT = re.compile(
    r"^[ \t]*(?:import\b(?!\s*[(.])[^;'\"]*?from\s*['\"]|export\s+(?:type\s+)?(?:\*|\{)[^;'\"]*?from\s*['\"])", re.M
)
GO_IMPORT = re.compile(r"^import\s*(?:\([^)]*\)|[^\n]*)", re.M)
SKIPPED_FOLDERS = {".git", "node_modules", ".codegraph", ".cache"}


def draw_order(project, place):
    """The order in which symbols are drawn: random, but one symbol more or less leaves the others in the sample."""
    return hashlib.sha256(f"{project} {place}".encode()).digest()


class Source:
    """The text of one file, with lines as `\\n` splits them."""

    def __init__(self, path, language):
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            self.text = file.read()
        self.language = language
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def column(self, line, units, encoding):
        """The column from 0 in characters, of a column in `encoding`: `utf-16`, `utf-8` or `utf-32`."""
        text = self.lines[line] if line < len(self.lines) else ""
        if encoding == "utf-32" or text.isascii():
            return units
        width = (lambda c: len(c.encode("utf-8"))) if encoding == "utf-8" else (lambda c: 2 if ord(c) > 0xFFFF else 1)
        for column, character in enumerate(text):
            if units <= 0:
                return column
            units -= width(character)
        return len(text)

    def utf16(self, line, column):
        return sum(2 if ord(c) > 0xFFFF else 1 for c in self.lines[line][:column])

    def word(self, line, column):
        """The identifier that starts at a position, or an empty string."""
        if line >= len(self.lines):
            return ""
        found = IDENTIFIER[self.language].match(self.lines[line], column)
        return found[0] if found else ""

    def line_of(self, offset):
        """Line and column from 0."""
        line = bisect.bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]

    @functools.cached_property
    def imports(self):
        """Ranges of import statements, as offsets."""
        if self.language == "TypeScript":
            return [found.span() for found in TYPESCRIPT_IMPORT.finditer(self.text)]
        if self.language == "Go":
            return [found.span() for found in GO_IMPORT.finditer(self.text)]
        if self.language == "Python":
            try:
                tree = ast.parse(self.text)
            except (SyntaxError, ValueError):
                return []
            nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
            return [(self.starts[node.lineno - 1], self.starts[node.end_lineno]) for node in nodes]
        return []

    def is_imported(self, line, column):
        offset = self.starts[line] + column
        return any(start <= offset < end for start, end in self.imports)

    def role(self, line, column, length):
        """`import`, `call`, `member` (a method or field that is not called) or `name`, by the text around it."""
        if self.is_imported(line, column):
            return "import"
        offset = self.starts[line] + column
        after = self.text[offset + length : offset + length + 200]
        if re.match(r"\s*(?:\?\.)?\(", after) or (
            self.language in ("TypeScript", "Go") and re.match(r"(?:<[^()\n]*>|\[[^()\n]*\])\(", after)
        ):
            return "call"
        before = self.text[max(0, offset - 40) : offset].rstrip()
        return "member" if before.endswith((".", "->")) and not before.endswith("...") else "name"

    def is_alias_binding(self, line, column):
        """Whether it is the `y` of `x as y` in an import or a re-export."""
        return bool(re.search(r"(?<![\w$])as\s+$", self.lines[line][:column]))

    def word_before_alias(self, line, column):
        """Column and text of the `x` before the `y` of `x as y`."""
        found = re.search(r"([\w$]+)\s+as\s+$", self.lines[line][:column])
        return (found.start(1), found[1]) if found else None

    def is_shorthand(self, line, column, length):
        """Whether it stands alone between brackets and commas, as the property `{x}` of an object."""
        offset = self.starts[line] + column
        before, after = self.text[max(0, offset - 200) : offset].rstrip(), self.text[offset + length : offset + length + 200].lstrip()
        return before.endswith(("{", ",")) and after.startswith(("}", ","))

    def is_object_member(self, line, column, length):
        """Whether it is the key of an object literal: `x: …` or `x(…) {…}` after a bracket or a comma."""
        offset = self.starts[line] + column
        before = re.sub(r"(?:\basync|\*)$", "", self.text[max(0, offset - 200) : offset].rstrip()).rstrip()
        after = self.text[offset + length : offset + length + 2000]
        if not before.endswith(("{", ",")):
            return False
        if re.match(r"\s*:", after):
            return True
        depth = 0
        for at, character in enumerate(after if re.match(r"\s*\(", after) else ""):
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == ")" and not depth:
                return bool(re.match(r"\s*(?::[^=;{]*)?\{", after[at + 1 :]))
        return False

    @functools.cached_property
    def nested_functions(self):
        """Lines (from 0) of Python functions inside of functions."""
        found = set()

        def visit(node, is_inside):
            for child in ast.iter_child_nodes(node):
                is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
                if is_function and is_inside:
                    found.add(child.lineno - 1)
                visit(child, is_function or is_inside and not isinstance(child, ast.ClassDef))

        try:
            visit(ast.parse(self.text), False)
        except (SyntaxError, ValueError):
            pass
        return found

    def alias_binding_after(self, line, column):
        """The place of `y` behind the `x` of `x as y`, as line and column."""
        found = re.match(r"\s+as\s+(?=[\w$])", self.lines[line][column:])
        return (line, column + found.end()) if found else None

    def binds_alias(self, word):
        """Whether an import of the file gives a name to something else: `import {x as word}`, `import word from`."""
        return any(re.search(rf"(?<![\w$]){re.escape(word)}(?![\w$])", self.text[start:end]) for start, end in self.imports)


class Project:
    """The source files of a project's language, read once."""

    def __init__(self, root, language, extensions):
        self.root, self.language, self.extensions = root, language, extensions
        self.sources = {}

    def source(self, path):
        if path not in self.sources:
            self.sources[path] = Source(os.path.join(self.root, path), self.language)
        return self.sources[path]

    def paths(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(self.extensions) and os.path.isfile(path) and not os.path.islink(path):
                    found.append(os.path.relpath(path, self.root))
        return found
