#!/usr/bin/env python3
"""Latency and memory of the language server on a large project with a complete index.

usage: bench/lsp.py DOCENT PROJECT [--home DIR] [--symbols N] [--seed N] [--json FILE]

Functions, methods and types are drawn from the outlines of random files. At each definition, and at the first use that the
server lists of it, every request of the protocol is made once. Printed: the time from the start of the process to the answer
of `initialize`, p50, p95 and the worst of each request in milliseconds, and the resident memory. Linux only.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from symbols import draw_symbols, resident_mb

AT_POSITION = ("definition", "references", "implementation", "hover", "documentHighlight", "prepareCallHierarchy")
OF_DOCUMENT = ("documentSymbol", "foldingRange")


class Editor:
    """A client of `docent lsp` that waits for each answer."""

    def __init__(self, docent, project, environment):
        self.project, self.number = project, 0
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [docent, "lsp"], cwd=project, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        capabilities = {
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}, "hover": {"contentFormat": ["markdown"]}},
        }
        self.request("initialize", {"processId": os.getpid(), "rootUri": project.as_uri(), "capabilities": capabilities})
        self.ready = 1e3 * (time.perf_counter() - started)
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        size = 0
        while (header := self.process.stdout.readline().strip()) or not size:
            if header.startswith(b"Content-Length:"):
                size = int(header.partition(b":")[2])
        return json.loads(self.process.stdout.read(size))

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            answer = self.receive()
            if answer.get("id") == self.number and "method" not in answer:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def close(self):
        self.request("shutdown", None)
        self.send({"method": "exit"})
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--home", help="keeps the index between runs")
    parser.add_argument("--symbols", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="writes the figures to this file")
    options = parser.parse_args()
    project = options.project.resolve()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": options.home or folder, "PATH": os.environ["PATH"]}
        index = [options.docent, "--root", str(project), "index"]
        subprocess.run(index, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        symbols = draw_symbols(options.docent, project, environment, options.symbols, chance)
        ready = []
        for _ in range(20):
            editor = Editor(options.docent, project, environment)
            ready.append(editor.ready)
            editor.close()
        editor = Editor(options.docent, project, environment)
        # The first requests wait until the watcher runs.
        for _ in range(2):
            editor.request("workspace/symbol", {"query": "Start"})
        before = resident_mb(editor.process)
        times = measure(editor, symbols)
        after = resident_mb(editor.process)
        editor.close()
    print(f"initialize answered after {statistics.median(ready):.1f} ms, at most {max(ready):.1f} ms, of {len(ready)} starts")
    figures = {"initialize": {"p50": statistics.median(ready), "worst": max(ready)}}
    for label, measured in times.items():
        measured.sort()
        values = [value for value, _ in measured]
        p50, p95 = statistics.median(values), values[int(0.95 * (len(values) - 1))]
        worst = ", ".join(f"{name} {value:.0f}" for value, name in measured[-3:])
        print(f"{label:22} {len(values):4} requests, p50 {p50:6.2f} ms, p95 {p95:6.2f} ms, worst: {worst}")
        figures[label] = {"requests": len(values), "p50": p50, "p95": p95, "worst": values[-1]}
    every = sorted(value for measured in times.values() for value, _ in measured)
    print(f"{'all':22} {len(every):4} requests, p50 {statistics.median(every):6.2f} ms, p95 {every[int(0.95 * (len(every) - 1))]:6.2f} ms")
    print(f"resident memory {before:.0f} MB before, {after:.0f} MB after {len(symbols)} symbols")
    figures["resident MB"] = {"before": before, "after": after}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


def measure(editor, symbols):
    """Asks every request about each symbol. Returns the milliseconds and the name of each, by request."""
    times = {}

    def ask(method, params, name):
        begun = time.perf_counter()
        answer = editor.request(method, params)
        times.setdefault(method.partition("/")[2], []).append((1e3 * (time.perf_counter() - begun), name))
        return answer

    for path, symbol in symbols:
        name = symbol["name"]
        document = {"uri": (editor.project / path).as_uri()}
        places = [{"textDocument": document, "position": {"line": symbol["line"] - 1, "character": symbol["column"] - 1}}]
        uses = ask("textDocument/references", {**places[0], "context": {"includeDeclaration": False}}, name)
        if uses:
            places.append({"textDocument": {"uri": uses[0]["uri"]}, "position": uses[0]["range"]["start"]})
        for place in places:
            for method in AT_POSITION:
                answer = ask(f"textDocument/{method}", {**place, "context": {"includeDeclaration": True}}, name)
                if method == "prepareCallHierarchy" and answer:
                    for direction in ("incomingCalls", "outgoingCalls"):
                        ask(f"callHierarchy/{direction}", {"item": answer[0]}, name)
        for method in OF_DOCUMENT:
            ask(f"textDocument/{method}", {"textDocument": document}, name)
        ask("workspace/symbol", {"query": name}, name)
    return times


if __name__ == "__main__":
    main()
