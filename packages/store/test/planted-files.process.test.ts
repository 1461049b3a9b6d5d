/** Pipes and links that somebody put into a home: a start never waits for them, and never writes through them. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { acceptFindings, openFingerprints, openStore, verifyTrail } from "@toolcrib/store";
import { makeTemporaryDirectory, rejectsWith } from "@toolcrib/testing";

const deps = { now: Date.now, randomBytes };
const acceptance = { reason: "known", by: { issuer: "toolcrib:cli", subject: "cli", name: "cli" } };
const skip = process.platform === "win32" ? "there are no named pipes in folders" : false;

async function write(home: string, problems: string[] = []): Promise<void> {
  await using store = await openStore({ home }, { ...deps, onProblem: ({ code }) => problems.push(code) });
  for (let at = 0; at < 5; at += 1)
    store.audit.record("server.stopped", { server: `s${at}`, reason: "stopped" });
}

function makePipe(path: string): void {
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  execFileSync("mkfifo", ["-m", "600", path]);
}

/** Cuts off the end of the trail, so that a start finds its signed end wrong. */
function cutOff(home: string): void {
  const path = join(home, "audit", "001-00000001.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").split("\n").slice(0, 3).join("\n").concat("\n"));
}

describe("a named pipe does not keep a start waiting:", { skip }, () => {
  for (const name of ["audit-heads/001.json", "audit-heads/001.damaged.json", "audit-retention.json"])
    test(name, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      await write(home);
      if (name.includes("damaged")) cutOff(home);
      makePipe(join(home, name));
      const copy = directory.join("copy");
      cpSync(home, copy, { recursive: true });
      const problems: string[] = [];
      await write(home, problems);
      const isFound = name.startsWith("audit-heads");
      assert.deepEqual(problems, isFound ? ["AUDIT_DAMAGED"] : []);
      assert.equal((await verifyTrail(home)).findings.length, isFound ? 1 : 0);
      const { accepted } = await acceptFindings(copy, acceptance, deps);
      assert.equal(accepted.length, isFound ? 1 : 0);
    });

  test("the key of the fingerprints", async () => {
    await using directory = await makeTemporaryDirectory();
    makePipe(directory.join("audit-fingerprints.key"));
    await assert.rejects(openFingerprints(directory.path, deps), {
      code: "STORE_UNREADABLE",
      message: /audit-fingerprints\.key": it is a named pipe, not a regular file/,
    });
  });

  test("an anchor file, and a device in its place", async () => {
    await using directory = await makeTemporaryDirectory();
    const pipe = directory.join("anchors.jsonl");
    makePipe(pipe);
    for (const [anchorFile, message] of [
      [pipe, /it is a named pipe, not a regular file/],
      ["/dev/zero", /it is a device, not a regular file/],
    ] as const)
      await assert.rejects(verifyTrail(directory.join("home"), { anchorFile }), {
        code: "AUDIT_ANCHOR_UNREADABLE",
        message,
      });
  });

  test("a segment of a writer that no process holds, which an acceptance names", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await write(home);
    const pipe = join(home, "audit", "002-00000001.jsonl");
    makePipe(pipe);
    await assert.rejects(acceptFindings(home, acceptance, deps), {
      code: "STORE_HOME_UNUSABLE",
      message: /002-00000001\.jsonl" as an audit segment: it is a named pipe/,
      hint: `move it out of the folder: mv "${pipe}" ELSEWHERE`,
    });
    rmSync(pipe);
    assert.deepEqual((await verifyTrail(home)).findings, []);
  });

  test("the marker of a run", async () => {
    await using directory = await makeTemporaryDirectory();
    makePipe(directory.join("locks", "audit-writer-001-0000000000000000.open"));
    await rejectsWith("STORE_HOME_UNUSABLE", openStore({ home: directory.path }, deps));
  });
});

test("a link in the place of the old head is replaced, and its target is left alone", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await write(home);
  cutOff(home);
  const victim = directory.join("victim");
  writeFileSync(victim, "unchanged");
  const kept = join(home, "audit-heads", "001.damaged.json");
  symlinkSync(victim, kept);
  await write(home);
  assert.equal(readFileSync(victim, "utf8"), "unchanged");
  assert.ok(lstatSync(kept).isFile());
  assert.equal(JSON.parse(readFileSync(kept, "utf8")).sequence, 6);
  assert.deepEqual(
    readdirSync(dirname(kept)).filter((name) => name.endsWith(".draft")),
    [],
  );
});

describe("a folder in the place of a signed file is a finding, and the next start goes on:", () => {
  for (const name of ["001.json", "writers.json"])
    test(name, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      const path = join(home, "audit-heads", name);
      await write(home);
      for (const at of [1, 2]) {
        rmSync(path);
        mkdirSync(path);
        writeFileSync(join(path, "evidence"), `${at}`);
        const before = await verifyTrail(home);
        assert.ok(before.findings.some(({ message }) => message.includes("it is a directory")));
        const problems: string[] = [];
        await write(home, problems);
        assert.deepEqual(problems, ["AUDIT_DAMAGED"]);
        assert.ok(lstatSync(path).isFile());
        assert.equal(readFileSync(join(`${path}.folder-${at}`, "evidence"), "utf8"), `${at}`);
        // What the start found is reported until an operator accepts it.
        assert.equal((await verifyTrail(home)).findings.length, at);
      }
      assert.equal((await acceptFindings(home, acceptance, deps)).accepted.length, 2);
      assert.deepEqual((await verifyTrail(home)).findings, []);
      await write(home);
      assert.deepEqual((await verifyTrail(home)).findings, []);
    });
});
