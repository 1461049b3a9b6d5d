/**
 * Attacks on the trail of a home by somebody who can write to it and does not sign: each is found, also after a gateway
 * has started again and signed what it found, until an operator accepts exactly that.
 */

import assert from "node:assert/strict";
import { generateKeyPairSync, hash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  acceptFindings,
  appendAnchor,
  openFingerprints,
  openStore,
  type Store,
  verifyTrail,
} from "@toolcrib/store";
import { fastSample, makeTemporaryDirectory } from "@toolcrib/testing";

const acceptance = { reason: "restored", by: { issuer: "toolcrib:cli", subject: "cli", name: "cli" } };
const deps = { now: Date.now, randomBytes };

function open(
  home: string,
  problems: string[] = [],
  onHead = (_line: string): void => undefined,
): Promise<Store> {
  return openStore({ home }, { ...deps, onHead, onProblem: ({ code }) => problems.push(code) });
}

/** Writes `count` records as the writer with the lowest free number. */
async function write(home: string, count: number, problems: string[] = []): Promise<void> {
  await using store = await open(home, problems);
  for (let at = 0; at < count; at += 1)
    store.audit.record("server.stopped", { server: `s${at}`, reason: "stopped" });
}

/** A home with two writers, of which each wrote in two runs. */
async function writeTrail(home: string): Promise<void> {
  for (let run = 0; run < 2; run += 1) {
    await using first = await open(home);
    await write(home, 10);
    for (let at = 0; at < 10; at += 1)
      first.audit.record("server.stopped", { server: `t${at}`, reason: "stopped" });
  }
}

const segment = (home: string, writer: string) => join(home, "audit", `${writer}-00000001.jsonl`);
const headOf = (home: string, writer: string) => join(home, "audit-heads", `${writer}.json`);
/** A copy of the head of writer 001 while its process ran. */
const openHeadOf = (older: string) => join(older, "open.json");
const listOf = (home: string) => join(home, "audit-heads", "writers.json");
const keyOf = (home: string) => join(home, "audit-key.pem");
const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

/** Changes the lines of a segment, and chains them anew. */
function rewrite(path: string, change: (lines: string[]) => string[]): void {
  let previous = "0".repeat(64);
  const lines = change(linesOf(path)).map((line) => {
    const chained = line.replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${previous}"`);
    previous = hash("sha256", chained, "hex");
    return chained;
  });
  writeFileSync(path, `${lines.join("\n")}\n`);
}

interface Attack {
  readonly run: (home: string, older: string) => void;
  /** Kinds of the findings before and after the next start of both writers. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The record of a start, or the text of another finding. */
  readonly says: RegExp;
}

