"""Commands of a session that only read, each with its pipeline, run as they are and through docent.

A command counts as one that only reads if its program and those behind it are listed here, with no flag that runs or writes something,
and if nothing in it has to be expanded but globs. All others are left out. The reads `cat`, `sed -n`, `head` and `tail` are run too,
because the agent reads what they print.
"""

import collections
import os
import pathlib
import re
import shlex
import subprocess

import find_lines
import git_lines
import search_lines
from commands import commands, kind_of, parser

FILTERS = {"head", "tail", "grep", "egrep", "fgrep", "sort", "uniq", "wc", "cut", "cat", "tr", "nl", "sed"}
EXPANSIONS = {"command_substitution", "process_substitution", "simple_expansion", "expansion", "arithmetic_expansion", "herestring_redirect", "heredoc_redirect"}
WRITES = {"find": ("-exec", "-ok", "-delete", "-fprint", "-fls"), "sort": ("-o", "--output", "--compress"), "git": ("--output", "--ext-diff", "-O"), "rg": ("--pre",), "fd": ("-x", "-X", "--exec"), "tree": ("-o",)}
SELECTS = re.compile(r"^[\d,$;/p\s]*$")
MAX_SECONDS = 20

Unit = collections.namedtuple("Unit", "kind program words line directory filters")
Outcome = collections.namedtuple("Outcome", "status out err")


def only_reads(words):
    name = words[0] if words else ""
    if any(word.startswith(flag) for flag in WRITES.get(name, ()) for word in words[1:]):
        return False
    if name == "sed":
        rest = [word for word in words[1:] if not word.startswith("-")]
        return "-n" in words and not any(word.startswith("-i") for word in words) and bool(rest) and bool(SELECTS.match(rest[0]))
    return True


def has_expansion(line):
    nodes = [parser().parse(line.encode("utf-8", "surrogatepass")).root_node]
    while nodes:
        node = nodes.pop()
        if node.type in EXPANSIONS or node.type == "ERROR":
            return True
        nodes += node.children
    return False


def units(line, directory):
    """The commands of a line that only read, with the directory that each runs in, and how many others read something."""
    found, others = [], 0
    known = True
    for one in commands(line):
        if one.program == "cd" and one.place == "reader":
            target = one.words[1] if len(one.words) == 2 else None
            known = known and target is not None and "$" not in target
            directory = os.path.normpath(os.path.join(directory, target)) if known else directory
            continue
        kind = kind_of(one.program)
        if not kind or one.place == "behind a pipe":
            continue
        behind = commands(one.pipeline)[1:]
        fits = (
            known
            and one.error_free
            and one.place == "reader"
            and only_reads(one.words)
            and all(each.words and each.words[0] in FILTERS and only_reads(each.words) for each in behind)
            and all(re.fullmatch(r"2>\s*(/dev/null|&1)", text) for each in [one, *behind] for text in each.redirects)
            and not has_expansion(one.pipeline)
            and os.path.isdir(directory)
        )
        if fits:
            found.append(Unit(kind, one.program, one.words, one.pipeline, directory, one.filters))
        else:
            others += 1
    return found, others


