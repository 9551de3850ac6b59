// The official TypeScript SDKs against docent: v1 with the handshake, v2 in both eras, over stdio and HTTP.
// usage: node typescript.mjs DOCENT ROOT URL

import assert from "node:assert/strict";
import * as v2 from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [docent, root, url] = process.argv.slice(2);
const me = { name: "typescript", version: "0" };
const command = { command: docent, args: ["serve", "--root", root], stderr: "ignore" };

const ways = {
  "v1 stdio": () => [new ClientV1(me), new StdioV1(command)],
  "v1 http": () => [new ClientV1(me), new HttpV1(new URL(url))],
};
for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  const name = mode.pin ?? mode;
  const client = () => new v2.Client(me, { versionNegotiation: { mode } });
  ways[`v2 ${name} stdio`] = () => [client(), new StdioV2(command)];
  ways[`v2 ${name} http`] = () => [client(), new v2.StreamableHTTPClientTransport(new URL(url))];
}

let failed = 0;
for (const [name, open] of Object.entries(ways)) {
  try {
    const [client, transport] = open();
    await client.connect(transport);
    assert.equal(client.getServerVersion().name, "docent");
    assert.match(client.getInstructions(), /grep_codebase/);
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 4 && tools.every((tool) => tool.inputSchema.type === "object"));

    // The SDKs hold structuredContent against the tool's outputSchema by themselves.
    const hello = await client.callTool({ name: "hello", arguments: { name: "SDK" } });
    assert.equal(hello.structuredContent.message, "Hello, SDK!");
    const read = await client.callTool({ name: "read_file", arguments: { path: "Cargo.toml" } });
    assert.equal(read.structuredContent.file.language, "toml");
    const found = await client.callTool({ name: "grep_codebase", arguments: { pattern: "fn all\\(\\)" } });
    assert.ok(found.structuredContent.totalMatches > 0);
    const bytes = await client.callTool({ name: "read_repo_file", arguments: { path: "LICENSE-MIT", encoding: "base64" } });
    assert.match(Buffer.from(bytes.structuredContent.content, "base64").toString(), /^MIT License/);
    const denied = await client.callTool({ name: "read_file", arguments: { path: "../x" } });
    assert.equal(denied.isError, true);
    await client.close();
    console.log(`ok   TypeScript ${name}`);
  } catch (error) {
    failed += 1;
    console.error(`FAIL TypeScript ${name}:`, error);
  }
}
console.log(`TypeScript: ${Object.keys(ways).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
