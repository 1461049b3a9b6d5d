/**
 * Records that were never signed: after a kill, or after an end of a running process that was put back, nobody without the
 * key can add records of other runs, or of more than two minutes, or put back an earlier list of writers. A copy of the home
 * at some moment is what a kill at that moment leaves.
 */

import assert from "node:assert/strict";
import { createPrivateKey, hash, randomBytes, sign } from "node:crypto";
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { canonicalJson, type JsonObject, parseJson } from "@toolcrib/json";
import { acceptFindings, openStore, type Store, verifyTrail } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";

const acceptance = { reason: "seen", by: { issuer: "toolcrib:cli", subject: "cli", name: "cli" } };
const deps = { now: Date.now, randomBytes };
const hourMs = 60 * 60 * 1000;

const segment = (home: string) => join(home, "audit", "001-00000001.jsonl");
const headOf = (home: string) => join(home, "audit-heads", "001.json");
const listOf = (home: string) => join(home, "audit-heads", "writers.json");
const linesOf = (home: string) => readFileSync(segment(home), "utf8").trimEnd().split("\n");
const objectIn = (text: string) => parseJson(text) as JsonObject;
const numberIn = (home: string, writer: string) =>
  objectIn(readFileSync(join(home, "audit-heads", `${writer}.json`), "utf8"))["listNumber"];
const headIn = (home: string) => objectIn(readFileSync(headOf(home), "utf8"));

/** Opens the store of `home`. A problem that `problems` does not take is a failure, except for an unfinished line. */
function open(home: string, problems?: string[], now = Date.now): Promise<Store> {
  const onProblem = ({ code, message }: { readonly code: string; readonly message: string }) => {
    if (problems === undefined) assert.equal(code, "AUDIT_SEGMENT_DAMAGED", message);
    else problems.push(code);
  };
  return openStore({ home }, { now, randomBytes, onProblem });
}

async function write({ audit }: Store, names: readonly string[]): Promise<void> {
  for (const server of names) audit.record("server.stopped", { server, reason: "stopped" });
  await audit.flush();
}

/** One run from start to shutdown, which writes a record for each of `names`. */
async function runOnce(home: string, names: readonly string[]): Promise<void> {
  await using store = await open(home);
  await write(store, names);
}

/** Runs of two writers at the same time, each with one record. Returns after both have shut down. */
async function runBoth(home: string, [one, other]: readonly [string, string]): Promise<void> {
  await using first = await open(home);
  await using second = await open(home);
  await write(first, [one]);
  await write(second, [other]);
}

/** Removes the second writer with its signed end. */
function removeSecondWriter(home: string): void {
  rmSync(join(home, "audit", "002-00000001.jsonl"));
  rmSync(join(home, "audit-heads", "002.json"));
}

async function findingsIn(home: string): Promise<readonly string[]> {
  return (await verifyTrail(home)).findings.map(({ kind, message }) => `${kind}: ${message}`);
}

/** Signs a file anew with the key of the home, as an earlier version wrote it: without the members `names`. */
function signWithout(home: string, path: string, names: readonly string[]): void {
  const key = createPrivateKey(readFileSync(join(home, "audit-key.pem"), "utf8"));
  const { signature: _signature, ...members } = objectIn(readFileSync(path, "utf8"));
  const kept = Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
  const signature = sign(null, Buffer.from(canonicalJson(kept)), key).toString("base64");
  writeFileSync(path, `${JSON.stringify({ ...kept, signature })}\n`);
}

/** Makes the signed files those of an earlier version. */
function makeOlder(home: string): void {
  const folder = join(home, "audit-heads");
  for (const name of readdirSync(folder))
    signWithout(home, join(folder, name), name === "writers.json" ? ["number"] : ["run", "listNumber"]);
}

/** Returns the run of the record in a line. */
function runOf(line = ""): string {
  return String(objectIn(line)["id"]).replace(/-\d+$/, "");
}

interface Forged {
  /** Milliseconds after the record before it. */
  readonly afterMs: number;
  /** @default that of the record before it */
  readonly run?: string;
  /** @default that of the record before it */
  readonly type?: string;
}

