/** The labels that clients have seen, in a file that gateways of a home share. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { nodeFileSteps } from "@toolcrib/files";
import { SeenLabels } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const call = { callId: "1", tool: "crm:find" };
const ci = localIdentity("token", "ci");
const base = { known: ["personal", "secret"], now: Date.now, randomBytes };

/** A file of one client, with so many bytes that to read it takes longer than to replace it by a short one. */
function longFile(client: ReturnType<typeof localIdentity>): string {
  const labels = Array.from({ length: 900 }, (_, at) => ({
    label: `l${at}`,
    since: 0,
    callId: "c".repeat(50_000),
    tool: "t",
  }));
  return JSON.stringify({ format: 1, records: [{ client, labels }] });
}

test("a read of an earlier state, which ends after a label was stored, does not undo the label", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  let beforeRename = async () => {};
  const steps = {
    ...nodeFileSteps,
    // To wait for the disk would give the read the time to end first.
    async syncDirectory() {},
    async rename(from: string, to: string) {
      await beforeRename();
      await nodeFileSteps.rename(from, to);
    },
  };
  const labels = new SeenLabels(home, { ...base, steps });
  await labels.add(localIdentity("token", "dev"), ["secret"], call);
  await labels.refresh();
  const long = longFile(localIdentity("token", "other"));
  // A read that is too fast ends before the label is stored, and shows nothing: several attempts.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const client = localIdentity("token", `ci${attempt}`);
    let reading: Promise<void> | undefined;
    beforeRename = async () => {
      // What another gateway wrote, and a poll that begins to read it.
      writeFileSync(directory.join("home/seen-labels.json"), long);
      reading = labels.refresh();
      await delay(attempt);
    };
    await labels.add(client, ["personal"], call);
    assert.deepEqual(labels.seen(client), ["personal"]);
    assert.ok(reading !== undefined);
    await reading;
    assert.deepEqual(labels.seen(client), ["personal"], "after the read");
  }
});

test("gateways that add labels at the same time lose none of them", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const gateways = [new SeenLabels(home, base), new SeenLabels(home, base)];
  const add = async (at: number, label: string) => {
    const gateway = gateways[at % 2];
    assert.ok(gateway);
    await Promise.all([gateway.refresh(), gateway.add(localIdentity("token", `c${at}`), [label], call)]);
    await gateway.add(ci, [label], call);
  };
  await Promise.all(Array.from({ length: 10 }, (_, at) => add(at, at % 2 === 0 ? "personal" : "secret")));
  for (const gateway of gateways) {
    await gateway.refresh();
    assert.deepEqual(gateway.seen(ci), ["personal", "secret"]);
    for (let at = 0; at < 10; at += 1) {
      const expected = at % 2 === 0 ? ["personal"] : ["secret"];
      assert.deepEqual(gateway.seen(localIdentity("token", `c${at}`)), expected);
    }
  }
});

test("a refresh does not go through the clients of a file that has not changed", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const labels = new SeenLabels(home, base);
  await labels.add(ci, ["personal"], call);
  await labels.refresh();
  const [record] = await labels.list();
  assert.ok(record !== undefined);
  let reads = 0;
  const own = record.labels;
  Object.defineProperty(record, "labels", {
    get() {
      reads += 1;
      return own;
    },
  });
  await labels.refresh();
  assert.equal(reads, 0);
  assert.deepEqual(labels.seen(ci), ["personal"]);
  // What another gateway changes is seen all the same.
  const other = new SeenLabels(home, base);
  await other.add(ci, ["secret"], call);
  await labels.refresh();
  assert.deepEqual(labels.seen(ci), ["personal", "secret"]);
  await other.forget(() => true);
  await labels.refresh();
  assert.deepEqual(labels.seen(ci), []);
});

