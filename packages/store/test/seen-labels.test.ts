/** The labels that clients have seen, in a file that gateways of a home share. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
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

test("a client for which the file has no place has seen every label, also while and after one is added", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const labels = new SeenLabels(home, base);
  await labels.add(ci, ["personal"], call);
  const { labels: own } = (await labels.list())[0] ?? assert.fail();
  const records = Array.from({ length: 10_000 }, (_, at) => ({
    client: localIdentity("token", `c${at}`),
    labels: own,
  }));
  writeFileSync(directory.join("home/seen-labels.json"), JSON.stringify({ format: 1, records }));
  await labels.refresh();
  const late = localIdentity("token", "late");
  assert.deepEqual(labels.seen(late), base.known);
  const adding = labels.add(late, ["personal"], call);
  assert.deepEqual(labels.seen(late), base.known, "while it is added");
  await adding;
  assert.deepEqual(labels.seen(late), base.known, "after it was added");
  await labels.refresh();
  assert.deepEqual(labels.seen(late), base.known, "after a refresh");
});
