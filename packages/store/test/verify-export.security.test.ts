/** Exports of the trail with a proof, and what is done to them on the way to an auditor. */

import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { canonicalJson } from "@toolcrib/json";
import { ExportProof, openStore, readTrail, verifyExport, verifyTrail } from "@toolcrib/store";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

/** Returns an export of `home` with its proof. @param between runs after each portion of it */
async function exportHome(home: string, between = (): Promise<void> => Promise.resolve()) {
  const proof = new ExportProof(home);
  const lines: string[] = [];
  for await (const portion of readTrail(home)) {
    const own = portion.filter(({ record: one }) => proof.includes(one)).map(({ line }) => line);
    for (const line of own) proof.add(`${line}\n`, 1);
    lines.push(...own);
    await between();
  }
  return { lines, proof: proof.format(Date.parse("2026-11-28T13:00:00Z")), keyDigest: proof.keyDigest };
}

/** Signs a document as the holder of the key of `home` does. */
function signAs(home: string, document: object): string {
  return sign(
    null,
    Buffer.from(canonicalJson(document)),
    readFileSync(`${home}/audit-key.pem`, "utf8"),
  ).toString("base64");
}

/** Signs a changed proof anew. */
function signProof(home: string, { signature: _signature, ...proof }: { readonly signature?: string }) {
  return { ...proof, signature: signAs(home, proof) };
}

/** Records of two writers by turns, and their proof. The second start of the first writer follows a shutdown. */
async function exportTrail(directory: TemporaryDirectory) {
  const home = directory.join("home");
  let time = Date.parse("2026-11-28T12:00:00Z");
  const now = () => {
    time += 1000;
    return time;
  };
  const open = () => openStore({ home }, { now, randomBytes, onProblem: (problem) => assert.fail(problem) });
  const record = async ({ audit }: Awaited<ReturnType<typeof open>>, name: string) => {
    audit.record("server.stopped", { server: name, reason: "stopped" });
    await audit.flush();
  };
  {
    await using first = await open();
    await record(first, "a");
    await using second = await open();
    for (const name of ["b", "c"]) {
      await record(second, name);
      await record(first, name);
    }
  }
  {
    await using again = await open();
    await record(again, "e");
  }
  return { home, ...(await exportHome(home)), open, record };
}

type Report = Awaited<ReturnType<typeof verifyExport>>;

/** Verifies lines and a proof; `undefined` for no proof. */
async function verify(
  directory: TemporaryDirectory,
  lines: readonly string[] | Buffer,
  proof: unknown,
  key?: string,
): Promise<Report> {
  writeFileSync(
    directory.join("export"),
    Buffer.isBuffer(lines) ? lines : lines.map((line) => `${line}\n`).join(""),
  );
  if (proof === undefined) return verifyExport(directory.join("export"), { key });
  writeFileSync(directory.join("proof"), typeof proof === "string" ? proof : `${JSON.stringify(proof)}\n`);
  return verifyExport(directory.join("export"), { proof: directory.join("proof"), key });
}

/** Kinds of findings other than that the whole export is not the one of the proof. */
const kindsOf = ({ findings }: Report) =>
  [...new Set(findings.filter((one) => !isOfExport(one)).map(({ kind }) => kind))].sort();

/** Whether the finding is that the bytes of the export are not those of the proof. */
function isOfExport({ message }: { readonly message: string }): boolean {
  return message.startsWith("it is not the export of the proof");
}

