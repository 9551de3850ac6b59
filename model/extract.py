"""Turn the text of one source or documentation file into training pairs.

A pair is (kind, query, target): the query is a sentence, a heading or a name, the target what it is about.

| kind   | query                              | target                                        |
|--------|------------------------------------|-----------------------------------------------|
| doc    | first sentence of a doc comment    | the code below it, comment left out           |
| rest   | first sentence of a doc comment    | the rest of that comment                      |
| module | first sentence of a module comment | the beginning of the file                     |
| name   | name of a function or type         | its doc comment                               |
| head   | heading with those above it        | the section's text                            |
| lead   | first sentence of a section        | headings and the rest of the section          |
| cloze  | some other sentence of a section   | headings and the rest of the section          |
| block  | paragraph before a code block      | the code block                                |
"""

import ast
import re

SUFFIXES = {
    "python": "py pyi", "js": "js jsx mjs cjs", "ts": "ts tsx mts", "go": "go", "java": "java", "php": "php inc",
    "ruby": "rb", "rust": "rs", "csharp": "cs", "kotlin": "kt kts", "scala": "scala", "swift": "swift", "c": "c h m mm",
    "cpp": "cc cpp cxx hpp hh hxx", "elixir": "ex exs", "haskell": "hs", "lua": "lua", "sh": "sh bash bats",
    "erlang": "erl hrl", "zig": "zig", "groovy": "groovy", "prose": "md mdx markdown rst adoc asciidoc txt",
}
LANGUAGE = {suffix: language for language, suffixes in SUFFIXES.items() for suffix in suffixes.split()}
SLASHED = {"js", "ts", "go", "java", "php", "rust", "csharp", "kotlin", "scala", "swift", "c", "cpp", "zig", "groovy"}
LINE_MARKS = {"ruby": "#", "sh": "#", "elixir": "#", "lua": "--", "haskell": "--", "erlang": "%"}

UNWANTED_QUERY = re.compile(
    r"copyright|licen[sc]e|spdx|eslint|prettier|@ts-|istanbul|todo|fixme|xxx|hack:|generated|do not edit|deprecated|noqa"
    r"|pylint|type: ignore|clippy|nolint|https?://\S+$|inheritdoc|c8 ignore|webpack|jshint|@file|vim:|\$id", re.I)
UNWANTED_HEADING = re.compile(
    r"licen[sc]e|copyright|contribut|changelog|authors?$|credits|sponsor|backers|table of contents|^contents$|acknowledg"
    r"|badges?$|^links$|support us|version \d|^v?\d+\.\d|what's changed|donat|code of conduct", re.I)
COMMENT_END = re.compile(
    r"\n\s*(?:@\w+|:param|:return|:raises|:rtype|Args:|Returns:|Parameters\b|Raises:|Examples?:|#\s|```|>>>|\\param|\\return)")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(])")


# --------------------------------------------------------------------------------------------------- text


