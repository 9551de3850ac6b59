"""Real coding agents against docent, offline: Claude Code and Codex run headless, and a stand-in plays their model.

The agents come from npm, in the versions below, and are connected as README.md says. The stand-in answers the model's API on
loopback: it asks for five of docent's tools, one after the other, then says it is done. It reads what a model would read, so
the checks and the transcripts are about what really reaches a model. Whatever else an agent calls is refused and named.

usage: agents.py DOCENT [--client claude|codex|codex-direct] [--transcripts DIR]
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PACKAGES = {"@anthropic-ai/claude-code": "2.1.325", "@openai/codex": "0.166.0"}
PROMPT = "How are failed requests tried again here, and who decided that? Use docent, and remember what you find."
DONE = "Done: asked docent five times."
FILES = {
    "README.md": "# Parcels\n\nTracks parcels: a service in Python, a page in TypeScript.\n",
    "docs/retries.md": "# Retries\n\nHow the page talks to a service that is down.\n\n## Upper limit of the delay\n\n"
    "The delay between two attempts doubles, and is never longer than 30 seconds.\n\n## Giving up\n\nAfter ten attempts.\n",
    "service/limits.py": 'class TokenBucket:\n    """Keeps one client from using up the service."""\n\n'
    "    def take(self, count=1):\n        self.tokens -= count\n        return self.tokens >= 0\n",
    "web/retry.ts": "/** How long to wait, in milliseconds, before a failed request is tried again. */\n"
    "export function backoffDelay(attempt: number): number {\n  return 1000 * 2 ** attempt;\n}\n",
}
DECISION = {"decision": "The delay between attempts is at most 30 seconds", "why": "docs/retries.md", "module": "web"}
# What the stand-in asks for, in this order: a tool, its arguments, and what its answer must say.
STEPS = [
    ("context_search", {"query": "wait before a failed request is tried again"}, ["web/retry.ts", "backoffDelay", "30_000"]),
    ("read_file", {"path": "service/limits.py"}, ["service/limits.py", "class TokenBucket", "def take"]),
    ("git_blame", {"filePath": "web/retry.ts", "startLine": 3, "endLine": 3}, ["Grace Example", "Never wait longer"]),
    ("search_docs", {"query": "longest delay between two attempts"}, ["docs/retries.md", "Upper limit of the delay"]),
    ("write_memory_entry", {"file": "decisions.jsonl", "entry": json.dumps(DECISION)}, []),
]


def compact(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def strings(value):
    """Every text in a JSON value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def flat(content) -> str:
    """The text of a tool's result, which clients send as a string or as a list of parts."""
    parts = [{"text": content}] if isinstance(content, str) else content or []
    return "\n".join(part["text"] if "text" in part else compact(part) for part in parts)


def first(values):
    return next((value for value in values if value), None)


class Agent:
    """One client and the model it believes to talk to; where it `searches`, the model has to look for tools first."""

    def __init__(self):
        self.request, self.offered, self.definitions, self.results, self.elsewhere = None, [], {}, {}, []

    def answer(self, request):
        """The model's next turn. What was answered so far is all in the request, so one that is repeated does no harm."""
        results = self.read(request)
        if results is None:
            return self.say("ok")  # not the conversation: a title, a summary
        self.request = self.request or request
        self.results.update(results)
        steps = [("find", None)] * self.searches + [(tool, arguments) for tool, arguments, _ in STEPS]
        left = [step for step in steps if step[0] not in results]
        return self.call(*left[0]) if left else self.say(DONE)