test("an export with its proof is intact, and the report says whether its key was named", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest } = await exportTrail(directory);
  const report = await verify(directory, lines, proof);
  assert.deepEqual(report.findings, []);
  assert.deepEqual(report.key, { digest: keyDigest, isVouched: false });
  assert.deepEqual(
    report.writers.map(({ writer, firstSequence, lastSequence, provedSequence }) => [
      writer,
      firstSequence,
      lastSequence === provedSequence,
    ]),
    [
      ["001", 1, true],
      ["002", 1, true],
    ],
  );
  assert.equal((await verify(directory, lines, proof, keyDigest)).key?.isVouched, true);
  writeFileSync(directory.join("key.pem"), JSON.parse(proof).publicKey);
  assert.equal((await verify(directory, lines, proof, directory.join("key.pem"))).key?.isVouched, true);
  assert.equal(report.exportedAt, "2026-11-28T13:00:00.000Z");
  symlinkSync(directory.join("proof"), directory.join("link"));
  const linked = await verifyExport(directory.join("export"), { proof: directory.join("link") });
  assert.deepEqual(linked.findings, []);
  const other = `sha256:${"0".repeat(64)}`;
  assert.deepEqual(kindsOf(await verify(directory, lines, proof, other)), ["key"]);
});

test("each changed byte, removed, repeated or moved record and cut end of an export is found", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest } = await exportTrail(directory);
  const isFound = async (changed: readonly string[] | Buffer, what: string) => {
    const report = await verify(directory, changed, proof, keyDigest);
    assert.ok(report.findings.some(isOfExport), what);
    // And the place of it.
    assert.notDeepEqual(kindsOf(report), [], what);
  };
  for (const at of lines.keys()) {
    await isFound(lines.toSpliced(at, 1), `removed ${at}`);
    await isFound(lines.toSpliced(at, 0, lines[at] as string), `repeated ${at}`);
    await isFound(lines.slice(0, at), `cut at ${at}`);
    for (const to of lines.keys())
      if (to !== at)
        await isFound(lines.toSpliced(at, 1).toSpliced(to, 0, lines[at] as string), `moved ${at} to ${to}`);
  }
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  // The last byte is the line feed after the last record. A prime, so that every field of a record is met.
  for (let at = 0; at < text.length - 1; at += 31) {
    const changed = Buffer.from(text);
    changed[at] = (changed[at] as number) ^ 1;
    await isFound(changed, `byte ${at}`);
  }
  await isFound([...lines, "{}"], "a line that is no record");
  await isFound([], "nothing");
  // The line feed after the last record: the records are the same, and the bytes are not.
  const { findings } = await verify(directory, text.subarray(0, -1), proof, keyDigest);
  assert.ok(findings.length === 1 && findings.every(isOfExport));
});

test("without a proof, the chain is verified and nothing is called signed", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines } = await exportTrail(directory);
  const whole = await verify(directory, lines, undefined);
  assert.deepEqual([whole.findings, whole.key], [[], undefined]);
  const writers = lines.map((line) => JSON.parse(line).writer);
  for (const at of lines.keys()) {
    const { findings } = await verify(directory, lines.toSpliced(at, 1), undefined);
    const isLast = writers.lastIndexOf(writers[at]) === at;
    const isFirst = writers.indexOf(writers[at]) === at;
    assert.equal(findings.length > 0, !isLast && !isFirst, `removed ${at}`);
  }
});

test("an honest export after retention is intact with its proof, and without it no start is a finding", async () => {
  await using directory = await makeTemporaryDirectory();
  const { home, lines, keyDigest } = await exportRetained(directory);
  assert.ok(Number(JSON.parse(lines[0] as string).sequence) > 1);
  const { proof } = await exportHome(home);
  assert.deepEqual((await verify(directory, lines, proof, keyDigest)).findings, []);
  assert.deepEqual((await verify(directory, lines, undefined)).findings, []);
  assert.deepEqual(kindsOf(await verify(directory, lines.slice(3), proof, keyDigest)), ["missing"]);
  assert.deepEqual(kindsOf(await verify(directory, lines.toSpliced(3, 1), undefined)), ["missing"]);
});

