"""The peers of bench/run: source, pinned version and installation of each.

Each peer is installed from its registry (PyPI, npm) into its own folder of `${XDG_CACHE_HOME:-~/.cache}/docent/bench`, once. `note` says
what could not be installed and why.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
FOLDER = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "docent" / "bench"


@dataclasses.dataclass
class Peer:
    registry: str
    package: str
    version: str
    program: str
    about: str
    # Versions that npm installs instead of dependencies that are in no registry.
    overrides: dict = dataclasses.field(default_factory=dict)
    path: str | None = None
    note: str = ""


PEERS = {
    "rg": Peer("PyPI", "ripgrep", "15.1.0", "rg", "searches files by regular expression"),
    "semble": Peer("PyPI", "semble[mcp]", "0.7.0", "python", "MCP server: ranked search of code by BM25 and static embeddings"),
    "codegraph": Peer("npm", "@colbymchenry/codegraph", "1.6.1", "codegraph", "MCP server: a graph of symbols and calls, and answers with source from it"),
    "probe": Peer(
        "npm", "@probelabs/probe", "0.6.0-rc325", "probe", "MCP server: ranked search of code without an index", {"@nyariv/sandboxjs": "0.9.7"}
    ),
    "code-index-mcp": Peer("PyPI", "code-index-mcp", "2.17.1", "code-index-mcp", "MCP server: search by pattern with ripgrep, and a table of symbols"),
    "mcp-server-git": Peer("PyPI", "mcp-server-git", "2026.10.19", "mcp-server-git", "MCP server: git"),
    "server-filesystem": Peer("npm", "@modelcontextprotocol/server-filesystem", "2026.8.31", "mcp-server-filesystem", "MCP server: files"),
    "server-memory": Peer("npm", "@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory", "MCP server: a graph of notes in one file"),
}


def attempt(command):
    """Runs a command. Returns why it failed, in one line without paths and hosts, or `None`."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if re.search(r"(?i)error|could not|fail", line) and "log of this run" not in line]
    return re.sub(r"\S*(/\S+){2,}|\S+@\S+", "…", " ".join(lines[-3:]) or "no reason given")[:300]


def from_pypi(peer, folder):
    if not (folder / "bin" / "pip").exists() and (why := attempt([sys.executable, "-m", "venv", str(folder)])):
        return why
    return attempt([str(folder / "bin" / "pip"), "install", "--quiet", f"{peer.package}=={peer.version}"])


def from_npm(peer, folder):
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"{peer.package}@{peer.version}"]
    (folder / "package.json").write_text("{}\n")
    why = attempt(command)
    if why and peer.overrides:
        (folder / "package.json").write_text(json.dumps({"overrides": peer.overrides}) + "\n")
        if not attempt(command):
            instead = ", ".join(f"{name} {version}" for name, version in peer.overrides.items())
            (folder / "note").write_text(f"does not install as published, because npm fetches a dependency from GitHub; installed with {instead} of the registry")
            return None
    return why


def install(name):
    """Installs a peer unless it is installed. On failure `path` stays empty, and `note` says why."""
    peer = PEERS[name]
    folder = FOLDER / f"{name}-{peer.version}"
    program = folder / ("bin" if peer.registry == "PyPI" else "node_modules/.bin") / peer.program
    if not (folder / "done").exists():
        if (why := (from_pypi if peer.registry == "PyPI" else from_npm)(peer, folder)) or not program.exists():
            peer.note = f"not installed: {why or 'the package has no program'}"
            return
        (folder / "done").touch()
    peer.path = str(program)
    if (folder / "note").exists():
        peer.note = (folder / "note").read_text()
    if name == "semble" and attempt([peer.path, str(BENCH / "semble_serve.py"), "check"]):
        os.environ["DOCENT_BENCH_STUB"] = "1"
        peer.note = "its model is on Hugging Face, which cannot be reached: measured without it, BM25 and its ranking only, which saves it the embedding"


def resolved(name):
    """The installed version, as the package states it."""
    peer = PEERS[name]
    folder = pathlib.Path(peer.path).parent.parent
    if peer.registry == "npm":
        return json.loads((folder / peer.package / "package.json").read_text("utf-8"))["version"]
    code = f"import importlib.metadata; print(importlib.metadata.version('{peer.package.partition('[')[0]}'))"
    return subprocess.run([str(folder / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