/** Opens labels of a home whose file has all the clients that it may have, and returns what it cost to write them. */
async function openFull(home: string) {
  const writes = { count: 0 };
  const steps = {
    ...nodeFileSteps,
    async rename(from: string, to: string) {
      writes.count += 1;
      await nodeFileSteps.rename(from, to);
    },
  };
  const labels = new SeenLabels(home, { ...base, steps });
  await labels.add(ci, ["personal"], call);
  const { labels: own } = (await labels.list())[0] ?? assert.fail();
  const records = Array.from({ length: 10_000 }, (_, at) => ({
    client: localIdentity("token", `c${at}`),
    labels: own,
  }));
  writeFileSync(join(home, "seen-labels.json"), JSON.stringify({ format: 1, records }));
  await labels.refresh();
  writes.count = 0;
  return { labels, writes };
}

test("a client for which the file has no place has seen every label, also while and after one is added", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const { labels } = await openFull(home);
  const late = localIdentity("token", "late");
  assert.deepEqual(labels.seen(late), base.known);
  const adding = labels.add(late, ["personal"], call);
  assert.deepEqual(labels.seen(late), base.known, "while it is added");
  await adding;
  assert.deepEqual(labels.seen(late), base.known, "after it was added");
  await labels.refresh();
  assert.deepEqual(labels.seen(late), base.known, "after a refresh");
});

test("a client without a place costs one write, and has seen every label also after others are forgotten, until the file is removed", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const { labels, writes } = await openFull(home);
  const late = localIdentity("token", "late");
  assert.equal(await labels.isPartial(), false);
  assert.equal(await labels.hasSeenAll(late), true);
  for (let count = 0; count < 3; count += 1) await labels.add(late, ["personal"], call);
  await labels.add(localIdentity("token", "later"), ["secret"], call);
  assert.equal(writes.count, 1);
  const first = localIdentity("token", "c0");
  const isFirst = ({ name }: { readonly name: string }) => name === first.name;
  assert.equal((await labels.forget(isFirst)).length, 1);
  assert.deepEqual(labels.seen(first), [], "a forgotten client has seen nothing");
  assert.deepEqual(await labels.forget(isFirst), []);
  for (const one of [labels, new SeenLabels(home, base)]) {
    await one.refresh();
    assert.equal(await one.isPartial(), true);
    assert.equal((await one.list()).length, 9999);
    assert.deepEqual([await one.hasSeenAll(late), await one.hasSeenAll(first)], [true, false]);
    assert.deepEqual(one.seen(late), base.known);
    await one.add(late, ["personal"], call);
    assert.deepEqual(one.seen(late), base.known);
    assert.deepEqual(one.seen(localIdentity("token", "c1")), ["personal"]);
  }
  await labels.add(first, ["secret"], call);
  assert.deepEqual(labels.seen(first), ["secret"]);
  const path = join(home, "seen-labels.json");
  const { records } = JSON.parse(readFileSync(path, "utf8")) as { readonly records: readonly object[] };
  writeFileSync(path, JSON.stringify({ format: 1, records: records.slice(-2) }));
  await labels.refresh();
  assert.deepEqual(labels.seen(late), base.known, "also in a file with places");
  rmSync(path);
  await labels.refresh();
  assert.deepEqual(labels.seen(late), []);
});

test("a client with more labels than the file may have of it has seen every label", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const labels = new SeenLabels(home, base);
  const many = Array.from({ length: 1000 }, (_, at) => `l${at}`);
  await labels.refresh();
  await labels.add(ci, many, call);
  assert.deepEqual(labels.seen(ci), many.toSorted());
  const adding = labels.add(ci, ["one-more"], call);
  const all = [...many, ...base.known].sort();
  const hasAll = (one: SeenLabels) => all.every((label) => one.seen(ci).includes(label));
  assert.ok(hasAll(labels), "while it is added");
  await adding;
  const other = new SeenLabels(home, base);
  for (const one of [labels, other]) {
    await one.refresh();
    assert.ok(hasAll(one));
    await one.add(ci, ["another"], call);
    assert.ok(hasAll(one));
  }
  assert.equal((await other.list())[0]?.labels.length, 1000);
  await other.forget(() => true);
  assert.deepEqual(other.seen(ci), []);
});
