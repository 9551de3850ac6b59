// Reads what the conformance suite saved and holds it against docs/conformance.md, or writes that page anew.
// usage: node conformance-report.mjs RESULTS PAGE [--write]

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [results, page, write] = process.argv.slice(2);
const revisions = ["2025-11-25", "2026-07-28"];

// A check that only met the answer to an unknown tool says nothing about docent.
const aboutAFixture = (check) =>
  /Unknown tool|[Nn]ot testable|untestable|test_/.test(JSON.stringify([check.errorMessage, check.details ?? ""]));

// What the suite expects a server to offer besides its own protocol: tools, prompts and resources of fixed names.
const fixtureScenario =
  /^(tools-call-|prompts-get|resources-(read|templates-read|subscribe|unsubscribe)|elicitation|input-required|tasks|json-schema-2020-12|server-sse-polling|http-custom-header)/;

function outcome(scenario, checks) {
  const own = checks.filter((check) => check.id !== "wire-schema-valid");
  const failures = checks.filter((check) => check.status === "FAILURE");
  const real = failures.filter((check) => !aboutAFixture(check) && !fixtureScenario.test(scenario));
  const passed = checks.filter((check) => check.status === "SUCCESS" && !aboutAFixture(check)).length;
  if (real.length > 0) return { kind: "failed", passed, why: real.map((check) => check.id).join(", ") };
  if (fixtureScenario.test(scenario)) {
    const schema = checks.find((check) => check.id === "wire-schema-valid");
    if (schema?.status === "FAILURE") return { kind: "failed", passed, why: "wire-schema-valid" };
    if (own.some((check) => check.status === "SUCCESS") && own.every((check) => check.status === "SUCCESS" && !aboutAFixture(check)))
      return { kind: "passed", passed, why: "" };
    return { kind: "needs a fixture", passed, why: "" };
  }
  const left = failures.map((check) => check.id).join(", ");
  return { kind: "passed", passed, why: left && `needs a fixture for: ${left}` };
}

const rows = [];
for (const revision of revisions) {
  for (const folder of readdirSync(join(results, revision)).sort()) {
    const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(results, revision, folder, "checks.json"), "utf8"));
    rows.push({ revision, scenario, ...outcome(scenario, checks) });
  }
}

const count = (kind) => rows.filter((row) => row.kind === kind).length;
const section = (revision) => {
  const here = rows.filter((row) => row.revision === revision);
  const passed = here.filter((row) => row.kind === "passed");
  const needs = here.filter((row) => row.kind === "needs a fixture").map((row) => `\`${row.scenario}\``);
  return [
    `\n## ${revision}\n`,
    "| scenario | checks passed | note |\n|---|---|---|",
    ...passed.map((row) => `| ${row.scenario} | ${row.passed} | ${row.why} |`),
    `\nNot applicable, ${needs.length} scenarios: ${needs.join(", ")}.`,
  ].join("\n");
};
const text = `# Conformance

Made by \`scripts/conformance --write\`; do not edit. The protocol's own suite
(\`@modelcontextprotocol/conformance\` 0.2.0-alpha.12, \`server --requirements REVISION\`) over HTTP against the shipped binary.

Many scenarios call tools, prompts or resources of fixed names that only a test server has. docent has none of them, so those
scenarios say nothing about it, even where they pass on the answer to an unknown tool; they are listed as not applicable and not
counted. In all of them every message was still held against the protocol's schema. Checks that only met such an answer are
not counted either.
${revisions.map(section).join("\n")}
`;

const failures = rows.filter((row) => row.kind === "failed");
for (const row of failures) console.error(`FAIL ${row.revision} ${row.scenario}: ${row.why}`);
const counted = (page) => {
  const passed = new Set();
  let revision;
  for (const line of page.split("\n")) {
    revision = line.match(/^## (\S+)$/)?.[1] ?? revision;
    const scenario = line.match(/^\| ([a-z0-9-]+) \| \d+ \|/)?.[1];
    if (scenario) passed.add(`${revision} ${scenario}`);
  }
  return passed;
};
const now = counted(text);
const lost = [...counted(readFileSync(page, "utf8"))].filter((scenario) => !now.has(scenario));
if (write) writeFileSync(page, text);
else for (const scenario of lost) console.error(`FAIL ${scenario}: passed before, and did not pass or run now`);
if (readFileSync(page, "utf8") !== text)
  console.error("note: docs/conformance.md differs from this run; scripts/conformance --write renews it");
console.log(`Conformance: ${count("passed")} passed, ${failures.length} failed, ${count("needs a fixture")} skipped`);
process.exit(failures.length > 0 || (!write && lost.length > 0) ? 1 : 0);
