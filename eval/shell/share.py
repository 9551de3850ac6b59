"""Share of real search, list and git lines that `docent rewrite` replaces, and why the others are left alone.

    python3 eval/shell/share.py MIRRORS WORK --docent DOCENT [--source NAME] [--examples FILE]

Reads all shell lines of the sessions in transcripts.py. A line counts for a kind if one of its commands is of that kind and reads
files: the first of its pipeline, wherever the pipeline stands. It counts as rewritten if none of these is left in the line that
`docent rewrite` prints. Lines whose searches all stand in loops, substitutions, functions or before `xargs`, `tee` or a file have to
stay as they are; they are counted too, and once more without them.

The projects of the sessions are not needed: WORK/project is an empty git project that stands for each of them. The session's folder
in a line is replaced by its path, and directories below it that a line changes to or begins in are made, so that a path which does not
exist there is no reason. Paths elsewhere stay as they are, and count as outside of the project.

`docent hook claude` with the same line says why a command was left alone. Reasons for which it has no words are found here: the grammar
does not understand the line, a command changes the meaning of others, a command runs in the background, or the place of the command.

Prints tables of counts only. --examples writes lines to a file outside of the repository.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess

from commands import commands, kind_of, parser
from transcripts import SOURCES, Shell, all_sessions

CHANGING = {"eval", "source", ".", "alias", "unalias", "set", "shopt", "exec", "trap", "enable", "pushd", "popd", "hash", "builtin", "unset"}
KINDS = ("search", "list", "git")
PER_REASON = 6
Verdict = collections.namedtuple("Verdict", "kind program is_rewritten reason has_to_stay is_outside")


class Project:
    """The project that stands for those of the sessions."""

    def __init__(self, work, docent):
        self.root, self.home = work / "project", work / "home"
        self.docent = str(pathlib.Path(docent).resolve())
        self.root.mkdir(parents=True, exist_ok=True)
        (work / "bin").mkdir(exist_ok=True)
        link = work / "bin" / "docent"
        link.unlink(missing_ok=True)
        link.symlink_to(self.docent)
        self.environment = {"PATH": f"{work}/bin:{os.environ['PATH']}", "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        if not (self.root / ".git").exists():
            self.git("init", "-q")
            self.git("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "empty")

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, *words], check=True, env=self.environment)

    def place(self, line, folder, root):
        """The line and its directory in this project. Makes the directories that it changes to."""
        mapped = re.sub(re.escape(root) + r"(?![\w.-])", str(self.root), line)
        directory = pathlib.Path(re.sub("^" + re.escape(root) + r"(?![\w.-])", str(self.root), folder))
        if not directory.is_relative_to(self.root):
            directory = self.root
        self.make(directory)
        at = directory
        for one in commands(mapped):
            if one.program == "cd" and len(one.words) == 2 and "$" not in one.words[1]:
                at = pathlib.Path(os.path.normpath(at / one.words[1]))
                self.make(at)
        return mapped, directory

    def make(self, directory):
        if directory.is_relative_to(self.root):
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError:
                pass  # The name is too long, or that of a file.

    def rewrite(self, line, directory):
        done = subprocess.run([self.docent, "rewrite", "--", line], cwd=directory, env=self.environment, capture_output=True, text=True)
        return done.stdout.removesuffix("\n") if done.returncode == 0 else None

    def reasons(self, line, directory, state):
        """Programs and reasons that the hook counts for a line."""
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(directory), "session_id": "s", "tool_input": {"command": line}}
        for log in state.glob("**/gain-1.log"):
            log.unlink()
        environment = {**self.environment, "XDG_STATE_HOME": str(state)}
        subprocess.run([self.docent, "hook", "claude"], input=json.dumps(event), cwd=directory, env=environment, capture_output=True, text=True)
        logged = [one.split("\t") for log in state.glob("**/gain-1.log") for one in log.read_text("utf-8").splitlines()]
        return [(one[2], one[4]) for one in logged if one[1] == "left"]


def files_read(line):
    """Commands of the three kinds that read files."""
    return [one for one in commands(line) if kind_of(one.program) in KINDS and one.place != "behind a pipe"]


def has_to_stay(command):
    """Whether the output goes to something else than the reader, or into a place that is never replaced."""
    if command.place != "reader":
        return command.place
    for text in command.filters:
        if re.match(r"(xargs|tee|while|wc)\b", text):
            return f"before {text.split()[0]}"
    if any(not re.fullmatch(r"2>\s*(/dev/null|&1)", one) for one in command.redirects):
        return "into a file"
    return None


def is_outside(command, directory, root):
    """Whether it names a path that does not lie in the session's project."""
    for at, word in enumerate(command.words[1:]):
        if kind_of(command.program) == "list" and at and word[:1] in "-(!":
            break
        if word.startswith("~") and len(word) > 1 and word[1] == "/":
            return True
        path = os.path.normpath(os.path.join(directory, word))
        if re.match(r"/[\w.-]|\.\.(/|$)|/$", word) and path != str(root) and not path.startswith(f"{root}/"):
            return True
    return False


def own_reason(line, command):
    """Why a command was left alone if docent does not say it."""
    everything = commands(line)
    if not command.error_free:
        return "the grammar does not understand the line"
    if changing := [one.program for one in everything if one.program in CHANGING]:
        return f"{changing[0]} changes what words mean"
    if command.place != "reader":
        return command.place
    if one_redirect_for_many(line):
        return "a redirect at the end of a list with &&, which the grammar takes for the whole list"
    if re.search(r"[^&>|]&(\s*$|\s*\n|\s[^&>])", line):
        return "a command runs in the background"
    return has_to_stay(command) or "no reason is known"


