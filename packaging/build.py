"""The binary of the packages: profile `dist`, TLS, packed grammars, and no path of this machine.

Two builds of the same commit by the same compilers are the same bytes, in whatever folders they are made.

Left out: signing.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from . import grammars
from .project import REPOSITORY

# Below the workspace, so that the names that Cargo derives from a path do not depend on where the workspace lies.
PACKED = REPOSITORY / "target" / "grammars"


def build(target=None):
    """Builds docent, for this machine's platform if none is given, and returns the path of the binary."""
    overrides = pack_grammars()
    environment = without_machine_paths(os.environ)
    command = ["cargo", "build", "--profile", "dist", "--features", "tls", "--locked", "-p", "docent"]
    command += ["--config", f"paths = {json.dumps([path.as_posix() for path in overrides])}"]
    command += ["--target", target] if target else []
    command += ["--message-format", "json-render-diagnostics"]
    cargo = subprocess.run(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, check=False)
    if cargo.returncode != 0:
        sys.exit(cargo.returncode)
    messages = (json.loads(line) for line in cargo.stdout.splitlines() if line.startswith(b"{"))
    (binary,) = (message["executable"] for message in messages if message.get("executable"))
    return Path(binary)


def pack_grammars():
    """Copies of the grammars with packed tables. Those of an earlier build are taken as they are."""
    crates = [
        (Path(package["manifest_path"]).parent, PACKED / f"{package['name']}-{package['version']}")
        for package in metadata()["packages"]
        if package["name"].startswith("tree-sitter-")
    ]
    missing = [(crate, out) for crate, out in crates if not (out / ".packed").exists()]
    with ProcessPoolExecutor() as pool:
        for (_, out), is_packed in zip(missing, pool.map(pack_one, missing)):
            if is_packed:
                (out / ".packed").touch()
    return [out for _, out in crates if out.exists()]


def pack_one(crate):
    return grammars.pack(*crate)


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "docent/tls"]
    return json.loads(subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout)


def without_machine_paths(environment):
    """Panics and C's `__FILE__` name files: below `/docent` and `/cargo` instead of where they lie here."""
    cargo_home = environment.get("CARGO_HOME") or Path.home() / ".cargo"
    moved = {str(REPOSITORY): "/docent", str(cargo_home): "/cargo"}
    if target := environment.get("CARGO_TARGET_DIR"):
        moved[str(Path(target).resolve())] = "/docent/target"
    rust = [f"--remap-path-prefix={path}={name}" for path, name in moved.items()]
    flags = {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(rust), "CARGO_INCREMENTAL": "0"}
    # MSVC has no such option, and its `__FILE__` is the path as it was given to the compiler.
    if os.name != "nt":
        flags["CFLAGS"] = " ".join(
            [environment.get("CFLAGS", ""), *(f"-ffile-prefix-map={path}={name}" for path, name in moved.items())]
        ).strip()
    return {**environment, **flags}
