/** Labels of data on its way to a client: what waits until they are stored, in which order, and what carries them. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { dataLabelled, LabelTracker } from "@toolcrib/admission";
import { nodeFileSteps } from "@toolcrib/files";
import { SeenLabels } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity, toToolId } from "@toolcrib/tool";

const ci = localIdentity("token", "ci");
const call = { callId: "1", tool: toToolId("people", "read") };
const targetOf = (...dataLabels: readonly string[]) => ({ subject: { facts: { dataLabels } } });

/** Opens a tracker whose labels are stored once `store` is called, or cannot be once `fail` is. */
async function openTracker(home: string) {
  const gate = Promise.withResolvers<Error | undefined>();
  const steps = {
    ...nodeFileSteps,
    async rename(from: string, to: string) {
      const error = await gate.promise;
      if (error !== undefined) throw error;
      await nodeFileSteps.rename(from, to);
    },
  };
  const seen = new SeenLabels(home, { known: ["personal"], now: () => 0, randomBytes, steps });
  await seen.refresh();
  const logged: string[] = [];
  const log = (_fields: object, message: string): void => void logged.push(message);
  const tracker = new LabelTracker(seen, { debug() {}, info() {}, warn: log, error: log });
  return { tracker, logged, store: () => gate.resolve(undefined), fail: gate.resolve };
}

describe("LabelTracker", () => {
  test("passes data on when its labels are stored, in its order, and at once what brings no new label", async () => {
    for (const messages of [["one"], ["first", "second", "third"]]) {
      await using directory = await makeTemporaryDirectory();
      const { tracker, store } = await openTracker(directory.path);
      const labelled = tracker.begin(targetOf("personal"), { identity: ci }, call);
      const received: string[] = [];
      for (const message of messages) tracker.pass(labelled, () => received.push(message));
      const ended = tracker.arrived(labelled)?.then(() => received.push("result"));
      // What does not wait would be there.
      await new Promise(setImmediate);
      assert.equal(received.length, 0);
      store();
      await ended;
      assert.deepEqual(received, [...messages, "result"]);
      assert.equal(tracker.arrived(labelled), undefined);
      tracker.pass(labelled, () => received.push("another"));
      assert.deepEqual(received, [...messages, "result", "another"]);
    }
  });

  test("passes nothing on whose labels cannot be stored", async () => {
    await using directory = await makeTemporaryDirectory();
    const { tracker, logged, fail } = await openTracker(directory.path);
    const labelled = tracker.begin(targetOf("personal"), { identity: ci }, call);
    const received: string[] = [];
    const send = () => received.push("a message");
    tracker.pass(labelled, send);
    tracker.pass(labelled, send, (error) => received.push(`failed: ${(error as Error).message}`));
    const ended = tracker.arrived(labelled);
    fail(new Error("the disk is full"));
    await assert.rejects(ended ?? assert.fail("it waits for its labels"), /the disk is full/);
    assert.deepEqual(logged, ["a message was not passed on"]);
    assert.equal(received.length, 1);
    assert.match(String(received[0]), /^failed: .*the disk is full/);
    // The client counts as having seen them.
    assert.deepEqual(tracker.seenBy({ identity: ci }), ["personal"]);
  });

  test("gives the labels of a result to its run: to the call around it, and to what that call returns", async () => {
    await using directory = await makeTemporaryDirectory();
    const { tracker, store } = await openTracker(directory.path);
    store();
    const outer = tracker.begin(targetOf(), { identity: ci }, call);
    const inner = tracker.begin(targetOf("secret", "personal"), { identity: ci, run: outer.run }, call);
    const result = { content: [], _meta: { progress: 1 } };
    assert.equal(tracker.arrived(outer), undefined);
    assert.equal(dataLabelled(result, outer), result);
    assert.deepEqual(tracker.factsOf(outer), { labels: [], seenLabels: [] });
    await tracker.arrived(inner);
    const labels = ["personal", "secret"];
    assert.deepEqual(tracker.factsOf(outer), { labels, seenLabels: labels });
    assert.deepEqual(dataLabelled(result, outer)["_meta"], { progress: 1, "toolcrib/labels": labels });
    assert.deepEqual(dataLabelled({ content: [] }, outer)["_meta"], { "toolcrib/labels": labels });
    // Another run of the client has the labels that the client has seen only.
    const other = tracker.begin(targetOf(), { identity: ci }, call);
    assert.deepEqual(tracker.factsOf(other), { labels: [], seenLabels: labels });
    // Without a tracker, there are none.
    assert.deepEqual(tracker.factsOf(undefined), {});
    assert.equal(dataLabelled(result, undefined), result);
  });
});
