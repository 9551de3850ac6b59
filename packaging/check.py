"""Checks of the packages that need no network, on packages of any binary of this machine.

Left out: installing them by the package managers themselves, which `scripts/try-packages` does.
"""

import base64
import hashlib
import io
import json
import os
import platform
import random
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from . import grammars, project, release
from .archives import Compression
from .contents import Contents

TARGET = f"{platform.machine()}-unknown-linux-gnu"


def check(docent, packages):
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        print("skipped: packages are checked on Linux with glibc")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        if shutil.which("strip"):
            # The same program with a third of the bytes to copy.
            subprocess.run(["strip", "-o", Path(folder) / "docent", docent], check=True)
            docent = Path(folder) / "docent"
        contents = Contents(TARGET, docent)
        for name, content in packages(contents, Compression(quick=True)):
            (out / name).write_bytes(content)
        again = dict(packages(contents, Compression(quick=True)))
        assert again.keys() == {path.name for path in out.iterdir()}
        for name, content in again.items():
            assert (out / name).read_bytes() == content, f"{name} differs when it is made once more"
        release.make(out, Compression(quick=True))
        for one in (grammars_unpack, sums, archive, wheel, deb, bundle, registry, binstall, formula, npm, installer):
            one(out, contents)
            print(f"ok   {one.__name__}")


def grammars_unpack(_out, _contents):
    chance = random.Random(27)
    for length in (0, 1, 2, 5, 1_000, 70_000, 200_000):
        for kinds in (1, 3, 65_536):
            words = grammars.array.array("H", (chance.randrange(kinds) for _ in range(length)))
            assert grammars.unpack_words(grammars.pack_words(words)) == words, (length, kinds)


def sums(out, _contents):
    lines = (out / "SHA256SUMS").read_text().splitlines()
    told = dict(reversed(line.split("  ")) for line in lines)
    assert told == {path.name: release.sha256(path) for path in out.iterdir() if path.name != "SHA256SUMS"}


def archive(out, contents):
    with tarfile.open(out / f"docent-{contents.version}-{TARGET}.tar.gz") as packed:
        names = packed.getnames()
        top = f"docent-{contents.version}-{TARGET}"
        assert names == sorted(names) and all(name.startswith(f"{top}/") for name in names)
        assert packed.getmember(f"{top}/docent").mode == 0o755
        licences = packed.extractfile(f"{top}/THIRD-PARTY-LICENSES").read().decode()
        for crate in ("tantivy 0", "tree-sitter-swift 0", "rmcp ", "rusqlite ", "ureq ", "ring "):
            assert f"\n{crate}" in licences, crate
        assert f"{top}/man/docent-search.1" in names and f"{top}/completions/_docent" in names


def wheel(out, contents):
    (path,) = out.glob("*.whl")
    major, minor = contents.platform.glibc
    assert path.name.endswith(f"-py3-none-manylinux_{major}_{minor}_{platform.machine()}.whl"), path.name
    with zipfile.ZipFile(path) as packed:
        (record,) = (name for name in packed.namelist() if name.endswith("/RECORD"))
        rows = [line.split(",") for line in packed.read(record).decode().splitlines()]
        assert [row[0] for row in rows] == sorted(packed.namelist(), key=lambda name: (name == record, name))
        for name, digest, size in rows[:-1]:
            content = packed.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(content))), name
        (script,) = (one for one in packed.infolist() if one.filename.endswith(".data/scripts/docent"))
        assert script.external_attr >> 16 & 0o777 == 0o755


def deb(out, contents):
    (path,) = out.glob("*.deb")
    content = path.read_bytes()
    assert content.startswith(b"!<arch>\ndebian-binary ")
    if not shutil.which("dpkg-deb"):
        print("skipped: dpkg-deb is not installed")
        return
    listed = subprocess.run(["dpkg-deb", "--contents", path], capture_output=True, text=True, check=True).stdout
    for place in ("./usr/bin/docent", "./usr/share/man/man1/docent.1.gz", "./usr/share/zsh/vendor-completions/_docent"):
        assert re.search(rf"(?m) {re.escape(place)}$", listed), place
    field = subprocess.run(["dpkg-deb", "--field", path, "Depends"], capture_output=True, text=True, check=True).stdout
    assert field.startswith("libc6 (>= 2."), field