class Runner:
    """Runs lines in a directory, with the environment of an agent's shell."""

    def __init__(self, work, docent, rtk=None):
        binaries = work / "bin"
        binaries.mkdir(parents=True, exist_ok=True)
        for name, target in (("docent", docent), ("rtk", rtk)):
            if target:
                (binaries / name).unlink(missing_ok=True)
                (binaries / name).symlink_to(pathlib.Path(target).resolve())
        self.docent = str(binaries / "docent")
        self.environment = {
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "HOME": str(work / "home"),
            "LC_ALL": "C.UTF-8",
            "GIT_PAGER": "cat",
            "GIT_CONFIG_NOSYSTEM": "1",
            "DOCENT_HOOK_READ": "outline",
        }

    def run(self, line, directory, given=None):
        try:
            # An empty pipe as standard input would be what rg searches.
            source = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
            done = subprocess.run(["bash", "-c", line], cwd=directory, env=self.environment, capture_output=True, timeout=MAX_SECONDS, **source)
        except subprocess.TimeoutExpired:
            return None
        return Outcome(done.returncode, done.stdout, done.stderr)

    def is_cut(self, unit, raw):
        """Whether the filters of a command leave out some of its lines."""
        whole = self.run(shlex.join(unit.words), unit.directory) if unit.filters else raw
        return whole is None or whole.out != raw.out

    def rewrite(self, unit):
        done = subprocess.run([self.docent, "rewrite", "--", unit.line], cwd=unit.directory, env=self.environment, capture_output=True, text=True)
        return done.stdout.removesuffix("\n") if done.returncode == 0 else None


def characters(outcome):
    return len((outcome.out + outcome.err).decode("utf-8", "replace"))


def chooses_lines(filters):
    """Whether filters take a part of the lines by their place, which the order of a parallel walk changes."""
    return any(re.match(r"(head|tail|sed|uniq)\b", text) for text in filters)


def compare(unit, raw, plain, short, is_cut):
    """How docent's two answers differ from the program's, or `None`. `is_cut` says that filters left out some of its lines."""
    for name, other in (("plain", plain), ("short", short)):
        if other.status != raw.status:
            return f"{name}: status {other.status} instead of {raw.status}: {other.err.decode(errors='replace')[:200]}"
    # `--plain` is for searches; git and lists are compared as they are shown.
    if unit.kind == "search" and (difference := compare_plain(unit, raw, plain)):
        return difference
    if short.out == raw.out or not raw.out and short.out.startswith(b"nothing found; "):
        return None
    if len(short.out.decode("utf-8", "replace")) > len(raw.out.decode("utf-8", "replace")) and len(raw.out) > 300 and unit.kind != "search":
        return f"short: {len(short.out)} bytes instead of {len(raw.out)}"
    return compare_short(unit, raw.out, short.out, is_cut)


def compare_plain(unit, raw, plain):
    if raw.out == plain.out:
        return None
    hidden = search_lines.hidden_lines(raw.out, unit.line)
    wanted, got = [line for line in raw.out.split(b"\n") if line not in hidden], plain.out.split(b"\n")
    if unit.program in ("rg", "ag"):
        if chooses_lines(unit.filters):
            return None if len(wanted) == len(got) or hidden else f"plain: {len(got)} lines instead of {len(wanted)}"
        wanted, got = sorted(one for one in wanted if one != b"--"), sorted(one for one in got if one != b"--")
    if wanted == got:
        return None
    return "plain: " + search_lines.difference(wanted, got)


def compare_short(unit, raw, short, is_cut):
    if unit.program in ("rg", "ag") and chooses_lines(unit.filters):
        return None  # The order of their lines is another one each time.
    if unit.kind == "search":
        outcome = search_lines.compare_shortened(raw, short, unit.line)
        return None if outcome == "same" else outcome
    if unit.kind == "git":
        words = [word for word in unit.words[1:] if word not in ("-C",)]
        try:
            git_lines.check(raw.decode("utf-8", "replace"), short.decode("utf-8", "replace"), words, is_cut)
        except (git_lines.Deviation, ValueError, IndexError) as error:
            return f"short: {error!r}"
        return None
    if unit.program in ("tree", "ls -R") or chooses_lines(unit.filters) and unit.program != "find":
        return None
    entries = collections.Counter(find_lines.normal(line) for line in raw.removesuffix(b"\n").split(b"\n"))
    try:
        deviation = find_lines.check_counts(entries, short.decode("utf-8", "replace"))
    except (AssertionError, IndexError, ValueError) as error:
        deviation = f"unreadable: {error!r}"
    return f"short: {deviation}" if deviation else None

