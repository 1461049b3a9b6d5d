/** Exports of the trail with a proof, and what is done to them on the way to an auditor. */

import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { ExportProof, openStore, readTrail, verifyExport } from "@toolcrib/store";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

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
  const proof = new ExportProof(home);
  const lines: string[] = [];
  for await (const portion of readTrail(home))
    lines.push(...portion.filter(({ record: one }) => proof.includes(one)).map(({ line }) => line));
  return { home, lines, proof: proof.format(), keyDigest: proof.keyDigest, open, record };
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
  writeFileSync(directory.join("proof"), typeof proof === "string" ? proof : JSON.stringify(proof));
  return verifyExport(directory.join("export"), { proof: directory.join("proof"), key });
}

const kindsOf = ({ findings }: Report) => [...new Set(findings.map(({ kind }) => kind))].sort();

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
  const other = `sha256:${"0".repeat(64)}`;
  assert.deepEqual(kindsOf(await verify(directory, lines, proof, other)), ["key"]);
});

test("each changed byte, removed, repeated or moved record and cut end of an export is found", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest } = await exportTrail(directory);
  const isFound = async (changed: readonly string[] | Buffer, what: string) => {
    const { findings } = await verify(directory, changed, proof, keyDigest);
    assert.notDeepEqual(findings, [], what);
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
    assert.equal(findings.length > 0, !isLast, `removed ${at}`);
  }
});

test("a proof in which something was removed, replaced or signed by another key is found", async () => {
  await using directory = await makeTemporaryDirectory();
  const { lines, proof, keyDigest, home, open, record } = await exportTrail(directory);
  const of = JSON.parse(proof);
  const check = async (changed: object, expected: readonly string[], its = lines) =>
    assert.deepEqual(kindsOf(await verify(directory, its, { ...of, ...changed }, keyDigest)), expected);
  await check({}, []);
  await check({ heads: of.heads.slice(1) }, ["head", "unsigned"]);
  await check({ heads: [] }, ["head", "unsigned"]);
  await check({ writers: undefined }, ["writers"]);
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
  const later = new ExportProof(home);
  const all: string[] = [];
  for await (const portion of readTrail(home)) all.push(...portion.map(({ line }) => line));
  assert.deepEqual(kindsOf(await verify(directory, all, proof, keyDigest)), ["unsigned"]);
  assert.deepEqual(kindsOf(await verify(directory, all, later.format(), keyDigest)), []);
  assert.deepEqual(kindsOf(await verify(directory, lines, later.format(), keyDigest)), ["cut_off"]);
});
