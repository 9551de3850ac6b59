"""The official Python SDK against docent, over stdio and HTTP, in both protocol eras.

usage: python.py DOCENT ROOT URL
"""

import asyncio
import sys
import tempfile
import traceback

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, ResourceTemplateReference

docent, root, url = sys.argv[1:]
ways = {
    "stdio": lambda: stdio_client(StdioServerParameters(command=docent, args=["serve", "--root", root])),
    "http": lambda: streamable_http_client(url),
}


async def decline(context, params) -> ElicitResult:
    assert "decisions.jsonl" in params.message, params
    return ElicitResult(action="decline")


async def accept(context, params) -> ElicitResult:
    return ElicitResult(action="accept", content={})


async def converse(transport, mode: str, expected: str) -> None:
    async with Client(transport, mode=mode, elicitation_callback=decline) as client:
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
        entry = {"file": "decisions.jsonl", "entry": '{"decision": "nothing"}'}
        declined = await client.call_tool("write_memory_entry", entry)
        assert declined.is_error and "declined" in declined.content[0].text, declined
        resources = [str(one.uri) for one in (await client.list_resources()).resources]
        assert "context://project/overview" in resources, resources
        overview = await client.read_resource("context://project/overview")
        assert "## Modules" in overview.contents[0].text, overview
        template = ResourceTemplateReference(type="ref/resource", uri="context://module/{name}")
        completed = await client.complete(template, {"name": "name", "value": "eng"})
        assert completed.completion.values == ["engine"], completed


async def remember(mode: str) -> None:
    """In a project of its own: what the user accepts is written, and found again."""
    with tempfile.TemporaryDirectory() as project:
        server = StdioServerParameters(command=docent, args=["serve", "--root", project])
        async with Client(stdio_client(server), mode=mode, elicitation_callback=accept) as client:
            entry = {"file": "decisions.jsonl", "entry": '{"decision": "Prefer tabs", "module": "style"}'}
            written = await client.call_tool("write_memory_entry", entry)
            assert written.structured_content["success"] is True, written
            found = await client.call_tool("context_search", {"query": "prefer tabs", "type": "decision"})
            assert '"module":"style"' in found.content[0].text, found


failed = 0
for name, transport in ways.items():
    for mode, expected in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]:
        try:
            asyncio.run(converse(transport(), mode, expected))
            asyncio.run(remember(mode))
            print(f"ok   Python {name} {mode}")
        except Exception:
            failed += 1
            print(f"FAIL Python {name} {mode}")
            traceback.print_exc()
print(f"Python: {6 - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
