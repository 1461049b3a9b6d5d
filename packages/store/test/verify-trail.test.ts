/** The verification of a trail finds each change of it, and nothing in a trail that nobody changed. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { acceptFindings, openStore, type StoreError, verifyTrail } from "@toolcrib/store";
import { fastSample, makeTemporaryDirectory, runsAll, type TemporaryDirectory } from "@toolcrib/testing";

const deps = { now: Date.now, randomBytes };
const acceptance = { reason: "seen", by: { issuer: "toolcrib:cli", subject: "cli", name: "cli" } };

interface Trail {
  readonly home: string;
  /** Paths of the segments, in order. */
  readonly segments: () => readonly string[];
}

/** Writes `count` records to the home, in segments of `segmentMaxBytes`. */
async function write(
  home: string,
  count: number,
  segmentMaxBytes = 64 * 1024,
  onProblem = (problem: StoreError): void => assert.fail(problem),
): Promise<void> {
  await using store = await openStore(
    { home, audit: { segmentMaxBytes } },
    { now: Date.now, randomBytes, onProblem },
  );
  for (let at = 0; at < count; at += 1) {
    store.audit.record("server.stopped", { server: `s${at}`, reason: `reason "${at}" \u202e\n ünï` });
    if (at % 50 === 0) await store.audit.flush();
  }
}

/** A trail of 1,000 records of two runs, which each test copies. */
async function writeTrail(directory: TemporaryDirectory): Promise<Trail> {
  const home = directory.join("home");
  await write(home, 500);
  await write(home, 500);
  return trailIn(home);
}

function trailIn(home: string): Trail {
  const folder = join(home, "audit");
  const segments = () =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  return { home, segments };
}

/** Returns `first` and every `step`-th number after it, below `end`. */
function everyNth(first: number, end: number, step: number): readonly number[] {
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / step)) }, (_, at) => first + at * step);
}

const kindsIn = async (home: string) => (await verifyTrail(home)).findings.map(({ kind }) => kind);

