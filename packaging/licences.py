"""THIRD-PARTY-LICENSES: the crates that are linked into docent, and the texts of their licences.

A crate that may be used under MIT or another licence is used under MIT. Texts that crates share are printed once.

Invariant: a crate without a text of its own is named with its licence, and the text of that licence is printed.
"""

import json
import re
import subprocess
from pathlib import Path

from .project import REPOSITORY, read

FILES = re.compile(r"(?i)^(licen[cs]e|copying|notice|unlicense)")
MIT = read("LICENSE-MIT")


def third_party(target):
    texts = {}
    for crate in linked_crates(target):
        name = f"{crate['name']} {crate['version']} ({crate['license'] or 'see its text'})"
        for text in licence_texts(crate):
            texts.setdefault(text, []).append(name)
    parts = [
        "docent contains the following crates, and the C code that some of them contain.\n"
        "The Rust standard library is part of it as well, under MIT OR Apache-2.0: Copyright (c) The Rust Project Contributors.\n"
    ]
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        parts.append("\n".join(names) + "\n\n" + text + "\n")
    return ("\n" + "=" * 80 + "\n\n").join(parts).encode()


def linked_crates(target):
    """Those that docent depends on for this platform, without those that only run while it is built."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    command += ["--features", "docent/tls"]
    found = json.loads(subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    ahead = [package["id"] for package in found["packages"] if package["name"] == "docent"]
    linked = set()
    while ahead:
        crate = ahead.pop()
        if crate in linked or is_macro(packages[crate]):
            continue
        linked.add(crate)
        ahead += [
            dependency["pkg"]
            for dependency in nodes[crate]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    crates = (packages[crate] for crate in linked if packages[crate]["source"])
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def is_macro(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def licence_texts(crate):
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if FILES.match(path.name) and path.is_file())
    expression = crate["license"] or ""
    if "MIT" in re.split(r" OR |/", expression):
        files = [path for path in files if "MIT" in path.name.upper()] or files
    texts = [" \n".join(path.read_text("utf-8", "replace").split("\n")).replace(" \n", "\n").strip() for path in files]
    if texts:
        return texts
    authors = ", ".join(crate["authors"]) or f"The authors of {crate['name']}"
    if "MIT" in expression:
        return [re.sub(r"(?m)^Copyright .*$", f"Copyright (c) {authors}", MIT).strip()]
    if "Apache-2.0" in expression:
        return [f"Copyright {authors}\n\n{read('LICENSE-APACHE').strip()}"]
    return [f"{expression}\nCopyright {authors}\n{crate['repository'] or ''}"]
