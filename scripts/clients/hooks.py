"""docent's hooks in real coding agents, offline: Claude Code and Codex run headless, and a stand-in plays their model.

The agents come from npm as in agents.py, and `docent setup --hooks` connects them. The stand-in asks for the calls of a case,
one after the other, and keeps what a model would read. A search of the project has a match in a blocked file, so that an answer
of `docent sh` and one of grep differ. Where nothing may change, the same case runs without hooks, and its results are the same.

usage: hooks.py DOCENT [--client claude|codex] [--case WORD]
       hooks.py DOCENT --time [--files 30000]      how long hooks take; give a release build
"""

import argparse
import dataclasses
import http.server
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import agents

FILES = {
    "src/sea.py": "def walrus():\n    return 1\n",
    "secret/plan.py": "walrus = 2\n",
    "src/.env": "walrus=token\n",
    "large.py": "".join(f"def walrus_{number}():\n    return {number}\n\n\n" for number in range(300)),
}
SEARCH = "grep -rn walrus . --include=sea.py --include=.env"
BY_DOCENT, BY_GREP = "not shown, because docent", "src/.env:1:walrus=token"
TOLD = "docent knows the project parcels"
PLAIN_FORM = "`command grep …`"
OUTLINE, LINES = "The same Read once more gives the whole file", len(FILES["large.py"].splitlines())


