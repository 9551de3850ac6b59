"""An MCP server whose processes are found again, also those that it detached."""

import contextlib
import os
import subprocess
import time

from server import Server

from .usage import kill, processes


class Tool(Server):
    """An MCP server that carries a mark in its environment, which its processes inherit."""

    marks = 0

    def __init__(self, command, environment):
        Tool.marks += 1
        self.mark = f"DOCENT_BENCH_MARK={os.getpid()}.{Tool.marks}."
        name, _, value = self.mark.partition("=")
        super().__init__(command, {**environment, name: value})

    def processes(self):
        return list(processes(self.mark.encode()))

    def ask(self, tool, arguments):
        """Calls a tool. Returns the milliseconds it took, and the text that a model reads."""
        began = time.perf_counter()
        result = self.call(tool, arguments)
        took = (time.perf_counter() - began) * 1e3
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise SystemExit(f"{tool}: {text[:300]}")
        return took, text

    def close(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        kill(self.processes())
        self.process.wait()