/** An export of a home whose retention deleted records. */
async function exportRetained(directory: TemporaryDirectory) {
  const home = directory.join("retained");
  const run = async () => {
    await using store = await openStore(
      { home, audit: { retainMaxBytes: 30_000, segmentMaxBytes: 10_000 } },
      { now: Date.now, randomBytes, onProblem: (problem) => assert.fail(problem) },
    );
    for (let at = 0; at < 100; at += 1) {
      store.audit.record("server.stopped", { server: `s${at}`, reason: "x".repeat(300) });
      if (at % 10 === 0) await store.audit.flush();
    }
    await store.audit.flush();
  };
  for (const _ of [1, 2]) await run();
  return { home, run, ...(await exportHome(home)) };
}

test("an honest export is intact where retention deletes what is exported meanwhile", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const run = async (count: number, retainMaxBytes: number) => {
    await using store = await openStore(
      { home, audit: { retainMaxBytes, segmentMaxBytes: 10_000 } },
      { now: Date.now, randomBytes, onProblem: (problem) => assert.fail(problem) },
    );
    for (let at = 0; at < count; at += 1) {
      store.audit.record("server.stopped", { server: `s${at}`, reason: "x".repeat(300) });
      if (at % 10 === 0) await store.audit.flush();
    }
    await store.audit.flush();
  };
  await run(200, 1_000_000);
  await run(1600, 500_000);
  await run(1, 500_000);
  const segments = () => readdirSync(`${home}/audit`).length;
  const counts = [segments()];
  const { lines, proof, keyDigest } = await exportHome(home, async () => {
    await run(1, 60_000 / counts.length);
    counts.push(segments());
  });
  assert.ok(Number(JSON.parse(lines[0] as string).sequence) > 1);
  assert.ok((counts[0] ?? 0) > 40 && (counts[1] ?? 0) < 10, counts.join());
  assert.deepEqual((await verify(directory, lines, proof, keyDigest)).findings, []);
  assert.deepEqual((await verifyTrail(home)).findings, []);
});

test("a part of another proof with the same key is found, such as a later deletion of retention", async () => {
  await using directory = await makeTemporaryDirectory();
  const { home, run, lines, proof, keyDigest } = await exportRetained(directory);
  for (const _ of [1, 2]) await run();
  const later = JSON.parse((await exportHome(home)).proof);
  const last = JSON.parse(lines.at(-1) as string).sequence;
  assert.ok(later.tombstones[0].lastSequence > Number(last), "the later deletion is of all of the export");
  const mixed = { ...JSON.parse(proof), tombstones: later.tombstones };
  for (const part of [lines, lines.toSpliced(5, 3), lines.slice(0, 10)]) {
    const { findings, key } = await verify(directory, part, mixed, keyDigest);
    assert.ok(findings.some(({ kind }) => kind === "proof"));
    assert.equal(key?.isVouched, false);
    assert.equal(findings.some(isOfExport), part !== lines);
  }
  // The other proof as a whole is of another export.
  assert.ok((await verify(directory, lines, later, keyDigest)).findings.some(isOfExport));
});

