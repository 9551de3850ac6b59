"""What the packages say about docent, read from the files of the repository."""

import os
import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
ADDRESS = "https://github.com/docent-mcp/docent"
SUMMARY = "A guide to a software project for coding agents and people, over MCP and on the command line"
KEYWORDS = ["mcp", "code-search", "coding-agent", "git", "documentation"]
LICENCE = "MIT OR Apache-2.0"
# `docent` is taken at PyPI.
WHEEL_NAME = "docent-mcp"
NPM_NAME = "docent"
REGISTRY_NAME = "io.github.docent-mcp/docent"

# The earliest time that a zip can tell.
EARLIEST = 315_532_800


def version():
    # Not with tomllib: the Python that macOS brings has none.
    return re.search(r'(?m)^version = "(.+)"$', read("Cargo.toml"))[1]


def read(path):
    return (REPOSITORY / path).read_text("utf-8")


def timestamp():
    """The time that packages name: SOURCE_DATE_EPOCH, or that of the commit. It is the same for every build of a commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "log", "-1", "--format=%ct"]
        git = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        given = git.stdout if git.returncode == 0 else ""
    return max(int(given.strip() or EARLIEST), EARLIEST)
