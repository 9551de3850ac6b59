#!/usr/bin/env node
// The chunk ids of speakeasy-api/docs-mcp for the files of some corpora, for eval/docs/peer.py --peer-chunks.
//
// usage: node peer_chunks.mjs CHECKOUT OUT.json [CORPUS…]
//
// CHECKOUT is a copy of its repository, built: `pnpm install`, then `tsc -p tsconfig.build.json` in packages/core and packages/cli.
// Each CORPUS is a directory, below CHECKOUT or anywhere; without any, those of the evaluation. The peer's command line builds an
// index in a temporary directory, without embeddings, and writes its chunks there. OUT.json: {corpus: {file: [ids in order]}}.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const EVALUATED = ["packages/eval/fixtures/realistic", "tests/fixtures/docs"];

function chunks(checkout, corpus) {
  const out = mkdtempSync(join(tmpdir(), "peer-chunks-"));
  try {
    const build = ["build", "--docs-dir", resolve(checkout, corpus), "--out", out, "--embedding-provider", "none"];
    execFileSync(process.execPath, [join(checkout, "packages/cli/dist/index.js"), ...build], { stdio: ["ignore", "ignore", "inherit"] });
    const files = {};
    for (const { filepath, chunk_id } of JSON.parse(readFileSync(join(out, "chunks.json"), "utf8"))) {
      (files[filepath] ??= []).push(chunk_id);
    }
    return files;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

const [checkout, out, ...corpora] = process.argv.slice(2);
if (!out) {
  console.error("usage: node peer_chunks.mjs CHECKOUT OUT.json [CORPUS…]");
  process.exit(2);
}
const all = (corpora.length ? corpora : EVALUATED).map((corpus) => [corpus, chunks(resolve(checkout), corpus)]);
writeFileSync(out, JSON.stringify(Object.fromEntries(all), null, 1) + "\n");
for (const [corpus, files] of all) {
  console.log(`${corpus}: ${Object.keys(files).length} files, ${Object.values(files).flat().length} chunks`);
}