const attacks: { readonly [what: string]: Attack } = {
  "the end of a trail is cut off": {
    run: (home) => rewrite(segment(home, "001"), (lines) => lines.slice(0, -3)),
    before: ["cut_off"],
    after: ["damaged"],
    says: /records up to 21 were signed at .*, and the last one was 18/,
  },
  "a record is changed and the chain written anew": {
    run: (home) =>
      rewrite(segment(home, "002"), (lines) => lines.with(4, (lines[4] ?? "").replace("stopped", "crashed"))),
    before: ["changed"],
    after: ["damaged"],
    says: /record 21 was not the one that was signed/,
  },
  "records are appended after a shutdown": {
    run: (home) =>
      rewrite(segment(home, "001"), (lines) => {
        const last = lines.length;
        const forged = lines.slice(-3).map((line, at) => {
          const sequence = Number(JSON.parse(line).sequence);
          const renumbered = String(last + 1 + at).padStart(16, "0");
          return line
            .replaceAll(String(sequence).padStart(16, "0"), renumbered)
            .replace("stopped", "crashed");
        });
        return [...lines, ...forged];
      }),
    before: ["unsigned"],
    after: ["damaged"],
    says: /records 22 to 24 follow the end that a shutdown signed at .*: no start wrote them/,
  },
  "a record is changed": {
    run: (home) => {
      const text = readFileSync(segment(home, "001"), "utf8");
      writeFileSync(segment(home, "001"), text.replace('"server":"t3"', '"server":"t4"'));
    },
    before: ["changed"],
    after: ["changed"],
    says: /does not follow the line before it/,
  },
  "a head is removed": {
    run: (home) => rmSync(headOf(home, "002")),
    before: ["head"],
    after: ["damaged"],
    says: /the signed head of writer 002 is missing/,
  },
  "all heads and the list are removed": {
    run: (home) => rmSync(join(home, "audit-heads"), { recursive: true }),
    before: ["writers", "head", "head"],
    after: ["damaged", "damaged"],
    says: /the signed head of writer 001 is missing/,
  },
  "a writer is removed, with its head": {
    run: (home) => {
      rmSync(segment(home, "002"));
      rmSync(headOf(home, "002"));
    },
    before: ["head"],
    after: ["damaged"],
    says: /the signed head of writer 002 is missing/,
  },
  "the list of writers is removed": {
    run: (home) => rmSync(listOf(home)),
    before: ["writers"],
    after: ["damaged"],
    says: /the signed list of writers is missing/,
  },
  "the list of writers is changed": {
    run: (home) => writeFileSync(listOf(home), readFileSync(listOf(home), "utf8").replace(',"002"', "")),
    before: ["writers"],
    after: ["damaged"],
    says: /the signed list of writers proves nothing: its signature is wrong/,
  },
  "two heads are exchanged": {
    run: (home) => {
      renameSync(headOf(home, "001"), join(home, "x"));
      renameSync(headOf(home, "002"), headOf(home, "001"));
      renameSync(join(home, "x"), headOf(home, "002"));
    },
    before: ["head", "head"],
    after: ["damaged", "damaged"],
    says: /the signed head of writer 001 proves nothing: it is the head of writer 002/,
  },
  "a head is damaged": {
    run: (home) => writeFileSync(headOf(home, "001"), "{}"),
    before: ["head"],
    after: ["damaged"],
    says: /the signed head of writer 001 proves nothing: it is damaged/,
  },
  "the key is removed": {
    run: (home) => rmSync(keyOf(home)),
    before: ["key"],
    after: ["damaged", "damaged", "key", "key"],
    says: /names another key than the one before: the key was replaced/,
  },
  "the key is replaced": {
    run: (home) => {
      const { privateKey } = generateKeyPairSync("ed25519");
      writeFileSync(keyOf(home), privateKey.export({ type: "pkcs8", format: "pem" }));
    },
    before: ["head", "head", "key", "key", "writers"],
    after: ["damaged", "damaged", "key", "key"],
    says: /the signed head of writer 001 proves nothing: its signature is wrong/,
  },
  "an older head of a shutdown is put back": {
    run: (home, older) => cpSync(headOf(older, "001"), headOf(home, "001")),
    before: ["unsigned"],
    after: ["damaged"],
    says: /records 12 to 21 follow the end that a shutdown signed/,
  },
  "an older head of a running process is put back, and the records after it are written anew": {
    run: (home, older) => {
      cpSync(openHeadOf(older), headOf(home, "001"));
      // Somebody who knows the rule would write times of less than two minutes: that, only anchors find.
      let at = 0;
      rewrite(segment(home, "001"), (lines) =>
        lines.map((line) => {
          at += 1;
          if (at <= 11) return line;
          const time = new Date(Date.now() + at * 60_000).toISOString();
          return line.replace(/"time":"[^"]+"/, `"time":"${time}"`);
        }),
      );
      const last = linesOf(segment(home, "001")).at(-1) ?? "";
      for (let more = 22; more < 40; more += 1) {
        const previous = hash("sha256", linesOf(segment(home, "001")).at(-1) ?? "", "hex");
        const time = new Date(Date.now() + more * 60_000).toISOString();
        const line = last
          .replaceAll("0000000000000021", `00000000000000${more}`)
          .replace(/"time":"[^"]+"/, `"time":"${time}"`)
          .replace(/"previous":"[^"]+"/, `"previous":"${previous}"`);
        appendFileSync(segment(home, "001"), `${line}\n`);
      }
    },
    before: ["unsigned"],
    after: ["damaged"],
    says: /records 12 to 39 were never signed, although they are of more than two minutes/,
  },
};

async function verify(home: string) {
  const { findings } = await verifyTrail(home);
  return {
    kinds: findings.map(({ kind }) => kind).sort(),
    text: findings.map(({ message }) => message).join("\n"),
  };
}

/** Starts both writers, as two gateways do. */
async function restart(home: string, problems: string[] = []): Promise<void> {
  await using _first = await open(home, problems);
  await using _second = await open(home, problems);
}

describe("an attack is found before and after the next start, until it is accepted:", () => {
  for (const [what, { run, before, after, says }] of fastSample(Object.entries(attacks)))
    test(what, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      const older = directory.join("older");
      {
        await using _first = await open(home);
        await write(home, 10);
        for (let at = 0; at < 10; at += 1)
          _first.audit.record("server.stopped", { server: `t${at}`, reason: "stopped" });
      }
      cpSync(home, older, { recursive: true });
      {
        await using first = await open(home);
        cpSync(headOf(home, "001"), openHeadOf(older));
        await write(home, 10);
        for (let at = 0; at < 10; at += 1)
          first.audit.record("server.stopped", { server: `t${at}`, reason: "stopped" });
      }
      assert.deepEqual((await verify(home)).kinds, []);
      run(home, older);
      assert.deepEqual((await verify(home)).kinds, before.toSorted());

      const problems: string[] = [];
      await restart(home, problems);
      const found = await verify(home);
      assert.deepEqual(found.kinds, after.toSorted(), found.text);
      assert.match(found.text, says);
      if (after.includes("damaged")) assert.ok(problems.includes("AUDIT_DAMAGED"));
      // A start that finds nothing new says nothing new.
      const again: string[] = [];
      await restart(home, again);
      assert.deepEqual([again, (await verify(home)).kinds], [[], after.toSorted()]);

      const { accepted, report } = await acceptFindings(home, acceptance, deps);
      assert.deepEqual(accepted.map(({ kind }) => kind).sort(), after.toSorted());
      assert.deepEqual(report.findings, []);
      assert.equal(report.accepted.length, accepted.length);
      assert.equal(report.accepted[0]?.reason, "restored");
      await restart(home);
      assert.deepEqual((await verify(home)).kinds, []);

      // What comes after it is found again.
      run(home, older);
      assert.notDeepEqual((await verify(home)).kinds, []);
      await restart(home);
      assert.notDeepEqual((await verify(home)).kinds, []);
    });
});

