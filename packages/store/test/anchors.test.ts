/** Anchors outside the home show what the home alone cannot: a trail that was written anew with its own key. */

import assert from "node:assert/strict";
import { createPrivateKey, hash, randomBytes, sign } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalJson } from "@toolcrib/json";
import { appendAnchor, openStore, verifyTrail } from "@toolcrib/store";
import { makeTemporaryDirectory, rejectsWith } from "@toolcrib/testing";

/** Writes records in one run, and anchors its signed end in `anchorFile`. */
async function write(home: string, count: number, anchorFile: string, reason = "stopped"): Promise<void> {
  const heads: string[] = [];
  {
    await using store = await openStore(
      { home },
      {
        now: Date.now,
        randomBytes,
        onHead: (line) => heads.push(line),
        onProblem: (problem) => assert.fail(problem),
      },
    );
    for (let at = 0; at < count; at += 1) store.audit.record("server.stopped", { server: `s${at}`, reason });
  }
  for (const line of heads) await appendAnchor(anchorFile, line);
}

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

/** Writes the trail of `home` anew, as somebody who has its key can: chained and signed, with `change` applied. */
function rewrite(home: string, change: (line: string) => string): void {
  let previous = "0".repeat(64);
  let last = "";
  for (const name of readdirSync(join(home, "audit")).sort()) {
    const path = join(home, "audit", name);
    const lines = linesOf(path).map((line) => {
      last = change(line).replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${previous}"`);
      previous = hash("sha256", last, "hex");
      return last;
    });
    writeFileSync(path, `${lines.join("\n")}\n`);
  }
  const key = createPrivateKey(readFileSync(join(home, "audit-key.pem")));
  const headPath = join(home, "audit-heads", "001.json");
  const { signature: _, ...head } = JSON.parse(readFileSync(headPath, "utf8"));
  const signed = { ...head, hash: previous };
  const signature = sign(null, Buffer.from(canonicalJson(signed)), key).toString("base64");
  writeFileSync(headPath, `${JSON.stringify({ ...signed, signature })}\n`);
}

test("a trail that was written anew with the key of the home is found by its anchors only", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const anchorFile = directory.join("anchors.jsonl");
  for (let run = 0; run < 3; run += 1) await write(home, 10, anchorFile);
  assert.equal(linesOf(anchorFile).length, 3);
  if (process.platform !== "win32") assert.equal(statSync(anchorFile).mode & 0o777, 0o600);
  const intact = await verifyTrail(home, { anchorFile });
  assert.deepEqual(intact.findings, []);
  assert.deepEqual(intact.anchors, { count: 3, matched: 3 });
  assert.equal(intact.writers[0]?.anchoredSequence, 31);

  // Record 15 is of the second run: the first anchor still matches.
  rewrite(home, (line) =>
    line.includes('"sequence":"0000000000000015"') ? line.replace("stopped", "crashed") : line,
  );
  assert.deepEqual((await verifyTrail(home)).findings, []);
  const { findings, anchors } = await verifyTrail(home, { anchorFile });
  assert.deepEqual(
    findings.map(({ kind, segment, line }) => [kind, segment, line]),
    [
      ["anchor", anchorFile, 2],
      ["anchor", anchorFile, 3],
    ],
  );
  assert.match(findings[0]?.message ?? "", /record 21 of writer 001 is not the one that was anchored at /);
  assert.deepEqual(anchors, { count: 3, matched: 1 });
});

test("a trail that was replaced by a shorter one, another one or none is found by its anchors", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const anchorFile = directory.join("anchors.jsonl");
  await write(home, 10, anchorFile);
  const messagesOf = async (other: string) =>
    (await verifyTrail(other, { anchorFile })).findings.map(({ message }) => message);
  assert.match((await messagesOf(directory.join("none"))).join("\n"), /^.*, and this writer has no records$/);

  const other = directory.join("other");
  await write(other, 5, directory.join("unused.jsonl"));
  const ofOther = await messagesOf(other);
  assert.match(ofOther.join("\n"), /not signed with the key of this home/);
  assert.match(ofOther.join("\n"), /up to 11 were anchored at .*the last one here is 6/);

  // With the key of the home, the signature is right and the record is not.
  rmSync(other, { recursive: true });
  mkdirSync(other);
  cpSync(join(home, "audit-key.pem"), join(other, "audit-key.pem"));
  await write(other, 10, directory.join("unused.jsonl"));
  assert.deepEqual((await verifyTrail(other)).findings, []);
  assert.match((await messagesOf(other)).join("\n"), /^record 11 of writer 001 is not the one/);
});

