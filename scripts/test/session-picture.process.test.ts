/** The session at the beginning of the README is what its commands print today. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { canRecord, recordSession } from "../../site/pictures/record-session.ts";
import { drawSession, linesOfPicture } from "../../site/pictures/session.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const skip = canRecord ? false : "needs script of util-linux";

/** Returns the cells of a line, without what differs from run to run: times, durations, and the ids of calls. */
function cellsOf(line: string): string[] {
  return line
    .replace(/\d\d-\d\d \d\d:\d\d:\d\dZ/g, "TIME")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/g, "ID")
    .replace(/\d+(?:\.\d+)? m?s\b/g, "DURATION")
    .split(/ {2,}/);
}

/** Whether two cells show the same text. The width of the durations beside a cell decides how much of its middle or end is cut. */
function isSameCell(one: string, other: string): boolean {
  if (!one.includes("…") && !other.includes("…")) return one === other;
  const [start = "", end = ""] = one.split("…");
  const [otherStart = "", otherEnd = ""] = other.split("…");
  const isSameStart = start.startsWith(otherStart) || otherStart.startsWith(start);
  return isSameStart && (end.endsWith(otherEnd) || otherEnd.endsWith(end));
}

function isSameLine(one: string, other: string | undefined): boolean {
  const [cells, others] = [cellsOf(one), cellsOf(other ?? "")];
  return cells.length === others.length && cells.every((cell, at) => isSameCell(cell, others[at] ?? ""));
}

test("the recorded session shows what the commands print", { skip }, async () => {
  const shown = linesOfPicture(readFileSync(join(root, "docs/pictures/session.svg"), "utf8"));
  const today = linesOfPicture(drawSession(await recordSession()));
  assert.ok(shown.length > 15);
  assert.equal(today.length, shown.length, `npm run docs:pictures\n${today.join("\n")}`);
  for (const [at, line] of shown.entries()) {
    assert.ok(isSameLine(line, today[at]), `npm run docs:pictures\n- ${line}\n+ ${today[at]}`);
  }
});
