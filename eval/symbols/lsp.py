"""A client of a language server over stdio: requests in parallel, answers in the order of the requests."""

import json
import os
import queue
import subprocess
import threading
import urllib.parse


class Client:
    def __init__(self, command, root, options=None, environment=None):
        self.root = root
        self.process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.number = 0
        self.answers, self.progress = queue.Queue(), queue.Queue()
        self.lock = threading.Lock()
        threading.Thread(target=self.listen, daemon=True).start()
        capabilities = {
            "window": {"workDoneProgress": True},
            "textDocument": {
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
                "semanticTokens": {"requests": {"full": True}, "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"]},
            },
        }
        folder = {"uri": self.uri(""), "name": "project"}
        [server] = self.ask([("initialize", {
            "processId": os.getpid(), "rootUri": folder["uri"], "workspaceFolders": [folder],
            "capabilities": capabilities, "initializationOptions": options or {},
        })])
        tokens = ((server or {}).get("capabilities") or {}).get("semanticTokensProvider") or {}
        self.legend = tokens.get("legend", {}).get("tokenTypes", [])
        self.send({"method": "initialized", "params": {}})

    def uri(self, path):
        return "file://" + urllib.parse.quote(os.path.join(self.root, path).rstrip("/"))

    def path(self, uri):
        """A path inside the project, or an absolute one outside."""
        place = urllib.parse.unquote(uri.removeprefix("file://"))
        return os.path.relpath(place, self.root) if place.startswith(self.root + "/") else place

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self.lock:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self.process.stdin.flush()

    def listen(self):
        while header := self.process.stdout.readline():
            size = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    size = int(value)
                header = self.process.stdout.readline()
            message = json.loads(self.process.stdout.read(size))
            if "method" not in message:
                self.answers.put(message)
            elif "id" in message:
                # gopls asks for its settings; the defaults are right.
                items = message.get("params", {}).get("items") if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": [{} for _ in items] if items else None})
            elif message["method"] == "$/progress":
                self.progress.put(message["params"])
        self.answers.put(None)

    def ask(self, requests, window=32):
        """Sends `(method, params)` requests, some at once. Returns their results in order; an error is `None`."""
        results, waiting, sent = {}, 0, 0
        first = self.number + 1
        while len(results) < len(requests):
            while waiting < window and sent < len(requests):
                self.number += 1
                method, params = requests[sent]
                self.send({"id": self.number, "method": method, "params": params})
                waiting, sent = waiting + 1, sent + 1
            message = self.answers.get()
            if message is None:
                raise RuntimeError("the language server has ended")
            results[message["id"]] = message.get("result")
            waiting -= 1
        return [results[first + index] for index in range(len(requests))]

    def wait_for_progress(self, word, silence=60):
        """Waits until a piece of work whose title has the word has ended. Returns whether it did."""
        tokens = set()
        try:
            while True:
                params = self.progress.get(timeout=silence)
                value = params.get("value", {})
                if value.get("kind") == "begin" and word in value.get("title", "").lower():
                    tokens.add(params["token"])
                elif value.get("kind") == "end" and params["token"] in tokens:
                    return True
        except queue.Empty:
            return False

    def open(self, path, language, text):
        document = {"uri": self.uri(path), "languageId": language, "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def close(self):
        self.ask([("shutdown", None)])
        self.send({"method": "exit"})
        self.process.stdin.close()
        self.process.wait()


def position(uri, line, character):
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
