"""The plugin in real coding agents, offline: installed from this checkout, used, and removed without a trace.

Claude Code and Codex come from npm, as in agents.py, and a stand-in plays their model. For Claude Code it asks for a grep in the
shell, and starts the explorer, which calls docent's tools and the nine operations of the client's LSP tool. What the model is
shown decides: tools that are listed from the start, hooks that have rewritten, slash commands, what is left after the removal.

usage: plugin.py DOCENT [--client claude|codex]
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import agents

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
SERVER = "mcp__plugin_docent_docent__"
SEARCH = "grep -rn backoffDelay web"
BY_DOCENT = "1-4 backoffDelay"
TASK = "EXPLORE: what does backoffDelay do, and who calls it?"
TOLD = "docent has indexed the project parcels"
LSP_FILES = {
    "service/shapes.py": "class Shape:\n    def area(self):\n        return 0\n\n\nclass Square(Shape):\n    def area(self):\n"
    "        return side()\n\n\ndef side():\n    return 2\n\n\ndef total():\n    return side() + Square().area()\n",
}
# Operation, line, character, and what the answer must say. The file is service/shapes.py.
OPERATIONS = [
    ("goToDefinition", 8, 16, "shapes.py:11"),
    ("findReferences", 11, 5, "8:"),
    ("hover", 11, 5, "side"),
    ("documentSymbol", 1, 1, "Square"),
    ("workspaceSymbol", 11, 5, "side"),
    ("goToImplementation", 1, 7, "shapes.py:6"),
    ("prepareCallHierarchy", 11, 5, "side"),
    ("incomingCalls", 11, 5, "total"),
    ("outgoingCalls", 15, 5, "side"),
]


class Claude(agents.Claude):
    """Claude Code: the main conversation makes `calls`, and the explorer makes those of `explorer`."""

    def __init__(self, calls, explorer=()):
        super().__init__()
        self.calls, self.first = {"main": calls, "explorer": list(explorer)}, {}
        self.results, self.seen = {"main": {}, "explorer": {}}, ""

    def answer(self, request):
        tools = request.get("tools", [])
        if not any(tool.get("name") == "Read" for tool in tools):
            return self.say("ok")  # not the conversation: a title, a summary
        opening = json.dumps(request["messages"][0])
        # The main conversation names the task in a call only, the explorer begins with it.
        who = "explorer" if TASK in opening else "main"
        self.first.setdefault(who, {tool["name"]: tool for tool in tools})
        self.seen += " ".join(agents.strings(request)) if who == "main" and not self.seen else ""
        for message in request["messages"]:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part.get("type") == "tool_result" and part["tool_use_id"].startswith("toolu_" + who):
                    self.results[who][part["tool_use_id"]] = agents.flat(part.get("content"))
        done = len(self.results[who])
        if done == len(self.calls[who]):
            return self.say(agents.DONE)
        name, arguments = self.calls[who][done]
        block = {"type": "tool_use", "id": f"toolu_{who}_{done}", "name": name, "input": {}}
        return self.turn(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")


class Codex(agents.Codex):
    """Codex: one call after the other, each in the JavaScript that its model writes."""

    def __init__(self, calls):
        super().__init__()
        self.calls, self.results, self.seen = calls, {}, ""

    def answer(self, request):
        self.seen = self.seen or " ".join(agents.strings(request))
        for item in request.get("input", []):
            if item.get("type", "").endswith("_call_output"):
                self.results[item["call_id"]] = agents.flat(item["output"])
        if len(self.results) == len(self.calls):
            return self.say(agents.DONE)
        name, arguments = self.calls[len(self.results)]
        call = f"call_{len(self.results)}"
        code = f"text(await tools.{name}({json.dumps(arguments)}))" if name else arguments
        return self.turn({"type": "custom_tool_call", "id": "ctc_" + call, "call_id": call, "name": "exec", "input": code})


class Machine:
    """A home and a project, the client's program, and `docent` in PATH."""

    def __init__(self, kind, docent, binary, work):
        self.kind, self.docent, self.binary, self.work = kind, docent, binary, work
        self.project, self.home, tools = work / "parcels", work / "home", work / "bin"
        for folder in (self.project, self.home, tools):
            folder.mkdir()
        (tools / "docent").symlink_to(docent)
        path = f"{tools}:{os.environ['PATH']}"
        self.environment = {"HOME": str(self.home), "TMPDIR": str(work / "tmp"), "LANG": "C.UTF-8", "PATH": path} | kind.settings
        (work / "tmp").mkdir()
        agents.make_project(self.project, self.environment)
        for name, text in LSP_FILES.items():
            (self.project / name).write_text(text)
        self.run(docent, "index")
        if kind is Codex:
            (self.home / ".codex").mkdir()
            (self.home / ".codex/config.toml").write_text('model_reasoning_effort = "low"\n')
            return
        # A home that the client has used, with settings of the user.
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").write_text('{"model":"opus",\n "permissions": {"allow": ["mcp__%s"]}}\n' % SERVER[5:-2])

    def run(self, *arguments, **more):
        given = {"cwd": self.project, "env": self.environment | more, "stdin": subprocess.DEVNULL, "capture_output": True}
        return subprocess.run(arguments, **given, text=True, timeout=120)

    def client(self, *arguments):
        ended = self.run(self.binary, *arguments)
        ended.check_returncode()
        return ended.stdout

    def talk(self, agent, *arguments):
        """A conversation of the client with the stand-in. Returns what the client printed."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), agents.StandIn)
        server.agent, server.lock = agent, threading.Lock()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        before = dict(self.environment)
        config = self.home / ".codex/config.toml"
        text = config.read_text() if config.exists() else None
        self.environment |= {"HTTPS_PROXY": url, "HTTP_PROXY": url, "NO_PROXY": "127.0.0.1"}
        agent.prepare(self.environment, url)
        ended = self.run(self.binary, *arguments)
        server.shutdown()
        self.environment = before
        if text is not None:
            config.write_text(text)
        return ended

    def files(self):
        """The files that the user or docent wrote. Caches, logs and histories of the client are not among them."""
        own = re.compile(r"/\.(cache|local)/|/\.claude/(?!settings|skills|agents|commands)|\.claude\.json|/\.codex/(?!config|hooks|skills/docent|agents)")
        found = {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}
        return {str(path.relative_to(self.home)): text for path, text in found.items() if not own.search(str(path))}


class Checks:
    def __init__(self):
        self.failed = 0

    def __call__(self, is_right, what, detail=""):
        self.failed += not is_right
        print(f"{'ok  ' if is_right else 'FAIL'} {what}" + (f"\n     {str(detail)[:1500]}" if not is_right else ""), flush=True)


def claude_session(machine, check):
    """One conversation: what the client lists, what the model is shown, what calls give."""
    explorer = [(SERVER + "find_symbol", {"name": "backoffDelay"}), (SERVER + "context_search", {"query": "wait before a retry"})]
    place = str(machine.project / "service/shapes.py")
    for operation, line, character, _ in OPERATIONS:
        asked = {"operation": operation, "filePath": place, "line": line, "character": character}
        explorer.append(("LSP", asked | ({"query": "side"} if operation == "workspaceSymbol" else {})))
    start = {"description": "explore", "prompt": TASK, "subagent_type": "docent:explorer"}
    agent = Claude([("Bash", {"command": SEARCH, "description": "search"}), ("Agent", start)], explorer)
    ended = machine.talk(agent, "-p", "go", "--output-format", "stream-json", "--verbose")
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    started = next((line for line in lines if line.get("subtype") == "init"), {})
    main, own = agent.results["main"], agent.results["explorer"]
    tools = [name for name in agent.first.get("main", {}) if name.startswith("mcp__")]
    loaded = [name for name in tools if not agent.first["main"][name].get("defer_loading")]
    check(len(loaded) == 17 and all(name.startswith(SERVER) for name in loaded), f"{len(loaded)} tools of docent in the first request, none deferred", tools)
    check(agent.seen.count(TOLD) == 1, "the session begins with what the project is, once", agent.seen.count(TOLD))
    check(BY_DOCENT in main.get("toolu_main_0", ""), "a grep in the shell is answered by docent, without a question", main)
    listed = [name for name in started.get("slash_commands", []) if name.startswith("docent:")]
    check({"docent:why", "docent:callers", "docent:docent"} <= set(listed), f"slash commands and the skill: {', '.join(sorted(listed))}", started)
    check("docent:explorer" in started.get("agents", []), "the explorer is listed", started.get("agents"))
    seen = [name for name in agent.first.get("explorer", {}) if name.startswith(SERVER)]
    check(len(seen) == 14 and SERVER + "write_memory_entry" not in seen, f"the explorer sees {len(seen)} tools of docent that read", list(agent.first.get("explorer", {})))
    check("web/retry.ts:1-4" in own.get("toolu_explorer_0", "") and "web/retry.ts" in own.get("toolu_explorer_1", ""),
          "the explorer calls them", own)
    check("LSP" in started.get("tools", []) and "LSP" in agent.first.get("explorer", {}), "the client offers its LSP tool", started.get("tools"))
    for number, (operation, _, _, wanted) in enumerate(OPERATIONS):
        answer = own.get(f"toolu_explorer_{number + 2}", "")
        check(wanted in answer, f"LSP {operation}: {' '.join(answer.split())[:90]}", answer)
    check(ended.returncode == 0 and agents.DONE in ended.stdout, "the conversation ends well", ended.stderr[-800:])


def claude(machine, check):
    machine.talk(Claude([]), "-p", "go")
    before = machine.files()
    print("   installed from the checkout")
    machine.client("plugin", "validate", str(CHECKOUT / "plugin"))
    machine.client("plugin", "marketplace", "add", str(CHECKOUT))
    machine.client("plugin", "install", "docent@docent")
    claude_session(machine, check)
    machine.client("plugin", "uninstall", "docent@docent")
    machine.client("plugin", "marketplace", "remove", "docent")
    left = {name: text for name, text in machine.files().items() if before.get(name) != text}
    settings = json.loads((machine.home / ".claude/settings.json").read_text())
    check("docent@" not in json.dumps(settings) and "docent" not in settings.get("extraKnownMarketplaces", {}), "the client has taken it out", left)
    (machine.home / ".claude/settings.json").write_bytes(before[".claude/settings.json"])

    print("   installed by `docent setup --plugin`")
    machine.run(machine.docent, "setup", "--client", "claude-code", "--yes", "--hooks").check_returncode()
    machine.run(machine.docent, "setup", "--client", "claude-code", "--yes", "--plugin").check_returncode()
    claude_session(machine, check)
    machine.run(machine.docent, "setup", "--remove", "--yes").check_returncode()
    check(machine.files() == before, "`setup --remove` leaves every file as it was", set(machine.files()) ^ set(before))
    servers = json.loads((machine.home / ".claude.json").read_text()).get("mcpServers", {})
    check("docent" not in servers, "no server is left in the client's list", servers)

    print("   the plugin beside plain settings of an earlier setup")
    machine.run(machine.docent, "setup", "--client", "claude-code", "--yes", "--hooks").check_returncode()
    machine.client("plugin", "marketplace", "add", str(CHECKOUT))
    machine.client("plugin", "install", "docent@docent")
    agent = Claude([("Bash", {"command": SEARCH, "description": "search"})])
    machine.talk(agent, "-p", "go")
    doubled = [name for name in agent.first.get("main", {}) if name.startswith(SERVER)]
    check(not doubled and "mcp__docent__context_search" in agent.seen + str(agent.first), "each tool is there once", doubled)
    check(agent.seen.count(TOLD) == 1, "the session begins with what the project is, once", agent.seen.count(TOLD))
    check(agent.results["main"].get("toolu_main_0", "").count(BY_DOCENT) == 1, "a grep in the shell is answered once", agent.results)
    machine.run(machine.docent, "setup", "--client", "claude-code", "--yes").check_returncode()
    settings = (machine.home / ".claude/settings.json").read_text()
    check("docent hook" not in settings and "docent@docent" in settings, "the next setup leaves it to the plugin", settings)


def codex_session(machine, check, server, told):
    agent = Codex([("exec_command", {"cmd": SEARCH}), (server + "find_symbol", {"name": "backoffDelay"}), ("", agents.Codex.search)])
    ended = machine.talk(agent, "exec", "--dangerously-bypass-hook-trust", "go")
    results = agent.results
    check(BY_DOCENT in results.get("call_0", ""), "a grep in the shell is answered by docent", results.get("call_0"))
    check("web/retry.ts:1-4" in results.get("call_1", ""), "its tools are called", results.get("call_1"))
    found = sorted(set(re.findall(r"mcp__docent__(\w+)", results.get("call_2", ""))))
    check(len(found) == 17, f"{len(found)} tools of docent can be found", results.get("call_2"))
    check(agent.seen.count(TOLD) == 1, "the session begins with what the project is, once", agent.seen.count(TOLD))
    for what, text in told.items():
        check(text in agent.seen, f"the model is told of {what}", agent.seen[:200])
    check(ended.returncode == 0 and agents.DONE in ended.stdout, "the conversation ends well", ended.stderr[-800:])


def codex(machine, check):
    machine.talk(Codex([]), "exec", "go")
    before = machine.files()
    print("   installed from the checkout")
    machine.client("plugin", "marketplace", "add", str(CHECKOUT))
    machine.client("plugin", "add", "docent@docent")
    codex_session(machine, check, "mcp__docent__", {"the skill": "docent:docent: Look around in this project with docent"})
    machine.client("plugin", "remove", "docent@docent")
    machine.client("plugin", "marketplace", "remove", "docent")
    left = {name: text for name, text in machine.files().items() if before.get(name) != text}
    check("docent" not in str(left), "the client has taken it out", left)
    (machine.home / ".codex/config.toml").write_bytes(before[".codex/config.toml"])

    print("   installed by `docent setup --plugin`")
    machine.run(machine.docent, "setup", "--client", "codex", "--yes", "--plugin", "--hooks").check_returncode()
    told = {"the skill": "docent: Look around in this project with docent", "the explorer": "docent-explorer"}
    codex_session(machine, check, "mcp__docent__", told)
    machine.run(machine.docent, "setup", "--remove", "--yes").check_returncode()
    check(machine.files() == before, "`setup --remove` leaves every file as it was", set(machine.files()) ^ set(before))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent", type=lambda path: pathlib.Path(path).resolve(strict=True))
    parser.add_argument("--client", choices=["claude", "codex"])
    given = parser.parse_args()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "docent/clients/agents")
    agents.install(cache)
    kinds, check = {"claude": (Claude, claude), "codex": (Codex, codex)}, Checks()
    for kind, tried in [kinds[given.client]] if given.client else kinds.values():
        binary = next(cache.glob("node_modules/" + kind.binary))
        print(f"{kind.title} {agents.PACKAGES[kind.package]}")
        with tempfile.TemporaryDirectory(prefix="docent-", ignore_cleanup_errors=True) as folder:
            try:
                tried(Machine(kind, given.docent, binary, pathlib.Path(folder).resolve()), check)
            except subprocess.SubprocessError as error:
                check(False, "it could be run", f"{error} {getattr(error, 'stdout', '')} {getattr(error, 'stderr', '')}")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
