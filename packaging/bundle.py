"""The MCP bundle: a zip with a manifest and the binary, which desktop clients install with one click."""

import json

from . import project


def make(contents, compression):
    platform = contents.platform
    manifest = json.loads(project.read("packaging/manifest.json"))
    manifest["version"] = contents.version
    manifest["repository"] = {"type": "git", "url": f"{project.ADDRESS}.git"}
    manifest["homepage"] = project.ADDRESS
    manifest["support"] = f"{project.ADDRESS}/issues"
    manifest["server"]["entry_point"] = f"server/{platform.binary_name}"
    manifest["server"]["mcp_config"]["command"] = f"${{__dirname}}/server/{platform.binary_name}"
    manifest["compatibility"]["platforms"] = [platform.bundle]
    files = [
        ("manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode(), 0o644),
        (f"server/{platform.binary_name}", contents.binary, 0o755),
        ("README.md", contents.pages["README.md"], 0o644),
    ]
    files += [(page, content, 0o644) for page, content in contents.licences().items()]
    return {f"docent-{contents.version}-{platform.target}.mcpb": compression.zip(files)}