/** Appends records that continue the chain. */
function append(home: string, records: readonly Forged[]): void {
  let line = linesOf(home).at(-1) ?? "";
  for (const { afterMs, run, type } of records) {
    const record = objectIn(line);
    const sequence = String(Number(record["sequence"]) + 1).padStart(16, "0");
    line = JSON.stringify({
      ...record,
      ...(type === undefined ? {} : { type }),
      id: `${run ?? runOf(line)}-${sequence}`,
      sequence,
      previous: hash("sha256", line, "hex"),
      time: new Date(Date.parse(String(record["time"])) + afterMs).toISOString(),
    });
    appendFileSync(segment(home), `${line}\n`);
  }
}

/** A home in which two runs wrote, and the second one was killed: its last records are not signed. */
async function writeKilled(home: string, running: string): Promise<void> {
  await runOnce(running, ["a", "b", "c"]);
  await using second = await open(running);
  await write(second, ["d", "e", "f"]);
  cpSync(running, home, { recursive: true });
}

const repeat = (count: number, of: (at: number) => Forged) =>
  Array.from({ length: count }, (_, at) => of(at));
const otherRun = /record \d+ is not of the run that continued after the end signed at 2/;
const tooLong = /although they are of more than two minutes/;

const attacks: {
  readonly [what: string]: { readonly run: (home: string) => void; readonly says: RegExp };
} = {
  "records of two invented runs over fifty days": {
    run: (home) =>
      append(
        home,
        repeat(200, (at) => ({ afterMs: 6 * hourMs, run: `x${at % 2}` })),
      ),
    says: otherRun,
  },
  "one record of another run": { run: (home) => append(home, [{ afterMs: 1, run: "x" }]), says: otherRun },
  "one record of the run before": {
    run: (home) => append(home, [{ afterMs: 1, run: runOf(linesOf(home)[1]) }]),
    says: otherRun,
  },
  "records of invented runs after a head of an earlier version": {
    run: (home) => {
      makeOlder(home);
      append(
        home,
        repeat(4, (at) => ({ afterMs: 6 * hourMs, run: `x${at % 2}` })),
      );
    },
    says: otherRun,
  },
  "records of the last run whose times go backwards": {
    run: (home) =>
      append(
        home,
        repeat(13, () => ({ afterMs: -6 * hourMs })),
      ),
    says: tooLong,
  },
  "records of the last run with thirteen gaps": {
    run: (home) =>
      append(
        home,
        repeat(13, () => ({ afterMs: hourMs })),
      ),
    says: tooLong,
  },
  "records of the last run after one of an invented start": {
    run: (home) => {
      const run = runOf(linesOf(home).at(-1));
      append(home, [
        { afterMs: 1, run: "x", type: "audit.recovered" },
        { afterMs: 1, run, type: "server.stopped" },
        { afterMs: hourMs },
      ]);
    },
    says: otherRun,
  },
};

describe("after a kill, records cannot be added that no crash leaves:", () => {
  for (const [what, { run, says }] of Object.entries(attacks))
    test(what, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      await writeKilled(home, directory.join("running"));
      assert.deepEqual(await findingsIn(home), []);
      run(home);
      const [finding = "", ...others] = await findingsIn(home);
      assert.deepEqual(others, []);
      assert.match(finding, /^unsigned: records \d+ to \d+ were never signed/);
      assert.match(finding, says);
      const problems: string[] = [];
      await using _next = await open(home, problems);
      assert.ok(problems.includes("AUDIT_DAMAGED"));
      const [damaged = ""] = await findingsIn(home);
      assert.match(damaged, /^damaged: a start found/);
      assert.match(damaged, says);
    });

  test("what stays possible: records of the last run, of less than two minutes, with twelve gaps of any length", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await writeKilled(home, directory.join("running"));
    // The times of the records that are there count a few milliseconds.
    append(home, [...repeat(11, () => ({ afterMs: 100 * hourMs })), ...repeat(100, () => ({ afterMs: 1 }))]);
    assert.deepEqual(await findingsIn(home), []);
  });
});

