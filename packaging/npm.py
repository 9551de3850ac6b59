"""npm: `docent`, and a package with the binary for each platform, of which npm installs the one that fits.

`npx docent serve` runs a launcher of a few lines. Where Node can, it becomes the binary; else it waits for it.
"""

import json

from . import project

LAUNCHER = """#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");

// glibc tells its version in the report; musl has none.
const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const platform = `${process.platform}-${process.arch}${isMusl ? "-musl" : ""}`;
const packageName = `docent-${platform}`;

let binary;
try {
  const folder = dirname(require.resolve(`${packageName}/package.json`));
  binary = join(folder, "bin", process.platform === "win32" ? "docent.exe" : "docent");
} catch {}
if (!binary || !existsSync(binary)) {
  console.error(`docent: the package ${packageName} is not installed. Install docent with optional dependencies, or`);
  console.error("another way: ADDRESS#install");
  process.exit(1);
}

const given = process.argv.slice(2);
if (process.execve) {
  try {
    process.execve(binary, ["docent", ...given], process.env);
  } catch {}
}
const docent = spawn(binary, given, { stdio: "inherit", argv0: "docent" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => docent.kill(signal));
docent.on("error", (error) => {
  console.error(`docent: ${binary} cannot be started: ${error.message}`);
  process.exit(1);
});
docent.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
"""


def make(contents, compression):
    platform = contents.platform
    name = platform_package(platform.npm)
    described = describe(name, contents.version, f"The binary of docent for {platform.target}")
    described |= platform.npm_fields
    files = [
        ("package.json", text(described), 0o644),
        (f"bin/{platform.binary_name}", contents.binary, 0o755),
        ("README.md", f"# {name}\n\nThe binary of docent for `{platform.target}`. Install `docent` instead.\n".encode(), 0o644),
    ]
    files += [(page, content, 0o644) for page, content in contents.licences().items()]
    return packed(name, contents.version, files, compression)


def make_main(version, platforms, compression):
    """The package that people install. `platforms` are npm's names of those that have a package."""
    described = describe(project.NPM_NAME, version, project.SUMMARY)
    described |= {
        "keywords": project.KEYWORDS,
        # The MCP registry takes this as the proof that package and entry have the same owner.
        "mcpName": project.REGISTRY_NAME,
        "bin": {"docent": "bin/docent.js"},
        "optionalDependencies": {platform_package(platform): version for platform in sorted(platforms)},
    }
    files = [
        ("package.json", text(described), 0o644),
        ("bin/docent.js", LAUNCHER.replace("ADDRESS", project.ADDRESS).encode(), 0o755),
    ]
    files += [(page, project.read(page).encode(), 0o644) for page in ("README.md", "LICENSE-APACHE", "LICENSE-MIT")]
    return packed(project.NPM_NAME, version, files, compression)


def platform_package(platform):
    return f"{project.NPM_NAME}-{platform}"


def describe(name, version, description):
    return {
        "name": name,
        "version": version,
        "description": description,
        "license": project.LICENCE,
        "repository": {"type": "git", "url": f"git+{project.ADDRESS}.git"},
        "engines": {"node": ">=18"},
    }


def text(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def packed(name, version, files, compression):
    entries = [(f"package/{path}", content, mode) for path, content, mode in files]
    return {f"npm-{name}-{version}.tgz": compression.tar_gz(entries)}