test("an anchor of a record that retention deleted is no finding, unless no later one can be compared", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const anchorFile = directory.join("anchors.jsonl");
  await write(home, 10, anchorFile);
  const audit = { segmentMaxBytes: 2000, retainMaxBytes: 4000 };
  // Segments are deleted at the start of a run.
  for (const records of [40, 1]) {
    await using store = await openStore({ home, audit }, { now: Date.now, randomBytes });
    for (let at = 0; at < records; at += 1) {
      store.audit.record("server.stopped", { server: `s${at}`, reason: "again" });
      await store.audit.flush();
    }
  }
  const [unproved] = (await verifyTrail(home, { anchorFile })).findings;
  assert.match(
    unproved?.message ?? "",
    /the newest anchor of writer 001 is about record 11, .*nothing could be compared/,
  );
  await write(home, 1, anchorFile);
  const { findings, anchors, writers } = await verifyTrail(home, { anchorFile });
  assert.deepEqual(findings, []);
  assert.ok((writers[0]?.firstSequence ?? 0) > 10);
  assert.deepEqual(anchors, { count: 2, matched: 1 });
});

test("lines that are no anchors are named, a line that a crash left is ended, and a missing file is an error", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const anchorFile = directory.join("anchors.jsonl");
  writeFileSync(anchorFile, '{"format":1,"wri');
  await write(home, 3, anchorFile);
  appendFileSync(anchorFile, "{}\n\n");
  const { findings, anchors } = await verifyTrail(home, { anchorFile });
  assert.deepEqual(
    findings.map(({ line, message }) => [line, message]),
    [
      [1, "the line is not an anchor"],
      [3, "the line is not an anchor"],
    ],
  );
  assert.deepEqual(anchors, { count: 1, matched: 1 });
  const forged = { ...JSON.parse(linesOf(anchorFile)[1] ?? ""), sequence: 2 };
  writeFileSync(anchorFile, `${JSON.stringify(forged)}\n`);
  assert.match(
    (await verifyTrail(home, { anchorFile })).findings.map(({ message }) => message).join("\n"),
    /not signed with the key of this home/,
  );
  await rejectsWith("AUDIT_ANCHOR_UNREADABLE", verifyTrail(home, { anchorFile: directory.join("none") }));
  for (const text of ["", "\n\n", "{}\n"]) {
    writeFileSync(anchorFile, text);
    await assert.rejects(verifyTrail(home, { anchorFile }), {
      code: "AUDIT_ANCHOR_UNREADABLE",
      message: /has no anchor/,
    });
  }
  truncateSync(anchorFile, 600 * 1024 * 1024);
  await assert.rejects(verifyTrail(home, { anchorFile }), {
    code: "AUDIT_ANCHOR_UNREADABLE",
    message: /has more than 1048576 anchors or 536870912 bytes/,
  });
  await rejectsWith("STORE_UNWRITABLE", appendAnchor(directory.path, "{}\n"));
});

test("a file that anchors one record many times takes no more work than one with as many records", async () => {
  await using directory = await makeTemporaryDirectory();
  const anchorFile = directory.join("anchors.jsonl");
  await write(directory.join("home"), 1, anchorFile);
  const head = JSON.parse(linesOf(anchorFile)[0] ?? "");
  const count = 15_000;
  const workOf = async (name: string, sequenceOf: (at: number) => number) => {
    const path = directory.join(name);
    const lines = Array.from({ length: count }, (_, at) =>
      JSON.stringify({ ...head, sequence: sequenceOf(at) }),
    );
    writeFileSync(path, `${lines.join("\n")}\n`);
    const before = process.cpuUsage();
    const { anchors } = await verifyTrail(directory.join("none"), { anchorFile: path });
    const { user, system } = process.cpuUsage(before);
    assert.equal(anchors?.count, count);
    return user + system;
  };
  const distinct = await workOf("distinct.jsonl", (at) => at + 1);
  const repeated = await workOf("repeated.jsonl", () => 1);
  // Relative to the same machine at the same time. The square of the lines would be many times as much.
  assert.ok(repeated < 4 * distinct, `${repeated} µs of CPU time instead of ${distinct} µs`);
});