test("an end of a running process that is put back is followed by records of its run only", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const openHead = directory.join("open.json");
  await runOnce(home, ["a"]);
  {
    await using second = await open(home);
    cpSync(headOf(home), openHead);
    await write(second, ["b", "refund"]);
  }
  await runOnce(home, ["c"]);
  assert.equal(typeof objectIn(readFileSync(openHead, "utf8"))["run"], "string");
  cpSync(openHead, headOf(home));
  const [finding = "", ...others] = await findingsIn(home);
  assert.deepEqual(others, []);
  assert.match(finding, otherRun);
});

describe("an honest trail has nothing to find", () => {
  test("after a kill and any number of starts that were killed, also in the middle of a write", async () => {
    await using directory = await makeTemporaryDirectory();
    let home = directory.join("home");
    await writeKilled(home, directory.join("running"));
    const headBefore = readFileSync(headOf(home));
    for (let at = 0; at < 15; at += 1) {
      // Half a record: the start names it in a record before it signs.
      appendFileSync(segment(home), '{"specversion":"1.0","id":"');
      const next = directory.join(`next${at}`);
      {
        await using _start = await open(home, undefined, () => Date.now() + at * hourMs);
        cpSync(home, next, { recursive: true });
      }
      // The start was killed between its first write and its signature.
      writeFileSync(headOf(next), headBefore);
      home = next;
      assert.deepEqual(await findingsIn(home), [], `after start ${at}`);
    }
    {
      await using last = await open(home);
      await write(last, ["z"]);
      assert.deepEqual(await findingsIn(home), []);
    }
    assert.deepEqual(await findingsIn(home), []);
  });

  test("after a start that was killed when it had signed, and one that writes and is killed", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await writeKilled(home, directory.join("running"));
    const second = directory.join("second");
    {
      await using _started = await open(home);
      cpSync(home, second, { recursive: true });
    }
    const third = directory.join("third");
    {
      await using started = await open(second);
      await write(started, ["g", "h"]);
      cpSync(second, third, { recursive: true });
      assert.deepEqual(await findingsIn(second), []);
    }
    assert.deepEqual(await findingsIn(third), []);
    assert.notEqual(headIn(third)["run"], headIn(home)["run"]);
    await using _next = await open(third);
    assert.deepEqual(await findingsIn(third), []);
  });

  test("after many short runs, of which some were killed", async () => {
    await using directory = await makeTemporaryDirectory();
    let home = directory.join("home");
    for (let at = 0; at < 12; at += 1) {
      const copy = directory.join(`copy${at}`);
      {
        await using store = await open(home);
        await write(store, [`s${at}`]);
        cpSync(home, copy, { recursive: true });
      }
      if (at % 3 === 1) home = copy;
      assert.deepEqual(await findingsIn(home), []);
    }
  });

  test("when the clock is set back by an hour during a run that is killed", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const copy = directory.join("copy");
    let offsetMs = 0;
    await using store = await open(home, undefined, () => Date.now() + offsetMs);
    for (let at = 0; at < 10; at += 1) {
      if (at === 5) offsetMs = -hourMs;
      await write(store, [`s${at}`]);
    }
    cpSync(home, copy, { recursive: true });
    assert.deepEqual(await findingsIn(copy), []);
    await using _next = await open(copy);
    assert.deepEqual(await findingsIn(copy), []);
  });

  test("in a home of an earlier version, after a shutdown, a kill, and a start that was killed", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await writeKilled(home, directory.join("running"));
    makeOlder(home);
    assert.deepEqual(Object.keys(headIn(home)), [
      "format",
      "writer",
      "sequence",
      "hash",
      "time",
      "signature",
    ]);
    assert.deepEqual(await findingsIn(home), []);
    const headBefore = readFileSync(headOf(home));
    const copy = directory.join("copy");
    appendFileSync(segment(home), '{"specversion":"1.0","id":"');
    {
      await using store = await open(home);
      cpSync(home, copy, { recursive: true });
      await write(store, ["g"]);
    }
    assert.deepEqual(await findingsIn(home), []);
    writeFileSync(headOf(copy), headBefore);
    assert.deepEqual(await findingsIn(copy), []);
    makeOlder(home);
    assert.deepEqual(await findingsIn(home), []);
    await using next = await open(home);
    await write(next, ["h"]);
    assert.deepEqual(await findingsIn(home), []);
  });
});

