"""One run of `bench/run`: its options, environment, clones and records."""

import json
import os
import subprocess

from .registry import BENCH, FOLDER, PEERS
from .tool import Tool

CLONES = ["docent", "rg", "semble", "codegraph", "probe", "code-index-mcp"]
SEMBLE = BENCH / "semble_serve.py"
UNLIMITED = [word for tool in ("context_search", "read_file", "grep_codebase", "read_repo_file") for word in ("--set", f"limit.{tool}=0")]


class Bench:
    """Options, environment, clones and records of one run. Every record goes to raw.jsonl at once."""

    def __init__(self, options, folder):
        self.options, self.folder, self.records, self.missing = options, folder, [], []
        self.docent = os.path.abspath(options.docent)
        home = folder / "home"
        paths = os.pathsep.join([os.path.dirname(PEERS["rg"].path or "/usr/bin/rg"), os.environ["PATH"]])
        given = {"HOME": home, "XDG_CACHE_HOME": home / "cache", "XDG_STATE_HOME": home / "state", "XDG_CONFIG_HOME": home / "config", "TMPDIR": folder / "tmp"}
        given |= {"SEMBLE_CACHE_LOCATION": home / "semble", "HF_HOME": FOLDER / "models", "MEMORY_FILE_PATH": folder / "memory.jsonl", "PATH": paths}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment = {**kept, **{name: str(value) for name, value in given.items()}, "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0"}
        for directory in (home, folder / "tmp", home / "semble"):
            directory.mkdir(parents=True)
        self.out = open(options.out / "raw.jsonl", "w", encoding="utf-8")

    def write(self, line):
        self.out.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.out.flush()

    def record(self, measure, tool, number, **figures):
        line = {"measure": measure, "tool": tool, "round": number, "load": round(os.getloadavg()[0], 2), **figures}
        self.records.append(line)
        self.write(line)

    def of(self, measure, **named):
        """Records of a measure whose fields have these values."""
        return [one for one in self.records if one["measure"] == measure and all(one.get(key) == value for key, value in named.items())]

    def has(self, name):
        return name == "docent" or PEERS[name].path is not None

    def turns(self, names, number):
        """The tools that are installed, in the order of this round: the first one changes with each round."""
        names = [name for name in names if self.has(name.partition(",")[0])]
        return names[number % len(names) :] + names[: number % len(names)]

    def command(self, name, root):
        path = self.docent if name == "docent" else PEERS[name].path
        after = {
            "docent": ["serve", "--root", root, *UNLIMITED],
            "semble": [str(SEMBLE), "serve"],
            "codegraph": ["serve", "--mcp", "--path", root],
            "probe": ["mcp"],
            "mcp-server-git": ["--repository", root],
            "server-filesystem": [root],
        }
        return [path, *after.get(name, [])]

    def serve(self, name, root=None, **environment):
        root = root or self.root(name)
        return Tool(self.command(name, str(root)), {**self.environment, **environment})

    def root(self, name):
        """The clone for a tool. Tools that index or search get one each: some write into it, some watch it and would see the others."""
        name = name.partition(",")[0]
        return self.folder / "clones" / (name if name in CLONES else "docent") / self.name

    def clone(self):
        self.name = self.options.repository.resolve().name
        for which in CLONES:
            target = self.folder / "clones" / which / self.name
            subprocess.run(["git", "clone", "--quiet", "--shared", str(self.options.repository.resolve()), str(target)], check=True)

    def build_indexes(self):
        """Builds the indexes that docent and codegraph need before they serve."""
        subprocess.run([self.docent, "--root", str(self.root("docent")), "index"], env=self.environment, check=True, capture_output=True)
        if self.has("codegraph"):
            command = [PEERS["codegraph"].path, "init", "-y", str(self.root("codegraph"))]
            subprocess.run(command, env=self.environment, check=True, capture_output=True)
