"""Which lines of which files a text shows: the eye of this folder, the same for every tool.

A line of a function counts as seen if the text has it, under the heading of its file: the last path of the project named before it or
on its line. Lines that are short, or that the file has outside the function too, do not count. A range counts as named if the text has
it as `start-end` under that heading; it may begin at comments or decorators before the function and has to end where the function ends.
"""

import collections
import functools
import pathlib
import re
import subprocess

MIN_CHARACTERS = 8
MAX_LEAD = 40
PATH = re.compile(r"[\w@.+~-]+(?:/[\w@.+~-]+)*\.\w+")
RANGE = re.compile(r"(?<![\d.])(\d+)\s*[-–]\s*(\d+)(?![\d.])|lines? (\d+) to (\d+)|\"start_line\": (\d+), \"end_line\": (\d+)")
NUMBER = re.compile(r"^\s*[>*]?\s*(?:\S+?[:-])?\d+\s*[:|\t│-]?")


@functools.lru_cache
def files_of(root):
    return frozenset(subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines())


@functools.lru_cache(maxsize=4096)
def lines_of(root, path):
    return (pathlib.Path(root) / path).read_text("utf-8", "replace").splitlines()


def own_lines(root, function):
    """The lines of a function that the rest of its file does not have, without margins."""
    lines = [line.strip() for line in lines_of(root, function["path"])]
    inside = lines[function["start"] - 1 : function["end"]]
    outside = set(lines[: function["start"] - 1] + lines[function["end"] :])
    return {line for line in inside if len(line) >= MIN_CHARACTERS and line not in outside}


def sections(root, text):
    """Pairs of a path of the project, or `None`, and a line of the text below its heading."""
    known, path = files_of(root), None
    folder = str(root).rstrip("/") + "/"
    for line in text.splitlines():
        for found in PATH.finditer(line.replace(folder, "")):
            if found[0].removeprefix("./") in known:
                path = found[0].removeprefix("./")
                break
        yield path, line


def shows(line, own):
    """Whether the line of an answer is a line of `own`, with or without a number before it, and maybe cut."""
    for text in {line.strip(), NUMBER.sub("", line).strip()}:
        if text in own:
            return True
        if text.endswith(("…", "...")) and len(text) > 30 and any(one.startswith(text.rstrip("….")) for one in own):
            return True
    return any(len(one) >= 25 and one in line for one in own)


def names(line, function):
    for found in RANGE.finditer(line):
        start, end = (int(number) for number in found.groups() if number)
        if end == function["end"] and function["start"] - MAX_LEAD <= start <= function["start"]:
            return True
    return False


Seen = collections.namedtuple("Seen", "lines ranges files")


def seen(root, functions, text):
    """How many of `functions` have a line in `text`, have their range in it, or have their file named."""
    root = str(root)
    split = list(sections(root, text))
    line = rng = file = 0
    for function in functions:
        own = own_lines(root, function)
        mine = [one for path, one in split if path == function["path"]]
        file += bool(mine)
        line += any(shows(one, own) for one in mine)
        rng += any(names(one, function) for one in mine)
    return Seen(line, rng, file)
