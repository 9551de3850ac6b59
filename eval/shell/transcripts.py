"""Public sessions of coding agents, whole: shell lines, native searches, reads and edits with what they gave.

eval/agent/sessions.py reads the same sources for searches and reads only; its parts are used here. Sources, as bare mirrors:

- piyushhhxyz/vorflux-swe-benchmarks: 500 tasks of SWE-bench Verified, a model in a harness, the commit named in the prompt;
- entireio/cli: Claude Code, each session tied to commits of the same repository;
- ISO-Bench/ISO-Bench: Trae with several models on vLLM and SGLang, the commit in the journal of the run.

Left out: calls without a result, and sessions whose commit or folder is not known.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agent"))

from sessions import CHECKOUT, CHECKPOINTS, CLONE, TRAJECTORIES, relative, text_of
from tasks import git, mirror_of

Session = collections.namedtuple("Session", "source id repo commits root calls")
# `folder` is the directory that a line runs in, `path` is relative to the project and `None` outside of it.
Shell = collections.namedtuple("Shell", "number line folder text")
Search = collections.namedtuple("Search", "number text")
Read = collections.namedtuple("Read", "number path start end is_whole text")
Edit = collections.namedtuple("Edit", "number path old new content")

FOLDER = re.compile(r"repository in the directory (/\S+?)\.?\s")
RUNS = {"vllm": "vllm-project/vllm", "sglang": "sgl-project/sglang", "sglan": "sgl-project/sglang"}
TO_END = 1 << 30


class Objects:
    """Files of a bare repository by one process."""

    def __init__(self, mirror):
        self.process = subprocess.Popen(["git", "-C", mirror, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def text(self, name):
        """The text of `COMMIT:PATH`, or `None` if the mirror lacks it."""
        self.process.stdin.write(name.encode() + b"\n")
        self.process.stdin.flush()
        header = self.process.stdout.readline().split()
        if len(header) != 3:
            return None
        body = self.process.stdout.read(int(header[2]) + 1)
        return body[:-1].decode("utf-8", "replace")


def read_of(number, given, root, text):
    """The call of a reading tool: Claude Code's Read, or one with the same arguments."""
    start = int(given.get("offset") or 1)
    limit = given.get("limit")
    path = relative(given.get("file_path") or given.get("filePath") or "", root, root)
    return Read(number, path, start, start + int(limit) - 1 if limit else TO_END, not limit and start == 1, text)


def vorflux_session(name, raw):
    try:
        calls = json.loads(raw)["trajectory"]
    except (ValueError, KeyError):
        return None
    prompt = json.dumps(calls[0].get("task_prompt", "")).replace("\\\\", "\\") if calls else ""
    commit, clone = CHECKOUT.search(prompt), CLONE.search(prompt)
    if not commit or not clone:
        return None
    root, found = clone[2], []
    for number, one in enumerate(entry for entry in calls if entry["type"] == "tool_call"):
        given, text = one["arguments"], text_of(one["result"])
        if not isinstance(given, dict):
            continue
        path = lambda: relative(given.get("filePath", ""), root, root)
        match one["tool"]:
            case "bash_execute":
                found.append(Shell(number, given.get("command", ""), given.get("working_dir") or root, text))
            case "grep_search" | "search_files":
                found.append(Search(number, text))
            case "read_text_file":
                found.append(read_of(number, given, root, text))
            case "edit_file":
                found.append(Edit(number, path(), given.get("old_string"), given.get("new_string"), None))
            case "write_file":
                found.append(Edit(number, path(), None, None, given.get("content")))
    return Session("vorflux", name, clone[1], [commit[1]], root, found)


def vorflux(mirror):
    objects = Objects(mirror)
    for path in git(mirror, "ls-tree", "--name-only", "HEAD", TRAJECTORIES + "/").split():
        if path.endswith(".json") and (raw := objects.text(f"HEAD:{path}")):
            if session := vorflux_session(path.rpartition("/")[2][:-5], raw):
                yield session


def claude_calls(raw):
    """The calls of a transcript of Claude Code, and the folder that it began in."""
    begun, found, root, number = {}, [], None, 0
    for line in raw.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        root = root or entry.get("cwd")
        content = (entry.get("message") or {}).get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "tool_use":
                begun[part["id"]] = (part["name"], part["input"], entry.get("cwd") or root)
            elif part.get("type") == "tool_result" and part.get("tool_use_id") in begun:
                name, given, folder = begun.pop(part["tool_use_id"])
                if event := claude_call(number, name, given, (folder, root), text_of(part.get("content", ""))):
                    found.append(event)
                number += 1
    return root, found


