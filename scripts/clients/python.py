"""The official Python SDK against docent, over stdio and HTTP, in both protocol eras.

usage: python.py DOCENT ROOT URL
"""

import asyncio
import sys
import traceback

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

docent, root, url = sys.argv[1:]
ways = {
    "stdio": lambda: stdio_client(StdioServerParameters(command=docent, args=["serve", "--root", root])),
    "http": lambda: streamable_http_client(url),
}


async def converse(transport, mode: str, expected: str) -> None:
    async with Client(transport, mode=mode) as client:
        assert client.protocol_version == expected, client.protocol_version
        tools = (await client.list_tools()).tools
        assert len(tools) >= 4, tools
        hello = await client.call_tool("hello", {"name": "SDK"})
        assert hello.structured_content["message"] == "Hello, SDK!", hello
        read = await client.call_tool("read_file", {"path": "Cargo.toml"})
        assert read.structured_content["file"]["language"] == "toml", read
        found = await client.call_tool("grep_codebase", {"pattern": r"fn all\(\)"})
        assert found.structured_content["totalMatches"] > 0, found
        denied = await client.call_tool("read_repo_file", {"path": ".git/config"})
        assert denied.is_error, denied


failed = 0
for name, transport in ways.items():
    for mode, expected in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]:
        try:
            asyncio.run(converse(transport(), mode, expected))
            print(f"ok   Python {name} {mode}")
        except Exception:
            failed += 1
            print(f"FAIL Python {name} {mode}")
            traceback.print_exc()
print(f"Python: {6 - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
