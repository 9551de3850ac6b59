"""Public sessions replayed at their commits: each command that only reads, as it is, through docent and through rtk.

    python3 eval/shell/replay.py run MIRRORS WORK --docent DOCENT [--rtk RTK] [--sessions N] [--jobs N]
    python3 eval/shell/replay.py report WORK
    python3 eval/shell/replay.py deviations WORK        # with the commands; for the reader, never for the repository

`run` draws sessions with a fixed seed, checks out the project of each at its commit, and goes through its calls in order. Edits by the
client's own tools are applied, so that `git diff` has something to show; changes by shell commands are not. Searches, lists, questions
to git, and the reads `cat`, `sed -n`, `head` and `tail` are run again if they only read (units.py), lie in the project, and are done in
20 seconds. All others keep the characters that the session has, on both sides. A command that `docent rewrite` leaves alone costs what
it costs. For a session of several commits the one is taken whose files fit most of what the session read.

A search and a read are a pair if the read follows within two calls, reads a file that the search printed, around a printed line inside of
a function (by tree-sitter's published grammars). The read is saved where docent's answer shows every line of that function.

The Read hook is asked as Claude Code asks it, for every first read of a whole file. It costs the head, the outline, a range of 200 lines
if the session edits the file later, and the whole file where the session reads it again, which is the second read.

WORK/rows.jsonl has a line for each command, and is no part of the repository.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import subprocess
import time

import rtk
from commands import kind_of, commands
from definitions_of import enclosing_function, is_shown, names_range
from report import report, show_deviations
from share import is_outside
from tasks import mirror_of
from transcripts import SOURCES, Edit, Read, Search, Shell, all_sessions
from units import MAX_SECONDS, Runner, characters, compare, units

PRINTED = re.compile(r"^(?:(?P<path>[^\s:]+?\.\w+):)?(?P<line>\d+):")
SPAN = re.compile(r"^(\d+),(\d+)p$")
LINES_READ_TO_EDIT = 200
TO_END = 1 << 30


class Checkout:
    """One working copy for each project, moved from commit to commit."""

    def __init__(self, mirrors, folder, repo):
        self.root = folder / repo.rpartition("/")[2]
        self.mirror = mirror_of(mirrors, repo).resolve()
        if not self.root.exists():
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", self.mirror, self.root], check=True)

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, *words], capture_output=True, text=True, errors="replace")

    def move_to(self, session):
        """Checks out the commit that fits best. False if the mirror has none."""
        commits = [one for one in session.commits if self.git("rev-parse", "-q", "--verify", f"{one}^{{commit}}").returncode == 0]
        if not commits:
            return False
        best = max(commits[:8], key=lambda commit: self.fit(session, commit)) if len(commits) > 1 else commits[0]
        self.git("clean", "-fdxq")
        return self.git("checkout", "-q", "-f", "-B", "fix", best).returncode == 0

    def fit(self, session, commit):
        """How many lines of the session's first reads the files of a commit have."""
        reads = [call for call in session.calls if isinstance(call, Read) and call.path][:6]
        fitting = 0
        for read in reads:
            lines = set(self.git("show", f"{commit}:{read.path}").stdout.split("\n"))
            shown = re.findall(r"^ *\d+[\t→](.*)$", read.text, re.M)
            fitting += sum(line in lines for line in shown if len(line) > 10)
        return fitting


def apply_edit(root, edit):
    if not edit.path:
        return
    file = root / edit.path
    try:
        if edit.content is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(edit.content, "utf-8")
        elif edit.old and edit.new is not None:
            text = file.read_text("utf-8")
            if edit.old in text:
                file.write_text(text.replace(edit.old, edit.new, 1), "utf-8")
    except (OSError, UnicodeDecodeError):
        return  # The file is not there as the session has it.


