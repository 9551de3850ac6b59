"""Public sessions of coding agents as searches, reads and edits: what reads.py replays.

Two sources, as bare mirrors: piyushhhxyz/vorflux-swe-benchmarks (trajectories that name the commit they start from) and entireio/cli
(sessions of Claude Code on a branch, each tied to a commit of the same repository). Commands that are more than one search are left out.
"""

import collections
import json
import os
import re
import shlex
import subprocess

from tasks import git

Session = collections.namedtuple("Session", "source id repo commits events")
Search = collections.namedtuple("Search", "number pattern paths globs ignore_case fixed before after text named")
Read = collections.namedtuple("Read", "number path start end text")
Edit = collections.namedtuple("Edit", "number path")

TRAJECTORIES = "evaluation/verified/20250519_vorflux_opus46-code_gpt55h-review/trajs"
CHECKPOINTS = "entire/checkpoints/v1"
CHECKOUT = re.compile(r"git checkout -B fix ([0-9a-f]{40})")
CLONE = re.compile(r"github\.com/([\w.-]+/[\w.-]+?)\.git (/\S+?);")
SED = re.compile(r"^(\d+),(\d+)p$")


def perl_of(basic):
    """A basic regular expression of grep in the dialect of ripgrep."""
    out, at = [], 0
    while at < len(basic):
        pair = basic[at : at + 2]
        if pair in (r"\|", r"\(", r"\)", r"\{", r"\}", r"\+", r"\?"):
            out.append(pair[1])
            at += 2
        elif basic[at] == "\\":
            out.append(pair)
            at += 2
        else:
            out.append("\\" + basic[at] if basic[at] in "|(){}+?" else basic[at])
            at += 1
    return "".join(out)


def relative(path, folder, root):
    """A path of the session relative to the project, or `None` outside of it."""
    path = os.path.normpath(os.path.join(folder, path))
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(root + "/") else None


def commands(line, folder):
    """The simple commands of a line with the folder they run in, or nothing if it is more than `cd` and pipelines."""
    line = re.sub(r"\s*2>\s*(/dev/null|&1)", "", line.strip())
    if "\n" in line or "$(" in line or "`" in line:
        return None
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return None
    lists, current = [], []
    for word in words:
        if word in ("&&", ";"):
            lists.append(current)
            current = []
        elif word in ("||", "&", ">", ">>", "<"):
            return None
        else:
            current.append(word)
    lists.append(current)
    while len(lists) > 1 and lists[0][:1] == ["cd"] and len(lists[0]) == 2:
        folder = os.path.join(folder, lists.pop(0)[1])
    if len(lists) != 1 or not lists[0]:
        return None
    stages = [[]]
    for word in lists[0]:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return folder, stages


