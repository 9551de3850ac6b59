"""The function around a line of a file, and whether an answer of `docent sh` shows it or names its lines."""

import re
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agent"))

from definitions import GRAMMARS, enclosing, extension_of, functions

MIN_CHARACTERS = 4
MAX_LEAD = 40


def enclosing_function(file, line):
    """The innermost function around a line, or `None` outside of functions and in other languages."""
    extension = extension_of(file.name)
    if extension not in GRAMMARS or not file.is_file():
        return None
    return enclosing(functions(file.read_text("utf-8", "replace"), extension), line)


def is_shown(lines, function, answer):
    """Whether an answer has every line of the function, behind a number or not, beginning at its first one."""
    given = answer.split("\n")
    shown = {re.sub(r"^\s*(\S+?[:-])?\d+[:\t-]\s?", "", line).strip() for line in given} | {line.strip() for line in given}
    body = [line.strip() for line in lines[function.start - 1 : function.end] if len(line.strip()) >= MIN_CHARACTERS]
    return bool(body) and all(line in shown for line in body)


def names_range(function, answer):
    """Whether an answer names the lines of the function. The range may begin at its comments or decorators."""
    for start, end in re.findall(r"(?<![\d.])(\d+)-(\d+)(?![\d.])", answer):
        if int(end) == function.end and function.start - MAX_LEAD <= int(start) <= function.start:
            return True
    return False