class Replay:
    """One session in one checkout."""

    def __init__(self, session, root, runner, has_rtk):
        self.session, self.root, self.runner, self.has_rtk = session, root, runner, has_rtk
        self.rows, self.searches, self.read_whole = [], [], set()
        self.edited_later = self.last_edits()
        # Unlike that of any earlier run, because the hook remembers what a session has read.
        self.name = f"{session.id} {time.time_ns()}"

    def last_edits(self):
        last = {}
        for call in self.session.calls:
            if isinstance(call, Edit) and call.path:
                last[call.path] = call.number
        return last

    def run(self):
        for call in self.session.calls:
            match call:
                case Edit():
                    apply_edit(self.root, call)
                case Search():
                    self.add("tool search", call.number, len(call.text))
                case Read():
                    self.read(call)
                case Shell():
                    self.shell(call)
        return self.rows

    def add(self, kind, number, raw, **more):
        row = {"session": self.session.id, "source": self.session.source, "repo": self.session.repo, "kind": kind, "number": number, "raw": raw, **more}
        self.rows.append(row)
        return row

    def read(self, call):
        row = self.add("tool read", call.number, len(call.text))
        self.pair(row, call.number, call.path, call.start, call.end)
        if not call.is_whole or not call.path or call.path in self.read_whole:
            return
        self.read_whole.add(call.path)
        file = self.root / call.path
        answer = self.hook("Read", {"file_path": str(file)})
        if not answer or not answer.out.strip():
            return
        output = json.loads(answer.out)["hookSpecificOutput"]
        lines = call.text.splitlines(keepends=True)
        shown = sum(map(len, lines[: output["updatedInput"]["limit"]])) + len(output.get("additionalContext", ""))
        if self.edited_later.get(call.path, -1) > call.number:
            shown += len(call.text) * LINES_READ_TO_EDIT // max(len(lines), 1)
        row["hooked"] = min(shown, len(call.text)) if shown else 0

    def hook(self, tool, given):
        """Asks the hook as Claude Code does before a tool."""
        event = {"hook_event_name": "PreToolUse", "tool_name": tool, "cwd": str(self.root), "session_id": self.name, "tool_input": given}
        return self.runner.run("docent hook claude", self.root, json.dumps(event).encode())

    def shell(self, call):
        line = self.here(call.line)
        folder = self.here(call.folder)
        if not pathlib.Path(folder).is_dir():
            folder = str(self.root)
        found, others = units(line, folder)
        inside = [one for one in found if not is_outside(one, one.directory, self.root) and pathlib.Path(one.directory).is_relative_to(self.root)]
        if not inside:
            if found or others:
                first = next(kind_of(one.program) for one in commands(call.line) if kind_of(one.program))
                self.add("not replayed", call.number, len(call.text), of=first)
            return
        for unit in inside:
            self.unit(call.number, unit)

    def here(self, text):
        return re.sub(re.escape(self.session.root) + r"(?![\w.-])", str(self.root), text)

    def unit(self, number, unit):
        raw = self.runner.run(unit.line, unit.directory)
        if raw is None:
            return
        if unit.kind == "read":
            row = self.add("shell read", number, characters(raw), program=unit.program)
            path, start, end = self.span(unit)
            self.pair(row, number, path, start, end)
            return
        row = self.add(unit.kind, number, characters(raw), program=unit.program, command=unit.line, filters=len(unit.filters))
        rewritten = self.runner.rewrite(unit)
        answer = raw
        if rewritten is not None:
            plain = self.runner.run(re.sub(r"^docent sh ", "docent sh --plain ", rewritten), unit.directory)
            answer = self.runner.run(rewritten, unit.directory)
            if plain is None or answer is None:
                row["deviation"] = f"docent takes longer than {MAX_SECONDS} seconds"
                answer = raw
            else:
                row["deviation"] = compare(unit, raw, plain, answer, self.runner.is_cut(unit, raw))
            row["docent"] = characters(answer)
        if self.has_rtk:
            self.rival(unit, raw, row)
        if unit.kind == "search":
            # The hook remembers the names that are searched for, for outlines.
            self.hook("Bash", {"command": unit.line})
            self.searches.append((row, raw.out.decode("utf-8", "replace"), answer.out.decode("utf-8", "replace"), unit))

    def rival(self, unit, raw, row):
        hooked, own = rtk.as_hooked(unit), rtk.in_own_form(unit)
        if hooked:
            answer = self.runner.run(hooked, unit.directory)
            row["rtk_hooked_wrong"] = rtk.wrong(unit, raw, answer) if answer else "time"
        if own and (answer := self.runner.run(own, unit.directory)):
            row["rtk"], row["rtk_wrong"] = characters(answer), rtk.wrong(unit, raw, answer)

    def span(self, unit):
        """The file and lines that a reading command prints."""
        words = [word for word in unit.words[1:] if not word.startswith("-")]
        if unit.program == "sed -n" and len(words) == 2 and (found := SPAN.match(words[0])):
            return self.relative(unit, words[1]), int(found[1]), int(found[2])
        if unit.program == "cat" and len(words) == 1 and not unit.filters:
            return self.relative(unit, words[0]), 1, TO_END
        return None, 0, 0

    def relative(self, unit, path):
        full = pathlib.Path(unit.directory, path).resolve()
        return str(full.relative_to(self.root)) if full.is_relative_to(self.root) else None

    def pair(self, row, number, path, start, end):
        """Marks a read that follows a search of the two calls before, and whether docent's answer has the function."""
        if not path:
            return
        for search, raw, answer, unit in reversed(self.searches):
            if search["number"] < number - 2 or "pair" in search:
                continue
            hits = [line for printed, line in self.printed(raw, unit) if printed == path and start <= line <= end]
            function = enclosing_function(self.root / path, hits[0]) if hits else None
            if function:
                search["pair"] = row["raw"]
                lines = (self.root / path).read_text("utf-8", "replace").split("\n")
                first, last = max(start, function.start), min(end, function.end)
                search["part"] = sum(len(line) + 1 for line in lines[first - 1 : last])
                is_whole = is_shown(lines, function, answer)
                search["held"] = "whole" if is_whole else "range" if names_range(function, answer) else "no"
                row["saved"] = is_whole and "docent" in search
                return

    def printed(self, raw, unit):
        operands = [word for word in unit.words[2:] if not word.startswith("-")]
        only = self.relative(unit, operands[-1]) if operands else None
        for line in raw.splitlines():
            if found := PRINTED.match(line):
                yield (self.relative(unit, found["path"]) if found["path"] else only), int(found["line"])


