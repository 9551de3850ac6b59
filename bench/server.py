"""An MCP server over stdio that answers one call at a time: docent or a peer, for the scripts that measure and compare."""

import json
import subprocess
import sys


class Server:
    def __init__(self, command, environment=None, errors=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment
        )
        self.number = 0
        client = {"name": "bench", "version": "0"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        """Sends a request. Returns its response, and skips other messages before it."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self.number:
                return message
        sys.exit("the server has ended without an answer")

    def call(self, tool, arguments):
        """The result of a call, errors included."""
        message = self.request("tools/call", {"name": tool, "arguments": arguments})
        return message.get("result") or {"isError": True, "content": [{"text": json.dumps(message)}]}

    def close(self):
        self.process.stdin.close()
        self.process.wait()