def search_of(stages, folder, root):
    """Pattern, paths, globs and flags of a `grep` or `rg` whose pipeline only shortens it."""
    program, *words = stages[0] or [""]
    if program not in ("grep", "egrep", "rg") or any(stage[:1] not in (["head"], ["sort"]) for stage in stages[1:]):
        return None
    given = {"globs": [], "ignore": False, "fixed": False, "extended": program != "grep", "before": 0, "after": 0, "named": True}
    plain, at = [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--include"):
            glob = word.partition("=")[2]
            if not glob:
                return None
            given["globs"].append(glob)
        elif word in ("-A", "-B", "-C", "-g", "-e", "-t", "-m") or word.startswith("--") and word not in ("--", "--line-number"):
            if word not in ("-A", "-B", "-C", "-g") or at >= len(words):
                return None
            value = words[at]
            at += 1
            if word == "-g":
                given["globs"].append(value)
            elif not value.isdigit():
                return None
            else:
                given["before"] = max(given["before"], int(value) if word in ("-B", "-C") else 0)
                given["after"] = max(given["after"], int(value) if word in ("-A", "-C") else 0)
        elif found := re.fullmatch(r"-([ABC])(\d+)", word):
            given["before"] = max(given["before"], int(found[2]) if found[1] in "BC" else 0)
            given["after"] = max(given["after"], int(found[2]) if found[1] in "AC" else 0)
        elif re.fullmatch(r"-[a-zA-Z]+", word):
            if set(word[1:]) - set("rRnHiEFISs"):
                return None
            given["ignore"] |= "i" in word
            given["fixed"] |= "F" in word
            given["extended"] |= "E" in word
        elif word not in ("--", "--line-number"):
            plain.append(word)
    if not plain or any(relative(path, folder, root) is None or "*" in path for path in plain[1:]):
        return None
    pattern = plain[0] if given["extended"] or given["fixed"] else perl_of(plain[0])
    paths = [relative(path, folder, root) for path in plain[1:]] or [relative(".", folder, root)]
    return None if None in paths else {**given, "pattern": pattern, "paths": paths}


def shell_event(number, line, text, folder, root):
    parsed = commands(line, folder)
    if not parsed:
        return None
    folder, stages = parsed
    if found := search_of(stages, folder, root):
        return Search(number, found["pattern"], found["paths"], found["globs"], found["ignore"], found["fixed"], found["before"], found["after"], text, folder)
    if len(stages) != 1:
        return None
    program, *words = stages[0]
    if program == "sed" and len(words) == 3 and words[0] == "-n" and (span := SED.match(words[1])):
        path = relative(words[2], folder, root)
        return Read(number, path, int(span[1]), int(span[2]), text) if path else None
    if program == "cat" and len(words) == 1:
        path = relative(words[0], folder, root)
        return Read(number, path, 1, 1 << 30, text) if path else None
    return None


def tool_search(number, given, text, root):
    """A search by a tool with the arguments of Claude Code's Grep, or names near them."""
    if given.get("outputMode", given.get("output_mode", "files_with_matches")) != "content" or given.get("multiline"):
        return None
    path = relative(given.get("dirPath") or given.get("path") or root, root, root)
    if path is None or given.get("type"):
        return None
    both = int(given.get("-C") or given.get("C") or 0)
    globs = [given["glob"]] if given.get("glob") else []
    before, after = max(both, int(given.get("-B") or 0)), max(both, int(given.get("-A") or 0))
    return Search(number, given["pattern"], [path], globs, bool(given.get("-i")), False, before, after, text, root)


def tool_read(number, path, given, text, root):
    path = relative(path, root, root)
    start = int(given.get("offset") or 1)
    return Read(number, path, start, start + int(given.get("limit") or 2000) - 1, text) if path else None


def text_of(result):
    if isinstance(result, dict):
        return result.get("stdout") or result.get("content") or ""
    if isinstance(result, list):
        return "\n".join(one.get("text", "") for one in result if isinstance(one, dict))
    return str(result)


def trajectory(name, raw):
    whole = json.loads(raw)
    if not whole["trajectory"]:
        return None
    prompt = json.dumps(whole["trajectory"][0].get("task_prompt", "")).replace("\\\\", "\\")
    commit, clone = CHECKOUT.search(prompt), CLONE.search(prompt)
    if not commit or not clone:
        return None
    repo, root = clone[1], clone[2]
    events = []
    for number, one in enumerate(entry for entry in whole["trajectory"] if entry["type"] == "tool_call"):
        given, text, event = one["arguments"], text_of(one["result"]), None
        if not isinstance(given, dict):
            continue
        if one["tool"] == "bash_execute":
            event = shell_event(number, given.get("command", ""), text, root, root)
        elif one["tool"] == "grep_search":
            event = tool_search(number, given, text, root)
        elif one["tool"] == "read_text_file":
            event = tool_read(number, given["filePath"], given, text, root)
        elif one["tool"] in ("edit_file", "write_file"):
            event = Edit(number, relative(given.get("filePath", ""), root, root))
        if event:
            events.append(event)
    return Session("vorflux", name, repo, [commit[1]], events)


def vorflux(mirror):
    for path in git(mirror, "ls-tree", "--name-only", "HEAD", TRAJECTORIES + "/").split():
        if path.endswith(".json") and (found := trajectory(path.rpartition("/")[2][:-5], git(mirror, "show", f"HEAD:{path}"))):
            yield found


def transcript(raw):
    """Calls of a transcript of Claude Code with their results, and the folder it ran in."""
    calls, order, root = {}, [], None
    for line in raw.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        root = root or entry.get("cwd")
        content = (entry.get("message") or {}).get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "tool_use":
                calls[part["id"]] = [part["name"], part["input"], None]
                order.append(part["id"])
            elif part.get("type") == "tool_result" and part.get("tool_use_id") in calls:
                calls[part["tool_use_id"]][2] = text_of(part.get("content", ""))
    return root, [calls[one] for one in order if calls[one][2] is not None]


def entire(mirror):
    """The longest stored transcript of each session, with the parents of the commits that its checkpoints are tied to."""
    form = "%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)"
    commits = collections.defaultdict(list)
    for line in git(mirror, "log", "--all", f"--format={form}").splitlines():
        commit, _, ids = line.partition(" ")
        for one in ids.split(","):
            if one.strip():
                commits[one.strip()].append(commit)
    sessions = {}
    for path in git(mirror, "ls-tree", "-r", "--name-only", CHECKPOINTS).split():
        folder, _, name = path.rpartition("/")
        if name != "full.jsonl":
            continue
        checkpoint = "".join(folder.split("/")[:2])
        if checkpoint not in commits:
            continue
        try:
            raw = git(mirror, "show", f"{CHECKPOINTS}:{path}")
        except subprocess.CalledProcessError:
            continue  # The mirror lacks the largest files.
        session = re.search(r'"sessionId":"([\w-]+)"', raw)
        kept = sessions.setdefault(session[1] if session else folder, {"raw": "", "commits": []})
        kept["commits"] += commits[checkpoint]
        if len(raw) > len(kept["raw"]):
            kept["raw"] = raw
    for session, kept in sessions.items():
        root, calls = transcript(kept["raw"])
        if not root:
            continue
        events = []
        for number, (name, given, text) in enumerate(calls):
            event = None
            if name == "Bash":
                event = shell_event(number, given.get("command", ""), text, root, root)
            elif name == "Grep":
                event = tool_search(number, given, text, root)
            elif name == "Read":
                event = tool_read(number, given.get("file_path", ""), given, text, root)
            elif name in ("Edit", "Write", "MultiEdit"):
                event = Edit(number, relative(given.get("file_path", ""), root, root))
            if event:
                events.append(event)
        parents = list(dict.fromkeys(f"{commit}^" for commit in kept["commits"]))
        yield Session("entire", session, "entireio/cli", parents, events)
