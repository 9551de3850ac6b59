"""docent servers for this folder: one project, contract or compact form, with an index that is complete."""

import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server  # noqa: E402

LIMITS = [f"limit.{tool}=0" for tool in ("context_search", "grep_codebase", "read_file", "git_log")]


class Docent:
    """A server of one project. `form` is `contract` or `compact`."""

    def __init__(self, binary, root, home, form):
        home = pathlib.Path(home).resolve()
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(home / "cache"))}
        environment["XDG_STATE_HOME"] = str(home / "state" / f"{form}-{pathlib.Path(root).name}")
        binary = os.path.abspath(binary)
        flags = ["--root", str(root)]
        for limit in LIMITS:
            flags += ["--set", limit]
        subprocess.run([binary, *flags, "index"], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.server = Server([binary, *flags, "serve", *(["--compact"] if form == "compact" else [])], environment)

    def ask(self, tool, arguments):
        """The text of the answer. Errors are answers too: an agent reads them."""
        return "\n".join(one.get("text", "") for one in self.server.call(tool, arguments)["content"])

    def close(self):
        self.server.close()
