"""The platforms that packages exist for, by Rust's names, and what each registry calls them."""

import re
import sys


class Platform:
    def __init__(self, target, binary):
        """`binary` is the program's bytes: it tells which glibc it needs."""
        if target not in NPM:
            sys.exit(f"{target} is no platform that packages are made for: {', '.join(NPM)}")
        self.target = target
        self.is_windows = "windows" in target
        self.binary_name = "docent.exe" if self.is_windows else "docent"
        self.npm, self.npm_fields = NPM[target]
        self.machine = target.split("-")[0]
        self.bundle = BUNDLE[target.split("-")[2]]
        self.glibc = newest_glibc(binary) if target.endswith("-gnu") else None

    @property
    def wheel(self):
        """The tag of a wheel: PEP 600 for glibc, PEP 656 for musl."""
        if self.glibc:
            return f"manylinux_{self.glibc[0]}_{self.glibc[1]}_{self.machine}"
        if self.target.endswith("-musl"):
            return f"musllinux_1_2_{self.machine}"
        return OTHER_WHEELS[self.target]

    @property
    def debian(self):
        """Debian's architecture. None for a platform that has no Debian."""
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.machine] if self.glibc else None


NPM = {
    "x86_64-unknown-linux-gnu": ("linux-x64", {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}),
    "aarch64-unknown-linux-gnu": ("linux-arm64", {"os": ["linux"], "cpu": ["arm64"], "libc": ["glibc"]}),
    "x86_64-unknown-linux-musl": ("linux-x64-musl", {"os": ["linux"], "cpu": ["x64"], "libc": ["musl"]}),
    "aarch64-unknown-linux-musl": ("linux-arm64-musl", {"os": ["linux"], "cpu": ["arm64"], "libc": ["musl"]}),
    "x86_64-apple-darwin": ("darwin-x64", {"os": ["darwin"], "cpu": ["x64"]}),
    "aarch64-apple-darwin": ("darwin-arm64", {"os": ["darwin"], "cpu": ["arm64"]}),
    "x86_64-pc-windows-msvc": ("win32-x64", {"os": ["win32"], "cpu": ["x64"]}),
}
BUNDLE = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
# The oldest systems that Rust supports there.
OTHER_WHEELS = {
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-msvc": "win_amd64",
}


def newest_glibc(binary):
    """The newest version of glibc whose symbols the binary refers to, from its table of names."""
    versions = {tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[\0.])", binary)}
    if not versions:
        sys.exit("the binary refers to no version of glibc, although it is built for it")
    return max(versions)
