"""Archives whose bytes depend on their files alone: sorted entries, one time, one owner.

An entry is (path, content, mode). The packed bytes depend on the version of zlib and liblzma as well.
"""

import gzip
import io
import lzma
import tarfile
import time
import zipfile

from . import project


class Compression:
    """How much effort goes into compression. `quick` is none, for checks of packages that nobody keeps."""

    def __init__(self, quick=False):
        self.level = 0 if quick else 9

    def tar_gz(self, entries):
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=self.level) as stream:
            stream.write(tar(entries))
        return packed.getvalue()

    def debian_tar(self, entries):
        """The end of a member's name, and its content."""
        return (".tar.xz", lzma.compress(tar(entries), preset=9)) if self.level else (".tar", tar(entries))

    def zip(self, entries):
        packed = io.BytesIO()
        moment = time.gmtime(project.timestamp())[:6]
        with zipfile.ZipFile(packed, "w") as archive:
            for path, content, mode in sorted(entries):
                entry = zipfile.ZipInfo(path, moment)
                entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED, self.level)
        return packed.getvalue()

    def gzip(self, content):
        return gzip.compress(content, self.level, mtime=0)


def tar(entries):
    """With an entry for each directory, as `dpkg` asks for, if paths begin with `./`."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        made = set()
        for path, content, mode in sorted(entries):
            parents = [path[:end] for end, letter in enumerate(path) if letter == "/"]
            for directory in parents if path.startswith("./") else []:
                if directory not in made:
                    made.add(directory)
                    archive.addfile(tar_entry(directory, tarfile.DIRTYPE, 0, 0o755))
            archive.addfile(tar_entry(path, tarfile.REGTYPE, len(content), mode), io.BytesIO(content))
    return packed.getvalue()


def tar_entry(path, kind, size, mode):
    entry = tarfile.TarInfo(path)
    entry.type, entry.size, entry.mode, entry.mtime = kind, size, mode, project.timestamp()
    entry.uname = entry.gname = "root"
    return entry


def ar(members):
    packed = b"!<arch>\n"
    for name, content in members:
        packed += f"{name:<16}{project.timestamp():<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    return packed
