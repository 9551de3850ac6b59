"""What a release has beside the packages of its platforms: it is made once they all lie in one directory.

- `npm-docent-VERSION.tgz`, the npm package that people install;
- `docent.rb`, the formula of Homebrew;
- `install.sh`, with the version and the address of this release;
- `server.json`, the entry for the MCP registry;
- `SHA256SUMS` of all other files.
"""

import copy
import hashlib
import json
import re
import sys

from . import npm, project
from .platforms import NPM
from .wheel import pep_440

HOMEBREW = {
    "aarch64-apple-darwin": ("on_macos", "on_arm"),
    "x86_64-apple-darwin": ("on_macos", "on_intel"),
    "aarch64-unknown-linux-gnu": ("on_linux", "on_arm"),
    "x86_64-unknown-linux-gnu": ("on_linux", "on_intel"),
}


def make(directory, compression):
    version = project.version()
    targets = {
        target
        for target in NPM
        for end in (".tar.gz", ".zip")
        if (directory / f"docent-{version}-{target}{end}").exists()
    }
    if not targets:
        sys.exit(f"{directory} has no archives of docent {version}")
    download = f"{project.ADDRESS}/releases/download/v{version}"
    made = npm.make_main(version, [NPM[target][0] for target in targets], compression)
    made["docent.rb"] = formula(version, download, directory, targets).encode()
    made["install.sh"] = install_script(version, download).encode()
    made["server.json"] = registry_entry(version, download, directory, targets)
    for name, content in made.items():
        (directory / name).write_bytes(content)
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    sums = "".join(f"{sha256(path)}  {path.name}\n" for path in files)
    (directory / "SHA256SUMS").write_text(sums, "utf-8", newline="\n")
    return [*made, "SHA256SUMS"]


def notes(version):
    """What CHANGELOG.md says about a version: under `## 1.2.3`, `## [1.2.3]` or either with a date."""
    section = re.search(rf"(?ms)^## \[?{re.escape(version)}(?![\w.+-])[^\n]*\n(.*?)(?=^## |\Z)", project.read("CHANGELOG.md"))
    if section is None or not section[1].strip():
        sys.exit(f"CHANGELOG.md has nothing under `## {version}`")
    return section[1].strip()


def formula(version, download, directory, targets):
    blocks = []
    for system in ("on_macos", "on_linux"):
        lines = []
        for target, (of, machine) in HOMEBREW.items():
            if of == system and target in targets:
                archive = f"docent-{version}-{target}.tar.gz"
                lines += [
                    f"    {machine} do",
                    f'      url "{download}/{archive}"',
                    f'      sha256 "{sha256(directory / archive)}"',
                    "    end",
                ]
        if lines:
            blocks.append("\n".join([f"  {system} do", *lines, "  end"]))
    return f"""class Docent < Formula
  desc "Guide to a software project for coding agents, over MCP and in the terminal"
  homepage "{project.ADDRESS}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

{chr(10).join(blocks)}

  def install
    bin.install "docent"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/docent.bash" => "docent"
    fish_completion.install "completions/docent.fish"
    zsh_completion.install "completions/_docent"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/docent --version")
    (testpath/"main.py").write "def greet():\\n    pass\\n"
    assert_match "main.py", shell_output("#{{bin}}/docent --root #{{testpath}} search greet")
  end
end
"""


def install_script(version, download):
    script = project.read("packaging/install.sh")
    for name, value in (("VERSION", version), ("DOWNLOAD", download), ("ADDRESS", project.ADDRESS)):
        script = script.replace(f"@{name}@", value)
    return script


def registry_entry(version, download, directory, targets):
    entry = json.loads(project.read("server.json"))
    entry["version"] = version
    (bundle,) = (package for package in entry["packages"] if package["registryType"] == "mcpb")
    bundles = []
    # One bundle for each platform, because clients cannot tell the two of Linux apart. musl runs on every distribution.
    for target in sorted(targets):
        if f"{target.removesuffix('-gnu')}-musl" in targets:
            continue
        path = directory / f"docent-{version}-{target}.mcpb"
        bundles.append(copy.deepcopy(bundle) | {"identifier": f"{download}/{path.name}", "fileSha256": sha256(path)})
    others = [package for package in entry["packages"] if package["registryType"] != "mcpb"]
    entry["packages"] = others + bundles
    for package in entry["packages"]:
        package["version"] = pep_440(version) if package["registryType"] == "pypi" else version
    return (json.dumps(entry, indent=2, ensure_ascii=False) + "\n").encode()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
