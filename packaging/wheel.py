"""The wheel `docent-mcp`: `uvx docent-mcp serve`, `pipx install docent-mcp`, `pip install docent-mcp`.

The binary itself is the script `docent`. `docent-mcp`, which `uvx` runs because the package has this name, is a program
of a few lines that becomes the binary.
"""

import base64
import hashlib
import re

from . import project

LAUNCHER = '''"""docent for `uvx docent-mcp` and `python -m docent_mcp`: becomes the binary that lies beside the scripts."""

import os
import subprocess
import sys
import sysconfig


def main():
    name = "docent.exe" if os.name == "nt" else "docent"
    docent = os.path.join(sysconfig.get_path("scripts"), name)
    if not os.path.exists(docent):
        # `pip install --user` has scripts of its own.
        docent = os.path.join(sysconfig.get_path("scripts", f"{os.name}_user"), name)
    command = [docent, *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(docent, command)


if __name__ == "__main__":
    main()
'''


def make(contents, compression):
    version = pep_440(contents.version)
    stem = f"{project.WHEEL_NAME.replace('-', '_')}-{version}"
    tag = f"py3-none-{contents.platform.wheel}"
    info = f"{stem}.dist-info"
    files = [
        (f"{stem}.data/scripts/{contents.platform.binary_name}", contents.binary, 0o755),
        ("docent_mcp/__init__.py", LAUNCHER.encode(), 0o644),
        ("docent_mcp/__main__.py", b"from . import main\n\nmain()\n", 0o644),
        (f"{info}/METADATA", metadata(contents, version), 0o644),
        (f"{info}/WHEEL", wheel(tag), 0o644),
        (f"{info}/entry_points.txt", b"[console_scripts]\ndocent-mcp = docent_mcp:main\n", 0o644),
    ]
    files += [(f"{info}/licenses/{name}", content, 0o644) for name, content in contents.licences().items()]
    record = "".join(f"{path},sha256={digest(content)},{len(content)}\n" for path, content, _ in sorted(files))
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    return {f"{stem}-{tag}.whl": compression.zip(files)}


def pep_440(version):
    """`1.2.3-rc.1` of Cargo is `1.2.3rc1` here."""
    release, _, pre = version.partition("-")
    short = {"alpha": "a", "beta": "b"}
    return release + re.sub(r"[a-z]+", lambda found: short.get(found[0], found[0]), pre).replace(".", "")


def metadata(contents, version):
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", project.WHEEL_NAME),
        ("Version", version),
        ("Summary", project.SUMMARY),
        ("Keywords", ",".join(project.KEYWORDS)),
        ("License-Expression", project.LICENCE),
        *(("License-File", name) for name in contents.licences()),
        ("Requires-Python", ">=3.8"),
        ("Project-URL", f"Repository, {project.ADDRESS}"),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    # The MCP registry takes this line as the proof that package and entry have the same owner.
    return f"{head}\n<!-- mcp-name: {project.REGISTRY_NAME} -->\n\n".encode() + contents.pages["README.md"]


def wheel(tag):
    return f"Wheel-Version: 1.0\nGenerator: docent\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