def plain(text):
    """Markup taken out of a piece of prose: tags, link targets, roles, emphasis."""
    text = re.sub(r"<[^>\n]{1,200}>", " ", text)
    text = re.sub(r"!?\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])", r"\1", text)
    text = re.sub(r":[\w:]+:`~?([^`<]*)(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    return re.sub(r"[`*]{1,3}|\\(?:brief|a|p|c|ref)\b|@brief", " ", text)


def first_sentence(comment):
    """The first sentence of a doc comment, at most 45 words, and what follows it."""
    described = plain(COMMENT_END.split(comment)[0]).strip()
    paragraphs = re.split(r"\n\s*\n", described, maxsplit=1)
    lead = re.sub(r"\s+", " ", paragraphs[0]).strip(" -=#*/!<>|")
    parts = SENTENCE_END.split(lead, maxsplit=1)
    rest = " ".join(parts[1:] + paragraphs[1:])
    return " ".join(parts[0].split()[:45]), rest


def good_query(query):
    """Whether a sentence says something: words, mostly letters, no notices."""
    found = re.findall(r"[A-Za-z]{2,}", query)
    return (3 <= len(found) <= 45 and sum(map(len, found)) > 0.55 * len(query)
            and sum(ord(char) > 127 for char in query) <= 2 and not UNWANTED_QUERY.search(query))


def mostly_ascii(text):
    return sum(ord(char) > 127 for char in text[:500]) <= 20


# ------------------------------------------------------------------------------------------------ comments


def comment_pairs(kind, comment, code, name=None):
    """The pairs that one doc comment and the code below it give."""
    query, rest = first_sentence(comment)
    if not good_query(query) or not mostly_ascii(code):
        return
    if len(code) >= 80:
        yield kind, query, code[:2200]
    if len(rest.split()) >= 20 and mostly_ascii(rest):
        yield "rest", query, rest[:1500]
    if name and len(name) > 5:
        yield "name", name, query + " " + rest[:500]


def python_pairs(text):
    """Docstrings of modules, classes and functions."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    about = ast.get_docstring(tree)
    if about and len(lines) > 20:
        end = tree.body[0].end_lineno
        yield from comment_pairs("module", about, "\n".join(lines[end:end + 50]))
        yield from prose_pairs(about)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        about = ast.get_docstring(node)
        if about:
            text_node = node.body[0]
            last = min(node.end_lineno, node.lineno + 60)
            body = lines[node.lineno - 1:text_node.lineno - 1] + lines[text_node.end_lineno:last]
            yield from comment_pairs("doc", about, "\n".join(body), node.name)


def scanned_pairs(text, language):
    """Doc comments of the other languages, found by their marks, and the unit of code below each."""
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        comment, end = comment_at(lines, position, language)
        if comment is None:
            position += 1
            continue
        if language == "rust" and lines[position].lstrip().startswith("//!"):
            yield from prose_pairs(comment)
        start = end + 1 if end < len(lines) and not lines[end].strip() else end
        if start < len(lines) and starts_code(lines[start]):
            unit = code_unit(lines, start, language)
            yield from comment_pairs("doc", comment, "\n".join(unit).rstrip(), declared_name(unit))
        position = max(end, position + 1)


def comment_at(lines, position, language):
    """The comment that begins at a line, and the line after it; (None, position) where none begins."""
    first = lines[position].strip()
    if language in SLASHED and first.startswith("/*") and not first.startswith("/*!"):
        return block_comment(lines, position)
    if language == "elixir" and re.match(r'@(module)?doc\s+~?[sS]?"""', first):
        end = next((i for i in range(position + 1, len(lines)) if lines[i].strip() == '"""'), len(lines))
        return "\n".join(line.strip() for line in lines[position + 1:end]), end + 1
    mark = "//" if language in SLASHED else LINE_MARKS.get(language)
    if not mark or not first.startswith(mark) or first.startswith("#!"):
        return None, position
    end = position
    while end < len(lines) and lines[end].strip().startswith(mark):
        end += 1
    strip = re.compile(r"^(?:///?!?|#+|--+\s*[|^\[]*|%+\s*(?:@doc)?) ?")
    return "\n".join(strip.sub("", line.strip()) for line in lines[position:end]), end


def block_comment(lines, position):
    """A /* */ comment of at most 80 lines without its stars."""
    kept, end = [], position
    while end < len(lines) and end < position + 80:
        line = lines[end].strip()
        kept.append(re.sub(r"^(/\*+|\*+/|\*+ ?)|\*+/$", "", line).rstrip())
        end += 1
        if "*/" in line:
            break
    return "\n".join(kept), end


def starts_code(line):
    text = line.strip()
    return bool(text) and not text.startswith(
        ("//", "/*", "*", "}", ")", "#include", "#if", "#end", "package ", "import ", "using ", "use "))


def code_unit(lines, start, language):
    """The lines of the function, type or statement that begins at a line, at most 70."""
    if language in SLASHED:
        return braced_unit(lines, start)
    if language == "haskell":
        return paragraph_unit(lines, start)
    closers = ("}", "fi", "done", "esac") if language == "sh" else ("end",)
    indent = len(lines[start]) - len(lines[start].lstrip())
    kept = [lines[start]]
    for line in lines[start + 1:start + 70]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            if line.strip().startswith(closers):
                kept.append(line)
            break
        kept.append(line)
    return kept


def braced_unit(lines, start):
    """Up to the brace that closes the first one opened, or to the end of a statement without braces."""
    depth, opened, kept = 0, False, []
    for line in lines[start:start + 70]:
        kept.append(line)
        bare = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
        opens, closes = bare.count("{"), bare.count("}")
        depth += opens - closes
        opened = opened or opens > 0
        if opened and depth <= 0:
            break
        statement = bare.rstrip().endswith((";", ",")) and bare.count("(") <= bare.count(")")
        if not opened and (statement or not line.strip()):
            break
    return kept


def paragraph_unit(lines, start):
    """Up to a blank line before an unindented one."""
    kept = []
    for number in range(start, min(start + 40, len(lines))):
        if not lines[number].strip() and number + 1 < len(lines) and not lines[number + 1][:1].isspace():
            break
        kept.append(lines[number])
    return kept


DECLARED = re.compile(
    r"\b(?:fn|func|function|def|class|struct|enum|trait|interface|type|module|fun|object|protocol|defp?|defmodule)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_]\w{5,})")
CALLED = re.compile(r"\b([A-Za-z_]\w{5,})\s*\(")


def declared_name(unit):
    """The name that the first lines of a unit declare."""
    head = "\n".join(unit[:3])
    found = DECLARED.search(head) or CALLED.search(head)
    return found.group(1) if found else None


# --------------------------------------------------------------------------------------------------- prose


def sections(text):
    """(headings from the outermost in, body) of every section of Markdown, reStructuredText or AsciiDoc."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    stack, body, underlines, fenced = [], [], [], False
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        level, title, taken = (0, "", 1) if fenced else heading_at(lines, number, underlines)
        if level:
            if body:
                yield [name for _, name in stack], "\n".join(body)
            body = []
            stack = [entry for entry in stack if entry[0] < level] + [(level, title)]
        else:
            body.append(line)
        number += taken
    if body:
        yield [name for _, name in stack], "\n".join(body)


def heading_at(lines, number, underlines):
    """(level, title, lines taken) of a heading at a line; level 0 where there is none."""
    line = lines[number]
    marked = re.match(r"(#{1,6}|={1,6})\s+(\S.*?)[#=\s]*$", line)
    if marked:
        return len(marked.group(1)), plain(marked.group(2)).strip(), 1
    after = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    if (len(after) >= 3 and line.strip() and not line.startswith((" ", "\t", "|", "-", "+"))
            and re.fullmatch(r"([=\-~^\"'*+#`:._])\1{2,}", after) and len(after) >= len(line.rstrip()) - 2
            and len(line) < 100 and not re.fullmatch(r"([=\-~^\"'*+#`:._])\1{2,}", line.rstrip())):
        if after[0] not in underlines:
            underlines.append(after[0])
        return 1 + underlines.index(after[0]), plain(line).strip(), 2
    return 0, "", 1