test("a record accepts neither the key of a proof nor a proof, and another key than the named one accepts nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const named = `sha256:${"ab".repeat(32)}`;
  const home = directory.join("forged");
  /** Its end is signed when the store is closed. */
  const append = async (type: string, data: object) => {
    await using store = await openStore(
      { home },
      { now: Date.now, randomBytes, onProblem: (problem) => assert.fail(problem) },
    );
    store.audit.record(type as "server.stopped", data as never);
  };
  await append("server.stopped", { server: "invented", reason: "stopped" });
  /** Accepts everything that is found in the export so far, with the key of its proof. */
  const accept = async (
    wantedKey: string | undefined,
    change: (proof: string) => unknown = (proof) => proof,
  ) => {
    const { lines, proof } = await exportHome(home);
    const { findings } = await verify(directory, lines, change(proof), wantedKey);
    const accepted = {
      reason: "routine",
      by: { name: "cli" },
      findings: findings.map(({ id, message }) => ({ id, message })),
    };
    const signature = signAs(home, { type: "audit.accepted", ...accepted });
    await append("audit.accepted", { ...accepted, signature });
    const after = await exportHome(home);
    return verify(directory, after.lines, change(after.proof), wantedKey);
  };
  const key = await accept(named);
  assert.deepEqual(kindsOf(key), ["key"]);
  assert.deepEqual(key.accepted, []);
  const unsigned = await accept(undefined, (proof) => ({ ...JSON.parse(proof), signature: undefined }));
  assert.deepEqual(kindsOf(unsigned), ["proof"]);
  const withoutList = (proof: string) => {
    const { writers: _writers, ...rest } = JSON.parse(proof);
    return signProof(home, rest);
  };
  assert.deepEqual(kindsOf(await accept(undefined, withoutList)), ["writers"]);

  // A finding of the trail: accepted with the key of the proof, unless the reader named another one.
  await append("audit.damaged", { findings: [{ message: "it was cut off" }] });
  const damaged = await accept(undefined);
  assert.deepEqual([damaged.findings, damaged.accepted.map(({ kind }) => kind)], [[], ["damaged"]]);
  assert.deepEqual(kindsOf(await accept(named)), ["damaged", "key"]);
});

test("records and proofs with values of other types end no verification", async () => {
  await using directory = await makeTemporaryDirectory();
  const { home, lines, proof, keyDigest } = await exportTrail(directory);
  const object = { toString: 1 };
  const first = JSON.parse(lines[0] as string);
  const findings = [null, 1, { message: object }, { id: object, message: "m" }];
  for (const [type, data] of Object.entries({
    "audit.recovered": { others: [null, object, { segment: object, position: 1, bytes: object }] },
    "audit.damaged": { findings },
    "audit.key": { digest: object },
    "audit.accepted": {
      findings: [null],
      reason: "r",
      signature: signAs(home, { type: "audit.accepted", findings: [null], reason: "r" }),
    },
  })) {
    const changed = JSON.stringify({ ...first, type, data });
    assert.ok(
      kindsOf(await verify(directory, [changed, ...lines.slice(1)], proof, keyDigest)).length > 0,
      type,
    );
    await verify(directory, [changed, ...lines.slice(1)], undefined);
    writeFileSync(`${home}/audit/001-00000001.jsonl`, `${changed}\n`);
    assert.ok((await verifyTrail(home)).findings.length > 0, type);
  }
  const of = JSON.parse(proof);
  const wrong = [{ writer: object }, null, 1, { writer: "001", sequence: object }];
  for (const changed of [{ heads: wrong }, { writers: { writers: wrong } }]) {
    const report = await verify(directory, lines, signProof(home, { ...of, ...changed }), keyDigest);
    assert.notDeepEqual(kindsOf(report), []);
  }
  // A deletion that is none is as good as none.
  const report = await verify(directory, lines, signProof(home, { ...of, tombstones: wrong }), keyDigest);
  assert.deepEqual(report.findings, []);
  for (const changed of [
    { time: object },
    { time: "x" },
    { records: object },
    { sha256: object },
    { type: "x" },
  ])
    await assert.rejects(verify(directory, lines, signProof(home, { ...of, ...changed }), keyDigest), {
      code: "AUDIT_UNREADABLE",
    });
});

test("an export with more writers than a home can have is read no further", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines } = await exportTrail(directory);
  const first = JSON.parse(lines[0] as string);
  const records = Array.from({ length: 300 }, (_, at) =>
    JSON.stringify({ ...first, writer: String(at + 1).padStart(3, "0") }),
  );
  const report = await verify(directory, [...records, "no record"], undefined);
  assert.deepEqual([kindsOf(report), report.writers.length], [["writers"], 256]);
  assert.match(report.findings[0]?.message ?? "", /more than 256 writers/);
  assert.deepEqual((await verify(directory, records.slice(0, 256), undefined)).findings, []);
});

