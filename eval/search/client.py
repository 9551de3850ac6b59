"""Asks a docent server over stdio: what every evaluation of this folder does.

Leaves out scoring. Invariant: the index is complete before the first question, so that no answer depends on timing.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from server import Server  # noqa: E402


def ask(docent, root, queries, home, settings=()):
    """Yields the ten best results of `context_search` for each query, in the form of the benchmark's evaluator.

    `home` holds the cache and the state of this docent; `settings` are further flags, such as `--set KEY=VALUE`.
    """
    environment = {
        **os.environ,
        "HOME": home,
        "XDG_CACHE_HOME": os.path.join(home, "cache"),
        "XDG_STATE_HOME": os.path.join(home, "state"),
    }
    flags = ["--root", root, "--set", "limit.context_search=0", *settings]
    subprocess.run([docent, *flags, "index"], env=environment, check=True, stderr=subprocess.DEVNULL)
    server = Server([docent, *flags, "serve"], environment)
    for query in queries:
        answer = server.call("context_search", {"query": query, "limit": 10, "format": "json"})
        text = answer["content"][0]["text"]
        if answer.get("isError"):
            sys.exit(f"{query}: {text}")
        yield [result_of(found) for found in json.loads(text)["results"]]
    server.close()


def result_of(found):
    """One result as the evaluator reads it. A discovery from a commit has no file, so its path matches no target."""
    path = found.get("path", f"commit {found.get('commit')}")
    return {"path": path, "start_line": found.get("startLine"), "end_line": found.get("endLine")}
