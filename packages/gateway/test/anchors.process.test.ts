/** The signed end of the trail of a gateway reaches the places of `audit.anchor`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyTrail } from "@toolcrib/store";
import { canFindProcesses, findProcessesByEnvironment, makeTemporaryDirectory } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";

const node = process.execPath;
/** Writes its standard input to the file of its argument. */
const keep = 'require("node:fs").writeFileSync(process.argv[1], require("node:fs").readFileSync(0))';

test("a gateway hands the end of its trail to a file and to a command", async () => {
  await using directory = await makeTemporaryDirectory();
  const file = directory.join("anchors.jsonl");
  const taken = directory.join("taken.jsonl");
  const home = directory.join("home");
  const anchor = { file, command: [node, "-e", keep, taken] };
  await using test = await startTestGateway({ audit: { anchor } }, { home });
  const places = test.gateway.status().anchors;
  assert.deepEqual(
    places.map(({ place, anchored }) => [place, anchored]),
    [
      [`file ${file}`, 0],
      [`command ${node}`, 0],
    ],
  );
  await test.stop();
  assert.equal(readFileSync(taken, "utf8"), readFileSync(file, "utf8"));
  for (const anchorFile of [file, taken]) {
    const { findings, anchors, writers } = await verifyTrail(home, { anchorFile });
    assert.deepEqual(findings, []);
    assert.deepEqual(anchors, { count: 1, matched: 1 });
    assert.equal(writers[0]?.anchoredSequence, writers[0]?.lastSequence);
  }
  const warnings = test.logger.records.filter(({ level }) => level === "warn");
  assert.deepEqual(warnings, []);
});

test("anchors that fail are warnings, and one that hangs is ended", async () => {
  await using directory = await makeTemporaryDirectory();
  const file = directory.join("missing", "anchors.jsonl");
  const hang = "setInterval(() => undefined, 60_000)";
  const mark = directory.path;
  const anchor = { file, command: [node, "-e", hang, mark] };
  await using test = await startTestGateway({ audit: { anchor } }, { home: directory.join("home") });
  await test.stop();
  const reasons = test.logger.records
    .filter(({ message }) => message.includes("could not be anchored"))
    .map(({ fields }) => (fields as { readonly reason: string }).reason);
  assert.equal(reasons.length, 2);
  assert.match(reasons[0] ?? "", /Cannot append the end of the audit trail to .*missing/);
  assert.match(reasons[1] ?? "", /took longer than 5 s/);
  const records = test.logger.records.find(({ message }) => message === "task.process.launched");
  const { marker = "" } = (records?.fields ?? {}) as { readonly marker?: string };
  assert.notEqual(marker, "");
  if (canFindProcesses) assert.deepEqual(await findProcessesByEnvironment(`TOOLCRIB_SERVER=${marker}`), []);
});

test("a command that ends with another code is a warning with its last words", async () => {
  await using directory = await makeTemporaryDirectory();
  const anchor = { command: [node, "-e", 'console.error("error: no space"); process.exitCode = 3'] };
  await using test = await startTestGateway({ audit: { anchor } }, { home: directory.join("home") });
  await test.stop();
  const warning = test.logger.records.find(({ message }) => message.includes("could not be anchored"));
  const { reason = "" } = (warning?.fields ?? {}) as { readonly reason?: string };
  assert.match(reason, /exited with code 3: error: no space/);
});