test("an export with more than 1,000 lines that are no records is read no further, and the report says so", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest } = await exportTrail(directory);
  for (const line of ["", "a", "{", "{}", `{"${"x".repeat(200)}"`]) {
    const noRecords = (count: number) => Array.from({ length: count }, () => line);
    for (const its of [undefined, proof]) {
      const key = its === undefined ? undefined : keyDigest;
      const { findings, writers } = await verify(directory, [...noRecords(1001), ...lines], its, key);
      assert.equal(findings.length, 1000);
      assert.match(findings[0]?.message ?? "", /not records.*what follows line 1001 was not read/);
      assert.equal(findings.some(isOfExport), false);
      assert.equal(
        writers.reduce((sum, { records }) => sum + records, 0),
        0,
      );
    }
    // Any fewer hide no record after them.
    const { findings, writers } = await verify(directory, [...noRecords(1000), ...lines], undefined);
    assert.ok(findings.every(({ message }) => message === "the line is not a record"));
    assert.equal(
      writers.reduce((sum, { records }) => sum + records, 0),
      lines.length,
    );
  }
});

test("lines that are too short for a record, or no object, are not parsed", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const { home } = await exportTrail(directory);
  const path = `${home}/audit/001-00000001.jsonl`;
  const text = readFileSync(path, "utf8");
  const count = 5000;
  const parse = t.mock.method(JSON, "parse");
  const parsedFor = async (run: () => Promise<{ readonly findings: readonly unknown[] }>) => {
    const before = parse.mock.callCount();
    const { findings } = await run();
    assert.ok(findings.length >= 1000);
    return parse.mock.callCount() - before;
  };
  for (const line of ["", "a", "{", " ".repeat(200)]) {
    const noRecords = `${line}\n`.repeat(count);
    writeFileSync(path, noRecords + text);
    assert.ok((await parsedFor(() => verifyTrail(home))) < 100, `home: "${line}"`);
    writeFileSync(
      directory.join("anchors"),
      noRecords + readFileSync(`${home}/audit-heads/001.json`, "utf8"),
    );
    const anchored = { anchorFile: directory.join("anchors") };
    assert.ok((await parsedFor(() => verifyTrail(home, anchored))) < 100, `anchors: "${line}"`);
    writeFileSync(directory.join("export"), noRecords);
    assert.equal(await parsedFor(() => verifyExport(directory.join("export"))), 0, `export: "${line}"`);
  }
});

test("an abort ends the verification of an export and of a home between the records of one chunk", async () => {
  await using directory = await makeTemporaryDirectory();
  const { home, lines } = await exportTrail(directory);
  const text = `${lines[0]}\n`.repeat(2500);
  // One chunk, so that nothing but the number of lines ends it.
  assert.ok(text.length < 1024 * 1024);
  writeFileSync(directory.join("export"), text);
  writeFileSync(`${home}/audit/001-00000001.jsonl`, text);
  for (const run of [
    (signal: AbortSignal) => verifyExport(directory.join("export"), { signal }),
    (signal: AbortSignal) => verifyTrail(home, { signal }),
  ]) {
    const reason = new Error("stopped");
    const controller = new AbortController();
    setImmediate(() => controller.abort(reason));
    await assert.rejects(run(controller.signal), reason);
  }
});

test("a proof that is not the text that was written is found, although its values are the signed ones", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest } = await exportTrail(directory);
  const { records, signature } = JSON.parse(proof);
  assert.deepEqual((await verify(directory, lines, proof, keyDigest)).findings, []);
  for (const changed of [
    // Another program can take the first of two members.
    proof.replace("{", '{"records":999,"sha256":"00",'),
    proof.replace('"heads":[{', '"heads":[{"sequence":1,'),
    proof.replace('"sha256":', '"sha25\\u0036":'),
    proof.replace(`"records":${records}`, `"records":${records}.0`),
    proof.replace("{", "{ "),
    `${JSON.stringify(JSON.parse(proof), undefined, 2)}\n`,
    proof.trimEnd(),
    `${proof}\n`,
    ...otherSpellings(signature).map((other) => proof.replace(signature, other)),
  ]) {
    const report = await verify(directory, lines, changed, keyDigest);
    assert.deepEqual(kindsOf(report), ["proof"], changed);
    assert.equal(report.key?.isVouched, false);
  }
});