test("findings are accepted without a start in between, also of writers that nobody starts", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await writeTrail(home);
  rewrite(segment(home, "002"), (lines) => lines.slice(0, 4));
  rmSync(headOf(home, "001"));
  assert.deepEqual((await verify(home)).kinds, ["cut_off", "head"]);
  const { accepted, report } = await acceptFindings(home, acceptance, deps);
  assert.deepEqual(
    accepted.map(({ kind }) => kind),
    ["damaged", "damaged"],
  );
  assert.deepEqual(report.findings, []);
  await restart(home);
  assert.deepEqual((await verify(home)).kinds, []);
  // The old head is kept next to the new one.
  assert.equal(JSON.parse(readFileSync(join(home, "audit-heads", "002.damaged.json"), "utf8")).sequence, 21);
  const nothing = await acceptFindings(home, acceptance, deps);
  assert.deepEqual(nothing.accepted, []);
});

for (const [what, run] of Object.entries({
  "the trail is cut to the record of its key": (home: string) =>
    rewrite(segment(home, "001"), (lines) => lines.slice(0, 1)),
  "the trail is removed": (home: string) => rmSync(segment(home, "001")),
}))
  test(`${what}, with everything signed but the key: found where a gateway has started`, async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home, 10);
    await openFingerprints(home, deps);
    assert.deepEqual((await verify(home)).kinds, []);
    run(home);
    rmSync(join(home, "audit-heads"), { recursive: true });
    assert.deepEqual((await verify(home)).kinds, ["writers"]);
    const problems: string[] = [];
    await write(home, 1, problems);
    assert.deepEqual(problems, ["AUDIT_DAMAGED"]);
    assert.deepEqual((await verify(home)).kinds, ["damaged"]);
    await acceptFindings(home, acceptance, deps);
    await write(home, 1);
    assert.deepEqual((await verify(home)).kinds, []);
  });

test("a segment that is copied to another writer is found, and not taken for unfinished lines", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await writeTrail(home);
  cpSync(segment(home, "001"), segment(home, "003"));
  const { findings, unfinished } = await verifyTrail(home);
  assert.deepEqual(
    findings.map(({ kind, message }) => `${kind}: ${message}`),
    [
      "moved: 21 whole records of writer 001 or others are in a segment of writer 003: they were copied or moved there",
    ],
  );
  assert.deepEqual(unfinished, []);
  await restart(home);
  assert.deepEqual((await verify(home)).kinds, ["moved"]);
  const { report } = await acceptFindings(home, acceptance, deps);
  assert.deepEqual(report.findings, []);
  await restart(home);
  assert.deepEqual((await verify(home)).kinds, []);
});

test("an acceptance that is not signed with the key of the home, or that was changed, does not count", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await write(home, 10);
  rewrite(segment(home, "001"), (lines) => lines.slice(0, -3));
  await acceptFindings(home, acceptance, deps);
  assert.deepEqual((await verify(home)).kinds, []);
  const copy = directory.join("copy");
  cpSync(home, copy, { recursive: true });
  const text = readFileSync(segment(copy, "001"), "utf8");
  writeFileSync(segment(copy, "001"), text.replace('"reason":"restored"', '"reason":"nothing"'));
  assert.ok((await verify(copy)).kinds.includes("damaged"));
});

test("an older copy of everything, and a home without a trail, are found by anchors only", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const older = directory.join("older");
  const anchorFile = directory.join("anchors.jsonl");
  const heads: string[] = [];
  const run = async () => {
    await using store = await open(home, [], (line) => heads.push(line));
    for (let at = 0; at < 5; at += 1) store.audit.record("server.stopped", { server: `s${at}`, reason: "x" });
  };
  await run();
  cpSync(home, older, { recursive: true });
  await run();
  for (const line of heads) await appendAnchor(anchorFile, line);
  assert.equal(heads.length, 2);
  assert.deepEqual((await verifyTrail(home, { anchorFile })).findings, []);

  rmSync(home, { recursive: true });
  const kindsOf = async () => (await verifyTrail(home, { anchorFile })).findings.map(({ kind }) => kind);
  assert.deepEqual(await kindsOf(), ["anchor", "anchor"]);
  cpSync(older, home, { recursive: true });
  assert.deepEqual((await verify(home)).kinds, []);
  assert.deepEqual(await kindsOf(), ["anchor"]);
  await restart(home);
  assert.deepEqual(await kindsOf(), ["anchor"]);
  assert.ok(existsSync(keyOf(home)));
  assert.equal(readdirSync(join(home, "audit")).length, 2);
});
