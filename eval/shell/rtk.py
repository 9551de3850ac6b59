"""The commands of a session through rtk: characters, and answers that are wrong.

rtk's hook puts `rtk` before the words of the command. Its `grep` and `find` have a form of their own (`rtk grep PATTERN PATH FLAGS`, `rtk
find PATTERN PATH`), which the words of most commands do not fit. Both are run: as its hook rewrites them, and, where one path and one
pattern allow it, in rtk's own form, which is what the characters are counted in. Its hook leaves commands behind `cd` alone; here each is
run in its directory, so that this does not count.

An answer is wrong if the exit status differs, if the number of matches, files or commits that it names differs from what the program
finds, if output for programs (-c, -l, -o, formats) is something else, or if files or commits are missing that are not counted.
"""

import re
import shlex

FORMS = {"grep": "grep", "rg": "grep", "find": "find", "tree": "tree", "ls": "ls"}
WITH_VALUE = {"-A", "-B", "-C", "-m", "-e", "-f", "-g", "-t", "--include", "--exclude", "--exclude-dir"}
MACHINE = re.compile(r"^(-[a-zA-Z]*[clLoqZ][a-zA-Z]*|--(count|files-with-matches|files-without-match|only-matching|quiet|json|null))$")


def behind(unit):
    return "".join(f" | {text}" for text in unit.filters)


def as_hooked(unit):
    """The line as rtk's hook writes it, or `None` if it leaves the command alone."""
    name, _, rest = unit.line.partition(" ")
    if name == "git" and re.match(r"(status|diff|log|show)(\s|$)", rest):
        return f"rtk {unit.line}"
    return f"rtk {FORMS[name]} {rest}" if name in FORMS else None


def in_own_form(unit):
    """The command in the form that rtk's help names, or `None` if it has no such form."""
    name, words = unit.words[0], unit.words[1:]
    if name in ("grep", "rg"):
        flags, plain, at = [], [], 0
        while at < len(words):
            word = words[at]
            if word in WITH_VALUE and at + 1 < len(words):
                flags += words[at : at + 2]
                at += 1
            elif word.startswith("-") and len(word) > 1:
                kept = word if word.startswith("--") else "-" + re.sub("[rRnEGH]", "", word[1:])
                if kept != "-":
                    flags.append(kept)
            else:
                plain.append(word)
            at += 1
        if not plain or len(plain) > 2 or "*" in plain[-1]:
            return None
        return "rtk grep " + shlex.join([plain[0], *(plain[1:] or ["."]), *flags]) + behind(unit)
    if name == "find":
        places = [word for word in words if not word.startswith(("-", "(", "!"))]
        tests = [word for word in words if word.startswith(("-", "(", "!"))]
        if tests == ["-name"] and len(places) == 2:
            return "rtk find " + shlex.join([places[1], places[0]]) + behind(unit)
        if sorted(tests) == ["-name", "-type"] and words[words.index("-type") + 1] == "f" and len(places) == 3:
            return "rtk find " + shlex.join([words[words.index("-name") + 1], places[0]]) + behind(unit)
        return None
    return as_hooked(unit)


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else None


def wrong(unit, raw, answer):
    """What is wrong with rtk's answer, or `None`."""
    if answer.status != raw.status:
        return "exit status"
    text, plain = answer.out.decode("utf-8", "replace"), raw.out.decode("utf-8", "replace")
    if text.strip() == plain.strip():
        return None
    lines = [line for line in plain.split("\n") if line]
    if unit.kind == "search":
        if any(MACHINE.match(word) for word in unit.words[1:]):
            return "output for programs"
        if any(re.match("wc|grep -c", text) for text in unit.filters):
            return "a count behind a filter"
        has_context = any(re.match(r"-[a-zA-Z]*[ABC]\d*$|-\d+$|--(after|before)?-?context", word) for word in unit.words[1:])
        if unit.filters or has_context:
            # Which lines are left depends on the form, so that only a search that finds nothing counts as wrong.
            return "nothing found" if lines and ("🔍 0 for" in text or not text.strip()) else None
        stated = number(r"🔍 (\d+)", text)
        return None if stated == len(lines) else "nothing found" if stated == 0 else "number of matches"
    if unit.kind == "list" and not unit.filters:
        stated = number(r"📁 (\d+)F", text) if "📁" in text else 0
        return None if unit.words[0] != "find" or stated == len(lines) else "number of files"
    if unit.program == "git log":
        if any(re.match(r"--(format|pretty|name-|stat|oneline|graph|numstat)|-p$|-s$", word) for word in unit.words):
            return None if len([line for line in text.split("\n") if line.strip()]) >= len(lines) else "commits or lines missing"
        commits = re.findall(r"^commit ([0-9a-f]{7})", plain, re.M)
        return "commits missing" if any(one not in text for one in commits) else None
    if unit.program in ("git diff", "git show"):
        if any(re.match(r"--(name-|format|pretty|numstat|raw)|-z$", word) for word in unit.words):
            return "output for programs"
        names = re.findall(r"^diff --git a/.* b/(.*)$", plain, re.M)
        return "files missing" if any(name.rpartition("/")[2] not in text for name in names) else None
    if unit.program == "git status":
        return "output for programs" if any(word.startswith(("-s", "--short", "--porcelain", "-z")) for word in unit.words) else None
    return None