def claude_call(number, name, given, places, text):
    folder, root = places
    path = relative(given.get("file_path", ""), root, root) if isinstance(given, dict) and root else None
    match name:
        case "Bash":
            return Shell(number, given.get("command", ""), folder, text)
        case "Grep" | "Glob" | "LS":
            return Search(number, text)
        case "Read":
            return read_of(number, given, root, text)
        case "Edit":
            return Edit(number, path, given.get("old_string"), given.get("new_string"), None)
        case "Write":
            return Edit(number, path, None, None, given.get("content"))
    return None


def entire(mirror):
    """The longest stored transcript of each session."""
    form = "%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)"
    commits = collections.defaultdict(list)
    for line in git(mirror, "log", "--all", f"--format={form}").splitlines():
        commit, _, ids = line.partition(" ")
        for one in ids.split(","):
            if one.strip():
                commits[one.strip()].append(commit)
    sessions, objects = {}, Objects(mirror)
    for path in git(mirror, "ls-tree", "-r", "--name-only", CHECKPOINTS).split():
        folder, _, name = path.rpartition("/")
        if name != "full.jsonl":
            continue
        raw = objects.text(f"{CHECKPOINTS}:{path}")
        if not raw:
            continue
        session = re.search(r'"sessionId":"([\w-]+)"', raw)
        kept = sessions.setdefault(session[1] if session else folder, {"raw": "", "commits": []})
        kept["commits"] += commits["".join(folder.split("/")[:2])]
        if len(raw) > len(kept["raw"]):
            kept["raw"] = raw
    for name, kept in sorted(sessions.items()):
        root, calls = claude_calls(kept["raw"])
        if root and calls:
            yield Session("entire", name, "entireio/cli", [f"{one}^" for one in dict.fromkeys(kept["commits"])], root, calls)


def trae_call(number, name, given, folder, root, text):
    path = relative(given.get("path", ""), root, root)
    if name == "bash":
        return Shell(number, given.get("command") or "", folder, text)
    if name != "str_replace_based_edit_tool":
        return None
    match given.get("command"):
        case "view":
            span = given.get("view_range") or [1, -1]
            start, end = (int(span[0]), int(span[-1])) if span else (1, -1)
            return Read(number, path, start, TO_END if end == -1 else end, end == -1 and start <= 1, text)
        case "create":
            return Edit(number, path, None, None, given.get("file_text"))
        case "str_replace":
            return Edit(number, path, given.get("old_str"), given.get("new_str"), None)
    return None


CHANGES_FOLDER = re.compile(r"(?:^|&&|;|\n)\s*cd\s+([^\s;&|]+)")


def trae_session(name, repo, commit, raw):
    try:
        whole = json.loads(raw)
    except ValueError:
        return None
    place = FOLDER.search(whole.get("task", "") + " ")
    if not place:
        return None
    root = folder = place[1]
    found, number = [], 0
    for step in whole.get("agent_steps") or ():
        results = {one.get("call_id"): one for one in step.get("tool_results") or ()}
        for call in step.get("tool_calls") or ():
            given, result = call.get("arguments"), results.get(call.get("call_id"))
            number += 1
            if not isinstance(given, dict) or not result:
                continue
            text = (result.get("result") or "") + (result.get("error") or "")
            if event := trae_call(number, call["name"], given, folder, root, text):
                found.append(event)
            # The shell of this client lives on from call to call.
            if isinstance(found[-1] if found else None, Shell) and (steps := CHANGES_FOLDER.findall(given.get("command") or "")):
                folder = os.path.join(folder, steps[-1].strip("\"'"))
    return Session("iso-bench", name, repo, [commit], root, found) if found else None


def iso_bench(mirror):
    objects = Objects(mirror)
    paths = git(mirror, "ls-tree", "-r", "--name-only", "HEAD", "ISO-Bench/state/runs/").split("\n")
    for path in sorted(paths):
        if not path.endswith("/trajectory.json"):
            continue
        folder = path.rpartition("/")[0]
        try:
            commit = json.loads(objects.text(f"HEAD:{folder}/journal.json") or "{}")["commits"]["pre"]
        except (ValueError, KeyError, TypeError):
            continue
        repo = RUNS.get(path.split("/")[3])
        if repo and (session := trae_session(folder, repo, commit, objects.text(f"HEAD:{path}") or "")):
            yield session


SOURCES = {
    "vorflux": ("piyushhhxyz/vorflux-swe-benchmarks", vorflux),
    "entire": ("entireio/cli", entire),
    "iso-bench": ("ISO-Bench/ISO-Bench", iso_bench),
}


def all_sessions(mirrors, sources=tuple(SOURCES)):
    for name in sources:
        repository, load = SOURCES[name]
        mirror = mirror_of(mirrors, repository)
        if mirror.exists():
            yield from load(str(mirror))
        else:
            print(f"{name}: no mirror {mirror}", file=sys.stderr)