describe("verifyTrail()", () => {
  test("finds nothing in a trail of several runs and segments, and proves it to its end", async () => {
    await using directory = await makeTemporaryDirectory();
    const { home, segments } = await writeTrail(directory);
    assert.ok(segments().length >= 3, `${segments().length} segments`);
    const { writers, findings, publicKey } = await verifyTrail(home);
    assert.deepEqual(findings, []);
    assert.match(publicKey ?? "", /BEGIN PUBLIC KEY/);
    assert.equal(writers.length, 1);
    const [writer] = writers;
    assert.deepEqual(
      [writer?.records, writer?.firstSequence, writer?.lastSequence, writer?.provedSequence],
      // The first record names the key.
      [1001, 1, 1001, 1001],
    );
    assert.equal(writer?.unchainedRecords, 0);
    const nothing = { writers: [], findings: [], accepted: [], unfinished: [] };
    assert.deepEqual(await verifyTrail(directory.join("none")), nothing);
  });

  test("finds each flip of a bit, each removed, repeated and exchanged line, and names its place", async () => {
    await using directory = await makeTemporaryDirectory();
    const { segments, home } = await writeTrail(directory);
    for (const [number, path] of segments().entries()) {
      const whole = readFileSync(path);
      const lines = whole.toString("utf8").split("\n").slice(0, -1);
      const isLast = number === segments().length - 1;
      const expectFound = async (content: string | Buffer, what: string) => {
        writeFileSync(path, content);
        const { findings } = await verifyTrail(home);
        assert.notEqual(findings.length, 0, `${what} of ${path}`);
        // Thousands of short trails are read without a turn of the event loop.
        await nextTurn();
      };
      for (const at of fastSample(everyNth(number, whole.length, runsAll ? 397 : 9973))) {
        const flipped = Buffer.from(whole);
        flipped[at] = (flipped[at] as number) ^ 1;
        await expectFound(flipped, `flip of byte ${at}`);
      }
      for (const at of fastSample(everyNth(number, lines.length, runsAll ? 1 : 61))) {
        const line = lines[at] as string;
        await expectFound(`${lines.toSpliced(at, 1).join("\n")}\n`, `removal of line ${at + 1}`);
        await expectFound(`${lines.toSpliced(at, 0, line).join("\n")}\n`, `repetition of line ${at + 1}`);
        const next = lines[at + 1];
        if (next !== undefined)
          await expectFound(
            `${lines.toSpliced(at, 2, next, line).join("\n")}\n`,
            `exchange of line ${at + 1}`,
          );
      }
      await expectFound(`${lines.slice(0, -1).join("\n")}\n`, "cut-off last line");
      await expectFound("", "emptied segment");
      rmSync(path);
      if (segments().length > 0)
        assert.notDeepEqual(await kindsIn(home), [], `removed segment ${path}${isLast ? ", the last" : ""}`);
      writeFileSync(path, whole);
      assert.deepEqual(await kindsIn(home), []);
    }
    const [first = ""] = segments();
    const text = readFileSync(first, "utf8");
    writeFileSync(first, text.replace('"server":"s3"', '"server":"s4"'));
    const [finding] = (await verifyTrail(home)).findings;
    assert.equal(finding?.line, 6);
    assert.match(finding?.message ?? "", /record 6 does not follow the line before it/);
  });

  test("finds a trail without its segments, a false head and a head that another key signed", async () => {
    await using directory = await makeTemporaryDirectory();
    const { home, segments } = await writeTrail(directory);
    const copy = directory.join("copy");
    const reset = () => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(home, copy, { recursive: true });
    };
    reset();
    for (const path of trailIn(copy).segments()) rmSync(path);
    assert.deepEqual(await kindsIn(copy), ["cut_off"]);
    reset();
    const headPath = join(copy, "audit-heads", "001.json");
    const head = readFileSync(headPath, "utf8");
    writeFileSync(headPath, head.replace('"sequence":1001', '"sequence":1000'));
    assert.deepEqual(await kindsIn(copy), ["head"]);
    writeFileSync(headPath, "{");
    assert.deepEqual(await kindsIn(copy), ["head"]);
    reset();
    const other = directory.join("other");
    await write(other, 1);
    cpSync(join(other, "audit-key.pem"), join(copy, "audit-key.pem"));
    assert.deepEqual(await kindsIn(copy), ["writers", "head", "key"]);
    assert.ok(segments().length > 0);
  });

  test("explains what a crash left and what retention deleted, and nothing that only looks like it", async () => {
    await using directory = await makeTemporaryDirectory();
    const { home, segments } = await writeTrail(directory);
    const last = segments().at(-1) as string;
    appendFileSync(last, '{"specversion":"1.0","id":"torn');
    assert.deepEqual(await kindsIn(home), [], "a writer may be writing the line");
    // The next writer reports the damage as a problem, too.
    {
      await using store = await openStore({ home }, { now: Date.now, randomBytes });
      await store.audit.flush();
    }
    assert.deepEqual(await kindsIn(home), []);
    // After the last record, it can be what a start left that was killed; before a record, it is one that was changed.
    appendFileSync(last, "not a record\n");
    assert.equal((await verifyTrail(home)).unfinished.length, 1);
    assert.deepEqual(await kindsIn(home), []);
    const whole = readFileSync(last, "utf8").replace("not a record\n", "");
    const lastLine = whole.lastIndexOf("\n", whole.length - 2) + 1;
    writeFileSync(last, `${whole.slice(0, lastLine)}not a record\n${whole.slice(lastLine)}`);
    assert.deepEqual(await kindsIn(home), ["unreadable"]);
    writeFileSync(last, whole);

    const before = segments().length;
    {
      await using store = await openStore(
        { home, audit: { retainMaxBytes: 300_000 } },
        { now: Date.now, randomBytes },
      );
      await store.audit.flush();
    }
    assert.ok(segments().length < before, "segments were deleted");
    const { writers, findings } = await verifyTrail(home);
    assert.deepEqual(findings, []);
    assert.ok((writers[0]?.firstSequence ?? 0) > 1);
    // Everybody who can write to the home can write a record of a deletion; only the signed one counts.
    const tombstone = join(home, "audit-heads", "001.pruned.json");
    const text = readFileSync(tombstone, "utf8");
    writeFileSync(tombstone, text.replace(/"lastSequence":\d+/, '"lastSequence":7'));
    assert.deepEqual(await kindsIn(home), ["missing"]);
    writeFileSync(tombstone, text);
    assert.deepEqual(await kindsIn(home), []);
    rmSync(segments()[0] as string);
    assert.deepEqual(await kindsIn(home), ["missing"]);
  });

  test("finds records that were removed after retention deleted a segment with their end in it", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home, 300, 16 * 1024);
    const { segments } = trailIn(home);
    const linesOf = (path = "") => readFileSync(path, "utf8").trimEnd().split("\n");
    const all = segments();
    assert.ok(all.length >= 5, `${all.length} segments`);
    // To sign the last line of a deleted segment is to sign that everything up to it was deleted.
    const [first = "", second = "", third = ""] = all;
    const last = linesOf(first).length;
    appendFileSync(first, `${linesOf(third).at(-1)}\n`);
    const bytes = all.reduce((sum, path) => sum + readFileSync(path).length, 0);
    {
      const audit = { segmentMaxBytes: 16 * 1024, retainMaxBytes: bytes - 8 * 1024 };
      await using store = await openStore({ home, audit }, deps);
      await store.audit.flush();
    }
    assert.deepEqual(segments().slice(0, 2), [second, third], "one segment was deleted");
    const after = await verifyTrail(home);
    assert.deepEqual(
      after.findings.map(({ kind }) => kind),
      ["damaged"],
    );
    assert.match(
      after.findings[0]?.message ?? "",
      new RegExp(`001-00000001.jsonl\\): record \\d+ does not follow record ${last}$`),
    );
    for (const path of [second, third]) rmSync(path);
    assert.deepEqual(await kindsIn(home), ["missing", "damaged"]);
  });

  test("names what was changed in a segment that retention deletes", async () => {
    const forged = (lines: readonly string[]) =>
      lines.map((line) => line.replace(/"previous":"\w+",/, "").replace("reason", "raison"));
    const changes: readonly (readonly [(lines: string[]) => readonly string[], RegExp])[] = [
      [(lines) => lines.toSpliced(5, 1), /: record 7 does not follow record 5$/],
      [
        (lines) => lines.with(5, forged(lines)[5] ?? ""),
        /: record 6 has no hash of .*; record 7 does not follow record 6$/,
      ],
      [(lines) => lines.slice(3), /: the records before 4 are missing$/],
      [(lines) => lines.toSpliced(5, 0, "{}"), /: 1 of its lines are no records, and no crash left them$/],
      [(lines) => [...lines, "{}"], /: 1 of its lines are no records, and no crash left them$/],
      [
        (lines) => [...lines, (lines.at(-1) ?? "").replace('"writer":"001"', '"writer":"002"')],
        /: 1 of its records are those of another writer$/,
      ],
      [
        (lines) => lines.with(-1, (lines.at(-1) ?? "").replace("reason", "raison")),
        /: its last record is not the one that the next segment goes on from: it or an earlier one was changed$/,
      ],
      [(lines) => lines.slice(0, -1), /: record \d+ is missing$/],
      [(lines) => lines.slice(0, -5), /: the records from \d+ to \d+ are missing$/],
      [forged, /: its last record is not the one that the next segment goes on from/],
      [() => [], /: 1 of its lines are no records.*; the records from 1 to \d+ are missing$/],
      [() => ["no record"], /: 1 of its lines are no records.*; the records from 1 to \d+ are missing$/],
    ];
    for (const [change, expected] of changes) {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      await write(home, 300, 16 * 1024);
      const { segments } = trailIn(home);
      const [first = ""] = segments();
      const lines = readFileSync(first, "utf8").trimEnd().split("\n");
      writeFileSync(first, `${change(lines).join("\n")}\n`);
      const bytes = segments().reduce((sum, path) => sum + readFileSync(path).length, 0);
      {
        const audit = { segmentMaxBytes: 16 * 1024, retainMaxBytes: bytes - 8 * 1024 };
        await using store = await openStore({ home, audit }, deps);
        await store.audit.flush();
      }
      assert.ok(!segments().includes(first));
      // The rest of the trail is as it was written, so that nothing else is a finding from then on.
      const { findings } = await verifyTrail(home);
      assert.deepEqual(
        findings.map(({ kind }) => kind),
        ["damaged"],
      );
      assert.match(findings[0]?.message ?? "", expected);
    }
  });

  test("an acceptance does not hold for signatures that a gateway writes again", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home, 20);
    await using store = await openStore({ home }, deps);
    await store.audit.flush();
    const head = join(home, "audit-heads", "001.json");
    rmSync(head);
    const { accepted, report } = await acceptFindings(home, acceptance, deps);
    assert.deepEqual([accepted, report.findings.map(({ kind }) => kind)], [[], ["head"]]);
    const [segment = ""] = trailIn(home).segments();
    const early = readFileSync(segment);
    for (let at = 0; at < 20; at += 1)
      store.audit.record("server.stopped", { server: `late${at}`, reason: "" });
    await store[Symbol.asyncDispose]();
    assert.deepEqual(await kindsIn(home), []);
    // Cut off to what was there when the findings were accepted, without the signed end.
    writeFileSync(segment, early);
    rmSync(head);
    assert.deepEqual(await kindsIn(home), ["head"]);
  });

  test("finds records that were added to what retention deleted, and not those that it was about to delete", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home, 300, 16 * 1024);
    const { segments } = trailIn(home);
    const all = segments().map((path) => [path, readFileSync(path, "utf8")] as const);
    {
      const audit = { segmentMaxBytes: 16 * 1024, retainMaxBytes: 40_000 };
      await using store = await openStore({ home, audit }, { now: Date.now, randomBytes });
      await store.audit.flush();
    }
    assert.deepEqual(await kindsIn(home), []);
    const deleted = all.filter(([path]) => !segments().includes(path));
    assert.ok(deleted.length >= 2, `${deleted.length} segments were deleted`);
    const [first = ""] = segments();
    const whole = readFileSync(first, "utf8");
    // A gateway was killed before it deleted the last of them, or before it deleted any.
    for (const kept of [deleted.slice(-1), deleted]) {
      for (const [path, text] of kept) writeFileSync(path, text);
      assert.deepEqual(await kindsIn(home), []);
      for (const [path] of kept) rmSync(path);
    }
    const [, text = ""] = deleted.at(-1) ?? [];
    const lines = text.trimEnd().split("\n");
    const forged = (line: string, at: number) =>
      line
        .replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${"a".repeat(64)}"`)
        .replace(/"sequence":"\d{16}"/, `"sequence":"${String(at).padStart(16, "0")}"`);
    const [line = ""] = lines;
    const added: readonly (readonly string[])[] = [
      [forged(line, 5)],
      [forged(line, 5), forged(line, 9)],
      // The last one, whose hash is signed, is left out, or was changed as well.
      lines.slice(0, -1),
      [forged(line, 5), ...lines.slice(0, -1)],
      [...lines.slice(0, -1), (lines.at(-1) ?? "").replace("reason", "raison")],
      // Genuine ones with a hole.
      [...lines.slice(0, 2), ...lines.slice(3)],
    ];
    for (const [at, records] of added.entries()) {
      writeFileSync(first, `${records.join("\n")}\n${whole}`);
      assert.notDeepEqual(await kindsIn(home), [], `case ${at}`);
    }
    // Only the oldest record is left of everything.
    for (const path of segments().slice(1)) rmSync(path);
    writeFileSync(first, `${(all[0]?.[1] ?? "").split("\n", 1)[0]}\n`);
    assert.ok((await kindsIn(home)).includes("missing"));
  });

  test("names the records that an earlier version wrote without hashes", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home, 20);
    const [path = ""] = trailIn(home).segments();
    const text = readFileSync(path, "utf8");
    const old = text.slice(text.indexOf("\n") + 1).replace(/"sequence":"(\d{16})"/g, (_, digits) => {
      return `"sequence":"${String(Number(digits) - 1).padStart(16, "0")}"`;
    });
    writeFileSync(path, old.replace(/"previous":"[0-9a-f]{64}",/g, ""));
    rmSync(join(home, "audit-heads"), { recursive: true });
    rmSync(join(home, "audit-key.pem"));
    await write(home, 20, undefined, () => undefined);
    // Nothing proves them, which an operator has to accept once.
    assert.deepEqual(await kindsIn(home), ["key", "damaged"]);
    const accepted = await acceptFindings(home, acceptance, deps);
    assert.deepEqual(accepted.report.findings, []);
    const { writers } = accepted.report;
    assert.deepEqual([writers[0]?.records, writers[0]?.unchainedRecords], [43, 20]);
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(
      path,
      lines.with(29, (lines[29] ?? "").replace(/"previous":"[0-9a-f]{64}",/, "")).join("\n"),
    );
    assert.ok((await kindsIn(home)).includes("unchained"));
  });
});