def prose_pairs(text):
    """Pairs of every section of a document."""
    for headings, raw in sections(text):
        body = plain(raw).strip()
        if not 120 <= len(body) or not mostly_ascii(body):
            continue
        own = headings[-1] if headings else ""
        if UNWANTED_HEADING.search(own):
            continue
        body = body[:2400]
        above = " ".join(headings[-3:])
        if own and 1 <= len(own.split()) <= 16:
            yield "head", above, body
        yield from sentence_pairs(above, body)
        yield from block_pairs(raw)


def sentence_pairs(above, body):
    """The first sentence, and the longest of the others, each against the rest of its section."""
    sentences = [s for s in SENTENCE_END.split(re.sub(r"\s+", " ", body)) if s]
    if len(sentences) < 3:
        return
    chosen = [("lead", 0)]
    if len(sentences) >= 4:
        chosen.append(("cloze", 1 + max(range(len(sentences) - 1), key=lambda i: len(sentences[i + 1][:160]))))
    for kind, index in chosen:
        query = " ".join(sentences[index].split()[:40])
        rest = " ".join(sentences[:index] + sentences[index + 1:])
        if good_query(query) and len(rest) > 100:
            yield kind, query, above + "\n" + rest


def block_pairs(raw):
    """The paragraph before a fenced code block against the block."""
    for found in re.finditer(r"(?:^|\n\n)([^\n`#|][^`]{20,300}?)\n+```\w*\n(.{60,1500}?)```", raw, re.S):
        query = first_sentence(found.group(1))[0]
        if good_query(query):
            yield "block", query, found.group(2)


def file_pairs(text, language):
    """All pairs of one file."""
    if language == "python":
        return python_pairs(text)
    if language == "prose":
        return prose_pairs(text)
    return scanned_pairs(text, language)
