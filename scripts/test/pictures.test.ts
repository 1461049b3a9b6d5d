/** The pictures of README and site show what the repository says elsewhere. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { drawBenchmark, readBars } from "../../site/pictures/benchmark.ts";
import { drawCallPath, stages } from "../../site/pictures/call-path.ts";
import { drawSession, linesOfPicture, readTerminal } from "../../site/pictures/session.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");

test("the plot of the benchmark is that of its results", () => {
  const results = read("bench/RESULTS.md");
  assert.equal(read("docs/pictures/benchmark.svg"), drawBenchmark(results), "npm run docs:pictures");
  const ids = readBars(results, "Calls, 32 at a time", "calls/s").map(({ id }) => id);
  assert.ok(ids.includes("toolcrib") && ids.length >= 2, ids.join(", "));
});

test("a plot has a bar for each gateway with a value, and no panel for a table that is not there", () => {
  const results = [
    "- Date: 2026-01-02",
    "",
    "## Calls, 32 at a time",
    "",
    "| contender | version | calls/s |",
    "| --- | --: | --: |",
    "| direct | - | 900 |",
    "| toolcrib | 1 | 1200 |",
    "| a<b | 2 | 600 |",
    "| c | 3 | – |",
    "",
  ].join("\n");
  assert.deepEqual(readBars(results, "Calls, 32 at a time", "calls/s"), [
    { id: "toolcrib", value: 1200 },
    { id: "a<b", value: 600 },
  ]);
  const svg = drawBenchmark(results);
  assert.match(svg, />a&lt;b</);
  assert.match(svg, />1,200</);
  assert.doesNotMatch(svg, /Memory/);
});

test("the picture of a call has each step of ARCHITECTURE.md once, in order", () => {
  const [, section = ""] = read("ARCHITECTURE.md").split("## The path of a call");
  const steps = [...section.matchAll(/^\| ([^|]+) \| `packages\/[^`]+\.ts` \| `?\w+`? \|$/gm)].map(
    ([, step]) => step,
  );
  assert.ok(steps.length >= 10);
  assert.deepEqual(
    stages.flatMap((stage) => stage.steps),
    steps,
  );
  assert.equal(read("docs/pictures/call-path.svg"), drawCallPath(), "npm run docs:pictures");
});

test("the records in the picture of a call are those that a call leaves", () => {
  const events = read("packages/store/src/index.ts") + read("ARCHITECTURE.md");
  const records = stages.flatMap(({ record, refuses }) =>
    [record, refuses].filter((name) => name !== undefined),
  );
  assert.deepEqual(records, ["call.intent", "call.denied", "call.completed"]);
  for (const name of records) assert.ok(events.includes(`\`${name}\``), name);
});

test("a session is drawn as text, with the styles of a terminal and lines of its width", () => {
  const lines = readTerminal(`\u001b[1m\u001b[31merror\u001b[39m A\u001b[22m: b\r\n${"x".repeat(85)}\r\n`);
  assert.deepEqual(lines[0], [
    { text: "error", classes: ["b", "red"] },
    { text: " A", classes: ["b"] },
    { text: ": b", classes: [] },
  ]);
  assert.deepEqual(
    lines.slice(1).map(([span]) => span?.text.length),
    [80, 5],
  );
  assert.throws(() => readTerminal("a\u001b]0;title\u0007"), /control sequence/);
  const svg = drawSession([{ command: "a <b> & c", output: "one\r\n\r\ntwo\r\n" }]);
  assert.deepEqual(linesOfPicture(svg), ["$ a <b> & c", "one", "two"]);
  assert.match(svg, /prefers-reduced-motion:reduce/);
});
