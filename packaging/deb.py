"""The Debian package: binary, manual pages and completions in the places of Debian.

It is written here, without dpkg: two archives in an `ar`.
"""

import email.utils
import gzip
import hashlib

from . import project
from .archives import ar

MAINTAINER = "The docent authors <docent-mcp@users.noreply.github.com>"
DESCRIPTION = """guide to a software project for coding agents and people
 docent knows a software project and hands a coding agent exactly the part it
 asks for: code, history, documentation, decisions and test coverage. It speaks
 the Model Context Protocol, and the same tools work on the command line. It
 runs on this machine: no key, no download at first start."""


def make(contents, compression):
    if (architecture := contents.platform.debian) is None:
        return {}
    # A tilde sorts before the end: a pre-release comes before its release.
    version = contents.version.replace("-", "~")
    files = [("usr/bin/docent", contents.binary, 0o755)]
    files += [(f"usr/share/man/man1/{file}.gz", packed(page), 0o644) for file, page in contents.manual.items()]
    files += [
        (f"usr/share/{place}", contents.completions[file], 0o644)
        for file, place in [
            ("docent.bash", "bash-completion/completions/docent"),
            ("docent.fish", "fish/vendor_completions.d/docent.fish"),
            ("_docent", "zsh/vendor-completions/_docent"),
        ]
    ]
    files += [
        ("usr/share/doc/docent/changelog.gz", packed(changelog(version)), 0o644),
        ("usr/share/doc/docent/copyright", copyright_file(contents), 0o644),
        ("usr/share/doc/docent/THIRD-PARTY-LICENSES.gz", packed(contents.pages["THIRD-PARTY-LICENSES"]), 0o644),
    ]
    control = [
        ("./control", control_file(contents, architecture, version, files), 0o644),
        ("./md5sums", "".join(f"{hashlib.md5(content).hexdigest()}  {path}\n" for path, content, _ in sorted(files)).encode(), 0o644),
    ]
    data = [(f"./{path}", content, mode) for path, content, mode in files]
    members = [("debian-binary", b"2.0\n")]
    for name, entries in (("control", control), ("data", data)):
        end, content = compression.debian_tar(entries)
        members.append((name + end, content))
    return {f"docent_{version}_{architecture}.deb": ar(members)}


def packed(content):
    # Debian asks for the best compression of pages.
    return gzip.compress(content, 9, mtime=0)


def control_file(contents, architecture, version, files):
    major, minor = contents.platform.glibc
    size = sum(-(-len(content) // 1024) for _, content, _ in files)
    return f"""Package: docent
Version: {version}
Section: devel
Priority: optional
Architecture: {architecture}
Maintainer: {MAINTAINER}
Installed-Size: {size}
Depends: libc6 (>= {major}.{minor}), libgcc-s1
Recommends: git
Homepage: {project.ADDRESS}
Description: {DESCRIPTION}
""".encode()


def changelog(version):
    when = email.utils.formatdate(project.timestamp())
    return f"""docent ({version}) unstable; urgency=medium

  * See {project.ADDRESS}/blob/v{version.replace('~', '-')}/CHANGELOG.md

 -- {MAINTAINER}  {when}
""".encode()


def copyright_file(contents):
    text = f"""Upstream-Name: docent
Upstream-Contact: {project.ADDRESS}/issues
Source: {project.ADDRESS}

Copyright: the docent authors
License: {project.LICENCE}. On Debian systems, the text of the Apache License 2.0
is in /usr/share/common-licenses/Apache-2.0. The licences of what is linked into
docent are in THIRD-PARTY-LICENSES.gz beside this file. The text of MIT:

"""
    return text.encode() + contents.pages["LICENSE-MIT"]
