"""docent servers for this folder: one project, contract or compact form, with an index that is complete.

docent ranks files higher that were read lately, so a server that has answered one question would answer the next one differently.
`fresh` starts a server with no memory of earlier calls.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server  # noqa: E402

LIMITS = [f"limit.{tool}=0" for tool in ("context_search", "grep_codebase", "read_file", "git_log")]


class Docent:
    """A server of one project. `form` is `contract` or `compact`."""

    def __init__(self, binary, root, home, form):
        home = pathlib.Path(home).resolve()
        self.environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(home / "cache"))}
        self.command = [os.path.abspath(binary), "--root", str(root)]
        for limit in LIMITS:
            self.command += ["--set", limit]
        self.serve = ["serve", *(["--compact"] if form == "compact" else [])]
        self.server = self.state = None
        self.start()

    def start(self):
        self.state = tempfile.TemporaryDirectory(prefix="docent-eval-")
        self.environment["XDG_STATE_HOME"] = self.state.name
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*self.command, "index"], env=self.environment, check=True, **quiet)
        self.server = Server([*self.command, *self.serve], self.environment)

    def fresh(self):
        """Starts again with an empty state. Returns the same object."""
        self.close()
        self.start()
        return self

    def ask(self, tool, arguments):
        """The text of the answer. An error ends the run: its text would pass for a short answer."""
        answer = self.server.call(tool, arguments)
        text = "\n".join(one.get("text", "") for one in answer["content"])
        if answer.get("isError"):
            raise ValueError(f"{tool} {arguments}: {text}")
        return text

    def try_asking(self, tool, arguments):
        """The text of the answer or of the error, for agents that read on after one."""
        try:
            return self.ask(tool, arguments)
        except ValueError as error:
            return str(error)

    def close(self):
        self.server.close()
        self.state.cleanup()
