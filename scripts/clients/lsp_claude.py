"""The nine operations of Claude Code's LSP tool against `docent lsp`, offline: a stand-in plays the model.

A plugin names docent as the server of six languages. In a project of each, the stand-in calls every operation once at a use of a
function, after looking the tool up, and the answers are checked as the model would read them.

usage: lsp_claude.py DOCENT CLAUDE [--show]
"""

import argparse
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import agents
import lsp

MAX_WAITS = 20
LANGUAGES = {"rust": ".rs", "python": ".py", "typescript": ".ts", "go": ".go", "java": ".java", "ruby": ".rb"}


def cases():
    """Each operation in each language: its arguments, and what the answer must say."""
    for language, (definition, defined, use, used) in lsp.PROJECT.items():
        line = lsp.line_of(used, "hoot(", last=True)
        column = lsp.units_before(used, line, "hoot(") + 1
        target = lsp.line_of(defined, "hoot(")
        place = f"{os.path.basename(definition)}:{target}"
        at_use = {"filePath": use, "line": line, "character": column}
        at_definition = {"filePath": definition, "line": target, "character": lsp.units_before(defined, target, "hoot(") + 1}
        yield language, "goToDefinition", at_use, [place]
        yield language, "findReferences", at_use, [os.path.basename(use), str(line)]
        yield language, "hover", at_use, ["hoot", "oots"]
        yield language, "documentSymbol", at_definition, ["hoot"]
        yield language, "workspaceSymbol", {**at_use, "query": "hoot"}, ["hoot", os.path.basename(definition)]
        yield language, "goToImplementation", at_use, [place]
        yield language, "prepareCallHierarchy", at_use, ["hoot", os.path.basename(definition)]
        yield language, "incomingCalls", at_use, [os.path.basename(use)]
        yield language, "outgoingCalls", {**at_use, "line": line - 1, "character": 1}, []


class Model(agents.Claude):
    """The model: looks the tool up if it has to, and calls it once for each case."""

    def __init__(self, asked):
        super().__init__()
        self.asked, self.has_tool, self.waited = asked, False, 0

    def answer(self, request):
        tools = {tool.get("name") for tool in request.get("tools", [])}
        if "Bash" not in tools:
            return self.say("ok")  # not the conversation: a title, a summary
        # Claude Code offers the tool once it has read the settings of the plugin's servers, which takes a moment.
        self.has_tool = self.has_tool or "LSP" in tools or "ToolSearch" in tools
        if not self.has_tool and self.waited < MAX_WAITS:
            self.waited += 1
            return self.use(f"toolu_wait{self.waited}", "Bash", {"command": "sleep 1"})
        parts = [part for message in request["messages"] if isinstance(message["content"], list) for part in message["content"]]
        for part in parts:
            if part.get("type") == "tool_result":
                self.results[part["tool_use_id"]] = agents.flat(part.get("content"))
        if "LSP" not in tools and "toolu_find" not in self.results:
            return self.use("toolu_find", "ToolSearch", {"query": "select:LSP"})
        for number, (_, operation, arguments, _) in enumerate(self.asked):
            if f"toolu_{number}" not in self.results:
                return self.use(f"toolu_{number}", "LSP", {"operation": operation, **arguments})
        return self.say("Done.")

    def use(self, identity, name, arguments):
        block = {"type": "tool_use", "id": identity, "name": name, "input": {}}
        return self.turn(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent", type=os.path.realpath)
    parser.add_argument("claude", type=os.path.realpath)
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    asked = list(cases())
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        project, plugin = work / "project", work / "plugin"
        lsp.write_project(project)
        extensions = {extension: language for language, extension in LANGUAGES.items()}
        server = {"docent": {"command": options.docent, "args": ["lsp"], "extensionToLanguage": extensions}}
        lsp.write(plugin / ".claude-plugin" / "plugin.json", json.dumps({"name": "docent-lsp", "version": "0.0.1", "description": "docent"}))
        lsp.write(plugin / ".lsp.json", json.dumps(server))
        model = Model(asked)
        api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), agents.StandIn)
        api.agent, api.lock = model, threading.Lock()
        threading.Thread(target=api.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{api.server_address[1]}"
        environment = {"HOME": str(work), "LANG": "C.UTF-8", "PATH": os.environ["PATH"], "ENABLE_LSP_TOOL": "1", **model.settings}
        environment |= {"ANTHROPIC_BASE_URL": url, "HTTPS_PROXY": url, "HTTP_PROXY": url, "NO_PROXY": "127.0.0.1"}
        command = [options.claude, "-p", "Use the LSP tool.", "--plugin-dir", str(plugin), "--allowedTools", "LSP,Bash(sleep 1)"]
        ended = subprocess.run(command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        api.shutdown()
    failed = 0
    for number, (language, operation, arguments, expected) in enumerate(asked):
        answer = model.results.get(f"toolu_{number}", f"no answer; {ended.stdout[-300:]} {ended.stderr[-300:]}")
        is_right = f"toolu_{number}" in model.results and all(text in answer for text in expected) and "No LSP server" not in answer
        failed += not is_right
        if options.show or not is_right:
            print(f"{language} {operation} {arguments}: {'right' if is_right else 'WRONG'}\n    {answer[:600]}")
    print(f"Claude Code's LSP tool: {len(asked) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