test("an earlier list of writers that is put back is found, with a writer that was removed", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const older = directory.join("writers.json");
  {
    await using first = await open(home);
    await write(first, ["a"]);
    cpSync(listOf(home), older);
    await using second = await open(home);
    await write(second, ["backdoor"]);
  }
  assert.deepEqual(await findingsIn(home), []);
  assert.equal(headIn(home)["listNumber"], 2);
  const attack = () => {
    removeSecondWriter(home);
    cpSync(older, listOf(home));
  };
  attack();
  const message =
    "an earlier list of writers (audit-heads/writers.json) was put back: its number is 1, and a signed end knows number 2";
  assert.deepEqual(await findingsIn(home), [`writers: ${message}`]);

  const problems: string[] = [];
  const copy = directory.join("copy");
  {
    await using _next = await open(home, problems);
    cpSync(home, copy, { recursive: true });
  }
  assert.deepEqual(problems, ["AUDIT_DAMAGED"]);
  for (const one of [home, copy]) {
    const [found = "", ...others] = await findingsIn(one);
    assert.match(found, /^damaged: .*its number is 1, and a signed end knows number 2/);
    assert.deepEqual(others, []);
  }
  await acceptFindings(home, acceptance, deps);
  await runBoth(home, ["b", "c"]);
  assert.deepEqual(await findingsIn(home), []);
  attack();
  assert.equal((await findingsIn(home)).length, 1);
});

test("a writer without new records signs the number of the list within a minute", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await using first = await open(home);
  await write(first, ["a"]);
  const heads: string[] = [];
  t.mock.timers.enable({ apis: ["setInterval"] });
  const onHead = (line: string) => heads.push(line);
  await using second = await openStore({ home }, { now: Date.now, randomBytes, onHead });
  await write(second, ["b"]);
  t.mock.timers.tick(60_000);
  await waitUntil(() => numberIn(home, "002") === 2, { what: "the second writer has signed the list" });
  await runOnce(home, ["c"]);
  assert.equal(numberIn(home, "003"), 3);
  assert.equal(numberIn(home, "002"), 2);
  const anchored = heads.length;
  t.mock.timers.tick(60_000);
  await waitUntil(() => numberIn(home, "002") === 3, { what: "the second writer has signed the new list" });
  assert.equal(heads.length, anchored, "an end of the same record is not anchored again");
});

test("a start of another writer does not hide that an earlier list of writers was put back", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const older = directory.join("writers.json");
  const copy = directory.join("copy");
  {
    await using first = await open(home);
    await write(first, ["a"]);
    cpSync(listOf(home), older);
    await runOnce(home, ["backdoor"]);
    // Signed after the second writer was listed.
    await write(first, ["b"]);
  }
  cpSync(home, copy, { recursive: true });
  removeSecondWriter(copy);
  cpSync(older, listOf(copy));
  // The first writer is held, so the start is that of a second one.
  const problems: string[] = [];
  await using _first = await open(copy, problems);
  await using _second = await open(copy, problems);
  assert.deepEqual(problems, ["AUDIT_DAMAGED"]);
  assert.match((await findingsIn(copy)).join("\n"), /an earlier list of writers was put back/);
});

test("a list of an earlier version gets a number with the next writer, and its copy is found then", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const older = directory.join("writers.json");
  await runOnce(home, ["a"]);
  makeOlder(home);
  cpSync(listOf(home), older);
  await runBoth(home, ["b", "c"]);
  assert.deepEqual(await findingsIn(home), []);
  assert.deepEqual(
    [objectIn(readFileSync(listOf(home), "utf8"))["number"], headIn(home)["listNumber"]],
    [1, 1],
  );
  cpSync(older, listOf(home));
  const found = await findingsIn(home);
  assert.match(found.join("\n"), /its number is 0, and a signed end knows number 1/);
});