def bundle(out, contents):
    (path,) = out.glob("*.mcpb")
    with zipfile.ZipFile(path) as packed:
        manifest = json.loads(packed.read("manifest.json"))
        assert manifest["version"] == contents.version
        assert manifest["compatibility"]["platforms"] == ["linux"]
        assert packed.getinfo(manifest["server"]["entry_point"]).external_attr >> 16 & 0o777 == 0o755


def registry(out, contents):
    entry = json.loads((out / "server.json").read_text())
    assert [package["registryType"] for package in entry["packages"]] == ["pypi", "npm", "mcpb"]
    assert {package["version"] for package in entry["packages"]} == {contents.version}
    bundled = entry["packages"][-1]
    name = bundled["identifier"].rsplit("/", 1)[1]
    assert bundled["fileSha256"] == release.sha256(out / name)


def binstall(out, contents):
    url = re.search(r'(?m)^pkg-url = "(.+)"$', project.read("crates/app/Cargo.toml"))[1]
    for name, value in (("repo", project.ADDRESS), ("version", contents.version), ("target", TARGET)):
        url = url.replace(f"{{ {name} }}", value)
    assert url.startswith(f"{project.ADDRESS}/releases/download/v{contents.version}/"), url
    assert (out / url.rsplit("/", 1)[1]).exists(), url


def formula(out, contents):
    text = (out / "docent.rb").read_text()
    assert release.sha256(out / f"docent-{contents.version}-{TARGET}.tar.gz") in text
    # Each block has an end, and so have `class` and `def`.
    assert text.count(" do\n") + 2 == len(re.findall(r"(?m)^ *end$", text)), "blocks that do not end"
    if shutil.which("ruby"):
        subprocess.run(["ruby", "-c", out / "docent.rb"], stdout=subprocess.PIPE, check=True)


def npm(out, contents):
    """As npm lays the packages out; the launcher finds the binary and hands on arguments, output and status."""
    if not shutil.which("node"):
        print("skipped: node is not installed")
        return
    modules = out / "node_modules"
    for path in out.glob("npm-*.tgz"):
        with tarfile.open(path) as packed:
            described = json.loads(packed.extractfile("package/package.json").read())
            for member in packed:
                member.name = member.name.removeprefix("package/")
                packed.extract(member, modules / described["name"])
    main = modules / "docent"
    wanted = json.loads((main / "package.json").read_text())["optionalDependencies"]
    assert list(wanted) == [f"docent-{contents.platform.npm}"], wanted
    said = subprocess.run([main / "bin/docent.js", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"docent {contents.version}"), said
    failed = subprocess.run([main / "bin/docent.js", "no-such-command"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2, failed
    shutil.rmtree(modules / f"docent-{contents.platform.npm}")
    missing = subprocess.run([main / "bin/docent.js", "--version"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and "optional dependencies" in missing.stderr, missing
    shutil.rmtree(modules)


def installer(out, contents):
    home = out.parent / "home"
    prefix = home / "prefix"
    command = ["sh", out / "install.sh", "--from", out, "--prefix", prefix]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    said = subprocess.run([prefix / "bin/docent", "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"docent {contents.version}"), said
    subprocess.run([*command, "--remove"], env=environment, stdout=subprocess.PIPE, check=True)
    left = [path for path in home.rglob("*") if path.is_file()]
    assert not left, left

    # An archive that is not the one of SHA256SUMS installs nothing.
    packed = out / f"docent-{contents.version}-{TARGET}.tar.gz"
    content = bytearray(packed.read_bytes())
    content[len(content) // 2] ^= 1
    packed.write_bytes(content)
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "nothing was installed" in refused.stderr, refused
    assert not (prefix / "bin/docent").exists()
