/** `toolcrib audit export`: hostile text in any field stays inside its line, its cell and its value. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openStore } from "@toolcrib/store";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const starts = ["", "=", "+", "-", "@", "\t", "\r", " =", "\uff1d", "'", '"', ",", ";", "|", "{", "\\"];
const middles = [
  "1+1",
  'cmd|"/c calc"!A1',
  'HYPERLINK("http://x.test","y")',
  "a\r\nb,c\nd",
  '""","',
  "\u001b[2J\u001b]0;x\u0007",
  "\u0000\u0001\u001f\u007f\u009b31m",
  "\u202eabc\u202c\u2066x\u2069\u200f",
  "\u200b\u2060\ufeff\u00ad\u{e0041}\u{e01ef}\u2028\u2029",
  "\ud800 \udc00 \ud83d",
  "😀 ünïcödé 漢字",
  '{"a":[1,null]}',
  "</script><!-- `id` $(id) %n%s",
  "__proto__",
];
const ends = ["", "\n", '"'];

/** 500 texts: every combination, and long ones. */
const hostile: readonly string[] = starts
  .flatMap((start) => middles.flatMap((middle) => ends.map((end) => start + middle + end)))
  .slice(0, 498)
  .concat("=".repeat(20_000), `${"\u202e\n".repeat(5000)}`)
  .slice(0, 500);

/** Writes a record with each text in every field of text. */
async function writeTrail(directory: TemporaryDirectory): Promise<void> {
  await using store = await openStore(
    { home: directory.join(".toolcrib"), audit: { segmentMaxBytes: 256 * 1024 } },
    { now: Date.now, onProblem: (problem) => assert.fail(problem) },
  );
  for (const [at, text] of hostile.entries()) {
    const client = { issuer: text, subject: text, name: text, clientInfo: { name: text, version: text } };
    const call = { callId: `${at} ${text}`, parentId: text, depth: 1, client, owners: [client] };
    const rest = { tool: text, origin: text, server: text, rule: text, code: text, reason: text };
    store.audit.record("call.denied", {
      ...call,
      ...rest,
      outcome: "denied",
      decision: "deny",
      argumentsDigest: text,
      approval: text,
      preview: { [text]: [text, { [text]: text }], text },
    });
    await store.audit.flush();
  }
}

// C0 but line ends, DEL, C1, bidirectional and invisible characters, separators, halves of pairs.
const unsafe =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

async function exported(directory: TemporaryDirectory, ...words: readonly string[]): Promise<string> {
  const args = ["audit", "export", "--output", "out", "--force", ...words];
  const { code, stderr } = await runToolcrib(args, { directory: directory.path });
  assert.deepEqual([code, stderr], [0, ""]);
  const text = readFileSync(directory.join("out"), "utf8");
  assert.doesNotMatch(text, unsafe, words.join(" "));
  return text;
}

/** A reader of RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of text.split("\r\n").slice(0, -1)) {
    const cells: string[] = [];
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/y;
    for (let isLast = false; !isLast; ) {
      const found = cell.exec(line);
      assert.ok(found, `not RFC 4180: ${line}`);
      cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
      isLast = found[3] === "";
    }
    rows.push(cells);
  }
  return rows;
}

test("500 hostile texts in every field stay inside their line in each format", async () => {
  await using directory = await makeTemporaryDirectory();
  assert.equal(hostile.length, 500);
  await writeTrail(directory);
  assert.ok(readdirSync(directory.join(".toolcrib/audit")).length > 1);

  const lines = (await exported(directory)).split("\n").slice(0, -1);
  assert.equal(lines.length, 500);
  const records = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ sequence }) => Number(sequence)),
    Array.from({ length: 500 }, (_, at) => at + 1),
  );
  const stored = readdirSync(directory.join(".toolcrib/audit"))
    .sort()
    .map((name) => readFileSync(directory.join(`.toolcrib/audit/${name}`), "utf8"))
    .join("");
  assert.equal(`${lines.join("\n")}\n`, stored, "records are exported as they are stored");
  for (const [at, { data, truncated }] of records.entries())
    if (truncated !== true) assert.deepEqual([data.tool, data.client.subject], [hostile[at], hostile[at]]);

  const [names = [], ...rows] = parseCsv(await exported(directory, "--format", "csv"));
  assert.equal(rows.length, 500);
  assert.equal(names[0], "time");
  for (const row of rows) {
    assert.equal(row.length, names.length);
    for (const cell of row) assert.doesNotMatch(cell, /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r]/);
  }
  assert.equal(rows[0]?.[names.indexOf("tool")], "1+1");
  const formula = hostile.indexOf('=cmd|"/c calc"!A1');
  assert.equal(rows[formula]?.[names.indexOf("tool")], `'=cmd|"/c calc"!A1`);

  const logs = (await exported(directory, "--format", "otlp-json")).split("\n").slice(0, -1);
  const logRecords = logs.flatMap((line) => {
    const { resourceLogs } = JSON.parse(line);
    assert.equal(resourceLogs.length, 1);
    assert.equal(resourceLogs[0].scopeLogs.length, 1);
    return resourceLogs[0].scopeLogs[0].logRecords;
  });
  assert.equal(logRecords.length, 500);
  for (const [at, { timeUnixNano, eventName, body }] of logRecords.entries()) {
    assert.match(timeUnixNano, /^\d{19}$/);
    assert.equal(eventName, "call.denied");
    const tool = body.kvlistValue.values.find(({ key }: { readonly key: string }) => key === "tool");
    if (records[at].truncated !== true)
      assert.equal(tool.value.stringValue, (hostile[at] ?? "").toWellFormed());
  }
});

test("export selects records like list, refuses to replace a file, and leaves out what is no record", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(["audit", "export", ...words], setting);
  assert.deepEqual(await run(), { ...(await run()), code: 0, stdout: "", stderr: "" });
  await writeTrail(directory);
  const whole = (await run()).stdout;
  assert.equal(whole.split("\n").length, 501);
  assert.equal((await run("--tool", "1+1")).stdout.split("\n").length, 2);
  assert.equal((await run("--outcome", "ok")).stdout, "");
  assert.equal((await run("--until", "1h")).stdout, "");
  assert.equal((await run("--since", "1h", "--until", "0s")).stdout, whole);

  assert.equal((await run("-o", "out.jsonl")).code, 0);
  assert.equal(readFileSync(directory.join("out.jsonl"), "utf8"), whole);
  const refused = await run("-o", "out.jsonl", "--format", "csv");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /"[^"]*out\.jsonl" exists[\s\S]*--force/);
  assert.equal(readFileSync(directory.join("out.jsonl"), "utf8"), whole);
  symlinkSync(directory.join("target"), directory.join("link"));
  assert.equal((await run("-o", "link")).code, 2);
  assert.equal(existsSync(directory.join("target")), false);

  const [first = ""] = readdirSync(directory.join(".toolcrib/audit")).sort();
  const path = directory.join(`.toolcrib/audit/${first}`);
  const lines = readFileSync(path, "utf8").split("\n");
  const [edited = "", , ...others] = lines;
  writeFileSync(path, `${[edited.replace(",", ",\t\r"), "\u001b[2Jnothing", ...others].join("\n")}`);
  const { stdout, stderr } = await run();
  assert.equal(stdout, whole.split("\n").toSpliced(1, 1).join("\n"));
  assert.equal(stderr, "1 line of the trail left out: not a record; see toolcrib audit verify\n");
  assert.deepEqual(
    readdirSync(directory.path).filter((name) => name.endsWith(".draft")),
    [],
  );
});