class Claude(agents.Claude):
    """Claude Code, with the calls of one case."""

    setup, flags = "claude-code", ["--allowedTools", "Read"]
    hooks = ".claude/settings.json"

    def __init__(self, calls):
        super().__init__()
        self.calls, self.results, self.seen = calls, {}, []

    def answer(self, request):
        if not any(tool.get("name") == "Bash" for tool in request.get("tools", [])):
            return self.say("ok")  # not the conversation: a title, a summary
        self.seen.append(" ".join(agents.strings(request)))
        for message in request["messages"]:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part.get("type") == "tool_result":
                    self.results[part["tool_use_id"]] = agents.flat(part.get("content"))
        if len(self.results) == len(self.calls):
            return self.say("done")
        name, arguments = self.calls[len(self.results)]
        block = {"type": "tool_use", "id": f"toolu_{len(self.results)}", "name": name, "input": {}}
        return self.turn(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")

    def rule(self, home, list_name, rule):
        """Adds a rule of the user."""
        file = home / self.hooks
        file.parent.mkdir(exist_ok=True)
        settings = json.loads(file.read_text()) if file.exists() else {}
        settings.setdefault("permissions", {}).setdefault(list_name, []).append(rule)
        file.write_text(json.dumps(settings))

    @staticmethod
    def shell(line):
        return "Bash", {"command": line, "description": "look around"}

    def command(self):
        return ["-p", "go", *self.flags]


class Codex(agents.Codex):
    """Codex, with the calls of one case. Its hooks run once the user trusts them, which a flag stands for here."""

    setup, hooks = "codex", ".codex/hooks.json"

    def __init__(self, calls):
        super().__init__()
        self.calls, self.results, self.seen = calls, {}, []

    def answer(self, request):
        self.seen.append(" ".join(agents.strings(request)))
        for item in request.get("input", []):
            if item.get("type", "").endswith("_call_output"):
                # Times and the number of the process differ between runs.
                text = re.sub(r'Wall time [\d.]+ s\w*|"(chunk_id|wall_time_seconds)":[^,]*,', "", agents.flat(item["output"]))
                self.results[item["call_id"]] = text
        if len(self.results) == len(self.calls):
            return self.say("done")
        name, arguments = self.calls[len(self.results)]
        code = f"text(await tools.{name}({json.dumps(arguments)}))"
        call = f"call_{len(self.results)}"
        return self.turn({"type": "custom_tool_call", "id": "ctc_" + call, "call_id": call, "name": "exec", "input": code})

    def prepare(self, environment, url):
        pathlib.Path(environment["HOME"], ".codex").mkdir(exist_ok=True)
        pathlib.Path(environment["HOME"], ".codex/config.toml").touch()
        super().prepare(environment, url)

    def rule(self, home, decision, program):
        """Adds a rule of the user."""
        folder = home / ".codex/rules"
        folder.mkdir(parents=True, exist_ok=True)
        words = json.dumps(program.split())
        (folder / "default.rules").write_text(f'prefix_rule(pattern={words}, decision="{decision}")\n')

    @staticmethod
    def shell(line):
        return "exec_command", {"cmd": line}

    def command(self):
        return ["exec", "--dangerously-bypass-hook-trust", "go"]


@dataclasses.dataclass
class Case:
    """Calls of the model in a machine that `change` has changed, and what must come of them."""

    name: str
    calls: list
    expected: list = None  # what each result must say
    change: object = None  # called with the agent, the home and the project
    docent: str = None  # a program in docent's place; an empty one is missing
    told: tuple = ()  # what the model must have been told
    hooks: str = "--hooks"


def run(kind, case, docent, binary, with_hooks=True):
    """Runs a case; its results and everything that the model was told."""
    with tempfile.TemporaryDirectory(prefix="docent-", ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder).resolve()
        project, home, tools = work / "parcels", work / "home", work / "bin"
        for directory in (project, home, tools):
            directory.mkdir()
        for name, text in FILES.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        (tools / "docent").symlink_to(docent)
        agent = kind(json.loads(json.dumps(case.calls).replace("PROJECT", str(project))))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), agents.StandIn)
        server.agent, server.lock = agent, threading.Lock()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        path = f"{tools}:{os.environ['PATH']}"
        environment = {"HOME": str(home), "TMPDIR": str(work), "LANG": "C.UTF-8", "PATH": path} | agent.settings
        environment |= {"HTTPS_PROXY": url, "HTTP_PROXY": url, "NO_PROXY": "127.0.0.1"}
        given = {"cwd": project, "env": environment, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        if with_hooks:
            subprocess.run([docent, "setup", "--client", kind.setup, "--yes", case.hooks], **given, timeout=30).check_returncode()
            # The hook is the program in `bin`, which a case may replace.
            file = home / kind.hooks
            file.write_text(file.read_text().replace(f"{docent} hook", f"{tools}/docent hook"))
            assert f"{tools}/docent hook" in file.read_text(), file.read_text()
        else:
            # The rule that `setup` adds is not what is tried here.
            (home / kind.hooks).parent.mkdir(exist_ok=True)
        if case.change:
            case.change(agent, home, project)
        if case.docent is not None:
            (tools / "docent").unlink()
            if case.docent:
                (tools / "docent").write_text(f"#!/bin/sh\n{case.docent}\n")
                (tools / "docent").chmod(0o755)
        agent.prepare(environment, url)
        ended = subprocess.run([binary, *agent.command()], **given, timeout=120)
        server.shutdown()
        results = [text.replace(str(work), "WORK") for text in agent.results.values()]
        if len(results) != len(case.calls):
            results.append(f"only {len(results)} of {len(case.calls)} calls: {ended.stdout[-500:]}{ended.stderr[-1500:]}")
        return results, "\n".join(agent.seen)


def cases(kind):
    """The cases of a client. One without expected results has those that it has without hooks."""
    search, denied = [kind.shell(SEARCH)], [kind.shell("grep -rn walrus secret")]

    def rule(*words):
        return lambda agent, home, project: agent.rule(home, *words)

    yield Case("a search is answered by docent sh, and the session begins with what the project is", search,
               [BY_DOCENT], told=(TOLD, PLAIN_FORM))
    yield Case("cd and a filter", [kind.shell(f"cd src && {SEARCH} | head -5")], [BY_DOCENT])
    yield Case("the program itself is one word away", [kind.shell("command " + SEARCH)], [BY_GREP])
    yield Case("a rule that forbids grep", search, change=rule(*kind.forbid("grep")))
    yield Case("a rule that asks about grep", search, change=rule(*kind.ask("grep")))
    yield Case("a rule that forbids docent sh", search, change=rule(*kind.forbid("docent sh")))
    yield Case("a line that does more than read", [kind.shell(f"{SEARCH}; touch found")])
    yield Case("docent is missing", search, docent="")
    yield Case("docent fails", search, docent="echo broken; echo broken >&2; exit 2")
    yield Case("docent says nonsense", search, docent="echo '{\"hookSpecificOutput\": 7, \"decision\": [1]}'")
    yield Case("docent is slow", search, docent="sleep 60")
    if kind is Claude:
        yield Case("a path that is denied", denied, change=rule("deny", "Read(./secret/**)"))
        yield Case("a rule that asks about a path", denied, change=rule("ask", "Read(./secret/**)"))
        read = ("Read", {"file_path": "PROJECT/large.py"})
        last = f"{LINES - 3}"
        yield Case("the first read of a large file is its head, the second the whole file", [read, read],
                   ["walrus_29", last], told=(OUTLINE, "walrus_299"), hooks="--hooks=read")


Claude.forbid = staticmethod(lambda program: ("deny", f"Bash({program}:*)"))
Claude.ask = staticmethod(lambda program: ("ask", f"Bash({program}:*)"))
Codex.forbid = staticmethod(lambda program: ("forbidden", program))
Codex.ask = staticmethod(lambda program: ("prompt", program))


def judge(kind, case, docent, binary):
    """What is wrong, empty if nothing is."""
    results, seen = run(kind, case, docent, binary)
    wrong = [f"the model was not told: {text}" for text in case.told if text not in seen]
    if case.expected is None:
        without, _ = run(kind, case, docent, binary, with_hooks=False)
        # The grep that Claude Code brings prints files in any order.
        if [sorted(text.splitlines()) for text in results] != [sorted(text.splitlines()) for text in without]:
            wrong.append(f"with hooks: {results}\nwithout: {without}")
        elif any("only 0 of" in text for text in results):
            wrong.append(str(results))
        return wrong, results
    for result, expected in zip(results, case.expected + ["\0"] * len(results)):
        if expected not in result:
            wrong.append(f"expected {expected!r}: {result}")
    return wrong, results


def measure(docent, files):
    """Median times of hooks in a project of so many files."""
    with tempfile.TemporaryDirectory(prefix="docent-", ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder).resolve()
        project, home = work / "project", work / "home"
        home.mkdir()
        for number in range(files):
            file = project / f"part{number % 300}" / f"module{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"def walrus_{number}():\n    return {number}\n")
        (project / "large.py").write_text(FILES["large.py"])
        tools = work / "bin"
        tools.mkdir()
        (tools / "docent").symlink_to(docent)
        environment = {"HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}", "LANG": "C.UTF-8", "DOCENT_HOOK_READ": "outline"}
        given = {"cwd": project, "env": environment, "check": True, "capture_output": True}
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]):
            subprocess.run(["git", *command], **given)
        subprocess.run([docent, "index"], **given)

        def event(name, **more):
            return {"session_id": "s", "cwd": str(project), "hook_event_name": name, **more}

        def shell(line):
            return event("PreToolUse", tool_name="Bash", tool_input={"command": line})

        read = event("PreToolUse", tool_name="Read", tool_input={"file_path": str(project / "large.py")})
        events = {
            "shell: `grep -rn walrus .`": shell("grep -rn walrus ."),
            "shell: `cd part1 && git log --oneline \\| head -5`": shell("cd part1 && git log --oneline | head -5"),
            "shell: `cargo test`, left alone": shell("cargo test"),
            "start of a session": event("SessionStart", source="startup"),
            "first read of a large file (1,200 lines)": read,
        }
        print(f"| event, in a project of {files:,} files | median | 95 % below | median CPU time |\n|---|--:|--:|--:|")

        def cpu():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (used.ru_utime + used.ru_stime) * 1000


        for name, given_event in events.items():
            times, used = [], []
            for number in range(60):
                text = json.dumps(given_event | {"session_id": f"s{number}"})
                start, before = time.perf_counter(), cpu()
                ended = subprocess.run([docent, "hook", "claude"], input=text, text=True, cwd=project, env=environment, capture_output=True)
                times.append((time.perf_counter() - start) * 1000)
                used.append(cpu() - before)
                assert ended.returncode == 0 and bool(ended.stdout) != ("cargo" in name), (name, ended)
            print(f"| {name} | {statistics.median(times):.1f} ms | {sorted(times)[56]:.1f} ms | {statistics.median(used):.1f} ms |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent", type=lambda path: pathlib.Path(path).resolve(strict=True))
    parser.add_argument("--client", choices=["claude", "codex"])
    parser.add_argument("--case", default="")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--files", type=int, default=30_000)
    given = parser.parse_args()
    if given.time:
        return measure(given.docent, given.files)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "docent/clients/agents")
    agents.install(cache)
    kinds = {"claude": Claude, "codex": Codex}
    failed = 0
    for kind in [kinds[given.client]] if given.client else kinds.values():
        binary = next(cache.glob("node_modules/" + kind.binary))
        print(f"{kind.title} {agents.PACKAGES[kind.package]}")
        for case in cases(kind):
            if given.case not in case.name:
                continue
            wrong, results = judge(kind, case, given.docent, binary)
            failed += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {case.name}" + (": as without hooks" if case.expected is None else ""), flush=True)
            print("       " + "\n       ".join(result.strip()[-110:].replace("\n", " ↵ ") for result in results), flush=True)
            for text in wrong:
                print(f"    {text}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