def one_redirect_for_many(line):
    """Whether the grammar reads `cd a && grep x 2>/dev/null` as a redirect of the whole list."""
    nodes = [parser().parse(line.encode("utf-8", "surrogatepass")).root_node]
    while nodes:
        node = nodes.pop()
        if node.type == "redirected_statement" and node.named_children[0].type in ("list", "pipeline"):
            return True
        nodes += node.children
    return False


def judge(project, line, folder, root, state):
    mapped, directory = project.place(line, folder, root)
    wanted = files_read(mapped)
    rewritten = project.rewrite(mapped, directory)
    left = collections.Counter((one.program, one.text) for one in files_read(rewritten)) if rewritten is not None else None
    reasons = None
    verdicts = []
    for command in wanted:
        key = (command.program, command.text)
        is_left = left is None or left[key] > 0
        if is_left and left is not None:
            left[key] -= 1
        reason = None
        if is_left:
            if reasons is None:
                reasons = project.reasons(mapped, directory, state)
            first = command.program.split()[0]
            at = next((at for at, (program, _) in enumerate(reasons) if program.split()[0] == first), None)
            reason = reasons.pop(at)[1] if at is not None else own_reason(mapped, command)
        verdicts.append(Verdict(kind_of(command.program), command.program, not is_left, reason, has_to_stay(command), is_outside(command, directory, project.root)))
    return verdicts


class Tables:
    def __init__(self):
        self.lines, self.programs, self.reasons = collections.Counter(), collections.Counter(), collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, source, line, verdicts):
        for kind in KINDS:
            mine = [one for one in verdicts if one.kind == kind]
            if not mine:
                continue
            self.lines[source, kind, "lines"] += 1
            is_rewritten = all(one.is_rewritten for one in mine)
            self.lines[source, kind, "rewritten"] += is_rewritten
            if not all(one.has_to_stay for one in mine):
                self.lines[source, kind, "to the reader"] += 1
                self.lines[source, kind, "to the reader, rewritten"] += all(one.is_rewritten or one.has_to_stay for one in mine)
            if not all(one.has_to_stay or one.is_outside for one in mine):
                self.lines[source, kind, "inside"] += 1
                self.lines[source, kind, "inside, rewritten"] += all(one.is_rewritten or one.has_to_stay or one.is_outside for one in mine)
        for one in verdicts:
            self.programs[one.program, "all"] += 1
            self.programs[one.program, "rewritten"] += one.is_rewritten
            if one.reason:
                self.reasons[one.kind, one.reason] += 1
                examples = self.examples[one.kind, one.reason]
                if len(examples) < PER_REASON and line not in examples:
                    examples.append(line)

    def show(self):
        def share(part, whole):
            return f"{100 * part / max(whole, 1):.1f} %"

        print("\n| source | kind | lines | rewritten | output to the reader | and paths in the project |\n|---|---|--:|--:|--:|--:|")
        for source in [*SOURCES, "all"]:
            for kind in KINDS:
                sum_of = lambda what: sum(count for (one, of, name), count in self.lines.items() if of == kind and name == what and source in (one, "all"))
                if sum_of("lines"):
                    both = share(sum_of("to the reader, rewritten"), sum_of("to the reader"))
                    inside = f"{share(sum_of('inside, rewritten'), sum_of('inside'))} of {sum_of('inside'):,}"
                    print(f"| {source} | {kind} | {sum_of('lines'):,} | {share(sum_of('rewritten'), sum_of('lines'))} | {both} of {sum_of('to the reader'):,} | {inside} |")
        print("\n| program | commands | rewritten |\n|---|--:|--:|")
        for (program, what), count in self.programs.most_common():
            if what == "all":
                print(f"| {program} | {count:,} | {share(self.programs[program, 'rewritten'], count)} |")
        print("\n| kind | reason | commands | share of those left |\n|---|---|--:|--:|")
        for kind in KINDS:
            total = sum(count for (of, _), count in self.reasons.items() if of == kind)
            mine = [(reason, count) for (of, reason), count in self.reasons.most_common() if of == kind]
            for reason, count in mine[:15]:
                print(f"| {kind} | {reason} | {count:,} | {share(count, total)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--source", choices=SOURCES, action="append")
    parser.add_argument("--examples", type=pathlib.Path, help="writes lines of the transcripts here; never into the repository")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    project = Project(args.work.resolve(), args.docent)
    counts, total = collections.Counter(), 0
    for session in all_sessions(args.mirrors, args.source or tuple(SOURCES)):
        for call in session.calls:
            if isinstance(call, Shell):
                total += 1
                if files_read(call.line):
                    counts[session.source, call.line, call.folder, session.root] += 1
    keys = list(counts)

    def run(job):
        state = args.work.resolve() / f"state-{job}"
        state.mkdir(exist_ok=True)
        return [(key, judge(project, *key[1:], state)) for key in keys[job :: args.jobs]]

    tables = Tables()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for part in pool.map(run, range(args.jobs)):
            for key, verdicts in part:
                for _ in range(counts[key]):
                    tables.add(key[0], key[1], verdicts)
    print(f"{total:,} shell lines, {sum(counts.values()):,} with a search, a list or a question to git; {len(keys):,} different ones")
    tables.show()
    if args.examples:
        with open(args.examples, "w", encoding="utf-8") as out:
            for (kind, reason), lines in sorted(tables.examples.items(), key=lambda one: -tables.reasons[one[0]]):
                out.write(f"\n## {kind}: {reason} ({tables.reasons[kind, reason]})\n")
                out.writelines(f"    {line[:400]!r}\n" for line in lines)


if __name__ == "__main__":
    main()