def draw(sessions, count, skip):
    """Sessions of each source in turn, drawn with a fixed seed, of those that have something to replay."""
    by_source = collections.defaultdict(list)
    for session in sessions:
        if session.commits and any(isinstance(call, Shell) and units(call.line, "/")[0] for call in session.calls):
            by_source[session.source].append(session)
    for group in by_source.values():
        group.sort(key=lambda session: session.id)
        random.Random(25).shuffle(group)
    drawn = [session for group in by_source.values() for session in group[skip : skip + count // len(by_source)]]
    return drawn


def run(args):
    args.work.mkdir(parents=True, exist_ok=True)
    work = args.work.resolve()
    sessions = draw((one for one in all_sessions(args.mirrors) if mirror_of(args.mirrors, one.repo).exists()), args.sessions, args.skip)
    jobs = collections.defaultdict(list)
    groups = collections.defaultdict(list)
    for session in sessions:
        groups[session.repo].append(session)
    for repo, group in sorted(groups.items(), key=lambda one: -len(one[1])):
        min((jobs[at] for at in range(args.jobs)), key=len).extend(sorted(group, key=lambda one: one.commits[0]))
    with open(args.work / "rows.jsonl", "w", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda at: run_job(args, work, jobs[at], at, out), range(args.jobs)))
    report(args.work)


def run_job(args, work, sessions, at, out):
    started, checkouts = time.monotonic(), {}
    runner = Runner(work / f"job{at}", args.docent, args.rtk)
    for session in sessions:
        if time.monotonic() - started > args.minutes * 60:
            print(f"job {at}: the time is over")
            break
        folder = work / f"trees{at}"
        folder.mkdir(exist_ok=True)
        if session.repo not in checkouts:
            checkouts[session.repo] = Checkout(args.mirrors, folder, session.repo)
        checkout = checkouts[session.repo]
        if not checkout.move_to(session):
            print(f"{session.id}: the mirror lacks its commit")
            continue
        rows = Replay(session, checkout.root, runner, bool(args.rtk)).run()
        out.write("".join(json.dumps(row) + "\n" for row in rows))
        out.flush()
    for checkout in checkouts.values():
        shutil.rmtree(checkout.root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="what", required=True)
    running = kinds.add_parser("run")
    running.add_argument("mirrors", type=pathlib.Path)
    running.add_argument("work", type=pathlib.Path)
    running.add_argument("--docent", required=True)
    running.add_argument("--rtk")
    running.add_argument("--sessions", type=int, default=180)
    running.add_argument("--skip", type=int, default=0, help="leaves out the first of each source")
    running.add_argument("--jobs", type=int, default=2)
    running.add_argument("--minutes", type=int, default=60)
    for name in ("report", "deviations"):
        kinds.add_parser(name).add_argument("work", type=pathlib.Path)
    args = parser.parse_args()
    {"run": run, "report": lambda given: report(given.work), "deviations": lambda given: show_deviations(given.work)}[args.what](args)


if __name__ == "__main__":
    main()