test("a signature of the trail with another spelling is not one", async () => {
  await using directory = await makeTemporaryDirectory();
  const { home } = await exportTrail(directory);
  for (const [name, kind] of [
    ["001.json", "head"],
    ["writers.json", "writers"],
  ]) {
    const path = `${home}/audit-heads/${name}`;
    const text = readFileSync(path, "utf8");
    const { signature } = JSON.parse(text);
    for (const other of otherSpellings(signature)) {
      writeFileSync(path, text.replace(signature, other));
      const { findings } = await verifyTrail(home);
      assert.deepEqual([...new Set(findings.map((one) => one.kind))], [kind], other);
    }
    writeFileSync(path, text);
  }
  assert.deepEqual((await verifyTrail(home)).findings, []);
});

/** Texts that a lenient reader of base64 takes for the 64 bytes of `signature`. */
function otherSpellings(signature: string): readonly string[] {
  assert.match(signature, /^.{86}==$/);
  // The last digit has four bits that mean nothing.
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const next = digits[digits.indexOf(signature[85] as string) + 1] as string;
  return [
    `${signature}AAAA`,
    `${signature} `,
    signature.slice(0, -2),
    signature.slice(0, -1),
    `*${signature}`,
    `${signature.slice(0, 85)}${next}==`,
  ];
}

test("a proof in which something was removed, replaced or signed by another key is found", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest, home, open, record } = await exportTrail(directory);
  const of = JSON.parse(proof);
  const check = async (changed: object, expected: readonly string[], its = lines) => {
    const other = { ...of, ...changed };
    assert.deepEqual(kindsOf(await verify(directory, its, signProof(home, other), keyDigest)), expected);
    const kinds = kindsOf(await verify(directory, its, other, keyDigest));
    assert.deepEqual(kinds, Object.keys(changed).length === 0 ? [] : [...expected, "proof"].sort());
  };
  await check({}, []);
  await check({ heads: of.heads.slice(1) }, ["head", "unsigned"]);
  await check({ heads: [] }, ["head", "unsigned"]);
  await check({ writers: undefined }, ["writers"]);
  await check({ time: "2026-11-29T12:00:00.000Z" }, []);
  await check({ records: 1 }, []);
  await check({ writers: { ...of.writers, writers: ["001"] } }, ["writers"]);
  await check({ heads: of.heads.map((head: object) => ({ ...head, sequence: 2 })) }, ["head", "unsigned"]);
  // A writer that was removed with its head.
  const first = lines.filter((line) => JSON.parse(line).writer === "001");
  await check({ heads: of.heads.slice(0, 1) }, ["head"], first);
  const { publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" });
  assert.ok(kindsOf(await verify(directory, lines, { ...of, publicKey: pem })).includes("key"));
  for (const damaged of ["", "{}", "[]", { ...of, publicKey: "x" }])
    await assert.rejects(verify(directory, lines, damaged), { code: "AUDIT_UNREADABLE" });

  // Records after the signed end of an earlier proof.
  {
    await using store = await open();
    await record(store, "f");
  }
  const later = await exportHome(home);
  const all = later.lines;
  assert.deepEqual(kindsOf(await verify(directory, all, proof, keyDigest)), ["unsigned"]);
  assert.deepEqual((await verify(directory, all, later.proof, keyDigest)).findings, []);
  assert.deepEqual(kindsOf(await verify(directory, lines, later.proof, keyDigest)), ["cut_off"]);
});
