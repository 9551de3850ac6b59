"""The files that every package of a platform has: binary, pages, licences, completions and manual pages.

Completions and manual pages are the binary's own, so it must run here.
"""

import re
import subprocess
import sys

from . import licences, project
from .platforms import Platform

PAGES = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES"]
COMPLETIONS = {
    "bash": "docent.bash",
    "elvish": "docent.elv",
    "fish": "docent.fish",
    "powershell": "docent.ps1",
    "zsh": "_docent",
}


class Contents:
    def __init__(self, target, docent):
        self.version = project.version()
        said = run(docent, "--version").decode().split()[:2]
        if said != ["docent", self.version]:
            sys.exit(f"{docent} says that it is {' '.join(said)}, Cargo.toml says {self.version}")
        self.binary = docent.read_bytes()
        self.platform = Platform(target, self.binary)
        self.pages = {page: (project.REPOSITORY / page).read_bytes() for page in PAGES}
        self.pages["THIRD-PARTY-LICENSES"] = licences.third_party(target)
        self.completions = {file: run(docent, "completions", shell) for shell, file in COMPLETIONS.items()}
        self.manual = manual(docent)

    def licences(self):
        return {name: self.pages[name] for name in LICENCES}


def run(docent, *arguments):
    return subprocess.run([docent, *arguments], cwd=project.REPOSITORY, stdout=subprocess.PIPE, check=True).stdout


def manual(docent, *command):
    """The page of a command and those of the commands below it, which the page lists."""
    page = run(docent, "man", *command)
    name = "-".join(["docent", *command])
    files = {f"{name}.1": page}
    for listed in re.findall(r"(?m)^(\S+)\(1\)$", page.decode()):
        below = listed.replace("\\-", "-").removeprefix(f"{name}-")
        if below != "help":
            files |= manual(docent, *command, below)
    return files