class Claude(Agent):
    """Claude Code: the Messages API. Tools are named first and defined once the model asks for them with ToolSearch."""

    title, page, package = "Claude Code", "claude-code", "@anthropic-ai/claude-code"
    binary = "@anthropic-ai/claude-code-*/claude"
    run = ["-p", PROMPT, "--allowedTools", "mcp__docent"]
    settings = {"ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}

    def prepare(self, environment, url):
        environment["ANTHROPIC_BASE_URL"] = url

    def read(self, request):
        named = {name for text in strings(request) for name in re.findall(r"mcp__docent__(\w+)", text)}
        self.offered = self.offered or sorted(named)  # by the first request: later ones repeat what the model asked for
        if not named:
            return None
        tools = {tool.get("name"): tool for tool in request.get("tools", [])}
        self.definitions.update({name[13:]: tool for name, tool in tools.items() if name.startswith("mcp__docent__")})
        self.searches = "ToolSearch" in tools
        parts = [part for message in request["messages"] if isinstance(message["content"], list) for part in message["content"]]
        return {part["tool_use_id"][6:]: flat(part.get("content")) for part in parts if part.get("type") == "tool_result"}

    def call(self, tool, arguments):
        name = "mcp__docent__" + tool
        if tool == "find":
            name, arguments = "ToolSearch", {"query": "select:" + ",".join("mcp__docent__" + one for one in self.offered)}
            self.search = f"{name} {compact(arguments)}"
        block = {"type": "tool_use", "id": "toolu_" + tool, "name": name, "input": {}}
        return self.turn(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")

    def say(self, text):
        return self.turn({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    def turn(self, block, delta, reason):
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [], "usage": usage}
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
            {"type": "message_stop"},
        ]


class Codex(Agent):
    """Codex with its own model: the Responses API. The model writes JavaScript, and finds docent's tools in ALL_TOOLS."""

    title, page, package = "Codex", "codex", "@openai/codex"
    binary = "@openai/codex-*/vendor/*/bin/codex"
    run, settings, searches = ["exec", PROMPT], {"STAND_IN_KEY": "dummy"}, True
    search = 'text(ALL_TOOLS.filter(({ name }) => name.startsWith("mcp__docent__")))'

    def prepare(self, environment, url):
        config = pathlib.Path(environment["HOME"], ".codex", "config.toml")
        config.write_text(
            'model_provider = "stand-in"\ncheck_for_update_on_startup = false\nanalytics.enabled = false\n'
            f'[model_providers.stand-in]\nname = "stand-in"\nbase_url = "{url}/v1"\n'
            f'env_key = "STAND_IN_KEY"\nwire_api = "responses"\n{config.read_text()}'
        )

    def read(self, request):
        items = request.get("input", [])
        for tool in [*request.get("tools", []), *(tool for item in items for tool in item.get("tools", []))]:
            if tool.get("name") == "mcp__docent":
                self.definitions = {inner["name"]: inner for inner in tool["tools"]}
        results = {item["call_id"]: flat(item["output"]) for item in items if item.get("type", "").endswith("_call_output")}
        found = re.findall(r"mcp__docent__(\w+)", results.get("find", ""))
        self.offered = sorted(self.definitions or set(found))
        return results

    def call(self, tool, arguments):
        code = f"text(await tools.mcp__docent__{tool}({json.dumps(arguments)}))" if tool != "find" else self.search
        return self.turn({"type": "custom_tool_call", "id": "ctc_" + tool, "call_id": tool, "name": "exec", "input": code})

    def say(self, text):
        content = [{"type": "output_text", "text": text}]
        return self.turn({"type": "message", "role": "assistant", "id": "msg_1", "content": content})

    def turn(self, item):
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        ]


class CodexDirect(Codex):
    """Codex with a model that it does not know: docent's tools are functions of their own."""

    title, page, searches = "Codex with another model", "codex-direct", False
    run = ["exec", "-m", "another-model", PROMPT]

    def call(self, tool, arguments):
        call = {"type": "function_call", "id": "fc_" + tool, "call_id": tool, "namespace": "mcp__docent", "name": tool}
        return self.turn({**call, "arguments": json.dumps(arguments)})


class StandIn(http.server.BaseHTTPRequestHandler):
    """The model's API, and a proxy that lets nothing through."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not re.match(r"/v1/(messages|responses)(\?|$)", self.path):
            return self.refuse()
        with self.server.lock:
            events = self.server.agent.answer(json.loads(body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode())

    def refuse(self):
        self.server.agent.elsewhere.append(f"{self.command} {self.path}")
        self.send_error(404)

    do_GET = do_HEAD = do_PUT = do_CONNECT = refuse

    def log_message(self, *_):
        pass


def make_project(folder, environment):
    """A repository of two languages and two authors, with the same commits every time."""

    def commit(files, author, date, message):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        who = {"NAME": author, "EMAIL": author.split()[0].lower() + "@example.com", "DATE": date}
        both = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
        for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", message]):
            subprocess.run(["git", *arguments], cwd=folder, env=environment | both, check=True, stderr=subprocess.DEVNULL)

    commit(FILES, "Ada Example", "2024-01-10T09:00:00Z", "Track parcels")
    retry = FILES["web/retry.ts"].replace("1000 * 2 ** attempt", "Math.min(30_000, 1000 * 2 ** attempt)")
    commit({"web/retry.ts": retry}, "Grace Example", "2024-02-20T15:30:00Z", "Never wait longer than 30 seconds")


def try_agent(agent, docent, binary, work):
    """Runs one agent in a project and a home of its own; what came of it is kept in the agent."""
    project, tools = work / "parcels", work / "bin"
    for folder in (project, tools, work / "home"):
        folder.mkdir(parents=True)
    # `docent`, as the agent starts it: what goes in and out is kept, too.
    (tools / "docent").write_text(f'#!/bin/sh\ntee -a "{work}/in" | "{docent}" "$@" | tee -a "{work}/out"\n')
    (tools / "docent").chmod(0o755)
    (work / "in").touch(), (work / "out").touch()
    environment = {"HOME": str(work / "home"), "TMPDIR": str(work), "LANG": "C.UTF-8", "PATH": f"{tools}:{os.environ['PATH']}"}
    make_project(project, environment)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    server.agent, server.lock = agent, threading.Lock()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    environment.update(agent.settings, HTTPS_PROXY=url, HTTP_PROXY=url, NO_PROXY="127.0.0.1")

    def command(*arguments):
        given = {"cwd": project, "env": environment, "stdin": subprocess.DEVNULL, "capture_output": True}
        return subprocess.run(arguments, **given, text=True, timeout=30)

    command(docent, "index")  # searches do so by themselves; done here so that every run gets the same scores
    command(binary, "mcp", "add", "docent", "--", "docent", "serve", "--compact").check_returncode()
    agent.prepare(environment, url)
    agent.ended = command(binary, *agent.run)
    server.shutdown()
    agent.sent, agent.received = ([json.loads(line) for line in (work / name).open()] for name in ("in", "out"))
    agent.pending = command(docent, "memory", "pending").stdout
    agent.written = (project / ".context/memory/decisions.jsonl").exists()
    # What the client says when docent asks for the user's approval: a result before 2026-07-28, a parameter since.
    results = [message.get("result") or {} for message in agent.sent]
    responses = [message.get("params", {}).get("inputResponses", {}) for message in agent.sent]
    agent.approval = first(said.get("action") for said in results + [said for inner in responses for said in inner.values()])


def judge(agent):
    """Per tool: offered, called, and right. Nobody is there to approve the entry, so it must wait, or be declined."""
    called = [message["params"]["name"] for message in agent.sent if message.get("method") == "tools/call"]
    for tool, _, expected in STEPS:
        result = agent.results.get(tool, "")
        right = all(text in result for text in expected)
        if tool == "write_memory_entry":
            declined, waits = agent.approval == "decline", DECISION["decision"] in agent.pending
            right = not agent.written and waits != declined and ("The user declined" if declined else "docent memory pending") in result
        yield tool, tool in agent.offered, tool in called, right


def transcript(agent, rows, work):
    """The page about one client, the same on every machine."""

    def fenced(text, kind="text"):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        return f"{fence}{kind}\n{text.rstrip()}\n{fence}\n"

    program = agent.page.split("-")[0]
    shell = " ".join(f'"{word}"' if " " in word else word for word in [program, *agent.run])
    answer = first(message["result"] for message in agent.received if "instructions" in message.get("result", {})) or {}
    hello = first(message["params"] for message in agent.sent if message.get("method") in ("initialize", "server/discover")) or {}
    hello |= {key.rpartition("/")[2]: value for key, value in hello.get("_meta", {}).items()}
    able = sorted(hello.get("clientCapabilities") or hello.get("capabilities", {}))
    instructions, found = answer.get("instructions", ""), agent.results.get("find", "")
    told = "whole, from the start" if any(instructions in text for text in strings(agent.request)) else "not from the start"
    if repeated := found.count(json.dumps(instructions)[1:-1]):
        told += f"; {repeated} times when it looks for tools"
    size = sum(len(compact(definition).encode()) for definition in agent.definitions.values()) or len(found.encode())
    end = {"cancel": "it waits", "decline": "declined by the client", None: "not asked"}.get(agent.approval, agent.approval)
    page = [
        "<!-- Made by `python3 scripts/clients/agents.py`; do not edit. -->\n",
        f"# {agent.title} and docent\n",
        f"`{agent.package}` {PACKAGES[agent.package]}, headless and offline, with a script in the place of its model: "
        f"**{sum(all(row[1:]) for row in rows)} of {len(rows)} tools called and right**.\n",
        "| tool | offered | called | right |\n|---|---|---|---|",
        *(f"| `{tool}` | {' | '.join('yes' if cell else '**no**' for cell in cells)}"
          f"{f': {end}' if tool == 'write_memory_entry' else ''} |" for tool, *cells in rows),
        "\n## The connection\n",
        fenced(f"{program} mcp add docent -- docent serve --compact\n{shell}", "sh"),
        f"- MCP {answer.get('protocolVersion') or hello.get('protocolVersion')}; the client can do: {', '.join(able)}.",
        f"- Asked for the user's approval, it answers by itself: `{agent.approval}`.",
        f"- What else it called, in vain: {', '.join(sorted(set(agent.elsewhere))) or 'nothing'}.\n",
        "## What the model is told\n",
        f"The instructions: {told}.\n",
        fenced(instructions),
        f"{len(agent.offered)} tools, defined in {size:,} bytes: {', '.join(agent.offered)}.\n",
        "## What it asks and gets\n",
    ]
    for tool, arguments in [("find", agent.search)] * agent.searches + [(tool, compact(given)) for tool, given, _ in STEPS]:
        text = agent.results.get(tool, "no answer")
        text = text if len(text) < 3000 else f"{text[:3000]}\n… {len(text.encode()):,} bytes in all"
        page += [f"### {'Which tools there are' if tool == 'find' else tool}\n", fenced(arguments), fenced(text)]
    page += ["### Afterwards, `docent memory pending`\n", fenced(agent.pending)]
    text = "\n".join(page).replace(str(work / "parcels"), "PROJECT").replace(str(work), "WORK")
    text = re.sub(r"\b20(?!24)\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    return re.sub(r"(Wall time:?) [\d.]+ s", r"\1 N s", text)


def install(cache):
    """The agents' packages, in the cache folder of scripts/node.sh; they are programs of their own and need no Node."""
    wanted, manifest = json.dumps({"private": True, "dependencies": PACKAGES}), cache / "package.json"
    if manifest.exists() and manifest.read_text() == wanted:
        return
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    quiet = ["--silent", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    packages = [f"{name}@{version}" for name, version in PACKAGES.items()]
    try:
        subprocess.run(["npm", "install", *quiet, "--prefix", cache, *packages], check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        print("\n########## SKIPPED: the agents could not be fetched and were not tried ##########\n", file=sys.stderr)
        sys.exit(0)
    manifest.write_text(wanted)


def main():
    agents = {"claude": Claude, "codex": Codex, "codex-direct": CodexDirect}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent", type=lambda path: pathlib.Path(path).resolve(strict=True))
    parser.add_argument("--client", choices=agents)
    parser.add_argument("--transcripts", type=pathlib.Path, metavar="DIR")
    given = parser.parse_args()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "docent/clients/agents")
    install(cache)
    failed = 0
    for kind in [agents[given.client]] if given.client else agents.values():
        agent, name = kind(), f"{kind.title} {PACKAGES[kind.package]}"
        with tempfile.TemporaryDirectory(prefix="docent-", ignore_cleanup_errors=True) as folder:
            work = pathlib.Path(folder).resolve()
            try:
                try_agent(agent, given.docent, next(cache.glob("node_modules/" + agent.binary)), work)
            except (OSError, StopIteration, subprocess.SubprocessError) as error:
                failed += 1
                print(f"FAIL {name}: could not be run: {error!r}")
                continue
            rows = list(judge(agent))
            right = sum(all(row[1:]) for row in rows)
            ok = right == len(rows) and agent.ended.returncode == 0 and DONE in agent.ended.stdout
            print(f"{'ok  ' if ok else 'FAIL'} {name}: {right} of {len(rows)} tools called and right; approval: {agent.approval}")
            if not ok:
                failed += 1
                print(*rows, json.dumps(agent.results, indent=1), agent.ended.stdout, agent.ended.stderr, sep="\n")
            if given.transcripts:
                given.transcripts.mkdir(parents=True, exist_ok=True)
                (given.transcripts / f"{agent.page}.md").write_text(transcript(agent, rows, work))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
